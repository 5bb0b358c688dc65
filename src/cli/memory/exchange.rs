//! `wikijs-gate memory export` and `import`: lines of JSON that bring two machines or sites into
//! line.

#![expect(clippy::disallowed_methods, reason = "a file that the operator names")]

use std::path::{Path, PathBuf};

use super::super::file_faults;
use super::{MemoryCommandContext, whose};
use crate::cli::prelude::*;
use crate::memory::{AuditNote, MemoryError, MemoryImport, digest};

/// Arguments of `memory export`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate memory export > memories.jsonl\n  wikijs-gate memory export --client ci | ssh other wikijs-gate memory import -"
)]
pub(in crate::cli) struct Export {
    /// Only memories of this client, by its name or identity
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
}

/// Arguments of `memory import`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate memory import memories.jsonl\n  wikijs-gate memory import - --client ci < memories.jsonl"
)]
pub(in crate::cli) struct ImportArgs {
    /// The file, or `-` for standard input
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// Whose they become, by name or identity, in place of those they were exported from
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn export(desk: &MemoryCommandContext, arguments: Export) -> CommandResult {
    for one in desk.all().await? {
        if !whose::is_meant(&one.client, arguments.client.as_deref()) {
            continue;
        }
        let line = serde_json::to_string(&one);
        let line = line.map_err(Exit::failed)?;
        if !print::is_read(&line) {
            break;
        }
    }
    Ok(Exit::Done)
}

pub(super) async fn import(desk: &MemoryCommandContext, arguments: ImportArgs) -> CommandResult {
    let text = read(&arguments.file)?;
    let into = match &arguments.client {
        Some(name) => Some(whose::one(&desk.all().await?, name)?),
        None => None,
    };
    let import = MemoryImport::read(&text, desk.log.wiki(), into.as_ref())?;
    let (of_other_wiki, sha) = (import.of_other_wiki, digest(&text));
    let done = desk.change(RecordedCommand::MemoryImport, move |memories| {
        let done = import.apply(memories)?;
        let count = done.added.saturating_add(done.updated);
        let note = (count > 0).then(|| AuditNote {
            decision: "imported",
            reason: format!("{count} memories, sha256 of the import {sha}"),
        });
        Ok((done, note))
    });
    let mut done = done.await.inspect_err(|error| {
        if matches!(error, MemoryError::Damaged(_)) {
            remark!("nothing was imported");
        }
    })?;
    let without_room = done.left_out;
    done.left_out = without_room.saturating_add(of_other_wiki);
    if arguments.json {
        let answer = serde_json::to_string(&done);
        print::line(&answer.map_err(Exit::failed)?);
    } else {
        say!(
            "{} added, {} updated, {} as new or newer here",
            done.added,
            done.updated,
            done.kept
        );
    }
    if without_room > 0 {
        remark!("{without_room} were left out: there is no room for more forgotten ones");
    }
    if of_other_wiki > 0 {
        remark!("{of_other_wiki} about pages of another wiki were left out");
    }
    Ok(Exit::Done)
}

/// The text of a file, or of standard input.
fn read(file: &Path) -> Result<String, CommandError> {
    let text = if file.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(file)
    };
    text.map_err(|error| Exit::failed(file_faults::unread(file, error.kind())))
}
