//! `wikijs-gate proposals apply`

use super::super::advice::advice;
use super::super::{progress, show_change};
use super::{Exit, ProposalSelection, hindered};
use crate::audit::{CallId, ProposalId};
use crate::cli::prelude::*;
use crate::write::{AppliedWrite, Apply, Caller, Preview, UndoRequest, WriteRequest};

/// Arguments of `proposals apply`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate proposals apply 4f2a\n  wikijs-gate proposals apply 4f2a --leave-out 3,5\n  wikijs-gate proposals apply --client claude-code --path docs\n  wikijs-gate proposals apply --all --yes --keep-going --json"
)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    which: ProposalSelection,
    /// Do not ask. This command is your decision with it, too: it applies at every level but `off`,
    /// ends a dry run, passes a pause, and satisfies every rule but `deny`
    #[arg(long)]
    yes: bool,
    /// Merge with changes made to the page since, if they do not overlap
    #[arg(long)]
    merge: bool,
    /// Leave out these changes of a set, by their numbers as `proposals show` has them, and what
    /// depends on them
    #[arg(
        long,
        value_name = "NUMBERS",
        value_delimiter = ',',
        value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..),
        conflicts_with_all = ["client", "path", "all"]
    )]
    leave_out: Vec<usize>,
    /// Go on after one that is not applied
    #[arg(long)]
    keep_going: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// The write of one proposal; nothing if a person declined it.
type ApplyResult = Result<Option<AppliedWrite>>;

pub(super) async fn run(arguments: Arguments) -> CommandResult {
    if !arguments.yes {
        print::check_can_ask(
            arguments.json,
            "look at the proposals first, then pass --yes",
        )?;
    }
    if !arguments.leave_out.is_empty() && arguments.which.ids.len() > 1 {
        return Err(Exit::usage(
            "--leave-out is for one proposal; name that alone",
        ));
    }
    let app = start::app_for_operator()?;
    let exit = apply(&app, &arguments).await;
    app.writer.finish().await;
    Ok(exit?)
}

async fn apply(app: &App, arguments: &Arguments) -> Result<Exit> {
    let ids = arguments.which.wanted(app).await?;
    if ids.is_empty() && !arguments.json {
        print::line("no proposals");
    }
    let caller = start::operator(RecordedCommand::ProposalsApply);
    let (mut results, mut applied, mut exit) = (Vec::new(), Vec::new(), Exit::Done);
    for id in &ids {
        if arguments.json {
            remark!("applying {id}");
        }
        let said = apply_one(app, &caller, *id, arguments).await;
        results.push(tell(*id, &said, arguments.json));
        let worse = match said {
            Ok(Some(done)) => {
                // A proposal with nothing to do cannot be taken back.
                if let Some(call) = done.call() {
                    let proposals = app.desk.proposals();
                    let before = proposals.begun_by(&proposals.one(*id).await?).await?;
                    let before = before.into_iter().filter(|before| *before != call);
                    applied.extend(before.rev().chain([call]));
                }
                continue;
            }
            Ok(None) => Exit::Refused,
            Err(failure) => Exit::for_code(failure.code),
        };
        if exit == Exit::Done {
            exit = worse;
        }
        if !arguments.keep_going {
            break;
        }
    }
    if arguments.json {
        print::value(&json!({ "results": results, "left": left(&ids, results.len()) }));
    } else {
        for id in left(&ids, results.len()) {
            say!("left: {id}");
        }
        offer_undo(app, &applied, exit).await?;
    }
    Ok(exit)
}

async fn apply_one(
    app: &App,
    caller: &Caller,
    id: ProposalId,
    arguments: &Arguments,
) -> ApplyResult {
    let write = async |merge| {
        let says_yes = |preview: &Preview| {
            let named = print::painted("proposal", print::Paint::Bold);
            let mut shown = vec![format!("{named} {id}:")];
            shown.extend(show_change::shown(preview));
            let question = if merge {
                "Apply it merged with that?"
            } else {
                "Apply it?"
            };
            show_change::agrees_to(&shown, question, (arguments.yes, arguments.json))
        };
        let plan = WriteRequest::Proposal(Apply {
            merge,
            leave_out: arguments
                .leave_out
                .iter()
                .map(|number| number - 1)
                .collect(),
            ..Apply::all_of(id)
        });
        progress::of_changes(app.writer.confirmed(caller, plan, says_yes)).await
    };
    let said = write(false).await;
    let Err(failure) = &said else {
        return said;
    };
    if failure.code != Code::ProposalOutdated || !failure.details.contains_key("merged") {
        return said;
    }
    // A person who is asked sees the merged change itself and approves that.
    let goes_on = arguments.merge || !arguments.yes;
    if goes_on && !arguments.json {
        // What it is merged with that, the preview shows.
        super::since(failure);
        print::line("merged with that, the proposal is:");
    } else if !arguments.json {
        hindered(failure);
    }
    if goes_on {
        return write(true).await;
    }
    said
}

/// Prints the result for one proposal, and returns it for programs.
fn tell(id: ProposalId, said: &ApplyResult, is_json: bool) -> Value {
    let told = match said {
        Ok(Some(done)) => show_change::done_json(done),
        Ok(None) => json!({ "outcome": "declined" }),
        Err(failure) => json!({ "error": failure }),
    };
    let told = extended(told, json!({ "proposal": id }));
    if is_json {
        return told;
    }
    match said {
        Ok(Some(done)) if done.call().is_none() => {
            say!("unchanged: {id}, the page already is as proposed");
        }
        Ok(Some(done)) => show_change::done("applied", done),
        Ok(None) => say!("not applied: {id}"),
        Err(failure) => {
            print::lines(&show_change::not_changed(failure));
            print::error(&format!("{id}: {failure} {}", advice(failure)));
            if !failure.details.contains_key("merged") {
                super::since(failure);
            }
        }
    }
    told
}

fn left(ids: &[ProposalId], done: usize) -> Vec<String> {
    ids.iter().skip(done).map(ToString::to_string).collect()
}

/// If not all were applied, offers to take the applied ones back.
async fn offer_undo(app: &App, applied: &[CallId], exit: Exit) -> Result<()> {
    let count = applied.len();
    let is_wanted = exit != Exit::Done
        && count > 0
        && print::can_ask()
        && print::ask(&format!("Take back what was applied ({count})?"));
    for call in applied.iter().rev() {
        if is_wanted {
            let undo = WriteRequest::Undo(UndoRequest::of(*call));
            let caller = start::operator(RecordedCommand::Undo);
            let undo = app.writer.confirmed(&caller, undo, |_| true);
            if let Some(undone) = progress::of_changes(undo).await? {
                show_change::done("taken back", &undone);
            }
        } else {
            say!("to take it back: wikijs-gate undo {call}");
        }
    }
    Ok(())
}
