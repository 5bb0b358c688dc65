//! `wikijs-mcp token list`: all clients.

use serde_json::json;
use time::OffsetDateTime;

use super::super::Outcome;
use super::super::exit::Exit;
use super::super::print::{self, Paint};
use super::super::table::{Cell, Table};
use super::super::when::{from_now, minute};
use super::failed;
use crate::server::http::{ClientConfirm, Grant, NamedClient, TokensFile};

pub(super) fn list(file: &TokensFile, is_json: bool) -> Outcome {
    let clients = file.read().map_err(failed(file))?;
    if is_json {
        let shown = clients.iter().map(|client| {
            json!({ "name": client.name, "id": client.id(), "role": client.role(), "created": client.created, "may": client.may, "expired": has_ended(client) })
        });
        let shown: Vec<_> = shown.collect();
        print::line(&json!({ "clients": shown }).to_string());
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["name", "role", "id", "created", "expires", "may do less"]);
    for client in &clients {
        let end = client.expires().ok().flatten();
        let expires = match end {
            None => "never".into(),
            Some(end) if has_ended(client) => {
                Cell::painted(format!("ended {}", from_now(end)), Paint::Red)
            }
            Some(end) => format!("{}, {}", from_now(end), minute(end)).into(),
        };
        let (name, created) = (client.name.clone(), client.created.clone());
        table.row(vec![
            name.into(),
            client.role().as_str().into(),
            client.id().to_string().into(),
            created.into(),
            expires,
            less(&client.may).into(),
        ]);
    }
    table.print();
    Ok(Exit::Done)
}

fn has_ended(client: &NamedClient) -> bool {
    let end = client.expires().ok().flatten();
    end.is_some_and(|end| end <= OffsetDateTime::now_utc())
}

/// What a client may do less than the server, in words.
fn less(may: &Grant) -> String {
    let words = [
        may.read_only.then(|| "reads only".to_owned()),
        may.tools
            .as_ref()
            .map(|tools| format!("tools {}", tools.join(" "))),
        may.prefixes
            .as_ref()
            .map(|all| format!("writes below {}", all.join(" "))),
        may.read_prefixes
            .as_ref()
            .map(|all| format!("reads below {}", all.join(" "))),
        may.denied_read_prefixes
            .as_ref()
            .map(|all| format!("reads nothing below {}", all.join(" "))),
        may.denied_read_tags
            .as_ref()
            .map(|all| format!("reads nothing tagged {}", all.join(" "))),
        may.dry_run.then(|| "dry run".to_owned()),
        may.confirm
            .map(|ClientConfirm::Person| "a person confirms".to_owned()),
        may.may_apply_in_dry_run
            .then(|| "applies in a dry run".to_owned()),
        may.rate.map(|rate| format!("{rate} a minute")),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    print::harmless(&words.join(", "))
}
