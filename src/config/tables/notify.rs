//! `[[notify]]`: whom to notify when something waits for people or went wrong.

use std::path::Path;

use secrecy::SecretString;
use url::Url;

use super::check::{command, name, timeout};
use super::row::TableReader;
use super::schema;
use crate::checks::CheckCommand;
use crate::notify::{NotifyTarget, NotifyTo, Occasion};

/// The most `[[notify]]` tables.
const MOST: usize = 10;

/// Reads all `[[notify]]` tables.
pub(super) fn read(whole: &mut TableReader<'_>, file: &Path) -> Vec<NotifyTarget> {
    whole.named_rows(
        ("notify", "notify tables", MOST),
        |row| target(row, file),
        |target| &target.name,
    )
}

fn target(row: &mut TableReader<'_>, file: &Path) -> Option<NotifyTarget> {
    row.unknown(&schema::notify(), "/items");
    let name = name(row);
    let on = row.words("on", Occasion::ALL.map(|one| (one.as_str(), one)));
    let address = row.parsed("url", address);
    let command = command(row, file);
    let timeout = timeout(row);
    row.needs(&["name"]);
    if row.has("url") == row.has("argv") {
        row.fault("a notify needs either url or argv");
    }
    for member in ["cwd", "env"] {
        if row.has("url") && row.has(member) {
            row.fault(format!("a notify with url takes no {member}"));
        }
    }
    let name = name?;
    let command = command.map(|command| CheckCommand {
        name: name.clone(),
        timeout,
        ..command
    });
    let to = address.map(NotifyTo::Address);
    Some(NotifyTarget {
        to: to.or(command.map(NotifyTo::Command))?,
        name,
        on: on.unwrap_or_else(|| Occasion::ALL.into()),
        timeout,
    })
}

/// An address, which may hold a secret: no fault repeats it.
fn address(text: &str) -> Result<SecretString, String> {
    let url = Url::parse(text).ok();
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    if url.as_ref().is_some_and(is_web) {
        Ok(text.into())
    } else {
        Err("must be an http or https address".to_owned())
    }
}
