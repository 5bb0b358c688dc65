//! Takes from the wiki's history how pages were before any look saw them.

use std::time::Duration;

use time::OffsetDateTime;

use super::known::KnownPages;
use super::look::{MOST_BYTES, MOST_HISTORIES, keep, times_between};
use super::pages::PageKey;
use crate::audit::{AuditError, AuditResult};
use crate::mirror::{
    Mirror, MirrorFault, MirrorTime, MirroredPage, PartThen, SeenPlace, SeenState,
};
use crate::page::Date;
use crate::store::{Fence, Lease, LeaseMode, LeaseName, Store, on};
use crate::wiki::{Version, Wiki};

/// The most versions of a page that are read: if it has more since the time, nobody knows how it was.
const MOST_VERSIONS: usize = 50;
/// The time within which another look has to end.
const WAIT: Duration = Duration::from_secs(30);

/// Pages with their versions from a time on, the oldest first.
type PagesBack = Vec<(PageKey, Vec<Version>)>;

impl Mirror {
    /// Keeps, of pages of a part that are there, the versions that they had at its time and since then,
    /// where that lies before all that was seen of them. At most 200 pages are asked for, of more than that
    /// others each time.
    ///
    /// # Errors
    /// Why it ended early.
    pub async fn look_back(&self, wiki: &Wiki, part: &PartThen) -> Result<(), MirrorFault> {
        let known = self.known().await?;
        let wiki = wiki.pinned();
        let (mut found, mut bytes) = (PagesBack::new(), 0_usize);
        let unseen = known.iter().filter(|page| part.is_before_seen(page));
        let unseen: Vec<&MirroredPage> = unseen.collect();
        for page in some_of(&unseen) {
            let since = (page.id, part.at);
            match wiki.versions_at_and_since(since, MOST_VERSIONS).await {
                Ok(versions) => {
                    let texts = versions.iter().filter_map(|one| one.page.content.as_ref());
                    bytes = bytes.saturating_add(texts.map(String::len).sum());
                    found.push((page.key(), versions));
                }
                Err(error) if error.is_forbidden() => break,
                Err(error) if error.is_about_the_key() || error.is_passing() => {
                    return Err(error.into());
                }
                Err(error) => tracing::debug!(%error, "mirror: a page's history cannot be read"),
            }
            if bytes >= MOST_BYTES {
                break;
            }
        }
        found.retain(|(_, versions)| !versions.is_empty());
        if found.is_empty() {
            return Ok(());
        }
        let held = self.leases.alone(&LeaseName::MIRROR, WAIT).await;
        let held = held.map_err(AuditError::from)?;
        let (fence, at) = (held.fence(), part.at);
        let added = on(&self.store, move |store| add(store, fence, found, at));
        Ok(added.await?)
    }
}

/// As many of these pages as are asked for at once, from another one on each time: a history that tells
/// nothing keeps no other page from being asked for.
fn some_of<'a>(pages: &'a [&'a MirroredPage]) -> impl Iterator<Item = &'a MirroredPage> {
    let most = pages.len().min(MOST_HISTORIES);
    let count = i64::try_from(pages.len()).unwrap_or(i64::MAX).max(1);
    let first = i64::from(MirrorTime::now()).rem_euclid(count);
    let first = usize::try_from(first).unwrap_or_default();
    pages.iter().copied().cycle().skip(first).take(most)
}

fn add(store: &dyn Store, fence: Fence, found: PagesBack, at: OffsetDateTime) -> AuditResult<()> {
    let mut known = KnownPages::load_to_change(store, fence)?;
    let lease = store.try_lease(&LeaseName::BLOBS, LeaseMode::Shared)?;
    let lease = lease.ok_or(AuditError::Busy)?;
    for (key, versions) in found {
        if let Some(page) = known.change(&key) {
            add_to(page, versions, at, (store, &lease))?;
        }
    }
    known.save(store)
}

/// Adds versions before the states of a page that were seen.
fn add_to(
    page: &mut MirroredPage,
    mut versions: Vec<Version>,
    at: OffsetDateTime,
    (store, lease): (&dyn Store, &Lease),
) -> AuditResult<()> {
    let Some(first) = page.states.first_mut() else {
        return Ok(());
    };
    let Some(seen) = first.updated.instant() else {
        return Ok(());
    };
    // The date of a state moves without a write where a page that it links to comes or goes: what came
    // after a version that had ended by then was there, whatever its date.
    let is_over = |version: &mut Version| version.ended.instant().is_some_and(|end| end <= at);
    let ended = versions.first_mut().is_some_and(is_over);
    let ended = ended.then(|| versions.remove(0).ended);
    let date = |version: &Version| version.page.updated_at.as_ref()?.instant();
    versions.retain(|version| date(version).is_some_and(|date| date < seen));
    let mut redated = None;
    match (versions.first_mut(), ended) {
        (Some(then), Some(ended)) => redated = then.page.updated_at.replace(ended),
        (None, Some(ended)) => {
            let date: Date = std::mem::replace(&mut first.updated, ended);
            first.redated.get_or_insert(date);
        }
        (_, None) => {}
    }
    let written = versions
        .iter()
        .map(|version| date(version).map(MirrorTime::from));
    let times = times_between(&written.collect::<Vec<_>>(), None, first.seen);
    let mut states = Vec::new();
    for (version, seen) in versions.iter().zip(times) {
        let kept = keep(store, (&version.page, None), (seen, lease))?;
        states.extend(kept.map(|kept| SeenState {
            is_between: true,
            place: Some(SeenPlace::from(&version.page)),
            redated: redated.take(),
            ..kept
        }));
    }
    page.states.splice(..0, states);
    Ok(())
}
