//! `[[notify]]`: whom to notify when something waits for people or went wrong.

use std::path::Path;

use secrecy::SecretString;
use toml::de::DeTable;
use url::Url;

use super::check::{command, name, timeout};
use super::row::{ArrayTable, Sift, TableFault, rows, word};
use super::schema;
use crate::checks::CheckCommand;
use crate::notify::{NotifyTarget, NotifyTo, Occasion};

/// The most `[[notify]]` tables.
const MOST: usize = 10;

/// Reads all `[[notify]]` tables.
pub(super) fn read(
    table: &DeTable<'_>,
    file: &Path,
    faults: &mut Vec<TableFault>,
) -> Vec<NotifyTarget> {
    let mut targets: Vec<NotifyTarget> = Vec::new();
    for row in rows(table, "notify", faults) {
        match target(&row, file) {
            Ok(target) if targets.iter().any(|other| other.name == target.name) => {
                let fault = format!("two notify tables have the name {:?}", target.name);
                faults.push((Some(row.span()), fault));
            }
            Ok(target) => targets.push(target),
            Err(found) => faults.extend(found),
        }
    }
    if targets.len() > MOST {
        faults.push((None, format!("there are more than {MOST} notify tables")));
    }
    targets
}

fn target(row: &ArrayTable<'_, '_>, file: &Path) -> Result<NotifyTarget, Vec<TableFault>> {
    let mut faults = row.unknown(&schema::notify(), "/items");
    let mut sift = Sift(&mut faults);
    let name = sift.take(name(row));
    let on = sift.take(row.list("on", |text| {
        word(text, Occasion::ALL.map(|one| (one.as_str(), one)))
    }));
    let address = sift.take(row.parsed("url", address));
    let command = command(row, &mut sift, file);
    let timeout = sift.take(timeout(row).map(Some));
    row.needs(&["name"], &mut faults);
    let is_one = row.get("url").is_some() != row.get("argv").is_some();
    if !is_one {
        faults.push((
            Some(row.span()),
            "a notify needs either url or argv".to_owned(),
        ));
    }
    for member in ["cwd", "env"] {
        if row.get("url").is_some() && row.get(member).is_some() {
            let fault = format!("a notify with url takes no {member}");
            faults.push((Some(row.span()), fault));
        }
    }
    let (true, Some(name), Some(timeout)) = (faults.is_empty(), name, timeout) else {
        return Err(faults);
    };
    let command = command.map(|command| CheckCommand {
        name: name.clone(),
        timeout,
        ..command
    });
    let to = address.map(NotifyTo::Address);
    let Some(to) = to.or(command.map(NotifyTo::Command)) else {
        return Err(faults);
    };
    Ok(NotifyTarget {
        to,
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
