//! `wikijs-gate memory export` and `import`: lines of JSON that bring two machines or sites into
//! line.

use std::io::Read as _;
use std::path::PathBuf;

use super::super::{CommandResult, print};
use super::{Exit, MemoryCommandContext, whose};
use crate::config::why_unread;
use crate::memory::{AuditNote, BadLine, Timestamp, digest, export_line};

/// The most bytes of an import.
const MOST_BYTES: u64 = 64 << 20;
/// The most bad lines that an error names.
const MOST_NAMED: usize = 100;

/// Arguments of `memory export`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate memory export > memories.jsonl\n  wikijs-gate memory export --client ci | ssh other wikijs-gate memory import -"
)]
pub(super) struct Export {
    /// Only memories of this client, by its name or identity
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
}

/// Arguments of `memory import`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate memory import memories.jsonl\n  wikijs-gate memory import - --client ci < memories.jsonl"
)]
pub(super) struct ImportArgs {
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
    let all = desk.all().await?;
    for (owner, memory) in &all {
        if !whose::is_meant(owner, arguments.client.as_deref()) {
            continue;
        }
        let line = export_line(desk.log.wiki(), owner, memory);
        let line = line.map_err(|error| (Exit::Failed, error.to_string()))?;
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
    let read =
        crate::memory::MemoryImport::read(&text, desk.log.wiki(), into.as_ref(), Timestamp::now());
    let import = read.map_err(|lines| (Exit::Failed, told(&lines)))?;
    let sha = digest(&text);
    let done = desk.change("memory import", None, move |rows| {
        let done = import.apply(rows)?;
        let count = done.added.saturating_add(done.updated);
        let deed = (count > 0).then(|| AuditNote {
            decision: "imported",
            reason: format!("{count} memories, sha256 of the import {sha}"),
        });
        Ok((done, deed))
    });
    let done = done.await?;
    if arguments.json {
        let answer = serde_json::to_string(&done);
        print::line(&answer.map_err(|error| (Exit::Failed, error.to_string()))?);
        return Ok(Exit::Done);
    }
    print::line(&format!(
        "{} added, {} updated, {} as new or newer here",
        done.added, done.updated, done.kept
    ));
    if done.of_other_wiki > 0 {
        print::note(&format!(
            "{} about pages of another wiki were left out",
            done.of_other_wiki
        ));
    }
    Ok(Exit::Done)
}

/// The text of a file or of standard input, as far as it can be one.
fn read(file: &PathBuf) -> Result<String, (Exit, String)> {
    let named = print::path(file);
    let failed = |why: String| (Exit::Failed, format!("{named} cannot be read: {why}"));
    let unread = |error: std::io::Error| failed(why_unread(error.kind()));
    let mut bytes = Vec::new();
    if file.as_os_str() == "-" {
        let stdin = std::io::stdin().lock();
        stdin
            .take(MOST_BYTES.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(unread)?;
    } else {
        let file = std::fs::File::open(file).map_err(unread)?;
        file.take(MOST_BYTES.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(unread)?;
    }
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MOST_BYTES) {
        return Err(failed("it has more than 64 MB".to_owned()));
    }
    String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".to_owned()))
}

/// All bad lines, each with its number.
pub(super) fn told(lines: &[BadLine]) -> String {
    let named = lines.iter().take(MOST_NAMED);
    let mut told: Vec<String> = named
        .map(|bad| format!("line {} {}", bad.line, print::harmless(&bad.why)))
        .collect();
    let more = lines.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    format!("nothing was imported: {}", told.join("; "))
}
