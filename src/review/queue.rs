//! The queue: what waits for a decision, oldest first, and what was decided lately.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::markup::{self, Frame, SiteLinks, asker, counted, lines, more_pages, text, when};
use super::narrowing::{QueueFilter, counted_each, label};
use crate::audit::{Proposal, ProposalState};
use crate::change::{Operation, Risk};
use crate::write::{ListedProposal, ListedState, MAX_LISTED};

/// The most decided sets that are listed.
const LATELY: usize = 10;

/// The sets that a reviewer may see, in the order of the queue.
pub(super) struct ReviewQueue {
    /// The sets that wait for a decision, oldest first.
    pub waiting: Vec<Proposal>,
    /// The sets that were decided, newest first.
    pub decided: Vec<Proposal>,
    /// How those stand that are shown of the waiting ones ([`ReviewQueue::shown`]), in their order.
    pub standing: Vec<ListedProposal>,
}

impl ReviewQueue {
    /// Sorts all sets that a reviewer may see.
    pub(super) fn new(all: Vec<Proposal>) -> Self {
        let (waiting, mut decided): (Vec<_>, Vec<_>) = all.into_iter().partition(Proposal::is_open);
        decided.sort_by_key(|one| {
            std::cmp::Reverse(one.state.decided().and_then(crate::page::Date::instant))
        });
        decided.truncate(LATELY);
        Self {
            waiting,
            decided,
            standing: Vec::new(),
        }
    }

    /// The waiting sets that are listed.
    pub(super) fn shown(&self) -> &[Proposal] {
        self.waiting.get(..MAX_LISTED).unwrap_or(&self.waiting)
    }

    /// Leaves only those that are looked for.
    pub(super) fn narrow(&mut self, narrowing: &QueueFilter) {
        self.waiting.retain(|one| narrowing.takes(one));
        self.decided.retain(|one| narrowing.takes(one));
    }

    /// A digest that tells one state of the queue from another.
    pub(super) fn tag(&self) -> String {
        let ids = self.waiting.iter().chain(&self.decided);
        let ids = ids.map(|one| format!("{}{}", one.id, one.state.as_str()));
        let states = self
            .standing
            .iter()
            .map(|now| now.state.as_str().to_owned());
        super::session::short_digest(&ids.chain(states).collect::<String>())
    }

    /// The one that waits behind another, or the first.
    pub(super) fn next_after(&self, one: &Proposal) -> Option<&Proposal> {
        let key = |one: &Proposal| (one.created.instant(), one.id);
        let others = || self.waiting.iter().filter(|other| other.id != one.id);
        let behind = others().find(|other| key(other) > key(one));
        behind.or_else(|| others().next())
    }
}

/// The page, with the form that narrows it.
pub(super) fn page(
    queue: &ReviewQueue,
    form: &Markup,
    narrowing: &QueueFilter,
    frame: &Frame,
) -> Markup {
    let body = html! {
        main #main {
            h1 { "Waiting for a decision" }
            (form)
            (list(queue, narrowing, frame.links()))
            p.keys.quiet aria-hidden="true" {
                kbd { "j" } " and " kbd { "k" } " move, " kbd { "Enter" } " opens"
            }
        }
    };
    let title = format!("{} waiting", queue.waiting.len());
    markup::page(&title, frame, &body)
}

/// The part of the page that changes by itself.
pub(super) fn list(queue: &ReviewQueue, narrowing: &QueueFilter, links: SiteLinks) -> Markup {
    html! {
        div #queue data-tag=(queue.tag()) data-waiting=(queue.waiting.len()) {
            @if queue.waiting.is_empty() {
                p.empty {
                    @if narrowing.is_narrow() { "Nothing that waits is so." }
                    @else { "Nothing waits. What agents leave to people appears here by itself." }
                }
            } @else {
                p.count { (count(&queue.waiting)) }
                ol.queue {
                    @for (one, now) in queue.shown().iter().zip(&queue.standing) { (waiting(one, now.state, links)) }
                }
                @let behind = queue.waiting.len().saturating_sub(MAX_LISTED);
                @if behind > 0 { p.quiet { "and " (behind) " more behind these" } }
            }
            @if !queue.decided.is_empty() {
                h2 { "Decided lately" }
                ul.decided {
                    @for one in &queue.decided { (decided(one, links)) }
                }
            }
        }
    }
}

/// Counts the sets that wait, and those with each risk.
fn count(all: &[Proposal]) -> Markup {
    let found = counted_each(all.iter().flat_map(Proposal::risks));
    html! {
        b { (counted(all.len(), "set waits", "sets wait")) }
        @for risk in Risk::ALL {
            @if let Some(count) = found.get(&risk) { " · " (label(risk)) " " (count) }
        }
    }
}

/// A mark for each risk.
pub(super) fn marks(risks: &BTreeSet<Risk>) -> Markup {
    html! {
        @for risk in risks {
            span class=(format!("mark {}", risk.as_str())) { (label(*risk)) } " "
        }
    }
}

fn waiting(one: &Proposal, state: ListedState, links: SiteLinks) -> Markup {
    html! {
        li {
            a.row href=(links.set(one.id)) {
                span.what { (what(one)) }
                span.size { (size(one)) }
                @let risks = one.risks();
                @if !risks.is_empty() || state != ListedState::Open {
                    span.risks {
                        @match state {
                            ListedState::Outdated => span.mark.outdated { "outdated" },
                            ListedState::Unchecked => span.quiet { "unchecked" },
                            ListedState::Open | ListedState::Decided(_) => {},
                        }
                        " " (marks(&risks))
                    }
                }
                span.by {
                    @if let Some(note) = &one.note {
                        q.note title="the words of whoever asked" { (text(note.as_str())) }
                        " "
                    }
                    (asker(one)) ", " (when(&one.created))
                }
            }
        }
    }
}

fn decided(one: &Proposal, links: SiteLinks) -> Markup {
    html! {
        li {
            span class=(format!("state {}", one.state.as_str())) { (one.state.as_str()) }
            " "
            a href=(links.set(one.id)) { (what(one)) }
            @let left_out: Vec<_> = one.changes_left_out().collect();
            @if let [(_, first), others @ ..] = &*left_out {
                b.left-out { ", left out: " span.path { (place(&first.locale, &first.path)) }
                    (more_pages(others.len()))
                }
            }
            @if let Some(at) = one.state.decided() { span.quiet { " " (when(at)) } }
            @if let ProposalState::Rejected { reason, .. } = &one.state {
                span.quiet { ": " (text(reason)) }
            }
            @if let ProposalState::Withdrawn { withdrawn_by, .. } = &one.state {
                span.quiet { " by " (text(withdrawn_by)) }
            }
        }
    }
}

/// Describes a set in words; a decided one without the changes left out.
pub(super) fn what(one: &Proposal) -> Markup {
    let mut asked = { one.changes_kept_in() }
        .map(|(_, change)| change)
        .filter(|change| change.links_mended.is_none());
    let first = asked.next().or_else(|| one.changes().next());
    let more = asked.count();
    html! {
        @if let Some(first) = first {
            b { (verb(first.operation)) }
            " "
            span.path { (place(&first.locale, &first.path)) }
            @if let Some(new) = &first.new_path { " → " span.path { (text(new.as_str())) } }
            (more_pages(more))
        }
    }
}

/// A place in the wiki.
pub(super) fn place(locale: &crate::page::Locale, path: &crate::page::PagePath) -> String {
    format!("{}/{}", text(locale.as_str()), text(path.as_str()))
}

/// The word for what is done to a page.
pub(super) const fn verb(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "Create",
        Operation::Update => "Change",
        Operation::Move | Operation::Aside => "Move",
        Operation::Delete => "Delete",
        Operation::AddComment => "Add a comment to",
        Operation::ChangeComment => "Change a comment of",
        Operation::DeleteComment => "Delete a comment of",
        Operation::UploadAsset => "Upload",
        Operation::RenameAsset => "Rename",
        Operation::DeleteAsset => "Delete the file",
    }
}

/// The size of a set, in lines added and removed.
fn size(one: &Proposal) -> Markup {
    let (mut added, mut removed) = (0_usize, 0_usize);
    for (_, change) in one.changes_kept_in() {
        added = added.saturating_add(change.lines_added);
        removed = removed.saturating_add(change.lines_removed);
    }
    lines(added, removed)
}
