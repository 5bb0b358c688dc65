//! A new key of the wiki is taken without a restart, and nothing that the old one taught outlives
//! it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::prelude::*;

/// A file that holds a key.
struct KeyFile {
    _dir: TempDir,
    path: PathBuf,
}

impl KeyFile {
    fn of(key: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("key");
        let file = Self { _dir: dir, path };
        file.put(key);
        file
    }

    /// Puts another key there, as a careful hand does: in one step.
    fn put(&self, key: &str) {
        let new = self.path.with_extension("new");
        fs::write(&new, format!("{key}\n")).unwrap();
        fs::rename(&new, &self.path).unwrap();
    }
}

async fn code(served: &Served, tool: &str, arguments: Value) -> String {
    match served.call(tool, arguments).await {
        Ok(_) => "ok".to_owned(),
        Err(error) => error["code"].as_str().unwrap().to_owned(),
    }
}

#[tokio::test]
async fn a_new_key_in_its_file_is_taken_by_the_next_call() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys();
    let history = json!({ "id": id_of(&wiki, "docs/configuration") });
    let file = KeyFile::of(&keys.reader);
    let setup = Setup::at(&wiki.address(), "").with_key_file(&file.path);
    let served = setup.serve().await;
    let read = || code(&served, HISTORY, history.clone());
    assert_eq!(read().await, "PERMISSION_DENIED");
    file.put(&keys.readonly);
    assert_eq!(read().await, "ok");
    file.put(&keys.reader);
    assert_eq!(read().await, "PERMISSION_DENIED");
    // Its standing too is asked anew.
    file.put("garbage");
    let tags = served.call(TAGS, json!({})).await.unwrap();
    assert!(tags["hint"].as_str().unwrap().contains("guest"), "{tags}");
    file.put(&keys.reader);
    let tags = served.call(TAGS, json!({})).await.unwrap();
    assert!(tags.get("hint").is_none(), "{tags}");
}

#[tokio::test]
async fn a_read_that_a_revoked_key_is_refused_is_answered_with_the_new_one() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys();
    let file = KeyFile::of(&keys.readonly);
    let mut setup = Setup::at(&wiki.address(), "").with_key_file(&file.path);
    setup.key_apart = Duration::from_hours(1);
    let served = setup.serve().await;
    let id = id_of(&wiki, "docs/configuration");
    wiki.revoke(&keys.readonly);
    assert_eq!(code(&served, TAGS, json!({})).await, "KEY_REJECTED");
    let error = served.call(TAGS, json!({})).await.unwrap_err();
    let hint = error["hint"].as_str().unwrap();
    says(&hint, "the file that WIKI_API_TOKEN_FILE names");
    says(&hint, "without a restart");
    file.put(&keys.editor);
    assert_eq!(code(&served, TAGS, json!({})).await, "ok");
    // A write is never made again unasked.
    wiki.revoke(&keys.editor);
    file.put(&keys.admin);
    let update = json!({ "id": id, "title": "New title" });
    let error = fails(&served, UPDATE, update.clone(), "KEY_REJECTED").await;
    says(&error["hint"], "Call again");
    served.confirmed(UPDATE, update).await.unwrap();
}

#[tokio::test]
async fn a_file_that_holds_no_key_leaves_the_old_one_in_use_and_is_told() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys();
    let file = KeyFile::of(&keys.readonly);
    let server = Setup::at(&wiki.address(), "").with_key_file(&file.path);
    let server = server.host_within(LIMITS()).await;
    let tags = async || {
        let nobody = Caller::default();
        let answer = server.call(&nobody, TAGS, json!({}));
        answer.await.is_ok()
    };
    for bad in ["", "two words"] {
        file.put(bad);
        assert!(tags().await);
        let body: Value = serde_json::from_str(&server.get("/readyz").await.body).unwrap();
        let told = body["key"]["notTaken"].as_str().unwrap();
        begins(&told, "WIKI_API_TOKEN_FILE must hold a key");
        assert_eq!(body["ready"], true);
    }
    fs::remove_file(&file.path).unwrap();
    assert!(tags().await);
    file.put(&keys.admin);
    assert!(tags().await);
    let body: Value = serde_json::from_str(&server.get("/readyz").await.body).unwrap();
    assert!(body["key"].get("notTaken").is_none(), "{body}");
}

/// The index of the old key holds what the new one may not see.
#[tokio::test]
async fn the_index_of_the_old_key_is_forgotten_in_memory_and_on_the_disk() {
    let wiki = sample_wiki().await;
    let below_team = wiki.key_with(&["read:pages", "read:source"], "team");
    for mode in ["memory", "disk"] {
        let file = KeyFile::of(&wiki.keys().admin);
        let home = TempDir::new().unwrap();
        let served = Setup::at(&wiki.address(), "")
            .with_key_file(&file.path)
            .with("WIKI_INDEX", mode)
            .with("XDG_CACHE_HOME", home.path().to_str().unwrap())
            .with("WIKI_INDEX_DIR", home.path().to_str().unwrap())
            .serve()
            .await;
        let search = async || {
            let arguments = json!({ "query": "configuration", "in": "content", "limit": 100 });
            let answer = served.call(SEARCH, arguments).await.unwrap();
            let hits = answer["hits"].as_array().unwrap().clone();
            let path = |hit: &Value| hit["path"].as_str().unwrap().to_owned();
            hits.iter().map(path).collect::<Vec<_>>()
        };
        let all = search().await;
        assert!(all.contains(&"docs/configuration".to_owned()), "{all:?}");
        let databases = || files_ending(home.path(), "db");
        let before = databases();
        assert_eq!(before.len(), usize::from(mode == "disk"), "{before:?}");
        file.put(&below_team);
        for path in search().await {
            assert!(path.starts_with("team"), "{path}");
        }
        let after = databases();
        assert_eq!(after.len(), before.len(), "{after:?}");
        assert!(before.iter().all(|file| !after.contains(file)));
    }
}

#[tokio::test]
async fn a_write_under_way_goes_on_with_the_key_that_it_began_with() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys();
    let between = FaultyWiki::before(&wiki).await;
    let file = KeyFile::of(&keys.admin);
    let setup = Setup::at(&between.address(), "").with_key_file(&file.path);
    let served = setup.serve().await;
    let id = id_of(&wiki, "docs/configuration");
    let mut update = json!({ "id": id, "title": "New title", "path": "docs/set-up" });
    let preview = served.call(UPDATE, update.clone()).await;
    update["confirm"] = preview.unwrap()["confirm"].clone();
    wiki.set_write_delay(Duration::from_millis(300));
    let app = Arc::clone(&served.app);
    let write = tokio::spawn(async move { served.call(UPDATE, update).await });
    // While the first of its two steps is under way, a key comes that may do neither.
    between.mutations_arrive(1).await;
    file.put(&keys.reader);
    app.reread_key().await;
    assert_eq!(app.wiki.generation(), 1);
    let answer = write.await.unwrap().unwrap();
    assert_eq!(answer["outcome"], "applied", "{answer}");
    assert!(answer.get("unverified").is_none(), "{answer}");
    assert_eq!(between.mutations().len(), 2);
}

/// A settings file with a command that prints the key.
fn command_settings(dir: &TempDir, wiki: &DemoWiki, command: &str) -> PathBuf {
    let path = dir.path().join("config.toml");
    let text = format!(
        "base_url = \"{}\"\ntoken_command = {command}\n",
        wiki.address()
    );
    fs::write(&path, text).unwrap();
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_run_again_when_the_wiki_rejects_its_key() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys();
    let (file, dir) = (KeyFile::of(&keys.reader), TempDir::new().unwrap());
    let command = json!(["cat", file.path]).to_string();
    let config = command_settings(&dir, &wiki, &command);
    let home = dir.path().to_str().unwrap();
    let settings = [("WIKI_CONFIG", config.to_str().unwrap()), ("HOME", home)];
    let mut program = Program::serve(&[], &settings);
    wiki.revoke(&keys.reader);
    file.put(&keys.readonly);
    let answer = program.call(TAGS, &json!({}));
    assert!(answer["tags"].is_array(), "{answer}");
    for line in program.stopped().stderr {
        for key in [&keys.reader, &keys.readonly] {
            assert!(!line.contains(key.as_str()), "{line}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hang_up_has_the_key_read_again_and_ends_no_server() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys();
    let history = json!({ "id": id_of(&wiki, "docs/configuration") });
    let (file, address) = (KeyFile::of(&keys.reader), wiki.address());
    let of_file = [
        ("WIKI_BASE_URL", &*address),
        ("WIKI_API_TOKEN_FILE", file.path.to_str().unwrap()),
        ("HOME", "/nonexistent"),
    ];
    let mut program = Program::serve(&[], &of_file);
    program.signal("-HUP");
    program.logged("SIGHUP: the key is the same as before");
    file.put(&keys.readonly);
    program.signal("-HUP");
    program.logged("a new key of the wiki is in use, from WIKI_API_TOKEN_FILE");
    let answer = program.call(HISTORY, &history);
    assert!(answer["entries"].is_array(), "{answer}");
    file.put("garbage");
    program.signal("-HUP");
    program.logged("the wiki does not know this key, and treats it as a guest");
    program.stopped();

    let of_environment = [
        ("WIKI_BASE_URL", &*address),
        ("WIKI_API_TOKEN", keys.readonly.as_str()),
        ("HOME", "/nonexistent"),
    ];
    let mut program = Program::serve(&[], &of_environment);
    program.signal("-HUP");
    program.logged("SIGHUP: WIKI_API_TOKEN holds the key itself");
    let answer = program.call(HISTORY, &history);
    assert!(answer["entries"].is_array(), "{answer}");
    program.stopped();

    for settings in [&of_file, &of_environment] {
        let arguments = ["serve", "--http", "127.0.0.1:0"];
        let mut program = Program::start(&arguments, settings);
        let lines = program.logged("serving MCP over HTTP at /mcp");
        let (_, address) = lines.last().unwrap().split_once("address=").unwrap();
        program.signal("-HUP");
        program.logged("SIGHUP: ");
        let mut stream = TcpStream::connect(address.trim()).unwrap();
        write!(
            stream,
            "GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        program.kill();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_the_settings_file_itself_is_read_again() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys();
    let dir = TempDir::new().unwrap();
    let config = dir.path().join("config.toml");
    let put = |key: &str| {
        let text = format!("base_url = \"{}\"\napi_token = \"{key}\"\n", wiki.address());
        fs::write(&config, text).unwrap();
    };
    put(&keys.reader);
    let home = dir.path().to_str().unwrap();
    let settings = [("WIKI_CONFIG", config.to_str().unwrap()), ("HOME", home)];
    let mut program = Program::serve(&[], &settings);
    fs::write(&config, "api_token = [\n").unwrap();
    program.signal("-HUP");
    program.logged("the key in use stays: ");
    put(&keys.readonly);
    program.signal("-HUP");
    program.logged("a new key of the wiki is in use, from api_token");
    let history = json!({ "id": id_of(&wiki, "docs/configuration") });
    let answer = program.call(HISTORY, &history);
    assert!(answer["entries"].is_array(), "{answer}");
    program.stopped();
}

/// The command that prints the key may take seconds.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_hang_up_before_the_settings_are_read_ends_no_server() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let pipe = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let command = json!(["cat", pipe]).to_string();
    let config = command_settings(&dir, &wiki, &command);
    let home = dir.path().to_str().unwrap();
    let settings = [("WIKI_CONFIG", config.to_str().unwrap()), ("HOME", home)];
    let mut program = Program::start(&[], &settings);
    // Opened when the command reads, so while the settings are being read.
    let mut key = fs::File::create(&pipe).unwrap();
    program.signal("-HUP");
    // Whoever runs the command from now on need not wait for somebody to write.
    fs::remove_file(&pipe).unwrap();
    fs::write(&pipe, &wiki.keys().readonly).unwrap();
    writeln!(key, "{}", wiki.keys().readonly).unwrap();
    drop(key);
    program.shake_hands();
    // The signal is not lost: the command is run once more.
    program.logged("SIGHUP: the key is the same as before");
    program.stopped();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_what_the_wiki_takes_the_key_for_is_one_line_in_the_log() {
    let wiki = sample_wiki().await;
    let key = wiki.keys().readonly.clone();
    let settings = [
        ("WIKI_BASE_URL", &*wiki.address()),
        ("WIKI_API_TOKEN", &key),
        ("HOME", "/nonexistent"),
    ];
    let mut program = Program::serve(&[], &settings);
    let mut tags = || program.call(TAGS, &json!({}))["code"].clone();
    assert!(tags().is_null());
    wiki.set_api_disabled(true);
    for _ in 0..3 {
        assert_eq!(tags(), "API_DISABLED");
    }
    wiki.set_api_disabled(false);
    assert!(tags().is_null());
    wiki.revoke(&key);
    for _ in 0..3 {
        assert_eq!(tags(), "KEY_REJECTED");
    }
    let lines = program.stopped().stderr;
    let told: Vec<&str> = lines
        .iter()
        .filter_map(|line| {
            [
                "API access is switched off",
                "takes the key again",
                "was revoked",
            ]
            .into_iter()
            .find(|words| line.contains(words))
        })
        .collect();
    let wanted = [
        "API access is switched off",
        "takes the key again",
        "was revoked",
    ];
    assert_eq!(told, wanted, "{lines:?}");
}
