//! Looks at the wiki: keeps the states of new and changed pages, and finds out which are gone.
//!
//! Of several servers with one mirror one looks at a time. A page counts as gone only where the list
//! lacks it and the wiki says that it has no such page: one that the key may not read any more stays.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::bin::{Mirror, MirrorFault};
use super::compare::{ListDifference, compare, mark};
use super::known::{KnownPages, LastLook, last_look};
use super::pages::{MirrorTime, MirroredPage, PageGone, PageKey, SeenState, key_of, state_of};
use super::retention::purge;
use super::settings::MirrorSettings;
use crate::audit::{AuditError, kept_states};
use crate::index::{ContentIndex, MOST_PAGES};
use crate::page::{Date, PageReading};
use crate::store::{Lease, LeaseMode, LeaseName, Store, StoreError, on};
use crate::wiki::{Version, Wiki, WikiError};

/// Number of pages that are read before their states are kept.
const AT_ONCE: usize = 200;
/// Number of pages after which what is known is saved in a first look; a killed one reads those since
/// then again.
const SAVED_AT_ONCE: usize = 2_000;
/// The most pages of a look whose histories are asked for what nobody saw.
const MOST_HISTORIES: usize = 200;
/// The most versions of a page that are kept then.
const MOST_BETWEEN: usize = 20;
/// Bytes of versions after which what was read is kept.
const MOST_BYTES: usize = 64 * 1024 * 1024;
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
    /// The authors who changed pages within the last hour, with the number of these, the most first; none
    /// at the first look.
    pub changed_by: Vec<(String, usize)>,
    /// True if a page is older than it was seen: a backup of the wiki may have been restored.
    pub went_back: bool,
}

impl Mirror {
    /// True if nobody looked at the list for the time between two looks.
    pub async fn is_due(&self) -> bool {
        let apart = self.settings().apart;
        let looked = on(self.store(), last_look).await;
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
        let held = match self.leases().alone(&LeaseName::MIRROR, wait).await {
            Err(StoreError::Busy) => return Ok(MirrorNews::default()),
            held => held.map_err(AuditError::from)?,
        };
        // One key for all of it: another one may not see what this one sees.
        let wiki = wiki.pinned();
        let look = MirrorLook {
            store: Arc::clone(self.store()),
            lease: held.lease(),
            began: MirrorTime::now(),
            wiki: &wiki,
            settings: *self.settings(),
        };
        Box::pin(look.through(index)).await
    }
}

/// A look under way.
struct MirrorLook<'a> {
    store: Arc<dyn Store>,
    lease: &'a Lease,
    began: MirrorTime,
    wiki: &'a Wiki,
    settings: MirrorSettings,
}

impl MirrorLook<'_> {
    async fn through(&self, index: &Arc<ContentIndex>) -> Result<MirrorNews, MirrorFault> {
        let fence = self.lease.fence();
        let load = move |store: &dyn Store| KnownPages::load_to_change(store, fence);
        let known = on(&self.store, load).await?;
        let list = self.wiki.pages_now().await?;
        let scope = self.wiki.scope().clone();
        let (known, found) = self
            .on(known, {
                let list = Arc::clone(&list);
                move |known, _| Ok(compare(known, list.shared(), &scope))
            })
            .await?;
        let is_first = known.look.is_none();
        let ListDifference {
            changed,
            missing,
            replaced,
            went_back,
        } = found;
        if list.shared().is_empty() && !missing.is_empty() {
            return Err(MirrorFault::NoPages);
        }
        let (known, kept) = self.keep_changed(known, index, changed).await?;
        let (known, gone, hidden) = self.settle(known, missing, replaced).await?;
        let (at, settings) = (self.began, self.settings);
        let key = self.wiki.key().digest_on_record().to_string();
        let done = self.on(known, move |known, store| {
            known.save(store)?;
            let purged = purge(known, store, (&settings, at))?;
            let look = LastLook { at, key, purged };
            known.looked(store, look)?;
            Ok(changed_by(known, at))
        });
        let (_, changed_by) = done.await?;
        Ok(MirrorNews {
            changed_by: if is_first { Vec::new() } else { changed_by },
            gone,
            kept,
            hidden,
            went_back,
        })
    }

    /// Works on what is known, on a blocking thread, as long as the lease is surely held.
    async fn on<T: Send + 'static>(
        &self,
        mut known: KnownPages,
        work: impl FnOnce(&mut KnownPages, &dyn Store) -> Result<T, AuditError> + Send + 'static,
    ) -> Result<(KnownPages, T), AuditError> {
        if !self.lease.is_sure() {
            return Err(AuditError::Overtaken);
        }
        on(&self.store, move |store| {
            let done = work(&mut known, store)?;
            Ok((known, done))
        })
        .await
    }

    /// Reads these pages and keeps their states; gives their number.
    async fn keep_changed(
        &self,
        mut known: KnownPages,
        index: &Arc<ContentIndex>,
        changed: Vec<Arc<PageReading>>,
    ) -> Result<(KnownPages, usize), MirrorFault> {
        let (mut kept, mut unsaved, mut histories) = (0_usize, 0_usize, MOST_HISTORIES);
        for some in changed.chunks(AT_ONCE) {
            let mut read = index.read_whole(self.wiki, some).await?.into_iter();
            while !read.as_slice().is_empty() {
                let pages = self
                    .with_versions(&known, index, &mut read, &mut histories)
                    .await?;
                kept = kept.saturating_add(pages.len());
                unsaved = unsaved.saturating_add(pages.len());
                let is_full = unsaved >= SAVED_AT_ONCE;
                if is_full {
                    unsaved = 0;
                }
                let seen = self.began;
                let took = self.on(known, move |known, store| {
                    take(known, store, pages, seen)?;
                    if is_full { known.save(store) } else { Ok(()) }
                });
                (known, ()) = took.await?;
            }
        }
        Ok((known, kept))
    }

    /// Takes of the pages that were read as many as there is room for at once, and adds the versions that
    /// they had since they were seen last, as long as this look asks for histories.
    async fn with_versions(
        &self,
        known: &KnownPages,
        index: &ContentIndex,
        read: &mut std::vec::IntoIter<PageReading>,
        left: &mut usize,
    ) -> Result<Vec<ReadPage>, MirrorFault> {
        let (mut pages, mut bytes) = (Vec::new(), 0_usize);
        while bytes < MOST_BYTES
            && let Some(page) = read.next()
        {
            let seen = key_of(&page).and_then(|key| known.get(&key)?.last());
            let since = seen
                .map(SeenState::date)
                .filter(|date| Some(*date) != page.updated_at.as_ref());
            let versions = match page.id.zip(since).filter(|_| *left > 0) {
                Some(since) => self.versions_if_told(index, since, left).await?,
                None => Vec::new(),
            };
            let texts = versions.iter().map(|version| version.content.len());
            bytes = bytes.saturating_add(texts.sum::<usize>());
            pages.push((page, versions));
        }
        Ok(pages)
    }

    /// The versions of a page since a time, if this look can have them; none otherwise.
    async fn versions_if_told(
        &self,
        index: &ContentIndex,
        since: (i64, &Date),
        left: &mut usize,
    ) -> Result<Vec<Version>, WikiError> {
        *left -= 1;
        match self.versions_since(index, since).await {
            Err(error)
                if !error.is_about_the_key() && !matches!(error, WikiError::NotConnected) =>
            {
                tracing::debug!(%error, "mirror: a page's history cannot be read");
                // What the key may not read, or the wiki has no time for, is asked for no more.
                if error.is_forbidden() || error.is_passing() {
                    *left = 0;
                }
                Ok(Vec::new())
            }
            versions => versions,
        }
    }

    /// The versions of a page since a time, fewer of them where the answer would be too large.
    async fn versions_since(
        &self,
        index: &ContentIndex,
        since: (i64, &Date),
    ) -> Result<Vec<Version>, WikiError> {
        let mut most = MOST_BETWEEN;
        loop {
            match index.versions_since(self.wiki, since, most).await {
                Err(WikiError::AnswerTooLarge { .. }) if most > 1 => most /= 2,
                versions => return versions,
            }
        }
    }

    /// Finds out which of the missing pages are gone; gives these, and the number of the others.
    async fn settle(
        &self,
        known: KnownPages,
        missing: Vec<PageKey>,
        replaced: Vec<PageKey>,
    ) -> Result<(KnownPages, Vec<MirroredPage>, usize), MirrorFault> {
        let (began, before) = (self.began, known.look.clone());
        // What one key may not read, another one may.
        let own = self.wiki.key().digest_on_record().to_string();
        let is_other_key = before.as_ref().is_none_or(|look| look.key != own);
        let asked: Vec<PageKey> = { missing.iter() }
            .filter(|key| is_other_key || is_asked(&known, key, began))
            .cloned()
            .collect();
        let ids: Vec<i64> = asked.iter().map(|(id, _)| *id).collect();
        let deleted = if ids.is_empty() {
            HashSet::new()
        } else {
            self.wiki.deleted_among(&ids).await?
        };
        let hidden = missing.len().saturating_sub(deleted.len());
        let (last_seen, seen_by) = before.map_or((began, None), |look| (look.at, Some(look.key)));
        let (known, gone) = self
            .on(known, move |known, _| {
                let mut gone = Vec::new();
                let of_list = asked.iter().map(|key| (key, deleted.contains(&key.0)));
                for (key, is_gone) in of_list.chain(replaced.iter().map(|key| (key, true))) {
                    let Some(page) = known.change(key) else {
                        continue;
                    };
                    if is_gone {
                        page.gone = Some(PageGone {
                            last_seen: page.hidden.unwrap_or(last_seen),
                            missed: began,
                            is_hidden: page.hidden.is_some(),
                            key: seen_by.clone(),
                        });
                        gone.push(page.clone());
                    } else {
                        page.hidden = Some(began);
                    }
                }
                Ok(gone)
            })
            .await?;
        Ok((known, gone, hidden))
    }
}

/// True if the wiki is to be asked for a page that the list lacks.
fn is_asked(known: &KnownPages, key: &PageKey, now: MirrorTime) -> bool {
    let asked = known.get(key).and_then(|page| page.hidden);
    // A time to come was written by a clock that is wrong.
    asked.is_none_or(|asked| asked > now || now.instant() - asked.instant() > ASKED_AGAIN)
}

/// A page that was read, and the versions that it had since it was seen last, the oldest first.
type ReadPage = (PageReading, Vec<Version>);

/// Keeps the states of pages that were read, and of their versions that nobody saw: of these tags, styles
/// and scripts are unknown (W10), and they count as seen when they were written.
fn take(
    known: &mut KnownPages,
    store: &dyn Store,
    read: Vec<ReadPage>,
    seen: MirrorTime,
) -> Result<(), AuditError> {
    let lease = store.try_lease(&LeaseName::BLOBS, LeaseMode::Shared)?;
    let lease = lease.ok_or(AuditError::Busy)?;
    for (page, versions) in read {
        let (Some(key), Some(id)) = (key_of(&page), page.id) else {
            continue;
        };
        if known.get(&key).is_none() {
            if known.len() >= MOST_PAGES {
                tracing::warn!(
                    id,
                    "mirror: a page is left out, since as many are known as can be"
                );
                continue;
            }
            let created = page.created_at.clone().unwrap_or_default();
            known.add(MirroredPage::new(id, created, &page));
        }
        let last = known.get(&key).and_then(MirroredPage::last);
        let written: Vec<Option<MirrorTime>> = { versions.iter() }
            .map(|version| version.date.instant().map(MirrorTime::from))
            .collect();
        let times = times_between(&written, last.map(|last| last.seen), seen);
        let mut between = Vec::new();
        for (version, time) in versions.into_iter().zip(times) {
            let kept = keep(store, &version.into(), (time, &lease))?;
            between.extend(kept.map(|kept| SeenState {
                is_between: true,
                ..kept
            }));
        }
        let Some(seen) = keep(store, &page, (seen, &lease))? else {
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
fn times_between(
    written: &[Option<MirrorTime>],
    mut last: Option<MirrorTime>,
    look: MirrorTime,
) -> Vec<MirrorTime> {
    let mut left = i64::try_from(written.len()).unwrap_or_default();
    let mut times = Vec::with_capacity(written.len());
    for written in written {
        let latest = look.later(-left);
        let time = written.filter(|time| *time < look).unwrap_or(latest);
        let time = last.map_or(time, |last| time.max(last.later(1)));
        left -= 1;
        last = Some(time);
        times.push(time);
    }
    times
}

/// Keeps a state that was seen at a time, unless it is too large.
fn keep(
    store: &dyn Store,
    page: &PageReading,
    (seen, lease): (MirrorTime, &Lease),
) -> Result<Option<SeenState>, AuditError> {
    let (state, bytes) = match kept_states::keep(store, &state_of(page), lease) {
        Err(AuditError::TooLarge) => {
            tracing::warn!(id = page.id, "mirror: a page is too large to be kept");
            return Ok(None);
        }
        kept => kept?,
    };
    Ok(Some(SeenState {
        state,
        seen,
        updated: page.updated_at.clone().unwrap_or_default(),
        redated: None,
        author: page.author_name.clone(),
        bytes,
        is_between: false,
    }))
}

/// The authors of the last hour, with the number of pages that each changed.
fn changed_by(known: &KnownPages, now: MirrorTime) -> Vec<(String, usize)> {
    let mut pages: HashMap<&str, usize> = HashMap::new();
    for page in known.iter() {
        let recent = page.states.iter().rev();
        let recent = recent.take_while(|seen| now.instant() - seen.since() < WITHIN);
        let authors: HashSet<&str> = recent.filter_map(|seen| seen.author.as_deref()).collect();
        for author in authors {
            *pages.entry(author).or_default() += 1;
        }
    }
    let pages = pages.into_iter();
    let mut pages: Vec<_> = pages
        .map(|(author, count)| (author.to_owned(), count))
        .collect();
    pages.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    pages
}

#[cfg(test)]
mod tests {
    use super::times_between;
    use crate::mirror::MirrorTime;

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
