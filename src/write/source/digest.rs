//! Computes digests of changes, to recognise a set that was shown before.

use std::io;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use sha2::{Digest as _, Sha256};

use crate::audit::DraftChange;
use crate::change::Change;
use crate::gates::{ChangeSet, DraftDigest};
use crate::page::{Field, PageState};

/// The SHA-256 of what changes do, in order, below a head: the kind, the page's fields before and
/// after, and the fields that are lost. Times count for nothing: the wiki changes them when other
/// pages move.
pub(super) fn digest<'a>(
    head: &impl Serialize,
    changes: impl Iterator<Item = DigestInput<'a>>,
) -> [u8; 32] {
    let mut digest = Digested(Sha256::new());
    digest.take(head);
    for change in changes {
        digest.take(&change);
    }
    digest.0.finalize().into()
}

/// The digest of the changes of a draft, as they are in it.
pub(crate) fn of_draft(changes: &[DraftChange]) -> DraftDigest {
    of_unordered(changes.iter().map(|one| {
        let (before, after) = (one.before.as_ref(), one.after.as_ref());
        DigestInput::new("", (before, after), &one.lost)
    }))
}

/// The same of a set that submits a draft; pages of which only links are mended are in no draft.
pub(crate) fn of_submitted(set: &ChangeSet) -> DraftDigest {
    let drafted = set.iter().filter(|one| set.only_mends(one).is_none());
    of_unordered(drafted.map(|one| {
        let (before, after) = (one.change.before(), one.change.after());
        DigestInput::new("", (before, after), one.change.lost())
    }))
}

/// A set is sent in the order of need, which says nothing of what it does.
fn of_unordered<'a>(changes: impl Iterator<Item = DigestInput<'a>>) -> DraftDigest {
    let mut all: Vec<[u8; 32]> = changes
        .map(|change| digest(&"draft", std::iter::once(change)))
        .collect();
    all.sort_unstable();
    let all = Sha256::digest(all.concat());
    DraftDigest(all.first_chunk().copied().unwrap_or_default())
}

/// The effect of a change.
#[derive(serde::Serialize)]
pub(super) struct DigestInput<'a> {
    operation: &'a str,
    page: Option<i64>,
    before: Option<Values<'a>>,
    after: Option<Values<'a>>,
    lost: Vec<&'a str>,
}

impl<'a> DigestInput<'a> {
    fn new(
        operation: &'a str,
        (before, after): (Option<&'a PageState>, Option<&'a PageState>),
        lost: &[Field],
    ) -> Self {
        Self {
            operation,
            page: before.and_then(|page| page.id),
            before: before.map(Values),
            after: after.map(Values),
            lost: Field::names(lost),
        }
    }
}

impl<'a> From<&'a Change> for DigestInput<'a> {
    fn from(change: &'a Change) -> Self {
        let states = (change.before(), change.after());
        Self::new(change.operation().as_str(), states, change.lost())
    }
}

/// The values of a page's fields, of which long ones are not copied.
struct Values<'a>(&'a PageState);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Field::ALL.len()))?;
        for field in Field::ALL {
            match self.0.text(field) {
                Some(text) => map.serialize_entry(field.name(), text)?,
                None => map.serialize_entry(field.name(), &self.0.value(field))?,
            }
        }
        map.end()
    }
}

/// A digest to which JSON is written.
struct Digested(Sha256);

impl Digested {
    /// Takes one value; JSON in one line tells where it ends and the next begins.
    fn take(&mut self, value: &impl Serialize) {
        // Neither can fail: each value is one of JSON, and a digest takes all bytes.
        let _ = serde_json::to_writer(&mut *self, value);
        self.0.update(b"\n");
    }
}

impl io::Write for Digested {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
