//! The queue: what waits for a decision, oldest first, and what was decided lately.

use maud::{Markup, html};

use super::markup::{self, Frame, client, counted, text, when};
use crate::audit::{Proposal, ProposalState};
use crate::change::Operation;

/// How many of what was decided lately are named.
const LATELY: usize = 10;
/// How many that wait are named on one page.
pub(super) const MOST_WAITING: usize = 200;

/// The sets that a reviewer may see, in the order of the queue.
pub(super) struct Queue {
    /// What waits for a decision, oldest first.
    pub waiting: Vec<Proposal>,
    /// What was decided, newest first.
    pub decided: Vec<Proposal>,
}

impl Queue {
    /// Sorts all sets that a reviewer may see.
    pub(super) fn of(all: Vec<Proposal>) -> Self {
        let (waiting, mut decided): (Vec<_>, Vec<_>) = all.into_iter().partition(Proposal::is_open);
        decided.sort_by_key(|one| {
            std::cmp::Reverse(one.state.decided().and_then(crate::page::Date::instant))
        });
        decided.truncate(LATELY);
        Self { waiting, decided }
    }

    /// Leaves only those that say all of these words somewhere: in a path, a title, a note, or the
    /// name of whoever asked.
    pub(super) fn narrow(&mut self, words: &str) {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        if words.is_empty() {
            return;
        }
        let says = |one: &Proposal| {
            let told = words_of(one);
            words.iter().all(|word| told.contains(word))
        };
        self.waiting.retain(says);
        self.decided.retain(says);
    }

    /// What tells one state of the queue from another.
    pub(super) fn tag(&self) -> String {
        let ids = self.waiting.iter().chain(&self.decided);
        let ids = ids.map(|one| format!("{}{}", one.id, one.state.as_str()));
        super::session::short_digest(&ids.collect::<String>())
    }

    /// The one that waits behind another, or the first.
    pub(super) fn next_after(&self, id: &str) -> Option<&Proposal> {
        let at = self.waiting.iter().position(|one| one.id.to_string() == id);
        let behind = at.and_then(|at| self.waiting.get(at + 1));
        behind.or_else(|| self.waiting.iter().find(|one| one.id.to_string() != id))
    }
}

/// All that can be searched of a set, in lower case.
fn words_of(one: &Proposal) -> String {
    let mut told = format!("{} {}", one.id, one.client.names().join(" "));
    if let Some(note) = &one.note {
        told.push(' ');
        told.push_str(note.as_str());
    }
    for change in one.changes() {
        let new = change
            .new_path
            .as_ref()
            .map_or("", crate::page::PagePath::as_str);
        let place = format!(" {}/{} {new} ", change.locale, change.path);
        told.push_str(&place);
        told.push_str(&change.title);
    }
    told.to_lowercase()
}

/// The page.
pub(super) fn page(queue: &Queue, words: &str, frame: &Frame) -> Markup {
    let body = html! {
        main #main {
            h1 { "Waiting for a decision" }
            form.search method="get" action="/review" role="search" {
                input type="text" name="words" value=(words) aria-label="Search" placeholder="Search: page, title, note, client"
                    maxlength="200" autocomplete="off" spellcheck="false";
                button type="submit" { "Search" }
                @if !words.trim().is_empty() { a href="/review" { "Show all" } }
            }
            (list(queue, words))
            p.keys.quiet aria-hidden="true" {
                kbd { "j" } " and " kbd { "k" } " move, " kbd { "Enter" } " opens"
            }
        }
    };
    let title = format!("{} waiting", queue.waiting.len());
    markup::page(&title, frame, &body)
}

/// The part of the page that changes by itself.
pub(super) fn list(queue: &Queue, words: &str) -> Markup {
    html! {
        div #queue data-tag=(queue.tag()) {
            @if queue.waiting.is_empty() {
                p.empty {
                    @if words.trim().is_empty() {
                        "Nothing waits. What agents leave to people appears here by itself."
                    } @else { "Nothing that waits says this." }
                }
            } @else {
                ol.queue {
                    @for one in queue.waiting.iter().take(MOST_WAITING) { (waiting(one)) }
                }
                @if queue.waiting.len() > MOST_WAITING {
                    p.quiet { "and " (queue.waiting.len() - MOST_WAITING) " more behind these" }
                }
            }
            @if !queue.decided.is_empty() {
                h2 { "Decided lately" }
                ul.decided {
                    @for one in &queue.decided { (decided(one)) }
                }
            }
        }
    }
}

fn waiting(one: &Proposal) -> Markup {
    html! {
        li {
            a.row href=(format!("/review/sets/{}", one.id)) {
                span.what { (what(one)) }
                span.size { (size(one)) }
                span.by {
                    @if let Some(note) = &one.note {
                        q.note title="the words of whoever asked" { (text(note.as_str())) }
                        " "
                    }
                    (client(&one.client)) ", " (when(&one.created))
                }
            }
        }
    }
}

fn decided(one: &Proposal) -> Markup {
    html! {
        li {
            span class=(format!("state {}", one.state.as_str())) { (one.state.as_str()) }
            " "
            a href=(format!("/review/sets/{}", one.id)) { (what(one)) }
            @if let Some(at) = one.state.decided() { span.quiet { " " (when(at)) } }
            @if let ProposalState::Rejected { reason, .. } = &one.state {
                span.quiet { ": " (text(reason)) }
            }
        }
    }
}

/// What a set does, in words.
pub(super) fn what(one: &Proposal) -> Markup {
    let asked = one.changes().filter(|change| change.links_mended.is_none());
    let more = asked.count().saturating_sub(1);
    html! {
        b { (verb(one.operation)) }
        " "
        span.path { (place(&one.locale, &one.path)) }
        @if let Some(new) = &one.new_path { " → " span.path { (text(new.as_str())) } }
        @if more > 0 { " and " (counted(more, "more page", "more pages")) }
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
        Operation::Move => "Move",
        Operation::Delete => "Delete",
        Operation::AddComment => "Add a comment to",
        Operation::ChangeComment => "Change a comment of",
        Operation::DeleteComment => "Delete a comment of",
        Operation::UploadAsset => "Upload",
        Operation::RenameAsset => "Rename",
        Operation::DeleteAsset => "Delete the file",
    }
}

/// How much of a set there is to look at.
fn size(one: &Proposal) -> Markup {
    let (mut added, mut removed) = (0_usize, 0_usize);
    for change in one.changes() {
        added = added.saturating_add(change.lines_added);
        removed = removed.saturating_add(change.lines_removed);
    }
    html! {
        @if added > 0 { ins title="lines added" { "+" (added) } " " }
        @if removed > 0 { del title="lines removed" { "−" (removed) } }
    }
}
