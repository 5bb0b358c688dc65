//! `wikijs-gate proposals`: what agents proposed, for people to decide.

mod apply;
mod list;
mod reject;
mod show;

use std::collections::BTreeSet;

use clap::Subcommand;

use super::id_prefix::by_prefix;
use super::show_change;
use crate::audit::{Actor, Proposal, ProposalId};
use crate::change::Risk;
use crate::cli::prelude::*;
use crate::page::{Prefix, Whose, own_words};

#[derive(Debug, Subcommand)]
pub(super) enum ProposalsCommand {
    /// List proposals, oldest first
    List(list::Arguments),
    /// Show a proposal: what it changes, and what changed since
    Show(show::Arguments),
    /// Apply proposals, after showing what each changes
    Apply(apply::Arguments),
    /// Reject proposals, with a reason that the agent can read
    Reject(reject::Arguments),
}

pub(super) async fn run(command: ProposalsCommand) -> CommandResult {
    match command {
        ProposalsCommand::List(arguments) => list::run(arguments).await,
        ProposalsCommand::Show(arguments) => Box::pin(show::run(arguments)).await,
        ProposalsCommand::Apply(arguments) => apply::run(arguments).await,
        ProposalsCommand::Reject(arguments) => reject::run(arguments).await,
    }
}

/// Selects proposals that are not named.
#[derive(Debug, clap::Args)]
struct ProposalFilter {
    /// Only proposals of this client
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// Only proposals for pages at or below this path (`docs`, `de:docs`)
    #[arg(long, value_name = "PREFIX", value_parser = Prefix::sought)]
    path: Option<Prefix>,
}

impl ProposalFilter {
    fn fits(&self, proposal: &Proposal) -> bool {
        let is_below = |prefix: &Prefix| {
            let mut changes = proposal.changes();
            changes.any(|one| prefix.holds(&one.locale, &one.path))
        };
        let is_by = |name: &String| proposal.client.is_known_as(name);
        self.client.as_ref().is_none_or(is_by) && self.path.as_ref().is_none_or(is_below)
    }
}

/// Which proposals are decided on: those that are named, or the open ones that fit.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("which").required(true).multiple(true).args(["ids", "client", "path", "all"]))]
struct ProposalSelection {
    /// The proposals' ids, or four or more of their first characters
    #[arg(conflicts_with_all = ["client", "path", "all"])]
    ids: Vec<String>,
    #[command(flatten)]
    filter: ProposalFilter,
    /// All open ones
    #[arg(long)]
    all: bool,
}

impl ProposalSelection {
    /// Their ids; of the open ones, oldest first.
    async fn wanted(&self, app: &App) -> Result<Vec<ProposalId>> {
        if !self.ids.is_empty() {
            return named(app, &self.ids).await;
        }
        let all = app.desk.proposals().all().await?;
        let fits = |proposal: &&Proposal| proposal.is_open() && self.filter.fits(proposal);
        Ok(all
            .iter()
            .filter(fits)
            .map(|proposal| proposal.id)
            .collect())
    }
}

/// The proposals that are named, by their ids or the beginnings of these.
pub(super) async fn named(app: &App, names: &[String]) -> Result<Vec<ProposalId>> {
    let all = app.desk.proposals().all().await?;
    let several = || {
        let message = "Several proposals begin like that, or it is too short.";
        Failure::new(Code::InvalidInput, message)
            .hint("Name more of its id; `wikijs-gate proposals list --all` has them.")
    };
    let mut ids = Vec::new();
    for name in names {
        let found = by_prefix(&all, |proposal| proposal.id.to_string(), name, several)?;
        match found {
            Some(proposal) => ids.push(proposal.id),
            None => return Err(not_among_them(app, name).await),
        }
    }
    Ok(ids)
}

/// The failure for a name of none of the proposals that can be read: what is wrong with its own, if it has one.
async fn not_among_them(app: &App, name: &str) -> Failure {
    let Ok(id) = name.parse() else {
        return no_such_proposal();
    };
    let own = app.desk.proposals().one(id).await.err();
    let is_damaged = |failure: &Failure| failure.code != Code::InvalidInput;
    own.filter(is_damaged).unwrap_or_else(no_such_proposal)
}

fn no_such_proposal() -> Failure {
    Failure::new(Code::InvalidInput, "There is no such proposal.")
        .hint("`wikijs-gate proposals list --all` has all of them.")
}

/// Prints why a proposal cannot be applied, what changed since, and the merge of both.
fn hindered(failure: &Failure) {
    print::line(&print::painted(&failure.to_string(), Paint::Yellow));
    since(failure);
    if let Some(merged) = failure.details.get("merged") {
        print::line("merged with that, the proposal is:");
        changes(merged.get("changes"), merged.get("diff"));
    }
}

/// Prints what changed in the page since a proposal was made, if its failure says so.
pub(super) fn since(failure: &Failure) {
    let (fields, diff) = (failure.details.get("changes"), failure.details.get("diff"));
    // A number of changes is no change of the page.
    let fields = fields.filter(|fields| fields.is_object());
    if fields.is_some() || diff.is_some() {
        print::line("changed since:");
        changes(fields, diff);
    }
}

fn changes(fields: Option<&Value>, diff: Option<&Value>) {
    if let Some(fields) = fields.and_then(Value::as_object) {
        print::lines(&show_change::fields(fields));
    }
    print::lines(&show_change::diff(
        diff.and_then(Value::as_str).unwrap_or_default(),
    ));
}

/// The words for risks.
fn risks(risks: &BTreeSet<Risk>) -> String {
    separated(risks, ", ")
}

/// The reason for a proposal, in the words of the person or client who made it.
fn words_of(proposal: &Proposal) -> Option<String> {
    let is_person = proposal.actor.is_some();
    let whose = if is_person {
        Whose::Operator
    } else {
        Whose::Agent
    };
    let note = proposal.note.as_ref()?;
    Some(print::harmless(&own_words(whose, note.as_str())))
}

/// Names the proposer: the client's name for itself, and before it the person's or its authenticated name,
/// if it has one.
fn asker(proposal: &Proposal) -> String {
    let named = print::client(&proposal.client);
    let person = proposal.actor.as_ref().map(Actor::as_str);
    match person.or(proposal.client.subject.as_deref()) {
        Some(name) => format!("{} ({named})", print::harmless(name)),
        None => named,
    }
}
