//! The one way to what is remembered: looks, and changes that are on record first.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use tokio::sync::Mutex;

use super::error::MemoryError;
use super::moment::Timestamp;
use super::open::open;
use super::rows::MemoryRows;
use super::upkeep::keep_up;
use crate::audit::{AuditEntry, AuditEvent, AuditLog};

/// The file's name in the directory of a wiki's records.
const NAME: &str = "memory.sqlite";

/// The memories of the clients of one wiki. Clones share one turn; other processes may work on the
/// same file.
#[derive(Debug, Clone)]
pub struct MemoryStore {
    file: PathBuf,
    /// One at a time, so that blocking threads are not used up by waiting.
    turn: Arc<Mutex<()>>,
}

/// A summary of a change, for the record: never the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditNote {
    /// The word for it.
    pub decision: &'static str,
    /// The memories, with the digests of their texts.
    pub reason: String,
}

/// A change that is made and not yet there for others.
struct Begun<T> {
    db: Connection,
    value: T,
    deed: Option<AuditNote>,
}

impl MemoryStore {
    /// The memories of the wiki whose log this is. Nothing on the disk is touched.
    #[must_use]
    pub fn of(log: &AuditLog) -> Self {
        Self::at(log.dir().join(NAME))
    }

    pub(super) fn at(file: PathBuf) -> Self {
        Self {
            file,
            turn: Arc::default(),
        }
    }

    /// The file in which they are stored.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Looks; `None` if nothing was ever remembered.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&MemoryRows<'_>) -> Result<T, MemoryError> + Send + 'static,
    ) -> Result<Option<T>, MemoryError> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let file = self.file.clone();
        blocking(move || {
            let _turn = turn;
            let Some(db) = open(&file, false)? else {
                return Ok(None);
            };
            // One look sees one state.
            db.execute_batch("BEGIN")?;
            work(&MemoryRows::of(&db, Timestamp::now())).map(Some)
        })
        .await
    }

    /// Changes something: all of it, or nothing. What is done is on record before; a change without
    /// a deed needs none. Once begun it completes even if the caller is gone.
    ///
    /// # Errors
    /// What the work says; that it cannot be put on record; the disk's.
    pub async fn change<T: Send + 'static>(
        &self,
        audit: &AuditLog,
        record: AuditEntry,
        work: impl FnOnce(&MemoryRows<'_>) -> Result<(T, Option<AuditNote>), MemoryError>
        + Send
        + 'static,
    ) -> Result<T, MemoryError> {
        let (own, audit) = (self.clone(), audit.clone());
        let all = async move {
            let _turn = own.turn.lock().await;
            let file = own.file.clone();
            let begun = blocking(move || begin(&file, work)).await?;
            if let Some(deed) = &begun.deed {
                audit.record(told(&record, deed)).await?;
            }
            let Begun { db, value, deed } = begun;
            let kept = blocking(move || Ok(db.execute_batch("COMMIT")?)).await;
            if let (Err(error), Some(deed)) = (&kept, deed) {
                let undone = AuditNote {
                    decision: "not_done",
                    ..deed
                };
                tracing::error!(%error, "a change of memories is on record, and could not be made");
                // The first failure is the one to report.
                let _ = audit.record(told(&record, &undone)).await;
            }
            kept.map(|()| value)
        };
        tokio::spawn(all)
            .await
            .unwrap_or(Err(MemoryError::BrokenOff))
    }
}

fn begin<T>(
    file: &Path,
    work: impl FnOnce(&MemoryRows<'_>) -> Result<(T, Option<AuditNote>), MemoryError>,
) -> Result<Begun<T>, MemoryError> {
    let db = open(file, true)?.ok_or(MemoryError::BrokenOff)?;
    db.execute_batch("BEGIN IMMEDIATE")?;
    let now = Timestamp::now();
    keep_up(&db, now)?;
    let (value, deed) = work(&MemoryRows::of(&db, now))?;
    Ok(Begun { db, value, deed })
}

fn told(record: &AuditEntry, deed: &AuditNote) -> AuditEntry {
    AuditEntry {
        event: AuditEvent::Memory,
        gate: Some("memory".to_owned()),
        decision: Some(deed.decision.to_owned()),
        reason: Some(deed.reason.clone()),
        ..record.clone()
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, MemoryError> + Send + 'static,
) -> Result<T, MemoryError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or(Err(MemoryError::BrokenOff))
}
