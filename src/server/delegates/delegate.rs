//! A delegate as the store has it, with the digest of its token.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::super::clients::client::NamedClient;
use super::super::clients::secret::ClientToken;
use crate::audit::{CallId, ClientId, Role};
use crate::gates::Grant;
use crate::page::{Note, Whose};
use crate::site::SiteName;
use crate::words::words;

words! {
    /// The reason a delegate ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum DelegateEndReason: as_str {
        /// Its maker ended it.
        Ended = "ended by its maker",
        /// Its time was up.
        TimeUp = "its time was up",
        /// The operator revoked it.
        Revoked = "revoked by the operator",
    }
}

/// The basis on which a delegate was made, without which it has no rights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) enum DelegateBasis {
    /// The digest of the token that its maker sent.
    Token(String),
    /// Over stdio, the digest of what bounded its maker there: a server where other bounds hold gives it
    /// nothing.
    Bounds(String),
}

/// A delegate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DelegateRecord {
    /// Its name, id, token's digest, maker and grant.
    pub client: NamedClient,
    /// The name of its maker when it was made.
    pub(in crate::server) maker: String,
    /// With this it ends.
    pub(in crate::server) by: DelegateBasis,
    /// Its task, in its maker's words.
    pub task: Note,
    /// The only site that it sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::server) site: Option<String>,
    /// The wiki of that site, by its name on record: servers of other wikis share the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::server) wiki: Option<String>,
    /// Number of changes it may make or propose.
    pub writes: u32,
    /// Number of those it made or proposed.
    pub used: u32,
    /// The reason for its end, until a server put it on record and removed the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::server) ended: Option<DelegateEndReason>,
    /// The call under which its end goes on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::server) end_call: Option<CallId>,
}

impl DelegateRecord {
    /// A delegate of a client, whose token this is.
    ///
    /// # Errors
    /// One sentence about what is granted.
    pub(in crate::server) fn new(
        token: &ClientToken,
        (parent, maker, by): (ClientId, &str, DelegateBasis),
        task: &str,
        may: Grant,
    ) -> Result<Self, String> {
        let task = Note::parse(task, Whose::Agent)?;
        let delegate = Self {
            client: NamedClient::delegate(token, parent, may)?,
            maker: maker.to_owned(),
            by,
            task,
            site: None,
            wiki: None,
            writes: 0,
            used: 0,
            ended: None,
            end_call: None,
        };
        delegate.check()?;
        Ok(delegate)
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> ClientId {
        self.client.id
    }

    /// The digest of its token.
    pub(in crate::server) fn digest(&self) -> &str {
        self.client.digest().unwrap_or_default()
    }

    /// Its name, after that of its maker.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.maker, self.client.name)
    }

    /// The only site that it sees.
    pub(in crate::server) fn site(&self) -> Result<Option<SiteName>, String> {
        self.site.as_deref().map(str::parse).transpose()
    }

    /// True if it is for the wiki of this name.
    pub(in crate::server) fn is_of(&self, wiki: &str) -> bool {
        self.wiki.as_deref().is_none_or(|own| own == wiki)
    }

    /// True if it lasts at a time, as far as it says itself.
    #[must_use]
    pub fn lasts(&self, now: OffsetDateTime) -> bool {
        self.ended.is_none() && self.expiry().is_ok_and(|end| now < end)
    }

    /// The reason for its end, if it has come.
    pub(in crate::server) fn end_reason(&self) -> Option<DelegateEndReason> {
        let has_ended = !self.lasts(OffsetDateTime::now_utc());
        has_ended.then(|| self.ended.unwrap_or(DelegateEndReason::TimeUp))
    }

    /// Time at which it ends.
    pub(in crate::server) fn expiry(&self) -> Result<OffsetDateTime, String> {
        let end = self.client.expires()?;
        end.ok_or_else(|| "a delegate expires".to_owned())
    }

    /// Checks it.
    pub(in crate::server) fn check(&self) -> Result<(), String> {
        self.expiry()?;
        if self.client.parent.is_none() || self.client.role != Role::Agent {
            return Err("a delegate has a parent, and the role agent".to_owned());
        }
        self.client
            .checked_whole(std::time::Duration::ZERO)
            .map(drop)
    }
}
