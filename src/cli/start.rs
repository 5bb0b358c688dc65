//! Prepares each command: reads the layers of settings, starts the program's own log, and reads the
//! settings.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::actor::actor;
use super::error::CommandError;
use super::{Exit, log, print};
use crate::audit::{AuditEntry, AuditError, AuditEvent, AuditLog, AuditResult, CallId, Client};
use crate::config::{
    self, AuditSettings, CommandLineSettings, Layers, ServeSettings, Settings, log_settings,
};
use crate::gates::{Policy, SessionId};
use crate::server::App;
use crate::server::http::check_start;
use crate::site::SiteName;
use crate::tools::{Registry, add_customs};
use crate::wiki::KeySetting;
use crate::words::{separated, words};
use crate::write::{Caller, Timeouts};

/// The command line's settings; global to the process like its environment.
static GIVEN: OnceLock<CommandLineSettings> = OnceLock::new();

/// Keeps the settings given on the command line, once.
pub(super) fn give(given: CommandLineSettings) {
    GIVEN.get_or_init(|| given);
}

/// The settings given on the command line.
pub(super) fn given() -> &'static CommandLineSettings {
    GIVEN.get_or_init(CommandLineSettings::default)
}

/// Reads the settings of a server: of all wikis of the settings file, or of one.
///
/// # Errors
/// The first setting that is missing or bad, with the exit code for it.
pub(super) fn settings_of(layers: &Layers, of_all: bool) -> Result<Vec<Settings>, CommandError> {
    Settings::load_these(layers, of_all).map_err(|faults| first(&faults))
}

/// The settings that a server over standard input and output starts with.
pub(super) enum Start {
    /// The settings of its wiki.
    Wiki(Vec<Settings>),
    /// The settings that it lacks to have one.
    WithoutWiki(Vec<&'static str>),
}

/// Reads the settings of a server over standard input and output, which starts without a wiki where
/// no key is given. Any other fault stops it: who gives a key means a wiki.
///
/// # Errors
/// The first setting that is bad, with the exit code for it.
pub(super) fn settings_if_set(layers: &Layers) -> Result<Start, CommandError> {
    let faults = match Settings::load(layers) {
        Ok(settings) => return Ok(Start::Wiki(vec![settings])),
        Err(faults) => faults,
    };
    let (lacking, wrong): (Vec<_>, Vec<_>) = faults.iter().partition(|fault| fault.lacks);
    if !wrong.is_empty() {
        return Err(first(&wrong));
    }
    let mut names: Vec<_> = lacking.iter().map(|fault| fault.name).collect();
    // Several settings have a place beside the log.
    names.dedup();
    if names.contains(&KeySetting::Token.name()) {
        Ok(Start::WithoutWiki(names))
    } else {
        Err(first(&lacking))
    }
}

/// Starts the log and reads the settings of a command that works with the wiki, and logs their
/// warnings.
///
/// # Errors
/// The first setting that is missing or bad, with the exit code for it.
pub(super) fn settings_to_work_with() -> Result<Settings, CommandError> {
    let settings = settings()?;
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    Ok(settings)
}

/// Starts the log and reads the settings of a command, which logs only warnings.
///
/// # Errors
/// The first setting that is missing or bad, with the exit code for it.
pub(super) fn settings() -> Result<Settings, CommandError> {
    start_log(Some("warn"))?;
    Settings::load(&layers()?).map_err(|faults| first(&faults))
}

/// The same for a command that writes nothing, no file of the log either.
///
/// # Errors
/// As [`settings`].
pub(super) fn settings_to_look_at() -> Result<Settings, CommandError> {
    start_log_on_stderr()?;
    Settings::load(&layers()?).map_err(|faults| first(&faults))
}

/// The most other wikis that are named if a wiki has no log.
const SHOWN_WIKIS: usize = 10;

/// Starts the log and opens the audit log of the configured wiki for reading; needs no key.
///
/// # Errors
/// The setting that is missing or bad, with its exit code. Also if there is no log, since a
/// mistyped address or directory would otherwise look like an empty log.
pub(super) fn audit_log() -> Result<AuditLog, CommandError> {
    let log = audit_log_to_come()?;
    missing(&log).map_or(Ok(log), |message| Err(Exit::usage(message)))
}

/// The same for a list: a missing log is empty, with a note. If only other wikis have logs, it is
/// an error, since the settings are more likely wrong.
///
/// # Errors
/// The setting that is missing or bad, with the exit code for it.
pub(super) fn audit_log_maybe_empty() -> Result<AuditLog, CommandError> {
    let log = audit_log_to_come()?;
    if let Some(dir) = unused(&log) {
        print::remark!("nothing is on record yet: there is no log at {dir}");
        return Ok(log);
    }
    missing(&log).map_or(Ok(log), |message| Err(Exit::usage(message)))
}

/// The same for `tail --follow`: a missing log is only a note.
///
/// # Errors
/// The setting that is missing or bad, with the exit code for it.
pub(super) fn audit_log_followed() -> Result<AuditLog, CommandError> {
    let log = audit_log_to_come()?;
    if let Some(message) = missing(&log) {
        print::note(&message);
    }
    Ok(log)
}

/// Notes that no server has used a store: a pause in it stops none.
pub(super) fn note_no_server(log: &AuditLog) {
    if let Some(dir) = unused(log) {
        print::remark!("no server has written to {dir} yet: if one runs, look at WIKI_AUDIT_DIR");
    }
}

/// The directory of a store into which no server has written yet.
fn unused(log: &AuditLog) -> Option<String> {
    let is_unused = !log.runs.is_there() && log.runs.others().is_empty();
    let dir = log.runs.dir();
    is_unused.then(|| print::path(dir.parent().unwrap_or(&dir)))
}

pub(super) fn audit_log_to_come() -> Result<AuditLog, CommandError> {
    start_log(Some("warn"))?;
    let settings = audit_settings()?;
    Ok(AuditLog::new(settings.store, &settings.wiki))
}

/// The same for a command that puts something on record without a wiki, anchored as a server's records are. A
/// setting for that which is bad stops nothing.
///
/// # Errors
/// The setting that is missing or bad, with the exit code for it.
pub(super) fn audit_log_to_record() -> Result<AuditLog, CommandError> {
    let log = audit_log_to_come()?;
    match config::audit_anchors(&layers()?.source()) {
        Ok(anchors) => anchors.into_iter().for_each(|to| log.anchoring.set(to)),
        Err(fault) => print::note(&print::harmless(&format!("not anchored: {fault}"))),
    }
    Ok(log)
}

/// Notes where a list that is empty was looked for: in this directory, or in the database.
///
/// # Errors
/// The setting that is bad, with its exit code.
pub(super) fn note_place(directory: &Path) -> Result<(), CommandError> {
    let home = config::store_home(&layers()?.source()).map_err(Exit::usage)?;
    let place = if home.is_remote() {
        home.to_string()
    } else {
        directory.display().to_string()
    };
    print::note(&print::harmless(&format!("looked for in {place}")));
    Ok(())
}

/// The place of the state of all wikis, as the settings name it. Its errors are written to standard error.
///
/// # Errors
/// The setting that is missing or bad, with the exit code for it.
#[cfg(feature = "postgres")]
pub(super) fn store_home() -> Result<crate::audit::StoreHome, CommandError> {
    start_log(Some("warn"))?;
    config::store_home(&layers()?.source()).map_err(Exit::usage)
}

/// Warns if a failover of the database may lose records, once the database has said so. The start waits for
/// nothing of it.
#[cfg(feature = "postgres")]
pub(super) fn warn_of_failover(settings: &[Settings]) {
    let Some(home) = settings.first().map(|settings| settings.store.clone()) else {
        return;
    };
    let asked = move || {
        home.database()
            .map(crate::store::Database::failover_risk)
            .transpose()
    };
    tokio::task::spawn_blocking(move || match asked().map(Option::flatten) {
        Ok(None) => {}
        Ok(Some(risk)) => tracing::warn!("the database of WIKI_STORE {risk}"),
        Err(error) => tracing::warn!(%error, "the database was not asked for its standby servers"),
    });
}

/// The wiki whose log is read, and its place.
///
/// # Errors
/// The setting that is missing or bad, with the exit code for it.
pub(super) fn audit_settings() -> Result<AuditSettings, CommandError> {
    let settings = AuditSettings::read(&layers()?.source());
    settings.map_err(Exit::usage)
}

/// The message that there is no log, with the wikis that have one there; `None` if there is a log.
fn missing(log: &AuditLog) -> Option<String> {
    if log.runs.is_there() {
        return None;
    }
    let others = log.runs.others();
    let beside = match others.as_slice() {
        [] => "nor of any other wiki".to_owned(),
        others => {
            let shown = separated(others.iter().take(SHOWN_WIKIS), ", ");
            let more = others.get(SHOWN_WIKIS).map_or("", |_| ", …");
            format!("there are logs of {shown}{more}")
        }
    };
    let dir = log.runs.dir();
    let message = format!(
        "there is no log of {} at {}; {beside}: look at WIKI_BASE_URL and WIKI_AUDIT_DIR",
        log.wiki(),
        dir.parent().unwrap_or(&dir).display(),
    );
    Some(print::harmless(&message))
}

/// Starts the log and returns the tools that the settings offer; needs no wiki, and so has no
/// custom queries that only the wiki's schema can tell. These follow by their names.
///
/// # Errors
/// The setting that is bad, with the exit code for it.
pub(super) fn tools() -> Result<(Registry, Vec<String>), CommandError> {
    start_log(Some("warn"))?;
    tools_of(&layers()?)
}

/// The same of these layers.
///
/// # Errors
/// The setting that is bad, with the exit code for it.
pub(super) fn tools_of(layers: &Layers) -> Result<(Registry, Vec<String>), CommandError> {
    let surface = config::offered(&layers.source()).map_err(Exit::usage)?;
    let customs = config::custom_tools(&layers.source(), &surface);
    let customs = customs.map_err(Exit::usage)?;
    let mut registry = Registry::new(&surface).map_err(Exit::usage)?;
    let added = add_customs(&mut registry, &surface, &customs, customs.schema());
    // They were read with the same tools.
    added.map_err(|faults| first(&faults))?;
    let is_left = |name: &&str| surface.offers_custom(name) && registry.find(name).is_none();
    let left = customs.query_names().filter(is_left);
    let left = left.map(str::to_owned).collect();
    Ok((registry, left))
}

/// Starts the log alone, for commands that need no wiki.
///
/// # Errors
/// The setting that is bad, with the exit code for it.
pub(super) fn start_log(usual: Option<&'static str>) -> Result<(), CommandError> {
    let settings = log_settings(&layers()?.source(), usual).map_err(Exit::usage)?;
    log::start(&settings).map_err(Exit::usage)
}

/// Starts the log on stderr, for commands that write nothing.
///
/// # Errors
/// As [`start_log`].
pub(super) fn start_log_on_stderr() -> Result<(), CommandError> {
    let settings = log_settings(&layers()?.source(), Some("warn")).map_err(Exit::usage)?;
    log::start_on_stderr(settings).map_err(Exit::usage)
}

/// All that settings are read from.
///
/// # Errors
/// The first fault of the settings file, with the exit code for it.
pub(super) fn layers() -> Result<Layers, CommandError> {
    layers_by(given())
}

/// The same by another command line.
///
/// # Errors
/// As [`layers`].
pub(super) fn layers_by(given: &CommandLineSettings) -> Result<Layers, CommandError> {
    Layers::load(given).map_err(|faults| first(&faults))
}

/// The same for a site of the settings file.
///
/// # Errors
/// The first fault of the settings file, or that it has no such site, with the exit code for it.
pub(super) fn layers_of(site: &SiteName) -> Result<Layers, CommandError> {
    let given = CommandLineSettings {
        site: Some(site.clone()),
        ..given().clone()
    };
    layers_by(&given)
}

/// A start ends with one line.
pub(super) fn first(faults: &[impl ToString]) -> CommandError {
    let told = faults.first().map_or_else(String::new, ToString::to_string);
    Exit::usage(told)
}

/// The app for an operator's command whose yes is the operator's decision: it replaces the
/// confirmation of every level but `off`, ends a dry run and passes a pause.
///
/// # Errors
/// The setting that is missing or bad, with the exit code for it.
pub(super) fn app_for_operator() -> Result<Arc<App>, CommandError> {
    app_of(Timeouts::of_command(), Policy::for_operator)
}

/// The app for a command that asks nobody: it gets what the level gives.
///
/// # Errors
/// The setting that is missing or bad, with the exit code for it.
pub(super) fn app_unattended(passes_pause: bool) -> Result<Arc<App>, CommandError> {
    app_of(Timeouts::of_command(), |policy| {
        policy.for_unattended(passes_pause)
    })
}

/// The app of a command that waits so long, with the policy that `policy` makes of the settings'.
///
/// # Errors
/// The setting that is missing or bad, with the exit code for it.
pub(super) fn app_of(
    patience: Timeouts,
    policy: impl FnOnce(Policy) -> Policy,
) -> Result<Arc<App>, CommandError> {
    let mut settings = settings_to_work_with()?;
    settings.policy = policy(settings.policy);
    let app = App::new(settings, patience).map_err(Exit::usage)?;
    check_audit_dir(app.desk.audit())?;
    Ok(Arc::new(app))
}

/// Checks that only its owner may write the directory of an audit log: others could remove or
/// replace it.
///
/// # Errors
/// Which directory, and what to do.
pub(super) fn check_audit_dir(log: &AuditLog) -> Result<(), CommandError> {
    let writable = log.upkeep.writable_by_others();
    let Some(first) = writable.first() else {
        return Ok(());
    };
    let first = print::path(first);
    Err(Exit::usage(format!(
        "WIKI_AUDIT_DIR: others than its owner may write {first}; take that away with chmod go-w {first}"
    )))
}

/// Checks what a server over HTTP checks at its start; without an address, what would stop it at
/// every address.
///
/// # Errors
/// One sentence about what would stop the start.
pub(super) fn check_http(settings: &ServeSettings) -> Result<(), String> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    check_start(settings, settings.address.unwrap_or(any))
}

words! {
    /// The commands that are on record by their names.
    #[derive(Debug, Clone, Copy)]
    pub(super) enum RecordedCommand: as_str, ALL {
        Undo = "undo",
        ProposalsApply = "proposals apply",
        ProposalsReject = "proposals reject",
        ApprovalsEnd = "approvals end",
        Review = "review",
        FilesPush = "files push",
        BinRestore = "bin restore",
        MemoryForget = "memory forget",
        MemoryRestore = "memory restore",
        MemoryImport = "memory import",
        MirrorForget = "mirror forget",
        Pause = "pause",
        Resume = "resume",
    }
}

/// The entry of a decision that the operator makes by a command.
pub(super) fn operators_entry(
    command: RecordedCommand,
    event: AuditEvent,
    decision: &str,
) -> AuditResult<AuditEntry> {
    let caller = operator(command);
    Ok(AuditEntry {
        client: Some(caller.client),
        actor: caller.actor,
        tool: Some(command.to_string()),
        gate: Some("operator".to_owned()),
        decision: Some(decision.to_owned()),
        ..AuditEntry::new(CallId::new()?, event)
    })
}

/// The end of a command whose work on the audit directory failed.
pub(super) fn failed(what: &str, error: &AuditError) -> CommandError {
    Exit::failed(format!("{what}: {error}; {}", error.hint()))
}

/// The operator as the caller of a command: a person approves no more than is shown, so all of a
/// change is.
pub(super) fn operator(command: RecordedCommand) -> Caller {
    operator_calling(command.as_str())
}

/// The operator as the caller of a tool.
pub(super) fn operator_calling(tool: &'static str) -> Caller {
    let client = Client {
        name: "wikijs-gate".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Client::default()
    };
    Caller {
        actor: Some(actor()),
        ..Caller::new(tool, client, SessionId::new("operator"))
    }
}
