//! Models the settings of the mirror.

use std::time::Duration;

/// The settings of a mirror that is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MirrorSettings {
    /// The age in days beyond which a state is removed, and a page that is gone.
    pub keep_days: u32,
    /// The most bytes of all states.
    pub keep_bytes: u64,
    /// The time between two looks at the wiki's list.
    pub apart: Duration,
}

impl MirrorSettings {
    /// The usual time between two looks: with it a change is seen within a minute.
    pub const APART: Duration = Duration::from_secs(30);
}
