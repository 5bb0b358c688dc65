//! A `Date` of Wiki.js: ISO 8601, or an empty string where there is none (W12).

use serde::{Deserialize, Serialize};
use time::format_description::well_known::Iso8601;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime, UtcOffset};

/// A date of the wiki.
///
/// The text is kept as the wiki sent it, so that writing it back changes nothing: Wiki.js
/// stores any string as a date (W16). Two dates are [`Date::same`] if they name one instant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Date {
    /// No date; an empty string to the wiki.
    #[default]
    Unset,
    /// A date, or what the wiki has in its place.
    Set(String),
}

impl Date {
    /// A date that somebody typed, in the form that Wiki.js itself writes: UTC with
    /// milliseconds. An empty string clears a date.
    ///
    /// # Errors
    /// One sentence about what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::Unset);
        }
        let instant = read(text).ok_or(
            "must be a date in ISO 8601, such as \"2030-01-31T09:00:00Z\", or \"\" for none",
        )?;
        Self::from_instant(instant)
            .ok_or_else(|| "must be a date between the years 0000 and 9999".to_owned())
    }

    /// The date of an instant, in the same form; `None` outside the years 0000 to 9999.
    pub fn from_instant(instant: OffsetDateTime) -> Option<Self> {
        let stored = format_description!(
            "[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z"
        );
        let utc = instant.checked_to_offset(UtcOffset::UTC)?;
        let has_four_digits = (0..=9999).contains(&utc.year());
        let text = utc.format(stored).ok()?;
        has_four_digits.then_some(Self::Set(text))
    }

    /// Now.
    pub fn now() -> Self {
        Self::from_instant(OffsetDateTime::now_utc()).unwrap_or_default()
    }

    /// The text as the wiki has it; empty for none.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Unset => "",
            Self::Set(text) => text,
        }
    }

    /// True if there is a date.
    pub const fn is_set(&self) -> bool {
        matches!(self, Self::Set(_))
    }

    /// The instant, if the text is one.
    pub fn instant(&self) -> Option<OffsetDateTime> {
        read(self.as_str())
    }

    /// True if both name one instant, or are the same text.
    pub fn same(&self, other: &Self) -> bool {
        self == other || matches!((self.instant(), other.instant()), (Some(a), Some(b)) if a == b)
    }
}

/// Reads ISO 8601; without an offset as UTC, without a time as midnight.
fn read(text: &str) -> Option<OffsetDateTime> {
    let day_only = format_description!("[year]-[month]-[day]");
    if let Ok(time) = OffsetDateTime::parse(text, &Iso8601::DEFAULT) {
        // The parser also takes an offset of 24 or 25 hours.
        return (time.offset().whole_hours().abs() < 24).then_some(time);
    }
    PrimitiveDateTime::parse(text, &Iso8601::DEFAULT)
        .map(PrimitiveDateTime::assume_utc)
        .or_else(|_| time::Date::parse(text, day_only).map(|day| day.midnight().assume_utc()))
        .ok()
}

impl From<String> for Date {
    fn from(text: String) -> Self {
        if text.is_empty() {
            Self::Unset
        } else {
            Self::Set(text)
        }
    }
}

impl From<Date> for String {
    fn from(date: Date) -> Self {
        match date {
            Date::Unset => Self::new(),
            Date::Set(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Date;

    #[test]
    fn what_is_typed_is_stored_in_the_wikis_own_form() {
        for (typed, stored) in [
            ("", ""),
            ("2030-01-31", "2030-01-31T00:00:00.000Z"),
            ("2030-01-31T09:00:00Z", "2030-01-31T09:00:00.000Z"),
            ("2030-01-31T09:00:00.5+02:00", "2030-01-31T07:00:00.500Z"),
            ("2030-01-31T09:00:00", "2030-01-31T09:00:00.000Z"),
        ] {
            assert_eq!(Date::parse(typed).expect(typed).as_str(), stored);
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for bad in [
            "soon",
            " ",
            "2030",
            "31.01.2030",
            "2030-13-01",
            "2030-02-30T00:00:00Z",
            "2030-01-31T09:00:00+25:00",
            "2030-01-31T09:00:00-24:00",
            "2030-01-31T09:00:00+99:00",
            "2030-01-31T09:00:00+05:60",
        ] {
            assert!(Date::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn one_instant_in_two_spellings_is_the_same_date() {
        let stored = |text: &str| Date::from(text.to_owned());
        assert!(stored("2030-01-01T00:00:00Z").same(&stored("2030-01-01T00:00:00.000Z")));
        assert!(stored("soon").same(&stored("soon")));
        assert!(!stored("soon").same(&stored("later")));
        assert!(!stored("").same(&stored("2030-01-01T00:00:00Z")));
    }
}
