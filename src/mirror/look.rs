//! Looks at the wiki: keeps the states of new and changed pages, and finds out which are gone.
//!
//! Of several servers with one mirror one looks at a time. A page counts as gone only where the list
//! lacks it and the wiki says that it has no such page: one that the key may not read any more stays.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::compare::{compare, mark};
use super::known::{KnownPages, LastLook, last_look};
use super::pages::{PageKey, key_of, state_of};
use super::retention::purge;
use crate::audit::{AuditError, AuditResult, kept_states};
use crate::index::{ContentIndex, MOST_PAGES, WHOLE_AT_ONCE};
use crate::mirror::{
    Mirror, MirrorFault, MirrorSettings, MirrorTime, MirroredPage, PageGone, SeenPlace, SeenState,
};
use crate::page::{Field, PageReading, PageState};
use crate::store::{Lease, LeaseMode, LeaseName, Store, StoreError, on};
use crate::wiki::{AllPages, Wiki, WikiError, WikiResult};

/// Number of pages after which what is known is saved in a first look; a killed one reads those since
/// then again.
const SAVED_AT_ONCE: usize = 2_000;
/// The most pages of a look whose histories are asked for what nobody saw.
pub(super) const MOST_HISTORIES: usize = 200;
/// The most versions of a page that are kept then.
const MOST_BETWEEN: usize = 20;
/// Bytes of versions after which what was read is kept.
pub(super) const MOST_BYTES: usize = 32 * 1024 * 1024;
/// The time after which the wiki is asked again for a page that is in no list.
const ASKED_AGAIN: time::Duration = time::Duration::HOUR;
/// The time within which the pages that one author changed are counted.
const WITHIN: time::Duration = time::Duration::HOUR;

/// The findings of a look, for people who are told.
#[derive(Debug, Default)]
pub struct MirrorNews {
    /// The pages that are gone since the look before.
    pub gone: Vec<MirroredPage>,
    /// Number of pages whose states were kept.
    pub kept: usize,
    /// Number of pages that the list lacks while the wiki does not say that they are gone.
    pub hidden: usize,
    /// The authors who changed pages within the last hour, with the number of these; none at the first look.
    pub changed_by: HashMap<String, usize>,
    /// True if a page is older than it was seen: a backup of the wiki may have been restored.
    pub went_back: bool,
    /// True if the clocks of this machine and of the wiki are more than a day apart.
    pub clocks_apart: bool,
}

impl Mirror {
    /// True if nobody looked at the list for the time between two looks.
    pub async fn is_due(&self) -> bool {
        let apart = self.settings.apart;
        let looked = on(&self.store, last_look).await;
        let Ok(Some(looked)) = looked else {
            return true;
        };
        // A time to come was written by a clock that is wrong.
        let since = MirrorTime::now().instant() - looked.at.instant();
        since.is_negative() || since >= apart
    }

    /// Looks at the list, reads what changed in turns with the index, and keeps it; nothing if another
    /// server looks and does not end in time.
    ///
    /// # Errors
    /// Why it ended early; what was kept by then stays.
    pub async fn look(
        &self,
        wiki: &Wiki,
        index: &Arc<ContentIndex>,
        wait: Duration,
    ) -> Result<MirrorNews, MirrorFault> {
        let held = match self.leases.alone(&LeaseName::MIRROR, wait).await {
            Err(StoreError::Busy) => return Ok(MirrorNews::default()),
            held => held.map_err(AuditError::from)?,
        };
        // One key for all of it: another one may not see what this one sees.
        let wiki = wiki.pinned();
        let fence = held.fence();
        let load = move |store: &dyn Store| KnownPages::load_to_change(store, fence);
        let (began, known) = (MirrorTime::now(), on(&self.store, load).await?);
        let list = wiki.pages_now().await?;
        let look = MirrorLook {
            store: Arc::clone(&self.store),
            lease: held.lease(),
            began,
            clocks: Clocks::agreed(began, wiki.now().into()),
            wiki: &wiki,
            index,
            settings: self.settings,
            known,
        };
        Box::pin(look.through(list)).await
    }
}

/// A look under way.
struct MirrorLook<'a> {
    store: Arc<dyn Store>,
    lease: &'a Lease,
    /// The time at which it began, by our clock.
    began: MirrorTime,
    clocks: Clocks,
    wiki: &'a Wiki,
    index: &'a Arc<ContentIndex>,
    settings: MirrorSettings,
    known: KnownPages,
}

/// The times of what a look sees, by our clock and by the wiki's: either may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Clocks {
    /// The time that is noted of pages; the later one, so that nothing counts as older than it is.
    noted: MirrorTime,
    /// The time up to which ages are counted; the earlier one.
    counted: MirrorTime,
}

impl Clocks {
    /// Ours alone, unless the two are more than a day apart.
    fn agreed(ours: MirrorTime, wikis: MirrorTime) -> Self {
        let (counted, noted) = (ours.min(wikis), ours.max(wikis));
        if !counted.is_over(time::Duration::DAY, noted) {
            return Self {
                noted: ours,
                counted: ours,
            };
        }
        Self { noted, counted }
    }
}

impl MirrorLook<'_> {
    async fn through(mut self, list: Arc<AllPages>) -> Result<MirrorNews, MirrorFault> {
        let (listed, scope) = (Arc::clone(&list), self.wiki.scope().clone());
        let compared = self.on(move |known, _| Ok(compare(known, &listed.pages, &scope)));
        let found = compared.await?;
        if list.pages.is_empty() && !found.missing.is_empty() {
            return Err(MirrorFault::NoPages);
        }
        let is_first = self.known.look.is_none();
        let kept = self.keep_changed(&found.changed).await?;
        let (gone, hidden) = self.settle(&found.missing, &found.replaced).await?;
        let (at, key, settings) = (self.began, self.key(), self.settings);
        let clocks = self.clocks;
        let done = self.on(move |known, store| {
            known.save(store)?;
            let (purged, counted) = purge(known, store, (&settings, clocks.counted))?;
            let forgotten = known.forgotten();
            let look = LastLook {
                at,
                key,
                purged,
                counted,
                forgotten,
            };
            known.looked(store, look)?;
            Ok(if is_first {
                HashMap::new()
            } else {
                changed_by(known, at)
            })
        });
        let changed_by = done.await?;
        Ok(MirrorNews {
            changed_by,
            gone,
            kept,
            hidden,
            went_back: found.went_back,
            clocks_apart: clocks.noted != clocks.counted,
        })
    }

    /// The digest of the key that looks.
    fn key(&self) -> String {
        self.wiki.key().digest_on_record().to_string()
    }

    /// Works on what is known, on a blocking thread, as long as the lease is surely held.
    async fn on<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut KnownPages, &dyn Store) -> AuditResult<T> + Send + 'static,
    ) -> AuditResult<T> {
        if !self.lease.is_sure() {
            return Err(AuditError::Overtaken);
        }
        let mut known = std::mem::take(&mut self.known);
        let worked = on(&self.store, move |store| {
            let done = work(&mut known, store)?;
            Ok::<_, AuditError>((known, done))
        });
        let (known, done) = worked.await?;
        self.known = known;
        Ok(done)
    }

    /// Reads these pages and keeps their states; gives their number. As many are in memory as one answer
    /// of the wiki holds, and of their versions as many as there is room for.
    async fn keep_changed(
        &mut self,
        mut changed: &[Arc<PageReading>],
    ) -> Result<usize, MirrorFault> {
        let (mut kept, mut unsaved, mut histories) = (0_usize, 0_usize, MOST_HISTORIES);
        let mut at_once = WHOLE_AT_ONCE;
        while !changed.is_empty() {
            let read = self.index.read_whole(self.wiki, &mut changed, &mut at_once);
            let mut read = read.await?.into_iter();
            while !read.as_slice().is_empty() {
                let (mut pages, mut bytes) = (Vec::new(), 0_usize);
                while bytes < MOST_BYTES
                    && let Some(page) = read.next()
                {
                    let versions = self.versions(&page, &mut histories).await?;
                    let texts = versions
                        .iter()
                        .filter_map(|version| version.content.as_ref());
                    bytes = bytes.saturating_add(texts.map(String::len).sum());
                    pages.push((page, versions));
                }
                kept = kept.saturating_add(pages.len());
                unsaved = unsaved.saturating_add(pages.len());
                let is_full = unsaved >= SAVED_AT_ONCE;
                if is_full {
                    unsaved = 0;
                }
                let seen = self.clocks.noted;
                let took = self.on(move |known, store| {
                    take(known, store, pages, seen)?;
                    if is_full { known.save(store) } else { Ok(()) }
                });
                took.await?;
            }
        }
        Ok(kept)
    }

    /// The versions that a page had since it was seen last, as long as this look asks for histories, and
    /// fewer of them where the answer would be too large.
    async fn versions(&self, page: &PageReading, left: &mut usize) -> WikiResult<Vec<PageReading>> {
        let seen = key_of(page).and_then(|key| self.known.get(&key)?.last());
        let since = seen
            .map(SeenState::date)
            .filter(|date| Some(*date) != page.updated_at.as_ref());
        let Some(since) = page.id.zip(since).filter(|_| *left > 0) else {
            return Ok(Vec::new());
        };
        *left -= 1;
        let mut most = MOST_BETWEEN;
        loop {
            match self.index.versions_since(self.wiki, since, most).await {
                Err(WikiError::AnswerTooLarge { .. }) if most > 1 => most /= 2,
                Err(error)
                    if !error.is_about_the_key() && !matches!(error, WikiError::NotConnected) =>
                {
                    tracing::debug!(%error, "mirror: a page's history cannot be read");
                    // What the key may not read, or the wiki has no time for, is asked for no more.
                    if error.is_forbidden() || error.is_passing() {
                        *left = 0;
                    }
                    return Ok(Vec::new());
                }
                versions => return versions,
            }
        }
    }

    /// Finds out which of the missing pages are gone; gives these, and the number of the others.
    async fn settle(
        &mut self,
        missing: &[PageKey],
        replaced: &[PageKey],
    ) -> Result<(Vec<MirroredPage>, usize), MirrorFault> {
        let before = self.known.look.clone();
        // What one key may not read, another one may.
        let is_other_key = before.as_ref().is_none_or(|look| look.key != self.key());
        let asked: Vec<&PageKey> = { missing.iter() }
            .filter(|key| is_other_key || is_asked(&self.known, key, self.clocks.noted))
            .collect();
        let ids: Vec<i64> = asked.iter().map(|(id, _)| *id).collect();
        let deleted = self.wiki.deleted_among(&ids).await?;
        let of_list = asked.into_iter().map(|key| (key, deleted.contains(&key.0)));
        let (last_seen, key) = before.map_or((self.began, None), |look| (look.at, Some(look.key)));
        let mut gone = Vec::new();
        for (page, is_gone) in of_list.chain(replaced.iter().map(|key| (key, true))) {
            let Some(page) = self.known.change(page) else {
                continue;
            };
            if is_gone {
                page.gone = Some(PageGone {
                    last_seen: page.hidden.unwrap_or(last_seen),
                    missed: self.clocks.noted,
                    is_hidden: page.hidden.is_some(),
                    key: key.clone(),
                });
                gone.push(page.clone());
            } else {
                page.hidden = Some(self.clocks.noted);
            }
        }
        Ok((gone, missing.len().saturating_sub(deleted.len())))
    }
}

/// True if the wiki is to be asked for a page that the list lacks.
fn is_asked(known: &KnownPages, key: &PageKey, now: MirrorTime) -> bool {
    let asked = known.get(key).and_then(|page| page.hidden);
    asked.is_none_or(|asked| asked.is_over(ASKED_AGAIN, now))
}

/// A page that was read, and the versions that it had since it was seen last, the oldest first.
type ReadPage = (PageReading, Vec<PageReading>);

/// Keeps the states of pages that were read, and of their versions that nobody saw: of these tags, styles
/// and scripts are unknown (W10), and they count as seen when they were written.
fn take(
    known: &mut KnownPages,
    store: &dyn Store,
    read: Vec<ReadPage>,
    seen: MirrorTime,
) -> AuditResult<()> {
    let lease = store.try_lease(&LeaseName::BLOBS, LeaseMode::Shared)?;
    let lease = lease.ok_or(AuditError::Busy)?;
    for (page, versions) in read {
        let Some(key) = key_of(&page) else {
            continue;
        };
        if known.get(&key).is_none() {
            if known.len() >= MOST_PAGES {
                let why = "as many are known as can be";
                tracing::warn!(id = key.0, "mirror: a page is left out: {why}");
                continue;
            }
            known.add(MirroredPage::new(key.0, &page));
        }
        let last = known.get(&key).and_then(MirroredPage::last).cloned();
        let written: Vec<Option<MirrorTime>> = { versions.iter() }
            .map(|version| Some(version.updated_at.as_ref()?.instant()?.into()))
            .collect();
        let times = times_between(&written, last.as_ref().map(|last| last.seen), seen);
        let mut between = Vec::new();
        for (version, time) in versions.into_iter().zip(times) {
            let kept = keep(store, (&version, None), (time, &lease))?;
            between.extend(kept.map(|kept| SeenState {
                is_between: true,
                place: Some(SeenPlace::from(&version)),
                ..kept
            }));
        }
        let Some(seen) = keep(store, (&page, last), (seen, &lease))? else {
            continue;
        };
        if let Some(known) = known.change(&key) {
            known.states.extend(between);
            known.saw(&page, mark(&page), seen);
        }
    }
    Ok(())
}

/// The times at which versions count as seen, the oldest first: when they were written, but each after
/// the one before, and before the look. The wiki may say any time, and no two states have one id.
pub(super) fn times_between(
    written: &[Option<MirrorTime>],
    mut last: Option<MirrorTime>,
    look: MirrorTime,
) -> Vec<MirrorTime> {
    let mut left = i64::try_from(written.len()).unwrap_or_default();
    let next = |written: &Option<MirrorTime>| {
        let time = written.filter(|time| *time < look);
        let time = time.unwrap_or_else(|| look.later(-left));
        let time = last.map_or(time, |last| time.max(last.later(1)));
        left -= 1;
        last = Some(time);
        time
    };
    written.iter().map(next).collect()
}

/// Keeps a state that was seen at a time, with what only the state seen last has, unless it is too large.
pub(super) fn keep(
    store: &dyn Store,
    (page, last): (&PageReading, Option<SeenState>),
    (seen, lease): (MirrorTime, &Lease),
) -> AuditResult<Option<SeenState>> {
    let mut whole = state_of(page);
    let as_of = match last {
        Some(last) => filled_from(store, &mut whole, &last)?,
        None => BTreeMap::new(),
    };
    let (state, bytes) = match kept_states::keep(store, &whole, lease) {
        Err(AuditError::TooLarge) => {
            tracing::warn!(id = page.id, "mirror: a page is too large to be kept");
            return Ok(None);
        }
        kept => kept?,
    };
    Ok(Some(SeenState {
        updated: page.updated_at.clone().unwrap_or_default(),
        author: page.author_name.clone(),
        unknown: whole.unknown,
        as_of,
        ..SeenState::new(state, seen, bytes)
    }))
}

/// Fills in what the key could not read of a page from the state seen last, if all else is as it was then;
/// gives these fields with the times at which they were seen so.
fn filled_from(
    store: &dyn Store,
    page: &mut PageState,
    last: &SeenState,
) -> AuditResult<BTreeMap<Field, MirrorTime>> {
    let mut lacking = page.unknown.clone();
    lacking.retain(|field| !last.unknown.contains(field));
    if lacking.is_empty() {
        return Ok(BTreeMap::new());
    }
    let before = match kept_states::kept(store, last.state) {
        Err(AuditError::Missing | AuditError::Damaged) => return Ok(BTreeMap::new()),
        before => before?,
    };
    let is_known = |field: &Field| page.knows(*field) && before.knows(*field);
    if page.difference(&before).iter().any(is_known) {
        return Ok(BTreeMap::new());
    }
    let as_of = |field: Field| {
        page.take(field, &before);
        (field, last.as_of.get(&field).copied().unwrap_or(last.seen))
    };
    Ok(lacking.into_iter().map(as_of).collect())
}

/// The authors of the last hour, with the number of pages that each changed.
fn changed_by(known: &KnownPages, now: MirrorTime) -> HashMap<String, usize> {
    let mut pages: HashMap<String, usize> = HashMap::new();
    for page in known.iter() {
        let recent = page.states.iter().rev();
        let recent = recent.take_while(|seen| now.instant() - seen.since() < WITHIN);
        let authors: HashSet<&String> = recent.filter_map(|seen| seen.author.as_ref()).collect();
        for author in authors {
            *pages.entry(author.clone()).or_default() += 1;
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::{Clocks, times_between};
    use crate::mirror::MirrorTime;

    #[test]
    fn with_two_clocks_days_apart_the_later_is_noted_and_the_earlier_counts_ages() {
        let day = |day: i64| MirrorTime::from(day * 86_400_000);
        for (ours, wikis, noted, counted) in [
            (day(9), day(10), day(9), day(9)),
            (day(10), day(9), day(10), day(10)),
            (day(9), day(400), day(400), day(9)),
            (day(400), day(9), day(400), day(9)),
        ] {
            let expected = Clocks { noted, counted };
            assert_eq!(Clocks::agreed(ours, wikis), expected);
        }
    }

    #[test]
    fn versions_count_as_seen_when_they_were_written_but_in_order_and_between_two_looks() {
        let time = |millis: i64| MirrorTime::from(millis);
        let times = |written: &[Option<i64>]| -> Vec<i64> {
            let written: Vec<_> = written.iter().map(|at| at.map(time)).collect();
            let times = times_between(&written, Some(time(1_000)), time(9_000));
            times.into_iter().map(i64::from).collect()
        };
        assert_eq!(times(&[Some(2_000), Some(3_000)]), [2_000, 3_000]);
        // One time for several; before the look before; yet to come; none.
        assert_eq!(
            times(&[Some(2_000), Some(2_000), Some(2_000)]),
            [2_000, 2_001, 2_002]
        );
        assert_eq!(times(&[Some(-5), Some(7)]), [1_001, 1_002]);
        assert_eq!(times(&[Some(99_000), None]), [8_998, 8_999]);
    }
}
