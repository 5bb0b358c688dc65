//! Checks all of the record, when somebody asks for it: one check at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use time::OffsetDateTime;

use crate::audit::{Against, AuditLog, LogVerification};

/// The state of a check.
#[derive(Debug, Clone, Default)]
pub(crate) enum LogCheck {
    /// None was asked for yet.
    #[default]
    None,
    /// It is under way.
    Running {
        /// The number of files checked.
        done: usize,
        /// Of how many.
        whole: usize,
    },
    /// It is done.
    Done(Arc<LogCheckResult>),
    /// The log could not be read.
    Failed(String),
}

/// The result of a check.
#[derive(Debug)]
pub(crate) struct LogCheckResult {
    /// The parts that hold, and the faults.
    pub(crate) checked: LogVerification,
    /// Sentences about facts that the given evidence cannot prove.
    pub(crate) unproven: Vec<String>,
    /// The time at which it was done.
    pub(crate) at: OffsetDateTime,
    /// Its duration.
    pub(crate) took: Duration,
}

/// The last check, or the one under way; shared by all who ask.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checks(Arc<Mutex<LogCheck>>);

impl Checks {
    /// The state of the check.
    pub(crate) fn now(&self) -> LogCheck {
        self.lock().clone()
    }

    /// Begins a check, unless one is under way.
    pub(crate) fn begin(&self, log: &AuditLog) {
        {
            let mut now = self.lock();
            if matches!(*now, LogCheck::Running { .. }) {
                return;
            }
            *now = LogCheck::Running { done: 0, whole: 0 };
        }
        let (own, log) = (self.clone(), log.clone());
        // It goes on though whoever asked hangs up.
        let work = tokio::task::spawn_blocking(move || {
            let found = find(&log, |done, whole| {
                *own.lock() = LogCheck::Running { done, whole };
            });
            *own.lock() = found;
        });
        let own = self.clone();
        tokio::spawn(async move {
            if work.await.is_err() {
                *own.lock() = LogCheck::Failed("the check broke off".to_owned());
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, LogCheck> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks all of the record. Blocks.
pub(crate) fn find(log: &AuditLog, progress: impl FnMut(usize, usize)) -> LogCheck {
    let (begun, against) = (Instant::now(), Against::default());
    match log.verify(&against, progress) {
        Err(error) => LogCheck::Failed(format!("{error}; {}", error.hint())),
        Ok(checked) => LogCheck::Done(Arc::new(LogCheckResult {
            unproven: checked.unproven(&against),
            checked,
            at: OffsetDateTime::now_utc(),
            took: begun.elapsed(),
        })),
    }
}
