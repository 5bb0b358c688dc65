//! `wikijs-gate memory restore`, `forget` and `clear`.

use serde_json::json;

use super::super::{CommandResult, print};
use super::{Exit, MemoryCommandContext, named, whose};
use crate::memory::{AuditNote, Memory, MemoryError, MemoryOwner, digest};

/// Arguments of `memory restore`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Memories are not on the wiki: the command works at every level of the write policy, and in a pause.\n\nExamples:\n  wikijs-gate memory list --forgotten\n  wikijs-gate memory restore 4f2a"
)]
pub(super) struct Restore {
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
    after_help = "Memories are not on the wiki: the command works at every level of the write policy, and in a pause.\n\nExamples:\n  wikijs-gate memory forget 4f2a 9c01"
)]
pub(super) struct ForgetArgs {
    /// The memories' ids, or four or more of their first characters
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `memory clear`.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("whose").required(true).args(["client", "all"]),
    after_help = "Memories are not on the wiki: the command works at every level of the write policy, and in a pause.\n\nExamples:\n  wikijs-gate memory clear --client ci\n  wikijs-gate memory clear --client ci --forgotten --yes\n  wikijs-gate memory clear --all --for-good --yes"
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command"
)]
pub(super) struct Clear {
    /// Those of this client, by its name or identity
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// Those of all clients
    #[arg(long)]
    all: bool,
    /// Only what was forgotten already, for good: it cannot be restored any more
    #[arg(long, conflicts_with = "for_good")]
    forgotten: bool,
    /// All, for good: nothing of it can be restored
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
    let all = desk.all().await?;
    let wanted = named(&all, &arguments.ids)?;
    let mut done = Vec::new();
    for (owner, memory) in wanted {
        if memory.gone.is_none() {
            let fault = format!("the memory {} is not forgotten", memory.id);
            return Err((Exit::Refused, fault));
        }
        let id = memory.id;
        let restored = desk.change("memory restore", Some(&memory), move |rows| {
            let found = rows.find(id)?.filter(|(_, memory)| memory.gone.is_some());
            let (_, memory) = found.ok_or(MemoryError::NoSuch)?;
            let back = Memory {
                changed: rows.now.max(memory.touched().next()),
                used: rows.now,
                gone: None,
                ..memory
            };
            rows.put(&owner, &back)?;
            rows.check_room(&owner.key)?;
            Ok(((), Some(deed("restored", &back))))
        });
        restored.await?;
        done.push(id);
    }
    tell("restored", &done, arguments.json);
    Ok(Exit::Done)
}

pub(super) async fn forget(desk: &MemoryCommandContext, arguments: ForgetArgs) -> CommandResult {
    let all = desk.all().await?;
    let wanted = named(&all, &arguments.ids)?;
    let mut done = Vec::new();
    for (owner, memory) in wanted {
        if memory.gone.is_some() {
            let fault = format!("the memory {} is forgotten already", memory.id);
            return Err((Exit::Refused, fault));
        }
        let id = memory.id;
        let forgotten = desk.change("memory forget", Some(&memory), move |rows| {
            let memory = rows.own(&owner.key, id)?;
            let deed = deed("forgotten", &memory);
            rows.put(&owner, &memory.gone_at(rows.now, None))?;
            rows.check_room(&owner.key)?;
            Ok(((), Some(deed)))
        });
        forgotten.await?;
        done.push(id);
    }
    tell("forgotten", &done, arguments.json);
    Ok(Exit::Done)
}

pub(super) async fn clear(desk: &MemoryCommandContext, arguments: Clear) -> CommandResult {
    let all = desk.all().await?;
    let owners: Vec<MemoryOwner> = if let Some(name) = &arguments.client {
        vec![whose::one(&all, name)?]
    } else {
        let mut owners: Vec<MemoryOwner> = all.iter().map(|(owner, _)| owner.clone()).collect();
        owners.dedup();
        owners
    };
    let is_for_good = arguments.for_good || arguments.forgotten;
    let is_meant = {
        let only_gone = arguments.forgotten;
        move |memory: &Memory| {
            let is_gone = memory.gone.is_some();
            if is_for_good {
                !only_gone || is_gone
            } else {
                !is_gone
            }
        }
    };
    let is_own = |owner: &MemoryOwner| owners.iter().any(|own| own.key == owner.key);
    let count = all
        .iter()
        .filter(|(owner, memory)| is_own(owner) && is_meant(memory))
        .count();
    if count > 0 && !arguments.yes {
        let what = if is_for_good {
            format!("{count} memories are removed for good")
        } else {
            format!("{count} memories are forgotten; they can be restored for 30 days")
        };
        if arguments.json || !print::can_ask() {
            let fault = format!("{what}, and nobody can be asked here; pass --yes");
            return Err((Exit::Usage, fault));
        }
        if !print::ask(&format!("{what}. Do it?")) {
            return Err((Exit::Refused, "nothing was done".to_owned()));
        }
    }
    let done = desk.change("memory clear", None, move |rows| {
        let mut done = Vec::new();
        let mut digests = String::new();
        for owner in &owners {
            for memory in rows.of_owner(&owner.key)?.into_iter().filter(is_meant) {
                digests.push_str(&digest(&memory.content));
                done.push(memory.id);
                if is_for_good {
                    rows.remove(memory.id)?;
                    continue;
                }
                rows.put(owner, &memory.gone_at(rows.now, None))?;
            }
            if !is_for_good {
                rows.check_room(&owner.key)?;
            }
        }
        rows.sweep()?;
        let decision = if is_for_good { "removed" } else { "forgotten" };
        let keys: Vec<&str> = owners.iter().map(|owner| owner.key.as_str()).collect();
        let reason = format!(
            "{} memories of {}, sha256 of their digests {}",
            done.len(),
            keys.join(", "),
            digest(&digests)
        );
        let deed = (!done.is_empty()).then_some(AuditNote { decision, reason });
        Ok((done, deed))
    });
    let done = done.await?;
    tell(
        if is_for_good { "removed" } else { "forgotten" },
        &done,
        arguments.json,
    );
    Ok(Exit::Done)
}

fn deed(decision: &'static str, memory: &Memory) -> AuditNote {
    let sha = digest(&memory.content);
    let reason = format!(
        "memory {}, {}, sha256 {sha}",
        memory.id,
        memory.kind.as_str()
    );
    AuditNote { decision, reason }
}

fn tell(what: &str, ids: &[crate::audit::MemoryId], is_json: bool) {
    if is_json {
        print::line(&json!({ what: ids }).to_string());
        return;
    }
    print::line(&match ids {
        [] => "no memories".to_owned(),
        [one] => format!("{what}: {one}"),
        ids => format!("{what}: {} memories", ids.len()),
    });
}
