//! Who calls, as far as something is remembered of it.

use std::sync::Arc;

/// Whom a preview belongs to: a stdio process, or a session of HTTP bound to its client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionId {
    name: Arc<str>,
    owner: Arc<str>,
    lasts: bool,
    /// Whether its owner is one client, not all that have no name.
    is_named: bool,
}

impl SessionId {
    /// The session of one connection, its own owner.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        let name = name.into();
        Self {
            owner: Arc::clone(&name),
            name,
            lasts: true,
            is_named: false,
        }
    }

    /// The callers of one name that have no session: previews are theirs, but nothing that
    /// they read and no approval is remembered.
    #[must_use]
    pub fn fleeting(name: impl Into<Arc<str>>) -> Self {
        Self {
            lasts: false,
            ..Self::new(name)
        }
    }

    /// The same, counted together with all else of this owner where owners share room.
    #[must_use]
    pub fn owned_by(self, owner: impl Into<Arc<str>>) -> Self {
        Self {
            owner: owner.into(),
            ..self
        }
    }

    /// The same of one client: what it does in one session counts for it in all.
    #[must_use]
    pub fn of_client(self, owner: impl Into<Arc<str>>) -> Self {
        Self {
            is_named: true,
            ..self.owned_by(owner)
        }
    }

    /// Whom it is counted with where owners share room.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Who guesses, where the static token is guessed: a client that has a name in all its
    /// sessions, or this session.
    pub(super) const fn guesser(&self) -> &Arc<str> {
        if self.is_named {
            &self.owner
        } else {
            &self.name
        }
    }

    /// Whether it is a session, of which something may be remembered.
    #[must_use]
    pub const fn lasts(&self) -> bool {
        self.lasts
    }
}
