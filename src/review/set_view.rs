//! Models a set as a reviewer sees it, before it becomes a page.

use serde_json::Value;

use super::difference::plain_rows;
use super::part::{self, DiffPart};
use crate::audit::ProposedChange;
use crate::page::Field;
use crate::write::{Review, Reviewed};

/// A set as it is shown.
#[derive(Debug)]
pub(super) struct SetView<'a> {
    /// The set, and what is known of it.
    pub review: &'a Review,
    /// Its changes, in order.
    pub changes: Vec<ChangeView<'a>>,
    /// All parts of their differences, in the order in which they are shown: those of what was
    /// asked for, then those of what only mends links.
    pub parts: Vec<DiffPart>,
}

/// A change of a set as it is shown.
#[derive(Debug)]
pub(super) struct ChangeView<'a> {
    /// The change as it is on record.
    pub proposed: ProposedChange,
    /// Its effect, and the reason why it cannot be made now, if any.
    pub reviewed: &'a Reviewed,
    /// Its changed fields that are no long texts, with their values before and after.
    pub values: Vec<(&'a str, Option<&'a Value>, Option<&'a Value>)>,
    /// Its long texts that differ.
    pub texts: Vec<FieldDiff<'a>>,
}

/// A long text that differs: the content, or styles or scripts.
#[derive(Debug)]
pub(super) struct FieldDiff<'a> {
    /// The field's name.
    pub field: &'a str,
    /// Its difference.
    pub diff: &'a str,
}

impl<'a> SetView<'a> {
    /// The sheet of a set.
    pub(super) fn new(review: &'a Review) -> Self {
        let reviewed = std::iter::once(&review.change).chain(&review.others);
        let changes: Vec<ChangeView<'a>> = review
            .proposal
            .changes()
            .zip(reviewed)
            .map(|(proposed, reviewed)| ChangeView::new(proposed, reviewed))
            .collect();
        let of_change = |(number, change): (usize, &ChangeView)| -> Vec<DiffPart> {
            let only_mends = change.proposed.links_mended.is_some();
            let texts = change.texts.iter().enumerate();
            texts
                .flat_map(|(text, of)| part::of_text(number, text, plain_rows(of.diff), only_mends))
                .collect()
        };
        let mut parts: Vec<DiffPart> = changes.iter().enumerate().flat_map(of_change).collect();
        // A stable sort: within each kind the order of the set stays.
        parts.sort_by_key(|part| part.only_mends);
        Self {
            review,
            changes,
            parts,
        }
    }

    /// The number of changes that were asked for, and of those that only mend links.
    pub(super) fn counts(&self) -> (usize, usize) {
        let only_mends = |change: &&ChangeView| change.proposed.links_mended.is_some();
        let mending = self.changes.iter().filter(only_mends).count();
        (self.changes.len() - mending, mending)
    }
}

impl<'a> ChangeView<'a> {
    fn new(proposed: ProposedChange, reviewed: &'a Reviewed) -> Self {
        // What is made is the merged change, where the page was changed since.
        let made = reviewed.merged.as_deref().unwrap_or(reviewed);
        let mut texts = vec![FieldDiff {
            field: Field::Content.name(),
            diff: &made.diff,
        }];
        let mut values = Vec::new();
        for (field, states) in &made.changes {
            match states.get("diff").and_then(Value::as_str) {
                Some(diff) => texts.push(FieldDiff { field, diff }),
                None => values.push((&**field, states.get("before"), states.get("after"))),
            }
        }
        texts.retain(|text| !text.diff.is_empty());
        Self {
            proposed,
            reviewed,
            values,
            texts,
        }
    }
}
