//! Holds on to what this process has in the database: one row with an end, which is moved while it lives.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use tokio::time::sleep;

use super::connections::ConnectionPool;
use super::statement::{Statement, synced, unsynced};
use crate::store::{StoreError, StoreResult};

/// For how long a holder lives without being renewed, and how often it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct HolderTimes {
    pub(super) lasts: Duration,
    pub(super) renewed_every: Duration,
}

impl HolderTimes {
    pub(super) const USUAL: Self = Self {
        lasts: Duration::from_secs(20),
        renewed_every: Duration::from_secs(4),
    };
}

/// The row of this process. Once others have removed it, it never holds anything again.
#[derive(Debug)]
pub(super) struct Holder {
    pub(super) id: i64,
    times: HolderTimes,
    /// Milliseconds of the clock that counts suspension at the beginning of the last renewal that was answered.
    renewed: AtomicU64,
    is_gone: AtomicBool,
    leases: Mutex<HeldNumbers>,
}

/// The numbers of leases: all up to the last were given out, those in the set are in use.
#[derive(Debug, Default)]
struct HeldNumbers {
    last: i64,
    in_use: BTreeSet<i64>,
}

impl Holder {
    /// One that is not in the database yet.
    pub(super) fn new(times: HolderTimes) -> StoreResult<Self> {
        let id = getrandom::u64().map_err(|_| StoreError::BrokenOff)?;
        Ok(Self {
            id: id.cast_signed(),
            times,
            renewed: AtomicU64::new(clock()),
            is_gone: AtomicBool::new(false),
            leases: Mutex::default(),
        })
    }

    /// True if nobody else can have what this holds, nor for a while.
    pub(super) fn is_sure(&self) -> bool {
        let since = clock().saturating_sub(self.renewed.load(Ordering::Acquire));
        !self.is_gone() && Duration::from_millis(since) < self.times.lasts / 2
    }

    /// True if the database has it no more.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Acquire)
    }

    /// The database was seen without it.
    pub(super) fn set_gone(&self) {
        if !self.is_gone.swap(true, Ordering::AcqRel) {
            tracing::warn!(
                "store: this process was silent for too long; others may hold what it held"
            );
        }
    }

    /// A number for a lease, which is in use from now on.
    pub(super) fn take_number(&self) -> i64 {
        let mut leases = self.leases.lock();
        leases.last += 1;
        let number = leases.last;
        leases.in_use.insert(number);
        number
    }

    /// The number is in use no more: what the database has of it goes with the next renewal.
    pub(super) fn give_number_back(&self, number: i64) {
        self.leases.lock().in_use.remove(&number);
    }

    /// Puts it into the database.
    pub(super) fn begin(&self) -> Statement {
        Statement::new(concat!(
            "INSERT INTO @.holder (id, until, lasts)
            SELECT $1, clock_timestamp() + make_interval(secs => $2), make_interval(secs => $2) WHERE ",
            synced!(),
            " ON CONFLICT (id) DO NOTHING"
        ))
        .integer(self.id)
        .seconds(self.times.lasts.as_secs_f64())
    }

    /// Takes it out of the database, with all that it holds.
    pub(super) fn end(&self) -> Statement {
        Statement::new("DELETE FROM @.holder WHERE id = $1").integer(self.id)
    }

    /// Moves its end, and removes what it holds by numbers that are not in use: given by an answer that was lost.
    fn renewal(&self) -> Statement {
        let (last, in_use) = {
            let leases = self.leases.lock();
            (leases.last, leases.in_use.iter().copied().collect())
        };
        Statement::new(concat!(
            "WITH lost AS (DELETE FROM @.lease WHERE holder = $1 AND number <= $2 AND number <> ALL ($3))
            UPDATE @.holder SET until = clock_timestamp() + lasts WHERE id = $1 AND ",
            unsynced!(),
            " RETURNING 1"
        ))
        .integer(self.id)
        .integer(last)
        .integers(in_use)
        .within(self.times.lasts / 4)
        .urgent()
    }

    /// Asks once for a renewal.
    pub(super) async fn renew(&self, pool: &ConnectionPool) -> StoreResult<()> {
        let began = clock();
        if pool.ask(&self.renewal()).await?.is_empty() {
            self.set_gone();
        } else {
            self.renewed.store(began, Ordering::Release);
        }
        Ok(())
    }
}

/// Renews a holder until it is gone or nobody needs it.
pub(super) async fn keep_renewing(pool: Arc<ConnectionPool>, holder: Weak<Holder>) {
    let mut is_answered = true;
    loop {
        let Some(times) = holder.upgrade().map(|holder| holder.times) else {
            return;
        };
        let pause = if is_answered {
            times.renewed_every
        } else {
            times.renewed_every / 4
        };
        sleep(pause).await;
        let Some(holder) = holder.upgrade() else {
            return;
        };
        is_answered = Box::pin(holder.renew(&pool)).await.is_ok();
        if holder.is_gone() {
            return;
        }
    }
}

/// Milliseconds of a clock that goes on while the machine is suspended.
fn clock() -> u64 {
    #[cfg(target_os = "linux")]
    const CLOCK: ClockId = ClockId::Boottime;
    // That of macOS counts suspension.
    #[cfg(not(target_os = "linux"))]
    const CLOCK: ClockId = ClockId::Monotonic;
    let now = clock_gettime(CLOCK);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    let milliseconds = u64::try_from(now.tv_nsec / 1_000_000).unwrap_or_default();
    seconds.saturating_mul(1000).saturating_add(milliseconds)
}
