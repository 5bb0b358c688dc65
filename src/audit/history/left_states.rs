//! Finds the writes on record that left given states of pages.

use std::time::SystemTime;

use super::super::{AuditEvent, AuditLayout, AuditResult, CallId, WriteReader, runs, scan};
use crate::page::Date;

/// The most that the wiki's clock may be ahead of this machine's.
const SLACK: time::Duration = time::Duration::hours(1);

/// A state of a page: the page's id and the wiki's time of the state.
pub type StateOfPage = (i64, Date);

impl WriteReader {
    /// The call that left each of these states, in their order; `None` if no write on record did.
    ///
    /// # Errors
    /// If the runs cannot be read; an invalid line is skipped.
    pub async fn that_left(&self, states: Vec<StateOfPage>) -> AuditResult<Vec<Option<CallId>>> {
        self.place
            .on(move |place| writes_that_left(place, &states))
            .await
    }
}

fn writes_that_left(
    place: &AuditLayout,
    states: &[StateOfPage],
) -> AuditResult<Vec<Option<CallId>>> {
    let mut calls = vec![None; states.len()];
    let Some(oldest) = states.iter().filter_map(|(_, at)| at.instant()).min() else {
        return Ok(calls);
    };
    let mut runs = runs(place)?;
    // A run whose last record is older than a state cannot tell of it. An hour is left for clocks
    // that differ.
    let since = SystemTime::from(oldest - SLACK);
    runs.retain(|run| run.modified >= since);
    scan(&runs, &["\"updatedAt\":"], |record, _| {
        if record.event != AuditEvent::Outcome {
            return;
        }
        let (Some(call), Some(id), Some(at)) = (record.call, record.id, record.updated_at) else {
            return;
        };
        for ((page, state), found) in states.iter().zip(&mut calls) {
            if *page == id && state.same(&at) {
                *found = Some(call);
            }
        }
    })?;
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::writes_that_left;
    use crate::audit::disk::layout::AuditLayout;
    use crate::audit::testing::Script;
    use crate::audit::{AuditEntry, AuditEvent, CallId, Outcome};
    use crate::page::Date;

    fn date(text: &str) -> Date {
        Date::from(text.to_owned())
    }

    #[test]
    fn a_state_is_ours_by_its_page_and_time_in_an_outcome_alone() {
        const AT: &str = "2026-01-02T03:04:05.000Z";
        let dir = tempfile::tempdir().unwrap();
        let start = datetime!(2026-01-01 00:00 UTC);
        let mut script = Script::begin(dir.path(), start, Vec::new());
        let (attempted, wrote) = (CallId::new().unwrap(), CallId::new().unwrap());
        let entry = |call, event| AuditEntry {
            id: Some(7),
            updated_at: Some(date(AT)),
            outcome: Some(Outcome::Applied),
            ..AuditEntry::new(call, event)
        };
        script.entry(start, &entry(wrote, AuditEvent::Outcome));
        script.entry(start, &entry(attempted, AuditEvent::Attempt));
        script.close(start);
        let place = AuditLayout::new(dir.path().into(), "docs");
        let states = [
            (7, date(AT)),
            (8, date(AT)),
            (7, date("2026-01-02T03:04:06.000Z")),
        ];
        let calls = writes_that_left(&place, &states).unwrap();
        assert_eq!(calls, [Some(wrote), None, None]);
        assert_eq!(writes_that_left(&place, &[]).unwrap(), []);
    }
}
