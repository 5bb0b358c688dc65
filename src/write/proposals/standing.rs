//! Tells of the proposals of a list how they stand now, by one look at the wiki's list of pages.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::Proposals;
use crate::audit::{Proposal, ProposedChange};
use crate::change::Operation;
use crate::page::{Locale, PagePath, PageReading};
use crate::wiki::AllPages;

/// The most proposals that a list shows at once.
pub const MAX_LISTED: usize = 50;
/// The longest wait for the list of pages: lists of proposals are shown without a wiki as well.
const LONGEST_LOOK: Duration = Duration::from_secs(3);

/// How a proposal of a list stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedProposal {
    /// Its state, in a word.
    pub state: ListedState,
    /// True if the wiki lists a page at its place.
    pub is_listed: bool,
}

/// The state of a proposal in a list; of a set, the greatest of its changes' states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListedState {
    /// Open, and its pages are as they were.
    Open,
    /// Open, and the list of pages does not show whether it still fits.
    Unchecked,
    /// Open, and a page was changed, moved or deleted since, or a place was taken.
    Outdated,
    /// Somebody decided, in this word.
    Decided(&'static str),
}

impl ListedState {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Outdated => "outdated",
            Self::Unchecked => "unchecked",
            Self::Decided(how) => how,
        }
    }
}

impl Proposals {
    /// How these proposals stand as of this time or later, in their order. The wiki is asked for its pages
    /// at most once, and for nothing if none of them needs it.
    pub async fn standing(&self, shown: &[Proposal], as_of: Instant) -> Vec<ListedProposal> {
        let is_own = |one: &Proposal| self.past.made(one);
        let mut pages = None;
        if shown.iter().any(|one| one.is_open() || !is_own(one)) {
            pages = self.pages_as_of(as_of).await;
        }
        let listed = pages.as_deref().map(PlacesListed::new);
        let listed = listed.as_ref();
        let standing = shown.iter().map(|one| ListedProposal {
            state: match listed {
                _ if !one.is_open() => ListedState::Decided(one.state.as_str()),
                None => ListedState::Unchecked,
                Some(listed) => listed.state(one, is_own(one)),
            },
            is_listed: listed.is_some_and(|it| {
                it.places
                    .contains_key(&(&one.first.locale, &one.first.path))
            }),
        });
        standing.collect()
    }

    async fn pages_as_of(&self, time: Instant) -> Option<Arc<AllPages>> {
        let looked = Box::pin(self.past.wiki.pages_as_of(time));
        match timeout(LONGEST_LOOK, looked).await {
            Ok(Ok(pages)) => Some(pages),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the pages could not be listed");
                None
            }
            Err(_) => {
                tracing::warn!("the wiki took too long to list its pages");
                None
            }
        }
    }
}

/// The pages that the wiki lists, by their ids and places.
struct PlacesListed<'a> {
    pages: HashMap<i64, &'a PageReading>,
    places: HashMap<(&'a Locale, &'a PagePath), Option<i64>>,
}

impl<'a> PlacesListed<'a> {
    fn new(all: &'a AllPages) -> Self {
        let with_id = |page: &'a PageReading| Some((page.id?, page));
        Self {
            pages: all.iter().filter_map(with_id).collect(),
            places: all
                .iter()
                .map(|page| ((&page.locale, &page.path), page.id))
                .collect(),
        }
    }

    fn state(&self, proposal: &Proposal, is_own: bool) -> ListedState {
        let changes: Vec<&ProposedChange> = proposal.changes().collect();
        // A place that a page of the set has is freed by the set.
        let own: HashSet<i64> = changes.iter().filter_map(|one| one.page).collect();
        let states = changes.iter().map(|one| self.of_change(one, &own, is_own));
        states.max().unwrap_or(ListedState::Open)
    }

    fn of_change(&self, change: &ProposedChange, own: &HashSet<i64>, is_own: bool) -> ListedState {
        let is_taken = |path: &PagePath| {
            let there = self.places.get(&(&change.locale, path));
            there.is_some_and(|id| id.is_none_or(|id| !own.contains(&id)))
        };
        match change.operation {
            Operation::Create if is_taken(&change.path) => ListedState::Outdated,
            Operation::Create => ListedState::Open,
            operation if operation.is_of_page() => {
                let page = change.page.and_then(|id| self.pages.get(&id));
                let Some(page) = page else {
                    return if is_own {
                        ListedState::Outdated
                    } else {
                        // This key may not see what another one proposed to change.
                        ListedState::Unchecked
                    };
                };
                let is_there = (&page.locale, &page.path) == (&change.locale, &change.path);
                if !is_there || change.new_path.as_ref().is_some_and(is_taken) {
                    return ListedState::Outdated;
                }
                match (&page.updated_at, &change.updated_at) {
                    (Some(now), Some(then)) if now.same(then) => ListedState::Open,
                    (Some(_), Some(_)) => ListedState::Outdated,
                    _ => ListedState::Unchecked,
                }
            }
            // No list of pages has comments or assets.
            _ => ListedState::Unchecked,
        }
    }
}
