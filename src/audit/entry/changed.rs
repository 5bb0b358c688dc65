//! Describes the changes of a call, bounded, with a note of what was cut.

use serde::Serialize;
use serde_json::{Map, Value};

use super::super::{AuditLog, AuditResult, CallHistory, KeptState, ReconstructedChange};
use crate::change::{cut, short};

/// The changes of a call, in words.
#[derive(Debug, Default, Serialize)]
pub struct ChangeDetails {
    /// Each changed field with its values before and after; the content left out.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub changes: Map<String, Value>,
    /// The difference of the content.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
    /// Notes on cut parts, or the reason there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl ChangeDetails {
    /// About how much room it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let values = self.changes.values().filter_map(Value::as_object);
        let texts = values.flat_map(|states| states.values());
        let length = |value: &Value| value.as_str().map_or(0, str::len);
        texts
            .map(length)
            .sum::<usize>()
            .saturating_add(self.diff.len())
    }

    /// The changes of a call, as far as they are kept. Blocks.
    ///
    /// # Errors
    /// If the disk cannot be read.
    pub fn read(log: &AuditLog, call: &CallHistory) -> AuditResult<Self> {
        let gone = |name: KeptState, why: &str| Self {
            notes: vec![format!("the kept state {name} {why}")],
            ..Self::default()
        };
        Ok(match log.writes.change_of(call)? {
            ReconstructedChange::NeverKept => Self::default(),
            ReconstructedChange::Purged(name) => {
                gone(name, "was purged, so what changed is no longer known")
            }
            ReconstructedChange::Missing(name) => {
                gone(name, "is missing, and no purge on record took it")
            }
            ReconstructedChange::Damaged(name) => gone(name, "is not what its name says"),
            ReconstructedChange::Change(change) => {
                let mut notes = Vec::new();
                Self {
                    changes: short(change.values(), &mut notes),
                    diff: cut(change.content_diff().0, &mut notes),
                    notes: notes.iter().map(ToString::to_string).collect(),
                }
            }
        })
    }
}
