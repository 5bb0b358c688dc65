//! `wikijs-gate mirror`: what was seen of pages, to be forgotten on purpose.

use clap::Subcommand;

use crate::audit::{AuditEvent, TimeArg};
use crate::cli::prelude::*;
use crate::mirror::{Forgotten, Mirror, ToForget};
use crate::page::Prefix;

#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  wikijs-gate mirror forget docs/leaked\n  wikijs-gate mirror forget --before 90d --yes --json"
)]
pub(super) enum MirrorCommand {
    /// Forget for good what was seen of pages, on record
    Forget(ForgetSeen),
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["path", "before"]))]
pub(super) struct ForgetSeen {
    /// The place at or below which pages were last: all their states go. The present state of those that
    /// are there is seen anew
    #[arg(value_parser = Prefix::parse)]
    path: Option<Prefix>,
    /// Forget what was replaced or deleted before this time: a date, a time, or how long ago (`90d`)
    #[arg(long, value_name = "WHEN", value_parser = TimeArg::parse)]
    before: Option<TimeArg>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// The mirror of the wiki.
///
/// # Errors
/// If there is none, with the exit code for it.
pub(super) fn mirror(app: &App) -> Result<&Mirror, CommandError> {
    let mirror = app.mirror.as_deref();
    mirror.ok_or_else(|| Exit::usage("WIKI_MIRROR is off, so nothing of deleted pages is kept; set it to on, and what is deleted from then on is"))
}

pub(super) async fn run(command: MirrorCommand) -> CommandResult {
    let MirrorCommand::Forget(arguments) = command;
    let app = start::app_for_operator()?;
    let exit = forget(&app, arguments).await;
    app.writer.finish().await;
    exit
}

async fn forget(app: &App, arguments: ForgetSeen) -> CommandResult {
    let mirror = mirror(app)?;
    let (which, what) = match (arguments.path, arguments.before) {
        (Some(path), _) => (
            ToForget::Within(path.clone()),
            format!("at or below {path}"),
        ),
        (None, Some(time)) => {
            let time = time.begin();
            (ToForget::Before(time.into()), format!("before {time}"))
        }
        (None, None) => return Err(Exit::usage("name a place, or a time")),
    };
    let failed = |error| start::failed("the mirror could not be changed", &error);
    let found = mirror.would_forget(which.clone()).await.map_err(failed)?;
    if found.states > 0 && !arguments.yes {
        let told = format!("what is removed for good: {}", extent(&found));
        print::confirm(&told, arguments.json)?;
    }
    let entry = start::operators_entry(
        RecordedCommand::MirrorForget,
        AuditEvent::Purge,
        "forgotten",
    );
    let mut entry = entry.map_err(failed)?;
    entry.reason = Some(format!("mirror: {} {what}", extent(&found)));
    app.desk.audit().record(entry).await.map_err(failed)?;
    let done = mirror.forget(which).await.map_err(failed)?;
    if arguments.json {
        print::line(&json!({ "states": done.states, "pages": done.pages }).to_string());
    } else {
        say!("forgotten: {}", extent(&done));
    }
    match done.left {
        0 => Ok(Exit::Done),
        left => Err(Exit::failed(format!(
            "{} still in the store: what was kept just now is gone within ten seconds; run it again",
            print::counted(left, "of the states is", "of the states are")
        ))),
    }
}

/// The extent of what is forgotten, in words.
fn extent(forgotten: &Forgotten) -> String {
    let states = print::counted(forgotten.states, "state", "states");
    let pages = print::counted(forgotten.pages, "page", "pages");
    format!("{states} of {pages}")
}
