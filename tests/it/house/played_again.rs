//! Plays again what once went wrong at the doors: on the embedded wiki, and on a running Wiki.js.
//!
//! `PLAYED_WIKI_URL=… PLAYED_WIKI_KEY=… just played` plays it on a wiki of your own, with a key of
//! full access. All its pages lie below one new folder and are deleted at the end.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use wikijs_gate::audit::CallId;
use wikijs_gate::server::http::HttpLimits;

use crate::http::hosted::initialize;
use crate::prelude::*;
use crate::review::reviewer;

/// A wiki, and the folder in it that is played in.
struct Stage {
    address: String,
    key: String,
    root: String,
    /// The wiki itself, if it is the embedded one.
    own: Option<DemoWiki>,
}

impl Stage {
    async fn embedded() -> Self {
        let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
        let (address, key) = (wiki.address(), wiki.keys().admin.clone());
        Self::new(address, key, Some(wiki))
    }

    fn running() -> Self {
        #[expect(clippy::disallowed_methods, reason = "says which wiki is played on")]
        let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("set {name}"));
        Self::new(
            variable("PLAYED_WIKI_URL"),
            variable("PLAYED_WIKI_KEY"),
            None,
        )
    }

    fn new(address: String, key: String, own: Option<DemoWiki>) -> Self {
        let root = format!("played-{}", CallId::new().unwrap());
        Self {
            address,
            key,
            root,
            own,
        }
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.root)
    }

    /// A server of this wiki, with every toolset that is played with.
    fn server(&self) -> Setup {
        let mut setup = Setup::at(&self.address, &self.key)
            .toolsets("pages,drafts,proposals,undo")
            .indexed();
        if self.own.is_none() {
            setup = setup.with("WIKI_HTTP_WRITE_TIMEOUT_MS", "30000");
            setup.patience = Timeouts::default();
        }
        setup
    }

    /// Makes a page: its id.
    async fn page(&self, served: &Served, name: &str, content: &str) -> i64 {
        let path = self.path(name);
        let page = json!({ "path": path, "title": name, "content": content, "tags": ["played"] });
        let made = served.confirmed(CREATE, page).await.unwrap();
        made["target"]["id"].as_i64().unwrap()
    }

    /// The id and the text of the page at a path, if there is one.
    async fn at(&self, served: &Served, name: &str) -> Option<(i64, String)> {
        let named = json!({ "path": self.path(name) });
        let page = served.call(BY_PATH, named).await.ok()?;
        let content = page["content"].as_str()?.to_owned();
        Some((page["id"].as_i64()?, content))
    }

    /// Runs a command as the operator, with these settings beside the usual ones.
    async fn operator(&self, audit: &Path, settings: &[(&str, &str)], line: &[&str]) -> Ended {
        let usual = [
            ("WIKI_BASE_URL", &*self.address),
            ("WIKI_API_TOKEN", &*self.key),
            ("WIKI_AUDIT_DIR", audit.to_str().unwrap()),
            ("WIKI_MUTATIONS_ENABLED", "true"),
            ("WIKI_LOG", "off"),
        ];
        let with = |command: Command, (name, value): &(&str, &str)| command.with(name, value);
        usual
            .iter()
            .chain(settings)
            .fold(Command::new(line), with)
            .end()
            .await
    }

    /// Deletes what was played with.
    async fn clear(&self) {
        let served = self.server().serve().await;
        let below = json!({ "path": self.root });
        let left = served.call(LIST, below).await.unwrap();
        for page in left["pages"].as_array().unwrap() {
            let gone = json!({ "id": page["id"] });
            served.confirmed(DELETE, gone).await.unwrap();
        }
    }
}

/// Plays every scene, one after another.
async fn play(stage: &Stage) {
    files_push_decides_nothing_for_people(stage).await;
    a_gate_closed_in_a_running_server_is_closed(stage);
    a_new_client_is_known_at_once(stage).await;
    rejecting_applies_nothing(stage).await;
    a_decided_proposal_answers_for_itself_alone(stage).await;
    a_session_knows_the_sets_that_it_wrote(stage).await;
    a_locale_that_the_wiki_has_not_is_refused(stage).await;
    pages_change_places(stage).await;
    deletions_are_told(stage).await;
    many_look_at_once(stage).await;
    stage.clear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_went_wrong_at_the_doors_goes_right_on_the_embedded_wiki() {
    play(&Stage::embedded().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a running Wiki.js: PLAYED_WIKI_URL and PLAYED_WIKI_KEY"]
async fn what_went_wrong_at_the_doors_goes_right_on_a_running_wiki() {
    play(&Stage::running()).await;
}

/// `--yes` leaves out a question; where people decide, the push is a proposal.
async fn files_push_decides_nothing_for_people(stage: &Stage) {
    let served = stage.server().serve().await;
    for (name, value) in [
        ("WIKI_MUTATION_DRY_RUN", "true"),
        ("WIKI_CONFIRM", "review"),
        ("WIKI_CONFIRM", "person"),
    ] {
        let page = format!("push-{value}");
        stage.page(&served, &page, "The old word.\n").await;
        let folder = TempDir::new().unwrap();
        let dir = folder.path().to_str().unwrap();
        let below = stage.path(&page);
        let settings = [("WIKI_MUTATION_DRY_RUN", "false"), (name, value)];
        let audit = served.dir.path();
        let pull = ["files", "pull", dir, "--path", &below];
        stage.operator(audit, &settings, &pull).await.good();
        let file = folder.path().join(format!("en/{below}.md"));
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("old", "new")).unwrap();
        let push = ["files", "push", dir, "--yes"];
        let pushed = stage.operator(audit, &settings, &push).await;
        assert_eq!(pushed.code, 3, "{name}={value}: {}", pushed.told);
        let (_, content) = stage.at(&served, &page).await.unwrap();
        assert_eq!(content, "The old word.\n", "{name}={value}");
    }
}

/// The server's own gate is closed at the top of a settings file with a site.
fn a_gate_closed_in_a_running_server_is_closed(stage: &Stage) {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("config.toml");
    let put = |gate: &str| {
        let text = format!(
            "audit_dir = \"{}\"\nindex = \"off\"\nmutations_enabled = {gate}\n\
             mutation_dry_run = false\n[sites.played]\nbase_url = {:?}\napi_token = {:?}\n",
            dir.path().join("audit").display(),
            stage.address,
            stage.key,
        );
        let new = dir.path().join("new.toml");
        fs::write(&new, text).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(&new, &file).unwrap();
    };
    put("true");
    let path = stage.path("gate");
    let page = json!({ "path": path, "title": "Gate", "content": "Open.\n" });
    let settings = [
        ("WIKI_CONFIG", file.to_str().unwrap().to_owned()),
        ("WIKI_LOG", "info".to_owned()),
    ];
    let settings = settings.each_ref().map(|(name, value)| (*name, &**value));
    // The wiki answers on another thread while this one waits for the server.
    tokio::task::block_in_place(|| {
        let mut server = Program::serve(&["serve", "--site", "played"], &settings);
        let shown = server.full(CREATE, &page);
        assert!(shown["confirm"].is_string(), "{shown}");
        put("false");
        server.signal("-HUP");
        server.logged("other settings are in force");
        let refused = server.full(CREATE, &page);
        assert_eq!(refused["code"], "MUTATIONS_DISABLED", "{refused}");
        server.kill();
    });
}

/// What `token new` makes is let in with its first request.
async fn a_new_client_is_known_at_once(stage: &Stage) {
    let names = Names::new();
    // A server that has looked at its clients a moment ago.
    let known = names.client("first");
    let hosted = stage.server().naming(&names);
    let hosted = hosted.host_within(HttpLimits::default()).await;
    hosted.open(&known).await;
    for number in 0..15 {
        let new = names.client(&format!("client-{number}"));
        hosted.open(&new).await;
    }
    let stranger = Caller::default().with("authorization", "Bearer wjs_nobody");
    let refused = hosted.post(&stranger, &initialize("2025-11-25")).await;
    assert_eq!(refused.status, 401, "{refused:?}");
}

/// An empty reason decides nothing, and a deletion takes a second, named yes.
async fn rejecting_applies_nothing(stage: &Stage) {
    let served = stage.server().serve().await;
    let id = stage.page(&served, "install", "How to install.\n").await;
    let names = Names::new();
    let dry = stage.server().dry();
    let agent = dry.in_dir_of(&served).serve().await;
    let proposed = agent.call(DELETE, json!({ "id": id })).await.unwrap();
    let set = proposed["proposal"].as_str().unwrap();
    let hosted = stage.server().in_dir_of(&served).naming(&names);
    let hosted = hosted.host().await;
    let anna = reviewer(&hosted, &names, &["anna", "--reviewer"]).await;
    let unreasoned = anna.decide(set, "reject", &[("reason", "")]).await;
    assert!(unreasoned.text.contains("autofocus"), "{}", unreasoned.text);
    let asked = anna.decide(set, "apply", &[]).await;
    says(&asked.text, &stage.path("install"));
    assert!(
        stage.at(&served, "install").await.is_some(),
        "{}",
        asked.text
    );
}

/// A decided proposal's id confirms its own call and no other.
async fn a_decided_proposal_answers_for_itself_alone(stage: &Stage) {
    let served = stage.server().serve().await;
    let id = stage.page(&served, "decided", "One.\n").await;
    let dry = stage.server().dry();
    let agent = dry.in_dir_of(&served).serve().await;
    let wanted = json!({ "id": id, "title": "Wanted" });
    let proposed = agent.call(UPDATE, wanted).await.unwrap();
    let set = proposed["proposal"].as_str().unwrap();
    let apply = ["proposals", "apply", set, "--yes"];
    stage.operator(served.dir.path(), &[], &apply).await.good();
    let told = agent
        .call(
            UPDATE,
            json!({ "id": id, "title": "Wanted", "confirm": set }),
        )
        .await;
    assert_eq!(told.unwrap()["outcome"], "applied");
    let another = agent
        .call(
            UPDATE,
            json!({ "id": id, "title": "Another", "confirm": set }),
        )
        .await;
    assert_eq!(another.unwrap_err()["code"], "CONFIRM_MISMATCH");
    let arguments = json!({ "id": id, "confirm": set });
    fails(&agent, DELETE, arguments, "CONFIRM_MISMATCH").await;
}

/// After a set the session edits on, and is not told that somebody else changed the page.
async fn a_session_knows_the_sets_that_it_wrote(stage: &Stage) {
    let served = stage.server().serve().await;
    let id = stage.page(&served, "known", "One.\n").await;
    stage.at(&served, "known").await.unwrap();
    let bulk = json!({ "ids": [id], "replaceAll": [{ "oldText": "One", "newText": "Two" }],
                       "expectPages": 1 });
    is_applied(&served, BULK, bulk).await;
    let next = json!({ "id": id, "content": "Three.\n" });
    is_applied(&served, UPDATE, next).await;
}

/// A locale that the wiki has not is the caller's fault, told before any token.
async fn a_locale_that_the_wiki_has_not_is_refused(stage: &Stage) {
    let served = stage.server().serve().await;
    let id = stage.page(&served, "locale", "One.\n").await;
    let path = stage.path("xx");
    let create = json!({ "path": path, "locale": "xx", "title": "X", "content": "X\n" });
    fails(&served, CREATE, create, "INVALID_INPUT").await;
    let moved = json!({ "id": id, "locale": "xx" });
    fails(&served, UPDATE, moved, "INVALID_INPUT").await;
}

/// Two pages change places, and three go round, in one set each.
async fn pages_change_places(stage: &Stage) {
    let served = stage.server().serve().await;
    for names in [
        &["swap-a", "swap-b"][..],
        &["round-a", "round-b", "round-c"],
    ] {
        let mut ids = Vec::new();
        for name in names {
            ids.push(stage.page(&served, name, &format!("{name}\n")).await);
        }
        let draft = names.concat();
        for (at, id) in ids.iter().enumerate() {
            let to = names[(at + 1) % names.len()];
            let moved = json!({ "id": id, "path": stage.path(to), "draft": draft });
            served.call(UPDATE, moved).await.unwrap();
        }
        let submit = json!({ "draft": draft });
        is_applied(&served, SUBMIT, submit).await;
        for (at, name) in names.iter().enumerate() {
            let to = names[(at + 1) % names.len()];
            let (id, content) = stage.at(&served, to).await.unwrap();
            assert_eq!((id, content), (ids[at], format!("{name}\n")));
        }
    }
}

/// The history since a moment tells of pages that are gone.
async fn deletions_are_told(stage: &Stage) {
    let served = stage.server().serve().await;
    let mut gone = Vec::new();
    for number in 0..3 {
        let name = format!("gone-{number}");
        let id = stage.page(&served, &name, "Soon gone.\n").await;
        served.confirmed(DELETE, json!({ "id": id })).await.unwrap();
        gone.push(stage.path(&name));
    }
    let hour_ago = OffsetDateTime::now_utc() - Duration::from_hours(1);
    let since = json!({ "since": hour_ago.format(&Rfc3339).unwrap() });
    let told = served.call(HISTORY, since).await.unwrap();
    let told = told.to_string();
    for path in gone {
        assert!(told.contains(&path), "{path}: {told}");
    }
}

/// Forty-eight look at a large proposal at once, and another client is not kept waiting.
async fn many_look_at_once(stage: &Stage) {
    let served = stage.server().serve().await;
    let lines: Vec<String> = (0..20_000).map(|line| format!("line {line}\n")).collect();
    let lines = lines.concat();
    let id = stage.page(&served, "large", &lines).await;
    let dry = stage.server().dry();
    let agent = dry.in_dir_of(&served).serve().await;
    let content = lines.replace('7', "seven");
    let proposed = agent
        .call(UPDATE, json!({ "id": id, "content": content }))
        .await;
    let set = proposed.unwrap()["proposal"].as_str().unwrap().to_owned();
    let look = || agent.call(GET_PROPOSAL, json!({ "id": set }));
    let looks = futures_util::future::join_all((0..48).map(|_| look()));
    let other = async {
        let began = Instant::now();
        stage.at(&served, "install").await.unwrap();
        began.elapsed()
    };
    let (looks, waited) = tokio::join!(looks, other);
    for look in looks {
        let code = look.err().map(|error| error["code"].clone());
        assert!(
            code.is_none() || code == Some(json!("RATE_LIMITED")),
            "{code:?}"
        );
    }
    assert!(waited < Duration::from_secs(2), "{waited:?}");
}
