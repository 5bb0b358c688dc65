//! Attacks, each test named after what it prevents.

use crate::house::promises::files_that_contain;
use crate::prelude::*;
use crate::wiki::relay::{Relay, socket_of};

/// A server before whose wiki something listens to every byte.
async fn overheard(wiki: &DemoWiki, key: &str) -> (Relay, Served) {
    let relay = Relay::proxy(socket_of(wiki)).await;
    let served = Setup::at(&format!("http://{}", relay.address), key)
        .serve()
        .await;
    (relay, served)
}

/// What was asked for, by its line in the requests.
fn targets(told: &str) -> Vec<String> {
    // A body before it ends without a line's end.
    let lines = told
        .lines()
        .filter_map(|line| line.strip_suffix(" HTTP/1.1"));
    let target = |line: &str| line.rsplit(['}', ']']).next().unwrap().to_owned();
    lines.map(target).collect()
}

#[tokio::test]
async fn no_key_and_no_header_of_a_gateway_follows_a_redirect() {
    let wiki = sample_wiki().await;
    let elsewhere = FaultyWiki::alone().await;
    let dir = TempDir::new().unwrap();
    let headers = dir.path().join("headers");
    fs::write(&headers, "X-Gateway: sesame\n").unwrap();
    for status in [301, 302, 303, 307, 308] {
        for key in [&wiki.keys().admin, &wiki.keys().readonly] {
            let faulty = FaultyWiki::before(&wiki).await;
            let served = Setup::at(&faulty.address(), key)
                .with("WIKI_EXTRA_HEADERS_FILE", headers.to_str().unwrap())
                .serve()
                .await;
            // Of the API, and of the page's own view.
            for passing in 0..2 {
                let to = format!("{}/graphql", elsewhere.address());
                let reply = Reply::say(status, "text/html", "").header("location", &to);
                faulty.on_request_after(passing, Fault::new(Reach::Never, reply));
                let home = json!({ "path": "home", "view": "content" });
                let answer = served.call(BY_PATH, home).await;
                if let Err(error) = answer {
                    assert_eq!(error["code"], "WIKI_UNAVAILABLE", "{error}");
                }
            }
            assert!(faulty.seen().len() > 1);
        }
    }
    assert_eq!(elsewhere.seen(), []);
}

#[tokio::test]
async fn no_argument_becomes_a_header_or_a_request_of_its_own() {
    const INJECTED: &str = "x\r\nX-Injected: 1\r\n\r\nGET /injected HTTP/1.1\r\n\r\n";
    let wiki = sample_wiki().await;
    let (relay, served) = overheard(&wiki, &wiki.keys().readonly).await;
    for (tool, arguments) in [
        (BY_PATH, json!({ "path": INJECTED })),
        (BY_PATH, json!({ "path": format!("/en/{INJECTED}") })),
        (BY_PATH, json!({ "path": "home", "locale": INJECTED })),
        (SEARCH, json!({ "query": INJECTED, "path": INJECTED })),
        (LIST, json!({ "tags": [INJECTED], "path": INJECTED })),
        (LIST, json!({ "lastAuthorId": INJECTED })),
        (TAGS, json!({ "query": INJECTED })),
        (TREE, json!({ "path": INJECTED })),
        (CREATE, new_page(INJECTED)),
    ] {
        let _answer = served.call(tool, arguments).await;
    }
    let uri = format!("wikijs://en/{INJECTED}");
    let _answer = served
        .client
        .read_resource(rmcp::model::ReadResourceRequestParams::new(uri))
        .await;
    let told = relay.told().to_lowercase();
    assert!(targets(&relay.told()).len() > 3, "{told}");
    lacks(&told, "\nx-injected");
    lacks(&told, "\nget /injected");
}

/// Spellings that something between might take for another path.
const TRICKS: [&str; 20] = [
    "docs/../secret",
    "docs/./secret",
    "docs/..",
    "docs/%2e%2e/secret",
    "docs/%2E%2E%2Fsecret",
    "docs%2Fsecret",
    "docs%252Fsecret",
    "docs/..%2fsecret",
    "docs\\..\\secret",
    "docs/..;/secret",
    "docs/secret\0.md",
    "docs//secret",
    "docs/\u{ff0e}\u{ff0e}/secret",
    "docs/\u{2024}\u{2024}/secret",
    "docs\u{2215}..\u{2215}secret",
    "docs/\u{202e}terces",
    "docs/se\u{ad}cret",
    "docs/secret?x",
    "docs/secret#x",
    "docs/secret\u{301}/../../graphql",
];

#[tokio::test]
async fn no_spelling_of_a_path_is_asked_for_as_another() {
    let wiki = sample_wiki().await;
    wiki.with_store(|store| {
        for path in ["secret", "docs/secret", "graphql"] {
            store.add(titled(path, "Planted", "planted").but(|row| row.is_published = true));
        }
        // So that its source and its view are asked for under the very name.
        for path in TRICKS {
            store.add(titled(path, "Tricked", "tricked").but(|row| row.is_published = true));
        }
    });
    for key in [
        &wiki.keys().readonly,
        &wiki.keys().writer,
        &wiki.keys().admin,
    ] {
        for trick in TRICKS {
            let (relay, served) = overheard(&wiki, key).await;
            for view in ["content", "rendered"] {
                let asked = json!({ "path": trick, "locale": "en", "view": view });
                let answer = served.call(BY_PATH, asked).await;
                if let Ok(page) = answer {
                    assert_ne!(page["title"], "Planted", "{trick}: {page}");
                    assert_ne!(page["content"], "planted", "{trick}: {page}");
                }
            }
            for target in targets(&relay.told()) {
                let place = ["GET /d/en/", "GET /e/en/", "GET /en/"]
                    .iter()
                    .find_map(|view| target.strip_prefix(view));
                let Some(place) = place else {
                    assert_eq!(target, "POST /graphql", "{trick}");
                    continue;
                };
                // Whoever decodes it once gets what was asked for, and nobody finds a climb.
                let decoded = decoded(place);
                assert!(
                    decoded == trick || trick.starts_with(&decoded),
                    "{trick}: {place}"
                );
                assert!(
                    place.split('/').all(|it| !matches!(it, "." | "..")),
                    "{place}"
                );
                assert!(!place.contains(['\\', '\0', '?', '#']), "{place}");
            }
        }
    }
}

/// Percent-decoded, once.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.split('%');
    bytes.extend(rest.next().unwrap().bytes());
    for part in rest {
        let (digits, plain) = part.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).unwrap());
        bytes.extend(plain.bytes());
    }
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn no_spelling_of_a_path_passes_the_gate_of_paths() {
    let (wiki, served) = sample(|wiki| {
        Setup::admin(wiki)
            .with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs")
            .with("WIKI_DENIED_MUTATION_PATH_PREFIXES", "docs/secret")
    })
    .await;
    let id = id_of(&wiki, "docs/configuration");
    for trick in TRICKS
        .into_iter()
        .chain(["DOCS/x", "docs/SECRET", "docs/secret/", "/docs/secret"])
    {
        for (tool, arguments) in [
            (CREATE, new_page(trick)),
            (UPDATE, json!({ "id": id, "path": trick })),
        ] {
            match served.confirmed(tool, arguments).await {
                // Letters that only look like dots or slashes are letters, to the wiki too.
                Ok(written) => {
                    assert_eq!(written["target"]["path"], trick);
                    assert!(trick.starts_with("docs/") && !trick.is_ascii(), "{trick}");
                }
                Err(error) => {
                    let code = error["code"].as_str().unwrap();
                    let refused = [
                        "INVALID_INPUT",
                        "PATH_NOT_ALLOWED",
                        "PATH_DENIED",
                        "PAGE_EXISTS",
                    ];
                    assert!(refused.contains(&code), "{trick}: {error}");
                }
            }
        }
    }
    let places: Vec<String> =
        wiki.with_store(|store| store.pages().map(|page| page.path.clone()).collect());
    let mut new = places.iter().filter(|path| path.contains("secret"));
    assert!(
        new.all(|path| path.starts_with("docs/") && !path.starts_with("docs/secret")),
        "{places:?}"
    );
}

/// Answers that are made to break whoever reads them.
fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let deep = |open: &str, close: &str| {
        let (open, close) = (open.repeat(500_000), close.repeat(500_000));
        format!("{{\"data\":{open}1{close}}}").into_bytes()
    };
    let wide = |part: &str| format!("{{\"data\":[{}1]}}", part.repeat(31_000_000 / part.len()));
    vec![
        ("deep arrays", deep("[", "]")),
        ("deep objects", deep("{\"pages\":", "}")),
        ("open arrays", b"[".repeat(1_000_000)),
        ("a wide array", wide("1,").into_bytes()),
        ("wide arrays", wide("[],").into_bytes()),
        (
            "wide errors",
            format!("{{\"errors\":[{}{{}}]}}", "{},".repeat(10_000_000)).into_bytes(),
        ),
        (
            "data twice",
            br#"{"data":{"pages":{"tags":[]}},"data":{"pages":{"tags":[]}}}"#.to_vec(),
        ),
        (
            "a field twice",
            br#"{"data":{"pages":{"tags":[{"tag":"a","tag":"b"}]}}}"#.to_vec(),
        ),
        (
            "a huge number",
            br#"{"data":{"pages":{"tags":[{"tag":"a","id":1e999999999}]}}}"#.to_vec(),
        ),
        (
            "a lone surrogate",
            br#"{"data":{"pages":{"tags":[{"tag":"\ud800"}]}}}"#.to_vec(),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn no_json_bomb_of_the_wiki_breaks_the_server_or_fills_its_memory() {
    let wiki = sample_wiki().await;
    let faulty = FaultyWiki::before(&wiki).await;
    let dir = TempDir::new().unwrap();
    let home = dir.path().to_str().unwrap();
    let variables = [
        ("WIKI_BASE_URL", faulty.address()),
        ("WIKI_API_TOKEN", wiki.keys().admin.clone()),
        ("HOME", home.to_owned()),
        ("WIKI_HTTP_MAX_RETRIES", "0".to_owned()),
        ("WIKI_HTTP_TIMEOUT_MS", "60000".to_owned()),
    ];
    let variables = variables
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let mut program = Program::serve(&["serve"], &variables);
    let calm = program.most_memory();
    for (name, bomb) in bombs() {
        let size = bomb.len();
        let said = Reply::say(200, "application/json", &String::from_utf8(bomb).unwrap());
        faulty.on_reads(1, Fault::new(Reach::Never, said));
        let answer = program.call(TAGS, &json!({}));
        let code = answer["code"].as_str();
        assert!(
            matches!(code, Some("WIKI_ERROR" | "WIKI_UNAVAILABLE")),
            "{name}: {answer}"
        );
        // What is read into a tree takes many times its text.
        let grown = program.most_memory() - calm;
        assert!(
            grown < 100 << 20,
            "{name} of {size} bytes: {grown} bytes more"
        );
    }
    let answer = program.call(TAGS, &json!({}));
    assert!(answer["tags"].is_array(), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_json_bomb_of_a_client_breaks_the_server_or_gets_past_a_gate() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let variables = [
        ("WIKI_BASE_URL", wiki.address()),
        ("WIKI_API_TOKEN", wiki.keys().admin.clone()),
        ("HOME", dir.path().to_str().unwrap().to_owned()),
        ("WIKI_MUTATIONS_ENABLED", "true".to_owned()),
        ("WIKI_MUTATION_DRY_RUN", "false".to_owned()),
        ("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs".to_owned()),
    ];
    let variables = variables
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let mut program = Program::serve(&["serve"], &variables);
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{{"name":"wikijs_create_page","arguments":{arguments}}}}}"#
        )
    };
    let many: Vec<String> = (0..100_000).map(|n| format!("\"a{n}\":1")).collect();
    let many = many.join(",");
    let deep = |count: usize| format!("{}{}", "[".repeat(count), "]".repeat(count));
    let member = format!(r#"{{"path":"docs/x","title":"t","content":{}}}"#, deep(100));
    for line in [
        call(&deep(1_000_000)),
        call(&member),
        call(&format!("{{{}\"path\":1}}", "\"path\":1,".repeat(100_000))),
        call(&format!("{{{many}}}")),
        call(&format!(r#"{{"path":"docs/{}"}}"#, "x".repeat(10_000_000))),
        call(r#"{"path":1e999999999,"title":"\ud800","content":"\u0000"}"#),
        "[".repeat(1_000_000),
        "{".to_owned(),
        "\u{0}\u{0}".to_owned(),
    ] {
        program.say(&line);
        let tags = program.call(TAGS, &json!({}));
        assert!(tags["tags"].is_array(), "{tags}");
    }
    // Of a name that stands there twice, the gate and the write see the same value.
    program.say(&call(
        r#"{"path":"docs/x","path":"secret/x","title":"t","content":"c"}"#,
    ));
    let answer = program.answer("x");
    let told = answer["result"]["_meta"]["error"]["code"].as_str();
    assert!(
        matches!(told, Some("PATH_NOT_ALLOWED" | "INVALID_INPUT")),
        "{answer}"
    );
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_text_of_the_wiki_or_of_a_client_writes_a_line_of_the_log() {
    const FORGED: &str = "x\n2026-01-01T00:00:00Z ERROR forged\r\u{1b}[31mred\u{9b}2J\u{202e}";
    let wiki = sample_wiki().await;
    wiki.with_page(PageRow {
        path: "docs/forged".to_owned(),
        title: FORGED.to_owned(),
        description: Some(FORGED.to_owned()),
        content: FORGED.to_owned(),
        tags: vec![FORGED.to_owned()],
        is_published: true,
        ..PageRow::default()
    });
    let id = id_of(&wiki, "docs/forged");
    let dir = TempDir::new().unwrap();
    let variables = [
        ("WIKI_BASE_URL", wiki.address()),
        ("WIKI_API_TOKEN", wiki.keys().admin.clone()),
        ("HOME", dir.path().to_str().unwrap().to_owned()),
        (
            "WIKI_AUDIT_DIR",
            dir.path().join("audit").to_str().unwrap().to_owned(),
        ),
        ("WIKI_MUTATIONS_ENABLED", "true".to_owned()),
        ("WIKI_MUTATION_DRY_RUN", "false".to_owned()),
        ("WIKI_LOG", "trace".to_owned()),
    ];
    let variables = variables
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let mut program = Program::serve(&["serve"], &variables);
    let preview = program.call(DELETE, &json!({ "id": id }));
    for (tool, arguments) in json_rows(&json!([
        [BY_ID, { "id": id }],
        [SEARCH, { "query": FORGED, "path": FORGED }],
        [BY_PATH, { "path": FORGED, FORGED: 1 }],
        [CREATE, { "path": FORGED, "title": FORGED, "confirm": FORGED }],
        [FORGED, {}],
        [DELETE, { "id": id, "confirm": preview["confirm"] }],
    ])) {
        program.call(tool, &arguments);
    }
    program.say(&json!({ "jsonrpc": "2.0", "id": "y", "method": FORGED }).to_string());
    program.answer("y");
    let ended = program.stopped();
    assert!(ended.stderr.len() > 5, "{:?}", ended.stderr);
    for line in &ended.stderr {
        // A time and a level of ours before all else, and nothing that steers a terminal.
        let (time, rest) = line.split_once(' ').unwrap();
        assert!(time.ends_with('Z'), "{line:?}");
        assert!(!time.starts_with("2026-01-01T00:00:00Z"), "{line:?}");
        let level = rest.trim_start().split(' ').next().unwrap();
        assert!(
            ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"].contains(&level),
            "{line:?}"
        );
        assert!(
            !line.contains(|c: char| c.is_control() || c == '\u{202e}'),
            "{line:?}"
        );
    }
    // Each record is one line, whatever is in it, and the chain holds.
    let records = records(&dir.path().join("audit"));
    assert!(
        records
            .iter()
            .any(|record| record.tool.as_deref() == Some(DELETE))
    );
}

#[test]
fn no_token_is_compared_in_a_time_that_tells_of_it() {
    // Secrets are let out where they are sent or made a digest of, and compared there alone.
    for file in files_that_contain("expose_secret()") {
        let source = fs::read_to_string(root().join(&file));
        for line in source
            .unwrap()
            .lines()
            .filter(|line| line.contains("expose_secret()"))
        {
            assert!(!line.contains("=="), "{file}: {line}");
            assert!(!line.contains("!="), "{file}: {line}");
        }
    }
    // The operator's static token, forms of the review page, clients, and the state of a sign-in at the
    // issuer. Links are looked up by their digest.
    let expected = [
        "src/gates/static_token.rs",
        "src/review/session.rs",
        "src/server/clients/secret.rs",
        "src/server/http/people.rs",
    ];
    assert_eq!(files_that_contain(".ct_eq("), expected);
}

#[test]
fn no_clock_that_jumps_opens_a_gate() {
    // What is valid for a time counts on a clock that only goes on; the other is for showing.
    let gates = |text: &str| -> Vec<String> {
        let mut files = files_that_contain(text);
        files.retain(|file| file.starts_with("src/gates/"));
        files
    };
    assert_eq!(gates("SystemTime"), Vec::<String>::new());
    // An approval that outlives its process ends by both; `kept_approvals` has the clock go back.
    let by_wall_clock = [
        "src/gates/approvals/standing.rs",
        "src/gates/preview_tokens.rs",
    ];
    assert_eq!(gates("now_utc"), by_wall_clock);
}
