//! `wikijs-mcp files push`

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::exit::Exit;
use super::super::{Outcome, pager, print, progress, show_change, start};
use super::pull::told;
use super::{Dir, explained, fault, open, shown, some, tell_pulled};
use crate::audit::DraftChange;
use crate::error::{Code, Failure};
use crate::files::{Folder, MAX_CHANGES, Ready, settled};
use crate::page::{Note, Whose};
use crate::server::App;
use crate::write::{Answer, Caller, Done, Plan, Push, SetOutcome, Shown};

/// Arguments of `files push`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-mcp files push wiki -m \"new names of the servers\"\n  wikijs-mcp files push wiki --delete\n  wikijs-mcp files push wiki --propose --json"
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    dir: Dir,
    /// Why, in one line of at most 200 characters: shown to whoever decides, and on record
    #[arg(short = 'm', long, value_name = "NOTE", value_parser = note)]
    message: Option<Note>,
    /// Delete the pages whose files were deleted
    #[arg(long)]
    delete: bool,
    /// Leave the changes open for people to decide: `wikijs-mcp review`
    #[arg(long, conflicts_with = "yes")]
    propose: bool,
    /// Do not ask. Counts as nobody's decision: what a rule leaves to people stays open
    #[arg(long)]
    yes: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

fn note(text: &str) -> Result<Note, String> {
    Note::parse(text, Whose::Operator)
}

/// What came of one set.
enum Came {
    Applied(Done),
    /// It is left for people, as this proposal.
    Open(String),
    Declined,
}

pub(super) async fn run(arguments: Arguments) -> Outcome {
    let is_json = arguments.json;
    let asks = !arguments.yes && !arguments.propose;
    // With `--json` nothing is shown that somebody could approve.
    if asks && (is_json || !print::can_ask()) {
        let message =
            "nobody can be asked here; look at `files diff`, then pass --yes or --propose";
        return Err((Exit::Usage, message.to_owned()));
    }
    let app = if arguments.propose {
        start::app_to_propose()?
    } else {
        start::app_for_operator()?
    };
    let folder = open(&arguments.dir.dir)?;
    let _held = folder.hold().map_err(|error| fault(error, is_json))?;
    let steps = progress::Steps::new();
    let ready = Ready::of(&app.wiki, &folder, arguments.delete, shown(&steps)).await;
    drop(steps);
    let ready = match ready {
        Ok(ready) => ready,
        Err(error) => return Err(fault(explained(&app, error).await, is_json)),
    };
    if !ready.faults.is_empty() {
        let all = ready.faults.iter().map(|fault| print::harmless(fault));
        let lines: Vec<String> = all.take(100).collect();
        let message = format!("nothing was pushed:\n  {}", lines.join("\n  "));
        return Err((Exit::Refused, message));
    }
    if !is_json {
        aside(&ready);
    }
    let exit = push(&app, &folder, &ready, &arguments).await;
    app.writer.finish().await;
    exit
}

/// Says what is not pushed.
fn aside(ready: &Ready) {
    if !ready.kept.is_empty() {
        print::line("deleted here, but kept in the wiki without --delete:");
        some(
            ready
                .kept
                .iter()
                .map(|name| format!("  {}", print::harmless(name))),
        );
    }
    for note in &ready.notes {
        print::line(&print::harmless(note));
    }
}

async fn push(app: &App, folder: &Folder, ready: &Ready, arguments: &Arguments) -> Outcome {
    let is_json = arguments.json;
    let sets: Vec<&[DraftChange]> = ready.changes.chunks(MAX_CHANGES).collect();
    if sets.is_empty() && !is_json {
        print::line("nothing to push");
        return Ok(Exit::Done);
    }
    if sets.len() > 1 && !is_json {
        let all = ready.changes.len();
        print::line(&format!(
            "{all} changes are more than the {MAX_CHANGES} of a set: they go as {} sets",
            sets.len()
        ));
    }
    let (mut applied, mut results, mut exit) = (Vec::new(), Vec::new(), Ok(Exit::Done));
    for set in sets {
        let mut came = one(app, set, arguments).await;
        if let Err(failure) = &came
            && failure.code == Code::RuleDenied
            && arguments.yes
        {
            // A rule wants people to decide: they find it open, unless no decision satisfies it.
            came = left_open(set, arguments).await?.or(came);
        }
        let (result, ended) = match came {
            Ok(Came::Applied(done)) => {
                let (result, ended) = tell_applied(&done, is_json);
                if ended.is_ok() {
                    applied.extend_from_slice(set);
                }
                (result, ended)
            }
            Ok(Came::Open(id)) => tell_open(&id, arguments),
            Ok(Came::Declined) => (
                json!("declined"),
                Err((Exit::Refused, "not pushed".to_owned())),
            ),
            Err(failure) => (
                json!({ "error": failure }),
                Err(print::failure(&failure, is_json)),
            ),
        };
        results.push(result);
        exit = ended;
        if exit.is_err() {
            break;
        }
    }
    if !applied.is_empty() {
        let steps = progress::Steps::new();
        let settled = settled(&app.wiki, folder, ready, &applied, shown(&steps)).await;
        drop(steps);
        match settled {
            Ok(pulled) if is_json => results.push(json!({ "pulled": told(&pulled) })),
            Ok(pulled) => tell_pulled(&pulled),
            Err(error) => {
                let (_, message) = fault(explained(app, error).await, is_json);
                print::note(&format!(
                    "pushed, but the folder is not up to date: {message}; pull"
                ));
            }
        }
    }
    if is_json {
        let left = json!({ "results": results, "kept": ready.kept, "notes": ready.notes });
        print::line(&left.to_string());
    }
    exit
}

/// Leaves a set open for people, as `--propose` does.
async fn left_open(
    set: &[DraftChange],
    arguments: &Arguments,
) -> Result<Result<Came, Failure>, (Exit, String)> {
    let app = start::another_app_to_propose()?;
    let came = one(&app, set, arguments).await;
    app.writer.finish().await;
    Ok(came)
}

/// Takes one set down the way of a write.
async fn one(app: &App, set: &[DraftChange], arguments: &Arguments) -> Result<Came, Failure> {
    let mut caller = Caller {
        note: arguments.message.clone(),
        ..start::operator("files push")
    };
    // With --yes nobody looks at the change.
    caller.is_decided = !arguments.yes && !arguments.propose;
    let plan = || {
        Plan::Push(Push {
            changes: Arc::from(set),
        })
    };
    let write = async |confirm| {
        let write = app.writer.write(caller.clone(), plan(), confirm);
        match Box::pin(write).await {
            Ok(answer) => Ok(answer),
            Err(failure) => Err(app.wiki.explained(failure).await),
        }
    };
    let shown = match write(None).await? {
        Answer::Preview(preview) => Shown::One(preview),
        Answer::SetPreview(preview) => Shown::Set(preview),
        Answer::Applied(done) => return Ok(Came::Applied(Done::One(done))),
        Answer::Set(done) => return Ok(Came::Applied(Done::Set(done))),
    };
    let (confirm, proposal) = match &shown {
        Shown::One(preview) => (&preview.confirm, preview.proposal),
        Shown::Set(preview) => (&preview.confirm, preview.proposal),
    };
    if let Some(proposal) = proposal {
        return Ok(Came::Open(proposal.to_string()));
    }
    let token = confirm.as_ref().map(|confirm| confirm.token.clone());
    if !agrees(&shown, arguments) {
        return Ok(Came::Declined);
    }
    match progress::of_changes(write(token)).await? {
        Answer::Applied(done) => Ok(Came::Applied(Done::One(done))),
        Answer::Set(done) => Ok(Came::Applied(Done::Set(done))),
        // A rule may leave it to people only now.
        Answer::Preview(preview) => Ok(Came::Open(
            preview
                .proposal
                .map_or_else(String::new, |id| id.to_string()),
        )),
        Answer::SetPreview(preview) => Ok(Came::Open(
            preview
                .proposal
                .map_or_else(String::new, |id| id.to_string()),
        )),
    }
}

fn agrees(shown: &Shown, arguments: &Arguments) -> bool {
    let lines = show_change::shown(shown);
    if !arguments.yes {
        return pager::agrees(&lines, "Push it?");
    }
    if !arguments.json {
        print::lines(&lines);
    }
    true
}

fn tell_applied(done: &Done, is_json: bool) -> (Value, Outcome) {
    if !is_json {
        show_change::done("pushed", done);
    }
    let is_there = match done {
        Done::One(_) => true,
        Done::Set(set) => matches!(set.outcome, SetOutcome::Applied | SetOutcome::Unchanged),
    };
    let ended = if is_there {
        Ok(Exit::Done)
    } else {
        Err((Exit::Unsettled, "not all of it was pushed".to_owned()))
    };
    (show_change::done_json(done), ended)
}

/// A set that is left to people: asked for with `--propose`, or a rule's demand.
fn tell_open(id: &str, arguments: &Arguments) -> (Value, Outcome) {
    if !arguments.json {
        print::line(&format!(
            "left for people to decide: {id}; `wikijs-mcp review {id}` shows it"
        ));
    }
    let exit = if arguments.propose {
        Ok(Exit::Done)
    } else {
        Err((Exit::Refused, "a rule leaves this to people".to_owned()))
    };
    (json!({ "open": id }), exit)
}
