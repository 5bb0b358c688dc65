//! A named client as the server takes it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use time::OffsetDateTime;

use super::super::call_metrics::{OWN_LABELS, PEOPLE};
use super::super::site::{Site, Sites};
use super::secret::is_same;
use crate::audit::{ClientId, PersonId, Role};
use crate::gates::{ClientLimits, Grant, ends_soon};
use crate::site::SiteName;
use crate::tools::ToolDefinition;
use crate::words::words;

/// A client as the server takes it.
#[derive(Debug)]
pub struct ClientRecord {
    /// Its id.
    pub id: ClientId,
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// The owner of its sessions and previews.
    pub(in crate::server) identity: String,
    /// Of its token, in lower case.
    pub(in crate::server) sha256: Option<String>,
    /// Of the token before, and until when that counts.
    pub(in crate::server) old: Option<(String, OffsetDateTime)>,
    pub(in crate::server) expires: Option<OffsetDateTime>,
    /// The only sites that it sees; without them, the one that is meant where none is named.
    pub(in crate::server) sites: Option<Vec<SiteName>>,
    pub(in crate::server) rights: CallerRights,
    /// All that it was granted.
    pub may: Grant,
    /// Its tie to its maker, if it is a delegate.
    pub(in crate::server) bond: Option<Bond>,
    /// The person, if one signed in.
    pub(in crate::server) person: Option<SignedInPerson>,
}

/// The limits of a named client.
#[derive(Debug, Clone, Default)]
pub(in crate::server) struct CallerRights {
    /// The limits of its writes and reads.
    pub(in crate::server) narrowing: Arc<ClientLimits>,
    /// The only tools that it is offered.
    pub(in crate::server) tools: Option<Arc<[String]>>,
}

impl CallerRights {
    /// True if a tool is there for callers with these rights.
    pub(in crate::server) fn offers(&self, tool: &ToolDefinition) -> bool {
        let is_listed = |tools: &Arc<[String]>| tools.iter().any(|name| name == tool.name);
        let may_write = !self.narrowing.is_read_only;
        (may_write || !tool.can_write()) && self.tools.as_ref().is_none_or(is_listed)
    }
}

/// The tie of a delegate to its maker.
#[derive(Debug)]
pub(in crate::server) struct Bond {
    /// Its maker, as it is now.
    pub(in crate::server) maker: Arc<ClientRecord>,
    /// The only site that it sees.
    pub(in crate::server) site: Option<SiteName>,
    /// Its task.
    pub(in crate::server) task: Arc<str>,
}

/// A person behind a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::server) struct SignedInPerson {
    /// The person, as the issuer names them.
    pub(in crate::server) id: PersonId,
    /// True if they may decide on sets of their own clients.
    pub(in crate::server) decides_own: bool,
    /// The part of the grant that the token's scopes leave out.
    pub(in crate::server) lacks: LackedScopes,
}

/// The scopes that a token lacks for what its person's grant allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::server) struct LackedScopes {
    pub(in crate::server) read: bool,
    pub(in crate::server) write: bool,
}

words! {
    /// The reason a token is rejected.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in crate::server) enum Unwelcome: message {
        /// It is no client's.
        Unknown = "a client's token is needed, as Authorization: Bearer wjs_…; this one is missing or unknown",
        /// It was a client's.
        Ended = "this client's token has ended; its operator makes another with `wikijs-gate token rotate`",
        /// It was a delegate's, or its maker may not call any more.
        DelegateEnded = "this delegate has ended, or its maker may not call any more; only its maker makes another",
        /// It is a delegate's that was made over stdio under other settings.
        OutOfBounds = "this delegate was made over stdio under other settings, or with another key, than this server has now; it is let in again once those are back",
        /// It may be a delegate's, and the store that has them does not answer.
        StoreAway = "the store of the delegates does not answer; try again",
    }
}

impl ClientRecord {
    /// A client without a token, with all that it was granted; a person has the time `thinking` to answer it.
    ///
    /// # Errors
    /// One sentence about the grant.
    pub(in crate::server) fn new(
        id: ClientId,
        (name, identity): (&str, String),
        role: Role,
        (may, thinking): (Grant, Duration),
    ) -> Result<Self, String> {
        Ok(Self {
            id,
            name: name.to_owned(),
            role,
            identity,
            sha256: None,
            old: None,
            expires: may.ends()?,
            sites: may.own_sites()?,
            rights: CallerRights {
                narrowing: Arc::new(may.narrowing(thinking)?),
                tools: may.tools.clone().map(Into::into),
            },
            may,
            bond: None,
            person: None,
        })
    }

    /// The client whose shares, rate and guesses it uses: its maker, if it is a delegate.
    pub(in crate::server) fn counted(&self) -> &Self {
        self.bond.as_ref().map_or(self, |bond| &bond.maker)
    }

    /// The name under which metrics count it: people only as a number. Labels of the metrics' own are never a
    /// client's.
    pub(in crate::server) fn counted_as(&self) -> Cow<'_, str> {
        let counted = self.counted();
        match (&counted.person, &*counted.name) {
            (Some(_), _) => PEOPLE.into(),
            (None, name) if OWN_LABELS.contains(&name) => format!("client {name}").into(),
            (None, name) => name.into(),
        }
    }

    /// The name under which its calls are on record: that of a delegate begins with its maker's.
    pub(in crate::server) fn subject(&self) -> String {
        match &self.bond {
            Some(bond) => format!("{}/{}", bond.maker.name, self.name),
            None => self.name.clone(),
        }
    }

    /// True if it sees a site. One that names no sites sees the site that is meant where none is
    /// named: a site that is added later is not opened to the clients of before.
    pub(in crate::server) fn sees(&self, site: &Arc<Site>, all: &Sites) -> bool {
        if let Some(bond) = &self.bond {
            return site.name() == bond.site.as_ref() && bond.maker.sees(site, all);
        }
        match &self.sites {
            Some(own) => site.name().is_some_and(|name| own.contains(name)),
            None => all
                .find(None)
                .is_some_and(|meant| Arc::ptr_eq(&meant, site)),
        }
    }

    /// Its limits beyond those of the server.
    pub fn narrowing(&self) -> &ClientLimits {
        &self.rights.narrowing
    }

    /// The person behind it, as the issuer names them; a delegate's is its maker's.
    pub(in crate::server) fn person(&self) -> Option<&PersonId> {
        self.counted().person.as_ref().map(|person| &person.id)
    }

    /// True if the delegate that it made with a token of this digest may go on. A person's tokens
    /// come and go; the delegate ends with the one with which it was made in any case.
    pub(in crate::server) fn backs(&self, digest: &str) -> bool {
        match &self.person {
            Some(_) => !self.has_ended(),
            None => self.takes(digest) == Some(Ok(())),
        }
    }

    /// True if it is in a text in lower case that may be a broken file: by its token's digest, or
    /// where it has none by its id.
    pub(in crate::server) fn stands_in(&self, text: &str) -> bool {
        match &self.sha256 {
            Some(sha256) => text.contains(sha256),
            None => text.contains(&self.id.to_string()),
        }
    }

    /// Time at which it ends, if that is soon enough to be said.
    pub(in crate::server) fn ends_soon(&self) -> Option<OffsetDateTime> {
        // A person's client gets its next token by itself.
        let lasting = self.expires.filter(|_| self.person.is_none());
        lasting.filter(|end| ends_soon(*end, OffsetDateTime::now_utc()))
    }

    pub(in crate::server) fn has_ended(&self) -> bool {
        self.expires
            .is_some_and(|end| end <= OffsetDateTime::now_utc())
    }

    /// Checks if a token with this digest is its own, and if so, if it is still valid.
    pub(in crate::server) fn takes(&self, digest: &str) -> Option<Result<(), Unwelcome>> {
        let own = self.sha256.as_ref().map(|own| (own, None));
        let old = self.old.as_ref().map(|(old, end)| (old, Some(*end)));
        let mut both = own.into_iter().chain(old);
        let (_, end) = both.find(|(own, _)| is_same(own, digest))?;
        let has_ended = end.is_some_and(|end| end <= OffsetDateTime::now_utc());
        Some(if has_ended || self.has_ended() {
            Err(Unwelcome::Ended)
        } else {
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::secret::digest;
    use super::{Role, Unwelcome};
    use crate::gates::Grant;
    use crate::server::http::{ClientToken, NamedClient};

    #[test]
    fn a_client_has_no_label_of_the_metrics_own() {
        for (name, label) in [
            ("ci", "ci"),
            ("people", "client people"),
            ("unnamed", "client unnamed"),
            ("other", "client other"),
        ] {
            let token = ClientToken::new().expect("bits");
            let client = NamedClient::new(name, Role::Agent, Some(&token), Grant::default())
                .expect("a client");
            let client = client.checked(Duration::ZERO).expect("known");
            assert_eq!(client.counted_as(), label);
        }
    }

    #[test]
    fn only_the_whole_token_counts_and_only_until_its_end() {
        let token = ClientToken::new().expect("bits");
        let known = |may| {
            let client = NamedClient::new("ci", Role::Agent, Some(&token), may).expect("a client");
            client.checked(Duration::ZERO).expect("known")
        };
        let open = known(Grant::default());
        let (cut, _) = token.reveal().split_at(46);
        for wrong in ["", "wjs_", cut, &format!("{} ", token.reveal())] {
            assert_eq!(open.takes(&digest(wrong)), None, "{wrong:?}");
        }
        assert_eq!(open.takes(&digest(token.reveal())), Some(Ok(())));
        let past = known(Grant {
            expires: Some("2020-01-01T00:00:00Z".to_owned()),
            ..Grant::default()
        });
        let ended = past.takes(&digest(token.reveal()));
        assert_eq!(ended, Some(Err(Unwelcome::Ended)));
        assert_eq!(past.takes(&digest("wjs_other")), None);
    }
}
