//! `wikijs-gate undo`: an operator takes a write back.

use super::proposals::since;
use super::{left_to_people, progress, show_change, words};
use crate::audit::{CallSelector, ProposalId, TimeArg};
use crate::cli::prelude::*;
use crate::gates::LeftOut;
use crate::page::{NewPath, Note};
use crate::write::{Caller, InteractiveOutcome, UndoClient, UndoRequest, WriteRequest};

/// Arguments of `undo`.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("which").required(true).args(["call", "client"]),
    after_help = "Examples:\n  wikijs-gate undo last\n  wikijs-gate undo 4f2a --path docs/setup\n  wikijs-gate undo 4f2a --yes --json\n  wikijs-gate undo 9c01 --on-conflict skip\n  wikijs-gate undo --client claude-code --since 1h"
)]
pub(super) struct Arguments {
    /// The call id of the write or of a set, four or more of its first characters, or `last`: the
    /// newest applied write that was not taken back
    call: Option<String>,
    /// Undo all that this client, or user of the machine, wrote since `--since`, as one set: the
    /// writes of a page become one change. Pages that cannot be taken back are named and left out
    #[arg(long, value_name = "NAME", requires = "since", conflicts_with = "path")]
    client: Option<String>,
    /// The time for `--client`: a date, a time, or how long ago (`7d`, `24h`, `30m`)
    #[arg(long, value_name = "WHEN", value_parser = TimeArg::parse, requires = "client")]
    since: Option<TimeArg>,
    /// Do not ask. This is nobody's decision: where the write policy wants a person's, the undo is
    /// proposed (exit 3). A pause does not stop it. Without it, your yes applies it at every level but
    /// `off`, and ends a dry run
    #[arg(long)]
    yes: bool,
    /// Take fields back even if they changed since the write
    #[arg(long)]
    force: bool,
    /// What to do with the changes of a set that cannot be taken back: `stop`, and take nothing
    /// back, or `skip` them, naming each with the reason
    #[arg(
        long,
        value_name = "WHAT",
        value_enum,
        default_value_t,
        conflicts_with = "client"
    )]
    on_conflict: ConflictArg,
    /// Bring a deleted or moved page back to this path, if its old path is taken or the wiki no
    /// longer accepts it
    #[arg(long, value_name = "PATH", value_parser = NewPath::parse)]
    path: Option<NewPath>,
    /// Why, in one line of at most 200 characters: on record with the write
    #[arg(long, value_name = "TEXT", value_parser = words::note)]
    note: Option<Note>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// What to do with the changes of a set that cannot be taken back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum ConflictArg {
    /// Take nothing back
    #[default]
    Stop,
    /// Take the others back
    Skip,
}

pub(super) async fn run(arguments: Arguments) -> CommandResult {
    let call = arguments.call.as_deref().map(str::parse::<CallSelector>);
    let call = call.transpose().map_err(|_| {
        Exit::usage("the call must be a call id, four or more of its first characters, or `last`")
    })?;
    let app = if arguments.yes {
        // It takes back what led to a pause.
        start::app_unattended(true)?
    } else {
        start::app_for_operator()?
    };
    let first = "look at the call first, then pass --yes";
    if !arguments.yes
        && let Err(nobody) = print::check_can_ask(arguments.json, first)
    {
        if let Some(call) = &call {
            app.desk.past().story(call, None).await?;
        }
        return Err(nobody);
    }
    let plan = match (call, &arguments.client, arguments.since) {
        (Some(call), ..) => WriteRequest::Undo(UndoRequest {
            session: None,
            owner: None,
            call,
            force: arguments.force,
            path: arguments.path.clone().map(NewPath::into_path),
            skips: arguments.on_conflict == ConflictArg::Skip,
        }),
        (None, Some(client), Some(since)) => WriteRequest::UndoClient(UndoClient {
            client: client.clone(),
            since: since.begin(),
            force: arguments.force,
        }),
        (None, ..) => return Err(Exit::usage("name a call, or a client and since when")),
    };
    let caller = Caller {
        note: arguments.note.clone(),
        ..start::operator(RecordedCommand::Undo)
    };
    let said = (arguments.yes, arguments.json);
    let exit = carry_out(&app, plan, &caller, said, &TAKE_BACK).await;
    app.writer.finish().await;
    exit
}

/// The words of a command that writes once somebody says yes.
pub(super) struct Wording {
    pub(super) question: &'static str,
    /// The word for what is done.
    pub(super) done: &'static str,
    /// The message if nothing changes.
    pub(super) none: &'static str,
    /// The word for the change.
    pub(super) what: &'static str,
    /// The argument that names another path.
    pub(super) elsewhere: &'static str,
}

const TAKE_BACK: Wording = Wording {
    question: "Take it back?",
    done: "taken back",
    none: "there is nothing to take back",
    what: "undo",
    elsewhere: "--path",
};

/// Shows a change, asks unless `yes` is said, and carries it out or leaves it to people.
pub(super) async fn carry_out(
    app: &App,
    plan: WriteRequest,
    caller: &Caller,
    said: (bool, bool),
    words: &Wording,
) -> CommandResult {
    let is_json = said.1;
    let says_yes = |shown: &_| show_change::agrees(shown, words.question, said);
    let write = app.writer.write_or_propose(caller, plan, says_yes);
    let written = progress::of_changes(write)
        .await
        .map_err(|failure| refused(failure, words, is_json))?;
    match written {
        InteractiveOutcome::Declined => Err(Exit::refused(format!("not {}", words.done))),
        InteractiveOutcome::Unchanged => Err(Exit::refused(words.none)),
        InteractiveOutcome::Done(done) if done.call().is_none() => Err(Exit::refused(words.none)),
        InteractiveOutcome::Proposed(id, left_out) => {
            let id = open(id, &left_out, is_json);
            Err(left_to_people::refused(app, &id))
        }
        InteractiveOutcome::Waits(id, left_out) => {
            let (id, what) = (open(id, &left_out, is_json), words.what);
            Err(Exit::refused(format!(
                "nothing was written or proposed: this {what} already waits as the proposal {id}; `wikijs-gate proposals apply {id}` writes it"
            )))
        }
        InteractiveOutcome::Done(done) => {
            if is_json {
                print::value(&show_change::done_json(&done));
            } else {
                show_change::done(words.done, &done);
            }
            Ok(Exit::Done)
        }
    }
}

/// The id of a proposal that waits, printed for a program, and the pages that it leaves out: it does not
/// name them later.
fn open(id: ProposalId, left_out: &[LeftOut], is_json: bool) -> String {
    let id = id.to_string();
    if is_json {
        print::value(&json!({ "open": id, "leftOut": left_out }));
    } else {
        print::lines(&show_change::left_out(left_out));
    }
    id
}

/// Shows a person what changed in the page since.
fn refused(mut failure: Failure, words: &Wording, is_json: bool) -> CommandError {
    if !is_json {
        print::lines(&show_change::not_changed(&failure));
    }
    if !is_json && failure.details.contains_key("failed") {
        "With --on-conflict skip, the other changes are taken back; with --force, the fields that were changed since go back, too."
            .clone_into(&mut failure.hint);
    } else if !is_json && failure.code == Code::EditConflict {
        since(&failure);
        if let Some(conflict) = failure.details.get("conflict").and_then(Value::as_str) {
            print::line("conflict:");
            print::lines(&show_change::diff(conflict));
        }
        "With --force, these fields go back all the same.".clone_into(&mut failure.hint);
    } else if !is_json && failure.code == Code::PageExists {
        failure.hint = format!(
            "With {} PATH it comes back at another path.",
            words.elsewhere
        );
    }
    failure.into()
}
