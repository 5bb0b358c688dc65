//! Takes a new key while the server runs: from its file when that changes, and from its file or
//! command when the wiki rejects the old key or the operator asks for it (SIGHUP).

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Mutex as Turn;

use crate::config::{FileStamp, KeySource};
use crate::wiki::ApiKey;

/// The least time between two runs of the command because the wiki rejects the key.
const COMMANDS_APART: Duration = Duration::from_secs(30);

/// The reason the key is read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Its file changed.
    Changed,
    /// The wiki rejected it.
    Rejected,
    /// The operator asked for it.
    Asked,
}

/// The source of the server's key, and the state of reading it.
#[derive(Debug)]
pub(super) struct KeyWatch {
    /// The source of new keys.
    pub(super) source: KeySource,
    state: Mutex<KeyWatchState>,
    /// One at a time reads the key.
    pub(super) turn: Turn<()>,
}

#[derive(Debug)]
struct KeyWatchState {
    looked: Instant,
    stamp: Option<FileStamp>,
    /// Time of the last run of the command because the wiki rejected the key.
    ran: Option<Instant>,
    /// The reason the key that is there now is not in use, if so.
    fault: Option<String>,
}

impl KeyWatch {
    pub(super) fn new(source: KeySource) -> Self {
        let stamp = source.stamp();
        Self {
            source,
            state: Mutex::new(KeyWatchState {
                looked: Instant::now(),
                stamp,
                ran: None,
                fault: None,
            }),
            turn: Turn::default(),
        }
    }

    /// The reason the key that is there now is not in use, if so.
    pub(super) fn fault(&self) -> Option<String> {
        self.state.lock().fault.clone()
    }

    /// True if the file changed since the last look, if another look is due.
    pub(super) fn is_changed(&self) -> bool {
        let mut state = self.state.lock();
        if state.looked.elapsed() < self.source.apart {
            return false;
        }
        state.looked = Instant::now();
        self.source.stamp() != state.stamp
    }

    pub(super) fn is_due(&self, why: Why) -> bool {
        if why != Why::Rejected || !self.source.is_command() {
            return true;
        }
        let mut state = self.state.lock();
        if state.ran.is_some_and(|ran| ran.elapsed() < COMMANDS_APART) {
            return false;
        }
        state.ran = Some(Instant::now());
        true
    }

    /// Reads the present key; `None` if it is not a key, which is logged once.
    pub(super) async fn read(&self, why: Why) -> Option<ApiKey> {
        let source = self.source.clone();
        let read = crate::blocking::run(move || (source.stamp(), source.read()));
        let (stamp, read) = read.await?;
        let mut state = self.state.lock();
        let is_news = state.stamp != stamp || why == Why::Asked;
        state.stamp = stamp;
        match read? {
            Ok(key) => {
                state.fault = None;
                Some(key)
            }
            Err(fault) => {
                if is_news || state.fault.as_ref() != Some(&fault) {
                    tracing::error!("the key in use stays: {fault}");
                }
                state.fault = Some(fault);
                None
            }
        }
    }
}
