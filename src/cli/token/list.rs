//! `wikijs-gate token list`: all clients.

use std::collections::HashMap;
use std::sync::Arc;

use time::{Duration, OffsetDateTime};

use super::failed;
use crate::audit::{ClientId, StoreHome};
use crate::cli::prelude::*;
use crate::cli::when::{rfc3339, with_distance};
use crate::gates::ends_soon;
use crate::review::{SignInRecord, SignIns};
use crate::server::http::{
    ClientConfirm, DelegateRecord, Grant, KeptDelegates, LastUses, NamedClient, TokensFile,
};

pub(super) fn list(file: &TokensFile, home: &StoreHome, is_json: bool) -> CommandResult {
    let clients = file.read().map_err(failed(file))?;
    let used = Used(LastUses::new(home).all());
    let delegates = KeptDelegates::new(home).all();
    let (delegates, faults) = delegates.unwrap_or_else(|error| (Vec::new(), vec![error]));
    for fault in faults {
        remark!("A delegate is not let in: {fault}.");
    }
    let sessions = sessions(&SignIns::new(home));
    if is_json {
        let shown = clients.iter().map(|client| {
            json!({
                "name": client.name,
                "id": client.id,
                "role": client.role,
                "created": client.created,
                "lastUse": rfc3339(used.last_call(client.id)),
                "may": client.may,
                "expired": has_ended(client),
                "endsSoon": soon(client).is_some(),
            })
        });
        let shown: Vec<_> = shown.collect();
        let family: Vec<_> = delegates.iter().map(|one| used.as_json(one)).collect();
        let sessions: Vec<_> = sessions.iter().map(session_as_json).collect();
        let all = json!({ "clients": shown, "delegates": family, "sessions": sessions });
        return print::json(&all);
    }
    let mut table = Table::new("name | role | id | created | last use | expires | may do less");
    for client in &clients {
        let end = client.expires().ok().flatten();
        let expires = match end {
            None => "never".into(),
            Some(end) if has_ended(client) => {
                Cell::painted(format!("ended {}", from_now(end)), Paint::Red)
            }
            Some(end) if ends_soon(end, OffsetDateTime::now_utc()) => {
                Cell::painted(with_distance(end), Paint::Yellow)
            }
            Some(end) => with_distance(end).into(),
        };
        let (name, created) = (client.name.clone(), client.created.clone());
        table.row(vec![
            name.into(),
            client.role.as_str().into(),
            client.id.to_string().into(),
            created.into(),
            used.told(client.id).into(),
            expires,
            less(&client.may).into(),
        ]);
        let own = |one: &&Arc<DelegateRecord>| one.client.parent == Some(client.id);
        for one in delegates.iter().filter(own) {
            table.row(used.row(one, "  "));
        }
    }
    let is_left = |one: &&Arc<DelegateRecord>| {
        let parent = one.client.parent;
        !clients.iter().any(|client| Some(client.id) == parent)
    };
    for one in delegates.iter().filter(is_left) {
        table.row(used.row(one, ""));
    }
    for session in &sessions {
        table.row(session_row(session));
    }
    table.print();
    for client in &clients {
        if let Some(end) = soon(client) {
            let (name, away) = (&client.name, from_now(end));
            remark!("{name} ends {away}: `wikijs-gate token rotate {name}` gives it another end.");
        }
    }
    Ok(Exit::Done)
}

/// The sessions of people at the review page, and links that wait to be used, by the names that `token revoke` takes, the newest first.
fn sessions(sign_ins: &SignIns) -> Vec<(String, SignInRecord)> {
    let all = sign_ins.all().unwrap_or_else(|error| {
        remark!("The sessions of people cannot be read: {error}.");
        Vec::new()
    });
    let now = OffsetDateTime::now_utc();
    let open = all.into_iter().filter(|(_, record)| !record.is_over(now));
    let named =
        open.map(|(id, record)| (format!("{}/{}", record.name(), SignIns::short(&id)), record));
    let mut named: Vec<_> = named.collect();
    named.sort_by_key(|(_, record)| std::cmp::Reverse(record.opened()));
    named
}

/// A session in the list.
fn session_row((name, record): &(String, SignInRecord)) -> Vec<Cell> {
    let told = |at: Option<OffsetDateTime>| at.map_or_else(String::new, from_now);
    let ends = record.ends().map(with_distance);
    let created = rfc3339(record.opened());
    vec![
        print::harmless(name).into(),
        if record.is_unused() {
            "link"
        } else {
            "session"
        }
        .into(),
        "".into(),
        created.unwrap_or_default().into(),
        told(record.used()).into(),
        ends.unwrap_or_default().into(),
        "the review page".into(),
    ]
}

fn session_as_json((name, record): &(String, SignInRecord)) -> Value {
    json!({
        "name": name,
        "isUnusedLink": record.is_unused(),
        "created": rfc3339(record.opened()),
        "lastUse": rfc3339(record.used()),
        "ends": rfc3339(record.ends()),
    })
}

/// The time of each client's last call, if a server noted it.
struct Used(Option<HashMap<String, OffsetDateTime>>);

impl Used {
    fn last_call(&self, id: ClientId) -> Option<OffsetDateTime> {
        self.0.as_ref()?.get(&id.to_string()).copied()
    }

    fn told(&self, id: ClientId) -> String {
        match (&self.0, self.last_call(id)) {
            (None, _) => "not known".to_owned(),
            (Some(_), None) => "none yet".to_owned(),
            (Some(_), Some(at)) if OffsetDateTime::now_utc() - at < Duration::MINUTE => {
                "just now".to_owned()
            }
            (Some(_), Some(at)) => from_now(at),
        }
    }

    /// A delegate: indented, where it stands below its maker.
    fn row(&self, one: &DelegateRecord, indent: &str) -> Vec<Cell> {
        let expires = match one.client.may.ends() {
            Ok(Some(end)) if one.lasts(OffsetDateTime::now_utc()) => with_distance(end).into(),
            _ => Cell::painted("ended".to_owned(), Paint::Dim),
        };
        let (writes, most) = (one.used, one.writes);
        let counted = if one.client.may.read_only {
            String::new()
        } else {
            format!(", {writes} of {most} changes")
        };
        let task = print::harmless(one.task.as_str());
        vec![
            format!("{indent}{}", one.name()).into(),
            "delegate".into(),
            one.id().to_string().into(),
            one.client.created.clone().into(),
            self.told(one.id()).into(),
            expires,
            format!("{}{counted}; for \"{task}\"", less(&one.client.may)).into(),
        ]
    }

    fn as_json(&self, one: &DelegateRecord) -> Value {
        let (writes, most) = (one.used, one.writes);
        json!({
            "name": one.name(),
            "id": one.id(),
            "parent": one.client.parent,
            "task": one.task.as_str(),
            "created": one.client.created,
            "lastUse": rfc3339(self.last_call(one.id())),
            "may": one.client.may,
            "writesUsed": writes,
            "writes": most,
        })
    }
}

/// The end of a client, if it is soon.
fn soon(client: &NamedClient) -> Option<OffsetDateTime> {
    let end = client.expires().ok().flatten();
    end.filter(|end| ends_soon(*end, OffsetDateTime::now_utc()))
}

fn has_ended(client: &NamedClient) -> bool {
    let end = client.expires().ok().flatten();
    end.is_some_and(|end| end <= OffsetDateTime::now_utc())
}

/// The restrictions of a client's grant, in words.
fn less(may: &Grant) -> String {
    let all = |word: &str, all: &Option<Vec<String>>| {
        let all = all.as_ref()?;
        Some(format!("{word} {}", all.join(" ")))
    };
    let words = [
        all("sees", &may.sites),
        may.read_only.then(|| "reads only".to_owned()),
        all("tools", &may.tools),
        all("writes below", &may.prefixes),
        all("reads below", &may.read_prefixes),
        all("reads nothing below", &may.denied_read_prefixes),
        all("reads nothing tagged", &may.denied_read_tags),
        may.dry_run.then(|| "dry run".to_owned()),
        may.confirm
            .map(|ClientConfirm::Person| "a person confirms".to_owned()),
        may.may_apply_in_dry_run
            .then(|| "applies in a dry run".to_owned()),
        may.rate.map(|rate| format!("{rate} a minute")),
    ];
    print::harmless(&separated(words.into_iter().flatten(), ", "))
}
