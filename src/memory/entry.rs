//! One memory.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::moment::Timestamp;
use crate::audit::MemoryId;
use crate::hex;
use crate::page::{Locale, PagePath};

/// The most characters of a memory.
pub const MAX_CHARS: usize = 2_000;

/// What kind of memory it is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum MemoryType {
    /// Something that is so.
    #[default]
    Fact,
    /// How somebody wants things.
    Preference,
    /// What work is going on, and around what.
    Context,
    /// Something to do.
    Task,
}

impl MemoryType {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Fact, Self::Preference, Self::Context, Self::Task];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Preference => "preference",
            Self::Context => "context",
            Self::Task => "task",
        }
    }

    /// The type of this word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
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

/// That a memory was forgotten or superseded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryEnd {
    /// The time.
    pub at: Timestamp,
    /// The memory in its place, if there is one.
    pub by: Option<MemoryId>,
}

/// One memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Its id.
    pub id: MemoryId,
    /// Its text.
    pub content: String,
    /// Its kind.
    pub kind: MemoryType,
    /// Its importance to its maker, from 1 to 10.
    pub importance: u8,
    /// The page that it is about.
    pub page: Option<MemoryPage>,
    /// The name of the client that said it last.
    pub author: String,
    /// The time at which it was first remembered.
    pub created: Timestamp,
    /// The time of its last change or restoration.
    pub changed: Timestamp,
    /// The time at which it was last recalled, or else remembered.
    pub used: Timestamp,
    /// The number of times that it was recalled.
    pub uses: u32,
    /// The end, if it was forgotten or superseded.
    pub gone: Option<MemoryEnd>,
}

impl Memory {
    /// The time of its last change of any kind but use: the newest of two states wins.
    #[must_use]
    pub fn touched(&self) -> Timestamp {
        self.gone
            .map_or(self.changed, |gone| gone.at.max(self.changed))
    }

    /// The memory as it lies for restoring, forgotten at this moment or replaced by another one.
    #[must_use]
    pub fn gone_at(self, now: Timestamp, by: Option<MemoryId>) -> Self {
        let at = now.max(self.changed.next());
        Self {
            gone: Some(MemoryEnd { at, by }),
            ..self
        }
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
#[must_use]
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
