//! Holds what of a set a browser is shown, and what its person gave.

use std::collections::HashSet;
use std::ops::Range;

use maud::{Markup, html};

use super::part::Unseen;
use super::queue::place;
use super::session::SignedIn;
use super::set_view::SetView;
use crate::audit::{CallId, Proposal};
use crate::error::Code;
use crate::gates::LinkLeft;
use crate::notice::Progress;
use crate::write::{Review, ReviewWarning};

/// The most pages that a sentence names.
const MOST_NAMED: usize = 20;

/// A set as it is rendered for one browser.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about the person or the set"
)]
pub(super) struct SetPageModel<'a> {
    /// The set.
    pub sheet: &'a SetView<'a>,
    /// The warnings about it.
    pub warnings: &'a [ReviewWarning],
    /// The parts of its differences on this page.
    pub parts: Range<usize>,
    /// The parts still unseen after this page.
    pub unseen: Unseen,
    /// True if differences are in two columns.
    pub is_side_by_side: bool,
    /// The session, whose tokens its forms carry.
    pub session: &'a SignedIn,
    /// True if the person decides; else they only look.
    pub may_decide: bool,
    /// True if the person applies; else, in a dry run, they only reject.
    pub may_apply: bool,
    /// The person's own input.
    pub given: ReviewerInput<'a>,
    /// True while a decision on it is carried out from this page.
    pub is_under_way: bool,
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
    /// True if they came here by deciding on it: then the link to the next set has the focus.
    pub has_focus: bool,
    /// The next set that waits.
    pub next: Option<Proposal>,
}

impl SetPageModel<'_> {
    /// Tells whether the person can decide on it now.
    pub(super) fn can_decide(&self) -> bool {
        let review = self.sheet.review;
        self.may_decide && review.proposal.is_open() && !self.is_being_decided()
    }

    /// Tells whether somebody decides on it at this moment, or a decision is carried out.
    pub(super) fn is_being_decided(&self) -> bool {
        self.is_under_way || is_being_decided(self.sheet.review)
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

/// Tells whether somebody else decides on it at this moment.
pub(super) fn is_being_decided(review: &Review) -> bool {
    let held = review.hindrance.as_ref();
    review.proposal.is_open() && held.is_some_and(|failure| failure.code == Code::Timeout)
}
