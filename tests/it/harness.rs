//! A real client against a real server against the embedded wiki, over an in-memory duplex.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::serve_server;
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService, Service};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::io::DuplexStream;
use wikijs_gate::audit::Record;
use wikijs_gate::audit::entry::chain::{self, Verified};
use wikijs_gate::config::{
    CommandLineSettings, Layers, ServeSettings, Setting, Settings, SettingsSource,
};
use wikijs_gate::demo::{DemoOptions, DemoWiki, Keys, OperationKind, PageRow, SeenRequest};
use wikijs_gate::gates::SessionId;
use wikijs_gate::index::{IndexLoad, Pace};
use wikijs_gate::server::{App, Handler, Sites};
use wikijs_gate::watch::WatchPace;
use wikijs_gate::write::Timeouts;

use crate::session::tool_definitions::conforms;

/// Waiting made short, so that tests of what takes long take little.
pub(crate) const QUICK: Timeouts = Timeouts {
    settling: Duration::from_millis(1_500),
    pause: Duration::from_millis(10),
    apart: Duration::from_millis(50),
    queueing: Duration::from_secs(20),
    answering: Duration::from_secs(45),
};

/// The index made without haste or delay: as fast as the wiki answers, and looked at again by
/// every search.
pub(crate) const EAGER: Pace = Pace {
    load: IndexLoad::FULL,
    at_once: 4,
    patience: Duration::from_secs(20),
    fresh: Duration::ZERO,
};

/// Subscribed pages looked at again and again.
pub(crate) const WATCHFUL: WatchPace = WatchPace {
    apart: Duration::from_millis(10),
    after_write: Duration::ZERO,
    most_of_session: 100,
    most_of_owner: 500,
    most: 2_000,
};

/// What a server is to be like.
pub(crate) struct Setup {
    variables: Vec<(String, String)>,
    pub(crate) patience: Timeouts,
    /// How long a person may think, where it shall be less than a setting can say.
    pub(crate) thinking: Option<Duration>,
    pub(crate) session: SessionId,
    pub(crate) pace: Pace,
    /// How many pages are indexed at most; as many as the mode says without it.
    pub(crate) most: Option<usize>,
    /// What the indexes of callers' keys take together, where it is not the default.
    pub(crate) callers_bytes: Option<u64>,
    /// How often the key's file is looked at, at most.
    pub(crate) key_apart: Duration,
    /// How often the list is looked at for those who subscribed.
    pub(crate) watch: WatchPace,
    dir: Option<Arc<TempDir>>,
    /// Rules and checks, as a settings file has them.
    tables: String,
}

/// A server with a client, and where its audit log lies.
pub(crate) struct Served<C: Service<RoleClient> = ()> {
    pub(crate) client: RunningService<RoleClient, C>,
    pub(crate) app: Arc<App>,
    pub(crate) dir: Arc<TempDir>,
}

impl Setup {
    /// A server of a wiki at an address, with a key; writes on, confirmed by previews.
    pub(crate) fn at(address: &str, key: &str) -> Self {
        let variables = [
            ("WIKI_BASE_URL", address),
            ("WIKI_API_TOKEN", key),
            ("WIKI_MUTATIONS_ENABLED", "true"),
            ("WIKI_MUTATION_DRY_RUN", "false"),
            ("WIKI_HTTP_WRITE_TIMEOUT_MS", "5000"),
            // What it asks of the wiki in the background would stand between counted requests.
            ("WIKI_INDEX", "off"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self {
            variables: variables.into(),
            patience: QUICK,
            thinking: None,
            session: SessionId::new("test"),
            pace: EAGER,
            most: None,
            callers_bytes: None,
            key_apart: Duration::ZERO,
            watch: WATCHFUL,
            dir: None,
            tables: String::new(),
        }
    }

    /// The same for an embedded wiki, with one of its keys.
    pub(crate) fn of(wiki: &DemoWiki, key: impl Fn(&Keys) -> &String) -> Self {
        Self::at(&wiki.address(), key(wiki.keys()))
    }

    /// The same with the key of full access.
    pub(crate) fn admin(wiki: &DemoWiki) -> Self {
        Self::of(wiki, |keys| &keys.admin)
    }

    /// The same with the key that writes pages without styles and scripts.
    pub(crate) fn editor(wiki: &DemoWiki) -> Self {
        Self::of(wiki, |keys| &keys.editor)
    }

    /// The same with the key that writes pages with styles and scripts.
    pub(crate) fn scripter(wiki: &DemoWiki) -> Self {
        Self::of(wiki, |keys| &keys.scripter)
    }

    /// The same with the key that neither moves nor deletes.
    pub(crate) fn writer(wiki: &DemoWiki) -> Self {
        Self::of(wiki, |keys| &keys.writer)
    }

    /// The same with the key that reads pages, their source and their history.
    pub(crate) fn readonly(wiki: &DemoWiki) -> Self {
        Self::of(wiki, |keys| &keys.readonly)
    }

    /// The same with the key that reads pages alone.
    pub(crate) fn reader(wiki: &DemoWiki) -> Self {
        Self::of(wiki, |keys| &keys.reader)
    }

    /// With an index, made without delay.
    pub(crate) fn indexed(self) -> Self {
        self.with("WIKI_INDEX", "memory")
    }

    /// With these toolsets.
    pub(crate) fn toolsets(self, toolsets: &str) -> Self {
        self.with("WIKI_TOOLSETS", toolsets)
    }

    /// With writes that end as proposals.
    pub(crate) fn dry(self) -> Self {
        self.with("WIKI_MUTATION_DRY_RUN", "true")
    }

    /// With one setting changed.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.retain(|(variable, _)| variable != name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With one setting left out.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.variables.retain(|(variable, _)| variable != name);
        self
    }

    /// Whether a setting has this value.
    pub(crate) fn says(&self, name: &str, value: &str) -> bool {
        let says = |(own, said): &(String, String)| own == name && said == value;
        self.variables.iter().any(says)
    }

    /// With these tables of a settings file.
    pub(crate) fn with_tables(self, tables: &str) -> Self {
        Self {
            tables: tables.to_owned(),
            ..self
        }
    }

    /// With the key of a file, which is looked at by every call.
    pub(crate) fn with_key_file(mut self, path: &Path) -> Self {
        self.variables.retain(|(name, _)| name != "WIKI_API_TOKEN");
        self.with("WIKI_API_TOKEN_FILE", path.to_str().unwrap())
    }

    /// With the audit directory of another server.
    pub(crate) fn in_dir_of(self, other: &Served) -> Self {
        self.in_dir(&other.dir)
    }

    /// With this audit directory.
    pub(crate) fn in_dir(mut self, dir: &Arc<TempDir>) -> Self {
        self.dir = Some(Arc::clone(dir));
        self
    }

    pub(crate) async fn serve(self) -> Served {
        self.serve_to((), ClientLifecycleMode::Initialize).await
    }

    /// Serves a client of a kind of its own.
    pub(crate) async fn serve_to<C: Service<RoleClient>>(
        self,
        client: C,
        lifecycle: ClientLifecycleMode,
    ) -> Served<C> {
        let (app, dir, ours) = self.listen();
        let client = client.serve_with_lifecycle(ours, lifecycle).await.unwrap();
        Served { client, app, dir }
    }

    /// A server, and the client's end of its connection.
    pub(crate) fn listen(self) -> (Arc<App>, Arc<TempDir>, DuplexStream) {
        let session = self.session.clone();
        let (app, _, dir) = self.app();
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let handler = Handler::alone(Sites::only(Arc::clone(&app)), session);
        tokio::spawn(async move { serve_server(handler, theirs).await.unwrap().waiting().await });
        (app, dir, ours)
    }

    /// A server that nobody is connected to yet, how it is to be served over HTTP, and its audit
    /// directory.
    pub(crate) fn app(self) -> (Arc<App>, ServeSettings, Arc<TempDir>) {
        let thinking = self.thinking;
        let dir = self
            .dir
            .clone()
            .unwrap_or_else(|| Arc::new(TempDir::new().unwrap()));
        let this = self.with("WIKI_AUDIT_DIR", dir.path().to_str().unwrap());
        let get = |name: &str| {
            let found = this.variables.iter().find(|(variable, _)| variable == name);
            found.map(|(_, value)| value.into())
        };
        let mut settings = if this.tables.is_empty() {
            Settings::read(&SettingsSource::new(&get)).unwrap()
        } else {
            this.settings_of_a_file()
        };
        if let Some(thinking) = thinking {
            settings.policy = settings.policy.with_thinking(thinking);
        }
        settings.key_source.apart = this.key_apart;
        settings.index.pace = this.pace;
        settings.watch = this.watch;
        settings.index.most = this.most.unwrap_or(settings.index.most);
        if let Some(bytes) = this.callers_bytes {
            settings.index.callers_bytes = bytes;
        }
        let serve = settings.serve.clone();
        let app = Arc::new(App::new(settings, this.patience).unwrap());
        (app, serve, dir)
    }
}

impl Setup {
    /// The settings, with the tables out of a file.
    fn settings_of_a_file(&self) -> Settings {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, &self.tables).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let flags = self.variables.iter().map(|(name, value)| {
            let setting = Setting::named(name).unwrap();
            (setting.name, value.clone())
        });
        let given = CommandLineSettings {
            config: Some(path),
            flags: flags.collect(),
            ..CommandLineSettings::default()
        };
        let layers = Layers::load(&given).unwrap();
        Settings::read(&layers.source()).unwrap()
    }
}

impl<C: Service<RoleClient>> AsRef<Path> for Served<C> {
    /// Its audit directory.
    fn as_ref(&self) -> &Path {
        self.dir.path()
    }
}

impl<C: Service<RoleClient>> Served<C> {
    /// Calls a tool: its structured answer, or its error. Checks the form of either.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let mut request = CallToolRequestParams::new(tool.to_owned());
        request.arguments = Some(arguments.as_object().unwrap().clone());
        let result = self.client.call_tool(request).await.unwrap();
        read(&result)
    }

    /// The same, and an answer is of the form that the tool says.
    pub(crate) async fn checked(&self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let answer = self.call(tool, arguments).await?;
        let registry = self.app.registry();
        let schema = Value::Object(registry.find(tool).unwrap().output.clone());
        assert_eq!(conforms(&schema, &answer, tool), Vec::<String>::new());
        Ok(answer)
    }

    /// The wiki has said whose key it is, so that no counted request asks for that.
    pub(crate) async fn acquainted(self) -> Self {
        self.app.wiki.standing().await;
        self
    }

    /// Previews a write and confirms it.
    pub(crate) async fn confirmed(&self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let preview = self.call(tool, arguments.clone()).await?;
        let Some(token) = preview.get("confirm") else {
            return Ok(preview);
        };
        let mut arguments: Map<String, Value> = arguments.as_object().unwrap().clone();
        arguments.insert("confirm".to_owned(), token.clone());
        self.call(tool, Value::Object(arguments)).await
    }

    /// What each record tells, in a word or three.
    pub(crate) fn told(&self) -> Vec<String> {
        told(&self.records())
    }

    /// All records of all runs in the audit directory, in order of time; their chains hold.
    pub(crate) fn records(&self) -> Vec<Record> {
        records(self.dir.path())
    }
}

/// Reads a result: structured content with the same JSON as text, or an error in text, its code
/// in `_meta`, without any structured content.
pub(crate) fn read(result: &CallToolResult) -> Result<Value, Value> {
    let block = serde_json::to_value(&result.content).unwrap();
    let text = block[0]["text"].as_str().unwrap();
    let text: Value = serde_json::from_str(text).unwrap();
    if result.is_error == Some(true) {
        assert_eq!(result.structured_content, None);
        let meta = serde_json::to_value(result.meta.as_ref().unwrap()).unwrap();
        assert_eq!(meta["error"], json!({ "code": text["error"]["code"] }));
        return Err(text["error"].clone());
    }
    assert_eq!(result.structured_content.as_ref(), Some(&text));
    assert!(
        !block[0]["text"].as_str().unwrap().contains('\n'),
        "one line"
    );
    Ok(text)
}

/// What a warning says, as people read it.
pub(crate) fn said(warning: &Value) -> String {
    let part = |name: &str| warning[name].as_str().unwrap().to_owned();
    format!("{}: {}", part("code"), part("message"))
}

/// An embedded wiki with its sample pages.
pub(crate) async fn sample_wiki() -> DemoWiki {
    DemoWiki::start(DemoOptions::default()).await.unwrap()
}

/// A wiki, and a server of it.
pub(crate) async fn with_server(
    wiki: DemoWiki,
    setup: impl FnOnce(&DemoWiki) -> Setup,
) -> (DemoWiki, Served) {
    let served = setup(&wiki).serve().await;
    (wiki, served)
}

/// An embedded wiki with its sample pages, and a server of it.
pub(crate) async fn sample(setup: impl FnOnce(&DemoWiki) -> Setup) -> (DemoWiki, Served) {
    with_server(sample_wiki().await, setup).await
}

/// A page of a title that is like its path.
pub(crate) fn page(path: &str, content: &str) -> PageRow {
    titled(path, &format!("Page {}", path.replace('/', " ")), content)
}

/// A page of this title.
pub(crate) fn titled(path: &str, title: &str, content: &str) -> PageRow {
    PageRow {
        path: path.to_owned(),
        title: title.to_owned(),
        content: content.to_owned(),
        ..PageRow::default()
    }
}

/// A wiki that a page is added to.
pub(crate) trait WithPage {
    /// Adds a page; gives its id.
    fn with_page(&self, page: PageRow) -> i64;
}

impl WithPage for DemoWiki {
    fn with_page(&self, page: PageRow) -> i64 {
        self.with_store(|store| store.add(page))
    }
}

/// An embedded wiki of these pages alone.
pub(crate) async fn wiki_of(pages: &[(&str, &str)]) -> DemoWiki {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    wiki.with_store(|store| {
        for (path, content) in pages {
            store.add(page(path, content));
        }
    });
    wiki
}

/// A member of each item of a list in an answer.
pub(crate) fn members<'a>(answer: &'a Value, list: &str, member: &str) -> Vec<&'a str> {
    let items = answer[list].as_array().unwrap().iter();
    items.map(|item| item[member].as_str().unwrap()).collect()
}

/// The mutations that a wiki has seen.
pub(crate) fn mutations(wiki: &DemoWiki) -> Vec<SeenRequest> {
    let mut seen = wiki.requests();
    seen.retain(|request| request.kind == OperationKind::Mutation);
    seen
}

/// The files of all runs below an audit directory.
pub(crate) fn runs(dir: &Path) -> Vec<PathBuf> {
    let entries = |dir: &Path| -> Vec<PathBuf> {
        fs::read_dir(dir)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect()
    };
    entries(dir)
        .iter()
        .flat_map(|wiki| entries(&wiki.join("runs")))
        .collect()
}

/// All records below an audit directory, in order of time; their chains hold.
pub(crate) fn records(dir: &Path) -> Vec<Record> {
    let mut records = Vec::new();
    for run in runs(dir) {
        let bytes = fs::read(&run).unwrap();
        let Verified { records: count, .. } = chain::verify(&bytes[..]).unwrap();
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        let parsed: Vec<Record> = lines.map(|line| Record::parse(line).unwrap()).collect();
        assert_eq!(u64::try_from(parsed.len()).unwrap(), count);
        records.extend(parsed);
    }
    records.sort_by(|a, b| a.time.cmp(&b.time));
    records
}

/// What each record tells, in a word or three: for comparing whole logs.
pub(crate) fn told(records: &[Record]) -> Vec<String> {
    records
        .iter()
        .filter(|record| record.tool.is_some())
        .map(|record| {
            let event = serde_json::to_value(record.event).unwrap();
            let mut words = vec![event.as_str().unwrap().to_owned()];
            words.extend(record.step.clone());
            words.extend(record.outcome.map(|outcome| outcome.as_str().to_owned()));
            words.extend(record.code.clone());
            words.join(" ")
        })
        .collect()
}

/// The id of the page at a path of the embedded wiki.
pub(crate) fn id_of(wiki: &DemoWiki, path: &str) -> i64 {
    wiki.with_store(|store| store.page_at("en", path).unwrap().id)
}

/// Arguments of a page that is created.
pub(crate) fn new_page(path: &str) -> Value {
    json!({ "path": path, "title": "New", "content": "# New\n" })
}

/// Holds a text to the golden file of a name.
pub(crate) fn golden(name: &str, told: &str) {
    insta::with_settings!({
        snapshot_path => "../golden",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(name, told);
    });
}
