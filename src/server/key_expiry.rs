//! Tells people once a day that the wiki's key ends soon.

use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::time::{MissedTickBehavior, interval};

use super::site::Sites;
use crate::notify::NotifyEvent;

/// Time between two checks.
const A_DAY: Duration = Duration::from_hours(24);
/// Time before the key's end from which people are told.
const SOON: time::Duration = time::Duration::days(7);

impl Sites {
    /// Tells people at once and then once a day while the key of a site ends within seven days.
    /// Never returns.
    pub async fn watch_key_ends(&self) {
        let mut days = interval(A_DAY);
        days.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            days.tick().await;
            for site in self.all().iter() {
                let app = site.app();
                let ends = app.wiki.key().expires;
                if let Some(event) = ends.and_then(|at| told(at, OffsetDateTime::now_utc())) {
                    app.desk.audit().notices.tell(&event);
                }
            }
        }
    }
}

/// The notice of a key that ends then, if that is soon.
fn told(at: OffsetDateTime, now: OffsetDateTime) -> Option<NotifyEvent> {
    let left = at - now;
    (left <= SOON).then_some(())?;
    Some(NotifyEvent::KeyEnds {
        at: at.format(&Rfc3339).ok()?,
        days: left.whole_days().max(0),
    })
}

#[cfg(test)]
mod tests {
    use time::{Duration, OffsetDateTime};

    use super::{NotifyEvent, told};

    #[test]
    fn people_are_told_seven_days_before_a_key_ends_and_from_then_on() {
        let now = OffsetDateTime::UNIX_EPOCH;
        let days = |left: Duration| match told(now + left, now) {
            Some(NotifyEvent::KeyEnds { days, .. }) => Some(days),
            _ => None,
        };
        assert_eq!(days(Duration::days(7) + Duration::SECOND), None);
        assert_eq!(days(Duration::days(7)), Some(7));
        assert_eq!(days(Duration::hours(30)), Some(1));
        assert_eq!(days(-Duration::DAY), Some(0));
    }
}
