//! Times as people type them.

use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime, UtcOffset};

/// A time that bounds what is shown: `7d`, `24h` or `30m` ago, a time such as
/// `2030-01-31T09:00:00Z`, or a date in UTC, which means all of that day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// A moment.
    At(OffsetDateTime),
    /// A whole day.
    Day(Date),
}

impl When {
    /// Reads what somebody typed.
    ///
    /// # Errors
    /// What would be right.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let day = format_description!("[year]-[month]-[day]");
        ago(text)
            .and_then(|ago| OffsetDateTime::now_utc().checked_sub(ago))
            .or_else(|| OffsetDateTime::parse(text, &Rfc3339).ok())
            .map(Self::At)
            .or_else(|| Date::parse(text, day).ok().map(Self::Day))
            .ok_or_else(|| {
                "must be a date (2030-01-31), a time (2030-01-31T09:00:00Z), or how long ago (7d, 24h, 30m)"
                    .to_owned()
            })
    }

    /// When it begins.
    pub(super) fn begin(self) -> OffsetDateTime {
        match self {
            Self::At(time) => time,
            Self::Day(day) => day.midnight().assume_utc(),
        }
    }

    /// When it is over.
    pub(super) fn end(self) -> OffsetDateTime {
        match self {
            Self::At(time) => time,
            Self::Day(day) => day.next_day().unwrap_or(day).midnight().assume_utc(),
        }
    }
}

/// How far a time lies from now, in words: `in 3 days`, `2 hours ago`.
pub(super) fn from_now(time: OffsetDateTime) -> String {
    let seconds = (time - OffsetDateTime::now_utc()).whole_seconds();
    let (is_past, seconds) = (seconds < 0, seconds.unsigned_abs());
    // To the nearest: what was given 30 days a moment ago has 30 days.
    let rounded = |unit: u64| (seconds + unit / 2) / unit;
    let (days, hours, minutes) = (rounded(86_400), rounded(3_600), rounded(60));
    let of = |count: u64, unit: &str| match count {
        1 => format!("1 {unit}"),
        count => format!("{count} {unit}s"),
    };
    let length = if hours >= 48 {
        of(days, "day")
    } else if minutes >= 120 {
        of(hours, "hour")
    } else if minutes >= 1 {
        of(minutes, "minute")
    } else {
        "less than a minute".to_owned()
    };
    if is_past {
        format!("{length} ago")
    } else {
        format!("in {length}")
    }
}

/// A time for people: to the minute, in UTC.
pub(super) fn minute(time: OffsetDateTime) -> String {
    let form = format_description!("[year]-[month]-[day] [hour]:[minute] UTC");
    let utc = time.to_offset(UtcOffset::UTC);
    utc.format(form).unwrap_or_else(|_| utc.to_string())
}

fn ago(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let count: u32 = text.strip_suffix(unit)?.parse().ok()?;
    match unit {
        'd' => Some(Duration::days(count.into())),
        'h' => Some(Duration::hours(count.into())),
        'm' => Some(Duration::minutes(count.into())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{When, from_now, minute};
    use time::macros::datetime;
    use time::{Duration, OffsetDateTime};

    #[test]
    fn a_date_is_the_whole_day_and_a_time_that_moment() {
        let day = When::parse("2030-01-31").unwrap();
        assert_eq!(day.begin(), datetime!(2030-01-31 00:00 UTC));
        assert_eq!(day.end(), datetime!(2030-02-01 00:00 UTC));
        let time = When::parse("2030-01-31T09:00:00+01:00").unwrap();
        assert_eq!(time.begin(), datetime!(2030-01-31 08:00 UTC));
        assert_eq!(time.end(), time.begin());
    }

    #[test]
    fn a_distance_is_told_in_the_unit_that_fits_it() {
        let now = OffsetDateTime::now_utc();
        for (seconds, told) in [
            (20, "in less than a minute"),
            (80, "in 1 minute"),
            (119 * 60, "in 119 minutes"),
            (2 * 3_600, "in 2 hours"),
            (47 * 3_600, "in 47 hours"),
            (30 * 86_400, "in 30 days"),
            (-3 * 86_400, "3 days ago"),
            (-20, "less than a minute ago"),
        ] {
            assert_eq!(from_now(now + Duration::seconds(seconds)), told);
        }
        let time = datetime!(2030-01-31 09:30:15 +01:00);
        assert_eq!(minute(time), "2030-01-31 08:30 UTC");
    }

    #[test]
    fn how_long_ago_is_counted_from_now() {
        for (text, ago) in [("7d", 7 * 24 * 60), ("24h", 24 * 60), ("30m", 30)] {
            let since = OffsetDateTime::now_utc() - When::parse(text).unwrap().begin();
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
            "soon",
            "2030-02-30",
            "9999999999d",
        ] {
            assert!(When::parse(bad).is_err(), "{bad}");
        }
    }
}
