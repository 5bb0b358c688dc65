//! Models a set as a browser is shown it, and what its person gave.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

use maud::{Markup, html};

use super::difference::plain_rows;
use super::fields::{self, FieldChange, FieldDiff};
use super::part::{self, DiffPart, Unseen};
use super::queue::place;
use super::session::SignedIn;
use super::{Reviewer, decision};
use crate::audit::{CallId, Proposal, ProposedChange};
use crate::gates::LinkLeft;
use crate::notice::Progress;
use crate::page::Field;
use crate::words::separated;
use crate::write::{Review, ReviewWarning, Reviewed};

/// The most pages that a sentence names.
const MOST_NAMED: usize = 20;

/// A set as it is shown.
#[derive(Debug)]
pub(super) struct SetView<'a> {
    /// The set, and what is known of it.
    pub review: &'a Review,
    /// Its changes, in order.
    pub changes: Vec<ShownChange<'a>>,
    /// All parts of their differences, in the order in which they are shown: those of what was
    /// asked for, then those of what only mends links.
    pub parts: Vec<DiffPart>,
}

/// A change of a set as it is shown.
#[derive(Debug)]
pub(super) struct ShownChange<'a> {
    /// The change as it is on record.
    pub proposed: &'a ProposedChange,
    /// Its effect, and the reason why it cannot be made now, if any.
    pub reviewed: &'a Reviewed,
    /// Its changed fields that are no long texts, with their values before and after.
    pub values: Vec<FieldChange<'a>>,
    /// Its long texts that differ.
    pub texts: Vec<FieldDiff<'a>>,
}

impl<'a> SetView<'a> {
    /// The sheet of a set.
    pub(super) fn new(review: &'a Review) -> Self {
        let changes = review.proposal.changes().zip(&review.changes);
        let changes: Vec<ShownChange<'a>> = changes
            .map(|(proposed, reviewed)| ShownChange::new(proposed, reviewed))
            .collect();
        let of_change = |(number, change): (usize, &ShownChange)| -> Vec<DiffPart> {
            let only_mends = change.proposed.links_mended.is_some();
            let texts = change.texts.iter().enumerate();
            texts
                .flat_map(|(at, (_, diff))| part::of_text(number, at, plain_rows(diff), only_mends))
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
        let only_mends = |change: &&ShownChange| change.proposed.links_mended.is_some();
        let mending = self.changes.iter().filter(only_mends).count();
        (self.changes.len() - mending, mending)
    }
}

impl<'a> ShownChange<'a> {
    fn new(proposed: &'a ProposedChange, reviewed: &'a Reviewed) -> Self {
        // What is made is the merged change, where the page was changed since.
        let made = reviewed.merged.as_deref().unwrap_or(&reviewed.change);
        let (values, mut texts) = fields::split(&made.values);
        texts.insert(0, (Field::Content.name(), made.diff.as_str()));
        texts.retain(|(_, diff)| !diff.is_empty());
        Self {
            proposed,
            reviewed,
            values,
            texts,
        }
    }
}

/// A set as it is rendered for one browser.
pub(super) struct SetPageModel<'a> {
    /// The set.
    pub sheet: &'a SetView<'a>,
    /// The warnings about it.
    pub warnings: &'a [ReviewWarning],
    /// The parts of its differences on this page.
    pub parts: Range<usize>,
    /// The parts still unseen after this page.
    pub unseen: Unseen,
    /// The session, whose tokens its forms carry.
    pub session: &'a SignedIn,
    /// The person.
    pub reviewer: &'a Reviewer,
    /// The person's own input.
    pub given: ReviewerInput<'a>,
    /// True while a decision on it is carried out from this page.
    pub is_under_way: bool,
    /// True while somebody decides on it, or a decision is carried out.
    pub is_being_decided: bool,
    /// The number of its changes made so far, while it is applied.
    pub far: Option<Progress>,
}

/// The person's input with the last decision, or in the address.
#[derive(Clone, Copy)]
pub(super) struct ReviewerInput<'a> {
    /// The changes that they leave out.
    pub left_out: &'a HashSet<usize>,
    /// The fault of the last decision.
    pub wrong: Option<&'a str>,
    /// The reason for a rejection that is not one, which they mend.
    pub reason: Option<&'a str>,
    /// The links that lead nowhere for what they leave out, as far as they were not told yet.
    pub links: &'a [LinkLeft],
    /// The way on from a decided set.
    pub after: Option<&'a After>,
}

impl<'a> ReviewerInput<'a> {
    /// Nothing but the changes that they leave out.
    pub(super) fn new(left_out: &'a HashSet<usize>) -> Self {
        Self {
            left_out,
            wrong: None,
            reason: None,
            links: &[],
            after: None,
        }
    }
}

/// The way on from a decided set.
#[derive(Default)]
pub(super) struct After {
    /// The call that took back what was applied, if it was.
    pub undone_by: Option<CallId>,
    /// True if the person may take back the applied set.
    pub may_undo: bool,
    /// The reason why somebody else has to, if it is so.
    pub left_to_others: Option<&'static str>,
    /// True if they came here by deciding on it: then the link to the next set has the focus.
    pub has_focus: bool,
    /// The next set that waits.
    pub next: Option<Proposal>,
}

impl SetPageModel<'_> {
    /// Tells whether the person can decide on it now.
    pub(super) fn can_decide(&self) -> bool {
        let review = self.sheet.review;
        self.reviewer.may_decide
            && review.proposal.is_open()
            && !self.is_being_decided
            && self.left_to_others().is_none()
    }

    /// Tells whether the person may take back what calls made of it that did not finish.
    pub(super) fn may_take_back(&self) -> bool {
        let proposal = &self.sheet.review.proposal;
        let is_own = decision::own_family(self.reviewer, proposal).is_some();
        self.reviewer.may_apply && !self.is_being_decided && !is_own
    }

    /// The reason why somebody else has to decide on it, if it is so.
    pub(super) fn left_to_others(&self) -> Option<&'static str> {
        let proposal = &self.sheet.review.proposal;
        let own = decision::own_family(self.reviewer, proposal);
        own.filter(|_| self.reviewer.may_decide && proposal.is_open())
    }

    /// The place of a change, as a link to where this page shows it.
    pub(super) fn link(&self, number: usize) -> Markup {
        html! {
            @if let Some(change) = self.sheet.changes.get(number) {
                a.path href=(format!("#change-{number}")) {
                    (place(&change.proposed.locale, &change.proposed.path))
                }
            }
        }
    }

    /// The places of these changes.
    pub(super) fn links(&self, numbers: impl Iterator<Item = usize>) -> Markup {
        let all: Vec<usize> = numbers.collect();
        html! {
            @for (at, number) in all.iter().take(MOST_NAMED).enumerate() {
                @if at > 0 { ", " } (self.link(*number))
            }
            @if all.len() > MOST_NAMED { " and " (all.len() - MOST_NAMED) " more" }
        }
    }
}

/// The calls that made some of a set and did not finish it, as its form says that a person was shown them.
pub(super) fn made(review: &Review) -> String {
    separated(&review.begun_by, " ")
}

/// An address of a set with the changes that a person leaves out, whose page ticks them again.
pub(super) fn with_left_out<'a>(
    address: &str,
    left_out: impl IntoIterator<Item = &'a usize>,
) -> String {
    let (address, place) = address.split_at(address.find('#').unwrap_or(address.len()));
    let mut whole = address.to_owned();
    for number in left_out {
        let sign = if whole.contains('?') { '&' } else { '?' };
        // Writing to a string cannot fail.
        let _ = write!(whole, "{sign}leave_out={number}");
    }
    whole + place
}
