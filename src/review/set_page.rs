//! One set: what it does, what is to be said of it, and the form that decides.

use std::collections::HashSet;
use std::ops::Range;

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::difference::rows;
use super::fields;
use super::markup::{self, Frame, client, counted, text, when};
use super::part::Unseen;
use super::queue::{place, verb, what};
use super::rows::table;
use super::sheet::{Change, Sheet, Text};
use crate::audit::{Proposal, ProposalState};
use crate::change::Operation;
use crate::error::Code;
use crate::notice::Progress;
use crate::page::is_picture;
use crate::write::Review;

/// What of a set a browser is shown.
pub(super) struct Shown<'a> {
    /// The set.
    pub sheet: &'a Sheet<'a>,
    /// What is to be said of it.
    pub warnings: &'a [(&'static str, String)],
    /// Which parts of its differences.
    pub parts: Range<usize>,
    /// What will not have been shown after this page.
    pub unseen: Unseen,
    /// Whether differences are in two columns.
    pub is_side_by_side: bool,
    /// The token of the session's forms.
    pub form_token: &'a str,
    /// Whether the person decides; else they only look.
    pub may_decide: bool,
    /// Whether the person applies; else, in a dry run, they only reject.
    pub may_apply: bool,
    /// The changes that the person leaves out.
    pub left_out: &'a HashSet<usize>,
    /// What was wrong with the last decision.
    pub wrong: Option<&'a str>,
    /// How many of its changes are made, while it is being applied.
    pub far: Option<Progress>,
}

impl Shown<'_> {
    fn can_decide(&self) -> bool {
        let review = self.sheet.review;
        self.may_decide && review.proposal.is_open() && !is_being_decided(review)
    }
}

/// The page.
pub(super) fn page(shown: &Shown, frame: &Frame) -> Markup {
    let sheet = shown.sheet;
    let proposal = &sheet.review.proposal;
    let body = html! {
        main #main.set data-set=(proposal.id) {
            (head(shown))
            @if let Some(wrong) = shown.wrong { p.news.bad role="alert" { (wrong) } }
            (hindrance(sheet, shown.far))
            @if shown.can_decide() {
                form #decide method="post" action=(format!("/review/sets/{}{}", proposal.id, frame.at_site())) {
                    input type="hidden" name="form_token" value=(shown.form_token);
                    input type="hidden" name="digest" value=(sheet.review.digest);
                    (changes(shown))
                    (links_left(proposal))
                    (decide(shown))
                }
            } @else {
                (changes(shown))
                (links_left(proposal))
            }
        }
    };
    let title = format!(
        "{} {}",
        verb(proposal.operation),
        place(&proposal.locale, &proposal.path)
    );
    markup::page(&title, frame, &body)
}

fn head(shown: &Shown) -> Markup {
    let sheet = shown.sheet;
    let proposal = &sheet.review.proposal;
    let (asked, mending) = sheet.counts();
    html! {
        p.back { a href="/review" { "← Queue" } }
        h1 { (what(proposal)) }
        p.by {
            (client(&proposal.client)) " asks, " (when(&proposal.created))
            span.quiet { " · " (counted(asked, "change", "changes"))
                @if mending > 0 { ", and links mended on " (counted(mending, "page", "pages")) }
                " · " code { (proposal.id) }
            }
        }
        @if let Some(note) = &proposal.note {
            blockquote.note {
                p { (text(note.as_str())) }
                footer { "the words of " (client(&proposal.client)) ", which nobody checked" }
            }
        }
        (state(&proposal.state))
        @if let Some(unseen) = &sheet.review.unseen {
            p.news.bad { "What it changes is not shown: " (text(&unseen.to_string())) }
        }
        @for (label, warning) in shown.warnings {
            p.warning { b { (label) ": " } (text(warning)) }
        }
    }
}

fn state(state: &ProposalState) -> Markup {
    html! {
        @match state {
            ProposalState::Open => {}
            ProposalState::Applied { decided, applied_by, .. } => p.news.good {
                "Applied " (when(decided)) ". To take it back: "
                code { "wikijs-mcp undo " (applied_by) }
            },
            ProposalState::Rejected { decided, reason } => p.news.bad {
                "Rejected " (when(decided)) ": " (text(reason))
            },
            ProposalState::Replaced { decided, replaced_by } => p.news.bad {
                "Replaced " (when(decided)) " by "
                a href=(format!("/review/sets/{replaced_by}")) { (replaced_by) }
            },
        }
    }
}

/// Why nothing of it can be decided now.
fn hindrance(sheet: &Sheet, far: Option<Progress>) -> Markup {
    let of_change = sheet
        .changes
        .iter()
        .any(|change| change.reviewed.hindrance.is_some());
    html! {
        @if is_being_decided(sheet.review) {
            div.news role="status" {
                @match far {
                    Some(Progress { done, of }) => {
                        label for="applying" { b { "Being applied: " (done) " of " (of) " changes are made." } }
                        " " progress #applying value=(done) max=(of) {}
                        " "
                    },
                    None => { b { "It is being decided now." } " " },
                }
                "This page looks again by itself."
            }
        } @else if let (Some(failure), false) = (&sheet.review.hindrance, of_change) {
            p.news.bad role="alert" { (text(&failure.to_string())) }
        }
    }
}

/// Whether somebody decides on it at this moment, or what they decided is being carried out.
pub(super) fn is_being_decided(review: &Review) -> bool {
    let held = review.hindrance.as_ref();
    review.proposal.is_open() && held.is_some_and(|failure| failure.code == Code::Timeout)
}

/// Why a change cannot be made as things are, and what changed since; what the two give together
/// stands where its difference stands.
fn conflict(change: &Change) -> Markup {
    let reviewed = change.reviewed;
    html! {
        @if let Some(failure) = &reviewed.hindrance {
            div.conflict role="alert" {
                p { (text(&failure.message)) }
                @if let Some(diff) = detail(&failure.details, "diff") {
                    h4 { "changed since it was asked for" }
                    @let rows: Vec<_> = rows(diff, 0..usize::MAX).collect();
                    (table(&rows, false))
                }
                @if reviewed.merged.is_some() {
                    h4 { "both together, as it would be applied" }
                } @else {
                    p { "The two touch each other: reject it, or leave this change out." }
                    @if !change.texts.is_empty() { h4 { "as it was asked for" } }
                }
            }
        }
    }
}

fn detail<'a>(details: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    let text = details.get(name)?.as_str()?;
    (!text.is_empty()).then_some(text)
}

fn changes(shown: &Shown) -> Markup {
    let sheet = shown.sheet;
    let numbered = || sheet.changes.iter().enumerate();
    let is_list = sheet.changes.len() > 1;
    let mends = |change: &Change| change.proposed.links_mended.is_some();
    html! {
        @if !sheet.parts.is_empty() {
            p.views {
                "Differences: "
                @if shown.is_side_by_side {
                    a href="?view=one" { "one column" } " · " b { "two columns" }
                } @else {
                    b { "one column" } " · " a href="?view=two" { "two columns" }
                }
            }
        }
        @for (number, change) in numbered().filter(|(_, change)| !mends(change)) {
            (one(shown, number, change, is_list))
        }
        @if numbered().any(|(_, change)| mends(change)) {
            h2 { "Links mended, nothing else" }
            @for (number, change) in numbered().filter(|(_, change)| mends(change)) {
                (one(shown, number, change, is_list))
            }
        }
        (more(shown))
    }
}

/// One change.
fn one(shown: &Shown, number: usize, change: &Change, is_list: bool) -> Markup {
    let proposed = &change.proposed;
    let id = format!("change-{number}");
    html! {
        section.change #(id) aria-labelledby=(format!("{id}-title")) {
            div.bar {
                h3 id=(format!("{id}-title")) {
                    @if is_list { span.number { (number + 1) ". " } }
                    @match proposed.links_mended {
                        Some(links) => { (counted(links, "link", "links")) " on " },
                        None => { (verb(proposed.operation)) " " },
                    }
                    span.path { (place(&proposed.locale, &proposed.path)) }
                    @if let Some(new) = &proposed.new_path { " → " span.path { (text(new.as_str())) } }
                    @if proposed.links_mended.is_none() {
                        " " span.quiet { "“" (text(&proposed.title)) "”" }
                    }
                }
                @if !change.texts.is_empty() && proposed.operation != Operation::UploadAsset {
                    a.wiki href=(format!("/review/sets/{}/new/{number}", shown.sheet.review.proposal.id)) { "as rendered" }
                }
                a.wiki href=(change.reviewed.url) rel="noopener noreferrer" target="_blank" { "in the wiki" }
                @if is_list && shown.can_decide() {
                    label.out {
                        input type="checkbox" name="leave_out" value=(number)
                            checked[shown.left_out.contains(&number)];
                        " leave out"
                    }
                }
            }
            (conflict(change))
            @if proposed.undoes.is_some() { p.quiet { "takes back an earlier write" } }
            @if !change.values.is_empty() { (fields::table(&change.values)) }
            @if proposed.operation == Operation::UploadAsset && is_picture(&proposed.path) {
                img.picture loading="lazy" alt=(format!("What is uploaded as {}", text(proposed.path.as_str())))
                    src=(format!("/review/sets/{}/picture/{number}", shown.sheet.review.proposal.id));
            }
            @for (at, of) in change.texts.iter().enumerate() { (one_text(shown, number, at, of)) }
        }
    }
}

/// The difference of one text, as far as this page shows it.
fn one_text(shown: &Shown, change: usize, at: usize, of: &Text) -> Markup {
    let own = shown.sheet.parts.iter().enumerate();
    let own = own.filter(|(_, part)| part.change == change && part.text == at);
    html! {
        div.text {
            @if of.field != "content" { h4 { (of.field) } }
            @for (number, part) in own {
                @if shown.parts.contains(&number) {
                    @let rows: Vec<_> = rows(of.diff, part.rows.clone()).collect();
                    (table(&rows, shown.is_side_by_side))
                } @else {
                    p.folded {
                        a href=(format!("?from={number}#change-{change}")) data-part=(number) {
                            "Show " (counted(part.changed, "changed line", "changed lines"))
                        }
                    }
                }
            }
        }
    }
}

/// Where the rest of the differences is.
fn more(shown: &Shown) -> Markup {
    let end = shown.parts.end;
    let Some(next) = shown.sheet.parts.get(end) else {
        return html! {};
    };
    html! {
        p.more {
            a.button href=(format!("?from={end}#change-{}", next.change)) {
                "Show the next differences"
            }
        }
    }
}

/// The links to what moves that stay as they are.
fn links_left(proposal: &Proposal) -> Markup {
    html! {
        @if !proposal.links_left.is_empty() {
            section.left {
                h2 { "Links that stay as they are" }
                ul {
                    @for left in &proposal.links_left {
                        li {
                            span.path { (place(&left.locale, &left.path)) }
                            @if let Some(line) = left.line { ", line " (line) }
                            ": " (text(&left.why))
                        }
                    }
                    @if proposal.links_left_not_kept > 0 {
                        li { "and " (proposal.links_left_not_kept) " more" }
                    }
                }
            }
        }
    }
}

/// What a person can decide.
fn decide(shown: &Shown) -> Markup {
    let sheet = shown.sheet;
    let hindered = || {
        let changes = sheet.changes.iter().map(|change| change.reviewed);
        changes.filter(|change| change.hindrance.is_some())
    };
    let is_merged = hindered().any(|change| change.merged.is_some());
    // Of a set, a change that does not fit can be left out.
    let fits = sheet.changes.len() > 1 || hindered().all(|change| change.merged.is_some());
    let is_held = sheet.review.hindrance.is_some() && hindered().next().is_none();
    let can_apply = shown.may_apply && sheet.review.unseen.is_none() && fits && !is_held;
    html! {
        div.decide role="group" aria-label="Your decision" {
            @if !shown.may_apply {
                p.unseen { "The server is in a dry run: you can reject this, and not apply it." }
            }
            @if can_apply && shown.unseen.lines > 0 {
                p.unseen {
                    label {
                        b { (counted(shown.unseen.lines, "changed line", "changed lines")) }
                        " not shown yet. "
                        @if let Some(first) = shown.unseen.first {
                            a href=(format!("?from={first}")) { "Show them" }
                        }
                        ", or type their number to apply unseen: "
                        input.number type="text" inputmode="numeric" name="unseen" size="6"
                            autocomplete="off";
                    }
                }
            }
            @if can_apply {
                @if is_merged { input type="hidden" name="merge" value="yes"; }
                button #apply.primary type="submit" name="decision" value="apply" {
                    @if is_merged { "Apply merged" } @else { "Apply" }
                }
            }
            label.why {
                span.label { "Reason" }
                input type="text" name="reason" maxlength="500" autocomplete="off"
                    placeholder="why not: the agent reads it";
            }
            button #reject type="submit" name="decision" value="reject" { "Reject" }
            p.keys.quiet aria-hidden="true" {
                @if can_apply { kbd { "a" } " then " kbd { "Enter" } " applies, " }
                kbd { "r" } " goes to the reason"
            }
        }
    }
}
