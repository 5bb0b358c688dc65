//! `wikijs_get_proposal`: one proposal, and whether it still fits (toolset `proposals`).

use serde_json::{Map, Value};

use super::detail::{self, FULL_OF_ONE};
use super::prelude::*;
use super::proposal_view::{ProposalView, may_see};
use super::set_view::{ChangesView, Grouped, about, group_warnings, place};
use crate::audit::{Proposal, ProposalId};
use crate::change::{Warning, cut_to, short_to};
use crate::render_budget;
use crate::words::and_more;
use crate::write::{Extent, Proposals, Review, ReviewWarning};

/// The tool.
pub(super) struct GetProposal;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The proposal's id, as `proposal` in the write's answer.
    #[garde(length(chars, max = 16))]
    pub(super) id: String,
}

/// Its answer.
#[derive(Debug, Serialize)]
pub(super) struct Output {
    #[serde(flatten)]
    proposal: ProposalView,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Grouped<Warning>>,
    /// Changes on the page since, and both merged if they do not overlap.
    since: Option<Map<String, Value>>,
    #[serde(flatten)]
    effect: Effect,
}

/// What it does.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Effect {
    /// Nothing that this key may see.
    Unread {},
    One {
        changes: Map<String, Value>,
        diff: String,
        hint: Option<&'static str>,
    },
    Set(ChangesView),
}

impl Tool for GetProposal {
    const NAME: &'static str = "wikijs_get_proposal";
    const DESCRIPTION: &'static str = "See what a proposed write changes and what became of it: open, outdated (with what changed since), applied, rejected with a reason, replaced or withdrawn.";
    const ANSWER: &'static str = "Absent: 0, none.";
    const KIND: ToolKind = ToolKind::Read;
    const MOST_BYTES: usize = TEXT_BYTES;
    const SHOWS_CHANGES: bool = true;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        render_budget::within(shown(context, input)).await
    }
}

/// The failure for an id that names no proposal of the caller's.
pub(super) fn none() -> Failure {
    invalid_argument("id", "names no proposal of this client")
}

async fn shown(context: ToolContext, input: Input) -> Result<Output> {
    let id: ProposalId = input.id.parse().map_err(|_| none())?;
    let extent = context.caller.extent;
    let is_own = |proposal: &Proposal| may_see(&context.caller, proposal);
    let found = Box::pin(context.desk.review(id, is_own));
    let (mut review, told) = match found.await {
        Ok(found) => found,
        Err(failure) if failure.code == Code::InvalidInput => return Err(none()),
        Err(failure) => return Err(failure),
    };
    let is_made = context.desk.past().made(&review.proposal);
    let has_title = review.is_readable || is_made;
    let mut warnings = Vec::new();
    if review.is_readable {
        // What was said when it was made was said to the key of its maker.
        let was_said = |one: &ReviewWarning| {
            let mut said = review.proposal.said.iter();
            said.any(|said| said.warning == one.warning)
        };
        let told = { told.iter() }.filter(|one| is_made || !was_said(one));
        warnings.extend(told.map(|one| placed(one, &review.proposal)));
    }
    let before = review.warned_before(&told).filter(|_| has_title);
    warnings.extend(before.map(|told| Warning::new("warned_before", told)));
    warnings.extend(Proposals::warned_of_earlier(
        &review.proposal,
        &review.begun_by,
    ));
    let effect = Effect::of(&mut review, (extent, has_title), &mut warnings);
    let mut proposal = ProposalView::new(review.proposal, has_title);
    if let Effect::Set(_) = effect {
        // The changes say it.
        proposal.pages = None;
    }
    if let Some(failure) = &review.unseen {
        warnings.push(Warning::new("not_shown", failure.message.clone()));
    }
    let mut since = None;
    match review.hindrance {
        Some(failure) if failure.code == Code::ProposalOutdated => {
            proposal.state = "outdated";
            warnings.push(Warning::new("outdated", failure.message.clone()));
            since = Some(failure.details).filter(|_| review.is_readable);
        }
        Some(_) if review.is_held => {
            let message =
                "somebody is deciding on it, or it is being applied; ask again in a moment.";
            warnings.push(Warning::new("being_decided", message));
        }
        Some(failure) => warnings.push(Warning::new("not_compared", failure.message.clone())),
        None => {}
    }
    if let (Some(since), Extent::Brief) = (&mut since, extent) {
        detail::shorten(since);
    }
    Ok(Output {
        proposal,
        warnings: group_warnings(warnings, extent),
        since,
        effect,
    })
}

/// A warning about a proposal, with the page of the change of a set that it is about.
fn placed(one: &ReviewWarning, proposal: &Proposal) -> Warning {
    let mut changes = one.changes.iter();
    let change = changes.next().filter(|_| proposal.is_list);
    let change = change.and_then(|number| proposal.changes().nth(*number));
    let Some(change) = change else {
        return one.warning.clone();
    };
    let page = place(change.locale.as_str(), change.path.as_str());
    about(&(page + &and_more(changes.len())), &one.warning)
}

impl Effect {
    fn of(
        review: &mut Review,
        (extent, has_title): (Extent, bool),
        warnings: &mut Vec<Warning>,
    ) -> Self {
        if review.proposal.is_list {
            let (mut lines, hidden) = review.take_lines(extent);
            if hidden > 0 {
                let message = format!("what {hidden} of the changes do has no room here.");
                warnings.push(Warning::new("diffs_not_shown", message));
            }
            for line in lines.iter_mut().filter(|_| !has_title) {
                line.target.title = String::new();
            }
            let pages = lines.len();
            return Self::Set(ChangesView::new(lines, (0, pages), extent));
        }
        if !review.is_readable {
            return Self::Unread {};
        }
        let change = review
            .changes
            .pop()
            .map(|one| (one.change.values, one.change.diff));
        let (changes, diff) = change.unwrap_or_default();
        let before = warnings.len();
        let (of_value, of_diff) = extent.room();
        let changes = short_to(changes, of_value, warnings);
        let diff = cut_to(diff, of_diff, warnings);
        let is_cut = extent == Extent::Brief && warnings.len() > before;
        Self::One {
            changes,
            diff,
            hint: is_cut.then_some(FULL_OF_ONE),
        }
    }
}
