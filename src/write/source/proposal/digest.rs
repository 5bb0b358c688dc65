//! Makes the digest of a proposal as a person saw it; a decision can carry it.

use std::io;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
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
    let mut digest = Digested(Sha256::new());
    let note = proposal.note.as_ref().map(ToString::to_string);
    digest.take(&("proposal", proposal.id.to_string(), note));
    for change in changes {
        digest.take(&DigestInput {
            operation: change.operation().as_str(),
            page: change.before().and_then(|page| page.id),
            before: change.before().map(Values),
            after: change.after().map(Values),
            lost: change.lost().iter().map(|field| field.name()).collect(),
        });
    }
    hex::encode(&digest.0.finalize())
}

/// The effect of a change.
#[derive(serde::Serialize)]
struct DigestInput<'a> {
    operation: &'a str,
    page: Option<i64>,
    before: Option<Values<'a>>,
    after: Option<Values<'a>>,
    lost: Vec<&'a str>,
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
