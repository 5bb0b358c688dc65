//! `wikijs-gate audit head`: what to keep elsewhere.

use serde::{Deserialize, Serialize};

use crate::audit::FileHead;
use crate::cli::prelude::*;

/// Arguments of `audit head`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each line has the name of a run, its length in bytes and the hash of its last line.\n\nExamples:\n  wikijs-gate audit head > heads.txt\n  wikijs-gate audit verify --head heads.txt"
)]
pub(in crate::cli) struct Arguments {
    /// Answer in JSON: one object with `runs`
    #[arg(long)]
    json: bool,
}

/// Heads as JSON.
#[derive(Debug, Serialize, Deserialize)]
struct Heads {
    runs: Vec<FileHead>,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let log = start::audit_log()?;
    let runs = log.runs.heads()?;
    if arguments.json {
        return print::json(&json!(Heads { runs }));
    }
    for head in &runs {
        print::line(&head.to_string());
    }
    Ok(Exit::Done)
}

/// Reads heads back, in either form.
///
/// # Errors
/// What is wrong, with the line.
pub(super) fn read(text: &str) -> Result<Vec<FileHead>, String> {
    if text.trim_start().starts_with('{') {
        let heads: Heads = serde_json::from_str(text)
            .map_err(|_| "it is not the JSON of `audit head --json`".to_owned())?;
        return Ok(heads.runs);
    }
    let lines = text.lines().zip(1_usize..);
    lines
        .filter(|(line, _)| !line.trim().is_empty())
        .map(|(line, number)| {
            one(line).ok_or_else(|| {
                format!(
                    "line {number} is not a name, a length and a hash, as `audit head` prints them"
                )
            })
        })
        .collect()
}

fn one(line: &str) -> Option<FileHead> {
    let mut words = line.split_whitespace();
    let (file, length, hash) = (words.next()?, words.next()?, words.next()?);
    let hash = match hash {
        "-" => None,
        hash => Some(hash.parse().ok()?),
    };
    words.next().is_none().then_some(FileHead {
        file: file.to_owned(),
        length: length.parse().ok()?,
        hash,
    })
}
