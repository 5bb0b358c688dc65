//! Lists of pages made right (W7).
//!
//! The wiki's limit counts joined page-tag rows, before page rules, and cuts the last page's tags.
//! Here a limit is a number of whole pages: requests use growing limits, and finally the whole
//! list, since only that is certainly complete.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

use super::super::operations::generated::{PageList, PageOrderBy, PageOrderByDirection, page_list};
use super::super::{AllPages, Wiki, WikiError, WikiResult, aside};
use time::OffsetDateTime;

use crate::page::{Date, Locale, PagePath, PageReading, TagPattern};
use crate::render_budget::uncounted;

/// Selection and order of the pages in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// In one locale, or in all.
    pub locale: Option<Locale>,
    /// With all of these tags; lower case.
    pub tags: Vec<String>,
    /// At this path or below it.
    pub path: Option<PagePath>,
    /// Last written by this user, by their id.
    pub author: Option<i64>,
    /// Published, or not.
    pub is_published: Option<bool>,
    /// Written at this time or later.
    pub updated_since: Option<OffsetDateTime>,
    /// Linking to this page, by its id.
    pub links_to: Option<i64>,
    /// With a tag for each of these.
    pub tag_patterns: Vec<TagPattern>,
    /// Without any tag for these. The wiki must then be asked without tags, since it returns only
    /// the tags that it is asked for (W7).
    pub without_tags: Vec<TagPattern>,
    /// Of those that something else chose.
    pub chosen: Option<Chosen>,
    /// Ordered by.
    pub order_by: PageOrderBy,
    /// In which direction.
    pub direction: PageOrderByDirection,
    /// Behind this page: its id, and its place in the list when it was seen.
    pub after: Option<Position>,
}

/// Pages that were chosen by something that the wiki's list does not know.
#[derive(Clone, PartialEq, Eq)]
pub struct Chosen {
    /// By what: two choices by the same are parts of one list.
    pub by: String,
    /// Their ids.
    pub ids: Arc<HashSet<i64>>,
}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Chosen").field(&self.by).finish()
    }
}

impl ListQuery {
    /// All pages, the last changed first.
    pub fn newest_first() -> Self {
        Self {
            order_by: PageOrderBy::Updated,
            direction: PageOrderByDirection::Desc,
            ..Self::default()
        }
    }

    /// True if most pages are likely to be wanted, or the wanted ones come first: then limited
    /// lists are requested before the whole.
    fn is_broad(&self) -> bool {
        self.tags.is_empty()
            && self.path.is_none()
            && self.links_to.is_none()
            && self.tag_patterns.is_empty()
            && self.chosen.is_none()
            && (self.updated_since.is_none() || self.is_newest_first())
    }

    fn is_newest_first(&self) -> bool {
        self.order_by == PageOrderBy::Updated && self.direction == PageOrderByDirection::Desc
    }

    /// Filters that the wiki itself lacks; `linking` are the pages that link to the named one.
    pub fn wants(&self, page: &PageReading, linking: Option<&HashSet<i64>>) -> bool {
        let is_within = |path: &PagePath| page.path.is_within(path);
        let is_as_published = |wanted| page.is_published == Some(wanted);
        let own = page.tags.as_deref().unwrap_or_default();
        let has = |pattern: &TagPattern| own.iter().any(|tag| pattern.matches(tag));
        let is_chosen = |chosen: &Chosen| page.id.is_some_and(|id| chosen.ids.contains(&id));
        self.path.as_ref().is_none_or(is_within)
            && self.tag_patterns.iter().all(has)
            && !self.without_tags.iter().any(has)
            && self.chosen.as_ref().is_none_or(is_chosen)
            && self.is_published.is_none_or(is_as_published)
            && !self.is_too_old(page)
            && linking.is_none_or(|ids| page.id.is_some_and(|id| ids.contains(&id)))
    }

    fn is_too_old(&self, page: &PageReading) -> bool {
        let written = page.updated_at.as_ref().and_then(Date::instant);
        self.updated_since
            .is_some_and(|since| written.is_none_or(|written| written < since))
    }

    /// True if no wanted page can follow this one.
    fn is_past(&self, last: Option<&PageReading>) -> bool {
        self.is_newest_first() && last.is_some_and(|page| self.is_too_old(page))
    }
}

/// A page's place in a list: where the next part of the list begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The page's id.
    pub id: i64,
    /// Number of pages before it; used if the page is gone.
    pub index: usize,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPart {
    /// The pages, whole.
    pub pages: Vec<PageReading>,
    /// The position at which the list continues, if it does.
    pub next: Option<Position>,
}

/// Factor by which each limit is larger than the one before.
const GROWTH: usize = 4;
/// Number of limited lists requested before the whole.
const LIMITED_TRIES: usize = 2;
/// Approximate size of a page in an answer.
const BYTES_A_PAGE: usize = 400;
/// Rows that a page takes on a usual wiki: one for each of its tags.
const ROWS_A_PAGE: usize = 3;

impl Wiki {
    /// Lists pages: exactly `limit` of them, if there are that many.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn list(&self, query: &ListQuery, limit: usize) -> WikiResult<ListPart> {
        let part = self.part_of_list(query, limit).await?;
        part.pages.iter().for_each(|page| self.note_seen(page));
        Ok(part)
    }

    async fn part_of_list(&self, query: &ListQuery, limit: usize) -> WikiResult<ListPart> {
        let linking = match query.links_to {
            Some(id) => {
                let pages = self.pages_now().await?;
                Some(self.linking_to(&pages, id, query.locale.as_ref()).await?)
            }
            None => None,
        };
        let bounds = self.bounds(query.tags.is_empty()).await?;
        let is_wanted = |page: &PageReading| query.wants(page, linking.as_ref());
        if query.is_broad() {
            // One more than wanted tells whether the list goes on.
            let wanted = query.after.map_or(0, |after| after.index + 1) + limit + 1;
            let mut rows = wanted * ROWS_A_PAGE;
            for _ in 0..LIMITED_TRIES {
                let pages = without_cut_end(self.rows(query, Some(rows)).await?, query.order_by);
                let is_past = query.is_past(pages.last());
                // Places in a list count what may be read alone.
                let pages = bounds.readable(pages);
                // New pages may have appeared before this place.
                if let Some(start) = start(&pages, query.after)
                    && (pages
                        .iter()
                        .skip(start)
                        .filter(|page| is_wanted(page))
                        .count()
                        > limit
                        || is_past)
                {
                    return Ok(part(&pages, start, is_wanted, limit));
                }
                rows *= GROWTH;
            }
        }
        let whole = self.whole(query).await?;
        let pages = bounds.of_shared(&whole.pages);
        // If the cursor's page is gone, the next one has taken its place.
        let gone = query.after.map_or(0, |after| after.index);
        let start = start(&pages, query.after).unwrap_or(gone);
        Ok(part(&pages, start, is_wanted, limit))
    }

    /// Number of pages that the list would have in addition with all locales, by a list of all
    /// pages at most a minute old. It is requested only if the wiki has other locales.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn count_elsewhere(&self, query: &ListQuery) -> WikiResult<usize> {
        if query.locale.is_none() || !self.has_other_locales().await {
            return Ok(0);
        }
        let all = self.pages_lately().await?;
        let linking = match query.links_to {
            Some(id) => Some(self.linking_to(&all, id, None).await?),
            None => None,
        };
        let has_tags = |page: &PageReading| {
            let own = page.tags.as_deref().unwrap_or_default();
            query.tags.iter().all(|tag| own.contains(tag))
        };
        let is_counted = |page: &&PageReading| {
            query.locale.as_ref() != Some(&page.locale) && query.wants(page, linking.as_ref())
        };
        // The list itself does not say who wrote a page last.
        if query.author.is_some() {
            let everywhere = ListQuery {
                locale: None,
                after: None,
                ..query.clone()
            };
            let bounds = self.bounds(query.tags.is_empty()).await?;
            let whole = self.whole(&everywhere).await?;
            let pages = bounds.of_shared(&whole.pages);
            return Ok(pages.iter().filter(is_counted).count());
        }
        let counted = all.iter().filter(is_counted);
        Ok(counted.filter(|page| has_tags(page)).count())
    }

    /// The pages that link to one of these, which are all that the key sees, by their ids; of one
    /// locale, or of all that have pages.
    ///
    /// # Errors
    /// [`WikiError::NotFound`] where the one is not among them, and those of one request.
    pub async fn linking_to(
        &self,
        pages: &AllPages,
        id: i64,
        locale: Option<&Locale>,
    ) -> WikiResult<HashSet<i64>> {
        let target = pages.iter().find(|page| page.id == Some(id));
        let target = target.ok_or(WikiError::NotFound)?;
        let locales: BTreeSet<&Locale> = match locale {
            Some(locale) => [locale].into(),
            None => pages.iter().map(|page| &page.locale).collect(),
        };
        let links = self
            .links_within(&locales, &target.locale, &target.path)
            .await?;
        Ok(links.to.into_iter().map(|page| page.id).collect())
    }

    pub(in crate::wiki) async fn rows(
        &self,
        query: &ListQuery,
        limit: Option<usize>,
    ) -> WikiResult<Vec<PageReading>> {
        let data = uncounted(self.query::<PageList>(variables(query, limit))).await?;
        let pages = data.pages.as_ref().map_or(0, |pages| pages.list.len());
        Ok(aside(pages * BYTES_A_PAGE, || listed(data, query)))
    }
}

/// The variables of the query for a list.
pub(in crate::wiki) fn variables(query: &ListQuery, limit: Option<usize>) -> page_list::Variables {
    page_list::Variables {
        limit: limit.and_then(|rows| i64::try_from(rows).ok()),
        order_by: Some(query.order_by),
        order_by_direction: Some(query.direction),
        tags: (!query.tags.is_empty()).then(|| query.tags.clone()),
        locale: query
            .locale
            .as_ref()
            .map(|locale| locale.as_str().to_owned()),
        author_id: query.author,
    }
}

/// The pages of an answer.
pub(in crate::wiki) fn listed(
    data: page_list::ResponseData,
    query: &ListQuery,
) -> Vec<PageReading> {
    let has_all_tags = query.tags.is_empty();
    let pages = data.pages.map(|pages| pages.list).unwrap_or_default();
    let pages = pages.into_iter().map(|page| reading(page, has_all_tags));
    let mut pages: Vec<PageReading> = pages.collect();
    settle_ties(&mut pages, query.order_by);
    pages
}

fn reading(page: page_list::PageListPagesList, has_all_tags: bool) -> PageReading {
    // A tag filter shows only the matching tags (W7): left out is better than shown short.
    let tags = has_all_tags.then(|| {
        let mut tags: Vec<String> = page.tags.into_iter().flatten().flatten().collect();
        tags.sort_unstable();
        tags
    });
    PageReading {
        description: Some(page.description.unwrap_or_default()),
        content_type: Some(page.content_type),
        tags,
        is_published: Some(page.is_published),
        is_private: Some(page.is_private),
        created_at: Some(page.created_at),
        updated_at: Some(page.updated_at),
        ..PageReading::bare(
            Some(page.id),
            Locale::as_stored(page.locale),
            PagePath::as_stored(page.path),
            page.title.unwrap_or_default(),
        )
    }
}

/// The key by which a list is ordered, for comparing pages for equality.
fn key(page: &PageReading, order_by: PageOrderBy) -> Cow<'_, str> {
    Cow::Borrowed(match order_by {
        PageOrderBy::Created => page.created_at.as_ref().map_or("", Date::as_str),
        PageOrderBy::Id => return page.id.unwrap_or_default().to_string().into(),
        PageOrderBy::Path => page.path.as_str(),
        PageOrderBy::Title => &page.title,
        PageOrderBy::Updated => page.updated_at.as_ref().map_or("", Date::as_str),
    })
}

/// Drops every page that shares the last one's sort key: any of them may lack tags (W7).
pub(in crate::wiki) fn without_cut_end(
    mut pages: Vec<PageReading>,
    order_by: PageOrderBy,
) -> Vec<PageReading> {
    let last = pages.last().map(|page| key(page, order_by));
    let is_cut = |page: &&PageReading| Some(key(page, order_by)) == last;
    let cut = pages.iter().rev().take_while(is_cut).count();
    pages.truncate(pages.len() - cut);
    pages
}

/// Puts pages of one sort key in the order of their ids: the database leaves it open, and a
/// list that is read in parts needs one order.
fn settle_ties(pages: &mut [PageReading], order_by: PageOrderBy) {
    for tied in pages.chunk_by_mut(|a, b| key(a, order_by) == key(b, order_by)) {
        tied.sort_by_key(|page| page.id);
    }
}

/// Start of the part; `None` if the page before it is not among these.
fn start(pages: &[PageReading], after: Option<Position>) -> Option<usize> {
    let Some(after) = after else { return Some(0) };
    let place = pages.iter().position(|page| page.id == Some(after.id))?;
    Some(place + 1)
}

fn part(
    pages: &[PageReading],
    start: usize,
    is_wanted: impl Fn(&PageReading) -> bool,
    limit: usize,
) -> ListPart {
    let mut rest = pages
        .iter()
        .enumerate()
        .skip(start)
        .filter(|(_, page)| is_wanted(page));
    let taken: Vec<(usize, &PageReading)> = rest.by_ref().take(limit).collect();
    let next = match (taken.last(), rest.next()) {
        (Some((index, page)), Some(_)) => page.id.map(|id| Position { id, index: *index }),
        _ => None,
    };
    ListPart {
        pages: taken.into_iter().map(|(_, page)| page.clone()).collect(),
        next,
    }
}
