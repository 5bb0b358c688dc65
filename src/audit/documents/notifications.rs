//! Has people told of what goes on record.

use std::sync::{Arc, PoisonError};

use super::super::AuditLog;
use super::notices::Notices;
use crate::notify::{Notifier, NotifyEvent as Notice};

impl AuditLog {
    /// Has people told of what goes on record from now on.
    pub fn notify_by(&self, notifier: Notifier) {
        let notices = (!notifier.is_idle()).then(|| Arc::new(Notices::new(notifier)));
        let mut cell = self
            .notices_cell()
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *cell = notices;
    }

    /// Tells people something of this wiki, if they are to be told.
    pub fn notify(&self, notice: &Notice) {
        if let Some(notices) = self.notices() {
            notices.notifier().tell(self.wiki(), notice);
        }
    }

    /// The recipients of notices, in words.
    #[cfg(test)]
    pub(crate) fn notified(&self) -> String {
        let notices = self.notices();
        let notifier = notices.as_ref().map(|notices| notices.notifier());
        notifier.map_or_else(String::new, Notifier::in_words)
    }

    pub(in crate::audit) fn notices(&self) -> Option<Arc<Notices>> {
        let cell = self.notices_cell().read();
        cell.unwrap_or_else(PoisonError::into_inner).clone()
    }
}
