//! Has people told of what goes on record.

use super::AuditLog;
use super::notices::Notices;
use crate::notify::{Event as Notice, Notifier};

impl AuditLog {
    /// Has people told of what goes on record. The first caller decides.
    pub fn notify_by(&self, notifier: Notifier) {
        let _ = self.notices_cell().set(Notices::new(notifier));
    }

    /// Tells people something of this wiki, if they are to be told.
    pub fn notify(&self, notice: &Notice) {
        if let Some(notices) = self.notices() {
            notices.notifier().tell(self.wiki(), notice);
        }
    }

    pub(super) fn notices(&self) -> Option<&Notices> {
        let notices = self.notices_cell().get()?;
        (!notices.notifier().is_idle()).then_some(notices)
    }
}
