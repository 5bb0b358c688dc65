//! Pauses and resumes the writes of all servers on an audit directory.
//!
//! The document of a pause holds it; the record of its making brings the document back if it is gone.

use std::sync::Arc;
use std::time::Duration;

use super::super::run::numbers::number_of;
use super::super::{
    Actor, AuditError, AuditEvent, AuditLayout, AuditResult, LogUpkeep, Pause, PauseInfo, Pauses,
    Record, blocking, runs, scan,
};
use crate::page::Date;
use crate::store::{DocumentKind, LeaseName, LeaseQueue};

/// The longest wait for attempts that are just being written to a file. Only a server that hangs takes longer.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

impl Pauses {
    /// Pauses the writes of all servers on the audit directory. Once this has answered, no attempt goes on
    /// record; one that is on record by then may still be sent.
    ///
    /// # Errors
    /// If they are not surely paused. [`AuditError::Busy`] says that the pause is there, and that a server which
    /// hangs may still record the attempt that it was at.
    pub async fn pause(&self, told: PauseInfo) -> AuditResult<()> {
        let Some(store) = self.store().map(Arc::clone) else {
            return Ok(());
        };
        let text = serde_json::to_vec(&told).map_err(|_| AuditError::BrokenOff)?;
        let (queue, is_remote) = (LeaseQueue::new(Arc::clone(&store)), store.is_remote());
        blocking(move || Ok(store.write_document(DocumentKind::Pause, "", &text)?)).await?;
        // A database has waited for them.
        if !is_remote {
            // Whoever looked before has recorded its attempt once this lease is free.
            drop(queue.alone(&LeaseName::PAUSE, LONGEST_WAIT).await?);
        }
        Ok(())
    }

    /// Ends a pause, whatever is in place of its document.
    ///
    /// # Errors
    /// If it could not be removed: writes stay paused.
    pub async fn resume(&self) -> AuditResult<()> {
        let Some(store) = self.store().map(Arc::clone) else {
            return Ok(());
        };
        let resumed = move || Ok(store.remove_document(DocumentKind::Pause, "")?);
        blocking(resumed).await.map(drop)
    }

    /// The pause that is in force, by its document or else by the record, which is read once for each pause
    /// that was seen, and once at the beginning.
    pub(in crate::audit) fn in_force(&self, place: &AuditLayout) -> AuditResult<Option<Pause>> {
        let there = self.look();
        let store = self.store().filter(|_| self.is_to_search());
        let (None, Some(store)) = (&there, store) else {
            return Ok(there);
        };
        let Some(told) = on_record(place)? else {
            self.note_no_pause();
            // It may have begun while the record was read.
            return Ok(self.look());
        };
        let text = serde_json::to_vec(&told).map_err(|_| AuditError::BrokenOff)?;
        store.write_document(DocumentKind::Pause, "", &text)?;
        tracing::warn!(
            "the file of a pause was deleted while the pause was in force; it was restored from the record"
        );
        Ok(self.look())
    }
}

impl LogUpkeep {
    /// The pause that is in force; its document is written again if it is gone and the record tells of
    /// no end of the pause. Blocks.
    ///
    /// # Errors
    /// If the runs cannot be read, or the document cannot be written.
    pub fn pause_in_force(&self) -> AuditResult<Option<Pause>> {
        self.pauses.in_force(&self.place)
    }
}

/// The pause that is in force by the records of all wikis of an audit directory: by the latest record
/// of one. The log of another wiki that cannot be read keeps nobody from writing to this one.
fn on_record(place: &AuditLayout) -> AuditResult<Option<PauseInfo>> {
    let mut latest = last_of(place)?;
    for wiki in place.others()? {
        let last = last_of(&place.beside(&wiki)).unwrap_or_else(|error| {
            tracing::error!(wiki, %error, "the pauses on record of another wiki cannot be read");
            None
        });
        let both = last.into_iter().chain(latest);
        latest = both.max_by(|a, b| a.time.cmp(&b.time));
    }
    Ok(latest
        .filter(|last| last.decision.as_deref() == Some("paused"))
        .map(|last| PauseInfo {
            since: Date::from(last.time),
            by: last.actor.unwrap_or_else(|| Actor::user("unknown", None)),
            reason: last.reason.unwrap_or_default(),
        }))
}

/// The last record of a pause in the runs of a wiki, in their order, whatever the clock did.
fn last_of(place: &AuditLayout) -> AuditResult<Option<Record>> {
    let mut runs = runs(place)?;
    runs.sort_by_key(|run| number_of(run.name()));
    let mut last = None;
    for run in runs.iter().rev() {
        scan([run], &["\"event\":\"pause\""], |record, _| {
            if record.event == AuditEvent::Pause {
                last = Some(record);
            }
        })?;
        if last.is_some() {
            break;
        }
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    use time::macros::datetime;

    use super::super::pause_file::NAME;
    use crate::audit::testing::Script;
    use crate::audit::{Actor, AuditEntry, AuditError, AuditEvent, AuditLog, CallId};
    use crate::audit::{Pause, PauseInfo, Pauses};
    use crate::page::Date;
    use crate::store::{DocumentKind, LeaseMode, LeaseName};

    type Make<'a> = &'a dyn Fn(&Path);

    fn told() -> PauseInfo {
        PauseInfo::now(Actor::user("alice", None), "restoring a backup".to_owned())
    }

    #[tokio::test]
    async fn a_pause_is_seen_at_once_and_its_file_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("audit");
        let (log, pauses) = (AuditLog::new(&below, "docs"), Pauses::new(&below));
        assert_eq!(pauses.look(), None);
        log.pauses.pause(told()).await.unwrap();
        let Some(Pause::Told(found)) = pauses.look() else {
            panic!("no pause");
        };
        assert_eq!(found.reason, "restoring a backup");
        let mode = fs::metadata(below.join(NAME)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = PauseInfo::now(Actor::user("bob", None), "still at it".to_owned());
        log.pauses.pause(again.clone()).await.unwrap();
        assert_eq!(pauses.look(), Some(Pause::Told(again)));
        // The pause and its lease.
        assert_eq!(fs::read_dir(&below).unwrap().count(), 2);
        log.pauses.resume().await.unwrap();
        log.pauses.resume().await.unwrap();
        assert_eq!(pauses.look(), None);
    }

    #[test]
    fn whatever_else_stands_in_its_place_counts_as_a_pause() {
        let outside = tempfile::tempdir().unwrap();
        let good = outside.path().join("good");
        fs::write(&good, serde_json::to_vec(&told()).unwrap()).unwrap();
        let made: [(&str, Make<'_>); 7] = [
            ("is not a file", &|path| fs::create_dir(path).unwrap()),
            ("is a link", &|path| symlink(&good, path).unwrap()),
            ("is a link", &|path| symlink("nowhere", path).unwrap()),
            ("is not a file", &|path| {
                let kind = rustix::fs::FileType::Fifo;
                let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
                rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
            }),
            ("is too large", &|path| {
                let length = DocumentKind::Pause.most_bytes() + 1;
                File::create(path).unwrap().set_len(length).unwrap();
            }),
            ("does not tell of a pause", &|path| {
                fs::write(path, "").unwrap();
            }),
            ("does not tell of a pause", &|path| {
                fs::write(path, [0xff; 9]).unwrap();
            }),
        ];
        for (why, make) in made {
            let dir = tempfile::tempdir().unwrap();
            make(&dir.path().join(NAME));
            let found = Pauses::new(dir.path()).look();
            assert_eq!(found, Some(Pause::Unreadable(why.to_owned())));
        }
    }

    #[tokio::test]
    async fn a_server_that_hangs_while_it_records_keeps_no_pause_away_and_is_told_of() {
        let dir = tempfile::tempdir().unwrap();
        let (log, pauses) = (AuditLog::new(dir.path(), "docs"), Pauses::new(dir.path()));
        let store = pauses.store().unwrap();
        let hangs = store.try_lease(&LeaseName::PAUSE, LeaseMode::Shared);
        let hangs = hangs.unwrap().unwrap();
        assert_eq!(log.pauses.pause(told()).await, Err(AuditError::Busy));
        assert!(matches!(pauses.look(), Some(Pause::Told(_))));
        drop(hangs);
        assert_eq!(log.pauses.pause(told()).await, Ok(()));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn after_a_pause_has_answered_no_server_records_an_attempt() {
        let dir = tempfile::tempdir().unwrap();
        let count = |log: &AuditLog| {
            let mut count = 0;
            log.calls.each(|_| count += 1).unwrap();
            count
        };
        let operator = AuditLog::new(dir.path(), "docs");
        for _ in 0..5 {
            let before = count(&operator);
            let servers: Vec<_> = (0..3)
                .map(|_| {
                    let log = AuditLog::new(dir.path(), "docs");
                    tokio::spawn(async move {
                        loop {
                            let attempt =
                                AuditEntry::new(CallId::new().unwrap(), AuditEvent::Attempt);
                            if let Err(refused) = log.attempt(attempt, &[]).await.map(drop) {
                                assert!(matches!(refused, AuditError::Paused(_)), "{refused}");
                                return;
                            }
                        }
                    })
                })
                .collect();
            while count(&operator) < before + 6 {
                tokio::task::yield_now().await;
            }
            operator.pauses.pause(told()).await.unwrap();
            let at_the_answer = count(&operator);
            for server in servers {
                server.await.unwrap();
            }
            assert_eq!(count(&operator), at_the_answer);
            operator.pauses.resume().await.unwrap();
        }
    }

    /// A run that tells of these decisions on a pause, each at its hour of a day.
    fn on_record(dir: &Path, decisions: &[(i64, &str)]) {
        let at = |hour| datetime!(2020-01-01 00:00 UTC) + time::Duration::hours(hour);
        let mut run = Script::begin(dir, at(0), Vec::new());
        for (hour, decision) in decisions {
            let entry = AuditEntry {
                decision: Some((*decision).to_owned()),
                reason: Some("restoring".to_owned()),
                ..AuditEntry::new(CallId::new().unwrap(), AuditEvent::Pause)
            };
            run.entry(at(*hour), &entry);
        }
        run.close(at(23));
    }

    #[test]
    fn a_pause_whose_document_is_gone_is_brought_back_from_the_record_and_one_that_ended_is_not() {
        for (decisions, is_back) in [
            (&[][..], false),
            (&[(3, "paused")], true),
            (&[(3, "paused"), (4, "resumed")], false),
            (&[(3, "paused"), (4, "resumed"), (5, "paused")], true),
            // The clock went back an hour: what ended does not come back.
            (&[(3, "paused"), (2, "resumed")], false),
            (&[(3, "paused"), (4, "resumed"), (3, "paused")], true),
        ] {
            let dir = tempfile::tempdir().unwrap();
            on_record(dir.path(), decisions);
            let log = AuditLog::new(dir.path(), "docs");
            assert_eq!(
                log.upkeep.pause_in_force().unwrap().is_some(),
                is_back,
                "{decisions:?}"
            );
            assert_eq!(log.pauses.look().is_some(), is_back, "{decisions:?}");
        }
        // One that holds for all wikis is on record in one.
        let dir = tempfile::tempdir().unwrap();
        on_record(dir.path(), &[(3, "paused")]);
        let other = AuditLog::new(dir.path(), "other");
        assert!(other.upkeep.pause_in_force().unwrap().is_some());
    }

    #[tokio::test]
    async fn a_pause_that_was_made_after_now_by_the_clock_still_holds() {
        let dir = tempfile::tempdir().unwrap();
        let log = AuditLog::new(dir.path(), "docs");
        let later = time::OffsetDateTime::now_utc() + time::Duration::HOUR;
        let since = Date::from_instant(later).unwrap();
        log.pauses
            .pause(PauseInfo { since, ..told() })
            .await
            .unwrap();
        let attempt = AuditEntry::new(CallId::new().unwrap(), AuditEvent::Attempt);
        let refused = log.attempt(attempt, &[]).await.map(|_| ());
        assert!(matches!(refused, Err(AuditError::Paused(_))), "{refused:?}");
        log.pauses.resume().await.unwrap();
        assert_eq!(log.pauses.look(), None);
    }

    #[tokio::test]
    async fn no_attempt_goes_on_record_in_a_pause_but_an_operators() {
        let dir = tempfile::tempdir().unwrap();
        let log = AuditLog::new(dir.path(), "docs");
        let attempt = || AuditEntry::new(CallId::new().unwrap(), AuditEvent::Attempt);
        let _first = log.attempt(attempt(), &[]).await.unwrap();
        log.pauses.pause(told()).await.unwrap();
        let refused = log.attempt(attempt(), &[]).await.map(|_| ());
        assert!(matches!(refused, Err(AuditError::Paused(_))), "{refused:?}");
        let operator = AuditLog::for_operator(dir.path(), "docs");
        let _theirs = operator.attempt(attempt(), &[]).await.unwrap();
        log.pauses.resume().await.unwrap();
        let _last = log.attempt(attempt(), &[]).await.unwrap();
        let mut attempts = 0;
        log.calls.each(|_| attempts += 1).unwrap();
        assert_eq!(attempts, 3);
    }
}
