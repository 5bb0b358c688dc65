//! `wikijs-gate doctor`, told whole: every kind of key, every fault.

use crate::prelude::*;
use crate::wiki::tls_server;

/// The page at which rights are looked at: the order of pages changed at once is left open.
const PAGE: &str = "docs/configuration";

/// A `doctor` of a wiki, with what differs from run to run hidden.
fn doctor(address: &str, key: &str, dir: &Path) -> Command {
    doctor_with(&["doctor", "--page", PAGE], address, key, dir)
}

fn doctor_with(arguments: &[&str], address: &str, key: &str, dir: &Path) -> Command {
    let bare = address.split_once("://").unwrap().1.trim_end_matches('/');
    let (host, port) = bare.rsplit_once(':').unwrap_or((bare, ""));
    let mut command = Command::new(arguments)
        .at(address, key, dir)
        .hide(bare, "wiki.lan");
    if !port.is_empty() {
        command = command.hide(format!("{host}, port {port}"), "wiki.lan, port 80");
    }
    command.hide(dir.to_str().unwrap(), "/audit")
}

/// Runs it beside the wiki that it looks at.
async fn run(command: Command) -> Ended {
    let ended = tokio::task::spawn_blocking(|| command.run());
    let mut ended = ended.await.unwrap();
    ended.told = steady(&ended.told);
    ended
}

/// Milliseconds and the name of the wiki's directory differ from run to run.
fn steady(told: &str) -> String {
    let mut steady = String::new();
    for line in told.lines() {
        let words = line.split(' ').scan("", |before, word| {
            let is_time = *before == "within" && word.parse::<u32>().is_ok();
            *before = word;
            Some(if is_time {
                "7".to_owned()
            } else if let Some(rest) = word.strip_prefix("/audit/") {
                let name = rest.split('/').next().unwrap();
                word.replace(name, "wiki")
            } else {
                word.to_owned()
            })
        });
        let words: Vec<String> = words.collect();
        writeln!(steady, "{}", words.join(" ")).unwrap();
    }
    steady
}

#[tokio::test]
async fn every_kind_of_key_is_told_for_what_it_is() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys().clone();
    let dir = TempDir::new().unwrap();
    let mut told = String::new();
    let below_team = wiki.key_with(&["read:pages", "read:source"], "team");
    for (name, key, code) in [
        ("admin", keys.admin, 6),
        ("editor", keys.editor, 0),
        ("scripter", keys.scripter, 0),
        ("writer", keys.writer, 0),
        ("readonly", keys.readonly.clone(), 0),
        ("reader", keys.reader, 0),
        ("of another part", below_team, 5),
        ("unknown", "nonsense".to_owned(), 5),
        ("expired", wiki.expired_key(), 5),
        ("revoked", keys.revoked, 5),
    ] {
        let ended = run(doctor(&wiki.address(), &key, dir.path())).await;
        assert_eq!(ended.code, code, "{name}: {}", ended.told);
        assert_eq!(ended.stderr, "");
        // When it expired.
        let end = ended.told.find("expired at ");
        let end = end.map(|at| at + "expired at ".len());
        let time = end.and_then(|at| ended.told.get(at..at + 20));
        let steady = time.map_or(ended.told.clone(), |time| ended.told.replace(time, "*"));
        write!(told, "## {name}\n{steady}\n\n").unwrap();
    }
    wiki.set_api_disabled(true);
    let ended = run(doctor(&wiki.address(), &keys.readonly, dir.path())).await;
    write!(told, "## API off\n{}", ended.told).unwrap();
    golden("doctor_keys", &told);
    assert_eq!(mutations(&wiki), []);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_key_that_ends_soon_is_told_in_hours_and_minutes() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    for (hours, left) in [
        (24, "in 23 hours"),
        (1, "in 59 minutes"),
        (24 * 10, "in 9 days"),
    ] {
        let key = wiki.key_for(Duration::from_secs(hours * 3_600));
        let ended = run(doctor(&wiki.address(), &key, dir.path())).await;
        let told = format!("the wiki knows the key, which expires {left}");
        assert!(ended.stdout.contains(&told), "{}", ended.told);
        assert_eq!(ended.code, 6, "{}", ended.told);
    }
    // In the renewal time the wiki refuses an expired key, and a guest it is not.
    let ended = run(doctor(
        &wiki.address(),
        &wiki.just_expired_key(),
        dir.path(),
    ))
    .await;
    says(&ended.stdout, "the key expired at ");
    assert_eq!(ended.code, 5, "{}", ended.told);
}

#[tokio::test]
async fn the_table_of_tools_is_what_the_tools_do() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys().clone();
    let dir = TempDir::new().unwrap();
    let id = id_of(&wiki, PAGE);
    for (name, key) in [
        ("admin", keys.admin),
        ("editor", keys.editor),
        ("writer", keys.writer),
        ("readonly", keys.readonly),
        ("reader", keys.reader),
    ] {
        let arguments = ["doctor", "--json", "--page", PAGE];
        let told = run(doctor_with(&arguments, &wiki.address(), &key, dir.path()))
            .await
            .json();
        let can: BTreeMap<&str, &str> = told["rights"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (row["tool"].as_str().unwrap(), row["can"].as_str().unwrap()))
            .collect();
        let served = Setup::at(&wiki.address(), &key).serve().await;
        let gone = id_of(&wiki, "runbooks/disk-full");
        for (tool, arguments) in [
            (SEARCH, json!({ "query": "a", "in": "wiki" })),
            (LIST, json!({})),
            (BY_PATH, json!({ "path": PAGE, "view": "metadata" })),
            (BY_ID, json!({ "id": id })),
            (TREE, json!({})),
            (HISTORY, json!({ "id": id })),
            (TAGS, json!({})),
            (CREATE, new_page(&format!("new/{name}"))),
            (UPDATE, json!({ "id": id, "title": name })),
            (DELETE, json!({ "id": gone })),
        ] {
            let answered = served.confirmed(tool, arguments).await;
            if tool == DELETE && answered.is_ok() {
                let back = Setup::at(&wiki.address(), &key).in_dir_of(&served);
                let back = back.toolsets("undo").serve().await;
                confirmed_ok(&back, UNDO, json!({ "callId": "last" })).await;
            }
            match &answered {
                Ok(answer) if tool.contains("get_page_by") => {
                    let lacks = answer.get("unavailable").is_some();
                    assert_eq!(
                        can[tool],
                        if lacks { "part" } else { "all" },
                        "{name} {tool}"
                    );
                }
                Ok(_) => assert!(["all", "part"].contains(&can[tool]), "{name} {tool}"),
                Err(error) => {
                    assert_eq!(can[tool], "nothing", "{name} {tool}: {error}");
                }
            }
        }
    }
}

#[tokio::test]
async fn rights_that_a_blocked_view_hides_are_found_by_reading_or_said_to_be_unknown() {
    let wiki = sample_wiki().await;
    wiki.set_reader_view_blocked(true);
    let keys = wiki.keys().clone();
    let dir = TempDir::new().unwrap();
    let mut told = String::new();
    for (name, key) in [
        ("editor", keys.editor),
        ("writer", keys.writer),
        ("reader", keys.reader),
    ] {
        let ended = run(doctor(&wiki.address(), &key, dir.path())).await;
        let rights = ended.told.split("locales ").next().unwrap();
        let rights = rights.split_once("rights ").unwrap().1;
        write!(told, "## {name}\nrights {rights}").unwrap();
    }
    golden("doctor_blocked", &told);
    assert_eq!(mutations(&wiki), []);
}

#[tokio::test]
async fn policies_locales_and_pages_are_told() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys().clone();
    let dir = TempDir::new().unwrap();
    let on = |arguments: &[&str]| {
        doctor_with(arguments, &wiki.address(), &keys.readonly, dir.path())
            .with("WIKI_MUTATIONS_ENABLED", "true")
            .with("WIKI_MUTATION_DRY_RUN", "false")
    };
    let open = run(on(&["doctor", "--page", PAGE])
        .with("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please")
        .with("WIKI_DEFAULT_LOCALE", "fr")
        .with("WIKI_ALLOWED_PREFIXES", "docs"))
    .await;
    let below = run(on(&["doctor"])
        .with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "de:docs,en:docs")
        .with("WIKI_CONFIRM", "person"))
    .await;
    let previews = run(on(&["doctor", "--page", PAGE]).dry()).await;
    let warned = "previews of writes are on, and the key may not write here";
    assert!(previews.stdout.contains(warned), "{}", previews.told);
    assert_eq!(previews.code, 6);
    let nowhere = run(on(&["doctor", "--page", "docs/nowhere-at-all"])).await;
    golden(
        "doctor_settings",
        &format!("{}\n{}\n{}", open.told, below.told, nowhere.told),
    );
    let key = &keys.readonly;
    let bad = doctor(&wiki.address(), key, dir.path()).with("WIKI_MUTATIONS_ENABLED", "perhaps");
    let bad = run(bad).await;
    golden("doctor_bad_setting", &bad.told);
    assert!(!open.stdout.contains("sesame") && !open.told.contains(key.as_str()));
}

#[tokio::test]
async fn every_fault_of_the_address_is_told_with_what_to_do() {
    let wiki = sample_wiki().await;
    let key = wiki.keys().readonly.clone();
    let dir = TempDir::new().unwrap();
    let mut told = String::new();
    let mut add = |name: &str, ended: &Ended| {
        assert_eq!(ended.code, 5, "{name}: {}", ended.told);
        let line = ended.told.split("\naddress ").nth(1).unwrap();
        let line = line.split("\nkey ").next().unwrap();
        let skipped = ended.told.matches("because of the address").count();
        assert_eq!(skipped, 5, "{name}: {}", ended.told);
        write!(told, "## {name}\naddress {line}\n").unwrap();
    };
    let dead = FaultyWiki::alone().await.address();
    let html = "<!DOCTYPE html><html><body>Sign in</body></html>";
    for (name, reply) in [
        (
            "redirect",
            Reply::say(302, "text/html", html).header(
                "location",
                "https://user:pass@wiki.example/graphql?token=planted#x",
            ),
        ),
        ("a web page", Reply::say(200, "text/html", html)),
        (
            "a web page for an error",
            Reply::say(404, "text/html", html),
        ),
        (
            "another API",
            Reply::say(200, "application/json", "{\"ok\":true}"),
        ),
        ("a gateway that refuses", Reply::say(403, "text/html", html)),
        (
            "a gateway without a wiki",
            Reply::say(502, "text/html", html),
        ),
        ("too many requests", Reply::say(429, "text/plain", "slow")),
        ("cut", Reply::Cut),
        ("silence", Reply::Silence),
    ] {
        let faulty = FaultyWiki::before(&wiki).await;
        faulty.on_reads(usize::MAX, Fault::new(Reach::Never, reply));
        let command = doctor(&faulty.address(), &key, dir.path());
        let ended = run(command.with("WIKI_HTTP_TIMEOUT_MS", "300")).await;
        assert!(!ended.told.contains("planted") && !ended.told.contains("pass@"));
        add(name, &ended);
    }
    add("refused", &run(doctor(&dead, &key, dir.path())).await);
    let nowhere = doctor("http://wiki.invalid", &key, dir.path());
    add("no such host", &run(nowhere).await);
    let wrong_path = doctor(&wiki.address(), &key, dir.path()).with("WIKI_GRAPHQL_PATH", "/api");
    add("wrong path", &run(wrong_path).await);
    let faulty = FaultyWiki::before(&wiki).await;
    faulty.on_reads(usize::MAX, Fault::new(Reach::Never, Reply::Silence));
    let slow = doctor(&faulty.address(), &key, dir.path()).with("WIKI_HTTP_RETRY_TOTAL_MS", "300");
    add("all the time is up", &run(slow).await);
    golden("doctor_addresses", &told);
}

#[tokio::test]
async fn every_fault_of_tls_is_told_apart() {
    let dir = TempDir::new().unwrap();
    let mut told = String::new();
    let plain = sample_wiki().await;
    let plain = plain.address().replace("http://", "https://");
    let local = |port: u16| format!("https://127.0.0.1:{port}");
    let (good, expired, other) = (
        tls_server::serve(include_bytes!("../wiki/tls/good.pem")),
        tls_server::serve(include_bytes!("../wiki/tls/expired.pem")),
        tls_server::serve(include_bytes!("../wiki/tls/other-host.pem")),
    );
    for (name, address, is_known) in [
        ("of an unknown authority", local(good), false),
        ("good, but silent", local(good), true),
        ("expired", local(expired), true),
        ("for another host", local(other), true),
        ("no TLS", plain, true),
    ] {
        let mut command = doctor(&address, "e30.eyJhcGkiOjF9.sig", dir.path());
        if is_known {
            command = command.with("SSL_CERT_FILE", tls_server::AUTHORITY);
        }
        let ended = run(command).await.exits(5);
        let line = ended.told.split("\naddress ").nth(1).unwrap();
        let line = line.split("\nkey ").next().unwrap();
        write!(told, "## {name}\naddress {line}\n").unwrap();
    }
    golden("doctor_tls", &told);
}

#[tokio::test]
async fn a_clock_that_is_off_is_warned_of() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let faulty = FaultyWiki::before(&wiki).await;
    let site = r#"{"data":{"localization":{"config":{"locale":"en","namespacing":false,"namespaces":[]}}}}"#;
    // The second is the last second of all times.
    for date in [
        "Fri, 31 Dec 2100 23:59:59 GMT",
        "Fri, 31 Dec 9999 23:59:59 GMT",
    ] {
        let reply = Reply::say(200, "application/json", site).header("date", date);
        faulty.on_reads(1, Fault::new(Reach::Never, reply));
        let ended = run(doctor(&faulty.address(), &wiki.keys().readonly, dir.path())).await;
        assert_eq!(ended.code, 6, "{}", ended.told);
        says(&ended.told, "s behind the wiki's\n");
        says(&ended.told, "the wiki has pages in en; en");
    }
    // By the wiki's clock, this key has not expired.
    let yesterday = time::OffsetDateTime::now_utc() - time::Duration::DAY;
    let yesterday = yesterday.format(&time::format_description::well_known::Rfc2822);
    let reply = Reply::say(200, "application/json", site).header("date", &yesterday.unwrap());
    faulty.on_reads(1, Fault::new(Reach::Never, reply));
    let ended = run(doctor(&faulty.address(), &wiki.expired_key(), dir.path()))
        .await
        .exits(5);
    says(
        &ended.told,
        "by this machine's clock, which is ahead of the wiki's",
    );
    lacks(&ended.told, "make a new key");
}

#[tokio::test]
async fn an_audit_directory_that_is_not_well_is_told() {
    let (wiki, served) = sample(Setup::scripter).await;
    confirmed_ok(&served, CREATE, new_page("new/page")).await;
    let dir = Arc::clone(&served.dir);
    served.app.writer.finish().await;
    let told = |wiki: &DemoWiki| run(doctor(&wiki.address(), &wiki.keys().readonly, dir.path()));
    let well = told(&wiki).await.good();
    says(&well.told, "holds 1 run, and each chain of records holds");

    let [file] = &runs(dir.path())[..] else {
        panic!("one run");
    };
    let whole = fs::read_to_string(file).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let open: String = lines[..3].concat();
    fs::write(file, &open).unwrap();
    let left = told(&wiki).await.exits(6);
    says(&left.told, "no outcome is on record of 1 attempt\n");

    fs::write(file, whole.replacen("create", "delete", 1)).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
    let broken = told(&wiki).await.exits(5);
    says(&broken.told, "does not hold, line 2: was changed");
    let part = "others than their owner may use 1 file or directory of";
    says(&broken.told, part);

    let taken = dir.path().join("taken");
    fs::write(&taken, "").unwrap();
    let ended = run(doctor(&wiki.address(), &wiki.keys().readonly, &taken)).await;
    assert_eq!(ended.code, 5, "{}", ended.told);
}

#[tokio::test]
async fn rights_that_could_not_be_looked_at_are_not_well() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let doctor = |key: &str| {
        doctor_with(&["doctor"], &wiki.address(), key, dir.path())
            .with("WIKI_MUTATIONS_ENABLED", "true")
            .with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "no/such/place")
    };
    let ended = run(doctor(&wiki.keys().readonly)).await.exits(6);
    assert!(!ended.told.contains("All is well"), "{}", ended.told);
    let line = "\nrights    warning  not looked at, since the key sees no page below no/such/place";
    assert!(ended.told.contains(line), "{}", ended.told);
}

#[tokio::test]
async fn on_an_empty_wiki_the_advice_is_about_its_first_page() {
    let wiki = wiki_of(&[]).await;
    let dir = TempDir::new().unwrap();
    let doctor = |key: &str| {
        doctor_with(&["doctor"], &wiki.address(), key, dir.path())
            .with("WIKI_MUTATIONS_ENABLED", "true")
    };
    let ended = run(doctor(&wiki.keys().editor)).await;
    let line = "\nrights    good     at en:home, where no page is yet: read:pages,";
    assert!(ended.told.contains(line), "{}", ended.told);
    assert!(!ended.told.contains("--page"), "{}", ended.told);
    let ended = run(doctor(&wiki.keys().readonly)).await.exits(6);
    let told = ended.told.split_whitespace().collect::<Vec<_>>().join(" ");
    for says in ["sees no page at all", "first page in its own editor"] {
        assert!(told.contains(says), "{}", ended.told);
    }
    assert!(!told.contains("--page"), "{}", ended.told);
}

#[tokio::test]
async fn advice_names_the_setting_that_the_key_comes_from() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let key = dir.path().join("key");
    fs::write(&key, &wiki.keys().revoked).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let command = Command::new(&["doctor"])
        .log_of(&wiki.address(), dir.path())
        .with("WIKI_API_TOKEN_FILE", key.to_str().unwrap());
    let ended = run(command).await.exits(5);
    let todo =
        "put it into the file that WIKI_API_TOKEN_FILE names; it is taken without a restart.\n";
    assert!(ended.told.contains(todo), "{}", ended.told);
}

#[tokio::test]
async fn programs_are_answered_in_json_alone() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let arguments = ["doctor", "--json", "--page", PAGE];
    let command = doctor_with(&arguments, &wiki.address(), &wiki.keys().admin, dir.path());
    let ended = run(command).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (6, ""));
    let told = ended.json();
    told.shows(json!({ "wrong": 0, "warnings": 1 }));
    assert_eq!(told["rights"]["page"], "en:docs/configuration");
    let full = told["checks"].as_array().unwrap().iter();
    let full = full
        .clone()
        .find(|line| line["verdict"] == "warning")
        .unwrap();
    assert_eq!(full["check"], "key");
    assert!(full["todo"].is_string());
}

#[tokio::test]
async fn the_page_about_doctor_shows_what_it_says() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys().clone();
    let dir = TempDir::new().unwrap();
    let good = doctor(&wiki.address(), &keys.writer, dir.path())
        .with("WIKI_MUTATIONS_ENABLED", "true")
        .with("WIKI_MUTATION_DRY_RUN", "false");
    let good = run(good).await;
    let bad = run(doctor(&wiki.address(), &keys.revoked, dir.path())).await;
    let text = format!("```console\n{}\n{}```\n", good.told, bad.told);
    generated("docs/doctor.md", "doctor", &text, str::to_owned);
}
