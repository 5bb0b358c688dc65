//! `wikijs-mcp undo`: an operator takes a write back.

use std::sync::Arc;

use serde_json::json;

use super::exit::Exit;
use super::{Outcome, print, show_change, start};
use crate::audit::CallSelector;
use crate::server::App;
use crate::write::{Answer, Patience, Plan, Preview, Undo};

/// Arguments of `undo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  wikijs-mcp undo last\n  wikijs-mcp undo 4f2a --yes --json")]
pub(super) struct Arguments {
    /// The call id of the write, four or more of its first characters, or `last`: the newest
    /// applied write that was not taken back
    call: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Take fields back even if they changed since the write
    #[arg(long)]
    force: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments) -> Outcome {
    let wrong = |error: String| (Exit::Usage, error);
    let call = CallSelector::parse(&arguments.call).map_err(|_| {
        wrong(
            "the call must be a call id, four or more of its first characters, or `last`"
                .to_owned(),
        )
    })?;
    if !arguments.yes && !print::can_ask() {
        return Err(wrong(
            "nobody can be asked here; look at the call first, then pass --yes".to_owned(),
        ));
    }
    let mut settings = start::settings()?;
    // The operator's yes stands for the confirm and for the end of a dry run; all else holds.
    settings.policy = settings.policy.for_operator();
    let app = Arc::new(App::new(settings, Patience::default()).map_err(wrong)?);
    let exit = undo(
        &app,
        Undo {
            call,
            force: arguments.force,
        },
        &arguments,
    )
    .await;
    app.writer.finish().await;
    exit
}

async fn undo(app: &App, undo: Undo, arguments: &Arguments) -> Outcome {
    let caller = start::caller("undo");
    let write = |confirm| {
        app.writer
            .write(caller.clone(), Plan::Undo(undo.clone()), confirm)
    };
    let preview = match write(None)
        .await
        .map_err(|failure| print::failure(&failure, arguments.json))?
    {
        Answer::Preview(preview) => preview,
        Answer::Applied(_) => {
            return Err((Exit::Refused, "there is nothing to take back".to_owned()));
        }
    };
    if !arguments.json {
        show(&preview);
    }
    if !arguments.yes && !print::ask("Take it back?") {
        return Err((Exit::Refused, "not taken back".to_owned()));
    }
    let token = preview.confirm.map(|confirm| confirm.token);
    match write(token)
        .await
        .map_err(|failure| print::failure(&failure, arguments.json))?
    {
        Answer::Preview(_) => Err((Exit::Failed, "the write ended as a preview".to_owned())),
        Answer::Applied(applied) => {
            if arguments.json {
                let answer = json!({
                    "outcome": "applied",
                    "operation": applied.operation.as_str(),
                    "target": applied.target,
                    "warnings": applied.notes.warnings,
                    "callId": applied.call.to_string(),
                });
                print::line(&answer.to_string());
            } else {
                let id = applied
                    .target
                    .id
                    .map_or_else(String::new, |id| format!(" (id {id})"));
                print::line(&format!(
                    "taken back: {} {}{id}, call {}",
                    applied.operation, applied.target.path, applied.call
                ));
                show_change::warnings(&applied.notes.warnings);
            }
            Ok(Exit::Done)
        }
    }
}

/// The preview for a person. Text from the wiki is escaped: it must not steer the terminal.
fn show(preview: &Preview) {
    print::line(&format!(
        "{} {} ({})",
        preview.operation,
        preview.target.path.escape_debug(),
        preview.target.url
    ));
    show_change::fields(&preview.changes);
    show_change::diff(&preview.diff);
    show_change::warnings(&preview.notes.warnings);
}
