//! `wikijs-gate site list`: every site, asked at the same time.

use std::time::Duration;

use futures_util::future::join_all;
use serde::Serialize;

use super::super::print::harmless;
use crate::audit::AuditLog;
use crate::cli::prelude::*;
use crate::config::{Layers, Settings};
use crate::index::{self, IndexMode};
use crate::site::SiteName;
use crate::wiki::{ListQuery, Wiki, in_words};

/// The time limit for a site's answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The state of a site, as far as it is known.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct SiteStatus {
    /// None for the wiki of no table.
    name: Option<String>,
    address: Option<String>,
    /// The fault of the settings, the address or the key, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    /// The rights of the key at the page that was changed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    rights: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_ends_in: Option<String>,
    index: String,
    open_sets: Option<usize>,
}

pub(super) async fn run(is_json: bool) -> CommandResult {
    start::start_log(Some("warn"))?;
    let layers = start::layers()?;
    let every = layers.every();
    let asked = join_all(every.iter().map(seen));
    let all = print::in_progress("asking the wikis", asked).await;
    if is_json {
        print::value(&json!({ "sites": all }));
    } else if all.is_empty() {
        print::line("there is no site; `wikijs-gate site add NAME` adds one");
    } else {
        let mut table = Table::new("site | address | answers | key | index | open sets");
        for site in &all {
            let answers = match &site.fault {
                None => Cell::painted("yes", Paint::Green),
                Some(fault) => Cell::painted(harmless(fault), Paint::Red),
            };
            let ends = site.key_ends_in.as_ref();
            let ends = ends.map(|left| format!("ends in {left}"));
            let key = separated(site.rights.iter().cloned().chain(ends), ", ");
            table.row(vec![
                site.name.clone().unwrap_or_else(|| "-".to_owned()).into(),
                harmless(site.address.as_deref().unwrap_or("-")).into(),
                answers,
                key.into(),
                site.index.clone().into(),
                site.open_sets
                    .map_or_else(|| "?".to_owned(), |sets| sets.to_string())
                    .into(),
            ]);
        }
        table.print();
    }
    let are_good = all.iter().all(|site| site.fault.is_none());
    Ok(if are_good { Exit::Done } else { Exit::Failed })
}

async fn seen(layers: &Layers) -> SiteStatus {
    let mut seen = SiteStatus {
        name: layers.site().map(SiteName::to_string),
        index: "-".to_owned(),
        ..SiteStatus::default()
    };
    let read = {
        let layers = layers.clone();
        // Reading may run the command of a key.
        crate::blocking::run(move || Settings::load(&layers)).await
    };
    let settings = match read {
        Some(Ok(settings)) => settings,
        Some(Err(faults)) => {
            seen.fault = faults.first().map(ToString::to_string);
            return seen;
        }
        None => {
            seen.fault = Some("the settings could not be read".to_owned());
            return seen;
        }
    };
    seen.address = Some(settings.wiki.base_url.to_string());
    let log = AuditLog::new(settings.store.clone(), &settings.wiki.name);
    let open = log.proposals.all().await.ok();
    seen.open_sets = open.map(|all| all.iter().filter(|set| set.is_open()).count());
    seen.index = index_of(&settings);
    let mut of_wiki = settings.wiki;
    of_wiki.retry.retries = 0;
    match Wiki::quiet(of_wiki, "site list") {
        Err(fault) => seen.fault = Some(fault),
        Ok(wiki) => match tokio::time::timeout(PATIENCE, ask(&wiki, &mut seen)).await {
            Ok(()) => {}
            Err(_) => seen.fault = Some(format!("no answer within {} s", PATIENCE.as_secs())),
        },
    }
    seen
}

/// Asks a wiki whether it knows the key, and what the key may do.
async fn ask(wiki: &Wiki, seen: &mut SiteStatus) {
    if let Err(error) = wiki.answers(Duration::ZERO, PATIENCE).await {
        seen.fault = Some(error.to_string());
        return;
    }
    seen.key_ends_in = wiki.key().left().map(in_words);
    let Ok(found) = wiki.list(&ListQuery::newest_first(), 1).await else {
        return;
    };
    seen.rights = wiki.rights_in_words(found.pages.first()).await.ok();
}

/// The state of a site's index, in words.
fn index_of(settings: &Settings) -> String {
    match settings.index.mode {
        IndexMode::Off => "off".to_owned(),
        IndexMode::Memory => "in memory".to_owned(),
        IndexMode::Disk => {
            let file = settings.index.file(&settings.wiki, &settings.wiki.key);
            match file.map(|file| index::pages_in(&file)) {
                Some(Ok(pages)) => format!("{pages} pages on disk"),
                _ => "none yet".to_owned(),
            }
        }
    }
}
