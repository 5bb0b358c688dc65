//! Checks where the record lies without writing there.

use std::io;
use std::path::PathBuf;

use super::super::entry::chain::{self, ChainBreak};
use super::super::run::open_attempts::open_attempts;
use super::super::{AuditError, AuditLayout, AuditResult, LogUpkeep, runs};
use super::CHUNK;
use crate::store::StoreHealth;

/// The state of a wiki's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The directory of this wiki's records.
    pub directory: PathBuf,
    /// True if there is something of this wiki; the first write makes it.
    pub exists: bool,
    /// The state of the files; if some are closed, chains and attempts are not checked.
    pub files: StoreHealth,
    /// Number of runs.
    pub runs: usize,
    /// The runs whose chain does not hold, and where it breaks.
    pub broken: Vec<(String, ChainBreak)>,
    /// Number of attempts of ended runs without an outcome.
    pub open: usize,
}

impl LogUpkeep {
    /// Checks rights, space, chains, open attempts. Reads every run.
    ///
    /// # Errors
    /// If the runs cannot be listed or read.
    pub async fn health(&self) -> AuditResult<Health> {
        self.place.on(health).await
    }

    /// The directories that others than their owner may write, from the audit directory down. With
    /// such a directory, others could remove or replace the log. Blocks.
    pub fn writable_by_others(&self) -> Vec<PathBuf> {
        self.place.store.writable_by_others()
    }

    /// Checks that this process, with its user, can open all that a server needs.
    ///
    /// # Errors
    /// [`AuditError::Exposed`], [`AuditError::Closed`].
    pub(in crate::audit) async fn check_open(&self) -> AuditResult<()> {
        self.place.on(move |place| {
            if !place.store.writable_by_others().is_empty() {
                return Err(AuditError::Exposed);
            }
            let closed = place.store.closed();
            let Some(first) = closed.first() else {
                return Ok(());
            };
            tracing::error!(path = %first.display(), count = closed.len(), "audit: cannot open what others made");
            Err(AuditError::Closed(closed.len()))
        })
        .await
    }
}

fn health(place: &AuditLayout) -> AuditResult<Health> {
    let mut health = Health {
        directory: place.directory(),
        exists: place.store.is_there(),
        files: place.store.health(),
        runs: 0,
        broken: Vec::new(),
        open: 0,
    };
    if !health.files.closed.is_empty() {
        return Ok(health);
    }
    let runs = runs(place)?;
    health.runs = runs.len();
    health.open = open_attempts(place, None)?.len();
    for run in &runs {
        let verified = match run.reader(CHUNK) {
            // A purge may have removed it meanwhile.
            Err(AuditError::Io(io::ErrorKind::NotFound)) => continue,
            reader => chain::verify(reader?),
        };
        if let Err(broken) = verified {
            health.broken.push((run.name().to_owned(), broken));
        }
    }
    Ok(health)
}
