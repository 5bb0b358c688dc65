//! How far something has come that takes more than a second; on a terminal alone.

use std::time::{Duration, Instant};

use super::print;

/// How long nothing is said.
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
