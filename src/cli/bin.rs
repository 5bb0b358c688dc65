//! `wikijs-gate bin`: the pages that anybody deleted, as they were seen last.

use std::time::Duration;

use clap::Subcommand;
use clap::builder::NonEmptyStringValueParser;

use super::mirror::mirror;
use super::undo::{Wording, carry_out};
use super::words;
use crate::audit::TimeArg;
use crate::cli::prelude::*;
use crate::mirror::{BinPage, Mirror, PartThen};
use crate::page::{Field, NewPath, Note, Prefix};
use crate::tools::BinEntry;
use crate::write::{Caller, PageRestore, RestorePart, WriteRequest};

/// The longest wait for a look of another server.
const WAIT: Duration = Duration::from_secs(20);

#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  wikijs-gate bin list --path docs\n  wikijs-gate bin show docs/setup\n  wikijs-gate bin restore docs/setup\n  wikijs-gate bin restore 417 --to docs/old-setup --yes --json\n  wikijs-gate bin restore --path docs --at \"2030-01-31 09:00\" --by Vandal"
)]
pub(super) enum BinCommand {
    /// List the pages that were deleted, those last found missing first
    List {
        /// Only what was at or below this path; `de:docs` for one locale
        #[arg(long, value_name = "PATH", value_parser = Prefix::sought)]
        path: Option<Prefix>,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a deleted page as it was seen last
    Show {
        /// Its last path, or its number in the list
        page: String,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Bring a deleted page back, or a part of the wiki as it was
    Restore(RestoreArgs),
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["page", "at"]))]
pub(super) struct RestoreArgs {
    /// Its last path, or its number in the list
    page: Option<String>,
    /// Bring it back to this path, if its old path is taken or the wiki no longer accepts it
    #[arg(long, value_name = "PATH", value_parser = NewPath::parse, requires = "page")]
    to: Option<NewPath>,
    /// Bring what is at or below this path back as it was, as one set; with `--at`
    #[arg(long, value_name = "PATH", value_parser = Prefix::parse, requires = "at")]
    path: Option<Prefix>,
    /// The time for `--path`: a date, a time (`2030-01-31 09:00`), or how long ago (`7d`, `24h`, `30m`)
    #[arg(long, value_name = "WHEN", value_parser = TimeArg::parse, requires = "path")]
    at: Option<TimeArg>,
    /// With `--at`: only what this author changed. Who deletes or moves a page the wiki does not tell
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), requires = "at")]
    by: Option<String>,
    /// Do not ask. This is nobody's decision: where the write policy wants a person's, the page is
    /// proposed (exit 3)
    #[arg(long)]
    yes: bool,
    /// Why, in one line of at most 200 characters: on record with the write
    #[arg(long, value_name = "TEXT", value_parser = words::note)]
    note: Option<Note>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(command: BinCommand) -> CommandResult {
    match command {
        BinCommand::List { path, json } => list(path.as_ref(), json).await,
        BinCommand::Show { page, json } => show(&page, json).await,
        BinCommand::Restore(arguments) => restore(arguments).await,
    }
}

async fn list(path: Option<&Prefix>, is_json: bool) -> CommandResult {
    let app = start::app_for_operator()?;
    let mirror = mirror(&app)?;
    look_first(&app, mirror).await;
    let bin = mirror.bin(app.wiki.scope(), None, path).await;
    let mut bin = bin.map_err(|error| start::failed("the bin could not be read", &error))?;
    BinPage::count_links(&mut bin.pages, &app.wiki).await;
    if is_json {
        let pages: Vec<BinEntry> = bin.pages.iter().map(BinEntry::from).collect();
        let incomplete = Some(bin.incomplete()).filter(|faults| !faults.is_empty());
        let told = json!({ "pages": pages, "incomplete": incomplete });
        print::json(&without_nulls(told))?;
    } else if !bin.pages.is_empty() {
        table(&bin.pages).print();
    } else if bin.damaged.is_empty() {
        print::line("the bin is empty");
    }
    match bin.damaged.first() {
        None => Ok(Exit::Done),
        Some(fault) => {
            let incomplete = separated(bin.incomplete(), "\n");
            Err(Exit::failed(format!("{incomplete}; {}", fault.hint())))
        }
    }
}

fn table(bin: &[BinPage]) -> Table {
    let mut table = Table::new("number | path | title | last seen | last changed by | links");
    for one in bin {
        table.row(vec![
            Cell::from(one.page.id.to_string()),
            place(one).into(),
            print::harmless(&one.page.title).into(),
            minute(one.gone.last_seen.instant()).into(),
            print::harmless(one.page.author().unwrap_or("?")).into(),
            one.links().into(),
        ]);
    }
    table
}

async fn show(page: &str, is_json: bool) -> CommandResult {
    let app = start::app_for_operator()?;
    let (one, restore) = found(&app, mirror(&app)?, page, None).await?;
    let PageRestore { state, seen, .. } = restore;
    if is_json {
        let page = without_nulls(json!(BinEntry::from(&one)));
        let states = one.page.states.iter();
        let states: Vec<_> = states.map(|seen| json!({ "seen": seen.seen.to_string(), "updatedAt": seen.updated, "author": seen.author })).collect();
        let states = json!({ "states": states, "state": state });
        return print::json(&extended(page, states));
    }
    let fields = Field::ALL.into_iter();
    for field in fields.filter(|field| *field != Field::Content) {
        let value = match state.value(field) {
            _ if !state.knows(field) => "not seen".to_owned(),
            Value::String(text) => text,
            value => value.to_string(),
        };
        say!("{field}: {}", print::harmless(&value));
    }
    if !seen.as_of.is_empty() {
        say!("as seen before: {}", seen.seen_before());
    }
    let last_seen = minute(one.gone.last_seen.instant());
    say!("last seen: {last_seen}\n");
    for line in state.content.lines() {
        print::line(&print::harmless(line));
    }
    Ok(Exit::Done)
}

/// A page of the bin, and its restore to a place.
async fn found(
    app: &App,
    mirror: &Mirror,
    page: &str,
    to: Option<NewPath>,
) -> Result<(BinPage, PageRestore)> {
    let one = mirror.find(page, app.wiki.scope(), None).await?;
    let restore = PageRestore::of(mirror, &one, to).await?;
    Ok((one, restore))
}

async fn restore(arguments: RestoreArgs) -> CommandResult {
    let is_json = arguments.json;
    let app = if arguments.yes {
        start::app_unattended(false)?
    } else {
        start::app_for_operator()?
    };
    if !arguments.yes {
        print::check_can_ask(is_json, "look at the page first, then pass --yes")?;
    }
    let mirror = mirror(&app)?;
    look_first(&app, mirror).await;
    let plan = planned(&app, mirror, &arguments).await?;
    let caller = Caller {
        note: arguments.note,
        ..start::operator(RecordedCommand::BinRestore)
    };
    let wording = Wording {
        question: "Bring it back?",
        done: "brought back",
        none: "there is nothing to bring back",
        what: "page",
        elsewhere: "--to",
    };
    let exit = carry_out(&app, plan, &caller, (arguments.yes, is_json), &wording).await;
    app.writer.finish().await;
    exit
}

/// Looks at the wiki, so that the mirror knows what others just did; where that cannot be, says as of
/// when it is.
async fn look_first(app: &App, mirror: &Mirror) {
    // What cannot be read the command itself tells.
    let last = async || mirror.last_looked().await.ok().flatten();
    let before = last().await;
    let look = Box::pin(app.look_for_mirror(WAIT));
    match print::in_progress("looking at the wiki", look).await {
        Ok(news) => {
            if !news.gone.is_empty() {
                let gone = news.gone.len();
                remark!("pages that are gone since the last look: {gone}");
            }
            if news.went_back {
                print::note(
                    "a page is older than it was seen: a backup of the wiki may have been restored",
                );
            }
        }
        Err(fault) => remark!("the wiki could not be looked at: {fault}"),
    }
    let now = last().await;
    if now == before {
        let when = now.map_or_else(|| "never".to_owned(), |at| minute(at.instant()));
        remark!("the wiki was looked at last: {when}");
    }
}

/// Looks in the wiki's history for how the pages of a part were before the mirror saw them; says what that
/// cannot tell.
async fn look_back(app: &App, mirror: &Mirror, part: &PartThen) -> Result<()> {
    let first = mirror.first_seen().await?;
    if let Some(first) = first.filter(|first| part.at < first.instant()) {
        let first = minute(first.instant());
        remark!(
            "the first look that is kept was at {first}: pages that were gone by then do not come back, and of those that are there the wiki's history tells no tags, styles and scripts of before"
        );
    }
    let back = Box::pin(mirror.look_back(&app.wiki, part));
    if let Err(fault) = print::in_progress("reading the history", back).await {
        remark!("the history of the pages was not read to its end: {fault}");
    }
    Ok(())
}

async fn planned(app: &App, mirror: &Mirror, arguments: &RestoreArgs) -> Result<WriteRequest> {
    if let (Some(prefix), Some(at)) = (&arguments.path, arguments.at) {
        let part = PartThen {
            prefix: prefix.clone(),
            at: at.begin(),
            by: arguments.by.clone(),
        };
        look_back(app, mirror, &part).await?;
        let (pages, more) = mirror.since(part, app.wiki.scope(), None).await?;
        if pages.is_empty() {
            let message = "Nothing of that part differs from what was seen of it then.";
            return Err(Failure::new(Code::NothingToUndo, message)
                .hint("`wikijs-gate bin list` lists what was deleted."));
        }
        return Ok(WriteRequest::RestorePart(RestorePart {
            pages: pages.into(),
            more,
        }));
    }
    let page = arguments.page.as_deref().unwrap_or_default();
    let (_, restore) = found(app, mirror, page, arguments.to.clone()).await?;
    Ok(WriteRequest::Restore(Box::new(restore)))
}

/// Its last place; that of a page that the key did not see any more before it went may be another one.
fn place(one: &BinPage) -> String {
    let place = &one.page.place;
    let place = print::harmless(&format!("{}:{}", place.locale, place.path.as_str()));
    if one.gone.is_hidden {
        format!("{place} (hidden before)")
    } else {
        place
    }
}
