//! `wikijs_get_change_set`: what a set of changes would do, or how far it has been applied.

use super::prelude::*;
use super::proposal_view::{ProposalEnding, may_see};
use super::set_view::{ChangesView, Grouped, group_warnings, placed_warnings};
use super::write_output::WriteOutput;
use crate::audit::{CallId, Draft, Proposal, ProposalState};
use crate::change::Warning;
use crate::render_budget;
use crate::write::{Extent, WriteAnswer};

/// The tool.
pub(super) struct GetChangeSet;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// A draft, or previewId or callId of a set. Without it: your drafts.
    #[garde(custom(rule::optional(rule::draft)))]
    id: Option<String>,
    /// nextOffset of the page before.
    #[garde(range(max = 10_000))]
    offset: Option<u32>,
}

/// Its answer.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Output {
    Drafts { drafts: Vec<DraftShown> },
    Changes(ChangesShown),
    Sent(Box<WriteOutput>),
}

/// A draft, without its changes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DraftShown {
    draft: String,
    id: String,
    pages: i64,
    changed_at: String,
}

/// The effect of each change, for a set that this call did not send.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangesShown {
    #[serde(skip_serializing_if = "is_default")]
    preview: bool,
    draft: Option<String>,
    id: String,
    #[serde(flatten)]
    decision: Option<SetDecision>,
    /// The warnings that lines name by their codes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Grouped<Warning>>,
    #[serde(flatten)]
    changes: ChangesView,
}

/// The decision of a person about a set that was proposed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SetDecision {
    proposal: String,
    state: &'static str,
    #[serde(flatten)]
    ending: ProposalEnding,
}

impl Tool for GetChangeSet {
    const NAME: &'static str = "wikijs_get_change_set";
    const DESCRIPTION: &'static str = "What a draft, or a set of changes that was shown, would do, page by page; of one that was sent, how far it is: ask again while its outcome is applying.";
    const ANSWER: &'static str = "preview true: nothing was sent. Absent: false, 0, none.";
    const KIND: ToolKind = ToolKind::Read;
    const MOST_BYTES: usize = TEXT_BYTES;
    const SHOWS_CHANGES: bool = true;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        render_budget::within(shown(context, input)).await
    }
}

async fn shown(context: ToolContext, input: Input) -> Result<Output> {
    let (desk, caller) = (&context.desk, &context.caller);
    let Some(id) = input.id else {
        let drafts = desk.drafts(caller).await?;
        let shown = |draft: Draft| DraftShown {
            draft: draft.name.to_string(),
            id: draft.id.to_string(),
            pages: count(draft.changes.len()),
            changed_at: draft.changed.into(),
        };
        let drafts = drafts.into_iter().map(shown).collect();
        return Ok(Output::Drafts { drafts });
    };
    let from = input.offset.unwrap_or_default();
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    if let Ok(call) = id.parse::<CallId>() {
        if let Some(sent) = desk.change_set(caller, call).await? {
            let written = WriteOutput::new(WriteAnswer::Set(Box::new(sent)), caller.extent);
            return Ok(Output::Sent(Box::new(written)));
        }
        if let Some((pages, lines)) = desk.shown_set(caller, call, from).await? {
            let changes = ChangesView::new(lines, (from, pages), caller.extent);
            return Ok(Output::Changes(ChangesShown::new(id, None, changes)));
        }
        let own = |proposal: &Proposal| may_see(caller, proposal);
        if let Some((proposal, lines)) = desk.proposed_set(call, own, (from, caller.extent)).await?
        {
            let pages = proposal.changes().count();
            let changes = ChangesView::new(lines, (from, pages), caller.extent);
            let shown = ChangesShown::new(id, None, changes);
            return Ok(Output::Changes(shown.left_to_people(&proposal)));
        }
    }
    let draft = desk.draft(caller, input::draft(&id)?).await;
    let draft = draft.map_err(|failure| failure.hint(
            "Call wikijs_get_change_set without id for your drafts; wikijs-gate audit list shows the operator all that is on record.",
        ))?;
    let (name, id) = (draft.name.to_string(), draft.id.to_string());
    let pages = draft.changes.len();
    let lines = desk.lines_of(draft, from, caller.extent)?;
    let mut warnings: Vec<Warning> = lines.iter().flat_map(placed_warnings).collect();
    if caller.extent != Extent::Brief {
        warnings.clear();
    }
    let changes = ChangesView::new(lines, (from, pages), caller.extent);
    Ok(Output::Changes(ChangesShown {
        warnings: group_warnings(warnings, caller.extent),
        ..ChangesShown::new(id, Some(name), changes)
    }))
}

impl ChangesShown {
    const fn new(id: String, draft: Option<String>, changes: ChangesView) -> Self {
        Self {
            preview: true,
            draft,
            id,
            changes,
            warnings: Vec::new(),
            decision: None,
        }
    }

    fn left_to_people(self, proposal: &Proposal) -> Self {
        Self {
            preview: !matches!(proposal.state, ProposalState::Applied { .. }),
            decision: Some(SetDecision {
                proposal: proposal.id.to_string(),
                state: proposal.state.as_str(),
                ending: ProposalEnding::new(&proposal.state),
            }),
            ..self
        }
    }
}
