//! `wikijs-mcp proposals reject`

use serde_json::json;

use super::super::{Outcome, print, start};
use super::{Exit, Which};
use crate::audit::MAX_WHY;
use crate::error::Failure;
use crate::page::is_invisible;
use crate::server::App;

/// Arguments of `proposals reject`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-mcp proposals reject 4f2a --why \"belongs into docs/install\"\n  wikijs-mcp proposals reject --client claude-code --path docs --why \"asked for nowhere\""
)]
pub(super) struct Arguments {
    #[command(flatten)]
    which: Which,
    /// The reason: one line of at most 500 characters, which the agent can read
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    why: String,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

fn reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > MAX_WHY {
        return Err(format!("must have 1 to {MAX_WHY} characters"));
    }
    if text.chars().any(|c| c.is_control() || is_invisible(c)) {
        return Err("must be one line, without control or invisible characters".to_owned());
    }
    Ok(text.to_owned())
}

pub(super) async fn run(arguments: Arguments) -> Outcome {
    let app = start::app_for_operator()?;
    let rejected = reject(&app, &arguments).await;
    app.writer.finish().await;
    rejected.map_err(|failure| print::failure(&failure, arguments.json))?;
    Ok(Exit::Done)
}

/// Rejects them one after another, and tells each.
async fn reject(app: &App, arguments: &Arguments) -> Result<(), Failure> {
    let caller = start::operator("proposals reject");
    let mut rejected = Vec::new();
    let ids = arguments.which.wanted(app).await?;
    if ids.is_empty() && !arguments.json {
        print::line("no proposals");
    }
    for id in ids {
        let proposal = app
            .desk
            .proposals()
            .reject(&caller, id, &arguments.why)
            .await?;
        if !arguments.json {
            let place = print::place(proposal.locale.as_str(), proposal.path.as_str());
            print::line(&format!("rejected: {id}, {} {place}", proposal.operation));
        }
        rejected.push(proposal);
    }
    if arguments.json {
        print::line(&json!({ "proposals": rejected }).to_string());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn a_reason_is_one_line_of_visible_text() {
        assert_eq!(reason(" not here ").as_deref(), Ok("not here"));
        for bad in [
            "",
            "  ",
            "a\nb",
            "a\u{1b}[2J",
            "a\u{202e}b",
            &"x".repeat(501),
        ] {
            assert!(reason(bad).is_err(), "{bad:?}");
        }
    }
}
