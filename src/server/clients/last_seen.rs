//! Records the last use of each client, to the minute, in a small file beside that of the clients.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};
use tokio::runtime::Handle;

use super::lines_file::LinesFile;
use super::tokens_fault::TokensFileError;
use crate::audit::ClientId;

/// The shortest time between two notes of one client's use.
const APART: Duration = Duration::MINUTE;

/// One line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct LastSeenEntry {
    client: ClientId,
    used: String,
}

/// The time of each client's last use. Several servers may note it in one file.
#[derive(Debug, Clone)]
pub(in crate::server) struct LastSeenTimes {
    file: LinesFile,
    noted: Arc<Mutex<Noted>>,
    /// True while somebody writes the file.
    is_writing: Arc<AtomicBool>,
    /// True if the last writing failed.
    has_failed: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct Noted {
    /// Of each client, when its use was noted last.
    last: HashMap<ClientId, OffsetDateTime>,
    /// Times that are not in the file yet.
    waiting: HashMap<ClientId, OffsetDateTime>,
    /// All clients that there are.
    all: HashSet<ClientId>,
}

impl LastSeenTimes {
    pub(in crate::server) fn new(file: LinesFile) -> Self {
        Self {
            file,
            noted: Arc::default(),
            is_writing: Arc::default(),
            has_failed: Arc::default(),
        }
    }

    /// Reads the file; `None` if it is not there or cannot be trusted.
    pub(in crate::server) fn read(&self) -> Option<HashMap<ClientId, OffsetDateTime>> {
        let text = self.file.trusted().ok()?;
        (!text.is_empty()).then(|| parse(&text))
    }

    /// These are the clients: of others nothing is kept.
    pub(in crate::server) fn keep(&self, all: HashSet<ClientId>) {
        let mut noted = self.noted.lock();
        noted.last.retain(|id, _| all.contains(id));
        noted.waiting.retain(|id, _| all.contains(id));
        noted.all = all;
    }

    /// A client came. Nobody waits for the file.
    pub(in crate::server) fn note(&self, id: ClientId) {
        let now = OffsetDateTime::now_utc();
        let mut noted = self.noted.lock();
        let is_due = noted.last.get(&id).is_none_or(|last| now - *last >= APART);
        if !is_due || !noted.all.contains(&id) {
            return;
        }
        noted.last.insert(id, now);
        noted.waiting.insert(id, now);
        drop(noted);
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        if !self.is_writing.swap(true, Ordering::AcqRel) {
            let uses = self.clone();
            runtime.spawn_blocking(move || uses.write_all());
        }
    }

    /// Writes until nothing waits any more.
    fn write_all(&self) {
        loop {
            let (waiting, all) = {
                let mut noted = self.noted.lock();
                if noted.waiting.is_empty() {
                    // Under the lock: whoever notes from now on begins to write again.
                    self.is_writing.store(false, Ordering::Release);
                    return;
                }
                (std::mem::take(&mut noted.waiting), noted.all.clone())
            };
            let written = self.file.change(|text| {
                let mut uses = parse(text);
                uses.retain(|id, _| all.contains(id));
                for (id, at) in waiting {
                    let last = uses.entry(id).or_insert(at);
                    *last = at.max(*last);
                }
                Ok::<_, TokensFileError>((lines(uses), ()))
            });
            match written {
                Ok(()) => self.has_failed.store(false, Ordering::Relaxed),
                Err(error) if !self.has_failed.swap(true, Ordering::Relaxed) => {
                    tracing::warn!(file = %self.file.path().display(), %error, "when clients came last cannot be noted");
                }
                Err(_) => {}
            }
        }
    }
}

/// Parses the lines; malformed ones are ignored.
fn parse(text: &str) -> HashMap<ClientId, OffsetDateTime> {
    let line = |text| {
        let line: LastSeenEntry = serde_json::from_str(text).ok()?;
        let used = OffsetDateTime::parse(&line.used, &Rfc3339).ok()?;
        Some((line.client, used))
    };
    text.lines().filter_map(line).collect()
}

fn lines(all: HashMap<ClientId, OffsetDateTime>) -> Vec<String> {
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(_, at)| *at);
    let line = |(client, at): (ClientId, OffsetDateTime)| {
        let at = at.replace_nanosecond(0).unwrap_or(at);
        let used = at.format(&Rfc3339).ok()?;
        serde_json::to_string(&LastSeenEntry { client, used }).ok()
    };
    all.into_iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{LastSeenTimes, LinesFile, OffsetDateTime};
    use crate::audit::ClientId;

    #[test]
    fn a_use_is_noted_once_a_minute_and_of_clients_that_are_there_alone() {
        let dir = tempfile::TempDir::new().expect("a directory");
        let path = dir.path().join("tokens.used");
        let uses = LastSeenTimes::new(LinesFile::new(path.clone()));
        let [own, other, gone] = ["own", "other", "gone"].map(ClientId::derived);
        uses.keep(HashSet::from([own, other, gone]));
        assert_eq!(uses.read(), None);
        uses.note(own);
        uses.note(gone);
        uses.write_all();
        let first = uses.read().expect("noted");
        assert_eq!(first.len(), 2);
        std::fs::write(&path, "nonsense\n").expect("written");
        uses.keep(HashSet::from([own, other]));
        // It came just now.
        uses.note(own);
        uses.note(other);
        uses.note(gone);
        uses.write_all();
        let now = uses.read().expect("noted");
        assert_eq!(now.keys().collect::<Vec<_>>(), [&other]);
        let ago = OffsetDateTime::now_utc() - now.get(&other).copied().expect("noted");
        assert!(ago < super::APART, "{ago}");
    }
}
