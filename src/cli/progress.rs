//! The progress of something that takes more than a second; only on a terminal.

use std::pin::pin;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::print;
use crate::notice;

/// How long to wait before showing anything.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long between two looks.
const PAUSE: Duration = Duration::from_millis(200);

/// A line on stderr that is written over, and gone at the end.
#[derive(Debug)]
pub(super) struct Progress {
    next: Option<Instant>,
    is_shown: bool,
}

impl Progress {
    /// Begins to wait.
    pub(super) fn new() -> Self {
        Self {
            next: print::can_overwrite().then(|| Instant::now() + PATIENCE),
            is_shown: false,
        }
    }

    /// Says how far it has come, if it is time to.
    pub(super) fn at(&mut self, text: impl FnOnce() -> String) {
        let now = Instant::now();
        if self.next.is_some_and(|next| next <= now) {
            self.next = Some(now + PAUSE);
            self.is_shown = true;
            print::overwrite(&text());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            print::overwrite("");
        }
    }
}

/// Shows on a terminal how far a set of many changes is.
pub(super) async fn of_changes<T>(work: impl Future<Output = T>) -> T {
    let (counter, mut far) = watch::channel(notice::Progress::default());
    let mut work = pin!(notice::counted_by(counter, work));
    let mut line = Progress::new();
    loop {
        tokio::select! {
            done = &mut work => return done,
            // The counter lives as long as the work.
            Ok(()) = far.changed() => {
                let notice::Progress { done, of } = *far.borrow();
                line.at(|| format!("{done} of {of} changes applied"));
            }
        }
    }
}
