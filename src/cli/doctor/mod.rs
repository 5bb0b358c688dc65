//! `wikijs-gate doctor`: checks everything that a server needs, in order, and leaves nothing written.

mod address;
mod audit;
mod clients;
mod clock;
mod custom;
mod embeddings;
mod finding;
mod key;
mod memory;
mod mirror;
mod notify;
mod people;
mod policy;
mod report;
mod rights;
mod rules;
mod site;
mod tools;

use std::pin::Pin;
use std::time::Duration;

use tokio::time::Instant;

use crate::audit::AuditLog;
use crate::cli::prelude::*;
use crate::config::{KeySource, Settings};
use crate::gates::Policy;
use crate::server::settings_digest;
use crate::site::SiteName;
use crate::tools::{ToolSelection, Toolset};
use crate::wiki::{Reached, Wiki, WikiSettings};
use finding::{DoctorFinding, FindingLevel};
use report::DoctorReport;

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate doctor\n  wikijs-gate doctor --page docs/configuration --json"
)]
pub(super) struct Arguments {
    /// The page at which to check the key's rights: its path, address or title; by default the last
    /// changed page, below the first allowed prefix
    #[arg(long, value_name = "REFERENCE")]
    page: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// The checks after the settings.
const OTHERS: [&str; 9] = [
    "address", "key", "rights", "locales", "search", "policy", "rules", "audit", "clock",
];

pub(super) async fn run(arguments: Arguments) -> CommandResult {
    examine(
        start::settings_to_look_at(),
        arguments.page.as_deref(),
        arguments.json,
    )
    .await
}

/// Checks one site.
pub(super) async fn of_site(name: SiteName, is_json: bool) -> CommandResult {
    start::start_log_on_stderr()?;
    let layers = start::layers_of(&name)?;
    let settings = start::settings_of(&layers, false);
    let settings = settings.map(|mut settings| settings.swap_remove(0));
    examine(settings, None, is_json).await
}

async fn examine(
    settings: Result<Settings, CommandError>,
    page: Option<&str>,
    is_json: bool,
) -> CommandResult {
    let mut report = DoctorReport::new(is_json);
    match settings {
        Err(CommandError { message, .. }) => {
            report.add(
                "settings",
                [DoctorFinding::wrong(message, "Correct this setting.")],
            );
            for check in OTHERS {
                report.add(check, [DoctorFinding::skipped("because of the settings")]);
            }
        }
        Ok(settings) => Box::pin(look(settings, page, &mut report)).await?,
    }
    report.print();
    Ok(report.exit())
}

/// A fault of a wiki's address or of its key.
#[derive(Debug)]
pub(in crate::cli) struct AccessFault {
    /// True if the key is at fault; the address is good then.
    pub(in crate::cli) is_key: bool,
    /// The fault, as it was seen.
    pub(in crate::cli) seen: String,
    /// The advice on how to mend it.
    pub(in crate::cli) todo: String,
}

/// Asks a wiki whether address and key are good; nothing if they are.
///
/// # Errors
/// One sentence, if it cannot be asked with these settings.
pub(in crate::cli) async fn test_connection(
    mut settings: WikiSettings,
) -> Result<Option<AccessFault>, String> {
    let time = Time::until(settings.retry.total);
    settings.retry.retries = 0;
    // It is asked for here, and no server runs yet.
    let advice = "give that one to this command";
    let wiki = Wiki::quiet(settings, "config init")?;
    let reached = time.give("address", Box::pin(wiki.reach())).await;
    let found = match &reached {
        None => vec![time.is_up()],
        Some(reached) => vec![address::found(&wiki, reached)],
    };
    let Some(Ok(reached)) = reached else {
        return Ok(wrong_of(found, false));
    };
    let found = time
        .give("key", Box::pin(key::found(&wiki, advice, &reached)))
        .await;
    let (is_good, found) = found.unwrap_or_else(|| (false, vec![time.is_up()]));
    Ok(wrong_of(found, true).filter(|_| !is_good))
}

fn wrong_of(found: Vec<DoctorFinding>, is_key: bool) -> Option<AccessFault> {
    let wrong = |finding: &DoctorFinding| finding.verdict == FindingLevel::Wrong;
    let finding = found.into_iter().find(wrong)?;
    Some(AccessFault {
        is_key,
        seen: finding.seen,
        todo: finding.todo.unwrap_or_default(),
    })
}

async fn look(
    settings: Settings,
    page: Option<&str>,
    report: &mut DoctorReport,
) -> Result<(), CommandError> {
    report.add("settings", settings_found(&settings));
    let time = Time::until(settings.wiki.retry.total);
    let digest = digest_found(&settings);
    let (policy, surface, store) = (settings.policy, settings.surface, settings.store);
    let (anchors, told) = (settings.anchors, settings.notify);
    let remembers = surface.has_any_of(Toolset::Memory);
    let source = settings.key_source;
    let customs = settings.customs;
    let serve = settings.serve;
    let mut wiki = settings.wiki;
    // What is seen at the first try is what counts.
    wiki.retry.retries = 0;
    let name = wiki.name.clone();
    let wiki = Wiki::quiet(wiki, "doctor").map_err(Exit::usage)?;

    let reached = time.give("address", Box::pin(wiki.reach())).await;
    let found = reached
        .as_ref()
        .map(|reached| address::found(&wiki, reached));
    report.add("address", [found.unwrap_or_else(|| time.is_up())]);
    let reached = reached.and_then(Result::ok);
    if let Some(reached) = &reached {
        let offered = (&policy, &surface);
        Box::pin(ask(&wiki, &source, reached, offered, page, &time, report)).await;
    } else {
        for check in ["key", "rights", "locales", "search"] {
            report.add(check, [DoctorFinding::skipped("because of the address")]);
        }
    }
    if customs.names().next().is_some() {
        let found = custom::found(&wiki, &surface, &customs, reached.is_some());
        let found = time.give("custom tools", Box::pin(found)).await;
        report.add("custom tools", found.unwrap_or_else(|| vec![time.is_up()]));
    }
    report.add("policy", policy::found(&policy, &surface));
    report.add("policy", policy::paused(policy.pauses.look().as_ref()));
    report.add("policy", digest);
    report.add("rules", rules::found(&policy));
    if !told.is_empty() {
        report.add("notify", notify::found(&told));
    }
    report.add(
        "audit",
        print::in_progress("audit", audit::found(&store, &name, anchors.as_ref())).await,
    );
    let log = AuditLog::new(store, &name);
    if remembers {
        report.add("memory", [memory::found(&log, settings.memory).await]);
    }
    if let Some(settings) = settings.mirror {
        report.add("mirror", [mirror::found(&log, settings).await]);
    }
    if let Some(endpoint) = settings.index.embeddings {
        report.add("embeddings", [embeddings::found(&endpoint).await]);
    }
    report.add("clients", clients::found(surface.has("wikijs_delegate")));
    if serve.oauth.is_some() {
        report.add("people", Box::pin(people::found(&serve)).await);
    }
    report.add("clock", [clock::found(reached.as_ref())]);
    Ok(())
}

/// Runs the checks that need an answering wiki: key, rights, locales and search.
async fn ask(
    wiki: &Wiki,
    source: &KeySource,
    reached: &Reached,
    offered: (&Policy, &ToolSelection),
    page: Option<&str>,
    time: &Time,
    report: &mut DoctorReport,
) {
    let found = time
        .give("key", Box::pin(key::found(wiki, &source.advice(), reached)))
        .await;
    let (is_good, found) = found.unwrap_or_else(|| (false, vec![time.is_up()]));
    report.add("key", found);
    if !is_good {
        report.add("rights", [DoctorFinding::skipped("because of the key")]);
        report.add("locales", [site::locales(wiki, reached)]);
        report.add("search", [DoctorFinding::skipped("because of the key")]);
        return;
    }
    let found = time
        .give("rights", Box::pin(rights::found(wiki, offered, page)))
        .await;
    let (found, seen) = found.unwrap_or_else(|| (vec![time.is_up()], None));
    report.add("rights", found);
    report.rights = seen;
    report.show_rights();
    report.add("locales", [site::locales(wiki, reached)]);
    let found = time.give("search", Box::pin(site::search(wiki))).await;
    report.add("search", [found.unwrap_or_else(|| time.is_up())]);
}

/// The digest by which the replicas of a server over HTTP are compared.
fn digest_found(settings: &Settings) -> Option<DoctorFinding> {
    settings.serve.address?;
    let layers = start::layers().ok()?;
    let digest = if layers.every().len() > 1 {
        settings_digest(&Settings::load_every(&layers).ok()?)
    } else {
        settings_digest(std::slice::from_ref(settings))
    };
    let seen = format!("replicas of one server have these settings if /readyz shows {digest}");
    Some(DoctorFinding::good(seen))
}

fn settings_found(settings: &Settings) -> Vec<DoctorFinding> {
    let seen = format!(
        "the wiki is {}, locale {}",
        settings.wiki.base_url, settings.wiki.default_locale
    );
    let warnings = settings.warnings.iter();
    let warnings = warnings.map(|warning| DoctorFinding::warning(warning.clone(), None));
    let http = start::check_http(&settings.serve).err();
    let http = http.map(|fault| DoctorFinding::wrong(fault, "Correct this before `serve --http`."));
    std::iter::once(DoctorFinding::good(seen))
        .chain(warnings)
        .chain(http)
        .collect()
}

/// The time that all questions to the wiki have together: what one read with its tries has.
struct Time {
    end: Instant,
    total: Duration,
}

impl Time {
    fn until(total: Duration) -> Self {
        Self {
            end: Instant::now() + total,
            total,
        }
    }

    /// Runs a check; `None` if the time is up.
    async fn give<T>(&self, check: &str, found: Pin<Box<impl Future<Output = T>>>) -> Option<T> {
        let found = tokio::time::timeout_at(self.end, found);
        print::in_progress(check, found).await.ok()
    }

    fn is_up(&self) -> DoctorFinding {
        DoctorFinding::wrong(
            format!(
                "all answers of the wiki together took longer than {} ms",
                self.total.as_millis()
            ),
            "Find out what makes the wiki slow, or raise WIKI_HTTP_RETRY_TOTAL_MS.",
        )
    }
}
