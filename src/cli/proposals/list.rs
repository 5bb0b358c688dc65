//! `wikijs-gate proposals list`

use std::fmt::Write as _;
use std::time::Instant;

use super::{Exit, ProposalFilter};
use crate::audit::{Proposal, ProposalState, TimeArg};
use crate::change::Operation;
use crate::cli::prelude::*;
use crate::page::Field;
use crate::words::and_more;
use crate::write::{ListedProposal, ListedState, MAX_LISTED};

/// Arguments of `proposals list`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate proposals list\n  wikijs-gate proposals list --all --path docs --since 2030-01-31"
)]
pub(in crate::cli) struct Arguments {
    /// Only undecided proposals (the default)
    #[arg(long, conflicts_with = "all")]
    open: bool,
    /// Also decided proposals
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    filter: ProposalFilter,
    /// Only proposals made since this time: a date, a time, or how long ago (`7d`, `24h`)
    #[arg(long, value_name = "TIME", value_parser = TimeArg::parse)]
    since: Option<TimeArg>,
    /// How many at most: 50 by default
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    limit: Option<u16>,
    /// Answer in JSON: one object with `proposals`, and `notShown` if there are more
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments) -> CommandResult {
    let app = start::app_for_operator()?;
    let mut proposals = app.desk.proposals().all().await?;
    let since = arguments.since.map(TimeArg::begin);
    proposals.retain(|proposal| {
        (arguments.all || proposal.is_open())
            && arguments.filter.fits(proposal)
            && since.is_none_or(|since| proposal.created.instant() >= Some(since))
    });
    let limit = arguments.limit.map_or(MAX_LISTED, usize::from);
    let not_shown = proposals.len().saturating_sub(limit);
    proposals.truncate(limit);
    let standing = app.desk.proposals().standing(&proposals, Instant::now());
    let standing = standing.await;
    if arguments.json {
        let shown = proposals.iter().zip(&standing);
        let shown: Vec<Value> = shown.map(|(one, now)| as_json(one, now)).collect();
        let more = (not_shown > 0).then(|| json!({ "notShown": not_shown }));
        return print::json(&extended(json!({ "proposals": shown }), more));
    }
    if proposals.is_empty() {
        print::line("no proposals");
        start::note_place(&app.desk.log_dir())?;
    } else {
        table(&app, &proposals, &standing).print();
        if not_shown > 0 {
            remark!("{not_shown} later ones are not shown: --limit");
        }
    }
    Ok(Exit::Done)
}

/// A proposal for a program, with its risks and with how it stands; `state` is that of its file.
fn as_json(proposal: &Proposal, now: &ListedProposal) -> Value {
    let more = json!({ "standing": now.state.as_str(), "risks": proposal.risks() });
    extended(json!(proposal), more)
}

fn table(app: &App, proposals: &[Proposal], standing: &[ListedProposal]) -> Table {
    let mut table = Table::new(
        "id | state | write | page | lines | fields | proposed | expires | client | risks | why",
    );
    for (proposal, now) in proposals.iter().zip(standing) {
        let paint = match proposal.state {
            ProposalState::Open if now.state == ListedState::Outdated => Paint::Red,
            ProposalState::Open => Paint::Yellow,
            ProposalState::Applied { .. } => Paint::Green,
            ProposalState::Rejected { .. } => Paint::Red,
            ProposalState::Replaced { .. } | ProposalState::Withdrawn { .. } => Paint::Dim,
        };
        let note = super::words_of(proposal);
        table.row(vec![
            proposal.id.to_string().into(),
            Cell::painted(now.state.as_str(), paint),
            proposal.first.operation.as_str().into(),
            place(proposal).into(),
            lines(proposal).into(),
            fields(proposal).into(),
            made(proposal).into(),
            app.desk
                .proposals()
                .expires(proposal)
                .map_or_else(String::new, from_now)
                .into(),
            super::asker(proposal).into(),
            Cell::painted(super::risks(&proposal.risks()), Paint::Yellow),
            note.unwrap_or_default().into(),
        ]);
    }
    table.leave_out_empty(&["risks", "why"]);
    table
}

/// The first page, how many more a set has, and how many of them a person left out.
fn place(proposal: &Proposal) -> String {
    let mut kept = proposal.changes_kept_in().map(|(_, change)| change);
    let Some(first) = kept.next() else {
        return String::new();
    };
    let mut told = print::place(first.locale.as_str(), first.path.as_str());
    told.push_str(&and_more(kept.count()));
    let left_out = proposal.state.left_out().len();
    if left_out > 0 {
        // Writing to a string cannot fail.
        let _ = write!(told, ", {left_out} left out");
    }
    told
}

/// The time at which a proposal was made, for people.
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
    if matches!(
        proposal.first.operation,
        Operation::Create | Operation::Delete
    ) {
        return String::new();
    }
    let fields = proposal.first.fields.iter().copied();
    let fields = fields.filter(|field| *field != Field::Content);
    separated(fields.map(Field::name), ", ")
}
