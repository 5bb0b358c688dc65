//! `wikijs-gate memory show`

use super::super::CommandResult;
use super::super::print::{self, Paint};
use super::super::when::minute;
use super::{Exit, MemoryCommandContext, list, named};
use crate::memory::{Timestamp, health};

/// Arguments of `memory show`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate memory show 4f2a\n  wikijs-gate memory show 4f2a --json"
)]
pub(super) struct Arguments {
    /// The memory's id, or four or more of its first characters
    #[arg(value_name = "ID")]
    id: String,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(desk: &MemoryCommandContext, arguments: Arguments) -> CommandResult {
    let all = desk.all().await?;
    let now = Timestamp::now();
    for (owner, memory) in named(&all, std::slice::from_ref(&arguments.id))? {
        if arguments.json {
            print::line(&list::as_json(&owner, &memory, now).to_string());
            continue;
        }
        let time = |at: Timestamp| at.instant().map_or_else(String::new, minute);
        let health = health(now, memory.used, memory.uses);
        let mut facts = vec![
            ("type", memory.kind.as_str().to_owned()),
            ("importance", memory.importance.to_string()),
            (
                "health",
                format!("{health}, recalled {} times", memory.uses),
            ),
            ("client", format!("{} ({})", owner.name, owner.key)),
            ("by", memory.author.clone()),
            ("remembered", time(memory.created)),
            ("changed", time(memory.changed)),
            ("last used", time(memory.used)),
        ];
        if let Some(page) = &memory.page {
            facts.push(("page", format!("{} (id {})", list::place(page), page.id)));
        }
        if let Some(gone) = memory.gone {
            let by = gone.by.map(|by| format!(", superseded by {by}"));
            facts.push((
                "forgotten",
                format!("{}{}", time(gone.at), by.unwrap_or_default()),
            ));
            facts.push(("restorable", list::until(&memory)));
        }
        print::line(&print::painted(
            &format!("memory {}", memory.id),
            Paint::Bold,
        ));
        for (name, value) in facts {
            print::line(&format!("{name:<12}{}", print::harmless(&value)));
        }
        print::line("");
        for line in memory.content.lines() {
            print::line(&format!(
                "  {}",
                print::harmless(&line.replace('\t', "    "))
            ));
        }
    }
    Ok(Exit::Done)
}
