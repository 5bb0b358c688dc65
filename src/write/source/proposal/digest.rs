//! What a person was shown of a proposal, in a word that a decision can carry.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::audit::Proposal;
use crate::change::Change;
use crate::hex;
use crate::page::{Field, PageState};

/// A SHA-256, in hex, over a proposal's id and note and, in order, what each of its changes does:
/// the kind, the page's fields before and after, and the fields that are lost. A change that is
/// merged with what was written since counts as merged. Times count for nothing: the wiki changes
/// them when other pages move.
pub(in crate::write) fn of<'a>(
    proposal: &Proposal,
    changes: impl Iterator<Item = &'a Change>,
) -> String {
    let mut digest = Sha256::new();
    let note = proposal.note.as_ref().map(ToString::to_string);
    let mut take = |told: Value| {
        let told = told.to_string();
        // Lengths tell where one ends and the next begins.
        digest.update(told.len().to_be_bytes());
        digest.update(told);
    };
    take(json!(["proposal", proposal.id.to_string(), note]));
    for change in changes {
        take(json!({
            "operation": change.operation().as_str(),
            "page": change.before().and_then(|page| page.id),
            "before": change.before().map(values),
            "after": change.after().map(values),
            "lost": change.lost().iter().map(|field| field.name()).collect::<Vec<_>>(),
        }));
    }
    hex::encode(&digest.finalize())
}

fn values(page: &PageState) -> Map<String, Value> {
    let fields = Field::ALL.iter();
    fields
        .map(|field| (field.name().to_owned(), page.value(*field)))
        .collect()
}
