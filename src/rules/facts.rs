//! The facts that rules decide on.

use crate::change::{AdditionReport, Change, Operation};
use crate::page::{Field, LineCounts, Locale, PagePath};

/// The facts of a set of changes that rules look at; a single write is a set of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The names that the client goes by.
    pub clients: Vec<String>,
    /// The name and the subject of the person behind it, if there is one.
    pub people: Vec<String>,
    /// The number of writes that the client made in the last 24 hours; counted only if a rule needs
    /// it.
    pub writes_of_day: u64,
    /// The changes.
    pub changes: Vec<ChangeFacts>,
}

/// The facts of one change that rules look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeFacts {
    /// The operation on the page.
    pub operation: Operation,
    /// True if the page moves to another place.
    pub moves: bool,
    /// Its places before and after.
    pub places: Vec<(Locale, PagePath)>,
    /// The fields that change.
    pub fields: Vec<Field>,
    /// Its tags before and after.
    pub tags: Vec<String>,
    /// The codes of the checks' warnings about the change.
    pub warnings: Vec<String>,
    /// The number of content lines that it removes.
    pub lines_removed: u64,
    /// True if it adds a private key or a credential of this wiki.
    pub adds_grave_secret: bool,
    /// True if the change was asked for. A change that only mends links was not.
    pub is_asked_for: bool,
}

impl ChangeFacts {
    /// A change of which nothing is known.
    pub const fn empty() -> Self {
        Self {
            operation: Operation::Update,
            moves: false,
            places: Vec::new(),
            fields: Vec::new(),
            tags: Vec::new(),
            warnings: Vec::new(),
            lines_removed: 0,
            adds_grave_secret: false,
            is_asked_for: true,
        }
    }

    /// The facts of a change that was asked for, with the findings of its checks.
    pub fn new(change: &Change, lines: LineCounts, checked: &AdditionReport) -> Self {
        let pages = || [change.before(), change.after()].into_iter().flatten();
        let mut tags: Vec<String> = pages().flat_map(|page| page.tags.clone()).collect();
        tags.sort_unstable();
        tags.dedup();
        let codes = checked.warnings.iter();
        Self {
            operation: change.operation(),
            moves: change.moves(),
            places: change
                .places()
                .map(|(locale, path)| (locale.clone(), path.clone()))
                .collect(),
            fields: change.fields(),
            tags,
            warnings: codes.map(|warning| warning.code.to_string()).collect(),
            lines_removed: u64::try_from(lines.removed).unwrap_or(u64::MAX),
            adds_grave_secret: checked.adds_grave_secret,
            is_asked_for: true,
        }
    }
}
