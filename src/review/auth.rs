//! Defines reviewers, their sign-in, and the wiki that they work on.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use super::markup::SiteLinks;
use super::sign_ins::SignInRecord;
use crate::error::Result;
use crate::mirror::Mirror;
use crate::page::{Locale, PagePath, Prefix};
use crate::site::SiteName;
use crate::wiki::Wiki;
use crate::write::{Caller, WriteContext, Writer};

/// Lets reviewers in. The operator's command lets its operator in; a server over HTTP lets in
/// reviewers by their links, and people for whom an issuer vouches.
#[async_trait::async_trait]
pub trait Authenticator: Send + Sync {
    /// The reviewer of a sign-in, by the name under which it is kept, as they are now; nobody once they may
    /// not decide any more. They work on the site of this name, or on the first that they see.
    async fn still(
        &self,
        of: (&str, &SignInRecord),
        site: Option<&str>,
    ) -> Result<Reviewer, SignedOut>;

    /// The way in by an issuer, where there is one.
    fn issuer(&self) -> Option<&dyn IssuerDoor> {
        None
    }
}

/// Lets people in for whom an issuer vouches.
#[async_trait::async_trait]
pub trait IssuerDoor: Send + Sync {
    /// The name of the issuer: its host.
    fn name(&self) -> String;

    /// Begins a sign-in at the page of this address, which leads to one of its own pages in the end.
    async fn begin(&self, page: &str, then: &str) -> Result<BegunSignIn, IssuerRefusal>;

    /// Ends a sign-in.
    async fn finish(&self, answer: IssuerAnswer<'_>) -> Result<FinishedSignIn, IssuerRefusal>;

    /// Ends the session of a name; gives the address at the issuer where the person signs out there, too.
    async fn leave(&self, name: &str) -> Option<String>;
}

/// A sign-in that has begun.
pub struct BegunSignIn {
    /// The address at the issuer.
    pub location: String,
    /// The sealed text that the browser brings back.
    pub cookie: String,
}

/// The answer of the issuer, as a browser brings it.
pub struct IssuerAnswer<'a> {
    /// The address of the page.
    pub page: &'a str,
    /// The cookie with which the sign-in began.
    pub cookie: &'a str,
    /// The `state`.
    pub state: &'a str,
    /// The code, empty without one.
    pub code: &'a str,
    /// The issuer that the answer names (RFC 9207).
    pub issuer: Option<&'a str>,
    /// The error, empty without one. It may be anybody's text.
    pub error: &'a str,
}

/// A sign-in that came to its end.
pub struct FinishedSignIn {
    /// The person's name.
    pub name: String,
    /// The secret of the session.
    pub cookie: String,
    /// The page that the person came for, as it was told; empty without one.
    pub then: String,
}

/// The reason why somebody is not signed in, in plain words and without anything that came from
/// elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerRefusal {
    /// True if trying again may help.
    pub is_away: bool,
    /// The sentence.
    pub why: String,
}

/// The reason why a session counts no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedOut {
    /// Its time is up, or somebody ended it.
    Over,
    /// Another reason, in a sentence.
    Because(String),
}

/// A person who decides.
#[derive(Debug, Clone)]
pub struct Reviewer {
    /// Their name, as it is on record.
    pub name: String,
    /// The site that they work on, where there are several.
    pub site: Option<SiteName>,
    /// The sites that they see.
    pub sites: Vec<SiteName>,
    /// True if they decide; else they only look.
    pub may_decide: bool,
    /// True if they apply; else, in a dry run, they only reject.
    pub may_apply: bool,
    /// True if they see all of the record, and may have it checked.
    pub sees_all: bool,
    /// True if they may decide on sets of their own clients.
    pub decides_own: bool,
    /// A sentence about their session that they should know.
    pub notice: Option<String>,
    /// Below which prefixes they decide; everywhere if none.
    pub prefixes: Option<Vec<Prefix>>,
    /// The wiki on which their decisions are made.
    pub bench: WikiHandle,
    /// The caller under which their decisions go on record.
    pub caller: Caller,
}

/// A handle on one wiki, under the policy of the person who decides.
#[derive(Debug, Clone)]
pub struct WikiHandle {
    /// The wiki.
    pub wiki: Arc<Wiki>,
    /// The context of writes.
    pub desk: Arc<WriteContext>,
    /// The way of a write.
    pub writer: Arc<Writer>,
    /// The mirror of the wiki, if it is on.
    pub mirror: Option<Arc<Mirror>>,
}

impl Reviewer {
    /// Links that stay at their site.
    pub(super) fn links(&self) -> SiteLinks<'_> {
        SiteLinks(self.site.as_ref())
    }

    /// The ids of the pages that are now at places about which they do not decide, wherever the
    /// record has them; see [`Wiki::ids_outside`] for the time.
    ///
    /// # Errors
    /// The wiki's error.
    pub(super) async fn ids_outside(&self, as_of: Option<Instant>) -> Result<HashSet<i64>> {
        if self.prefixes.is_none() {
            return Ok(HashSet::new());
        }
        let own = |locale: &Locale, path: &PagePath| self.decides_about(locale, path);
        Ok(self.bench.wiki.ids_outside(as_of, own).await?)
    }

    /// True if they decide about a place.
    pub(super) fn decides_about(&self, locale: &Locale, path: &PagePath) -> bool {
        let holds = |prefix: &Prefix| prefix.holds(locale, path);
        let prefixes = self.prefixes.as_ref();
        prefixes.is_none_or(|prefixes| prefixes.iter().any(holds))
    }
}
