//! Renders how a set stands: what was decided, what keeps it from being decided, and its conflicts.

use maud::{Markup, html};
use serde_json::Value;

use super::markup::{text, when};
use super::queue::what;
use super::rows::whole;
use super::set_view::{After, SetPageModel, ShownChange};
use crate::audit::{CallId, ProposalState};
use crate::error::Code;
use crate::notice::Progress;
use crate::page::Date;

/// The most pages that are named as conflicts above the changes.
const MOST_CONFLICTS: usize = 50;

/// Renders the decision, and the way on from it.
pub(super) fn state(shown: &SetPageModel) -> Markup {
    let proposal = &shown.sheet.review.proposal;
    let links = shown.reviewer.links();
    html! {
        @match &proposal.state {
            ProposalState::Open => {}
            ProposalState::Applied { decided, applied_by, .. } => div.news.good role="status" {
                (applied(shown, decided, *applied_by))
            },
            ProposalState::Rejected { decided, reason } => p.news.bad role="status" {
                "Rejected " (when(decided)) ": " (text(reason))
            },
            ProposalState::Replaced { decided, replaced_by } => p.news.bad {
                "Replaced " (when(decided)) " by "
                a href=(links.set(replaced_by)) { (replaced_by) }
            },
            ProposalState::Withdrawn { decided, withdrawn_by } => p.news.bad role="status" {
                "Withdrawn " (when(decided)) " by " (text(withdrawn_by))
            },
        }
        @if let Some(After { has_focus, next, .. }) = shown.given.after {
            p.next {
                @match next {
                    Some(next) => a.button href=(links.set(next.id)) autofocus[*has_focus] {
                        "Next: " (what(next))
                    },
                    None => a.button href=(links.to("/review")) autofocus[*has_focus] { "To the queue" },
                }
            }
        }
    }
}

/// Names the pages that were changed and left out, and links to the record and to the undo.
fn applied(shown: &SetPageModel, decided: &Date, applied_by: CallId) -> Markup {
    let proposal = &shown.sheet.review.proposal;
    let numbers = |(number, _): (usize, _)| number;
    let has_left_out = !proposal.state.left_out().is_empty();
    let after = shown.given.after;
    let links = shown.reviewer.links();
    html! {
        p {
            b { "Applied " (when(decided)) ": " }
            (shown.links(proposal.changes_kept_in().map(numbers))) "."
        }
        @if has_left_out {
            p { b { "Left out: " } (shown.links(proposal.changes_left_out().map(numbers))) "." }
        }
        @if shown.is_under_way {
            p { b { "It is being taken back" @if let Some(far) = shown.far { ": " (far.done) " of " (far.of) " changes" } "." } }
        }
        p.then {
            a href=(links.call(applied_by)) { "Its record" }
            @if let Some(by) = after.and_then(|after| after.undone_by) {
                " · Taken back: " a href=(links.call(by)) { "the record of that" }
            } @else if after.is_some_and(|after| after.may_undo) && !shown.is_under_way {
                " · " a href=(links.set(format_args!("{}/undo", proposal.id))) { "Undo" }
            } @else if let Some(why) = after.and_then(|after| after.left_to_others) {
                " · No undo: " (why)
            }
            @for call in &shown.sheet.review.begun_by {
                " · Some of it was made by an earlier call, which keeps that: " a href=(links.call(*call)) { "the record of it" }
            }
        }
    }
}

/// The calls that made some of a set and did not finish it, with the way back.
pub(super) fn begun(shown: &SetPageModel) -> Markup {
    let review = shown.sheet.review;
    let links = shown.reviewer.links();
    if matches!(review.proposal.state, ProposalState::Applied { .. }) {
        return html! {};
    }
    html! {
        @for (at, call) in review.begun_by.iter().enumerate() {
            p.news.bad role="status" {
                "A call made some of it, or may have, and did not finish: "
                a href=(links.call(*call)) { "its record" } "."
                @if shown.can_decide() && shown.reviewer.may_apply { " Apply makes the rest." }
                @if at == 0 && shown.may_take_back() {
                    " " a href=(links.set(format_args!("{}/undo", review.proposal.id))) { "Undo" }
                    " takes back what is made."
                }
            }
        }
    }
}

/// The reason why nothing of it can be decided now, or the changes that do not fit their pages.
pub(super) fn hindrance(shown: &SetPageModel) -> Markup {
    let sheet = shown.sheet;
    if !sheet.review.proposal.is_open() {
        return html! {};
    }
    let numbered = sheet.changes.iter().enumerate();
    let of_change: Vec<(usize, &ShownChange)> = numbered
        .filter(|(_, change)| change.reviewed.hindrance.is_some())
        .collect();
    html! {
        @if shown.is_being_decided {
            div.news role="status" {
                @match shown.far {
                    Some(Progress { done, of }) => {
                        label for="applying" { b { "Being applied: " (done) " of " (of) " changes are made." } }
                        " " progress #applying value=(done) max=(of) {}
                        " "
                    },
                    None => { b { "It is being decided now." } " " },
                }
                "This page looks again by itself."
            }
        } @else if !of_change.is_empty() {
            div.news.bad.conflicts role="alert" {
                p {
                    @let count = of_change.len();
                    b { @if count == 1 { "One change does not fit" } @else { (count) " changes do not fit" } }
                    " its page as it is now:"
                }
                ul {
                    @for (number, change) in of_change.iter().take(MOST_CONFLICTS) {
                        li {
                            (shown.link(*number)) " "
                            a.wiki href=(change.reviewed.change.target.url) rel="noopener noreferrer" target="_blank" { "in the wiki" }
                            @if change.reviewed.merged.is_some() { span.quiet { ": both go together" } }
                        }
                    }
                    @if of_change.len() > MOST_CONFLICTS { li { "and " (of_change.len() - MOST_CONFLICTS) " more" } }
                }
            }
        } @else if let Some(failure) = &sheet.review.hindrance {
            p.news.bad role="alert" { (text(&failure.to_string())) }
        }
    }
}

/// The reason why a change cannot be made now, and what changed since; the merged result is shown
/// as its difference. Of a list of changes it can be left out.
pub(super) fn conflict(change: &ShownChange, (is_list, is_begun): (bool, bool)) -> Markup {
    let reviewed = change.reviewed;
    html! {
        @if let Some(failure) = &reviewed.hindrance {
            div.conflict role="alert" {
                p { (text(&failure.message)) }
                @let diff = failure.details.get("diff").and_then(Value::as_str);
                @if let Some(diff) = diff.filter(|diff| !diff.is_empty()) {
                    h4 { "changed since it was asked for" }
                    (whole(diff))
                }
                @if reviewed.merged.is_some() {
                    h4 { "both together, as it would be applied" }
                } @else if matches!(failure.code, Code::EditConflict | Code::ProposalOutdated) {
                    p { "The two touch each other: " @if is_begun { "take back what is made" } @else { "reject it" } @if is_list { ", or leave this change out" } "." }
                    @if !change.texts.is_empty() { h4 { "as it was asked for" } }
                }
            }
        }
    }
}
