//! The caller's identity, for everything that is remembered of callers.

use std::sync::Arc;

use crate::audit::LineHash;

/// The owner of a preview: a stdio process, or an HTTP session bound to its client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[must_use]
pub struct SessionId {
    name: Arc<str>,
    owner: Arc<str>,
    lasts: bool,
    /// True if its owner is one named client, rather than all clients without a name.
    is_named: bool,
}

impl SessionId {
    /// The session of one connection, its own owner.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        let name = name.into();
        Self {
            owner: Arc::clone(&name),
            name,
            lasts: true,
            is_named: false,
        }
    }

    /// The callers of one name that have no session. They share previews; reads and approvals are
    /// not remembered for them.
    pub fn fleeting(name: impl Into<Arc<str>>) -> Self {
        Self {
            lasts: false,
            ..Self::new(name)
        }
    }

    /// The same session, counted with this owner where owners share room.
    pub fn owned_by(self, owner: impl Into<Arc<str>>) -> Self {
        Self {
            owner: owner.into(),
            ..self
        }
    }

    /// The same session, as one of a named client: all its sessions count together.
    pub fn of_client(self, owner: impl Into<Arc<str>>) -> Self {
        Self {
            is_named: true,
            ..self.owned_by(owner)
        }
    }

    /// The owner with which it is counted where owners share room.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// A word that tells sessions apart without revealing them.
    pub(super) fn digest(&self) -> LineHash {
        LineHash::new(self.name.as_bytes())
    }

    /// The one whose wrong static tokens are counted: a named client with all its sessions, or this
    /// session.
    pub(super) const fn guesser(&self) -> &Arc<str> {
        if self.is_named {
            &self.owner
        } else {
            &self.name
        }
    }

    /// True if it lasts, so that reads and approvals may be remembered.
    pub const fn lasts(&self) -> bool {
        self.lasts
    }
}
