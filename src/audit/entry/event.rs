//! Defines audit events, outcomes, clients, actors and the entry that a caller records.

use serde::{Deserialize, Serialize};

use super::super::{ApprovalId, CallId, ClientId, FileHead, KeptState, KeyDigest, Role};
use crate::change::Operation;
use crate::page::{Date, Field, LineCounts, Locale, PagePath};

/// The kind of event of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditEvent {
    /// A run began; the first record of its file, written by the log itself.
    Start,
    /// A write is about to be sent; written by [`super::super::AuditLog::attempt`] alone.
    Attempt,
    /// A gate, a check or a conflict stopped a call.
    Refusal,
    /// A preview was shown.
    Preview,
    /// A person was asked and answered.
    Approval,
    /// The outcome of an attempt.
    Outcome,
    /// A proposal was kept, or decided.
    Proposal,
    /// An operator paused or resumed all writes.
    Pause,
    /// A running server took over other settings.
    Settings,
    /// Something that clients remember was added, changed, forgotten or restored.
    Memory,
    /// A named client made a delegate, or a delegate ended.
    Delegation,
    /// Old files are about to be removed.
    Purge,
    /// The run ended cleanly; the last record of its file, written by the log itself.
    Closed,
}

impl AuditEvent {
    /// The word for it, on record.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Attempt => "attempt",
            Self::Refusal => "refusal",
            Self::Preview => "preview",
            Self::Approval => "approval",
            Self::Outcome => "outcome",
            Self::Proposal => "proposal",
            Self::Pause => "pause",
            Self::Settings => "settings",
            Self::Memory => "memory",
            Self::Delegation => "delegation",
            Self::Purge => "purge",
            Self::Closed => "closed",
        }
    }

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

/// The outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The page is as promised.
    Applied,
    /// The page already was as promised; nothing was sent.
    Unchanged,
    /// The wiki refused, and the page is as it was.
    NotApplied,
    /// Some fields are as promised and some are not.
    PartlyApplied,
    /// It could not be found out.
    Unknown,
}

impl Outcome {
    /// The word for it, on record and in answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Unchanged => "unchanged",
            Self::NotApplied => "not_applied",
            Self::PartlyApplied => "partly_applied",
            Self::Unknown => "unknown",
        }
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
}

impl Client {
    /// True if this is one of its names: its own, or its authenticated one.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        let is_it = |own: &String| own.to_lowercase() == name.to_lowercase();
        let is_subject = |own: &String| {
            let name = own.split('/').next().map(str::to_owned);
            is_it(own) || name.as_ref().is_some_and(is_it)
        };
        self.subject.as_ref().is_some_and(is_subject) || is_it(&self.name)
    }

    /// All its names: its own, and its authenticated one.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let subject = self.subject.as_deref();
        let name = subject.and_then(|subject| subject.split('/').next());
        let names = [Some(self.name.as_str()), subject, name]
            .into_iter()
            .flatten();
        let mut names: Vec<String> = names
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        names.dedup();
        names
    }

    /// True if it was authenticated, so that calls and proposals can be its own.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.subject.is_some()
    }

    /// True if the other client's calls also belong to this one: both have the same id, whatever
    /// their names and tokens, and the same key where callers bring keys. Clients without an id are
    /// the same if their authenticated identity is. A delegate's calls belong to its maker, too.
    #[must_use]
    pub fn is_same_owner(&self, other: &Self) -> bool {
        match (self.id, other.id) {
            (Some(own), Some(others)) => {
                (own == others || other.parent == Some(own)) && self.own_key() == other.own_key()
            }
            (None, None) => self.subject == other.subject,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// The digest of the key that it brought, from its subject.
    #[must_use]
    pub fn own_key(&self) -> Option<&str> {
        // A client's name never contains a colon.
        let mut parts = self.subject.as_deref()?.split('/');
        parts.find(|part| part.starts_with("key:"))
    }

    /// The name to show: its authenticated one, otherwise its own.
    #[must_use]
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
    #[must_use]
    pub fn user(name: &str, login: Option<&str>) -> Self {
        let login = login.map_or_else(String::new, |login| format!("/login:{login}"));
        Self(format!("user:{name}{login}"))
    }

    /// A person who signed in as a client of this role, name and id.
    #[must_use]
    pub fn signed_in(role: Role, name: &str, id: ClientId) -> Self {
        Self(format!("{}:{name}/client:{id}", role.as_str()))
    }

    /// The whole text, as it is on record.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if somebody of this name acted, whatever the letter case.
    #[must_use]
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

/// One event as a caller gives it; the log adds number, time, run, wiki and chain.
///
/// There is no member for the content of a page, a key or a token, and none of these may be put
/// into a text. Unreasonably long texts are cut (see [`super::record`]).
///
/// ```
/// use wikijs_gate::audit::{CallId, AuditEntry, AuditEvent};
///
/// let entry = AuditEntry {
///     tool: Some("wikijs_delete_page".to_owned()),
///     id: Some(7),
///     gate: Some("enabled".to_owned()),
///     ..AuditEntry::new(CallId::new()?, AuditEvent::Refusal)
/// };
/// # Ok::<(), wikijs_gate::audit::AuditError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// The call that this belongs to; an outcome has its attempt's call, even in a later run.
    pub call: CallId,
    /// The kind of event.
    pub event: AuditEvent,
    /// The client that called.
    pub client: Option<Client>,
    /// The actor, if not a client.
    pub actor: Option<Actor>,
    /// The tool or command that was called.
    pub tool: Option<String>,
    /// The kind of write.
    pub operation: Option<Operation>,
    /// The key of the wiki that the call came with.
    pub key: Option<KeyDigest>,
    /// The page's id; none for a page that is yet to be created.
    pub id: Option<i64>,
    /// The page's locale as it is, or where the page shall be created.
    pub locale: Option<Locale>,
    /// The page's path as it is, or where the page shall be created.
    pub path: Option<PagePath>,
    /// The new path of the page, if it moves.
    pub new_path: Option<PagePath>,
    /// The temporary path at which the page stands in between, if it does not move directly.
    pub aside: Option<PagePath>,
    /// The gate that decided.
    pub gate: Option<String>,
    /// The gate's decision.
    pub decision: Option<String>,
    /// The reason, in a sentence of our own.
    pub reason: Option<String>,
    /// The fields that change, in any order.
    pub fields: Vec<Field>,
    /// The lines of content that change.
    pub lines: LineCounts,
    /// The kept state before.
    pub before: Option<KeptState>,
    /// The kept state after, as promised.
    pub after: Option<KeptState>,
    /// The kept state that was read back, if it is not `after`.
    pub found: Option<KeptState>,
    /// The wiki's time of the page as the step left it, if it was read back.
    pub updated_at: Option<Date>,
    /// The outcome of an attempt.
    pub outcome: Option<Outcome>,
    /// The error code that the caller was answered with.
    pub code: Option<String>,
    /// The step of the write, if it has several.
    pub step: Option<String>,
    /// The call that this one takes back.
    pub undoes: Option<CallId>,
    /// The other calls that it takes back.
    pub also_undoes: Vec<CallId>,
    /// The approval that a write spent; of a person's answer, the call that asked, if another did.
    pub confirms: Option<ApprovalId>,
    /// Scope of that approval, if it was given for more than this write: `page` or `kind`.
    pub standing: Option<String>,
    /// The proposal that this belongs to.
    pub proposal: Option<String>,
    /// The client that made that proposal, if somebody else decides on it.
    pub proposer: Option<Client>,
    /// The set of several changes that this is one of.
    pub set: Option<CallId>,
    /// The reason for the call, in the caller's own words.
    pub note: Option<String>,
    /// The codes of the checks' warnings.
    pub warnings: Vec<String>,
    /// The files that a purge is about to remove, and those whose removal it repeats.
    pub removed: Vec<FileHead>,
    /// Duration of the call so far, in milliseconds.
    pub ms: u64,
}

impl AuditEntry {
    /// An entry with only its call and event.
    #[must_use]
    pub const fn new(call: CallId, event: AuditEvent) -> Self {
        Self {
            call,
            event,
            client: None,
            actor: None,
            tool: None,
            operation: None,
            key: None,
            id: None,
            locale: None,
            path: None,
            new_path: None,
            aside: None,
            gate: None,
            decision: None,
            reason: None,
            fields: Vec::new(),
            lines: LineCounts {
                added: 0,
                removed: 0,
            },
            before: None,
            after: None,
            found: None,
            updated_at: None,
            outcome: None,
            code: None,
            step: None,
            undoes: None,
            also_undoes: Vec::new(),
            confirms: None,
            standing: None,
            proposal: None,
            proposer: None,
            set: None,
            note: None,
            warnings: Vec::new(),
            removed: Vec::new(),
            ms: 0,
        }
    }
}
