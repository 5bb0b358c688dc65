//! People sign in: their clients come with tokens of the operator's issuer, and every token that is
//! not one for this server is refused.

use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use ring::hmac;
use time::OffsetDateTime;
use wikijs_gate::oauth::IssuerTimes;
use wikijs_gate::server::http::{HttpLimits, KeptDelegates, refused_start};

use crate::http::hosted::{Answer, call, initialize, speaking};
use crate::http::issuer::{AUDIENCE, IssuerKey, TestIssuer, bearer, jwt};
use crate::prelude::*;
use crate::sites::{Many, site};

/// The grant of the team that writes.
const TEAM: &str = "[[oauth.grants]]\ngroups = [\"docs-team\"]\nrole = \"agent\"\nwrite = true\n\
    prefixes = [\"docs\"]\ntoolsets = [\"pages\", \"delegate\", \"memory\"]\n";

async fn wiki() -> DemoWiki {
    wiki_of(&[("home", "# Home\n"), ("docs/a", "A\n")]).await
}

fn setup(wiki: &DemoWiki, issuer: &TestIssuer, names: &Names, grants: &str) -> Setup {
    Setup::editor(wiki)
        .toolsets("pages,delegate,memory,undo")
        .naming(names)
        .with_tables(&issuer.table(grants))
}

/// A server for the team.
async fn serve(wiki: &DemoWiki, issuer: &TestIssuer) -> Hosted {
    setup(wiki, issuer, &Names::new(), TEAM).host().await
}

fn within(issuer: IssuerTimes) -> HttpLimits {
    HttpLimits { issuer, ..LIMITS() }
}

/// Times with which keys are asked for again at every occasion.
fn eager() -> IssuerTimes {
    IssuerTimes::default().but(|times| times.apart = Duration::ZERO)
}

async fn ask(server: &Hosted, caller: &Caller) -> Answer {
    server.post(caller, &call(TREE, json!({}))).await
}

fn message(answer: &Answer) -> String {
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    body["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_person_reads_and_writes_within_their_grant_and_stands_on_record() {
    let (wiki, issuer, names) = (wiki().await, TestIssuer::start().await, Names::new());
    let ci = names.client("ci");
    let server = setup(&wiki, &issuer, &names, TEAM).host().await;
    let token = issuer.token(json!({}));
    let ada = server.open(&bearer(&token)).await;
    let change = json!({ "id": id_of(&wiki, "docs/a"), "title": "New" });
    server.applied(&ada, UPDATE, change).await;
    let outside = json!({ "id": id_of(&wiki, "home"), "title": "New" });
    server
        .fails(&ada, UPDATE, outside, "PATH_NOT_ALLOWED")
        .await;
    lacks(&server.tools(&ada).await.join(" "), UNDO);
    // Named clients go on beside.
    assert_eq!(ask(&server, &ci).await.status, 200);

    let records: Vec<Record> = server.records();
    let of_ada = vec_of(records.iter().filter(|record| record.tool.is_some()));
    assert!(!of_ada.is_empty());
    for record in of_ada {
        let client = record.client.as_ref().unwrap();
        let person = client.person.as_ref().unwrap();
        assert_eq!((&*person.issuer, &*person.subject), (&*issuer.url, "s-ada"));
        assert_eq!(client.subject.as_deref(), Some("ada@127.0.0.1"));
    }
    let mut calls = records.iter();
    let call = calls.find_map(|record| record.tool.as_ref().and(record.call));
    let call = call.unwrap().to_string();
    let shown = Command::operator(&wiki, server.dir.path(), &["audit", "show", &call]);
    let part = format!("s-ada at {}", issuer.url);
    says(&shown.good().await.stdout, &part);
    // The bearer stays here.
    for request in wiki.requests() {
        lacks(&format!("{:?}", request.headers), &token);
    }
}

#[tokio::test]
async fn a_client_without_a_token_learns_where_to_get_one() {
    let (wiki, issuer, names) = (wiki().await, TestIssuer::start().await, Names::new());
    let hosts = "gate.example.com, other.example.com";
    let setup = setup(&wiki, &issuer, &names, TEAM);
    let server = setup.with("WIKI_SERVE_ALLOWED_HOSTS", hosts).host().await;
    let local = format!("http://{}", server.address);
    for (host, base) in [
        (&*server.address.to_string(), &*local),
        // The operator's own audience says how this name is reached.
        ("gate.example.com", "https://gate.example.com"),
        ("other.example.com", "http://other.example.com"),
        ("localhost:9000", "http://localhost:9000"),
    ] {
        for (path, place) in [("/mcp", ""), ("/mcp", "/mcp"), ("/mcp/docs", "/mcp/docs")] {
            let caller = Caller::default().with("host", host);
            let metadata = format!("/.well-known/oauth-protected-resource{place}");
            let answer = server.send("GET", &metadata, &caller, "").await;
            assert_eq!(answer.status, 200, "{host}{metadata}");
            assert_eq!(answer.headers["access-control-allow-origin"], "*");
            let expected = json!({
                "resource": format!("{base}{path}"),
                "authorization_servers": [issuer.url],
                "scopes_supported": ["wiki:read", "wiki:write"],
                "bearer_methods_supported": ["header"],
                "resource_name": "wikijs-gate",
            });
            assert_eq!(answer.body.parse::<Value>().unwrap(), expected);
            let refused = server.send("POST", path, &caller, "").await;
            assert_eq!(refused.status, 401);
            let at = format!("{base}/.well-known/oauth-protected-resource{path}");
            let expected =
                format!("Bearer resource_metadata=\"{at}\", scope=\"wiki:read wiki:write\"");
            assert_eq!(refused.headers["www-authenticate"], expected);
        }
    }
    let forged = Caller::default().with("host", "evil.example.com");
    for path in ["/mcp", "/.well-known/oauth-protected-resource/mcp"] {
        let answer = server.send("GET", path, &forged, "").await;
        assert_eq!(answer.status, 403);
        lacks(&format!("{answer:?}"), "evil");
    }
    let (place, nobody) = (
        "/.well-known/oauth-protected-resource/mcp",
        Caller::default(),
    );
    let asked = server.send("OPTIONS", place, &nobody, "").await;
    let expected = "mcp-protocol-version";
    assert_eq!(asked.headers["access-control-allow-headers"], expected);
    let plain = Setup::readonly(&wiki).host().await;
    assert_eq!(plain.get(place).await.status, 404);
}

#[tokio::test]
async fn every_algorithm_of_the_key_set_is_taken_and_no_other() {
    let (wiki, issuer) = (wiki().await, TestIssuer::start().await);
    let rsa = || IssuerKey::new("rsa", "RS256");
    let own: [(&str, IssuerKey); 9] = [
        ("RS256", rsa()),
        ("RS384", rsa()),
        ("RS512", rsa()),
        ("PS256", rsa()),
        ("PS384", rsa()),
        ("PS512", rsa()),
        ("ES256", IssuerKey::new("p256", "ES256")),
        ("ES384", IssuerKey::new("p384", "ES384")),
        ("EdDSA", IssuerKey::new("ed", "EdDSA")),
    ];
    let keys: Vec<Value> = own.iter().skip(5).map(|(_, key)| key.public()).collect();
    *issuer.answers.keys.lock() = json!({ "keys": keys });
    let server = serve(&wiki, &issuer).await;
    for (algorithm, key) in &own {
        let token = key.signed(algorithm, &issuer.claims(json!({})));
        let status = ask(&server, &bearer(&token)).await.status;
        assert_eq!(status, 200, "{algorithm}");
    }
    // A key that says what it is for is for nothing else.
    let mut only = rsa().public();
    only["alg"] = json!("RS256");
    *issuer.answers.keys.lock() = json!({ "keys": [only] });
    let server = serve(&wiki, &issuer).await;
    for (algorithm, status) in [("RS256", 200), ("PS256", 401)] {
        let token = rsa().signed(algorithm, &issuer.claims(json!({})));
        let answer = ask(&server, &bearer(&token)).await;
        assert_eq!(answer.status, status, "{algorithm}");
    }
}

#[tokio::test]
async fn a_token_that_is_not_the_issuers_own_for_this_server_is_refused() {
    let (wiki, issuer) = (wiki().await, TestIssuer::start().await);
    let server = serve(&wiki, &issuer).await;
    let now = OffsetDateTime::now_utc().unix_timestamp();
    let with = |claims| issuer.token(claims);
    let good = with(json!({}));
    let claims = issuer.claims(json!({}));
    let unsigned = |header: Value| jwt(&header, &claims, |_| Vec::new());
    // The public key as the shared secret of an HMAC.
    let public = issuer.key.public();
    let by_hmac = |secret: &str| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let header = json!({ "alg": "HS256", "kid": "first" });
        jwt(&header, &claims, |message| {
            hmac::sign(&key, message).as_ref().to_vec()
        })
    };
    let stranger = IssuerKey::new("first", "ES256");
    let other = TestIssuer::start().await;
    let other_claims = json!({ "iss": other.url });
    let changed = format!("{}.AAAA", good.rsplit_once('.').unwrap().0);
    let elsewhere = "https://other.example.com/mcp";
    let like_it = json!({ "aud": [AUDIENCE], "iss": format!("{}/", issuer.url) });
    let as_it = other.claims(json!({ "iss": issuer.url }));
    let none = json!({ "alg": "None", "kid": "first" });
    // A key in the head is nobody's.
    let headed = json!({ "alg": "ES256", "jwk": stranger.public(), "kid": "x" });
    let headed = jwt(&headed, &claims, |_| vec![0; 64]);
    for (token, why) in [
        (with(json!({ "aud": elsewhere })), "another audience"),
        // An id token is for its client.
        (with(json!({ "aud": "review-page" })), "another audience"),
        (with(json!({ "aud": [] })), "another audience"),
        (with(json!({ "aud": null })), "another audience"),
        (with(like_it), "another issuer"),
        (with(json!({ "iss": null })), "another issuer"),
        (other.token(json!({})), "another issuer"),
        (other.key.signed("ES256", &as_it), "signature"),
        (stranger.signed("ES256", &claims), "signature"),
        (issuer.token(other_claims), "another issuer"),
        (changed, "signature"),
        (unsigned(json!({ "alg": "none" })), "algorithm"),
        (unsigned(none), "algorithm"),
        (by_hmac(&public.to_string()), "algorithm"),
        (by_hmac(public["x"].as_str().unwrap()), "algorithm"),
        (issuer.headed(json!({ "alg": "RS256" })), "algorithm"),
        (issuer.headed(json!({ "alg": "ES384" })), "algorithm"),
        (issuer.headed(json!({ "crit": ["exp"] })), "crit"),
        (issuer.headed(json!({ "typ": "logout+jwt" })), "kind"),
        (headed, "key set"),
        (with(json!({ "exp": now - 31 })), "expired"),
        (with(json!({ "exp": null })), "two days"),
        (with(json!({ "exp": now + 3 * 86_400 })), "two days"),
        (with(json!({ "exp": "tomorrow" })), "no signed token"),
        (with(json!({ "nbf": now + 60 })), "does not count yet"),
        (with(json!({ "iat": now + 60 })), "does not count yet"),
        (with(json!({ "sub": null })), "no subject"),
        (with(json!({ "sub": "" })), "no subject"),
        (with(json!({ "cnf": { "jkt": "x" } })), "bound to a key"),
        (with(json!({ "more": "x".repeat(20_000) })), "16 kB"),
        (format!("{good}x"), "no signed token"),
        ("a.b.c".to_owned(), "no signed token"),
    ] {
        let answer = ask(&server, &bearer(&token)).await;
        assert_eq!(answer.status, 401, "{why}: {answer:?}");
        says(&message(&answer), why);
        let challenge = &answer.headers["www-authenticate"];
        says(challenge, "error=\"invalid_token\", error_description=\"");
        says(challenge, "resource_metadata=");
    }
    // What differs by a clock or by form counts.
    for claims in [
        json!({ "exp": now - 5 }),
        json!({ "iat": now + 5, "nbf": now + 5 }),
        json!({ "aud": ["x", AUDIENCE] }),
        json!({ "exp": 0.5 + f64::from(u32::try_from(now).unwrap() + 60) }),
    ] {
        let status = ask(&server, &bearer(&with(claims.clone()))).await.status;
        assert_eq!(status, 200, "{claims}");
    }
    let without = issuer.headed(json!({ "kid": null, "typ": null }));
    assert_eq!(ask(&server, &bearer(&without)).await.status, 200);
}

#[tokio::test]
async fn unknown_keys_cause_no_more_than_one_fetch_a_minute() {
    let (wiki, issuer) = (wiki().await, TestIssuer::start().await);
    let names = Names::new();
    let setup = setup(&wiki, &issuer, &names, TEAM).with("WIKI_SERVE_RATE", "10000");
    let server = setup.host().await;
    assert_eq!(ask(&server, &issuer.caller(json!({}))).await.status, 200);
    let caller = |number| bearer(&issuer.headed(json!({ "kid": format!("k{number}") })));
    let callers = vec_of((0..2_000).map(caller));
    for some in callers.chunks(100) {
        let answers = join_all(some.iter().map(|caller| ask(&server, caller))).await;
        assert!(answers.iter().all(|answer| answer.status == 401));
    }
    assert_eq!(issuer.answers.fetched.load(Ordering::Relaxed), 1);
    assert_eq!(ask(&server, &issuer.caller(json!({}))).await.status, 200);
}

#[tokio::test]
async fn keys_that_were_rotated_are_fetched_and_those_that_went_count_no_more() {
    let (wiki, issuer) = (wiki().await, TestIssuer::start().await);
    let setup = setup(&wiki, &issuer, &Names::new(), TEAM);
    let server = setup.host_within(within(eager())).await;
    assert_eq!(ask(&server, &issuer.caller(json!({}))).await.status, 200);
    let second = IssuerKey::new("second", "EdDSA");
    *issuer.answers.keys.lock() = json!({ "keys": [second.public()] });
    let token = second.signed("EdDSA", &issuer.claims(json!({})));
    assert_eq!(ask(&server, &bearer(&token)).await.status, 200);
    assert_eq!(ask(&server, &issuer.caller(json!({}))).await.status, 401);
}

#[tokio::test]
async fn while_the_issuer_is_away_its_keys_count_on_for_a_bounded_time() {
    let (wiki, issuer) = (wiki().await, TestIssuer::start().await);
    let names = Names::new();
    let times = eager().but(|times| times.fresh = Duration::ZERO);
    let setup = || setup(&wiki, &issuer, &names, TEAM);
    let server = setup().host_within(within(times)).await;
    let short = IssuerTimes {
        stale: Duration::ZERO,
        kept: Duration::from_millis(300),
        ..times
    };
    let forgetful = setup().host_within(within(short)).await;
    let ada = issuer.caller(json!({}));
    assert_eq!(ask(&server, &ada).await.status, 200);
    assert_eq!(ask(&forgetful, &ada).await.status, 200);
    let ready = server.get("/readyz").await;
    lacks(&ready.body, "issuerAway");
    let part = "wikijs_gate_issuer_away 0\n";
    says(&server_metrics(&server, &names).await, part);

    issuer.answers.is_away.store(true, Ordering::Relaxed);
    let ready = server.get("/readyz").await;
    assert_eq!(ready.status, 200, "{ready:?}");
    let ready: Value = serde_json::from_str(&ready.body).unwrap();
    ready.shows(json!({ "ready": true, "issuerAway": "it answered 502" }));
    let part = "wikijs_gate_issuer_away 1\n";
    says(&server_metrics(&server, &names).await, part);
    assert_eq!(ask(&server, &ada).await.status, 200);
    let refused = async {
        loop {
            let answer = ask(&forgetful, &ada).await;
            if answer.status != 200 {
                return answer;
            }
        }
    };
    let refused = tokio::time::timeout(Duration::from_secs(30), refused).await;
    let refused = refused.unwrap();
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.headers.contains_key("retry-after"));

    issuer.answers.is_away.store(false, Ordering::Relaxed);
    assert_eq!(ask(&forgetful, &ada).await.status, 200);
    lacks(&server.get("/readyz").await.body, "issuerAway");
}

/// The metrics, read by a named client.
async fn server_metrics(server: &Hosted, names: &Names) -> String {
    let reader = names.client(&format!("m{}", names.file().read().unwrap().len()));
    server.send("GET", "/metrics", &reader, "").await.body
}

#[tokio::test]
async fn an_issuer_that_says_something_else_is_away_and_named() {
    let wiki = wiki().await;
    for (name, value, why) in [
        ("issuer", "https://id.example.com", "names another issuer"),
        (
            "jwks_uri",
            "http://x.org/keys",
            "an address in it is neither https nor on loopback",
        ),
        ("token_endpoint", "ftp://x", "neither https nor on loopback"),
        ("redirect", "https://id.example.com", "it answered 302"),
        ("more", &"x".repeat(300_000), "larger than 256 kB"),
    ] {
        let issuer = TestIssuer::start().await;
        issuer.answers.document.lock()[name] = json!(value);
        let server = serve(&wiki, &issuer).await;
        let refused = ask(&server, &issuer.caller(json!({}))).await;
        assert_eq!(refused.status, 503, "{why}");
        says(&server.get("/readyz").await.body, why);
    }
    let issuer = TestIssuer::start().await;
    *issuer.answers.keys.lock() = json!({ "keys": [{ "kty": "oct", "k": "AAAA" }] });
    let server = serve(&wiki, &issuer).await;
    assert_eq!(ask(&server, &issuer.caller(json!({}))).await.status, 503);
    says(&server.get("/readyz").await.body, "no key that can be used");
}

#[tokio::test]
async fn scopes_bound_a_grant_and_all_that_are_missing_are_named_at_once() {
    let (wiki, issuer) = (wiki().await, TestIssuer::start().await);
    let server = serve(&wiki, &issuer).await;
    let arguments = json!({ "id": id_of(&wiki, "docs/a"), "title": "New" });
    let change = call(UPDATE, arguments);
    let insufficient = |answer: &Answer, scopes: &str| {
        assert_eq!(answer.status, 403, "{answer:?}");
        let challenge = &answer.headers["www-authenticate"];
        says(challenge, "error=\"insufficient_scope\"");
        says(challenge, &format!("scope=\"{scopes}\""));
    };
    let nothing = issuer.caller(json!({ "scope": "openid" }));
    insufficient(&ask(&server, &nothing).await, "wiki:read wiki:write");
    let writer = issuer.caller(json!({ "scope": "wiki:write" }));
    insufficient(&ask(&server, &writer).await, "wiki:read wiki:write");
    let reader = issuer.caller(json!({ "scope": "wiki:read" }));
    assert_eq!(ask(&server, &reader).await.status, 200);
    lacks(&server.tools(&reader).await.join(" "), UPDATE);
    insufficient(&server.post(&reader, &change).await, "wiki:read wiki:write");
    let cancel = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/cancel",
        "params": { "taskId": "0123456789abcdef" } });
    insufficient(&server.post(&reader, &cancel).await, "wiki:read wiki:write");
    // Nor does a member that no task has let it pass.
    let name = r#""params":{"name":1,"name":2,"#;
    let named = cancel.to_string().replace(r#""params":{"#, name);
    let named = server
        .send("POST", "/mcp", &speaking(&reader), &named)
        .await;
    insufficient(&named, "wiki:read wiki:write");
    // What the grant does not allow, no scope brings.
    let grants = "[[oauth.grants]]\neverybody = true\nrole = \"agent\"\n";
    let reading = setup(&wiki, &issuer, &Names::new(), grants).host().await;
    insufficient(&ask(&reading, &nothing).await, "wiki:read");
    let all = issuer.caller(json!({}));
    assert!(!reading.tools(&all).await.contains(&UPDATE.to_owned()));
    assert_eq!(reading.post(&all, &change).await.status, 200);
    // Scopes have other names, or none.
    let grants = format!("scopes = {{ read = \"\", write = \"api://gate/edit\" }}\n{TEAM}");
    let other = setup(&wiki, &issuer, &Names::new(), &grants).host().await;
    let editor = issuer.caller(json!({ "scope": null, "scp": "edit" }));
    assert!(other.tools(&editor).await.contains(&UPDATE.to_owned()));
    insufficient(&other.post(&nothing, &change).await, "api://gate/edit");
}

#[tokio::test]
async fn the_first_grant_holds_that_a_person_matches_whole() {
    let (wiki, issuer) = (wiki().await, TestIssuer::start().await);
    let grants = "[[oauth.grants]]\ngroups = [\"docs-team\"]\nemail_domains = [\"x.org\"]\nrole = \"agent\"\nwrite = true\n\
        [[oauth.grants]]\nsubjects = [\"s-eve\"]\nrole = \"reviewer\"\n\
        [[oauth.grants]]\ngroups = [\"docs-team\", \"guests\"]\nrole = \"agent\"\ntools = [\"wikijs_get_page_tree\"]\n";
    let server = setup(&wiki, &issuer, &Names::new(), grants).host().await;
    let verified = |is: bool| json!({ "email": "ada@X.ORG", "email_verified": is });
    let tools = async |claims| server.tools(&issuer.caller(claims)).await.len();
    assert!(tools(verified(true)).await > 1);
    assert_eq!(tools(verified(false)).await, 1);
    assert_eq!(tools(json!({})).await, 1);
    let elsewhere = json!({ "groups": null, "_claim_names": { "groups": "src1" } });
    let too_many = json!({ "groups": null, "hasgroups": true });
    let unverified = json!({ "groups": null, "email": "a@x.org", "email_verified": "true" });
    for (claims, why) in json_rows(&json!([
        [{ "sub": "s-eve" }, "review page"],
        [{ "groups": ["Docs-Team"] }, "no grant of this server"],
        [{ "groups": null }, "no grant of this server"],
        [elsewhere, "left this account's groups out"],
        [too_many, "left this account's groups out"],
        [unverified, "is verified"],
    ])) {
        let answer = ask(&server, &issuer.caller(claims)).await;
        assert_eq!(answer.status, 403, "{why}: {answer:?}");
        says(&message(&answer), why);
    }
}

#[tokio::test]
async fn what_a_person_owns_is_theirs_by_subject_and_not_by_name() {
    let (wiki, issuer, names) = (wiki().await, TestIssuer::start().await, Names::new());
    let server = setup(&wiki, &issuer, &names, TEAM).host().await;
    let ada = server.open(&issuer.caller(json!({}))).await;
    let fact = json!({ "content": "The office is in Turin.", "type": "fact" });
    server.call(&ada, REMEMBER, fact).await.unwrap();
    let recall = async |claims: Value| {
        let caller = issuer.caller(claims);
        let found = server.call(&caller, RECALL, json!({})).await;
        found.unwrap()["memories"].as_array().unwrap().len()
    };
    assert_eq!(recall(json!({ "preferred_username": "countess" })).await, 1);
    assert_eq!(recall(json!({ "sub": "s-bob" })).await, 0);
    // So is a session.
    for (claims, status) in [(json!({ "sub": "s-bob" }), 404), (json!({}), 200)] {
        let caller = issuer.caller(claims).with("mcp-session-id", ada.session());
        assert_eq!(ask(&server, &caller).await.status, status, "{caller:?}");
    }
    // Metrics count people, and name nobody.
    let told = server_metrics(&server, &names).await;
    says(&told, "wikijs_gate_people 2\n");
    says(&told, "client=\"people\"");
    lacks(&told, "ada");
    let ada = issuer.caller(json!({}));
    assert_eq!(server.send("GET", "/metrics", &ada, "").await.status, 403);
}

#[tokio::test]
async fn a_rule_is_for_a_person_by_name_or_subject() {
    let (wiki, issuer) = (wiki().await, TestIssuer::start().await);
    let rules =
        "[[rules]]\nname = \"people\"\nthen = \"deny\"\npeople = [\"s-ada\", \"BOB@x.org\"]\n";
    let setup = setup(&wiki, &issuer, &Names::new(), &format!("{TEAM}{rules}"));
    let server = setup.host().await;
    let change = json!({ "id": id_of(&wiki, "docs/a"), "title": "New" });
    let bob = json!({
        "sub": "s-2", "email": "bob@x.org", "email_verified": true, "preferred_username": "bob@x.org",
    });
    // Whoever calls themselves so is not meant.
    let like_bob = json!({ "sub": "s-4", "preferred_username": "bob@x.org" });
    let eve = json!({ "sub": "s-3", "preferred_username": "eve@x.org" });
    for (claims, is_denied) in [
        (json!({}), true),
        (bob, true),
        (like_bob, false),
        (eve, false),
    ] {
        let caller = issuer.caller(claims.clone());
        let answer = server.call(&caller, UPDATE, change.clone()).await;
        let code = answer.map_or_else(|error| error["code"].clone(), |_| Value::Null);
        assert_eq!(code == "RULE_DENIED", is_denied, "{claims}: {code}");
    }
}

/// A settings file of one site that writes, with these grants.
fn file_of(wiki: &DemoWiki, issuer: &TestIssuer, names: &Names, grants: &str) -> String {
    let (path, table) = (names.path(), issuer.table(grants));
    let path = path.to_str().unwrap();
    let sets = "toolsets = [\"pages\", \"delegate\", \"memory\"]\nmutations_enabled = true\nmutation_dry_run = false";
    let site = site("a", wiki, "");
    format!("serve_tokens_file = {path:?}\n{sets}\ndefault_site = \"a\"\n{table}\n{site}")
}

#[tokio::test]
async fn a_grant_that_is_taken_away_pauses_writes_until_the_file_can_be_taken_over() {
    let (wiki, issuer, names) = (wiki().await, TestIssuer::start().await, Names::new());
    let text = |grants: &str| file_of(&wiki, &issuer, &names, grants);
    let server = Many::start(&text(TEAM)).await;
    let ada = issuer.caller(json!({}));
    let change = json!({ "id": id_of(&wiki, "docs/a"), "title": "New" });
    let readers = "[[oauth.grants]]\ngroups = [\"readers\"]\nrole = \"agent\"\n";
    let (narrower, gone) = (
        TEAM.replace("docs\"]", "team\"]"),
        TEAM.replace("docs-team", "others"),
    );
    let broken = "[[notify]]\nname = \"x\"\n";
    let typo = readers.replace("groups", "grups");
    for (grants, is_paused) in [
        (format!("{narrower}{broken}"), true),
        (format!("{gone}{broken}"), true),
        (format!("{readers}{TEAM}{broken}"), true),
        (format!("{TEAM}{typo}"), true),
        // A grant behind those of now takes nothing from anybody.
        (format!("{TEAM}{readers}{broken}"), false),
        (format!("{TEAM}{broken}"), false),
    ] {
        assert!(server.change(&text(&grants)).await.is_some(), "{grants}");
        let answer = server.hosted.call(&ada, UPDATE, change.clone()).await;
        let code = answer.map_or_else(|error| error["code"].clone(), |_| Value::Null);
        assert_eq!(code == "WRITES_PAUSED", is_paused, "{grants}: {code}");
        assert_eq!(ask(&server.hosted, &ada).await.status, 200, "{grants}");
    }
    assert_eq!(server.change(&text(&gone)).await, None);
    assert_eq!(ask(&server.hosted, &ada).await.status, 403);
}

#[tokio::test]
async fn a_delegate_of_a_person_waits_for_them_when_tokens_are_judged_otherwise() {
    let (wiki, issuer, names) = (wiki().await, TestIssuer::start().await, Names::new());
    let text = file_of(&wiki, &issuer, &names, TEAM);
    let server = Many::start(&text).await;
    let hosted = &server.hosted;
    let ada = issuer.caller(json!({}));
    let made = hosted
        .call(&ada, DELEGATE, json!({ "task": "read" }))
        .await
        .unwrap();
    let delegate = bearer(made["token"].as_str().unwrap());
    let scopes = "[oauth]\nscopes = { read = \"other\" }\n";
    for (other, status) in [
        (
            text.replace(AUDIENCE, "https://elsewhere.example.com/mcp"),
            401,
        ),
        (text.replace("[oauth]\n", scopes), 403),
    ] {
        assert_eq!(ask(hosted, &delegate).await.status, 200);
        assert_eq!(server.change(&other).await, None);
        assert_eq!(ask(hosted, &delegate).await.status, 401);
        // A refused call of its maker brings nothing back.
        assert_eq!(ask(hosted, &ada).await.status, status);
        assert_eq!(ask(hosted, &delegate).await.status, 401);
        assert_eq!(server.change(&text).await, None);
        assert_eq!(ask(hosted, &ada).await.status, 200);
    }
    assert_eq!(ask(hosted, &delegate).await.status, 200);
}

#[tokio::test]
async fn what_a_session_read_and_was_shown_stays_known_when_its_grant_is_narrowed() {
    let (wiki, issuer, names) = (wiki().await, TestIssuer::start().await, Names::new());
    let text = |grants: &str| file_of(&wiki, &issuer, &names, grants);
    let server = Many::start(&text(TEAM)).await;
    let hosted = &server.hosted;
    let ada = hosted.open(&issuer.caller(json!({}))).await;
    let id = id_of(&wiki, "docs/a");
    hosted
        .ok(&ada, "wikijs_get_page_by_id", json!({ "id": id }))
        .await;
    let retitled = json!({ "id": id, "title": "New" });
    let shown = hosted.ok(&ada, UPDATE, retitled.clone()).await;
    let narrower = TEAM.replace("prefixes", "read_prefixes = [\"docs\"]\nprefixes");
    assert_eq!(server.change(&text(&narrower)).await, None);
    let mut confirmed = retitled;
    confirmed["confirm"] = shown["confirm"].clone();
    let done = hosted.ok(&ada, UPDATE, confirmed).await;
    assert_eq!(done["outcome"], "applied", "{done}");
    wiki.with_store(|store| store.rewrite(id, |page| page.content.push_str("theirs\n")));
    let mine = json!({ "id": id, "content": "Mine.\n" });
    hosted
        .fails(&ada, UPDATE, mine.clone(), "EDIT_CONFLICT")
        .await;
    // And back again.
    assert_eq!(server.change(&text(TEAM)).await, None);
    hosted.fails(&ada, UPDATE, mine, "EDIT_CONFLICT").await;
}

#[tokio::test]
async fn a_delegate_of_a_person_works_and_ends_with_the_persons_grant() {
    let (wiki, issuer, names) = (wiki().await, TestIssuer::start().await, Names::new());
    let text = |grants: &str| file_of(&wiki, &issuer, &names, grants);
    let server = Many::start(&text(TEAM)).await;
    let hosted = &server.hosted;
    let end = OffsetDateTime::now_utc().unix_timestamp() + 120;
    let ada = issuer.caller(json!({ "exp": end }));
    let wanted = json!({ "task": "write", "writes": 3, "sends": true, "minutes": 60 });
    let made = hosted.call(&ada, DELEGATE, wanted.clone()).await.unwrap();
    let store = hosted.dir.path().join("audit");
    let kept = KeptDelegates::new(&store.as_path().into()).all();
    let line = kept.unwrap().0.remove(0);
    let ends = line.client.may.expires.as_deref().unwrap();
    let ends = OffsetDateTime::parse(ends, &time::format_description::well_known::Rfc3339);
    assert!(ends.unwrap().unix_timestamp() <= end + 30, "{line:?}");
    says(&line.name(), "ada@127.0.0.1/delegate-");
    let delegate = bearer(made["token"].as_str().unwrap());
    let shown = hosted.ok(&delegate, CREATE, new_page("docs/b")).await;
    assert_eq!(shown["preview"], true);
    // With a token that may not write, nobody hands writes on.
    let reader = issuer.caller(json!({ "scope": "wiki:read" }));
    hosted
        .fails(&reader, DELEGATE, wanted, "DELEGATION_DENIED")
        .await;
    assert_eq!(ask(hosted, &delegate).await.status, 200);

    let gone = TEAM.replace("docs-team", "others");
    assert_eq!(server.change(&text(&gone)).await, None);
    assert_eq!(ask(hosted, &ada).await.status, 403);
    assert_eq!(ask(hosted, &delegate).await.status, 401);
    // Grants come back as they went.
    assert_eq!(server.change(&text(TEAM)).await, None);
    assert_eq!(ask(hosted, &ada).await.status, 200);
    assert_eq!(ask(hosted, &delegate).await.status, 200);
}

#[tokio::test]
async fn the_newest_token_says_what_a_person_may_however_its_time_is_written() {
    let (wiki, issuer) = (wiki().await, TestIssuer::start().await);
    let server = serve(&wiki, &issuer).await;
    let now = OffsetDateTime::now_utc().unix_timestamp();
    let made = |ago: i64| serde_json::from_str::<Value>(&format!("{}.5", now - ago)).unwrap();
    let before = issuer.caller(json!({ "iat": made(10), "exp": now + 600 }));
    let wanted = json!({ "task": "read" });
    let answer = server.call(&before, DELEGATE, wanted).await.unwrap();
    let delegate = bearer(answer["token"].as_str().unwrap());
    assert_eq!(ask(&server, &delegate).await.status, 200);
    let newest = json!({ "iat": made(5), "exp": now + 60, "groups": [] });
    assert_eq!(ask(&server, &issuer.caller(newest)).await.status, 403);
    assert_eq!(ask(&server, &delegate).await.status, 401);
}

#[tokio::test]
async fn a_token_of_the_issuer_in_the_place_of_a_key_goes_nowhere() {
    let (wiki, issuer) = (wiki().await, TestIssuer::start().await);
    let setup = setup(&wiki, &issuer, &Names::new(), TEAM).with("WIKI_SERVE_CALLER_KEYS", "true");
    let server = setup.host().await;
    let ada = issuer.caller(json!({}));
    let token = issuer.token(json!({}));
    let mixed = ask(&server, &ada.clone().with("x-wiki-api-token", &token)).await;
    assert_eq!(mixed.status, 400);
    let part = "goes into Authorization and never to the wiki";
    says(&message(&mixed), part);
    // Whoever signs in and brings no key is not sent to sign in again.
    let without = ask(&server, &ada).await;
    assert_eq!(without.status, 400);
    says(&message(&without), "each caller's own key of the wiki");
    assert!(!without.headers.contains_key("www-authenticate"));
    let key = &wiki.keys().editor;
    let both = ada.with("x-wiki-api-token", key);
    let status = server.post(&both, &initialize("2025-11-25")).await.status;
    assert_eq!(status, 200);
    server.ok(&both, BY_PATH, json!({ "path": "home" })).await;
    // And a key of the wiki is no token.
    let swapped = ask(&server, &bearer(key)).await;
    assert_eq!(swapped.status, 401);
    for request in wiki.requests() {
        lacks(&format!("{:?}", request.headers), &token);
    }
}

#[tokio::test]
async fn people_need_a_place_for_the_tokens_of_their_delegates() {
    let (wiki, issuer) = (wiki().await, TestIssuer::start().await);
    let settings = |setup: Setup| setup.with_tables(&issuer.table(TEAM)).app().1;
    let address = "127.0.0.1:8765".parse().unwrap();
    let without = settings(Setup::readonly(&wiki));
    let part = "WIKI_SERVE_TOKENS_FILE";
    says(refused_start(&without, address).unwrap(), part);
    let with = settings(Setup::readonly(&wiki).naming(&Names::new()));
    let fault = refused_start(&with, "192.0.2.1:8765".parse().unwrap());
    assert_eq!(fault, None);
}

#[tokio::test]
async fn doctor_names_an_issuer_that_is_away() {
    let (wiki, issuer) = (wiki().await, TestIssuer::start().await);
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("config.toml");
    fs::write(&file, issuer.table("")).unwrap();
    let arguments = ["--config", file.to_str().unwrap(), "doctor"];
    let told = Command::operator(&wiki, dir.path(), &arguments).end().await;
    let part = format!("the issuer {} answers, and has keys", issuer.url);
    says(&told.stdout, &part);
    says(&told.stdout, "there are no grants, so nobody signs in");
    let grant = "[[oauth.grants]]\neverybody = true\nrole = \"agent\"\nsites = [\"dosc\"]\n";
    fs::write(&file, issuer.table(grant)).unwrap();
    let told = Command::operator(&wiki, dir.path(), &arguments).end().await;
    says(
        &told.stdout,
        "a grant names the site dosc, which the settings file does not have",
    );
    issuer.answers.is_away.store(true, Ordering::Relaxed);
    let told = Command::operator(&wiki, dir.path(), &arguments).end().await;
    says(&told.stdout, "is away: it answered 502");
    assert_ne!(told.code, 0);
}
