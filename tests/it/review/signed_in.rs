//! People sign in to the review page at their issuer, come back after a restart, and lose the page with
//! their group; whoever makes up an answer of the issuer comes in nowhere.

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode as AxumStatus};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use reqwest::header::{COOKIE, HOST, SET_COOKIE};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use wikijs_gate::oauth::{CodeSecrets, Issuer, IssuerTimes, PageClient};
use wikijs_gate::server::http::HttpLimits;

use super::{Page, page};
use crate::http::hosted::rewrite;
use crate::http::issuer::{TestIssuer, jwt};
use crate::prelude::*;

/// The name of the page, as its people have it.
const NAME: &str = "gate.example.com";
const PAGE: &str = "https://gate.example.com/review";
/// Reviewers by group, who may apply in the dry run of these tests.
const REVIEWERS: &str = "[[oauth.grants]]\ngroups = [\"reviewers\"]\nrole = \"reviewer\"\n\
    prefixes = [\"docs\"]\nmay_apply_in_dry_run = true\n";
const SECRET: &str = "s3cret/with+signs";

/// What the issuer's token endpoint knows.
struct Tokens {
    issuer: TestIssuer,
    /// The codes that were given out: nonce, challenge and address of the page.
    codes: Mutex<HashMap<String, [String; 3]>>,
    /// The refresh token that counts, if the issuer gives any.
    refresh: Mutex<Option<usize>>,
    /// What the next id tokens say besides.
    says: Mutex<Value>,
    is_away: Mutex<bool>,
    asked: Mutex<usize>,
    /// Nothing is answered while a test has it.
    held: tokio::sync::Mutex<()>,
    /// The tokens that were taken back.
    revoked: Mutex<Vec<String>>,
}

impl Tokens {
    async fn start() -> Arc<Self> {
        let issuer = TestIssuer::start().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        {
            let mut document = issuer.answers.document.lock();
            document["authorization_endpoint"] = json!(format!("{base}/authorize?tenant=a"));
            document["token_endpoint"] = json!(format!("{base}/token"));
            document["end_session_endpoint"] = json!(format!("{base}/logout"));
            document["revocation_endpoint"] = json!(format!("{base}/revoke"));
            document["scopes_supported"] = json!(["openid", "offline_access", "phone"]);
            document["authorization_response_iss_parameter_supported"] = json!(true);
        }
        let tokens = Arc::new(Self {
            issuer,
            codes: Mutex::default(),
            refresh: Mutex::new(Some(0)),
            says: Mutex::new(json!({ "groups": ["reviewers"] })),
            is_away: Mutex::new(false),
            asked: Mutex::new(0),
            held: tokio::sync::Mutex::default(),
            revoked: Mutex::default(),
        });
        let routes = Router::new()
            .route("/token", post(token))
            .route("/revoke", post(revoke))
            .with_state(Arc::clone(&tokens));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        tokens
    }

    /// Gives out a code of this name to whoever was led to the issuer with this query.
    fn answers(&self, query: &HashMap<String, String>, code: &str) -> Answered {
        let given = ["nonce", "code_challenge", "redirect_uri"].map(|name| query[name].clone());
        self.codes.lock().insert(code.to_owned(), given);
        vec![
            ("code", code.to_owned()),
            ("state", query["state"].clone()),
            ("iss", self.issuer.url.clone()),
        ]
    }

    fn id_token(&self, nonce: Option<&str>) -> String {
        let mut own = json!({ "aud": "page", "nonce": nonce, "scope": null });
        for (name, value) in self.says.lock().as_object().unwrap() {
            own[name] = value.clone();
        }
        let claims = self.issuer.claims(own);
        let header = json!({ "alg": "ES256", "kid": "first" });
        jwt(&header, &claims, |message| {
            self.issuer.key.sign("ES256", message)
        })
    }

    fn grant(&self, form: &HashMap<String, String>) -> Option<Value> {
        let mut refresh = self.refresh.lock();
        let nonce = if form["grant_type"] == "authorization_code" {
            let [nonce, challenge, back] = self.codes.lock().remove(&form["code"])?;
            let digest = Sha256::digest(form["code_verifier"].as_bytes());
            assert_eq!(URL_SAFE_NO_PAD.encode(digest), challenge);
            assert_eq!(form["redirect_uri"], back);
            Some(nonce)
        } else {
            // Each counts once.
            let own = refresh.map(|number| format!("refresh-{number}"));
            if own.as_deref() != Some(&form["refresh_token"]) {
                return None;
            }
            None
        };
        *refresh = refresh.map(|number| number + 1);
        Some(json!({
            "access_token": "opaque", "token_type": "Bearer", "expires_in": 300,
            "id_token": self.id_token(nonce.as_deref()),
            "refresh_token": refresh.map(|number| format!("refresh-{number}")),
        }))
    }
}

async fn revoke(State(tokens): State<Arc<Tokens>>, headers: HeaderMap, body: String) {
    assert!(headers.contains_key("authorization"));
    let form = url::form_urlencoded::parse(body.as_bytes()).into_owned();
    let form: HashMap<String, String> = form.collect();
    assert_eq!(form["token_type_hint"], "refresh_token");
    tokens.revoked.lock().push(form["token"].clone());
}

async fn token(State(tokens): State<Arc<Tokens>>, headers: HeaderMap, body: String) -> Response {
    *tokens.asked.lock() += 1;
    drop(tokens.held.lock().await);
    if *tokens.is_away.lock() {
        return AxumStatus::BAD_GATEWAY.into_response();
    }
    let encoded: String = url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect();
    let basic = base64::engine::general_purpose::STANDARD.encode(format!("page:{encoded}"));
    if headers["authorization"] != format!("Basic {basic}") {
        return (AxumStatus::UNAUTHORIZED, "{\"error\":\"invalid_client\"}").into_response();
    }
    let form = url::form_urlencoded::parse(body.as_bytes())
        .into_owned()
        .collect();
    match tokens.grant(&form) {
        Some(answer) => answer.to_string().into_response(),
        None => (AxumStatus::BAD_REQUEST, "{\"error\":\"invalid_grant\"}").into_response(),
    }
}

/// A wiki with an agent, an issuer, and what a server of them is made from.
struct Place {
    wiki: DemoWiki,
    agent: Served,
    tokens: Arc<Tokens>,
    names: Names,
    files: TempDir,
    grants: String,
}

impl Place {
    async fn new(grants: &str) -> Self {
        let wiki = wiki_of(&[("docs/a", "The old word.\n"), ("docs/b", "Other.\n")]).await;
        let agent = Setup::scripter(&wiki).dry().toolsets("pages,proposals");
        let files = TempDir::new().unwrap();
        for (name, text) in [
            ("secret", SECRET),
            ("key", "0123456789abcdef0123456789abcdef"),
        ] {
            let path = files.path().join(name);
            fs::write(&path, format!("{text}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        Self {
            agent: agent.serve().await,
            wiki,
            tokens: Tokens::start().await,
            names: Names::new(),
            files,
            grants: grants.to_owned(),
        }
    }

    #[expect(clippy::large_types_passed_by_value, reason = "once a server")]
    async fn host_within(&self, limits: HttpLimits, has_key: bool) -> Hosted {
        let named = self.setup(has_key).with("WIKI_REVIEW_URL", PAGE);
        let named = named.with("WIKI_SERVE_ALLOWED_HOSTS", NAME);
        named.host_within(limits).await
    }

    /// A server that is reached on loopback alone.
    fn setup(&self, has_key: bool) -> Setup {
        let file = |name: &str| self.files.path().join(name).to_str().unwrap().to_owned();
        let secret = file("secret");
        let mut own = format!("review_client_id = \"page\"\nreview_secret_file = {secret:?}\n");
        if has_key {
            own = format!("{own}review_key_file = {:?}\n", file("key"));
        }
        let table = self.tokens.issuer.table(&(own + &self.grants));
        Setup::scripter(&self.wiki)
            .dry()
            .toolsets("pages,proposals")
            .in_dir_of(&self.agent)
            .naming(&self.names)
            .with_tables(&table)
    }

    async fn host(&self) -> Hosted {
        self.host_within(LIMITS(), true).await
    }

    /// Makes these times of the one sign-in earlier by as many seconds.
    fn shift(&self, names: &[&str], by: i64) {
        rewrite(&self.sign_ins()[0], |record| {
            for name in names {
                record[*name] = json!(record[*name].as_i64().unwrap() - by);
            }
        });
    }

    /// The documents of the sign-ins.
    fn sign_ins(&self) -> Vec<PathBuf> {
        let kept = fs::read_dir(self.agent.dir.path().join("sessions")).unwrap();
        kept.map(|one| one.unwrap().path()).collect()
    }

    /// The change that is proposed.
    fn edit(&self) -> Value {
        let edit = json!({ "oldText": "old", "newText": "new" });
        json!({ "id": id_of(&self.wiki, "docs/a"), "edits": [edit] })
    }

    /// What the agent proposes.
    async fn proposal(&self) -> String {
        let preview = call_ok(&self.agent, UPDATE, self.edit()).await;
        preview["proposal"].as_str().unwrap().to_owned()
    }

    /// What a client of the writers proposes.
    async fn proposal_of_writers(&self, hosted: &Hosted) -> String {
        let client = self.tokens.issuer.caller(json!({ "groups": ["writers"] }));
        let client = hosted.open(&client.with("host", NAME)).await;
        let preview = hosted.ok(&client, UPDATE, self.edit()).await;
        preview["proposal"].as_str().unwrap().to_owned()
    }

    /// Waits until the issuer took the newest refresh token back.
    async fn is_revoked(&self) {
        let own = format!("refresh-{}", self.tokens.refresh.lock().unwrap());
        let is_revoked = async {
            while *self.tokens.revoked.lock() != [own.clone()] {
                tokio::task::yield_now().await;
            }
        };
        let limit = Duration::from_secs(20);
        tokio::time::timeout(limit, is_revoked).await.unwrap();
    }

    fn text(&self) -> String {
        let id = id_of(&self.wiki, "docs/a");
        let text = |store: &wikijs_gate::demo::Store| store.page(id).unwrap().content.clone();
        self.wiki.with_store(|store| text(store))
    }

    async fn token(&self, arguments: &[&str]) -> String {
        let (file, dir) = (self.names.path(), self.agent.dir.path());
        let command = Command::new(&[&["token"], arguments].concat())
            .with("WIKI_SERVE_TOKENS_FILE", file.to_str().unwrap())
            .with("WIKI_AUDIT_DIR", dir.to_str().unwrap());
        command.good().await.stdout
    }
}

/// A browser with its cookies.
#[derive(Clone, Default)]
struct Person {
    cookies: HashMap<String, String>,
    headers: Vec<(&'static str, String)>,
    /// Another host than the page's public name.
    host: Option<String>,
}

/// The members of a form, as a browser sends them.
fn encoded(members: &[(&str, String)]) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(members).finish()
}

/// What the address says to which a browser is led.
fn query_of(page: &Page) -> HashMap<String, String> {
    let location = url::Url::parse(&page.leads_to()).unwrap();
    location.query_pairs().into_owned().collect()
}

/// The issuer's answer to a browser, as its address has it.
type Answered = Vec<(&'static str, String)>;

impl Person {
    async fn send(&mut self, hosted: &Hosted, path: &str, form: Option<String>) -> Page {
        wikijs_gate::wiki::provide_tls();
        let client = reqwest::Client::builder().no_proxy();
        let client = client.redirect(reqwest::redirect::Policy::none());
        let client = client.build().unwrap();
        let url = format!("http://{}{path}", hosted.address);
        let mut request = match form {
            Some(form) => client
                .post(url)
                .header("origin", format!("https://{NAME}"))
                .body(form),
            None => client.get(url),
        };
        let cookies = self.cookies.iter();
        let cookies = vec_of(cookies.map(|(name, value)| format!("{name}={value}")));
        request = request
            .header(HOST, self.host.as_deref().unwrap_or(NAME))
            .header(COOKIE, cookies.join("; "));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let got = page(request.send().await.unwrap()).await;
        for set in got.headers.get_all(SET_COOKIE) {
            let (name, rest) = set.to_str().unwrap().split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        got
    }

    async fn open(&mut self, hosted: &Hosted, path: &str) -> Page {
        self.send(hosted, path, None).await
    }

    /// Goes to the issuer; its answer, with a code of this name.
    async fn begin(&mut self, place: &Place, hosted: &Hosted, code: &str, then: &str) -> Answered {
        let path = format!("/review/sign-in/issuer?then={then}");
        let begun = self.open(hosted, &path).await;
        begun.is(StatusCode::SEE_OTHER, "");
        let cookie = begun.headers[SET_COOKIE].to_str().unwrap();
        begins(&cookie, "__Host-wikijs_sign_in=");
        let part = "; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=600";
        says(cookie, part);
        let query = query_of(&begun);
        for (name, value) in [
            ("tenant", "a"),
            ("response_type", "code"),
            ("client_id", "page"),
            ("scope", "openid profile email offline_access"),
            ("code_challenge_method", "S256"),
            ("redirect_uri", "https://gate.example.com/review/signed-in"),
        ] {
            assert_eq!(query[name], value, "{query:?}");
        }
        place.tokens.answers(&query, code)
    }

    async fn finish(&mut self, hosted: &Hosted, answer: &Answered) -> Page {
        let path = format!("/review/signed-in?{}", encoded(answer));
        self.open(hosted, &path).await
    }

    async fn signed_in(place: &Place, hosted: &Hosted) -> Self {
        let mut person = Self::default();
        let answer = person.begin(place, hosted, "code", "").await;
        let done = person.finish(hosted, &answer).await;
        done.is(StatusCode::OK, "");
        person
    }

    async fn decide(&mut self, hosted: &Hosted, set: &str, shown: &Page) -> Page {
        let given = ["form_token", "digest"].map(|name| (name, shown.hidden(name)));
        let form = [&given[..], &[("decision", "apply".to_owned())]].concat();
        let path = format!("/review/sets/{set}");
        self.send(hosted, &path, Some(encoded(&form))).await
    }
}

/// The times of a sign-in that is kept.
const ALL_TIMES: [&str; 3] = ["opened", "used", "asked"];

fn always() -> HttpLimits {
    LIMITS().but(|limits| limits.asked_again = Duration::ZERO)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_signs_in_decides_and_comes_back_after_a_restart() {
    let place = Place::new(REVIEWERS).await;
    let set = place.proposal().await;
    let hosted = place.host().await;
    let mut ada = Person::default();
    let path = format!("/review/sets/{set}");
    let nobody = ada.open(&hosted, &path).await;
    nobody.is(StatusCode::UNAUTHORIZED, "");
    let part = format!("href=\"/review/sign-in/issuer?then={set}\">Sign in with 127.0.0.1");
    says(&nobody.text, &part);
    lacks(&nobody.text, "docs/a");
    // Where there are several sites, a link names one, and so does what comes of it.
    let at_site = ada.open(&hosted, &format!("{path}?site=docs")).await;
    says(&at_site.text, &format!("?then={set}@docs\""));
    let answer = ada.begin(&place, &hosted, "code", &set).await;
    let done = ada.finish(&hosted, &answer).await;
    // On a redirect from elsewhere a browser sends no strict cookie; a page of ours goes on.
    done.is(StatusCode::OK, "");
    says(&done.text, &format!("content=\"0; url={path}\""));
    let cookies: Vec<_> = done.headers.get_all(SET_COOKIE).iter().collect();
    let expected = "__Host-wikijs_sign_in=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0";
    assert_eq!(cookies[0], expected);
    let part = "; Path=/; HttpOnly; SameSite=Strict; Secure";
    says(cookies[1].to_str().unwrap(), part);
    let shown = ada.open(&hosted, &path).await;
    says(&shown.text, "ada@127.0.0.1");
    let decided = ada.decide(&hosted, &set, &shown).await;
    decided.is(StatusCode::SEE_OTHER, "");
    assert_eq!(place.text(), "The new word.\n");
    let records = place.agent.records();
    let mut latest = records.iter().rev();
    let outcome = latest.find(|it| it.event == AuditEvent::Outcome).unwrap();
    let part = "reviewer:ada@127.0.0.1/client:";
    begins(&outcome.actor.clone().unwrap().as_str(), part);
    let person = outcome.client.as_ref().unwrap().person.clone().unwrap();
    assert_eq!(*person.issuer, *place.tokens.issuer.url);
    assert_eq!(&*person.subject, "s-ada");

    hosted.stop.cancel();
    hosted.ended.await.unwrap();
    let restarted = place.host().await;
    let back = ada.open(&restarted, "/review/record").await;
    back.is(StatusCode::OK, "");
    assert_eq!(*place.tokens.asked.lock(), 1);
    // What is kept opens nothing: neither the cookie nor the refresh token is in it.
    let cookie = ada.cookies["__Host-wikijs_review"].clone();
    let [kept] = &place.sign_ins()[..] else {
        panic!("one sign-in");
    };
    let kept = fs::read_to_string(kept).unwrap();
    lacks(&kept, &cookie);
    lacks(&kept, "refresh-");
    restarted.stop.cancel();
    restarted.ended.await.unwrap();
    // Without its key it counts for nothing.
    let without = place.host_within(LIMITS(), false).await;
    let over = ada.open(&without, "/review").await;
    over.is(StatusCode::UNAUTHORIZED, "");
    says(&over.text, "Your session has ended");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_loses_the_group_or_the_issuers_word_loses_the_page() {
    let place = Place::new(REVIEWERS).await;
    let hosted = place.host_within(always(), true).await;
    let mut ada = Person::signed_in(&place, &hosted).await;
    for _ in 0..3 {
        let queue = ada.open(&hosted, "/review").await;
        queue.is(StatusCode::OK, "");
        lacks(&queue.text, "does not answer");
    }
    assert_eq!(*place.tokens.asked.lock(), 4);
    // The issuer is away: that is said, and the session goes on for a while.
    *place.tokens.is_away.lock() = true;
    let queue = ada.open(&hosted, "/review").await;
    queue.is(StatusCode::OK, "");
    let part = "The issuer does not answer. You stay signed in until ";
    says(&queue.text, part);
    *place.tokens.is_away.lock() = false;
    lacks(&ada.open(&hosted, "/review").await.text, "does not answer");
    // Out of the group, and so off the page.
    *place.tokens.says.lock() = json!({ "groups": ["others"] });
    let out = ada.open(&hosted, "/review").await;
    out.is(StatusCode::FORBIDDEN, "");
    says(&out.text, "no grant of this server is for this account");
    *place.tokens.says.lock() = json!({ "groups": ["reviewers"] });
    let over = ada.open(&hosted, "/review").await;
    over.is(StatusCode::UNAUTHORIZED, "");
    // A token that the issuer does not know any more.
    let mut ada = Person::signed_in(&place, &hosted).await;
    *place.tokens.refresh.lock() = Some(99);
    let out = ada.open(&hosted, "/review").await;
    out.is(StatusCode::FORBIDDEN, "");
    says(&out.text, "does not vouch for this session any more");
    // Another person's claims.
    *place.tokens.refresh.lock() = Some(0);
    let mut ada = Person::signed_in(&place, &hosted).await;
    *place.tokens.says.lock() = json!({ "groups": ["reviewers"], "sub": "s-eve" });
    let status = ada.open(&hosted, "/review").await.status;
    assert_eq!(status, StatusCode::FORBIDDEN);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_requests_at_once_ask_the_issuer_once_and_lose_no_token() {
    let place = Place::new(REVIEWERS).await;
    let hosted = place.host().await;
    let ada = Person::signed_in(&place, &hosted).await;
    place.shift(&ALL_TIMES, 600);
    let opened = (0..8).map(|_| {
        let mut ada = ada.clone();
        let hosted = &hosted;
        async move { ada.open(hosted, "/review").await.status }
    });
    let opened = futures_util::future::join_all(opened).await;
    assert_eq!(opened, [StatusCode::OK; 8]);
    // Once for the code, once for all eight.
    assert_eq!(*place.tokens.asked.lock(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_are_made_up_let_nobody_in_and_say_so_plainly() {
    let place = Place::new(REVIEWERS).await;
    let hosted = place.host().await;
    let hostile = "<script>alert(1)</script>";
    let begun = async |code: &str| {
        let mut person = Person::default();
        let answer = person.begin(&place, &hosted, code, "").await;
        (person, answer)
    };
    let with = |mut answer: Answered, name: &'static str, value: &str| {
        answer.retain(|(own, _)| *own != name);
        if !value.is_empty() {
            answer.push((name, value.to_owned()));
        }
        answer
    };
    let own = "This sign-in was not begun in this browser";
    let elsewhere = "comes from another issuer";
    let (ada, of_ada) = begun("c1").await;
    let (eve, of_eve) = begun("c2").await;
    let mut forged = ada.clone();
    for cookie in forged.cookies.values_mut() {
        let at = cookie.len() / 2;
        let is_a = cookie.as_bytes()[at] == b'A';
        cookie.replace_range(at..=at, if is_a { "B" } else { "A" });
    }
    let but = |name, value| with(of_ada.clone(), name, value);
    let denied = with(but("code", ""), "error", "access_denied");
    let denied = with(denied, "error_description", hostile);
    let no_scope = with(but("code", ""), "error", "invalid_scope");
    let no_client = with(but("code", ""), "error", "unauthorized_client");
    let other = but("iss", "https://evil.example");
    for (name, person, answer, why) in [
        ("state of another browser", &ada, of_eve.clone(), own),
        ("no cookie", &Person::default(), of_ada.clone(), own),
        ("a forged cookie", &forged, of_ada.clone(), own),
        ("no state", &ada, but("state", ""), own),
        ("another issuer", &ada, other, elsewhere),
        ("no issuer", &ada, but("iss", ""), elsewhere),
        ("denied", &ada, denied, "You did not agree at the issuer"),
        ("scopes", &ada, no_scope, "allows them for its client there"),
        ("no client", &ada, no_client, "how the client is registered"),
        (
            "a hostile error",
            &ada,
            but("error", hostile),
            "did not sign you in.",
        ),
        (
            "a code that is none",
            &ada,
            but("code", "made-up"),
            "used before",
        ),
    ] {
        let mut person = person.clone();
        let refused = person.finish(&hosted, &answer).await;
        refused.is(StatusCode::FORBIDDEN, name);
        says(&refused.text, why);
        lacks(&refused.text, "alert(1)");
        let is_in = person.cookies.contains_key("__Host-wikijs_review");
        assert!(!is_in, "{name}");
        let queue = person.open(&hosted, "/review").await;
        queue.is(StatusCode::UNAUTHORIZED, name);
    }
    // A code counts once, whoever brings it again.
    let mut again = eve.clone();
    let done = eve.clone().finish(&hosted, &of_eve).await;
    done.is(StatusCode::OK, "");
    let asked = *place.tokens.asked.lock();
    let refused = again.finish(&hosted, &of_eve).await;
    refused.is(StatusCode::FORBIDDEN, "");
    says(&refused.text, "was ended already");
    assert_eq!(*place.tokens.asked.lock(), asked);
    // Nor does anybody come in from within a frame.
    let mut framed = ada.clone();
    framed.headers.push(("sec-fetch-dest", "iframe".to_owned()));
    for path in ["/review/sign-in/issuer", "/review/signed-in?code=c1"] {
        let refused = framed.open(&hosted, path).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{path}");
        says(&refused.text, "inside another page");
        assert_eq!(refused.headers["x-frame-options"], "DENY");
    }
    // Where a sign-in leads is a page of ours.
    let thens = "https://evil.example //evil.example /%2fevil.example javascript:x";
    for then in thens.split(' ') {
        let mut person = Person::default();
        let answer = person.begin(&place, &hosted, "open", then).await;
        let done = person.finish(&hosted, &answer).await;
        says(&done.text, "content=\"0; url=/review\"");
        lacks(&done.text, "evil");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_token_that_does_not_count_lets_nobody_in() {
    let domain = "[[oauth.grants]]\nemail_domains = [\"example.com\"]\nrole = \"reviewer\"\n\
        [[oauth.grants]]\ngroups = [\"agents\"]\nrole = \"agent\"\n";
    let place = Place::new(&format!("{REVIEWERS}{domain}")).await;
    let hosted = place.host().await;
    let past = time::OffsetDateTime::now_utc().unix_timestamp() - 600;
    let nobody = json!({ "groups": [], "email": "ada@example.com", "email_verified": false });
    let too_many = json!({ "groups": null, "_claim_names": { "groups": "src1" } });
    for (claims, why) in [
        (json!({ "nonce": "another" }), "belongs to another sign-in"),
        (json!({ "aud": "another" }), "another audience"),
        (json!({ "azp": "another" }), "another audience"),
        (json!({ "iss": "https://evil.example" }), "does not vouch"),
        (json!({ "exp": past }), "has expired"),
        (json!({ "sub": null }), "names no subject"),
        (json!({ "groups": [] }), "no grant of this server"),
        (json!({ "groups": ["agents"] }), "opens no review page"),
        (nobody, "e-mail address is verified"),
        (too_many, "left this account's groups out"),
    ] {
        let name = claims.to_string();
        let mut said = json!({ "groups": ["reviewers"] });
        for (claim, value) in claims.as_object().unwrap() {
            said[claim] = value.clone();
        }
        *place.tokens.says.lock() = said;
        let mut person = Person::default();
        let answer = person.begin(&place, &hosted, "code", "").await;
        let refused = person.finish(&hosted, &answer).await;
        refused.is(StatusCode::FORBIDDEN, &name);
        says(&refused.text, why);
        assert_eq!(person.cookies.len(), 0, "{name}");
    }
    // The issuer that cannot be asked lets in nobody, and is not the person's fault.
    *place.tokens.says.lock() = json!({ "groups": ["reviewers"] });
    *place.tokens.is_away.lock() = true;
    let mut person = Person::default();
    let answer = person.begin(&place, &hosted, "code", "").await;
    let refused = person.finish(&hosted, &answer).await;
    refused.is(StatusCode::SERVICE_UNAVAILABLE, "");
}

#[tokio::test]
async fn a_secret_that_the_issuer_does_not_take_is_named_by_its_setting() {
    let tokens = Tokens::start().await;
    let table = tokens.issuer.table("review_client_id = \"page\"\n");
    let wiki = sample_wiki().await;
    let (_, settings, _dir) = Setup::readonly(&wiki).with_tables(&table).app();
    let oauth = settings.oauth.clone().unwrap();
    let network = &settings.issuer_network;
    let page = PageClient {
        issuer: Issuer::new(&oauth, network, IssuerTimes::default()).unwrap(),
        settings: oauth,
        id: "page".to_owned(),
        secret: Some("another".into()),
    };
    let secrets = CodeSecrets::new().unwrap();
    let fault = page.redeem("code", &secrets, PAGE).await.unwrap_err();
    says(
        &fault.to_string(),
        "look at oauth.review_client_id and oauth.review_secret_file",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_decides_on_a_set_of_their_own_client_unless_the_grant_says_so() {
    let agents = "[[oauth.grants]]\ngroups = [\"writers\"]\nrole = \"agent\"\nwrite = true\n";
    for decides_own in [false, true] {
        let grants = format!("{REVIEWERS}decides_own = {decides_own}\n{agents}");
        let place = Place::new(&grants).await;
        let hosted = place.host().await;
        let set = place.proposal_of_writers(&hosted).await;
        let others = place.proposal().await;
        let mut ada = Person::signed_in(&place, &hosted).await;
        let shown = ada.open(&hosted, &format!("/review/sets/{set}")).await;
        shown.is(StatusCode::OK, "");
        let why = "It is of your own client, or of a delegate of it: somebody else decides.";
        if decides_own {
            lacks(&shown.text, why);
            let done = ada.decide(&hosted, &set, &shown).await;
            done.is(StatusCode::SEE_OTHER, "");
            assert_eq!(place.text(), "The new word.\n");
            continue;
        }
        says(&shown.text, why);
        lacks(&shown.text, "id=\"decide\"");
        // A form made up from another set's page decides no more.
        let other = ada.open(&hosted, &format!("/review/sets/{others}")).await;
        lacks(&other.text, why);
        let refused = ada.decide(&hosted, &set, &other).await;
        refused.is(StatusCode::FORBIDDEN, "");
        assert_eq!(place.text(), "The old word.\n");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_takes_back_alone_what_their_own_client_proposed() {
    let agents = "[[oauth.grants]]\ngroups = [\"writers\"]\nrole = \"agent\"\nwrite = true\n";
    let place = Place::new(&format!("{REVIEWERS}{agents}")).await;
    let hosted = place.host().await;
    let set = place.proposal_of_writers(&hosted).await;
    let mut ada = Person::signed_in(&place, &hosted).await;
    let ben = json!({ "groups": ["reviewers"], "sub": "s-ben", "preferred_username": "ben" });
    *place.tokens.says.lock() = ben;
    let mut ben = Person::signed_in(&place, &hosted).await;
    let path = format!("/review/sets/{set}");
    let shown = ben.open(&hosted, &path).await;
    let done = ben.decide(&hosted, &set, &shown).await;
    done.is(StatusCode::SEE_OTHER, "");
    assert_eq!(place.text(), "The new word.\n");
    let undo = format!("{path}/undo");
    let why = "It is of your own client, or of a delegate of it: somebody else decides.";
    let own = ada.open(&hosted, &path).await;
    lacks(&own.text, &undo);
    says(&own.text, why);
    let asked = ben.open(&hosted, &undo).await;
    let form = |asked: &Page, form_token: String| {
        let given = ["shown", "undoes"].map(|name| (name, asked.hidden(name)));
        encoded(&[&given[..], &[("form_token", form_token)]].concat())
    };
    let of_queue = ada.open(&hosted, "/review").await.hidden("form_token");
    let made_up = form(&asked, of_queue);
    for form in [None, Some(made_up)] {
        let refused = ada.send(&hosted, &undo, form).await;
        refused.is(StatusCode::FORBIDDEN, "");
        says(&refused.text, why);
    }
    assert_eq!(place.text(), "The new word.\n");
    says(&ben.open(&hosted, &path).await.text, &undo);
    let own = form(&asked, asked.hidden("form_token"));
    let undone = ben.send(&hosted, &undo, Some(own)).await;
    undone.is(StatusCode::SEE_OTHER, "");
    assert_eq!(place.text(), "The old word.\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_listed_and_ended_by_operators_and_by_signing_out() {
    let place = Place::new(REVIEWERS).await;
    let hosted = place.host().await;
    let mut first = Person::signed_in(&place, &hosted).await;
    let mut second = Person::signed_in(&place, &hosted).await;
    let listed = place.token(&["list", "--json"]).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let sessions = listed["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2, "{listed}");
    let name = sessions[0]["name"].as_str().unwrap();
    begins(&name, "ada@127.0.0.1/");
    says(&place.token(&["list"]).await, name);
    place.token(&["revoke", name]).await;
    let mut statuses = Vec::new();
    for person in [&mut first, &mut second] {
        statuses.push(person.open(&hosted, "/review").await.status.as_u16());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401]);
    place.token(&["revoke", "ada@127.0.0.1"]).await;
    for person in [&mut first, &mut second] {
        let over = person.open(&hosted, "/review").await;
        assert_eq!(over.status, StatusCode::UNAUTHORIZED);
    }
    // Whoever signs out is told that the issuer still knows them.
    let mut third = Person::signed_in(&place, &hosted).await;
    let queue = third.open(&hosted, "/review").await;
    let form = format!("form_token={}", queue.hidden("form_token"));
    let cookies = third.cookies.clone();
    let out = third.send(&hosted, "/review/sign-out", Some(form)).await;
    out.is(StatusCode::OK, "");
    says(&out.text, "/logout?client_id=page\"");
    // Its token counts no more there.
    place.is_revoked().await;
    third.cookies = cookies;
    let over = third.open(&hosted, "/review").await;
    over.is(StatusCode::UNAUTHORIZED, "");
    let listed: Value = serde_json::from_str(&place.token(&["list", "--json"]).await).unwrap();
    assert_eq!(listed["sessions"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_signed_out_while_the_issuer_is_asked_stays_out() {
    let place = Place::new(REVIEWERS).await;
    let hosted = place.host().await;
    let mut ada = Person::signed_in(&place, &hosted).await;
    place.shift(&ALL_TIMES, 600);
    let held = place.tokens.held.lock().await;
    let ends = async {
        while *place.tokens.asked.lock() < 2 {
            tokio::task::yield_now().await;
        }
        // Signing out waits ten seconds for a turn, and does this then.
        for one in place.sign_ins() {
            fs::remove_file(one).unwrap();
        }
        drop(held);
    };
    let (over, ()) = tokio::join!(ada.open(&hosted, "/review"), ends);
    assert_eq!(over.status, StatusCode::UNAUTHORIZED);
    assert!(place.sign_ins().is_empty(), "it was kept again");
    // The token that the issuer gave meanwhile counts no more there.
    place.is_revoked().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sign_ins_begin_at_a_rate_of_their_own() {
    let place = Place::new(REVIEWERS).await;
    let hosted = place.host().await;
    // What a page of others has a browser fetch uses up nothing of it.
    let mut fetching = Person::default()
        .but(|person| person.headers = vec![("sec-fetch-dest", "image".to_owned())]);
    for _ in 0..40 {
        let refused = fetching.open(&hosted, "/review/sign-in/issuer").await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
    }
    let mut ada = Person::default();
    for _ in 0..30 {
        let begun = ada.open(&hosted, "/review/sign-in/issuer").await;
        begun.is(StatusCode::SEE_OTHER, "");
    }
    // A bucket fills again while a slow machine asks.
    let mut tries = 0..30;
    let limited = loop {
        tries.next().expect("a sign-in that is refused");
        let begun = ada.open(&hosted, "/review/sign-in/issuer").await;
        if begun.status == StatusCode::TOO_MANY_REQUESTS {
            break begun;
        }
    };
    assert!(limited.headers.contains_key("retry-after"));
    // Whoever is signed in, or signs in by a link, is not held up.
    let page = ada.open(&hosted, "/review/sign-in").await;
    assert_ne!(page.status, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_refresh_token_a_session_lasts_an_hour() {
    let place = Place::new(REVIEWERS).await;
    *place.tokens.refresh.lock() = None;
    let hosted = place.host_within(always(), true).await;
    let mut ada = Person::signed_in(&place, &hosted).await;
    assert_eq!(ada.open(&hosted, "/review").await.status, StatusCode::OK);
    assert_eq!(*place.tokens.asked.lock(), 1);
    place.shift(&ALL_TIMES, 59 * 60);
    assert_eq!(ada.open(&hosted, "/review").await.status, StatusCode::OK);
    place.shift(&ALL_TIMES, 2 * 60);
    let over = ada.open(&hosted, "/review").await;
    over.is(StatusCode::UNAUTHORIZED, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_issuer_away_a_session_counts_an_hour_and_with_it_seven_days() {
    let place = Place::new(REVIEWERS).await;
    let hosted = place.host_within(always(), true).await;
    let mut ada = Person::signed_in(&place, &hosted).await;
    let hour = 60 * 60;
    place.shift(&ALL_TIMES, 11 * hour);
    *place.tokens.is_away.lock() = true;
    // Eleven hours ago the issuer was asked last.
    let away = ada.open(&hosted, "/review").await;
    away.is(StatusCode::FORBIDDEN, "");
    says(&away.text, "could not be asked about you for an hour");
    *place.tokens.is_away.lock() = false;
    assert_eq!(ada.open(&hosted, "/review").await.status, StatusCode::OK);
    place.shift(&["opened"], 6 * 24 * hour);
    assert_eq!(ada.open(&hosted, "/review").await.status, StatusCode::OK);
    place.shift(&["used", "asked"], 12 * hour);
    ada.open(&hosted, "/review")
        .await
        .is(StatusCode::UNAUTHORIZED, "");
    place.shift(&["used", "asked"], -12 * hour);
    place.shift(&["opened"], 24 * hour);
    ada.open(&hosted, "/review")
        .await
        .is(StatusCode::UNAUTHORIZED, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_the_page_that_others_read_or_that_is_too_short_stops_the_start() {
    let place = Place::new(REVIEWERS).await;
    let config = place.files.path().join("config.toml");
    let key = place.files.path().join("key");
    let tokens = place.names.path();
    let page = "review_client_id = \"page\"\nreview_key_file = \"key\"\n";
    let own = format!(
        "base_url = {:?}\napi_token = {:?}\naudit_dir = {:?}\nserve_tokens_file = {tokens:?}\n{}",
        place.wiki.address(),
        place.wiki.keys().scripter,
        place.agent.dir.path(),
        place.tokens.issuer.table(&format!("{page}{REVIEWERS}")),
    );
    fs::write(&config, own).unwrap();
    let may = |mode| {
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
    };
    let start = async || {
        let command = Command::new(&["serve", "--http", "127.0.0.1:0"]);
        let command = command.with("WIKI_CONFIG", config.to_str().unwrap());
        command.end().await.exits(2).stderr
    };
    may(0o644);
    let part = "review_key_file names a file that may be read by others";
    says(&start().await, part);
    fs::write(&key, "short").unwrap();
    may(0o600);
    let part = "review_key_file names a file that must hold at least 32";
    says(&start().await, part);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_loopback_the_issuer_leads_to_localhost_and_on_to_the_pages_own_name() {
    let place = Place::new(REVIEWERS).await;
    let hosted = place.setup(true).host().await;
    let port = hosted.address.port();
    let mut ada = Person::default().but(|person| person.host = Some(format!("127.0.0.1:{port}")));
    let led = ada.open(&hosted, "/review").await;
    led.is(StatusCode::TEMPORARY_REDIRECT, "");
    let own = led.leads_to().replace("/review", "");
    let own = own.trim_start_matches("http://");
    ada.host = Some(own.to_owned());
    let begun = ada.open(&hosted, "/review/sign-in/issuer").await;
    let cookie = begun.headers[SET_COOKIE].to_str().unwrap();
    says(
        cookie,
        "; Path=/review/signed-in; HttpOnly; SameSite=Lax; Max-Age=600",
    );
    begins(&cookie, "wikijs_sign_in=");
    let query = query_of(&begun);
    let back = format!("http://localhost:{port}/review/signed-in");
    assert_eq!(query["redirect_uri"], back);
    let answer = place.tokens.answers(&query, "code");
    ada.host = Some(format!("localhost:{port}"));
    let led = ada.finish(&hosted, &answer).await;
    led.is(StatusCode::TEMPORARY_REDIRECT, "");
    let there = format!("http://{own}/review/signed-in?code=code&");
    begins(&led.leads_to(), &there);
    ada.host = Some(own.to_owned());
    let done = ada.finish(&hosted, &answer).await;
    done.is(StatusCode::OK, "");
    assert_eq!(ada.open(&hosted, "/review").await.status, StatusCode::OK);
}
