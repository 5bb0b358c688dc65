//! `wikijs-gate files push`

use std::sync::Arc;

use super::super::{left_to_people, progress, show_change, words};
use super::{Dir, NAMED, beside, list, open, tell_pulled, worked};
use crate::audit::DraftChange;
use crate::cli::prelude::*;
use crate::files::{Folder, MAX_CHANGES, Ready, check_begun, settled};
use crate::gates::Policy;
use crate::page::Note;
use crate::write::{
    AppliedWrite, Caller, InteractiveOutcome, Push, SetOutcome, Timeouts, WriteRequest,
};

/// Arguments of `files push`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate files push wiki -m \"new names of the servers\"\n  wikijs-gate files push wiki --delete\n  wikijs-gate files push wiki --propose --json"
)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    dir: Dir,
    /// Why, in one line of at most 200 characters: shown to whoever decides, and on record
    #[arg(short = 'm', long, value_name = "NOTE", value_parser = words::note)]
    message: Option<Note>,
    /// Delete the pages whose files were deleted
    #[arg(long)]
    delete: bool,
    /// Leave the changes open for people to decide: `wikijs-gate review`
    #[arg(long, conflicts_with = "yes")]
    propose: bool,
    /// Do not ask. This is nobody's decision: where the write policy or a rule wants a person's, the
    /// changes are proposed (exit 3). Without it, your yes applies them at every level but `off`: it
    /// ends a dry run and passes a pause
    #[arg(long)]
    yes: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments) -> CommandResult {
    let is_json = arguments.json;
    let asks = !arguments.yes && !arguments.propose;
    if asks {
        let first = "look at `files diff`, then pass --yes or --propose";
        print::check_can_ask(is_json, first)?;
    }
    let app = if arguments.propose {
        start::app_of(Timeouts::of_command(), Policy::to_propose)?
    } else if arguments.yes {
        start::app_unattended(false)?
    } else {
        start::app_for_operator()?
    };
    let folder = open(&arguments.dir.dir)?;
    check_begun(&app.wiki, &folder)?;
    let _held = folder.hold()?;
    let mut run = PushRun {
        app: &app,
        folder: &folder,
        arguments: &arguments,
        results: Vec::new(),
    };
    let ready = run.collected("nothing was pushed").await?;
    if !is_json {
        aside(&ready);
    }
    let exit = run.push(ready).await;
    app.writer.finish().await;
    exit
}

/// Says what is not pushed.
fn aside(ready: &Ready) {
    let title = "deleted here, but kept in the wiki without --delete:";
    list(title, NAMED, ready.kept.iter().cloned());
    print::harmless_lines(&ready.notes);
    beside(&ready.strange, &[]);
}

/// A push that has begun.
struct PushRun<'a> {
    app: &'a App,
    folder: &'a Folder,
    arguments: &'a Arguments,
    /// The results of the sets, for a program.
    results: Vec<Value>,
}

impl PushRun<'_> {
    /// Collects the changes to push; an error begins with `refused`.
    async fn collected(&self, refused: &str) -> Result<Ready, CommandError> {
        let (wiki, deletes) = (&self.app.wiki, self.arguments.delete);
        let ready = worked(self.app, async |far| {
            Ready::prepare(wiki, self.folder, deletes, far).await
        });
        let ready = ready.await?;
        if ready.faults.is_empty() {
            return Ok(ready);
        }
        let all = ready.faults.iter().map(|fault| print::harmless(fault));
        let lines = separated(all.take(100), "\n  ");
        Err(Exit::refused(format!("{refused}:\n  {lines}")))
    }

    async fn push(&mut self, ready: Ready) -> CommandResult {
        let is_json = self.arguments.json;
        let sets = ready.changes.len().div_ceil(MAX_CHANGES);
        if sets == 0 && !is_json {
            print::line("nothing to push");
            return Ok(Exit::Done);
        }
        if sets > 1 && !is_json {
            let all = ready.changes.len();
            say!("{all} changes are more than the {MAX_CHANGES} of a set: they go as {sets} sets");
        }
        let aside = json!({ "kept": ready.kept, "notes": ready.notes, "notPages": ready.strange });
        let exit = self.in_sets(ready, sets).await;
        if is_json {
            print::value(&extended(json!({ "results": self.results }), aside));
        }
        exit
    }

    /// Pushes one set after another until one is not applied or left open.
    async fn in_sets(&mut self, mut ready: Ready, sets: usize) -> CommandResult {
        let mut open = 0;
        for at in 1..=sets {
            let Some(set) = ready.changes.chunks(MAX_CHANGES).nth(open) else {
                break;
            };
            let (result, ended) = match self.one(set).await {
                Ok(InteractiveOutcome::Done(done)) => tell_applied(&done, self.arguments.json),
                Ok(InteractiveOutcome::Proposed(id, _) | InteractiveOutcome::Waits(id, _)) => {
                    open += 1;
                    let (result, ended) = self.tell_open(&id.to_string());
                    self.results.push(result);
                    ended?;
                    continue;
                }
                Ok(InteractiveOutcome::Unchanged) => (json!("unchanged"), Ok(Exit::Done)),
                Ok(InteractiveOutcome::Declined) => {
                    (json!("declined"), Err(Exit::refused("not pushed")))
                }
                Err(failure) => (json!({ "error": failure }), Err(failure.into())),
            };
            self.results.push(result);
            ended?;
            let is_settled = self.settle(&ready, set).await;
            if at == sets {
                break;
            }
            if !is_settled {
                return Err(not_all());
            }
            // What was pushed may have mended links in pages that come now.
            ready = self.collected("the rest was not pushed").await?;
        }
        Ok(Exit::Done)
    }

    /// Brings the folder up to date after a set; says so if it could not.
    async fn settle(&mut self, ready: &Ready, set: &[DraftChange]) -> bool {
        let (wiki, folder) = (&self.app.wiki, self.folder);
        let settled = worked(self.app, async |far| {
            settled(wiki, folder, ready, set, far).await
        });
        match settled.await {
            Ok(pulled) if self.arguments.json => self.results.push(json!({ "pulled": pulled })),
            Ok(mut pulled) => {
                // They were named before the push.
                pulled.strange.clear();
                tell_pulled(&pulled);
            }
            Err(error) => {
                let why = CommandError::from(error).message;
                remark!("pushed, but the folder is not up to date: {why}; pull");
                return false;
            }
        }
        true
    }

    /// Takes one set down the way of a write.
    async fn one(&self, set: &[DraftChange]) -> Result<InteractiveOutcome> {
        let caller = Caller {
            note: self.arguments.message.clone(),
            ..start::operator(RecordedCommand::FilesPush)
        };
        let plan = WriteRequest::Push(Push {
            changes: Arc::from(set),
        });
        let said = (self.arguments.yes, self.arguments.json);
        let says_yes = |shown: &_| show_change::agrees(shown, "Push it?", said);
        let write = self.app.writer.write_or_propose(&caller, plan, says_yes);
        let written = progress::of_changes(write).await;
        written.inspect_err(|failure| {
            if !self.arguments.json {
                print::lines(&show_change::not_changed(failure));
            }
        })
    }

    /// A set that is left to people: asked for with `--propose`, by the level, or by a rule.
    fn tell_open(&self, id: &str) -> (Value, CommandResult) {
        if !self.arguments.json {
            say!("left for people to decide: {id}; `wikijs-gate review {id}` shows it");
        }
        let exit = if self.arguments.propose {
            Ok(Exit::Done)
        } else {
            Err(left_to_people::refused(self.app, id))
        };
        (json!({ "open": id }), exit)
    }
}

fn not_all() -> CommandError {
    CommandError::new(Exit::Unsettled, "not all of it was pushed")
}

fn tell_applied(done: &AppliedWrite, is_json: bool) -> (Value, CommandResult) {
    if !is_json {
        show_change::done("pushed", done);
    }
    let is_there = match done {
        AppliedWrite::One(_) => true,
        AppliedWrite::Set(set) => {
            matches!(set.outcome, SetOutcome::Applied | SetOutcome::Unchanged)
        }
    };
    let ended = if is_there {
        Ok(Exit::Done)
    } else {
        Err(not_all())
    };
    (show_change::done_json(done), ended)
}
