//! A delegate as the file of delegates has it: one line of JSON, with the digest of its token.

use serde::{Deserialize, Serialize};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use super::super::clients::client::NamedClient;
use super::super::clients::secret::{ClientToken, is_digest};
use crate::audit::{ClientId, Role};
use crate::gates::Grant;
use crate::page::{Note, Whose};
use crate::write::{DelegateKind, Handover};

/// The longest life of a delegate.
pub(in crate::server) const LONGEST: Duration = Duration::DAY;

/// The reason a delegate ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelegateEndReason {
    /// Its maker ended it.
    Ended,
    /// Its time was up.
    TimeUp,
    /// Its maker was revoked, or has another token than the one with which it made the delegate.
    MakerGone,
    /// The operator revoked it.
    Revoked,
}

impl DelegateEndReason {
    /// The words for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ended => "ended by its maker",
            Self::TimeUp => "its time was up",
            Self::MakerGone => "its maker was revoked",
            Self::Revoked => "revoked by the operator",
        }
    }
}

/// The end of a delegate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(in crate::server) struct DelegateEnd {
    /// Time of the end, in RFC 3339.
    pub(in crate::server) at: String,
    pub(in crate::server) why: DelegateEndReason,
    /// True if a server put it on record and finished what belongs to it.
    pub(in crate::server) is_settled: bool,
    /// The handover of its memories, as its maker said.
    #[serde(default, skip_serializing_if = "Handover::is_usual")]
    pub(in crate::server) legacy: Handover,
}

/// A delegate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DelegateRecord {
    /// Its name, id, token's digest, maker and grant.
    pub(in crate::server) client: NamedClient,
    /// The name of its maker when it was made.
    pub(in crate::server) maker: String,
    /// The digest of the token with which its maker made it: with that token it ends.
    pub(in crate::server) by: String,
    pub(in crate::server) task: Note,
    pub(in crate::server) kind: DelegateKind,
    /// The only site that it sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::server) site: Option<String>,
    /// Number of changes it may make or propose, and below, of those it made or proposed.
    pub(in crate::server) writes: u32,
    pub(in crate::server) used: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::server) ended: Option<DelegateEnd>,
}

impl DelegateRecord {
    /// A delegate of a client, whose token this is.
    ///
    /// # Errors
    /// One sentence about what is granted.
    pub(in crate::server) fn new(
        token: &ClientToken,
        (parent, maker, by): (ClientId, &str, &str),
        (kind, task): (DelegateKind, &str),
        may: Grant,
    ) -> Result<Self, String> {
        let task = Note::parse(task, Whose::Agent).map_err(|fault| format!("task {fault}"))?;
        let delegate = Self {
            client: NamedClient::delegate(kind.as_str(), token, parent, may)?,
            maker: maker.to_owned(),
            by: by.to_owned(),
            task,
            kind,
            site: None,
            writes: 0,
            used: 0,
            ended: None,
        };
        delegate.check()?;
        Ok(delegate)
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> ClientId {
        self.client.id()
    }

    /// Its name, after that of its maker.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.maker, self.client.name)
    }

    /// The name of its maker.
    #[must_use]
    pub fn maker(&self) -> &str {
        &self.maker
    }

    /// The client that made it.
    #[must_use]
    pub fn parent(&self) -> Option<ClientId> {
        self.client.parent()
    }

    /// Its task, in its maker's words.
    #[must_use]
    pub fn task(&self) -> &str {
        self.task.as_str()
    }

    /// Time of its creation, in RFC 3339.
    #[must_use]
    pub fn created(&self) -> &str {
        &self.client.created
    }

    /// Its grant, of which its maker's grant may leave less.
    #[must_use]
    pub const fn may(&self) -> &Grant {
        &self.client.may
    }

    /// Number of changes it used, and number it may make.
    #[must_use]
    pub const fn writes(&self) -> (u32, u32) {
        (self.used, self.writes)
    }

    /// Time and reason of its end, if it was ended; its time may be up all the same.
    #[must_use]
    pub fn end(&self) -> Option<(&str, DelegateEndReason)> {
        self.ended.as_ref().map(|ended| (&*ended.at, ended.why))
    }

    /// The handover of its memories.
    pub(in crate::server) fn legacy(&self) -> Handover {
        let said = self.ended.as_ref().map(|ended| ended.legacy);
        said.unwrap_or_default()
    }

    /// True if an id or a name means it.
    pub(in crate::server) fn is_called(&self, word: &str) -> bool {
        word == self.id().to_string() || word == self.client.name || word == self.name()
    }

    /// True if it lasts at a time, as far as its own line says.
    #[must_use]
    pub fn lasts(&self, now: OffsetDateTime) -> bool {
        self.ended.is_none() && self.span().is_ok_and(|(_, end)| now < end)
    }

    /// Times at which it was made and at which it ends.
    pub(in crate::server) fn span(&self) -> Result<(OffsetDateTime, OffsetDateTime), String> {
        let made = OffsetDateTime::parse(&self.client.created, &Rfc3339);
        let made = made.map_err(|_| "created must be a time in RFC 3339".to_owned())?;
        let end = self.client.expires()?;
        let end = end.ok_or_else(|| "a delegate expires".to_owned())?;
        if end - made > LONGEST {
            return Err("a delegate lasts a day at most".to_owned());
        }
        Ok((made, end))
    }

    /// Checks the line.
    pub(in crate::server) fn check(&self) -> Result<(), String> {
        self.span()?;
        let may = &self.client.may;
        if self.client.parent().is_none() || self.client.role() != Role::Agent {
            return Err("a delegate has a parent, and the role agent".to_owned());
        }
        if may.sites.is_some() || may.tools.is_none() {
            return Err("a delegate's grant has tools and no sites".to_owned());
        }
        if !is_digest(&self.by) {
            return Err("by must be 64 hex characters".to_owned());
        }
        self.client
            .checked_whole(std::time::Duration::ZERO)
            .map(drop)
    }
}
