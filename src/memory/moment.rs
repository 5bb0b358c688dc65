//! Points in time, in milliseconds.

use time::OffsetDateTime;

use crate::page::Date;

/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// A point in time, as the store has it: milliseconds since 1970, by this machine's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Now.
    #[must_use]
    pub fn now() -> Self {
        Self::of(OffsetDateTime::now_utc())
    }

    fn of(instant: OffsetDateTime) -> Self {
        let millis = instant.unix_timestamp_nanos() / 1_000_000;
        Self(i64::try_from(millis).unwrap_or(i64::MAX))
    }

    /// Reads a date; `None` if it is none.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        Date::parse(text).ok()?.instant().map(Self::of)
    }

    /// The moment as a date in ISO 8601; empty beyond the year 9999.
    #[must_use]
    pub fn date(self) -> String {
        let nanos = i128::from(self.0).saturating_mul(1_000_000);
        let instant = OffsetDateTime::from_unix_timestamp_nanos(nanos).ok();
        instant
            .and_then(Date::from_instant)
            .map_or_else(String::new, String::from)
    }

    /// The instant, if it lies in the years that a calendar has.
    #[must_use]
    pub fn instant(self) -> Option<OffsetDateTime> {
        let nanos = i128::from(self.0).saturating_mul(1_000_000);
        OffsetDateTime::from_unix_timestamp_nanos(nanos).ok()
    }

    /// The moment some days later.
    #[must_use]
    pub const fn plus_days(self, days: i64) -> Self {
        Self(self.0.saturating_add(days.saturating_mul(DAY)))
    }

    /// The next moment.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The hours since another moment; 0 if this one is earlier.
    #[must_use]
    pub fn hours_since(self, other: Self) -> i64 {
        (self.0.saturating_sub(other.0) / (DAY / 24)).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn a_moment_is_read_as_it_is_written() {
        let now = Timestamp::now();
        assert_eq!(Timestamp::read(&now.date()), Some(now));
        assert_eq!(Timestamp::read("yesterday"), None);
        assert_eq!(Timestamp(i64::MAX).date(), "");
        assert_eq!(Timestamp(0).date(), "1970-01-01T00:00:00.000Z");
    }
}
