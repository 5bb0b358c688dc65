//! Takes from the wiki's history how pages were before any look saw them.

use std::time::Duration;

use super::known::KnownPages;
use super::look::{MOST_BYTES, MOST_HISTORIES, keep, times_between};
use super::pages::PageKey;
use crate::audit::AuditError;
use crate::mirror::{Mirror, MirrorFault, MirrorTime, PartThen, SeenPlace, SeenState};
use crate::page::PageReading;
use crate::store::{Fence, LeaseMode, LeaseName, Store, on};
use crate::wiki::Wiki;

/// The most versions of a page that are read: if it has more since the time, nobody knows how it was.
const MOST_VERSIONS: usize = 50;
/// The time within which another look has to end.
const WAIT: Duration = Duration::from_secs(30);

/// Pages with the versions that they had at a time and since, the oldest first.
type PagesBack = Vec<(PageKey, Vec<PageReading>)>;

impl Mirror {
    /// Keeps, of pages of a part that are there, the versions that they had at its time and since then,
    /// where that lies before all that was seen of them. At most 200 pages are asked for.
    ///
    /// # Errors
    /// Why it ended early.
    pub async fn look_back(&self, wiki: &Wiki, part: &PartThen) -> Result<(), MirrorFault> {
        let known = self.known().await?;
        let wiki = wiki.pinned();
        let (mut found, mut bytes) = (PagesBack::new(), 0_usize);
        let unseen = known.iter().filter(|page| part.is_before_seen(page));
        for page in unseen.take(MOST_HISTORIES) {
            let since = (page.id, part.at);
            match wiki.versions_at_and_since(since, MOST_VERSIONS).await {
                Ok(versions) => {
                    let texts = versions.iter().filter_map(|one| one.content.as_ref());
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
        if found.iter().all(|(_, versions)| versions.is_empty()) {
            return Ok(());
        }
        let held = self.leases.alone(&LeaseName::MIRROR, WAIT).await;
        let held = held.map_err(AuditError::from)?;
        let fence = held.fence();
        Ok(on(&self.store, move |store| add(store, fence, found)).await?)
    }
}

/// Adds versions before the states that were seen.
fn add(store: &dyn Store, fence: Fence, found: PagesBack) -> Result<(), AuditError> {
    let mut known = KnownPages::load_to_change(store, fence)?;
    let lease = store.try_lease(&LeaseName::BLOBS, LeaseMode::Shared)?;
    let lease = lease.ok_or(AuditError::Busy)?;
    for (key, mut versions) in found {
        let Some(page) = known.change(&key) else {
            continue;
        };
        let Some((first, updated)) =
            (page.states.first()).and_then(|first| Some((first.seen, first.updated.instant()?)))
        else {
            continue;
        };
        let written = |version: &PageReading| version.updated_at.as_ref()?.instant();
        versions.retain(|version| written(version).is_some_and(|at| at < updated));
        let dates: Vec<Option<MirrorTime>> = { versions.iter() }
            .map(|version| written(version).map(MirrorTime::from))
            .collect();
        let mut states = Vec::new();
        for (version, seen) in versions.iter().zip(times_between(&dates, None, first)) {
            let kept = keep(store, (version, None), (seen, &lease))?;
            states.extend(kept.map(|kept| SeenState {
                is_between: true,
                place: Some(SeenPlace::from(version)),
                ..kept
            }));
        }
        page.states.splice(..0, states);
    }
    known.save(store)
}
