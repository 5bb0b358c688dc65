//! `wikijs-gate memory list`

use std::cmp::Reverse;

use super::{MemoryCommandContext, whose};
use crate::cli::prelude::*;
use crate::cli::when::with_distance;
use crate::memory::{KEPT_DAYS, Memory, MemoryLine, MemoryPage, Timestamp, health};

/// The most characters of a text that a row shows.
const BEGINNING: usize = 60;

/// Arguments of `memory list`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate memory list\n  wikijs-gate memory list --client ci --all\n  wikijs-gate --site docs memory list --forgotten --json"
)]
pub(in crate::cli) struct Arguments {
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
    all.retain(|MemoryLine { client, memory, .. }| {
        let is_wanted = match memory.forgotten {
            Some(_) => arguments.all || arguments.forgotten,
            None => !arguments.forgotten,
        };
        is_wanted && whose::is_meant(client, arguments.client.as_deref())
    });
    all.sort_by_cached_key(|MemoryLine { client, memory, .. }| {
        let worth = u32::from(health(now, memory)) + 10 * u32::from(memory.importance);
        let whose = (client.name.clone(), client.key.clone());
        (memory.forgotten.is_some(), whose, Reverse(worth))
    });
    if arguments.json {
        let shown: Vec<_> = all.iter().map(|one| as_json(one, now)).collect();
        return print::json(&json!({ "memories": shown }));
    }
    if all.is_empty() {
        print::line("no memories");
        start::note_place(&desk.memories.dir)?;
    } else {
        table(&all, now).print();
    }
    Ok(Exit::Done)
}

fn table(all: &[MemoryLine], now: Timestamp) -> Table {
    let mut table =
        Table::new("id | type | importance | health | client | page | changed | text | restorable");
    for MemoryLine { client, memory, .. } in all {
        table.row(vec![
            memory.id.to_string().into(),
            memory.kind.as_str().into(),
            memory.importance.to_string().into(),
            health(now, memory).to_string().into(),
            print::harmless(&client.name).into(),
            memory.page.as_ref().map_or_else(String::new, place).into(),
            time(memory.changed).into(),
            beginning(&memory.content).into(),
            Cell::painted(until(memory), Paint::Yellow),
        ]);
    }
    table.leave_out_empty(&["restorable"]);
    table
}

/// A moment, for people.
pub(super) fn time(at: Timestamp) -> String {
    at.instant().map_or_else(String::new, minute)
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
    let end = memory.forgotten.map(|at| at.plus_days(KEPT_DAYS));
    let end = end.and_then(Timestamp::instant);
    end.map_or_else(String::new, with_distance)
}

/// A memory for programs.
pub(super) fn as_json(one: &MemoryLine, now: Timestamp) -> serde_json::Value {
    let more = json!({ "health": health(now, &one.memory), "client": one.client });
    extended(json!(one.memory), more)
}
