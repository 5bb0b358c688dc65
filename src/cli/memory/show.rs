//! `wikijs-gate memory show`

use super::MemoryCommandContext;
use super::list::{self, time};
use crate::cli::prelude::*;
use crate::memory::{MemoryLine, Timestamp, health};

/// Arguments of `memory show`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate memory show 4f2a\n  wikijs-gate memory show 4f2a --json"
)]
pub(in crate::cli) struct Arguments {
    /// The memory's id, or four or more of its first characters
    #[arg(value_name = "ID")]
    id: String,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(desk: &MemoryCommandContext, arguments: Arguments) -> CommandResult {
    let now = Timestamp::now();
    for one in desk.named(std::slice::from_ref(&arguments.id)).await? {
        if arguments.json {
            print::value(&list::as_json(&one, now));
            continue;
        }
        let MemoryLine { client, memory, .. } = &one;
        let mut facts = vec![
            ("type", memory.kind.as_str().to_owned()),
            ("importance", memory.importance.to_string()),
            (
                "health",
                format!("{}, recalled {} times", health(now, memory), memory.uses),
            ),
            ("client", format!("{} ({})", client.name, client.key)),
            ("by", memory.author.clone()),
            ("remembered", time(memory.created)),
            ("changed", time(memory.changed)),
            ("last used", time(memory.used)),
        ];
        if let Some(page) = &memory.page {
            facts.push(("page", format!("{} (id {})", list::place(page), page.id)));
        }
        if memory.forgotten.is_some() {
            facts.push(("restorable", list::until(memory)));
        }
        if let Some(by) = memory.superseded_by {
            facts.push(("superseded", format!("by {by}")));
        }
        print::line(&print::painted(
            &format!("memory {}", memory.id),
            Paint::Bold,
        ));
        for (name, value) in facts {
            say!("{name:<12}{}", print::harmless(&value));
        }
        print::line("");
        for line in memory.content.lines() {
            let line = line.replace('\t', "    ");
            say!("  {}", print::harmless(&line));
        }
    }
    Ok(Exit::Done)
}
