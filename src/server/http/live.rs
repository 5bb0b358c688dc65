//! The named clients as they are now: the file is looked at again while the server runs.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::client::{KnownClient, digest};
use super::tokens_file::{TokensFile, TokensFileError};

/// What tells one state of the file from another, its mode and owner too.
type Stamp = Option<(i64, i64, u64, u64)>;

#[derive(Debug)]
struct State {
    clients: Arc<[Arc<KnownClient>]>,
    stamp: Stamp,
    looked: Instant,
    fault: Option<TokensFileError>,
}

/// The named clients as they are now.
#[derive(Debug)]
pub(super) struct LiveClients {
    file: TokensFile,
    thinking: Duration,
    fresh: Duration,
    state: Mutex<State>,
}

impl LiveClients {
    /// Reads the file.
    ///
    /// # Errors
    /// What is wrong with it: a server does not begin with a file that it cannot read.
    pub(super) fn open(
        file: TokensFile,
        thinking: Duration,
        fresh: Duration,
    ) -> Result<Self, TokensFileError> {
        let state = State {
            stamp: stamp(&file),
            clients: known(&file, thinking)?,
            looked: Instant::now(),
            fault: None,
        };
        Ok(Self {
            file,
            thinking,
            fresh,
            state: Mutex::new(state),
        })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.now().clients.len()
    }

    /// Why the file as it is now is not in force, or lets nobody in, if that is so.
    pub(super) fn fault(&self) -> Option<TokensFileError> {
        let now = self.now();
        let nobody = || now.clients.is_empty().then_some(TokensFileError::NoClient);
        now.fault.clone().or_else(nobody)
    }

    /// Whose token it is.
    pub(super) fn of(&self, token: &str) -> Option<Arc<KnownClient>> {
        let clients = Arc::clone(&self.now().clients);
        let digest = digest(token);
        clients
            .iter()
            .find(|client| client.is_of(&digest))
            .map(Arc::clone)
    }

    fn now(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.looked.elapsed() < self.fresh {
            return state;
        }
        state.looked = Instant::now();
        let stamp = stamp(&self.file);
        if stamp == state.stamp {
            return state;
        }
        state.stamp = stamp;
        match known(&self.file, self.thinking) {
            Ok(clients) => {
                match clients.len() {
                    0 => tracing::warn!("{}", TokensFileError::NoClient),
                    clients => tracing::info!(clients, "the tokens file was read again"),
                }
                state.clients = clients;
                state.fault = None;
            }
            Err(error) => {
                tracing::error!(%error, "the tokens file is not in force; of the clients that were there before, those whose token it still has are");
                // Who was taken out is out, whatever else is wrong.
                if let Ok((text, _)) = self.file.text() {
                    let text = text.to_lowercase();
                    let clients = state.clients.iter();
                    let kept = clients.filter(|client| client.stands_in(&text));
                    state.clients = kept.map(Arc::clone).collect();
                }
                state.fault = Some(error);
            }
        }
        state
    }
}

fn known(
    file: &TokensFile,
    thinking: Duration,
) -> Result<Arc<[Arc<KnownClient>]>, TokensFileError> {
    let clients = file.read()?;
    let checked = clients.iter().enumerate().map(|(line, client)| {
        let fault = |fault| TokensFileError::Line {
            line: line + 1,
            fault,
        };
        client.checked(thinking).map(Arc::new).map_err(fault)
    });
    checked.collect()
}

fn stamp(file: &TokensFile) -> Stamp {
    let found = fs::metadata(file.path()).ok()?;
    Some((found.ctime(), found.ctime_nsec(), found.len(), found.ino()))
}
