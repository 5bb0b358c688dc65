//! Checks named HTTP clients and tokens that expire soon.

use time::OffsetDateTime;

use super::finding::DoctorFinding;
use crate::cli::prelude::*;
use crate::config::{ServeSettings, store_home};
use crate::gates::ends_soon;
use crate::server::http::{KeptDelegates, NamedClient, TokensFile};

const ROTATE: &str = "Run `wikijs-gate token rotate NAME`, and give out what it prints.";

/// The advice if the toolset `delegate` is on but offered to nobody.
const NAMES: &str = "Set WIKI_SERVE_TOKENS_FILE for a server over HTTP, or leave the toolset out.";

/// Findings about the named clients; none if callers need no name and do not delegate.
pub(super) fn found(delegates: bool) -> Vec<DoctorFinding> {
    let layers = start::layers().ok();
    let read = layers.as_ref().map(|layers| layers.source());
    let settings = read
        .as_ref()
        .and_then(|source| ServeSettings::read(source).ok());
    let has_caller_keys = settings
        .as_ref()
        .is_some_and(|settings| settings.has_caller_keys);
    let nobody = |why: &str| {
        let seen =
            format!("the toolset delegate is on, but {why}: over HTTP its tools are not offered");
        DoctorFinding::warning(seen, NAMES)
    };
    let Some(path) = settings.and_then(|settings| settings.tokens_file) else {
        let vain = delegates.then(|| nobody("callers have no names"));
        return vain.into_iter().collect();
    };
    let file = TokensFile::for_operator(path);
    let clients = match file.read() {
        Err(error) => {
            return vec![DoctorFinding::wrong(
                error.to_string(),
                "Mend the file that WIKI_SERVE_TOKENS_FILE names.",
            )];
        }
        Ok(clients) => clients,
    };
    let mut found = vec![DoctorFinding::good(match clients.len() {
        0 => "the tokens file names no client yet".to_owned(),
        some => format!(
            "the tokens file names {}",
            print::counted(some, "client", "clients")
        ),
    })];
    found.extend(clients.iter().filter_map(ending));
    if delegates && has_caller_keys {
        found.push(nobody("each caller brings a key of its own"));
    }
    let home = read.and_then(|source| store_home(&source).ok());
    let faults = home.map(|home| KeptDelegates::new(&home).all());
    let faults = faults.map_or_else(Vec::new, |all| all.map_or_else(|it| vec![it], |all| all.1));
    found.extend(faults.into_iter().map(|fault| {
        let todo =
            "Clients make their delegates anew; a damaged document that is two days old goes then.";
        DoctorFinding::wrong(format!("a delegate is not let in: {fault}"), todo)
    }));
    found
}

fn ending(client: &NamedClient) -> Option<DoctorFinding> {
    let (name, end) = (&client.name, client.expires().ok().flatten()?);
    let (away, at) = (from_now(end), minute(end));
    if end <= OffsetDateTime::now_utc() {
        let seen = format!("{name} ended {away}, at {at}; its calls are refused");
        let todo = "Run `wikijs-gate token rotate NAME`, or `wikijs-gate token revoke NAME`.";
        return Some(DoctorFinding::warning(seen, todo));
    }
    let seen = format!("{name} ends {away}, at {at}");
    ends_soon(end, OffsetDateTime::now_utc()).then(|| DoctorFinding::warning(seen, ROTATE))
}
