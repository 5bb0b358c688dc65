//! Defines reviewers, their sign-in, and the wiki that they work on.

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Instant;

use futures_util::future::BoxFuture;

use crate::error::Failure;
use crate::page::{Locale, PagePath, Prefix};
use crate::site::SiteName;
use crate::wiki::Wiki;
use crate::write::{Caller, WriteContext, Writer};

/// Lets reviewers in. The operator's command lets its operator in; a server over HTTP lets in
/// reviewers by their links.
pub trait Authenticator: Debug + Send + Sync {
    /// The reviewer of a sign-in link, without using it up.
    fn of_link(&self, secret: &str) -> Option<Reviewer>;

    /// Uses a sign-in link up, once across all processes.
    fn take_link<'a>(&'a self, secret: &'a str) -> BoxFuture<'a, Option<Reviewer>>;

    /// The reviewer of a session as they are now; nobody once they may not decide any more, or got
    /// another link. They work on the site of this name, or on the first that they see.
    fn still(&self, of: &SignInId, site: Option<&str>) -> Option<Reviewer>;
}

/// The sign-in to which a session belongs: who signed in, and with which of their links. Another
/// link ends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInId {
    /// The identifier of the person, for as long as they may decide.
    pub person: String,
    /// The number of their link.
    pub link: u32,
}

/// A person who decides.
#[derive(Debug, Clone)]
pub struct Reviewer {
    /// Their sign-in.
    pub id: SignInId,
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
}

impl Reviewer {
    /// The ids of the pages that are now at places about which they do not decide, wherever the
    /// record has them; see [`Wiki::ids_outside`] for the time.
    ///
    /// # Errors
    /// The wiki's error.
    pub(super) async fn ids_outside(
        &self,
        as_of: Option<Instant>,
    ) -> Result<HashSet<i64>, Failure> {
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
