//! Sets the time limits of a write.

use std::time::Duration;

/// The time limits of a write. These are values so that tests can make them short.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// Time for which the page is read after a time-out or a cut connection (W19).
    pub settling: Duration,
    /// The time between two readings.
    pub pause: Duration,
    /// The least time between two equal readings before they are believed.
    pub apart: Duration,
    /// Time to wait for other writes.
    pub queueing: Duration,
    /// Time that a call waits for a set of many changes before it answers with the set's progress.
    pub answering: Duration,
}

impl Timeouts {
    /// The limits of a command that ends with its call: it waits for all of a set, since the end of
    /// the program would cut the set short.
    pub fn of_command() -> Self {
        Self {
            answering: Duration::MAX,
            ..Self::default()
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            settling: Duration::from_secs(20),
            pause: Duration::from_millis(250),
            apart: Duration::from_secs(1),
            queueing: Duration::from_secs(20),
            answering: Duration::from_secs(45),
        }
    }
}
