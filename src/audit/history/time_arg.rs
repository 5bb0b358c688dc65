//! Times as people type them.

use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime, PrimitiveDateTime};

/// A time that bounds what is shown: `7d`, `24h` or `30m` ago, a time such as
/// `2030-01-31T09:00:00Z` or, in UTC, `2030-01-31 09:00`, or a date in UTC, which means all of that day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeArg {
    /// A moment.
    At(OffsetDateTime),
    /// A whole day.
    Day(Date),
}

impl TimeArg {
    /// Reads what somebody typed.
    ///
    /// # Errors
    /// What would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let day = format_description!("[year]-[month]-[day]");
        let in_utc = format_description!(
            version = 2,
            "[year]-[month]-[day][first [ ][T]][hour]:[minute][optional [:[second]]]"
        );
        let in_utc = PrimitiveDateTime::parse(text, in_utc);
        ago(text)
            .and_then(|ago| OffsetDateTime::now_utc().checked_sub(ago))
            .or_else(|| OffsetDateTime::parse(text, &Rfc3339).ok())
            .or_else(|| Some(in_utc.ok()?.assume_utc()))
            .map(Self::At)
            .or_else(|| Date::parse(text, day).ok().map(Self::Day))
            .ok_or_else(|| {
                "must be a date (2030-01-31), a time in UTC (2030-01-31 09:00), or how long ago (7d, 24h, 30m)"
                    .to_owned()
            })
    }

    /// Time at which it begins.
    pub fn begin(self) -> OffsetDateTime {
        match self {
            Self::At(time) => time,
            Self::Day(day) => day.midnight().assume_utc(),
        }
    }

    /// Time at which it is over.
    pub fn end(self) -> OffsetDateTime {
        match self {
            Self::At(time) => time,
            Self::Day(day) => day.next_day().unwrap_or(day).midnight().assume_utc(),
        }
    }
}

fn ago(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let count = text.strip_suffix(unit);
    let count: u32 = count.filter(|it| !it.starts_with('+'))?.parse().ok()?;
    match unit {
        'd' => Some(Duration::days(count.into())),
        'h' => Some(Duration::hours(count.into())),
        'm' => Some(Duration::minutes(count.into())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::TimeArg;
    use time::macros::datetime;
    use time::{Duration, OffsetDateTime};

    #[test]
    fn a_date_is_the_whole_day_and_a_time_that_moment() {
        let day = TimeArg::parse("2030-01-31").unwrap();
        assert_eq!(day.begin(), datetime!(2030-01-31 00:00 UTC));
        assert_eq!(day.end(), datetime!(2030-02-01 00:00 UTC));
        let time = TimeArg::parse("2030-01-31T09:00:00+01:00").unwrap();
        assert_eq!(time.begin(), datetime!(2030-01-31 08:00 UTC));
        assert_eq!(time.end(), time.begin());
        for text in [
            "2030-01-31 09:00",
            "2030-01-31T09:00",
            "2030-01-31 09:00:00",
        ] {
            let time = TimeArg::parse(text).expect(text);
            assert_eq!(time.begin(), datetime!(2030-01-31 09:00 UTC));
        }
    }

    #[test]
    fn how_long_ago_is_counted_from_now() {
        for (text, ago) in [("7d", 7 * 24 * 60), ("24h", 24 * 60), ("30m", 30)] {
            let since = OffsetDateTime::now_utc() - TimeArg::parse(text).unwrap().begin();
            assert!((since - Duration::minutes(ago)).abs() < Duration::minutes(1));
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for bad in [
            "",
            "d",
            "7",
            "7w",
            "-7d",
            "+7d",
            "soon",
            "2030-02-30",
            "2030-01-31T24:00",
            "2030-01-31T09:00:00+25:00",
            "9999999999d",
        ] {
            assert!(TimeArg::parse(bad).is_err(), "{bad}");
        }
    }
}
