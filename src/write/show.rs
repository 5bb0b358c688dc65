//! Writes that end without being sent: as a preview, as nothing to do, or as a conflict that
//! could be merged.

use crate::audit::Outcome;
use crate::change::Change;
use crate::error::Code;
use crate::gates::{
    self, Allowed, Enabled, Gate, Policy, Previewed, Proposed, Refusal, SessionId, Verdict,
};
use crate::page::{Field, LineCounts};

use super::answer::{Answer, Applied, Notes};
use super::conflict::{Stopped, with_merged};
use super::docket::{Docket, unavailable};
use super::prepare::target;
use super::writer::{Passed, Writer};

impl Writer {
    /// What a caller is told of a change that could not be made. Where it could be merged with
    /// what was written meanwhile, the merged change is shown, with a token that confirms it
    /// where tokens are given; it is never written unasked.
    pub(super) async fn refused(
        &self,
        policy: &Policy,
        enabled: Enabled,
        docket: &Docket,
        session: &SessionId,
        Stopped { failure, merged }: Stopped,
    ) -> Refusal {
        let gate = match failure.code {
            Code::ConfirmExpired | Code::ConfirmMismatch => Gate::Confirm,
            _ => Gate::Change,
        };
        let Some(merged) = merged else {
            return Refusal::at(gate, failure);
        };
        let allowed = match gates::paths(enabled, policy, *merged) {
            Ok(allowed) => allowed,
            Err(refusal) => return refusal,
        };
        let (diff, lines) = allowed.change().content_diff();
        let token = match gates::dry_run(policy, allowed, false) {
            Verdict::Preview(allowed) => {
                let mut docket = docket.clone();
                docket.about(allowed.change());
                docket.counted(lines);
                match self.keep_preview(&docket, &allowed, session).await {
                    Ok(token) => Some(token),
                    Err(refusal) => return refusal,
                }
            }
            Verdict::DryRun(_) | Verdict::Ask(_) | Verdict::Write(_) => None,
        };
        Refusal::at(gate, with_merged(failure, diff, lines, token))
    }

    /// Answers with the preview and a token that confirms it.
    pub(super) async fn show(
        &self,
        docket: &Docket,
        allowed: &Allowed,
        diff: (String, LineCounts),
        notes: Notes,
        session: &SessionId,
    ) -> Result<Passed, Refusal> {
        let confirm = self.keep_preview(docket, allowed, session).await?;
        let preview = self
            .preview(docket.call(), allowed, diff, notes, (Some(confirm), None))
            .await;
        Ok(Passed::Answer(Answer::Preview(Box::new(preview))))
    }

    /// Answers with the preview of what a person may apply later, if there is something to do.
    pub(super) async fn show_dry(
        &self,
        docket: &mut Docket,
        allowed: &Allowed,
        diff: (String, LineCounts),
        mut notes: Notes,
        session: &SessionId,
    ) -> Result<Passed, Refusal> {
        let change = allowed.change();
        let proposal = if change.is_empty() {
            self.record_preview(docket, false).await?;
            None
        } else {
            let (id, replaces) = self.propose(docket, session, change).await?;
            notes.replaces = replaces;
            notes.warnings.push(format!(
                "proposed: nothing was sent; the operator can apply it with `wikijs-mcp proposals apply {id}`."
            ));
            Some(id)
        };
        let preview = self
            .preview(docket.call(), allowed, diff, notes, (None, proposal))
            .await;
        Ok(Passed::Answer(Answer::Preview(Box::new(preview))))
    }

    /// Keeps a change under a token of its own, on record.
    async fn keep_preview(
        &self,
        docket: &Docket,
        allowed: &Allowed,
        session: &SessionId,
    ) -> Result<Previewed, Refusal> {
        self.record_preview(docket, true).await?;
        let proposed = Proposed {
            change: allowed.change().clone(),
            undoes: docket.taken_back(),
            proposal: docket.proposal_id(),
        };
        self.previews
            .offer(session, proposed)
            .map_err(|failure| Refusal::at(Gate::Record, failure))
    }

    async fn record_preview(&self, docket: &Docket, has_token: bool) -> Result<(), Refusal> {
        self.audit
            .record(docket.preview(has_token))
            .await
            .map_err(|error| Refusal::at(Gate::Record, unavailable(&error)))
    }

    /// Answers that the page already is as asked for; on record.
    pub(super) async fn nothing_to_do(
        &self,
        docket: &Docket,
        change: &Change,
        notes: Notes,
    ) -> Result<Passed, Refusal> {
        self.audit
            .record(docket.outcome(Outcome::Unchanged, None, None))
            .await
            .map_err(|error| Refusal::at(Gate::Record, unavailable(&error)))?;
        if let Some(id) = docket.proposal_id() {
            let held = self.hold_open(id, self.patience.queueing).await;
            let held = held.map_err(|failure| Refusal::at(Gate::Change, failure))?;
            self.applied_proposal(held, docket).await;
        }
        Ok(Passed::Answer(Answer::Applied(Box::new(Applied {
            call: docket.call(),
            operation: change.operation(),
            is_unchanged: true,
            target: target(&self.wiki, change.target()),
            changed: Vec::new(),
            lines: LineCounts::default(),
            updated_at: change
                .target()
                .updated_at
                .as_ref()
                .map(|at| at.as_str().to_owned()),
            unverified: Vec::new(),
            notes,
        }))))
    }
}

/// What is to be said of a change wherever it is shown.
pub(super) fn warnings_of(change: &Change) -> Vec<String> {
    let mut warnings = lost_by(change);
    warnings.extend(cannot_return(change));
    if change.has_literal_escapes() {
        warnings.push(
            r"literal_escapes: the new text has \n as two characters and no line break; where lines were meant, send it again with line breaks.".to_owned(),
        );
    }
    warnings
}

/// That a page leaves a place to which nothing brings it back (W28), said before it and after.
fn cannot_return(change: &Change) -> Option<String> {
    leaves_for_good(change).then(|| {
        "cannot_return: the wiki makes no page at this path any more, so undo can bring the page \
         back only at another path."
            .to_owned()
    })
}

/// Whether a page leaves a place to which nothing brings it back (W28).
pub(super) fn leaves_for_good(change: &Change) -> bool {
    let leaves = change.after().is_none() || change.moves();
    let before = change.before().filter(|_| leaves);
    before.is_some_and(|page| !page.path.can_be_made())
}

/// What a change loses for good, or cannot bring back, said before and after it.
fn lost_by(change: &Change) -> Vec<String> {
    let names = |fields: &[Field]| {
        let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
        names.join(", ")
    };
    let mut warnings = Vec::new();
    if !change.lost().is_empty() {
        warnings.push(format!(
            "loss_accepted: this key cannot read {}; what stands there is lost, and undo cannot bring it back.",
            names(change.lost())
        ));
    }
    if !change.left_alone().is_empty() {
        warnings.push(format!(
            "not_known: the write that this takes back could not read {}; it stays as it is.",
            names(change.left_alone())
        ));
    }
    warnings
}
