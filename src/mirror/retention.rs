//! Removes states that are too old or too many, and what is forgotten on purpose.
//!
//! The newest state of a page that is there stays, whatever it takes. What is known of pages is saved
//! before any state is removed: a killed purge leaves states that nobody names, which the next one removes.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::known::KnownPages;
use super::pages::PageKey;
use crate::audit::{AuditError, AuditResult, KeptState, kept_states};
use crate::mirror::{Mirror, MirrorSettings, MirrorTime, MirroredPage, SeenState};
use crate::page::Prefix;
use crate::store::{LeaseMode, LeaseName, Store, StoreError, on};

/// The time between two purges.
const APART: time::Duration = time::Duration::HOUR;
/// The time between two purges of what is too old.
const DAY: time::Duration = time::Duration::DAY;
/// The longest wait for a look under way.
const WAIT: Duration = Duration::from_mins(2);
/// The wait before what the store did not remove is tried again.
const AGAIN: Duration = Duration::from_secs(4);

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
    /// Number of states that the store still has: they were kept just now, or are being kept. To forget
    /// once more removes them.
    pub left: usize,
}

impl Mirror {
    /// The extent of what [`Self::forget`] would remove.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn would_forget(&self, which: ToForget) -> AuditResult<Forgotten> {
        let mut known = self.known().await?;
        Ok(known.forget(&which))
    }

    /// Forgets something for good, and removes the states that nothing else names; says how many of
    /// these the store still has.
    ///
    /// # Errors
    /// If it is not surely gone.
    pub async fn forget(&self, which: ToForget) -> AuditResult<Forgotten> {
        let held = self.leases.alone(&LeaseName::MIRROR, WAIT).await?;
        let fence = held.fence();
        let saved: AuditResult<_> = on(&self.store, move |store| {
            let mut known = KnownPages::load_to_change(store, fence)?;
            let forgotten = known.forget(&which);
            known.save_forgotten(store)?;
            Ok((Arc::new(known), forgotten))
        })
        .await;
        let (known, mut forgotten) = saved?;
        for is_last in [false, false, false, true] {
            let known = Arc::clone(&known);
            match on(&self.store, move |store| remove_unnamed(store, &known)).await {
                Ok(0) => break,
                Ok(_) | Err(AuditError::Busy) if !is_last => tokio::time::sleep(AGAIN).await,
                left => forgotten.left = left?,
            }
        }
        drop(held);
        Ok(forgotten)
    }
}

/// The time of the last purge, and that up to which the next one counts ages.
type PurgeTimes = (Option<MirrorTime>, Option<MirrorTime>);

/// Purges what is due, once in a while; whoever calls holds the lease of the mirror.
pub(super) fn purge(
    known: &mut KnownPages,
    store: &dyn Store,
    (settings, now): (&MirrorSettings, MirrorTime),
) -> AuditResult<PurgeTimes> {
    let look = known.look.as_ref();
    let (purged, counted) = look.map_or((None, None), |look| (look.purged, look.counted));
    if !purged.is_none_or(|last| last.is_over(APART, now)) {
        return Ok((purged, counted));
    }
    let counted = known.age(counted, settings.keep_days, now);
    known.shrink_to(settings.keep_bytes);
    known.save_forgotten(store)?;
    match remove_unnamed(store, known) {
        // Somebody keeps one: the next purge removes them.
        Ok(_) | Err(AuditError::Busy) => Ok((Some(now), Some(counted))),
        Err(error) => Err(error),
    }
}

impl KnownPages {
    /// Forgets once a day what is too old, counted up to the time that was noted at least a day ago: so
    /// a look by a clock that is ahead makes nothing old. Gives the time that the next purge counts up to.
    fn age(&mut self, counted: Option<MirrorTime>, keep_days: u32, now: MirrorTime) -> MirrorTime {
        let Some(counted) = counted.filter(|counted| *counted <= now) else {
            return now;
        };
        if !counted.is_over(DAY, now) {
            return counted;
        }
        let days = time::Duration::days(keep_days.into());
        if let Some(oldest) = counted.instant().checked_sub(days) {
            let forgotten = self.forget(&ToForget::Before(oldest.into()));
            if forgotten != Forgotten::default() {
                let Forgotten { pages, states, .. } = forgotten;
                tracing::info!(pages, states, before = %MirrorTime::from(oldest), "the mirror forgot what is too old");
            }
        }
        now
    }

    fn forget(&mut self, which: &ToForget) -> Forgotten {
        let mut forgotten = Forgotten::default();
        let keys: Vec<_> = self.iter().map(MirroredPage::key).collect();
        for key in keys {
            let Some(page) = self.get(&key) else { continue };
            let states = page.states.len();
            let left = match which {
                ToForget::Within(prefix) if prefix.holds(&page.place.locale, &page.place.path) => 0,
                ToForget::Within(_) => continue,
                ToForget::Before(time) if is_gone_before(page, *time) => 0,
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
                self.forgot(match which {
                    ToForget::Within(_) => MirrorTime::now(),
                    ToForget::Before(time) => (*time).min(MirrorTime::now()),
                });
            } else if let Some(page) = self.change(&key) {
                page.states.drain(..states - left);
            }
        }
        forgotten
    }

    /// Forgets states that were replaced or are gone until those take no more than this, each time the
    /// oldest one of the page that has most of them. What the newest states take does not count: they stay.
    fn shrink_to(&mut self, most: u64) {
        let newest: HashSet<KeptState> = { self.iter() }
            .filter(|page| page.gone.is_none())
            .filter_map(|page| page.last().map(|last| last.state))
            .collect();
        // What no newest state is equal to: its bytes, and how often it is named.
        let mut uses: HashMap<KeptState, (u64, usize)> = HashMap::new();
        for seen in self.iter().flat_map(replaced) {
            if !newest.contains(&seen.state) {
                uses.entry(seen.state).or_insert((seen.bytes, 0)).1 += 1;
            }
        }
        let mut bytes: u64 = uses.values().map(|(bytes, _)| bytes).sum();
        let mut turns: Vec<_> = self.iter().flat_map(turns_to_lose).collect();
        turns.sort_unstable();
        for (_, _, key) in turns {
            if bytes <= most {
                break;
            }
            let Some(page) = self.change(&key) else {
                continue;
            };
            let lost = page.states.drain(..1).next().map(|lost| lost.state);
            if page.states.is_empty()
                && let Some(gone) = self.remove(&key).and_then(|page| page.gone)
            {
                self.forgot(gone.missed);
            }
            if let Some((length, count)) = lost.and_then(|lost| uses.get_mut(&lost)) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    bytes = bytes.saturating_sub(*length);
                }
            }
        }
    }
}

/// True if a page was gone by a time.
fn is_gone_before(page: &MirroredPage, time: MirrorTime) -> bool {
    page.gone.as_ref().is_some_and(|gone| gone.missed < time)
}

/// The states of a page that may go, the oldest first: all but the newest one of a page that is there.
fn replaced(page: &MirroredPage) -> &[SeenState] {
    let newest = usize::from(page.gone.is_none());
    let count = page.states.len().saturating_sub(newest);
    page.states.get(..count).unwrap_or_default()
}

/// The turns of a page to lose its oldest state: first is the page with the most that may go, of equals
/// that whose oldest one was replaced or gone the longest ago.
fn turns_to_lose(
    page: &MirroredPage,
) -> impl Iterator<Item = (Reverse<usize>, MirrorTime, PageKey)> {
    let count = replaced(page).len();
    let next = page.states.iter().skip(1).map(|next| next.seen);
    let ends = next.chain(page.gone.as_ref().map(|gone| gone.missed));
    let left = (1..=count).rev().map(Reverse);
    left.zip(ends).map(|(left, end)| (left, end, page.key()))
}

/// Removes the states that no page names; gives the number of those that the store does not remove yet.
fn remove_unnamed(store: &dyn Store, known: &KnownPages) -> AuditResult<usize> {
    let began = SystemTime::now();
    let lease = store.try_lease(&LeaseName::BLOBS, LeaseMode::Alone)?;
    let lease = lease.ok_or(StoreError::Busy)?;
    let named: HashSet<KeptState> = { known.iter() }
        .flat_map(|page| page.states.iter().map(|seen| seen.state))
        .collect();
    let mut left = 0_usize;
    for (state, _) in kept_states::list(store)? {
        if !named.contains(&state) && !kept_states::remove(store, state, began, &lease)? {
            left = left.saturating_add(1);
        }
    }
    store.sync_removed()?;
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::{Forgotten, ToForget};
    use crate::audit::KeptState;
    use crate::mirror::known::{KnownPages, LastLook};
    use crate::mirror::{MirroredPage, PageGone, SeenState};
    use crate::page::{Locale, PagePath, PageReading, Prefix};

    /// A page with states seen at these times, each of 10 bytes, gone at the last time if `gone`.
    fn page(id: i64, path: &str, seen: &[i64], gone: Option<i64>) -> MirroredPage {
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored(path));
        let listed = PageReading::bare(Some(id), locale, path, String::new());
        let state = |at: &i64| {
            let name = KeptState::of_text(format!("{:064x}", id * 1_000 + at).as_bytes());
            SeenState::new(name.unwrap(), (*at).into(), 10)
        };
        MirroredPage {
            states: seen.iter().map(state).collect(),
            gone: gone.map(|at| PageGone {
                last_seen: at.into(),
                missed: at.into(),
                is_hidden: false,
                key: None,
            }),
            ..MirroredPage::new(id, &listed)
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
                states: 3,
                left: 0
            }
        );
        assert_eq!(left(&all), [(1, 2), (3, 1)]);
        all.forget(&ToForget::Before(1_000.into()));
        assert_eq!(left(&all), [(1, 1), (3, 1)]);
    }

    #[test]
    fn one_look_by_a_clock_that_is_ahead_makes_nothing_old() {
        const DAY: i64 = 86_400_000;
        let mut all = known();
        let mut counted = None;
        let mut purged = |all: &mut KnownPages, day: i64| {
            counted = Some(all.age(counted, 30, (day * DAY).into()));
            all.iter().count()
        };
        // Ahead by more than is kept, and back.
        let days = [1, 2, 402, 2, 3, 403, 4];
        assert_eq!(days.map(|day| purged(&mut all, day)), [3; 7]);
        // Thirty days, and the one that is counted from.
        assert_eq!([32, 34].map(|day| purged(&mut all, day)), [3, 2]);
    }

    #[test]
    fn the_time_until_which_whole_pages_were_forgotten_is_noted() {
        let forgotten = |forget: &dyn Fn(&mut KnownPages)| {
            let mut all = known();
            all.look = Some(LastLook {
                at: 9.into(),
                key: String::new(),
                purged: None,
                counted: None,
                forgotten: Some(5.into()),
            });
            forget(&mut all);
            all.forgotten().map(i64::from)
        };
        let before = |time: i64| {
            forgotten(&|all| {
                all.forget(&ToForget::Before(time.into()));
            })
        };
        // Only states that were replaced; then a page that was gone.
        assert_eq!([before(6), before(7)], [Some(5), Some(7)]);
        assert_eq!(forgotten(&|all| all.shrink_to(20)), Some(5));
        assert_eq!(forgotten(&|all| all.shrink_to(10)), Some(6));
        let within = forgotten(&|all| {
            all.forget(&ToForget::Within(Prefix::parse("hr").unwrap()));
        });
        assert!(within > Some(1_700_000_000_000));
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
                states: 5,
                left: 0
            }
        );
        assert_eq!(left(&all), [(3, 1)]);
    }

    #[test]
    fn beyond_the_bytes_the_page_with_most_that_may_go_loses_its_oldest_and_the_newest_stay() {
        let mut all = known();
        // Two of the first and two of the second, which is gone, may go.
        all.shrink_to(40);
        assert_eq!(left(&all), [(1, 3), (2, 2), (3, 1)]);
        all.shrink_to(30);
        assert_eq!(left(&all), [(1, 3), (2, 1), (3, 1)]);
        all.shrink_to(20);
        assert_eq!(left(&all), [(1, 2), (2, 1), (3, 1)]);
        all.shrink_to(10);
        assert_eq!(left(&all), [(1, 2), (3, 1)]);
        all.shrink_to(0);
        assert_eq!(left(&all), [(1, 1), (3, 1)]);
    }
}
