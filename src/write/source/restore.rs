//! Brings a page back that somebody deleted, as it was seen last.
//!
//! Its values are written back unchecked, as those of an undo are: the wiki had them.

use crate::change::{Change, Operation, Warning};
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, TurnOf};
use crate::mirror::{BinPage, Mirror, SeenState, no_state};
use crate::page::{
    Field, LeftLink, LinkedSite, Moves, NewPath, PagePath, PageState, SourceFormat, escape_hidden,
    mend_copied, mend_links,
};
use crate::wiki::Wiki;

use super::{Agreed, ChangeSource, Made, WriteCall, checked, is_shown, mending};
use crate::write::audit_entry::EntryBuilder;
use crate::write::faults::bad_argument;
use crate::write::links::new_place;

/// A page to be brought back.
#[derive(Debug, Clone)]
pub struct PageRestore {
    /// The page as it was seen last; what could not be read then is named in it.
    pub state: PageState,
    /// The id that it had.
    pub id: i64,
    /// What is known of that state.
    pub seen: SeenState,
    /// Its place, if not the old one.
    pub path: Option<PagePath>,
}

/// The fields without which a page is not the same.
const NEEDED: [Field; 3] = [Field::Content, Field::Editor, Field::Tags];
/// The most links that a warning names.
const MOST_TOLD: usize = 10;

impl PageRestore {
    /// The restore of a page of the bin as it was seen last, at its old place or another one.
    ///
    /// # Errors
    /// If that state is not kept any more.
    pub async fn of(mirror: &Mirror, page: &BinPage, path: Option<NewPath>) -> Result<Self> {
        let last = page.page.last().ok_or_else(no_state)?;
        Ok(Self {
            state: mirror.state(last).await?,
            id: page.page.id,
            seen: last.clone(),
            path: path.map(NewPath::into_path),
        })
    }

    /// True if links to the old place are mended: the set is a list then.
    fn mends(&self, call: WriteCall<'_>, path: Option<&PagePath>) -> bool {
        path.is_some_and(|path| *path != self.state.path) && call.index.is_on()
    }

    async fn set(&self, call: WriteCall<'_>, path: Option<&PagePath>) -> Result<ChangeSet> {
        let mends = self.mends(call, path);
        let needed = needed_of(&self.state.unknown);
        if !needed.is_empty() {
            let message =
                "The key of the mirror could not read all of this page when it was there.";
            return Err(Failure::new(Code::FieldUnreadable, message)
                .hint(
                    "It cannot be brought back; wikijs_create_page makes a new page at its place.",
                )
                .detail("fields", needed));
        }
        let path = path.unwrap_or(&self.state.path).clone();
        if !path.can_be_made() {
            let message = "The wiki makes no page at the old path any more.";
            return Err(bad_argument("path", message, "must name another place")
                .hint("Name the place where the page shall come back."));
        }
        let change = Change::recreate(PageState {
            path,
            unknown: Vec::new(),
            ..self.state.clone()
        });
        let warnings = lost(self.id, Some(&self.seen), &self.state.unknown);
        let set = if mends {
            self.with_links(call, change).await?
        } else {
            ChangeSet::single(call.id, change)
        };
        Ok(set.warned_each(|change| {
            if change.before().is_none() {
                warnings.clone()
            } else {
                Vec::new()
            }
        }))
    }

    /// The set of the page's return and of the changes that mend the links to its old place. If another
    /// page stands there now, links lead to that one, and stay; the page's own relative links are mended
    /// all the same.
    async fn with_links(&self, call: WriteCall<'_>, change: Change) -> Result<ChangeSet> {
        let old = Change::recreate(self.state.clone());
        let is_taken = new_place::is_taken(call.wiki(), &old).await?;
        let change = if is_taken {
            self.with_own_links(call, change).await?
        } else {
            change
        };
        let ends = (!is_taken).then(|| (self.state.place(), change.target().place()));
        let moves: Moves = ends.into_iter().collect();
        let (changes, mending) = mending::with_moves(call, vec![change], moves.clone()).await?;
        let set = ChangeSet::list(call.id, changes).ok_or_else(no_state)?;
        let set = set.warned(self.own_left(&moves, &mending.site));
        let stay = "another page is at its old place now: links that lead there stay as they are.";
        let set = set.warned(is_taken.then(|| Warning::new("links_stay", stay)));
        Ok(set.with(|batch| batch.mending = Some(mending)))
    }

    /// The page's return with its own relative links leading where they led from its old place.
    async fn with_own_links(&self, call: WriteCall<'_>, change: Change) -> Result<Change> {
        let format = self.state.format();
        if !matches!(format, SourceFormat::Markdown | SourceFormat::Html) {
            return Ok(change);
        }
        let site = call.wiki().linked_site().await?;
        let page = change.target().clone();
        let (from, to) = (self.state.place(), page.place());
        let content = mend_copied(&page.content, format, (&from, &to), &site);
        Ok(change.with_after(PageState { content, ..page }))
    }

    /// The warning of the page's own links that stay though they led to its old place.
    fn own_left(&self, moves: &Moves, site: &LinkedSite) -> Option<Warning> {
        let format = self.state.format();
        let from = self.state.place();
        let left = mend_links(&self.state.content, format, &from, moves, site).left;
        let told = |one: &LeftLink| {
            let (link, why) = (escape_hidden(&one.link), one.why.words());
            format!("{link} (line {}, {why})", one.line)
        };
        let told: Vec<String> = left.iter().take(MOST_TOLD).map(told).collect();
        let more = left.len().saturating_sub(told.len());
        let message = format!(
            "links of the page itself stay as they are and may lead elsewhere: {}; {more} more.",
            told.join("; ")
        );
        (!told.is_empty()).then(|| Warning::new("links_stay", message))
    }
}

/// The names of the fields without which a page is not the same, among those that were not seen.
pub(super) fn needed_of(unseen: &[Field]) -> Vec<&'static str> {
    let needed = NEEDED.into_iter().filter(|field| unseen.contains(field));
    needed.map(Field::name).collect()
}

/// The warnings of what does not come back of a page that had this id and was seen in a state.
pub(super) fn lost(id: i64, seen: Option<&SeenState>, unseen: &[Field]) -> Vec<Warning> {
    let since = seen.map_or_else(String::new, |seen| {
        let day = seen.seen.instant().date();
        format!(" Its text is as this server saw it since {day}.")
    });
    let message = format!(
        "it comes back under a new id, as a page created now; its history, its comments and its old id ({id}) do not.{since}"
    );
    let mut warnings = vec![Warning::new("cannot_return", message)];
    if !unseen.is_empty() {
        let message = format!(
            "this server could not see {} of it when it looked last: what stood there does not come back.",
            Field::names(unseen).join(", ")
        );
        warnings.push(Warning::new("not_seen", message));
    }
    warnings.extend(seen.and_then(seen_before));
    warnings
}

/// The warning of what no later look could read of a state.
pub(super) fn seen_before(seen: &SeenState) -> Option<Warning> {
    let message = format!(
        "later looks could not read all of it; as seen before: {}.",
        seen.seen_before()
    );
    (!seen.as_of.is_empty()).then(|| Warning::new("seen_before", message))
}

impl ChangeSource for PageRestore {
    fn tell(&self, _: &Wiki, record: &mut EntryBuilder) {
        let path = self.path.as_ref().unwrap_or(&self.state.path);
        record.is_at(Operation::Create, &self.state.locale, path);
    }

    async fn turn(&self, call: WriteCall<'_>) -> TurnOf {
        // In a set, each change takes a turn of its own.
        TurnOf::new(None, !self.mends(call, self.path.as_ref()))
    }

    async fn made(&self, call: WriteCall<'_>) -> Made {
        Ok(checked(self.set(call, self.path.as_ref()).await?))
    }

    async fn agrees(&self, call: WriteCall<'_>, shown: &ChangeSet) -> Agreed {
        // A confirmed call may leave out where the page shall come back.
        let is_back = |change: &&Change| change.before().is_none();
        let back = shown.iter().map(|one| &one.change).find(is_back);
        let there = back.and_then(Change::after).map(|page| &page.path);
        let own = self.set(call, self.path.as_ref().or(there)).await?;
        Ok(is_shown(&own, shown))
    }
}
