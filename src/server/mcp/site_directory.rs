//! The wikis of a server as one caller sees them: what is known of each, and its index brought up
//! to date.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::super::app::App;
use super::super::site::Sites;
use super::caller::CallerContext;
use super::resources::{ResourceReader, status_of};
use super::session_rules::IndexState;
use crate::error::{Code, Failure};
use crate::gates::SessionId;
use crate::site::SiteName;
use crate::wiki::{WikiError, in_words};
use crate::tools::without_nulls;
use crate::write::{Asker, Caller, SiteDirectory};

/// The time limit for what a list says of a site.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time for which a call waits for an index.
const SYNCING: Duration = Duration::from_secs(50);

/// The sites that a caller may see, with what it is there; that of its session first.
pub(in crate::server) trait VisibleSites: Debug + Send + Sync {
    /// All of them, as they are now.
    fn all(&self) -> impl Iterator<Item = CallerContext>;
}

/// The sites of a server without names for its callers.
#[derive(Debug)]
pub(in crate::server) struct OwnSites {
    own: Arc<App>,
    sites: Arc<Sites>,
    session: SessionId,
}

impl OwnSites {
    pub(in crate::server) fn new(own: Arc<App>, sites: &Arc<Sites>, session: &SessionId) -> Self {
        Self {
            own,
            sites: Arc::clone(sites),
            session: session.clone(),
        }
    }
}

impl VisibleSites for OwnSites {
    fn all(&self) -> impl Iterator<Item = CallerContext> {
        let others = self.sites.all().to_vec().into_iter();
        let others = others.map(|site| site.app());
        let others = others.filter(|app| !Arc::ptr_eq(app, &self.own));
        let all = std::iter::once(Arc::clone(&self.own)).chain(others);
        all.map(|app| CallerContext::alone(app, self.session.clone()))
    }
}

/// The only site of a command.
#[must_use]
pub fn site_of(app: &Arc<App>, caller: &Caller) -> Arc<dyn SiteDirectory> {
    let sites = Sites::only(Arc::clone(app));
    Arc::new(OwnSites::new(Arc::clone(app), &sites, &caller.session))
}

impl<T: VisibleSites> SiteDirectory for T {
    fn list<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Vec<Value>> {
        async move {
            let all: Vec<CallerContext> = self.all().collect();
            join_all(all.iter().map(|visit| overview(visit, caller))).await
        }
        .boxed()
    }

    fn status<'a>(
        &'a self,
        caller: &'a Caller,
        name: Option<&'a str>,
    ) -> BoxFuture<'a, Option<Result<Value, Failure>>> {
        async move {
            let visit = find(self, name)?;
            let reader = ResourceReader {
                visit: &visit,
                caller: at(&visit, caller),
                can_ask: !matches!(caller.asker, Asker::Nobody),
            };
            Some(status_of(&reader).await)
        }
        .boxed()
    }

    fn sync<'a>(&'a self, name: Option<&'a str>) -> BoxFuture<'a, Option<Result<Value, Failure>>> {
        async move { Some(sync(&find(self, name)?).await) }.boxed()
    }
}

/// The site of a name, or of the session, that the caller may see.
fn find(sites: &impl VisibleSites, name: Option<&str>) -> Option<CallerContext> {
    let is_meant = |visit: &CallerContext| {
        let own = visit.app.desk.audit().site();
        name.is_none() || own.map(SiteName::as_str) == name
    };
    sites.all().find(is_meant)
}

/// A caller as it is on another site.
fn at(visit: &CallerContext, caller: &Caller) -> Caller {
    Caller {
        session: visit.session.clone(),
        narrowing: visit.narrowing().cloned(),
        family: visit.family.clone(),
        ..caller.clone()
    }
}

async fn overview(visit: &CallerContext, caller: &Caller) -> Value {
    let wiki = &visit.app.wiki;
    let may_read = visit.may_read_resources().is_ok();
    let asked = timeout(PATIENCE, async {
        wiki.answers(Duration::ZERO, PATIENCE).await?;
        if !may_read {
            return Ok::<_, WikiError>((None, None));
        }
        let pages = wiki.pages_lately().await?;
        let rights = wiki.rights_in_words(pages.iter().next()).await;
        Ok((Some(pages.shared().len()), rights.ok()))
    });
    let (fault, (pages, rights)) = match asked.await {
        Ok(Ok(found)) => (None, found),
        Ok(Err(error)) => (Some(Failure::from(error).message), (None, None)),
        Err(_) => (Some("It does not answer in time.".to_owned()), (None, None)),
    };
    let open = visit.open_proposals(&at(visit, caller)).await.ok();
    without_nulls(json!({
        "name": visit.app.desk.audit().site().map(SiteName::to_string),
        "address": wiki.settings().base_url.as_str(),
        "answers": fault.is_none(),
        "fault": fault,
        "rights": rights,
        "keyEndsIn": wiki.key().left().map(in_words),
        "pages": pages,
        "index": IndexState::new(visit).in_words(),
        "openSets": open.map(|open| open.len()),
    }))
}

async fn sync(visit: &CallerContext) -> Result<Value, Failure> {
    let index = &visit.app.index;
    if !index.is_on() {
        let message = "This site has no content index: WIKI_INDEX is off.";
        let hint = "Search with the wiki's own words; an operator can switch the index on.";
        return Err(Failure::new(Code::NotApplied, message).hint(hint));
    }
    // What others changed is looked for anew.
    let work = async {
        index.ready(|_, _| {}).await?;
        index.pass_ended().await;
        index.failure().map_or(Ok(()), Err)
    };
    // After the time limit the rest goes on in the background.
    if let Ok(Err(error)) = timeout(SYNCING, work).await {
        return Err(error.into());
    }
    let (now, _) = index.now();
    Ok(without_nulls(json!({
        "name": visit.app.desk.audit().site().map(SiteName::to_string),
        "pages": now.pages,
        "of": now.of,
        "isComplete": now.is_complete,
    })))
}
