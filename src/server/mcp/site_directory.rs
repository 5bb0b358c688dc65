//! The wikis of a server as one caller sees them: what is known of each, and its index brought up
//! to date.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::super::{App, Sites};
use super::caller::CallerContext;
use super::resources::{ResourceReader, status_of};
use super::session_rules::IndexState;
use crate::error::{Code, Failure, Result};
use crate::gates::SessionId;
use crate::memory::ExchangeMessage;
use crate::site::SiteName;
use crate::tools::{extended, without_nulls};
use crate::wiki::{WikiError, in_words};
use crate::write::{Asker, Caller, SiteDirectory};

/// The time limit for what a list says of a site.
const PATIENCE: Duration = Duration::from_secs(5);
/// The tool without which a caller exchanges no memories.
const REMEMBER: &str = "wikijs_remember";
/// The time for which a call waits for an index.
const SYNCING: Duration = Duration::from_secs(50);

/// The sites that a caller may see, with what it is there.
pub(in crate::server) struct Directory {
    /// The caller at the site of its session.
    own: CallerContext,
    /// The caller at the other sites, as they are now.
    others: Box<dyn Fn() -> Vec<CallerContext> + Send + Sync>,
}

impl fmt::Debug for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Directory").finish_non_exhaustive()
    }
}

impl Directory {
    pub(in crate::server) fn new(
        own: CallerContext,
        others: impl Fn() -> Vec<CallerContext> + Send + Sync + 'static,
    ) -> Arc<Self> {
        let others = Box::new(others);
        Arc::new(Self { own, others })
    }

    /// The sites of a server without names for its callers.
    pub(in crate::server) fn of_all(
        app: &Arc<App>,
        sites: &Arc<Sites>,
        session: &SessionId,
    ) -> Arc<Self> {
        let own = CallerContext::alone(Arc::clone(app), session.clone());
        let (app, sites, session) = (Arc::clone(app), Arc::clone(sites), session.clone());
        Self::new(own, move || {
            let all = sites.all();
            let others = all.iter().map(|site| site.app());
            let others = others.filter(|other| !Arc::ptr_eq(other, &app));
            let at = |app| CallerContext::alone(app, session.clone());
            others.map(at).collect()
        })
    }

    /// The caller at the site of a name, or of the session, if they may see it.
    fn find(&self, name: Option<&str>) -> Option<CallerContext> {
        let is_meant = |visit: &CallerContext| {
            let own = visit.app.desk.audit().site();
            name.is_none() || own.map(SiteName::as_str) == name
        };
        if is_meant(&self.own) {
            return Some(self.own.clone());
        }
        (self.others)().into_iter().find(is_meant)
    }
}

/// The only site of a command.
pub fn site_of(app: &Arc<App>, caller: &Caller) -> Arc<dyn SiteDirectory> {
    let own = CallerContext::alone(Arc::clone(app), caller.session.clone());
    Directory::new(own, Vec::new)
}

#[async_trait::async_trait]
impl SiteDirectory for Directory {
    async fn list(&self, caller: &Caller) -> Vec<Value> {
        let others = (self.others)();
        let all = std::iter::once(&self.own).chain(&others);
        join_all(all.map(|visit| overview(visit, caller))).await
    }

    async fn status(&self, caller: &Caller, name: Option<&str>) -> Option<Result<Value>> {
        let visit = self.find(name)?;
        let reader = ResourceReader {
            visit: &visit,
            caller: at(&visit, caller),
            can_ask: !matches!(caller.asker, Asker::Nobody),
        };
        Some(status_of(&reader).await)
    }

    async fn sync(
        &self,
        caller: &Caller,
        name: Option<&str>,
        message: Option<ExchangeMessage>,
    ) -> Option<Result<Value>> {
        let visit = self.find(name)?;
        let caller = at(&visit, caller);
        Some(match message {
            Some(message) => answer_peer(&visit, &caller, message).await,
            None => Box::pin(sync(&visit, &caller)).await,
        })
    }
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
        Ok((Some(pages.pages.len()), rights.ok()))
    });
    let (fault, (pages, rights)) = match asked.await {
        Ok(Ok(found)) => (None, found),
        Ok(Err(error)) => (Some(Failure::from(error).message), (None, None)),
        Err(_) => (Some("It does not answer in time.".to_owned()), (None, None)),
    };
    let open = visit.open_proposals(&at(visit, caller)).await.ok();
    without_nulls(json!({
        "name": name_of(visit),
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

/// The reason a caller exchanges no memories, if there is one: it must be offered to remember.
fn may_not_exchange(visit: &CallerContext) -> Option<Failure> {
    let message = "Memories are exchanged by clients that may remember, and this one may not.";
    let hint = "Tell the user: this session lacks the toolset memory.";
    let may = visit.offered().has(REMEMBER);
    (!may).then(|| Failure::new(Code::NotApplied, message).hint(hint))
}

async fn answer_peer(
    visit: &CallerContext,
    caller: &Caller,
    message: ExchangeMessage,
) -> Result<Value> {
    may_not_exchange(visit).map_or(Ok(()), Err)?;
    let reply = visit.app.desk.answer_peer(caller, message).await?;
    Ok(json!({ "memories": reply }))
}

/// Brings the index up to date, then exchanges memories; what is known of the index is told with
/// the failure of an exchange.
async fn sync(visit: &CallerContext, caller: &Caller) -> Result<Value> {
    let desk = &visit.app.desk;
    let peer = desk.memory_peer();
    let exchanged = async {
        let peer = peer.as_ref()?;
        let refused = may_not_exchange(visit).or_else(|| desk.refusal_of(caller));
        Some(match refused {
            Some(failure) => Ok(json!({ "fault": failure.message })),
            None => desk.exchange(caller, peer).await,
        })
    };
    let (synced, exchanged) = join(sync_index(visit), exchanged).await;
    let mut synced = match synced {
        Err(failure) if peer.is_none() || visit.app.index.is_on() => return Err(failure),
        synced => synced.unwrap_or_else(|_| json!({ "name": name_of(visit) })),
    };
    if let Some(exchanged) = exchanged {
        let failed = |failure: Failure| failure.detail("index", without_nulls(synced.clone()));
        let exchanged = exchanged.map_err(failed)?;
        synced = extended(synced, json!({ "memories": exchanged }));
    }
    Ok(without_nulls(synced))
}

fn name_of(visit: &CallerContext) -> Option<String> {
    visit.app.desk.audit().site().map(SiteName::to_string)
}

async fn sync_index(visit: &CallerContext) -> Result<Value> {
    let index = &visit.app.index;
    if !index.is_on() {
        let message = "This site has no content index: WIKI_INDEX is off.";
        let hint = "Search with the wiki's own words; an operator can switch the index on.";
        return Err(Failure::new(Code::NotApplied, message).hint(hint));
    }
    // What others changed is looked for anew, however lately that was done.
    let work = async {
        visit.app.wiki.forget_pages().await;
        index.outdated();
        index.ready(|_, _| {}).await?;
        index.pass_ended().await;
        index.failure().map_or(Ok(()), Err)
    };
    // After the time limit the rest goes on in the background.
    if let Ok(Err(error)) = timeout(SYNCING, work).await {
        return Err(error.into());
    }
    let (now, _) = index.now();
    Ok(json!({
        "name": name_of(visit),
        "pages": now.pages,
        "of": now.of,
        "isComplete": now.is_complete,
    }))
}
