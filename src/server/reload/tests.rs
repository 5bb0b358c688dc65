//! A running server equals a restarted one, setting by setting.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use secrecy::ExposeSecret as _;
use tempfile::TempDir;
use tokio::net::TcpListener;

use super::Reload;
use crate::audit::{Pause, Pauses, Role, SigningKey};
use crate::config::{CommandLineSettings, Layers, SETTINGS, Setting, Settings};
use crate::gates::Policy;
use crate::notify::ReviewAddress;
use crate::page::testing::But as _;
use crate::server::http::{ClientToken, Grant, HttpLimits, HttpServer, NamedClient, TokensFile};
use crate::server::{App, Site, Sites};
use crate::wiki::ApiKey;
use crate::write::Timeouts;

mod pauses;
mod samples;

/// Lines of a settings file: names and values.
type Lines<'a> = Vec<(&'a str, &'a str)>;

/// One change of one setting.
struct Sample<'a> {
    name: &'a str,
    was: Option<&'a str>,
    is: Option<&'a str>,
    /// Other settings beside it, before and after.
    beside: Lines<'a>,
    /// Settings of the base that are left out.
    without: &'a [&'a str],
    /// True if only a restart applies it.
    takes_restart: bool,
}

/// The wikis of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wikis {
    Named,
    Unnamed,
    Both,
}

/// The place of the setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Top,
    Site,
}

/// A directory with all files that the samples name.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let path = dir.path();
        for name in ["up1", "up2", "custom1", "custom2", "audit", "log1", "log2"] {
            fs::create_dir(path.join(name)).unwrap();
            fs::set_permissions(path.join(name), fs::Permissions::from_mode(0o700)).unwrap();
        }
        let recipe = "name = \"custom_x\"\ndescription = \"X.\"\ntool = \"wikijs_list_pages\"\n\n[values]\npath = \"x\"\n";
        let (_, signing) = SigningKey::generate().unwrap();
        let certificate = rcgen::generate_simple_self_signed(vec!["a.example".to_owned()]).unwrap();
        for (name, text) in [
            ("key1", "one"),
            ("key2", "two"),
            ("headers1", "X-One: 1\n"),
            ("headers2", "X-Two: 1\n"),
            ("custom2/x.toml", recipe),
            ("ca.pem", &certificate.cert.pem()),
            ("cert1", &certificate.cert.pem()),
            ("cert2", &format!("{0}{0}", certificate.cert.pem())),
            ("tlskey1", &certificate.key_pair.serialize_pem()),
            (
                "tlskey2",
                &format!("\n{}", certificate.key_pair.serialize_pem()),
            ),
            ("signing", signing.expose_secret()),
        ] {
            fs::write(path.join(name), text).unwrap();
            fs::set_permissions(path.join(name), fs::Permissions::from_mode(0o600)).unwrap();
        }
        for name in ["tokens", "tokens2"] {
            let may = Grant::default()
                .but(|grant| grant.confirm = Some(crate::gates::ClientConfirm::Person));
            let client =
                NamedClient::new("ci", Role::Agent, Some(&ClientToken::new().unwrap()), may)
                    .unwrap();
            TokensFile::new(path.join(name)).add(client).unwrap();
        }
        Self(dir)
    }

    fn given(&self) -> CommandLineSettings {
        CommandLineSettings::default()
            .but(|given| given.config = Some(self.0.path().join("config.toml")))
    }

    fn put(&self, text: &str) {
        let (new, path) = (self.0.path().join("new"), self.0.path().join("config.toml"));
        fs::write(&new, text).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(new, path).unwrap();
    }
}

/// A table of the file: these lines, but for those that the own ones replace.
fn table(base: &[(&str, &str)], own: &Lines<'_>, without: &[&str]) -> String {
    let is_replaced = |name: &str| own.iter().any(|(other, _)| *other == name);
    let kept = base.iter();
    let kept = kept.filter(|(name, _)| !is_replaced(name) && !without.contains(name));
    let lines = kept
        .chain(own)
        .map(|(name, value)| format!("{name} = {value}\n"));
    lines.collect()
}

/// A server's file with these lines.
fn file(wikis: Wikis, at: At, own: &Lines<'_>, without: &[&str]) -> String {
    let server = [
        ("audit_dir", "\"audit\""),
        ("serve_tokens_file", "\"tokens\""),
        ("index", "\"off\""),
        ("mutations_enabled", "true"),
        ("mutation_dry_run", "false"),
        ("toolsets", "[\"pages\", \"undo\"]"),
    ];
    let unnamed = [
        ("base_url", "\"http://127.0.0.1:9\""),
        ("api_token", "\"key\""),
    ];
    let named = [
        ("base_url", "\"http://127.0.0.1:10\""),
        ("api_token", "\"key\""),
    ];
    let none = (Lines::new(), &[][..]);
    let (of_top, of_site) = match at {
        At::Top => ((own.clone(), without), none),
        At::Site => (none, (own.clone(), without)),
    };
    let mut text = match wikis {
        Wikis::Named => table(&server, &of_top.0, of_top.1),
        Wikis::Unnamed | Wikis::Both => {
            table(&[&server[..], &unnamed].concat(), &of_top.0, of_top.1)
        }
    };
    if wikis != Wikis::Unnamed {
        let site = table(&named, &of_site.0, of_site.1);
        write!(text, "[sites.a]\n{site}").unwrap();
    }
    text
}

/// All that holds for the calls of one wiki, as the server has it.
fn in_force(app: &App) -> String {
    let tools: Vec<_> = app.registry().definitions().map(|tool| tool.name).collect();
    let source = app
        .key_watch
        .as_ref()
        .map(|watch| watch.source.name().to_owned());
    // Where the page is served, and what pauses writes until a restart, is no setting.
    let policy = Policy {
        review: ReviewAddress::default(),
        pauses: Pauses::default(),
        ..app.desk.policy().clone()
    };
    let review = &app.desk.policy().review;
    let mirror = app.mirror.as_ref().map(|mirror| mirror.settings);
    let parts: [(&str, String); 11] = [
        ("policy", format!("{policy:?}")),
        ("review", format!("{:?}", review.named())),
        ("token", format!("{:?}", static_token(app))),
        ("wiki", format!("{:?}", app.wiki.settings())),
        ("key", format!("{:?} {source:?}", app.wiki.key().digest())),
        ("tools", format!("{tools:?} {:?}", app.own_tools)),
        ("index", format!("{:?}", app.index.settings)),
        ("mirror", format!("{mirror:?}")),
        ("kept", app.desk.kept()),
        ("notify", app.desk.audit().notices.in_words()),
        ("indent", format!("{:?}", app.indent)),
    ];
    parts
        .map(|(part, told)| format!("{part}: {told}"))
        .join("\n")
}

fn static_token(app: &App) -> Option<String> {
    let token = app.desk.policy().static_token.as_ref();
    token.map(|token| token.expose().to_owned())
}

/// A running server.
struct Running {
    reload: Reload,
    sites: Arc<Sites>,
    server: HttpServer,
}

impl Running {
    async fn start(given: &CommandLineSettings) -> Result<Self, String> {
        let layers = Layers::load(given).map_err(|faults| faults[0].clone())?;
        let all = Settings::load_every(&layers).map_err(|faults| faults[0].to_string())?;
        let serve = all[0].serve.clone();
        let app = |settings: Settings| {
            let name = settings.site.clone();
            App::new(settings, Timeouts::default()).map(|app| Site::new(name, app))
        };
        let all = all.into_iter().map(app).collect::<Result<_, _>>()?;
        let sites = Sites::new(all, layers.default_site().cloned());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let limits = HttpLimits::default();
        let server = HttpServer::new(Arc::clone(&sites), serve, limits, listener)?;
        let reload = Reload::new(given.clone(), layers, Arc::clone(&sites), true);
        let reload = reload.serving(server.settings_taker());
        Ok(Self {
            reload,
            sites,
            server,
        })
    }

    async fn look(&mut self) -> Option<String> {
        let now = self.reload.layers.stamps(&self.reload.given);
        self.reload.look(now).await;
        self.sites.fault()
    }

    fn in_force(&self) -> Vec<String> {
        let all = self.sites.all();
        let told = |site: &Arc<Site>| format!("{}\n{}", site.identity(), in_force(&site.app()));
        all.iter()
            .map(told)
            .chain([self.server.in_force()])
            .collect()
    }

    fn holds(&self) -> Vec<Option<Pause>> {
        let all = self.sites.all();
        all.iter().map(|site| site.app().paused()).collect()
    }
}

/// Changes a setting in a running server, and compares it with one that starts with the same file.
async fn compare(
    place: &Place,
    (wikis, at): (Wikis, At),
    sample: &Sample<'_>,
) -> Result<(), String> {
    let with = |value: Option<&str>| {
        let beside = sample.beside.iter().copied();
        let own = beside.chain(value.map(|value| (sample.name, value)));
        let own: Lines<'_> = own.collect();
        file(wikis, at, &own, sample.without)
    };
    let (was, is) = (with(sample.was), with(sample.is));
    if sample.takes_restart {
        return refused(place, sample.name, &was, &is).await;
    }
    place.put(&was);
    if Running::start(&place.given()).await.is_err() && is_token_at_top(at, sample.name) {
        // The server's static token is no site's.
        return Ok(());
    }
    let has_changed = taken_over(place, &was, &is).await?;
    if !has_changed && is_felt(wikis, at, sample.name) {
        return Err("changes nothing, so that the sample shows nothing".to_owned());
    }
    Ok(())
}

fn is_token_at_top(at: At, name: &str) -> bool {
    at == At::Top && name == "mutation_confirm_token"
}

/// Checks that a change that takes a restart is refused by name, and changes nothing.
async fn refused(place: &Place, name: &str, was: &str, is: &str) -> Result<(), String> {
    place.put(was);
    let mut running = Running::start(&place.given()).await?;
    let before = running.in_force();
    place.put(is);
    let fault = running.look().await;
    let is_named = |fault: &String| fault.contains(name) && fault.contains("restart");
    if !fault.as_ref().is_some_and(is_named) {
        return Err(format!("is not refused by name: {fault:?}"));
    }
    if running.in_force() != before {
        return Err("is refused, and changes something".to_owned());
    }
    Ok(())
}

/// Changes the file of a running server, and compares it with one that starts with the changed
/// file; whether anything has changed.
async fn taken_over(place: &Place, was: &str, is: &str) -> Result<bool, String> {
    place.put(was);
    let running = Running::start(&place.given()).await;
    let mut running = running.map_err(|fault| format!("does not start: {fault}"))?;
    let before = running.in_force();
    place.put(is);
    let fault = running.look().await;
    let restarted = Running::start(&place.given()).await;
    let restarted = restarted.map_err(|why| format!("a restarted one does not start: {why}"))?;
    if let Some(fault) = fault {
        return Err(format!("is not taken over: {fault}"));
    }
    let (now, restarted) = (running.in_force(), restarted.in_force());
    for (now, restarted) in now.iter().zip(&restarted) {
        let mut lines = now.lines().zip(restarted.lines());
        if let Some((now, restarted)) = lines.find(|(now, restarted)| now != restarted) {
            let same = now
                .chars()
                .zip(restarted.chars())
                .take_while(|(a, b)| a == b);
            let same = same.count().saturating_sub(40);
            let from = |text: &str| text.chars().skip(same).take(200).collect::<String>();
            return Err(format!("differs: {} / {}", from(now), from(restarted)));
        }
    }
    if now.len() != restarted.len() {
        return Err("has other sites".to_owned());
    }
    Ok(now != before)
}

/// True if a wiki feels a change there at all: what each site says for itself holds at the top for
/// the unnamed wiki alone.
fn is_felt(wikis: Wikis, at: At, name: &str) -> bool {
    let of_sites = [
        "api_token",
        "api_token_file",
        "token_command",
        "mutation_confirm_token",
        "ca_file",
        "extra_headers_file",
        "client_cert_file",
        "client_key_file",
        "upload_dir",
        "memory_peer",
        "memory_peer_token_file",
        "memory_peer_token_command",
        "embeddings_url",
        "embeddings_model",
        "embeddings_per_day",
        "embeddings_key_file",
        "embeddings_key_command",
    ];
    !(at == At::Top && wikis == Wikis::Named && of_sites.contains(&name))
}

async fn compare_all(wikis: Wikis) {
    let (place, samples) = (Place::new(), samples::samples());
    let names: Vec<_> = samples
        .iter()
        .map(|sample| sample.name.to_owned())
        .collect();
    let all: Vec<_> = SETTINGS.iter().map(Setting::file_name).collect();
    assert_eq!(names, all, "each setting has its sample");
    let mut wrong = Vec::new();
    for sample in &samples {
        for at in [At::Top, At::Site] {
            let setting = SETTINGS.iter().find(|one| one.file_name() == sample.name);
            let is_own = ["base_url", "graphql_path"].contains(&sample.name);
            let is_possible = match (at, wikis) {
                (At::Site, Wikis::Unnamed) => false,
                (At::Site, _) => setting.is_some_and(Setting::may_be_of_site),
                // An address at the top is another wiki's, and no change of the site's.
                (At::Top, Wikis::Named) => !is_own,
                (At::Top, _) => true,
            };
            if is_possible && let Err(why) = compare(&place, (wikis, at), sample).await {
                wrong.push(format!("{} at {at:?}, {wikis:?}: {why}", sample.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn each_setting_holds_at_once_for_a_named_site() {
    compare_all(Wikis::Named).await;
}

#[tokio::test]
async fn each_setting_holds_at_once_for_an_unnamed_wiki() {
    compare_all(Wikis::Unnamed).await;
}

#[tokio::test]
async fn each_setting_holds_at_once_for_a_named_and_an_unnamed_wiki_together() {
    compare_all(Wikis::Both).await;
}

#[tokio::test]
async fn tables_and_files_that_are_named_hold_at_once_too() {
    let place = Place::new();
    let base = |lines: Lines<'static>| file(Wikis::Both, At::Top, &lines, &[]);
    let (top, sites) = {
        let text = base(Lines::new());
        let (top, sites) = text.split_once("[sites.a]").unwrap();
        (top.to_owned(), format!("[sites.a]{sites}"))
    };
    for table in [
        "[[rules]]\nname = \"no\"\nthen = \"deny\"\n",
        "[[checks]]\nname = \"ok\"\nargv = [\"true\"]\n",
        "[[notify]]\nname = \"a\"\nargv = [\"true\"]\n",
        "[oauth]\nissuer = \"https://id.example.com\"\naudiences = [\"a\"]\n",
        "[sites.b]\nbase_url = \"http://127.0.0.1:11\"\napi_token = \"key\"\n",
    ] {
        let (without, with) = (format!("{top}{sites}"), format!("{top}{table}{sites}"));
        assert_eq!(
            taken_over(&place, &without, &with).await,
            Ok(true),
            "{table}"
        );
        let taken_over = taken_over(&place, &with, &without).await;
        assert_eq!(taken_over, Ok(true), "{table}");
    }
    // So do the lines on which gates stand, which refusals name.
    let text = base(vec![("mutation_dry_run", "true")]);
    let moved = format!("\n\n{text}");
    assert_eq!(taken_over(&place, &text, &moved).await, Ok(true));
    // What a file says counts, not its name alone.
    let text = base(vec![("extra_headers_file", "\"headers1\"")]);
    place.put(&text);
    let mut running = Running::start(&place.given()).await.unwrap();
    fs::write(place.0.path().join("headers1"), "X-Three: 3\n").unwrap();
    assert_eq!(running.look().await, None);
    assert!(running.in_force()[0].contains("x-three"));
}

#[tokio::test]
async fn a_new_key_in_the_same_app_has_other_bounds() {
    let place = Place::new();
    place.put(&file(Wikis::Unnamed, At::Top, &Lines::new(), &[]));
    let running = Running::start(&place.given()).await.unwrap();
    let sites = running.sites.all();
    let site = sites.first().unwrap();
    let before = site.bounds();
    assert_eq!(site.bounds(), before);
    let app = site.app();
    app.wiki.take_key(ApiKey::new("another".into())).unwrap();
    assert_ne!(site.bounds(), before);
}

#[test]
fn a_directory_with_the_token_for_a_peer_is_none_for_uploads() {
    let place = Place::new();
    let own = vec![
        ("upload_dir", "\"up1\""),
        ("memory", "\"site\""),
        ("memory_peer", "\"https://office.example.com/mcp\""),
        ("memory_peer_token_file", "\"up1/token\""),
    ];
    fs::rename(
        place.0.path().join("key2"),
        place.0.path().join("up1/token"),
    )
    .unwrap();
    place.put(&file(Wikis::Unnamed, At::Top, &own, &[]));
    let layers = Layers::load(&place.given()).unwrap();
    let faults = Settings::load_every(&layers).unwrap_err();
    let fault = faults[0].to_string();
    assert!(
        fault.contains("up1/token, which nobody may upload"),
        "{fault}"
    );
}
