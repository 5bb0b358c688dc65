//! Removes states that are too old or too many, and what is forgotten on purpose.
//!
//! The newest state of a page that is there stays, whatever it takes. What is known of pages is saved
//! before any state is removed: a killed purge leaves states that nobody names, which the next one removes.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime};

use super::bin::Mirror;
use super::known::KnownPages;
use super::pages::{MirrorTime, MirroredPage};
use super::settings::MirrorSettings;
use crate::audit::{AuditError, KeptState, kept_states};
use crate::page::Prefix;
use crate::store::{LeaseMode, LeaseName, Store, StoreError, blocking};

/// The time between two purges.
const APART: time::Duration = time::Duration::HOUR;
/// The longest wait for a look under way.
const WAIT: Duration = Duration::from_mins(2);

/// The choice of what is forgotten on purpose.
#[derive(Debug, Clone)]
pub enum ToForget {
    /// The pages at or below a place, with all their states; those that are there are seen anew.
    Within(Prefix),
    /// States that were replaced, and pages that were gone, by this time.
    Before(MirrorTime),
}

/// The extent of what was forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Number of pages of which something was.
    pub pages: usize,
    /// Number of states.
    pub states: usize,
}

impl Mirror {
    /// The extent of what [`Self::forget`] would remove.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn would_forget(&self, which: ToForget) -> Result<Forgotten, AuditError> {
        let mut known = self.known().await?;
        Ok(known.forget(&which))
    }

    /// Forgets something for good, and removes the states that nothing else names.
    ///
    /// # Errors
    /// If it is not surely gone.
    pub async fn forget(&self, which: ToForget) -> Result<Forgotten, AuditError> {
        let held = self.leases().alone(&LeaseName::MIRROR, WAIT).await?;
        let store = self.store();
        blocking(move || {
            let mut known = KnownPages::load(&*store)?;
            let forgotten = known.forget(&which);
            known.save(&*store)?;
            remove_unnamed(&*store, &known)?;
            drop(held);
            Ok(forgotten)
        })
        .await
    }
}

/// Purges what is due, once in a while; whoever calls holds the lease of the mirror.
pub(super) fn purge(
    known: &mut KnownPages,
    store: &dyn Store,
    (settings, now): (&MirrorSettings, MirrorTime),
) -> Result<Option<MirrorTime>, AuditError> {
    let last = known.look.as_ref().and_then(|look| look.purged);
    let is_due = |last: MirrorTime| last > now || now.instant() - last.instant() > APART;
    if !last.is_none_or(is_due) {
        return Ok(last);
    }
    let days = time::Duration::days(settings.keep_days.into());
    if let Some(oldest) = now.instant().checked_sub(days) {
        known.forget(&ToForget::Before(oldest.into()));
    }
    known.shrink_to(settings.keep_bytes);
    known.save(store)?;
    match remove_unnamed(store, known) {
        // Somebody keeps one: the next purge removes them.
        Ok(()) | Err(AuditError::Busy) => Ok(Some(now)),
        Err(error) => Err(error),
    }
}

impl KnownPages {
    fn forget(&mut self, which: &ToForget) -> Forgotten {
        let mut forgotten = Forgotten::default();
        let keys: Vec<_> = self.iter().map(MirroredPage::key).collect();
        for key in keys {
            let Some(page) = self.get(&key) else { continue };
            let states = page.states.len();
            let left = match which {
                ToForget::Within(prefix) if prefix.holds(&page.locale, &page.path) => 0,
                ToForget::Within(_) => continue,
                ToForget::Before(time) if page.gone.is_some_and(|gone| gone.missed < *time) => 0,
                ToForget::Before(time) => {
                    let next = page.states.iter().skip(1);
                    states - next.take_while(|next| next.seen < *time).count()
                }
            };
            if left == states && left > 0 {
                continue;
            }
            forgotten.pages += 1;
            forgotten.states += states - left;
            if left == 0 {
                self.remove(&key);
            } else if let Some(page) = self.change(&key) {
                page.states.drain(..states - left);
            }
        }
        forgotten
    }

    /// Forgets what was replaced or gone the longest ago, until the states take no more than this.
    fn shrink_to(&mut self, most: u64) {
        let mut uses: HashMap<KeptState, (u64, usize)> = HashMap::new();
        let mut ends: Vec<MirrorTime> = Vec::new();
        for page in self.iter() {
            for seen in &page.states {
                uses.entry(seen.state).or_insert((seen.bytes, 0)).1 += 1;
            }
            ends.extend(page.states.iter().skip(1).map(|next| next.seen));
            ends.extend(page.gone.map(|gone| gone.missed));
        }
        let mut bytes: u64 = uses.values().map(|(bytes, _)| bytes).sum();
        if bytes <= most {
            return;
        }
        ends.sort_unstable();
        ends.dedup();
        // A tenth at a time, so that few passes are enough.
        let step = ends.len().div_ceil(10).max(1);
        for end in ends.chunks(step).filter_map(<[MirrorTime]>::last) {
            let after = i64::from(*end).saturating_add(1);
            self.forget(&ToForget::Before(after.into()));
            let left: HashSet<KeptState> = { self.iter() }
                .flat_map(|page| page.states.iter().map(|seen| seen.state))
                .collect();
            bytes = left
                .iter()
                .filter_map(|state| uses.get(state))
                .map(|(bytes, _)| bytes)
                .sum();
            if bytes <= most {
                return;
            }
        }
        tracing::warn!(
            bytes,
            most,
            "the newest states of the pages alone take more than the mirror may"
        );
    }
}

/// Removes the states that no page names.
fn remove_unnamed(store: &dyn Store, known: &KnownPages) -> Result<(), AuditError> {
    let began = SystemTime::now();
    let lease = store.try_lease(&LeaseName::BLOBS, LeaseMode::Alone)?;
    let lease = lease.ok_or(StoreError::Busy)?;
    let named: HashSet<KeptState> = { known.iter() }
        .flat_map(|page| page.states.iter().map(|seen| seen.state))
        .collect();
    for (state, _) in kept_states::list(store)? {
        if !named.contains(&state) {
            kept_states::remove(store, state, began, &lease)?;
        }
    }
    Ok(store.sync_removed()?)
}

#[cfg(test)]
mod tests {
    use super::{Forgotten, ToForget};
    use crate::audit::KeptState;
    use crate::mirror::known::KnownPages;
    use crate::mirror::{MirroredPage, PageGone, SeenState};
    use crate::page::{Date, Locale, PagePath, PageReading, Prefix};

    /// A page with states seen at these times, each of 10 bytes, gone at the last time if `gone`.
    fn page(id: i64, path: &str, seen: &[i64], gone: Option<i64>) -> MirroredPage {
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored(path));
        let listed = PageReading::bare(Some(id), locale, path, String::new());
        let state = |at: &i64| SeenState {
            state: KeptState::of_text(format!("{:064x}", id * 1_000 + at).as_bytes()).unwrap(),
            seen: (*at).into(),
            updated: Date::Unset,
            author: None,
            bytes: 10,
        };
        MirroredPage {
            states: seen.iter().map(state).collect(),
            gone: gone.map(|at| PageGone {
                last_seen: at.into(),
                missed: at.into(),
            }),
            ..MirroredPage::new(id, Date::Unset, &listed)
        }
    }

    fn known() -> KnownPages {
        let mut known = KnownPages::default();
        known.add(page(1, "docs/a", &[1, 5, 9], None));
        known.add(page(2, "docs/b", &[2, 3], Some(6)));
        known.add(page(3, "hr/c", &[1], None));
        known
    }

    fn left(known: &KnownPages) -> Vec<(i64, usize)> {
        known
            .iter()
            .map(|page| (page.id, page.states.len()))
            .collect()
    }

    #[test]
    fn what_was_replaced_or_gone_by_a_time_is_forgotten_and_no_newest_state() {
        let mut all = known();
        let forgotten = all.forget(&ToForget::Before(7.into()));
        assert_eq!(
            forgotten,
            Forgotten {
                pages: 2,
                states: 3
            }
        );
        assert_eq!(left(&all), [(1, 2), (3, 1)]);
        all.forget(&ToForget::Before(1_000.into()));
        assert_eq!(left(&all), [(1, 1), (3, 1)]);
    }

    #[test]
    fn what_is_at_or_below_a_place_is_forgotten_whole() {
        let mut all = known();
        let prefix = Prefix::parse("docs").unwrap();
        let forgotten = all.forget(&ToForget::Within(prefix));
        assert_eq!(
            forgotten,
            Forgotten {
                pages: 2,
                states: 5
            }
        );
        assert_eq!(left(&all), [(3, 1)]);
    }

    #[test]
    fn beyond_the_bytes_the_oldest_go_first_and_the_newest_states_stay() {
        let mut all = known();
        all.shrink_to(60);
        assert_eq!(left(&all), [(1, 3), (2, 2), (3, 1)]);
        all.shrink_to(50);
        assert_eq!(left(&all), [(1, 3), (2, 1), (3, 1)]);
        all.shrink_to(0);
        assert_eq!(left(&all), [(1, 1), (3, 1)]);
    }
}
