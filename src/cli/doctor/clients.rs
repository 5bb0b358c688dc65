//! Who may call over HTTP, and whose end is near?

use time::OffsetDateTime;

use super::finding::Finding;
use crate::cli::start;
use crate::cli::when::{from_now, minute};
use crate::config::ServeSettings;
use crate::gates::ends_soon;
use crate::server::http::{NamedClient, TokensFile};

const ROTATE: &str = "Run `wikijs-mcp token rotate NAME`, and give out what it prints.";

/// Findings about the named clients; none if callers need no name.
pub(super) fn found() -> Vec<Finding> {
    let settings = start::layers().ok();
    let settings = settings.and_then(|layers| ServeSettings::read(&layers.source()).ok());
    let Some(path) = settings.and_then(|settings| settings.tokens_file) else {
        return Vec::new();
    };
    let clients = match TokensFile::for_operator(path).read() {
        Err(error) => {
            return vec![Finding::wrong(
                error.to_string(),
                "Mend the file that WIKI_SERVE_TOKENS_FILE names.",
            )];
        }
        Ok(clients) => clients,
    };
    let mut found = vec![Finding::good(match clients.len() {
        0 => "the tokens file names no client yet".to_owned(),
        1 => "the tokens file names 1 client".to_owned(),
        many => format!("the tokens file names {many} clients"),
    })];
    found.extend(clients.iter().filter_map(ending));
    found
}

fn ending(client: &NamedClient) -> Option<Finding> {
    let (name, end) = (&client.name, client.expires().ok().flatten()?);
    let (away, at) = (from_now(end), minute(end));
    if end <= OffsetDateTime::now_utc() {
        let seen = format!("{name} ended {away}, at {at}; its calls are refused");
        let todo = "Run `wikijs-mcp token rotate NAME`, or `wikijs-mcp token revoke NAME`.";
        return Some(Finding::warning(seen, todo));
    }
    let seen = format!("{name} ends {away}, at {at}");
    ends_soon(end, OffsetDateTime::now_utc()).then(|| Finding::warning(seen, ROTATE))
}
