//! The answer about an applied write.

use crate::audit::CallId;
use crate::change::Change;
use crate::page::{Attached, LineCounts};
use crate::wiki::Wiki;

use super::show::target;
use super::verify::Settled;
use crate::write::answer::{Applied, Notes};

/// The answer about a change, with the page found after its last step.
pub(super) fn applied(
    wiki: &Wiki,
    call: CallId,
    change: &Change,
    last: Option<Settled>,
    lines: LineCounts,
    notes: Notes,
) -> Applied {
    let proof = last.and_then(|settled| settled.proof);
    let page = proof
        .as_ref()
        .map_or_else(|| change.target(), |proof| &proof.found);
    Applied {
        call,
        operation: change.operation(),
        is_unchanged: false,
        target: target(wiki, page),
        changed: change.fields(),
        lines,
        updated_at: page
            .updated_at
            .as_ref()
            .filter(|_| change.after().is_some())
            .map(|at| at.as_str().to_owned()),
        unreadable: change
            .thing()
            .filter(|_| change.before().is_none())
            .and_then(Attached::unreadable),
        unverified: proof.map(|proof| proof.unverified).unwrap_or_default(),
        notes,
    }
}
