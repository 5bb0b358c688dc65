//! Pauses and resumes the writes of all servers on an audit directory.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::super::disk::blocking::blocking;
use super::super::disk::fs;
use super::super::{AuditError, AuditLog, CallId, PauseInfo, Pauses};

impl AuditLog {
    /// The same log for an operator at a terminal, whose writes no pause stops, so that they can
    /// take back what led to it before others may write again.
    #[must_use]
    pub fn for_operator(dir: &Path, wiki_name: &str) -> Self {
        Self::heeding(dir, wiki_name, Pauses::default())
    }

    /// Pauses the writes of all servers on the audit directory.
    ///
    /// # Errors
    /// If they are not surely paused.
    pub async fn pause(&self, told: PauseInfo) -> Result<(), AuditError> {
        let pauses = self.pauses().clone();
        blocking(move || set(&pauses, &told)).await
    }

    /// Ends a pause, whatever is in place of its file.
    ///
    /// # Errors
    /// If it could not be removed: writes stay paused.
    pub async fn resume(&self) -> Result<(), AuditError> {
        let pauses = self.pauses().clone();
        blocking(move || clear(&pauses)).await
    }
}

fn set(pauses: &Pauses, told: &PauseInfo) -> Result<(), AuditError> {
    let Some(path) = pauses.path() else {
        return Ok(());
    };
    let mut new = path.to_owned().into_os_string();
    new.push(format!(".{}.new", CallId::new()?));
    let new = PathBuf::from(new);
    // Readers meanwhile see the whole file or none.
    let put = || -> io::Result<()> {
        let dir = path.parent().unwrap_or(Path::new("."));
        fs::make_dir(dir)?;
        let mut file = fs::make_file(&new)?;
        file.write_all(&serde_json::to_vec(told)?)?;
        file.sync_all()?;
        std::fs::rename(&new, path)?;
        fs::sync_dir(dir)
    };
    put().map_err(|error| {
        // The file may not exist; the earlier error is the one to report.
        let _ = std::fs::remove_file(&new);
        AuditError::at(path, "pause writes by", &error)
    })
}

fn clear(pauses: &Pauses) -> Result<(), AuditError> {
    let Some(path) = pauses.path() else {
        return Ok(());
    };
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(AuditError::at(path, "remove", &error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    use super::super::pause_file::{MOST, NAME};
    use crate::audit::{Actor, AuditEntry, AuditError, AuditEvent, AuditLog, CallId};
    use crate::audit::{Pause, PauseInfo, Pauses};

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
        log.pause(told()).await.unwrap();
        let Some(Pause::Told(found)) = pauses.look() else {
            panic!("no pause");
        };
        assert_eq!(found.reason, "restoring a backup");
        let mode = fs::metadata(below.join(NAME)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = PauseInfo::now(Actor::user("bob", None), "still at it".to_owned());
        log.pause(again.clone()).await.unwrap();
        assert_eq!(pauses.look(), Some(Pause::Told(again)));
        assert_eq!(fs::read_dir(&below).unwrap().count(), 1);
        log.resume().await.unwrap();
        log.resume().await.unwrap();
        assert_eq!(pauses.look(), None);
    }

    #[test]
    fn whatever_else_stands_in_its_place_counts_as_a_pause() {
        let outside = tempfile::tempdir().unwrap();
        let good = outside.path().join("good");
        fs::write(&good, serde_json::to_vec(&told()).unwrap()).unwrap();
        let made: [(&str, Make<'_>); 7] = [
            ("is not a file", &|path| fs::create_dir(path).unwrap()),
            ("is not a file", &|path| symlink(&good, path).unwrap()),
            ("is not a file", &|path| symlink("nowhere", path).unwrap()),
            ("is not a file", &|path| {
                let kind = rustix::fs::FileType::Fifo;
                let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
                rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
            }),
            ("is too large", &|path| {
                File::create(path).unwrap().set_len(MOST + 1).unwrap();
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
    async fn no_attempt_goes_on_record_in_a_pause_but_an_operators() {
        let dir = tempfile::tempdir().unwrap();
        let log = AuditLog::new(dir.path(), "docs");
        let attempt = || AuditEntry::new(CallId::new().unwrap(), AuditEvent::Attempt);
        let _first = log.attempt(attempt()).await.unwrap();
        log.pause(told()).await.unwrap();
        let refused = log.attempt(attempt()).await.map(|_| ());
        assert!(matches!(refused, Err(AuditError::Paused(_))), "{refused:?}");
        let operator = AuditLog::for_operator(dir.path(), "docs");
        let _theirs = operator.attempt(attempt()).await.unwrap();
        log.resume().await.unwrap();
        let _last = log.attempt(attempt()).await.unwrap();
        let mut attempts = 0;
        log.calls(|_| attempts += 1).unwrap();
        assert_eq!(attempts, 3);
    }
}
