//! Rates the freshness of a memory: a number that is shown and ranks, and hides nothing.

use super::moment::Timestamp;

/// The days after the last use at which a memory that was never used again has half of its health.
const HALF: i64 = 30;
/// The days that every further use adds to that.
const A_USE: i64 = 10;
/// The most uses that count.
const MOST_USES: i64 = 97;

/// The health of a memory, from 1 to 100.
///
/// It falls with the time since the last use and rises with the number of uses. A clock that went
/// back counts as no time at all, and however far it goes ahead, something is left.
#[must_use]
pub fn health(now: Timestamp, last: Timestamp, uses: u32) -> u8 {
    let age = now.hours_since(last);
    let counted = i64::from(uses).min(MOST_USES);
    let half = counted.saturating_mul(A_USE).saturating_add(HALF) * 24;
    let health = half.saturating_mul(100) / half.saturating_add(age);
    u8::try_from(health.clamp(1, 100)).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::{Timestamp, health};

    const USED: Timestamp = Timestamp(1_900_000_000_000);

    #[test]
    fn it_falls_with_time_and_rises_with_use() {
        let after = |days, uses| health(USED.plus_days(days), USED, uses);
        assert_eq!(
            [0, 7, 30, 90, 365, 3650].map(|days| after(days, 0)),
            [100, 81, 50, 25, 7, 1]
        );
        assert_eq!([0, 1, 5, 50].map(|uses| after(90, uses)), [25, 30, 47, 85]);
        for uses in 0..200 {
            assert!(after(90, uses) <= after(90, uses + 1));
            assert!(after(90, uses) >= after(91, uses));
        }
    }

    #[test]
    fn a_clock_that_jumps_does_no_harm() {
        assert_eq!(health(USED.plus_days(-4_000), USED, 0), 100);
        assert_eq!(health(Timestamp(i64::MIN), Timestamp(i64::MAX), 3), 100);
        assert_eq!(
            health(Timestamp(i64::MAX), Timestamp(i64::MIN), u32::MAX),
            1
        );
        assert_eq!(health(USED.plus_days(36_500), USED, 0), 1);
    }
}
