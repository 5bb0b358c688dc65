//! Defines audit events, outcomes, clients and actors.

use serde::{Deserialize, Serialize};

use super::super::{ClientId, Role};

use crate::words::words;

words! {
    /// The kind of event of a record.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AuditEvent: as_str, ALL {
        /// A run began; the first record of its file, written by the log itself.
        Start = "start",
        /// A write is about to be sent; written by [`super::super::AuditLog::attempt`] alone.
        Attempt = "attempt",
        /// A gate, a check or a conflict stopped a call.
        Refusal = "refusal",
        /// A preview was shown.
        Preview = "preview",
        /// A person was asked and answered.
        Approval = "approval",
        /// The outcome of an attempt.
        Outcome = "outcome",
        /// A proposal was kept, or decided.
        Proposal = "proposal",
        /// An operator paused or resumed all writes.
        Pause = "pause",
        /// A running server took over other settings.
        Settings = "settings",
        /// Something that clients remember was added, changed, forgotten or restored.
        Memory = "memory",
        /// A named client made a delegate, or a delegate ended.
        Delegation = "delegation",
        /// Old files are about to be removed.
        Purge = "purge",
        /// The run ended cleanly; the last record of its file, written by the log itself.
        Closed = "closed",
    }
}

impl AuditEvent {
    /// True if a record of it must have reached the disk before anything else happens.
    pub(in crate::audit) const fn is_synced(self) -> bool {
        match self {
            Self::Attempt
            | Self::Approval
            | Self::Outcome
            | Self::Proposal
            | Self::Pause
            | Self::Settings
            | Self::Memory
            | Self::Delegation
            | Self::Purge
            | Self::Closed => true,
            Self::Start | Self::Refusal | Self::Preview => false,
        }
    }
}

words! {
    /// The outcome of an attempt.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Outcome: as_str, ALL {
        /// The page is as promised.
        Applied = "applied",
        /// The page already was as promised; nothing was sent.
        Unchanged = "unchanged",
        /// The wiki refused, and the page is as it was.
        NotApplied = "not_applied",
        /// Some fields are as promised and some are not.
        PartlyApplied = "partly_applied",
        /// It could not be found out.
        Unknown = "unknown",
    }
}

impl Outcome {
    /// True if it was applied, in whole or in part.
    pub const fn took_effect(self) -> bool {
        matches!(self, Self::Applied | Self::PartlyApplied)
    }
}

/// The client that called: its own words about itself, and the server's knowledge of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// The client's own name.
    pub name: String,
    /// The client's own version.
    pub version: String,
    /// The id of the named client that it was authenticated as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ClientId>,
    /// The role of that named client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The client's authenticated identity: a name, the key that it brought, or both, as `NAME`,
    /// `key:DIGEST` or `NAME/key:DIGEST`; a delegate as `MAKER/NAME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The network address that the call came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The named client that made this one, if it is a delegate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ClientId>,
    /// The person who signed in, or who made this delegate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonId>,
}

/// A person by what an issuer vouches for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonId {
    /// The issuer.
    pub issuer: String,
    /// The person's subject there.
    pub subject: String,
}

impl Client {
    /// True if this is one of its names, in any letter case, or the subject of the person behind it.
    pub fn is_called(&self, name: &str) -> bool {
        self.is_among(self.all_names(), name)
    }

    /// The same by authenticated names alone, if it has one: a name that a client gave itself is not a named
    /// client's.
    pub fn is_known_as(&self, name: &str) -> bool {
        // Its own name is the first.
        let own = usize::from(self.is_known());
        self.is_among(self.all_names().skip(own), name)
    }

    fn is_among<'a>(&self, mut names: impl Iterator<Item = &'a str>, name: &str) -> bool {
        let is_person = self.person.as_ref().is_some_and(|it| it.subject == name);
        let name = name.to_lowercase();
        is_person || names.any(|own| own.to_lowercase() == name)
    }

    /// Its own name, its authenticated one, and the first part of that: of a delegate its maker's.
    fn all_names(&self) -> impl Iterator<Item = &str> {
        let subject = self.subject.as_deref();
        let first = subject.and_then(|subject| subject.split('/').next());
        [Some(&*self.name), subject, first].into_iter().flatten()
    }

    /// All its names: its own, and its authenticated one.
    pub fn names(&self) -> Vec<String> {
        let names = self.all_names().filter(|name| !name.is_empty());
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.dedup();
        names
    }

    /// The name and the subject of the person behind it; nothing without one.
    pub fn people(&self) -> Vec<String> {
        let Some(person) = &self.person else {
            return Vec::new();
        };
        let name = self.subject.as_deref();
        let name = name.and_then(|subject| subject.split('/').next());
        let name = name.map(str::to_owned);
        name.into_iter().chain([person.subject.clone()]).collect()
    }

    /// True if it was authenticated, so that calls and proposals can be its own.
    pub const fn is_known(&self) -> bool {
        self.subject.is_some()
    }

    /// True if the other client's calls also belong to this one: both have the same id, whatever
    /// their names and tokens, and the same key where callers bring keys. Clients without an id are
    /// the same if their authenticated identity is. A delegate's calls belong to its maker, too.
    pub fn is_same_owner(&self, other: &Self) -> bool {
        match (self.id, other.id) {
            (Some(own), Some(others)) => {
                (own == others || other.parent == Some(own)) && self.own_key() == other.own_key()
            }
            (None, None) => self.subject == other.subject,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// True if its writes and the other's are counted together: both were authenticated as the same client,
    /// or one made the other; of clients without an identity, both call themselves alike, in any letter case.
    pub fn is_counted_with(&self, other: &Self) -> bool {
        let by_id = |client: &Self| client.parent.or(client.id);
        match (by_id(self), by_id(other), &self.subject, &other.subject) {
            (Some(own), Some(others), ..) => own == others,
            (None, None, None, None) => self.name.to_lowercase() == other.name.to_lowercase(),
            (None, None, own, others) => own == others,
            _ => false,
        }
    }

    /// The digest of the key that it brought, from its subject.
    pub fn own_key(&self) -> Option<&str> {
        // A client's name never contains a colon.
        let mut parts = self.subject.as_deref()?.split('/');
        parts.find(|part| part.starts_with("key:"))
    }

    /// The name to show: its authenticated one, otherwise its own.
    pub fn shown(&self) -> &str {
        self.subject.as_deref().unwrap_or(&self.name)
    }
}

/// The person who acted: `user:NAME`, a user of the machine who ran a command. Where the user
/// changed since the login, as with `sudo`, `user:NAME/login:NAME`. A person who signed in is
/// `reviewer:NAME/client:ID` or `auditor:NAME/client:ID`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Actor(String);

impl Actor {
    /// A user of the machine, and who logged in, if that is somebody else.
    pub fn user(name: &str, login: Option<&str>) -> Self {
        let login = login.map_or_else(String::new, |login| format!("/login:{login}"));
        Self(format!("user:{name}{login}"))
    }

    /// A person who signed in as a client of this role, name and id.
    pub fn signed_in(role: Role, name: &str, id: ClientId) -> Self {
        Self(format!("{}:{name}/client:{id}", role.as_str()))
    }

    /// The whole text, as it is on record.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if somebody of this name acted, whatever the letter case.
    pub fn is_called(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let whole = self.0.to_lowercase();
        let is_it = |part: &str| part.split_once(':').is_some_and(|(_, own)| own == name);
        whole == name || whole.split('/').any(|part| part == name || is_it(part))
    }

    pub(in crate::audit) fn map(&self, shorten: impl Fn(&str) -> String) -> Self {
        Self(shorten(&self.0))
    }
}
