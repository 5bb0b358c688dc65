//! `wikijs-mcp proposals list`

use serde_json::json;

use super::super::print::{self, Paint};
use super::super::table::{Cell, Table};
use super::super::when::{from_now, minute};
use super::super::{Outcome, start};
use super::{Exit, Filter, is_open};
use crate::audit::{Proposal, ProposalState, When};
use crate::change::Operation;
use crate::page::Field;
use crate::server::App;

/// Arguments of `proposals list`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-mcp proposals list\n  wikijs-mcp proposals list --all --path docs --since 2030-01-31"
)]
pub(super) struct Arguments {
    /// Only undecided proposals (the default)
    #[arg(long, conflicts_with = "all")]
    open: bool,
    /// Also decided proposals
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    filter: Filter,
    /// Only proposals made since this time: a date, a time, or how long ago (`7d`, `24h`)
    #[arg(long, value_name = "TIME", value_parser = When::parse)]
    since: Option<When>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments) -> Outcome {
    let app = start::app_for_operator()?;
    let mut proposals = app
        .desk
        .proposals()
        .all()
        .await
        .map_err(|failure| print::failure(&failure, arguments.json))?;
    let since = arguments.since.map(When::begin);
    proposals.retain(|proposal| {
        (arguments.all || is_open(proposal))
            && arguments.filter.fits(proposal)
            && since.is_none_or(|since| proposal.created.instant() >= Some(since))
    });
    if arguments.json {
        print::line(&json!({ "proposals": proposals }).to_string());
    } else if proposals.is_empty() {
        print::line("no proposals");
        print::note(&print::harmless(&format!(
            "looked for in {}",
            app.desk.log_dir().display()
        )));
    } else {
        table(&app, &proposals).print();
    }
    Ok(Exit::Done)
}

fn table(app: &App, proposals: &[Proposal]) -> Table {
    let mut head = vec![
        "id", "state", "write", "page", "lines", "fields", "proposed", "expires", "client",
    ];
    let has_notes = proposals.iter().any(|one| one.note.is_some());
    if has_notes {
        head.push("why");
    }
    let mut table = Table::new(&head);
    for proposal in proposals {
        let paint = match proposal.state {
            ProposalState::Open => Paint::Yellow,
            ProposalState::Applied { .. } => Paint::Green,
            ProposalState::Rejected { .. } => Paint::Red,
            ProposalState::Replaced { .. } => Paint::Dim,
        };
        let mut row = vec![
            proposal.id.to_string().into(),
            Cell::painted(proposal.state.as_str(), paint),
            proposal.operation.as_str().into(),
            place(proposal).into(),
            lines(proposal).into(),
            fields(proposal).into(),
            made(proposal).into(),
            app.desk
                .proposals()
                .expires(proposal)
                .map_or_else(String::new, from_now)
                .into(),
            super::client(&proposal.client).into(),
        ];
        if has_notes {
            let note = proposal.note.as_ref().map(ToString::to_string);
            row.push(print::harmless(&note.unwrap_or_default()).into());
        }
        table.row(row);
    }
    table
}

/// The page, and how many more a set has.
fn place(proposal: &Proposal) -> String {
    let place = print::place(proposal.locale.as_str(), proposal.path.as_str());
    match proposal.others.len() {
        0 => place,
        more => format!("{place} and {more} more"),
    }
}

/// When it was made, for people.
fn made(proposal: &Proposal) -> String {
    proposal
        .created
        .instant()
        .map_or_else(|| print::harmless(proposal.created.as_str()), minute)
}

/// The lines of content that come and go.
fn lines(proposal: &Proposal) -> String {
    let all = || proposal.changes();
    let added = all().fold(0_usize, |sum, one| sum.saturating_add(one.lines_added));
    let removed = all().fold(0_usize, |sum, one| sum.saturating_add(one.lines_removed));
    match (added, removed) {
        (0, 0) => String::new(),
        (added, removed) => format!("+{added} -{removed}"),
    }
}

/// The changed fields beside the content. A create sets all fields and a delete leaves none, so
/// for these the text is empty.
fn fields(proposal: &Proposal) -> String {
    if matches!(proposal.operation, Operation::Create | Operation::Delete) {
        return String::new();
    }
    let fields = proposal.fields.iter().copied();
    let names: Vec<&str> = fields
        .filter(|field| *field != Field::Content)
        .map(Field::name)
        .collect();
    names.join(", ")
}
