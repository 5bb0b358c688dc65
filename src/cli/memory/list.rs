//! `wikijs-gate memory list`

use serde_json::json;

use super::super::CommandResult;
use super::super::print::{self, Paint};
use super::super::table::{Cell, Table};
use super::super::when::{from_now, minute};
use super::{Exit, MemoryCommandContext, whose};
use crate::memory::{KEPT_DAYS, Memory, MemoryOwner, MemoryPage, Timestamp, health};

/// The most characters of a text that a row shows.
const BEGINNING: usize = 60;

/// Arguments of `memory list`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate memory list\n  wikijs-gate memory list --client ci --all\n  wikijs-gate --site docs memory list --forgotten --json"
)]
pub(super) struct Arguments {
    /// Only memories of this client, by its name or identity
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// Only what was forgotten or superseded and can be restored
    #[arg(long, conflicts_with = "all")]
    forgotten: bool,
    /// Also what was forgotten or superseded
    #[arg(long)]
    all: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(desk: &MemoryCommandContext, arguments: Arguments) -> CommandResult {
    let now = Timestamp::now();
    let mut all = desk.all().await?;
    all.retain(|(owner, memory)| {
        let is_wanted = match memory.gone {
            Some(_) => arguments.all || arguments.forgotten,
            None => !arguments.forgotten,
        };
        is_wanted && whose::is_meant(owner, arguments.client.as_deref())
    });
    let worth = |memory: &Memory| {
        let health = u32::from(health(now, memory.used, memory.uses));
        health.saturating_add(u32::from(memory.importance).saturating_mul(10))
    };
    all.sort_by(|(a, one), (b, other)| {
        let order = (one.gone.is_some(), a.name.as_str(), a.key.as_str());
        order
            .cmp(&(other.gone.is_some(), b.name.as_str(), b.key.as_str()))
            .then_with(|| worth(other).cmp(&worth(one)))
    });
    if arguments.json {
        let shown: Vec<_> = all
            .iter()
            .map(|(owner, memory)| as_json(owner, memory, now))
            .collect();
        print::line(&json!({ "memories": shown }).to_string());
    } else if all.is_empty() {
        print::line("no memories");
        print::note(&format!(
            "looked for in {}",
            print::path(desk.memories.file())
        ));
    } else {
        table(&all, now).print();
    }
    Ok(Exit::Done)
}

fn table(all: &[(MemoryOwner, Memory)], now: Timestamp) -> Table {
    let has_gone = all.iter().any(|(_, memory)| memory.gone.is_some());
    let mut head = vec![
        "id",
        "type",
        "importance",
        "health",
        "client",
        "page",
        "changed",
        "text",
    ];
    if has_gone {
        head.push("restorable");
    }
    let mut table = Table::new(&head);
    for (owner, memory) in all {
        let mut row: Vec<Cell> = vec![
            memory.id.to_string().into(),
            memory.kind.as_str().into(),
            memory.importance.to_string().into(),
            health(now, memory.used, memory.uses).to_string().into(),
            print::harmless(&owner.name).into(),
            memory.page.as_ref().map_or_else(String::new, place).into(),
            memory
                .changed
                .instant()
                .map_or_else(String::new, minute)
                .into(),
            beginning(&memory.content).into(),
        ];
        if has_gone {
            row.push(Cell::painted(until(memory), Paint::Yellow));
        }
        table.row(row);
    }
    table
}

/// The address of a page when it was remembered.
pub(super) fn place(page: &MemoryPage) -> String {
    print::place(page.locale.as_str(), page.path.as_str())
}

/// The begin of a text, in one line.
fn beginning(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut begins: String = line.chars().take(BEGINNING).collect();
    if begins.len() < line.len() {
        begins.push('…');
    }
    print::harmless(&begins)
}

/// The time until which a forgotten memory can be restored, in words.
pub(super) fn until(memory: &Memory) -> String {
    let end = memory
        .gone
        .and_then(|gone| gone.at.plus_days(KEPT_DAYS).instant());
    end.map_or_else(String::new, |end| {
        if end <= time::OffsetDateTime::now_utc() {
            "until it is purged".to_owned()
        } else {
            format!("{}, {}", from_now(end), minute(end))
        }
    })
}

/// A memory for programs.
pub(super) fn as_json(owner: &MemoryOwner, memory: &Memory, now: Timestamp) -> serde_json::Value {
    json!({
        "id": memory.id,
        "type": memory.kind,
        "importance": memory.importance,
        "health": health(now, memory.used, memory.uses),
        "client": owner.key,
        "name": owner.name,
        "by": memory.author,
        "content": memory.content,
        "page": memory.page,
        "created": memory.created.date(),
        "changed": memory.changed.date(),
        "used": memory.used.date(),
        "uses": memory.uses,
        "forgotten": memory.gone.map(|gone| gone.at.date()),
        "supersededBy": memory.gone.and_then(|gone| gone.by),
        "restorableUntil": memory.gone.map(|gone| gone.at.plus_days(KEPT_DAYS).date()),
    })
}
