//! Times in words, for people.

use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{OffsetDateTime, UtcOffset};

/// The distance of a time from now, in words: `in 3 days`, `2 hours ago`.
pub(super) fn from_now(time: OffsetDateTime) -> String {
    let distance = time - OffsetDateTime::now_utc();
    let seconds = distance.whole_seconds().unsigned_abs();
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
    if distance.is_negative() {
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

/// A time for people: its distance from now, and when it is.
pub(super) fn with_distance(time: OffsetDateTime) -> String {
    format!("{}, {}", from_now(time), minute(time))
}

/// A time for a program.
pub(super) fn rfc3339(time: Option<OffsetDateTime>) -> Option<String> {
    time?.format(&Rfc3339).ok()
}

#[cfg(test)]
mod tests {
    use super::{from_now, minute};
    use time::macros::datetime;
    use time::{Duration, OffsetDateTime};

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
        // What happened in this second is past, too.
        assert_eq!(from_now(now), "less than a minute ago");
        let time = datetime!(2030-01-31 09:30:15 +01:00);
        assert_eq!(minute(time), "2030-01-31 08:30 UTC");
    }
}
