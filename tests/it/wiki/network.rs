//! Networks as they are: proxies, authorities of one's own, gateways, IPv6, a wiki below a path.

use std::fs::Permissions;
use std::net::Ipv6Addr;

use crate::prelude::*;
use crate::wiki::relay::{Authority, Relay, socket_of};

/// The host that only a proxy finds.
const HOST: &str = "wiki.example";
/// What must show nowhere.
const SECRET: &str = "plantedsecret";

/// A file that nobody else may read.
fn file(dir: &TempDir, name: &str, text: &str) -> String {
    let path = dir.path().join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn of(wiki: &DemoWiki, address: &str) -> Setup {
    Setup::at(address, &wiki.keys().admin)
}

/// Reads a page and makes one.
async fn reads_and_writes(served: &Served) {
    let home = json!({ "path": "home" });
    served.call(BY_PATH, home).await.unwrap();
    is_applied(served, CREATE, new_page("docs/through")).await;
}

async fn reading_fails(setup: Setup) -> Value {
    let served = setup.with("WIKI_HTTP_MAX_RETRIES", "0").serve().await;
    let home = json!({ "path": "home" });
    served.call(BY_PATH, home).await.unwrap_err()
}

#[tokio::test]
async fn plain_http_goes_through_the_proxy_of_the_environment_with_its_user() {
    let wiki = sample_wiki().await;
    let proxy = Relay::proxy(socket_of(&wiki)).await;
    let served = of(&wiki, &format!("http://{HOST}"))
        .with(
            "http_proxy",
            &format!("http://us%40er:{SECRET}@{}", proxy.address),
        )
        .serve()
        .await;
    reads_and_writes(&served).await;
    let told = proxy.told();
    assert!(told.contains(&format!("POST http://{HOST}/graphql HTTP/1.1\r\n")));
    // us@er:plantedsecret
    assert!(told.contains("proxy-authorization: Basic dXNAZXI6cGxhbnRlZHNlY3JldA=="));
    lacks(&format!("{:?}", served.app), SECRET);
}

#[tokio::test]
async fn a_host_of_no_proxy_is_reached_without_one() {
    let wiki = sample_wiki().await;
    let proxy = Relay::proxy(socket_of(&wiki)).await;
    let address = format!("http://0.0.0.0:{}", socket_of(&wiki).port());
    let through = |except: &str| {
        of(&wiki, &address)
            .with("HTTP_PROXY", &proxy.address.to_string())
            .with("NO_PROXY", except)
    };
    reads_and_writes(&through("example.org, 0.0.0.0").serve().await).await;
    assert_eq!(proxy.told(), "");
    let served = through("example.org").serve().await;
    served.call(TAGS, json!({})).await.unwrap();
    assert_ne!(proxy.told(), "");
}

#[tokio::test]
async fn tls_goes_through_a_tunnel_in_which_the_proxy_sees_nothing() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let authority = Authority::of(HOST);
    let tls = Relay::tls(socket_of(&wiki), &authority).await;
    let proxy = Relay::proxy(tls.address).await;
    let served = of(&wiki, &format!("https://{HOST}"))
        .with(
            "WIKI_PROXY",
            &format!("http://user:{SECRET}@{}", proxy.address),
        )
        .with("HTTPS_PROXY", "http://127.0.0.1:9")
        .with("WIKI_CA_FILE", &file(&dir, "ca", &authority.pem))
        .with(
            "WIKI_EXTRA_HEADERS_FILE",
            &file(&dir, "headers", &format!("X-Gateway: {SECRET}\n")),
        )
        .serve()
        .await;
    reads_and_writes(&served).await;
    let told = proxy.told();
    begins(&told, &format!("CONNECT {HOST}:443 HTTP/1.1\r\n"));
    assert!(told.contains("proxy-authorization: Basic "));
    for inside in [&wiki.keys().admin, "graphql", SECRET, "x-gateway"] {
        assert!(!told.contains(inside), "{inside}");
    }
}

#[tokio::test]
async fn a_wiki_that_asks_for_a_certificate_is_shown_the_sites_own() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let (ours, strangers) = (Authority::of("gate"), Authority::of("gate"));
    let asking = Authority::asking("localhost", &ours);
    let tls = Relay::tls(socket_of(&wiki), &asking).await;
    let setup = || {
        let address = format!("https://localhost:{}", tls.address.port());
        of(&wiki, &address).with("WIKI_CA_FILE", &file(&dir, "ca", &asking.pem))
    };
    let shown = |by: &Authority| {
        let [certificate, key] = &by.signed;
        setup()
            .with("WIKI_CLIENT_CERT_FILE", &file(&dir, "cert", certificate))
            .with("WIKI_CLIENT_KEY_FILE", &file(&dir, "key", key))
    };
    for without in [setup(), shown(&strangers)] {
        let error = reading_fails(without).await;
        assert_eq!(error["code"], "WIKI_UNAVAILABLE");
        says(&error["message"], "got none that it takes");
        says(&error["hint"], "WIKI_CLIENT_CERT_FILE");
        assert_eq!(tls.told(), "");
    }
    let address = format!("https://localhost:{}", tls.address.port());
    let told = Command::new(&["doctor"])
        .at(&address, &wiki.keys().admin, dir.path())
        .with("WIKI_CA_FILE", &file(&dir, "ca", &asking.pem))
        .end()
        .await
        .exits(5);
    says(&told.told, "got none that it takes");
    let served = shown(&ours).serve().await;
    reads_and_writes(&served).await;
    let settings = format!("{:?}", served.app);
    lacks(&settings, "PRIVATE KEY");
}

#[tokio::test]
async fn headers_of_the_file_go_to_the_wiki_with_every_request_and_show_nowhere() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let gateway = Relay::proxy(socket_of(&wiki)).await;
    let headers = file(
        &dir,
        "headers",
        &format!("X-Gateway: {SECRET}\nCookie: a=b\n"),
    );
    let setup = Setup::at(
        &format!("http://{}", gateway.address),
        &wiki.keys().readonly,
    );
    let served = setup.with("WIKI_EXTRA_HEADERS_FILE", &headers);
    let served = served.serve().await;
    let home = json!({ "path": "home", "view": "rendered" });
    served.call(BY_PATH, home).await.unwrap();
    let told = gateway.told();
    let count = |text: &str| told.matches(text).count();
    let requests = count(" HTTP/1.1\r\n");
    // The API, the page's source or its view.
    assert!(count("GET /") > 0 && count("POST /graphql") > 0, "{told}");
    assert_eq!(count(&format!("x-gateway: {SECRET}\r\n")), requests);
    assert_eq!(count("cookie: a=b\r\n"), requests);
    lacks(&format!("{:?}", served.app), SECRET);
}

#[tokio::test]
async fn a_certificate_that_does_not_count_is_told_and_nothing_is_sent() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let (good, other) = (Authority::of("localhost"), Authority::of("localhost"));
    let (expired, elsewhere) = (Authority::dated("localhost", 2_020), Authority::of(HOST));
    for (shown, trusted, why) in [
        (
            &good,
            &other,
            "no authority that is known here has signed it",
        ),
        (&expired, &expired, "it has expired"),
        (&elsewhere, &elsewhere, "it is another host's"),
    ] {
        let tls = Relay::tls(socket_of(&wiki), shown).await;
        let setup = of(&wiki, &format!("https://localhost:{}", tls.address.port()));
        let error =
            reading_fails(setup.with("WIKI_CA_FILE", &file(&dir, "ca", &trusted.pem))).await;
        assert_eq!(error["code"], "WIKI_UNAVAILABLE");
        let expected = format!("The wiki's certificate is not trusted: {why}.");
        assert_eq!(error["message"], expected);
        assert!(error["hint"].as_str().unwrap().contains("WIKI_CA_FILE"));
        assert_eq!(tls.told(), "");
    }
}

#[tokio::test]
async fn a_proxy_that_refuses_or_is_not_there_is_no_answer_of_the_wiki() {
    let wiki = sample_wiki().await;
    let refusing = Relay::refusing().await;
    let proxies = [refusing.address.to_string(), "127.0.0.1:9".to_owned()];
    for (proxy, scheme) in [(0, "https"), (0, "http"), (1, "https"), (1, "http")] {
        let setup = of(&wiki, &format!("{scheme}://{HOST}"));
        let address = format!("http://user:{SECRET}@{}", proxies[proxy]);
        let error = reading_fails(setup.with("WIKI_PROXY", &address)).await;
        assert_eq!(error["code"], "WIKI_UNAVAILABLE", "{error}");
        assert!(!error.to_string().contains(SECRET), "{error}");
    }
    // Of the tunnel it was told no more than where to.
    let told = refusing.told();
    let (tunnel, plain) = told.split_once("POST http").unwrap();
    assert!(tunnel.starts_with("CONNECT ") && !tunnel.contains(&wiki.keys().admin));
    assert!(plain.contains(&wiki.keys().admin));
}

#[tokio::test]
async fn a_wiki_at_an_ipv6_address_is_read_and_written() {
    let options =
        DemoOptions::default().but(|options| options.address = (Ipv6Addr::LOCALHOST, 0).into());
    let wiki = DemoWiki::start(options).await.unwrap();
    assert!(wiki.address().starts_with("http://[::1]:"));
    let served = of(&wiki, &wiki.address()).serve().await;
    reads_and_writes(&served).await;
    let url = format!("{}/en/home", wiki.address());
    let page = json!({ "path": url });
    let page = served.call(BY_PATH, page).await.unwrap();
    assert_eq!(page["url"], url);
    let name = wiki.address().replace("http://", "");
    assert_eq!(served.records().last().unwrap().wiki, name);
}

#[tokio::test]
async fn a_wiki_below_a_path_is_read_and_written_by_every_kind_of_key() {
    let wiki = sample_wiki().await;
    let gateway = Relay::below_a_path(&wiki).await;
    for slash in ["", "/"] {
        let base = format!("http://{}/wiki", gateway.address);
        let at = format!("{base}{slash}");
        let keys = wiki.keys();
        for key in [&keys.admin, &keys.writer, &keys.readonly, &keys.reader] {
            let served = Setup::at(&at, key).serve().await;
            for view in ["content", "rendered"] {
                let url = format!("{base}/en/home");
                let page = json!({ "path": url, "view": view });
                let page = served.call(BY_PATH, page).await.unwrap();
                assert_eq!(page["url"], url);
                let reads_source = key != &keys.reader || view == "rendered";
                assert_eq!(page[view].is_string(), reads_source, "{page}");
            }
            let elsewhere = format!("http://{}/other/en/home", gateway.address);
            let elsewhere = json!({ "path": elsewhere });
            fails(&served, BY_PATH, elsewhere, "INVALID_INPUT").await;
        }
        // The editor's view is what a key with write:pages alone reads a page whole by.
        let served = Setup::at(&at, &keys.writer).serve().await;
        let home = json!({ "path": "home" });
        let id = &served.call(BY_PATH, home).await.unwrap()["id"];
        let change = json!({ "id": id, "title": format!("Changed{slash}") });
        is_applied(&served, UPDATE, change).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_trust_store_the_start_says_what_is_missing_and_a_file_of_ones_own_will_do() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let authority = Authority::of("localhost");
    let tls = Relay::tls(socket_of(&wiki), &authority).await;
    let address = format!("https://localhost:{}", tls.address.port());
    let ca = file(&dir, "ca", &authority.pem);
    let home = dir.path().to_str().unwrap();
    let missing = Path::new(home).join("missing");
    let missing = missing.to_str().unwrap();
    let proxy = format!("http://user:{SECRET}@127.0.0.1:9");
    let variables = [
        ("WIKI_BASE_URL", address.as_str()),
        ("WIKI_API_TOKEN", &wiki.keys().admin),
        ("HOME", home),
        ("WIKI_LOG", "trace"),
        // What stands for an image without any.
        ("SSL_CERT_FILE", missing),
        ("SSL_CERT_DIR", missing),
        // Not asked for a wiki on this machine.
        ("HTTPS_PROXY", &proxy),
    ];
    let ended = variables
        .iter()
        .fold(Command::new(&["serve"]), |command, (name, value)| {
            command.with(name, value)
        })
        .end()
        .await;
    assert_eq!(ended.code, 2);
    let told = ended.stderr.lines().last().unwrap();
    begins(&told, "error: ");
    says(&told, "trust store");
    says(&told, "WIKI_CA_FILE");
    let with = [&variables[..], &[("WIKI_CA_FILE", ca.as_str())]].concat();
    let mut program = Program::serve(&["serve"], &with);
    let answer = program.call(TAGS, &json!({}));
    assert!(answer["tags"].is_array(), "{answer}");
    assert_ne!(tls.told(), "");
}
