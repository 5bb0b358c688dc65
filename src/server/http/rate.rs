//! The layer `rate`: a token bucket for each caller, refilled evenly.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use axum::extract::Request;
use parking_lot::Mutex;

use super::caller::HttpCaller;
use super::refusal::HttpRefusal;

/// With more callers than this, those with full buckets are forgotten.
const MANY: usize = 4096;

#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
    per_minute: u32,
}

impl Bucket {
    /// The bucket holds at most a minute's worth.
    fn refill(&mut self, now: Instant) {
        let per_minute = f64::from(self.per_minute);
        let gathered = now.duration_since(self.at).as_secs_f64() * per_minute / 60.0;
        self.left = (self.left + gathered).min(per_minute);
        self.at = now;
    }
}

/// The layer `rate`: counts a request against the rate of its caller; callers without a name have
/// one by their address.
pub(super) fn rate(rates: &Rates, request: Request) -> Result<Request, HttpRefusal> {
    let caller = HttpCaller::get(&request)?;
    let address = caller.context.address.as_deref();
    let name = caller.counted().or(address).unwrap_or_default();
    let taken = rates.take(Instant::now(), name, caller.rate);
    taken.map_err(|wait| HttpRefusal::too_many(wait, "too many requests; slow down"))?;
    Ok(request)
}

/// The request rates of all callers.
#[derive(Debug, Default)]
pub(super) struct Rates(Mutex<HashMap<String, Bucket>>);

impl Rates {
    /// Takes one request of a caller's rate.
    ///
    /// # Errors
    /// How long it has to wait.
    pub(super) fn take(&self, now: Instant, caller: &str, per_minute: u32) -> Result<(), Duration> {
        let mut buckets = self.0.lock();
        if buckets.len() >= MANY {
            buckets.retain(|_, bucket| {
                bucket.refill(now);
                bucket.left < f64::from(bucket.per_minute)
            });
        }
        let bucket = buckets.entry(caller.to_owned()).or_insert_with(|| Bucket {
            left: f64::from(per_minute),
            at: now,
            per_minute,
        });
        bucket.per_minute = per_minute;
        bucket.refill(now);
        if bucket.left >= 1.0 {
            bucket.left -= 1.0;
            return Ok(());
        }
        let wait = (1.0 - bucket.left) * 60.0 / f64::from(per_minute.max(1));
        Err(Duration::try_from_secs_f64(wait).unwrap_or(Duration::from_mins(1)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Rates;

    #[test]
    fn a_minutes_worth_may_come_at_once_and_then_evenly() {
        let (rates, now) = (Rates::default(), Instant::now());
        for _ in 0..60 {
            assert_eq!(rates.take(now, "a", 60), Ok(()));
        }
        assert_eq!(rates.take(now, "a", 60), Err(Duration::from_secs(1)));
        // Another caller's rate is its own.
        assert_eq!(rates.take(now, "b", 60), Ok(()));
        let later = now + Duration::from_millis(1_100);
        assert_eq!(rates.take(later, "a", 60), Ok(()));
        assert!(rates.take(later, "a", 60).is_err());
    }
}
