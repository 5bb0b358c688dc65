//! Times as the wiki writes them.

use async_graphql::scalar;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

/// A clock that never shows the same millisecond twice.
///
/// Two writes within one millisecond would otherwise be equally new, which no
/// real wiki over a network shows.
#[derive(Debug, Default)]
pub(super) struct Clock {
    last: Option<OffsetDateTime>,
}

impl Clock {
    /// The present time, later than any told before.
    pub(super) fn now(&mut self) -> String {
        let mut now = OffsetDateTime::now_utc();
        if let Some(last) = self.last {
            now = now.max(last + time::Duration::milliseconds(1));
        }
        self.last = Some(now);
        iso(now)
    }
}

/// ISO 8601 in UTC with milliseconds.
pub(super) fn iso(time: OffsetDateTime) -> String {
    let form =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
    // The form names only parts that every time has, so this cannot fail.
    time.format(form).unwrap_or_default()
}

/// True if `a` is later than `b`; false when either is not a time.
pub(super) fn later(a: &str, b: &str) -> bool {
    let time = |text: &str| OffsetDateTime::parse(text, &Rfc3339).ok();
    time(a).zip(time(b)).is_some_and(|(a, b)| a > b)
}

/// A date of the API: whatever text was sent, unchecked (W16).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Date(pub(super) String);

scalar!(Date);

impl From<&String> for Date {
    fn from(text: &String) -> Self {
        Self(text.clone())
    }
}
