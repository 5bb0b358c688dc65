//! A draft: changes that one caller gathers, to be decided as one set later.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::super::{DraftId, KeyDigest, LineHash};
use crate::change::Warning;
use crate::page::{Date, Field, PagePlace, PageState};

/// The newest version of the draft format; a reader must not guess at a newer one.
pub(in crate::audit) const VERSION: u32 = 1;
/// The longest name of a draft, in characters.
const MAX_NAME: usize = 60;

/// The name of a draft, which its owner chooses: 1 to 60 letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct DraftName(String);

impl DraftName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for DraftName {
    type Err = &'static str;

    /// # Errors
    /// The rule for names, as a fragment.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_fit = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !(1..=MAX_NAME).contains(&text.len()) || !text.chars().all(is_fit) {
            return Err("must be 1 to 60 letters, digits, - or _");
        }
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for DraftName {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl fmt::Display for DraftName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The owner of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DraftOwner {
    /// The owner under which its drafts are counted: a named client, or all clients without a name.
    pub counted_with: String,
    /// The name that a client without its own token gives itself; over stdio it is a client of the
    /// machine's user.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub called: Option<String>,
    /// The key of the wiki with which the pages were read.
    pub key: KeyDigest,
}

impl DraftOwner {
    /// The two prefixes of its files' names: the counted owner, and the owner itself.
    pub(in crate::audit) fn prefixes(&self) -> (String, String) {
        let digest = |text: String| LineHash::new(text.as_bytes()).to_string();
        let short = |text: String| digest(text).chars().take(16).collect::<String>();
        let called = self.called.as_deref().unwrap_or_default();
        let counted = short(self.counted_with.clone());
        let own = short(format!("{}\n{called}\n{}", self.counted_with, self.key));
        (counted.clone(), format!("{counted}-{own}"))
    }

    /// True if this owner may continue the other's draft by its id: in another run a client may
    /// give itself another name.
    pub(in crate::audit) fn may_take_up(&self, other: &Self) -> bool {
        self.counted_with == other.counted_with && self.key == other.key
    }
}

/// The contents of a draft's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// The version of the file.
    pub v: u32,
    /// Its id.
    pub id: DraftId,
    /// Its name, unique to its owner.
    pub name: DraftName,
    /// The owner.
    pub owner: DraftOwner,
    /// Time of its creation.
    pub created: Date,
    /// Time at which a change last joined it.
    pub changed: Date,
    /// Number of times it was changed.
    pub revision: u64,
    /// Its changes, in the order in which they joined; one for each page.
    pub changes: Vec<DraftChange>,
}

/// One change of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DraftChange {
    /// The page as the wiki had it; `None` to create it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<PageState>,
    /// The page as it shall be; `None` to delete it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<PageState>,
    /// The fields whose old values could not be read, and whose loss was accepted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub lost: Vec<Field>,
    /// True if links to the page are updated when it moves.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub updates_links: bool,
    /// The page of which the new page is a part, if it was made of a part.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part_of: Option<i64>,
    /// The warnings about the way in which the calls said it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<Warning>,
    /// The warnings that were shown when it joined, to be shown again.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub shown: Vec<Warning>,
}

impl DraftChange {
    /// The page's id; `None` to create it.
    pub fn page(&self) -> Option<i64> {
        self.before.as_ref()?.id
    }

    /// The page's place after the change.
    pub fn place(&self) -> Option<PagePlace> {
        let after = self.after.as_ref()?;
        Some((after.locale.clone(), after.path.clone()))
    }

    /// The place that it leaves, if it leaves one.
    pub fn left(&self) -> Option<PagePlace> {
        let before = self.before.as_ref()?;
        let left = (before.locale.clone(), before.path.clone());
        (self.place().as_ref() != Some(&left)).then_some(left)
    }

    /// True if both change the same page.
    fn is_of_same_page(&self, other: &Self) -> bool {
        match (self.page(), other.page()) {
            (None, None) => self.place() == other.place(),
            (own, other) => own == other,
        }
    }
}

impl Draft {
    /// The change of an existing page.
    pub fn of_page(&self, id: i64) -> Option<&DraftChange> {
        self.changes.iter().find(|one| one.page() == Some(id))
    }

    /// The change that puts a page at this place.
    pub fn at(&self, place: &PagePlace) -> Option<&DraftChange> {
        let is_there = |one: &&DraftChange| one.place().as_ref() == Some(place);
        self.changes.iter().find(is_there)
    }

    /// Adds a change in place of the earlier one of its page; a change that does nothing only
    /// removes the earlier one.
    pub(in crate::audit) fn join(&mut self, change: DraftChange) {
        let is_nothing = match (&change.before, &change.after) {
            (Some(before), Some(after)) => before.difference(after).is_empty(),
            (None, None) => true,
            _ => false,
        };
        let own = self
            .changes
            .iter()
            .position(|one| one.is_of_same_page(&change));
        match own.and_then(|own| self.changes.get_mut(own)) {
            Some(own) if !is_nothing => {
                let earlier = std::mem::replace(own, change).warnings;
                let is_new = |one: &Warning| own.warnings.iter().all(|now| now.code != one.code);
                let earlier: Vec<Warning> = earlier.into_iter().filter(is_new).collect();
                own.warnings.extend(earlier);
            }
            Some(_) => self.changes.retain(|one| !one.is_of_same_page(&change)),
            None if !is_nothing => self.changes.push(change),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DraftName;

    #[test]
    fn names_are_letters_digits_dashes_and_underscores() {
        for good in ["a", "Move_2-b", &"x".repeat(60)] {
            assert!(good.parse::<DraftName>().is_ok(), "{good}");
        }
        for bad in ["", "a b", "é", "../x", "a/b", "a.b", &"x".repeat(61)] {
            assert!(bad.parse::<DraftName>().is_err(), "{bad}");
        }
    }
}
