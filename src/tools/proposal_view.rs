//! Shows proposals to agents.

use serde::Serialize;

use super::output::some_count;
use crate::audit::{MAX_WHY, Proposal, ProposalState};
use crate::page::{Field, escape_hidden, escaped};
use crate::write::Caller;

/// A proposal, flattened; for a set, its first change and how many there are.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProposalView {
    pub(super) id: String,
    pub(super) state: &'static str,
    operation: &'static str,
    page_id: Option<i64>,
    locale: String,
    path: String,
    new_path: Option<String>,
    /// Absent if the calling key neither made the proposal nor may read the page.
    title: Option<String>,
    fields: Vec<&'static str>,
    lines_added: Option<i64>,
    lines_removed: Option<i64>,
    /// The reason given, marked as the words of whoever proposed it.
    note: Option<String>,
    created_at: String,
    call_id: String,
    decided_at: Option<String>,
    #[serde(flatten)]
    ending: ProposalEnding,
    /// The changes that a person left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOutOfSet>,
    /// Number of changes, if it is a set.
    pub(super) pages: Option<i64>,
}

/// What became of a decided proposal.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProposalEnding {
    /// The call that wrote it.
    applied_by: Option<String>,
    /// The reason for the rejection.
    reason: Option<String>,
    replaced_by: Option<String>,
    /// The client that took it back.
    withdrawn_by: Option<String>,
}

impl ProposalEnding {
    pub(super) fn new(state: &ProposalState) -> Self {
        let mut ending = Self::default();
        match state {
            ProposalState::Open => {}
            ProposalState::Applied { applied_by, .. } => {
                ending.applied_by = Some(applied_by.to_string());
            }
            ProposalState::Rejected { reason, .. } => {
                ending.reason = Some(escaped(reason, MAX_WHY));
            }
            ProposalState::Replaced { replaced_by, .. } => {
                ending.replaced_by = Some(replaced_by.to_string());
            }
            ProposalState::Withdrawn { withdrawn_by, .. } => {
                ending.withdrawn_by = Some(escape_hidden(withdrawn_by));
            }
        }
        ending
    }
}

/// A change of a set that a person left out.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LeftOutOfSet {
    page_id: Option<i64>,
    path: String,
}

impl ProposalView {
    /// A proposal, with the page's title if the caller may see it.
    pub(super) fn new(proposal: Proposal, has_title: bool) -> Self {
        let left_out = proposal.changes_left_out();
        let left_out = left_out
            .map(|(_, one)| LeftOutOfSet {
                page_id: one.page,
                path: one.path.as_str().to_owned(),
            })
            .collect();
        let pages = proposal.changes().count();
        Self {
            id: proposal.id.to_string(),
            state: proposal.state.as_str(),
            operation: proposal.first.operation.as_str(),
            page_id: proposal.first.page,
            locale: proposal.first.locale.as_str().to_owned(),
            path: proposal.first.path.as_str().to_owned(),
            new_path: proposal.first.new_path.map(|path| path.as_str().to_owned()),
            title: has_title.then(|| escape_hidden(&proposal.first.title)),
            fields: proposal.first.fields.into_iter().map(Field::name).collect(),
            lines_added: some_count(proposal.first.lines_added),
            lines_removed: some_count(proposal.first.lines_removed),
            note: proposal.note.map(|note| note.to_string()),
            created_at: proposal.created.into(),
            call_id: proposal.call.to_string(),
            decided_at: proposal.state.decided().cloned().map(String::from),
            ending: ProposalEnding::new(&proposal.state),
            left_out,
            pages: some_count(pages).filter(|_| proposal.is_list),
        }
    }
}

/// True if the proposal is the caller's own. A named client is known by its id. Other clients state
/// their own names, so for them this only separates the agents of one user and protects nothing; a
/// page's text is shown only as far as the key may read it.
pub(crate) fn may_see(caller: &Caller, proposal: &Proposal) -> bool {
    let (own, its) = (&caller.client, &proposal.client);
    own.is_same_owner(its) && (own.is_known() || own.name == its.name)
}
