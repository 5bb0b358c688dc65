//! Points in time, in milliseconds.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::page::Date;

/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// A point in time: milliseconds since 1970, by this machine's clock. In JSON it is a date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Date", into = "String")]
pub struct Timestamp(pub(super) i64);

impl Timestamp {
    /// Now.
    pub fn now() -> Self {
        Self::of(OffsetDateTime::now_utc())
    }

    fn of(instant: OffsetDateTime) -> Self {
        let millis = instant.unix_timestamp_nanos() / 1_000_000;
        Self(i64::try_from(millis).unwrap_or(i64::MAX))
    }

    /// The moment as a date in ISO 8601; empty beyond the year 9999.
    pub fn date(self) -> String {
        let date = self.instant().and_then(Date::from_instant);
        date.map_or_else(String::new, String::from)
    }

    /// The instant, if it lies in the years that a calendar has.
    pub fn instant(self) -> Option<OffsetDateTime> {
        let nanos = i128::from(self.0).saturating_mul(1_000_000);
        OffsetDateTime::from_unix_timestamp_nanos(nanos).ok()
    }

    /// The moment some days later.
    #[must_use]
    pub const fn plus_days(self, days: i64) -> Self {
        Self(self.0.saturating_add(days.saturating_mul(DAY)))
    }

    /// The moment some minutes later.
    #[must_use]
    pub(super) const fn plus_minutes(self, minutes: i64) -> Self {
        Self(self.0.saturating_add(minutes.saturating_mul(60_000)))
    }

    /// This moment, or the one after another if that is later.
    #[must_use]
    pub fn after(self, other: Self) -> Self {
        self.max(Self(other.0.saturating_add(1)))
    }

    /// The hours since another moment; 0 if this one is earlier.
    pub(super) fn hours_since(self, other: Self) -> i64 {
        (self.0.saturating_sub(other.0) / (DAY / 24)).max(0)
    }
}

impl TryFrom<Date> for Timestamp {
    type Error = &'static str;

    fn try_from(date: Date) -> Result<Self, Self::Error> {
        date.instant().map(Self::of).ok_or("not a date")
    }
}

impl From<Timestamp> for String {
    fn from(moment: Timestamp) -> Self {
        moment.date()
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn a_moment_is_read_as_it_is_written() {
        let now = Timestamp::now();
        let text = serde_json::to_string(&now).unwrap();
        assert_eq!(serde_json::from_str::<Timestamp>(&text).unwrap(), now);
        assert!(serde_json::from_str::<Timestamp>("\"yesterday\"").is_err());
        assert_eq!(Timestamp(i64::MAX).date(), "");
        assert_eq!(Timestamp(0).date(), "1970-01-01T00:00:00.000Z");
    }
}
