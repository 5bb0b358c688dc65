//! What agents are told of a proposal.

use serde::Serialize;

use super::output::some_count;
use crate::audit::{MAX_WHY, Proposal, ProposalState};
use crate::page::{Field, escape_hidden, escaped};
use crate::write::Caller;

/// A proposal, flat.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    pub(super) id: String,
    pub(super) state: &'static str,
    operation: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    page_id: Option<i64>,
    locale: String,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_path: Option<String>,
    /// Absent where the key that asks neither made it nor may read the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    fields: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_added: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_removed: Option<i64>,
    created_at: String,
    call_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_at: Option<String>,
    /// The call that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    applied_by: Option<String>,
    /// Why it was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<String>,
}

impl View {
    /// A proposal; with the page's title, if that may be told.
    pub(super) fn of(proposal: Proposal, has_title: bool) -> Self {
        let (mut applied_by, mut reason, mut replaced_by) = (None, None, None);
        match &proposal.state {
            ProposalState::Open => {}
            ProposalState::Applied { applied_by: by, .. } => applied_by = Some(by.to_string()),
            ProposalState::Rejected { reason: why, .. } => reason = Some(escaped(why, MAX_WHY)),
            ProposalState::Replaced {
                replaced_by: by, ..
            } => replaced_by = Some(by.to_string()),
        }
        Self {
            id: proposal.id.to_string(),
            state: proposal.state.as_str(),
            operation: proposal.operation.as_str(),
            page_id: proposal.page,
            locale: proposal.locale.as_str().to_owned(),
            path: proposal.path.as_str().to_owned(),
            new_path: proposal.new_path.map(|path| path.as_str().to_owned()),
            title: has_title.then(|| escape_hidden(&proposal.title)),
            fields: proposal.fields.into_iter().map(Field::name).collect(),
            lines_added: some_count(proposal.lines_added),
            lines_removed: some_count(proposal.lines_removed),
            created_at: proposal.created.into(),
            call_id: proposal.call.to_string(),
            decided_at: proposal.state.decided().cloned().map(String::from),
            applied_by,
            reason,
            replaced_by,
        }
    }
}

/// Whether the caller is told of a proposal: one of its own. A named client is known by its id.
/// All others say themselves what they are called, so this keeps different agents of one user
/// apart and guards nothing; the text of a page is told only as far as the key may read it.
pub(crate) fn is_told(caller: &Caller, proposal: &Proposal) -> bool {
    let (own, its) = (&caller.client, &proposal.client);
    own.is_same_owner(its) && (own.is_known() || own.name == its.name)
}
