//! `wikijs-gate memory restore` and `forget`.

use std::collections::HashSet;

use super::{MemoryCommandContext, whose};
use crate::audit::MemoryId;
use crate::cli::prelude::*;
use crate::memory::{AuditNote, Memories, Memory, MemoryError, MemoryLine, digest};

/// Arguments of `memory restore`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Memories are not on the wiki: the command works at every level of the write policy, and in a pause.\n\nExamples:\n  wikijs-gate memory list --forgotten\n  wikijs-gate memory restore 4f2a"
)]
pub(in crate::cli) struct Restore {
    /// The memories' ids, or four or more of their first characters
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `memory forget`.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("which").required(true).args(["ids", "client", "all"]),
    after_help = "Memories are not on the wiki: the command works at every level of the write policy, and in a pause.\n\nExamples:\n  wikijs-gate memory forget 4f2a 9c01\n  wikijs-gate memory forget --client ci --for-good --yes"
)]
pub(in crate::cli) struct ForgetArgs {
    /// The memories' ids, or four or more of their first characters
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// All of this client, by its name or identity
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// All of all clients
    #[arg(long)]
    all: bool,
    /// Remove them, and what was forgotten before: they cannot be restored
    #[arg(long)]
    for_good: bool,
    /// Do it without asking
    #[arg(long)]
    yes: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn restore(desk: &MemoryCommandContext, arguments: Restore) -> CommandResult {
    let wanted = desk.named(&arguments.ids).await?;
    if let Some(one) = wanted.iter().find(|one| one.memory.forgotten.is_none()) {
        let fault = format!("the memory {} is not forgotten", one.memory.id);
        return Err(Exit::refused(fault));
    }
    let done = desk.change(RecordedCommand::MemoryRestore, move |memories| {
        let now = memories.now;
        change_each(memories, &wanted, "restored", |all, id| {
            let found = all.iter_mut().find(|one| one.id == id);
            found.map(|one| one.restore(now))
        })
    });
    tell("restored", &done.await?, arguments.json)
}

pub(super) async fn forget(desk: &MemoryCommandContext, arguments: ForgetArgs) -> CommandResult {
    let for_good = arguments.for_good;
    let mut wanted;
    if arguments.ids.is_empty() {
        wanted = desk.all().await?;
        if let Some(name) = &arguments.client {
            let owner = whose::one(&wanted, name)?;
            wanted.retain(|one| one.client.key == owner.key);
        }
    } else {
        wanted = desk.named(&arguments.ids).await?;
        let gone = wanted.iter().find(|one| one.memory.forgotten.is_some());
        if let Some(one) = gone.filter(|_| !for_good) {
            let fault = format!("the memory {} is forgotten already", one.memory.id);
            return Err(Exit::refused(fault));
        }
    }
    wanted.retain(|one| for_good || one.memory.forgotten.is_none());
    let is_asked = arguments.ids.is_empty() || for_good;
    if is_asked && !wanted.is_empty() && !arguments.yes {
        let what = if for_good {
            "are removed for good"
        } else {
            "are forgotten; they can be restored for 30 days"
        };
        print::confirm(&format!("{} memories {what}", wanted.len()), arguments.json)?;
    }
    let word = if for_good { "removed" } else { "forgotten" };
    let done = desk.change(RecordedCommand::MemoryForget, move |memories| {
        let now = memories.now;
        change_each(memories, &wanted, word, |all, id| {
            let at = all.iter().position(|one| one.id == id)?;
            if for_good {
                all.remove(at);
            } else {
                all.get_mut(at)?.end(now, None);
            }
            Some(())
        })
    });
    tell(word, &done.await?, arguments.json)
}

/// Changes each of these memories, with one note for all.
fn change_each(
    memories: &mut Memories,
    wanted: &[MemoryLine],
    decision: &'static str,
    change: impl Fn(&mut Vec<Memory>, MemoryId) -> Option<()>,
) -> Result<(Vec<MemoryId>, Option<AuditNote>), MemoryError> {
    let mut done = Vec::new();
    let mut owners = HashSet::new();
    let mut digests = String::new();
    for MemoryLine { client, memory, .. } in wanted {
        change(memories.of(client)?, memory.id).ok_or(MemoryError::NoSuch)?;
        digests.push_str(&digest(&memory.content));
        owners.insert(client.key.as_str());
        done.push(memory.id);
    }
    let reason = match wanted {
        [one] => format!("memory {}, sha256 {digests}", one.memory.id),
        all => format!(
            "{} memories of {}, sha256 of their digests {}",
            all.len(),
            owners.into_iter().collect::<Vec<_>>().join(", "),
            digest(&digests)
        ),
    };
    let note = (!done.is_empty()).then_some(AuditNote { decision, reason });
    Ok((done, note))
}

fn tell(what: &str, ids: &[MemoryId], is_json: bool) -> CommandResult {
    let words = match ids {
        [] => "no memories".to_owned(),
        [one] => format!("{what}: {one}"),
        ids => format!("{what}: {} memories", ids.len()),
    };
    print::answer(is_json, &json!({ what: ids }), &words)
}
