//! The progress of something that takes more than a second: on a terminal a line or a bar that is
//! gone at the end, elsewhere a plain line every few seconds.

use std::pin::pin;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::print;
use crate::notice;

/// The delay before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);
/// The pause between two updates.
const PAUSE: Duration = Duration::from_millis(200);
/// The pause between two plain lines, which stay.
const BETWEEN_LINES: Duration = Duration::from_secs(5);
/// The width of the bar.
const BAR: usize = 30;

/// A line on stderr that is written over, and gone at the end.
#[derive(Debug)]
pub(super) struct ProgressLine {
    next: Option<Instant>,
    is_shown: bool,
}

impl ProgressLine {
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

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.is_shown {
            print::overwrite("");
        }
    }
}

/// Progress through a known number of steps.
#[derive(Debug)]
pub(super) struct StepProgress(Mutex<ProgressDisplay>);

#[derive(Debug)]
enum ProgressDisplay {
    Bar(ProgressLine),
    /// The time at which the next plain line is due.
    Lines(Instant),
}

/// True if a line is due now; the next is due later then.
fn is_due(next: &mut Instant, now: Instant) -> bool {
    let is_due = *next <= now;
    if is_due {
        *next = now + BETWEEN_LINES;
    }
    is_due
}

impl StepProgress {
    /// Nothing is shown before the first second has passed.
    pub(super) fn new() -> Self {
        Self(Mutex::new(if print::can_overwrite() {
            ProgressDisplay::Bar(ProgressLine::new())
        } else {
            ProgressDisplay::Lines(Instant::now() + BETWEEN_LINES)
        }))
    }

    /// Says how many of how many steps are done, as in `7 of 9 pages read`.
    pub(super) fn at(&self, done: usize, of: usize, what: &str) {
        let said = || format!("{done} of {of} {what}");
        match &mut *self.0.lock() {
            ProgressDisplay::Bar(line) => line.at(|| format!("{} {}", bar(done, of), said())),
            ProgressDisplay::Lines(next) => {
                if is_due(next, Instant::now()) {
                    print::note(&said());
                }
            }
        }
    }
}

/// A bar that is as full as so many steps of all are done.
fn bar(done: usize, of: usize) -> String {
    let full = (done.saturating_mul(BAR) / of.max(1)).min(BAR);
    let mut bar = "=".repeat(full);
    if full < BAR {
        bar.push('>');
    }
    format!("[{bar:<BAR$}]")
}

/// Shows how far a set of many changes is.
pub(super) async fn of_changes<T>(work: impl Future<Output = T>) -> T {
    let (counter, mut far) = watch::channel(notice::Progress::default());
    let mut work = pin!(notice::counted_by(counter, work));
    let steps = StepProgress::new();
    let count = |pages: u32| usize::try_from(pages).unwrap_or(usize::MAX);
    loop {
        tokio::select! {
            done = &mut work => return done,
            // The counter lives as long as the work.
            Ok(()) = far.changed() => {
                let notice::Progress { done, of } = *far.borrow();
                steps.at(count(done), count(of), "changes applied");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{BETWEEN_LINES, is_due};

    #[test]
    fn plain_lines_come_at_most_every_five_seconds() {
        let began = Instant::now();
        let mut next = began + BETWEEN_LINES;
        let at = |tenths: &u64| began + Duration::from_millis(tenths * 100);
        let due = (0..=120).filter(|tenths| is_due(&mut next, at(tenths)));
        assert_eq!(due.collect::<Vec<_>>(), [50, 100]);
    }
}
