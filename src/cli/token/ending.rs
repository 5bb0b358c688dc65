//! Parses the end of a token: a lifetime, a date, or `never`.

use std::time::Duration;

use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};

use crate::page::Date;

/// The default lifetime of a token.
pub(super) const DEFAULT: &str = "90d";
/// The word for a token that never expires.
const NEVER: &str = "never";

/// The end of a token with this lifetime, or that date; `None` if it never ends.
pub(super) fn end(when: &str) -> Result<Option<String>, String> {
    if when == NEVER {
        return Ok(None);
    }
    let at = || {
        let time = OffsetDateTime::parse(when, &Rfc3339).ok();
        time.or_else(|| Date::parse(when).ok()?.instant())
    };
    let after = || OffsetDateTime::now_utc().checked_add(length(when)?.try_into().ok()?);
    after()
        .or_else(at)
        .filter(|end| *end > OffsetDateTime::now_utc())
        .and_then(|end| end.checked_to_offset(UtcOffset::UTC)?.replace_nanosecond(0).ok()?.format(&Rfc3339).ok())
        .map(Some)
        .ok_or_else(|| {
            "--expires must be a time such as 2h, 30m or 7d, a date to come such as 2030-01-31, or never"
                .to_owned()
        })
}

/// A length of time such as `2h`; `None` if the text is none.
pub(super) fn length(text: &str) -> Option<Duration> {
    let unit = match text.chars().last()? {
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    let number = text.get(..text.len() - 1)?.parse::<u32>().ok();
    let number = number.filter(|number| *number > 0)?;
    Some(Duration::from_secs(u64::from(number) * unit))
}
