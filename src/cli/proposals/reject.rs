//! `wikijs-gate proposals reject`

use super::super::words;
use super::{Exit, ProposalSelection};
use crate::cli::prelude::*;

/// Arguments of `proposals reject`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate proposals reject 4f2a --why \"belongs into docs/install\"\n  wikijs-gate proposals reject --client claude-code --path docs --why \"asked for nowhere\""
)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    which: ProposalSelection,
    /// The reason: one line of at most 500 characters, which the agent can read
    #[arg(long, value_name = "TEXT", value_parser = words::reason)]
    why: String,
    /// Reject the rest of a set of which a call that did not finish made some, which stays
    #[arg(long)]
    keep_made: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments) -> CommandResult {
    let app = start::app_for_operator()?;
    let rejected = reject(&app, &arguments).await;
    app.writer.finish().await;
    rejected?;
    Ok(Exit::Done)
}

/// Rejects them one after another, and reports each.
async fn reject(app: &App, arguments: &Arguments) -> Result<()> {
    let caller = start::operator(RecordedCommand::ProposalsReject);
    let mut rejected = Vec::new();
    let ids = arguments.which.wanted(app).await?;
    if ids.is_empty() && !arguments.json {
        print::line("no proposals");
    }
    for id in ids {
        let proposal = app
            .desk
            .proposals()
            .reject(&caller, id, &arguments.why, arguments.keep_made)
            .await?;
        if !arguments.json {
            let first = &proposal.first;
            let pages = match proposal.changes().count() {
                1 => print::place(first.locale.as_str(), first.path.as_str()),
                count => format!("{count} pages"),
            };
            say!("rejected: {id}, {} {pages}", first.operation);
        }
        rejected.push(proposal);
    }
    if arguments.json {
        print::value(&json!({ "proposals": rejected }));
    }
    Ok(())
}
