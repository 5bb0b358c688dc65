//! One memory.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::moment::Timestamp;
use crate::audit::MemoryId;
use crate::hex;
use crate::page::{Locale, PagePath};
use crate::words::words;

/// The most characters of a memory.
pub(super) const MAX_CHARS: usize = 2_000;

words! {
    /// The kind of a memory.
    #[derive(
        Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
    )]
    #[serde(rename_all = "lowercase")]
    pub enum MemoryType: as_str, ALL {
        /// Something that is so.
        #[default]
        Fact = "fact",
        /// How somebody wants things.
        Preference = "preference",
        /// What work is going on, and around what.
        Context = "context",
        /// Something to do.
        Task = "task",
    }
}

/// The page that a memory is about, and where it was then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPage {
    /// Its id.
    pub id: i64,
    /// Its locale.
    pub locale: Locale,
    /// Its path.
    pub path: PagePath,
}

/// One memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Memory {
    /// Its id.
    pub id: MemoryId,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// Its importance to its maker, from 1 to 10.
    pub importance: u8,
    /// Its text.
    pub content: String,
    /// The page that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<MemoryPage>,
    /// The name of the client that said it last.
    #[serde(rename = "by")]
    pub author: String,
    /// The time at which it was first remembered.
    pub created: Timestamp,
    /// The time of its last change, restoration or end: the newest of two states wins.
    pub changed: Timestamp,
    /// The time at which it was last recalled, or else remembered.
    pub used: Timestamp,
    /// The number of times that it was recalled.
    pub uses: u32,
    /// The time at which it was forgotten or superseded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgotten: Option<Timestamp>,
    /// The memory in its place, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
    /// The last change that another store was known to have, too; without one, the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanged: Option<Timestamp>,
}

impl Memory {
    /// Forgets it, or puts another one in its place: it lies for restoring.
    pub fn end(&mut self, now: Timestamp, by: Option<MemoryId>) {
        self.changed = now.after(self.changed);
        self.forgotten = Some(self.changed);
        self.superseded_by = by;
    }

    /// The latest time in it.
    pub(super) fn latest(&self) -> Timestamp {
        let ended = self.forgotten.unwrap_or_default();
        self.created.max(self.changed).max(self.used).max(ended)
    }

    /// True if this state and another say the same, whenever they became so.
    pub(super) fn says_same(&self, other: &Self) -> bool {
        let said = |one: &Self| (one.forgotten.is_some(), one.kind, one.importance);
        self.content == other.content && said(self) == said(other)
    }

    /// True if this state and another were changed since both sides had the same, and differ.
    pub(super) fn is_in_conflict(&self, other: &Self) -> bool {
        let base = self.exchanged.unwrap_or(self.created);
        self.changed != base
            && ![base, self.changed].contains(&other.changed)
            && !self.says_same(other)
    }

    /// Takes back its end.
    pub fn restore(&mut self, now: Timestamp) {
        self.changed = now.after(self.changed);
        self.used = now;
        self.forgotten = None;
        self.superseded_by = None;
    }
}

/// Checks the text of a memory.
///
/// # Errors
/// The rule that it breaks, as a fragment.
pub fn check_content(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("must not be empty".to_owned());
    }
    let chars = text.chars().count();
    if chars > MAX_CHARS {
        return Err(format!(
            "must have at most {MAX_CHARS} characters; it has {chars}"
        ));
    }
    if text
        .chars()
        .any(|c| c.is_control() && !matches!(c, '\n' | '\t'))
    {
        return Err("must have no control characters but line feeds and tabs".to_owned());
    }
    Ok(())
}

/// The digest of a text, as it is on record: its SHA-256.
pub fn digest(text: &str) -> String {
    hex::encode(&Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::{MAX_CHARS, check_content};

    #[test]
    fn a_text_is_counted_in_characters_whatever_their_bytes() {
        for good in [
            "a",
            "a\n\tb",
            &"会".repeat(MAX_CHARS),
            &"🧠".repeat(MAX_CHARS),
        ] {
            assert_eq!(check_content(good), Ok(()));
        }
        for bad in [
            "",
            " \n",
            "a\0",
            "a\u{1b}[31m",
            "a\r\n",
            &"会".repeat(MAX_CHARS + 1),
        ] {
            assert!(check_content(bad).is_err(), "{bad:?}");
        }
    }
}
