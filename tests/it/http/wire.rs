//! The server's own TLS: taken over when its files change, and bounded.
#![expect(clippy::disallowed_types, reason = "a browser is no client of ours")]

use std::fs::Permissions;

use reqwest::header::SET_COOKIE;
use reqwest::{Certificate, Client, Version};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use wikijs_gate::server::http::HttpLimits;

use crate::prelude::*;
use crate::wiki::relay::Authority;

/// The files of a server's certificate and key.
struct Files(TempDir);

impl Files {
    fn of(authority: &Authority) -> Self {
        let files = Self(TempDir::new().unwrap());
        files.put("cert", &authority.signed[0]);
        files.put("key", &authority.signed[1]);
        files
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), Permissions::from_mode(0o600)).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn variables(&self) -> [(&'static str, String); 2] {
        [
            ("WIKI_SERVE_CERT_FILE", self.path("cert")),
            ("WIKI_SERVE_KEY_FILE", self.path("key")),
        ]
    }
}

/// A client that trusts one authority alone, and keeps no connection.
fn trusting(authority: &Authority) -> Client {
    let root = Certificate::from_pem(authority.pem.as_bytes()).unwrap();
    Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .pool_max_idle_per_host(0)
        .tls_certs_only([root])
        .build()
        .unwrap()
}

async fn ended(command: Command) -> crate::command::Ended {
    tokio::task::spawn_blocking(|| command.run()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_certificate_is_taken_over_and_a_bad_pair_is_named_and_is_not() {
    let wiki = sample_wiki().await;
    let (first, second) = (Authority::of("localhost"), Authority::of("localhost"));
    let files = Files::of(&first);
    let audit = files.path("audit");
    let (own, address) = (files.variables(), wiki.address());
    let mut variables = vec![
        ("WIKI_BASE_URL", address.as_str()),
        ("WIKI_API_TOKEN", wiki.keys().readonly.as_str()),
        ("WIKI_AUDIT_DIR", audit.as_str()),
    ];
    variables.extend(own.iter().map(|(name, path)| (*name, path.as_str())));
    let (mut server, port) = Program::listening(&["serve", "--http", "127.0.0.1:0"], &variables);
    let get = async |by: &Authority, path: &str| {
        let url = format!("https://localhost:{port}{path}");
        trusting(by).get(url).send().await
    };
    let alive = get(&first, "/healthz").await.unwrap();
    assert_eq!(
        (alive.status(), alive.version()),
        (StatusCode::OK, Version::HTTP_11)
    );
    assert!(get(&second, "/healthz").await.is_err());
    let plain = trusting(&first).get(format!("http://localhost:{port}/healthz"));
    assert!(plain.send().await.is_err());
    // The certificate is for no address, and a probe asks at one.
    let probe = |arguments: &[&str]| {
        let probe = Command::new(arguments);
        variables
            .iter()
            .fold(probe, |all, (name, value)| all.with(name, value))
    };
    let at = format!("127.0.0.1:{port}");
    ended(probe(&["health", "--http", &at])).await.good();

    files.put("key", &second.signed[1]);
    server.signal("-HUP");
    let fault = "WIKI_SERVE_KEY_FILE names a file whose key is not that of WIKI_SERVE_CERT_FILE";
    server.logged(&format!("the settings in use stay: {fault}"));
    let ready = get(&first, "/readyz").await.unwrap().text().await.unwrap();
    says(&ready, fault);
    says(&ended(probe(&["doctor"])).await.told, fault);
    ended(probe(&["health", "--http", &at])).await.good();

    files.put("cert", &second.signed[0]);
    server.signal("-HUP");
    // That is put on record before the next connection sees it.
    server.logged("other settings are in force");
    let taken = async {
        while get(&second, "/healthz").await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), taken)
        .await
        .unwrap();
    assert!(get(&first, "/healthz").await.is_err());

    let over = Authority::dated("localhost", 2020);
    files.put("cert", &over.signed[0]);
    files.put("key", &over.signed[1]);
    server.signal("-HUP");
    server.logged("WIKI_SERVE_CERT_FILE names a certificate that has expired");
    server.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_has_expired_is_named_before_clients_refuse_it() {
    let files = Files::of(&Authority::dated("localhost", 2020));
    let mut command = Command::new(&["config", "check"])
        .with("WIKI_BASE_URL", "http://127.0.0.1:9")
        .with("WIKI_API_TOKEN", "a.b.c")
        .with("WIKI_AUDIT_DIR", &files.path("audit"));
    for (name, path) in files.variables() {
        command = command.with(name, &path);
    }
    let checked = ended(command).await.good();
    says(
        &checked.told,
        "WIKI_SERVE_CERT_FILE names a certificate that has expired",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_a_pair_an_open_key_and_what_is_none_stop_the_start() {
    let (own, other) = (Authority::of("localhost"), Authority::of("localhost"));
    let files = Files::of(&own);
    files.put("other", &other.signed[1]);
    files.put("none", "no PEM");
    files.put("open", &own.signed[1]);
    fs::set_permissions(files.path("open"), Permissions::from_mode(0o644)).unwrap();
    for [certificate, key, fault] in text_rows("
        cert => - => WIKI_SERVE_CERT_FILE needs the certificate's key
        - => key => WIKI_SERVE_KEY_FILE needs the key's certificate
        none => key => WIKI_SERVE_CERT_FILE names a file that holds no certificate
        cert => none => WIKI_SERVE_KEY_FILE names a file that holds no private key in PEM without a passphrase
        cert => other => WIKI_SERVE_KEY_FILE names a file whose key is not that of
        cert => open => WIKI_SERVE_KEY_FILE names a file that may be read by others
        cert => gone => WIKI_SERVE_KEY_FILE names a file that cannot be read
    ") {
        let mut command = Command::new(&["serve", "--http", "127.0.0.1:0"])
            .with("WIKI_BASE_URL", "http://127.0.0.1:9")
            .with("WIKI_API_TOKEN", "a.b.c")
            .with("WIKI_AUDIT_DIR", &files.path("audit"));
        for (name, file) in [
            ("WIKI_SERVE_CERT_FILE", certificate),
            ("WIKI_SERVE_KEY_FILE", key),
        ] {
            if file != "-" {
                command = command.with(name, &files.path(file));
            }
        }
        let ended = ended(command).await.exits(2);
        says(&ended.stderr, fault);
    }
}

#[tokio::test]
async fn whoever_begins_no_tls_keeps_nobody_out_and_is_put_out_soon() {
    let wiki = sample_wiki().await;
    let authority = Authority::of("127.0.0.1");
    let files = Files::of(&authority);
    let limits = HttpLimits {
        connections: 4,
        handshake: Duration::from_millis(300),
        ..LIMITS()
    };
    let setup = files
        .variables()
        .into_iter()
        .fold(Setup::readonly(&wiki), |setup, (name, path)| {
            setup.with(name, &path)
        });
    let server = setup.host_within(limits).await;
    let mut silent = Vec::new();
    for _ in 0..8 {
        silent.push(TcpStream::connect(server.address).await.unwrap());
    }
    let url = format!("https://{}/healthz", server.address);
    let alive = trusting(&authority).get(url).send().await.unwrap();
    assert_eq!(alive.status(), StatusCode::OK);
    for mut stream in silent {
        // Its end comes without a word.
        assert_eq!(stream.read(&mut [0; 64]).await.unwrap_or_default(), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_own_tls_the_review_page_has_https_links_and_a_cookie_for_tls_alone() {
    let wiki = sample_wiki().await;
    let authority = Authority::of("127.0.0.1");
    let (files, names) = (Files::of(&authority), Names::new());
    names.client("agent");
    let setup = files.variables().into_iter().fold(
        Setup::readonly(&wiki).naming(&names),
        |setup, (name, path)| setup.with(name, &path),
    );
    let server = setup.host().await;
    let made = server
        .command(&names, &["token", "new", "anna", "--reviewer"])
        .with("WIKI_SERVE_ADDRESS", &server.address.to_string());
    let made = files
        .variables()
        .into_iter()
        .fold(made, |made, (name, path)| made.with(name, &path));
    let made = ended(made).await;
    let link = made.stdout.trim();
    let part = format!("https://{}/review/sign-in?link=", server.address);
    begins(&link, &part);
    let browser = trusting(&authority);
    let asked = browser.get(link).send().await.unwrap();
    assert_eq!(asked.status(), StatusCode::OK);
    let secret = link.split_once("link=").unwrap().1;
    let sent = browser
        .post(format!("https://{}/review/sign-in", server.address))
        .header("origin", format!("https://{}", server.address))
        .body(format!("link={secret}"));
    let signed_in = sent.send().await.unwrap();
    let cookie = signed_in.headers()[SET_COOKIE].to_str().unwrap();
    begins(&cookie, "__Host-");
    says(cookie, "Secure");
}
