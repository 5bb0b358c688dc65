//! The layer `session`, and the owners of sessions: an id is valid only for the client that got it,
//! and unknown to everybody else.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::response::Response;
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde::Deserialize;

use super::caller::{HttpCaller, SESSION};
use super::limits::HttpLimits;
use super::refusal::HttpRefusal;
use super::shared_sessions::SharedSessions;

/// The owner of a session.
#[derive(Debug)]
pub(super) struct SessionOwner {
    /// The client, with its own key if it brings one: nobody else may use the session.
    pub(super) name: String,
    /// The named client in whose share it counts.
    pub(super) client: Option<String>,
}

impl SessionOwner {
    /// The caller of a request.
    pub(super) fn new(caller: &HttpCaller) -> Self {
        Self {
            client: caller.counted().map(str::to_owned),
            name: caller.owner.clone(),
        }
    }
}

/// The open sessions and their owners.
#[derive(Debug)]
pub(super) struct McpSessions {
    /// rmcp's own.
    pub(super) open: Arc<LocalSessionManager>,
    /// Those of other servers too, where several have one store.
    pub(super) shared: Option<Arc<SharedSessions>>,
    most: usize,
    share: usize,
    owners: Mutex<HashMap<Arc<str>, SessionOwner>>,
    opening: tokio::sync::Mutex<()>,
    under_way: Arc<Mutex<HashSet<SessionRequest>>>,
}

/// A request of a session: its session and its id.
type SessionRequest = (String, RequestId);

/// The id of a request, as the protocol has it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(untagged)]
pub(super) enum RequestId {
    Number(i64),
    Text(String),
}

/// A request that is under way in its session.
#[derive(Debug)]
pub(super) struct ActiveRequestGuard {
    request: SessionRequest,
    all: Arc<Mutex<HashSet<SessionRequest>>>,
}

impl Drop for ActiveRequestGuard {
    fn drop(&mut self) {
        self.all.lock().remove(&self.request);
    }
}

/// The layer `session`: lets a request through if the session that it names is its caller's.
pub(super) async fn session(
    State(sessions): State<Arc<McpSessions>>,
    request: Request,
) -> Result<Request, HttpRefusal> {
    let caller = HttpCaller::get(&request)?;
    let Some(id) = &caller.session else {
        return Ok(request);
    };
    if sessions.is_of(id, &caller.owner) || sessions.takes_over(id, caller).await? {
        return Ok(request);
    }
    Err(HttpRefusal::not_found(
        "there is no such session; initialize again",
    ))
}

impl McpSessions {
    /// None yet.
    pub(super) fn new(limits: &HttpLimits, shared: Option<SharedSessions>) -> Self {
        let mut open = LocalSessionManager::default();
        open.session_config.keep_alive = Some(limits.session);
        // Sent answers are not kept for resending, since their size is not bounded.
        open.session_config.completed_cache_ttl = Duration::ZERO;
        Self {
            open: Arc::new(open),
            shared: shared.map(Arc::new),
            most: limits.sessions,
            share: limits.share_of(limits.sessions),
            owners: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            under_way: Arc::default(),
        }
    }

    /// True if a session is this caller's.
    fn is_of(&self, id: &str, owner: &str) -> bool {
        self.owners
            .lock()
            .get(id)
            .is_some_and(|own| own.name == owner)
    }

    /// Goes on with a caller's session that another server began, if it did.
    async fn takes_over(&self, id: &str, caller: &HttpCaller) -> Result<bool, HttpRefusal> {
        let Some(shared) = &self.shared else {
            return Ok(false);
        };
        let is_own = shared.is_of(id, &caller.owner).await;
        let is_own = is_own
            .map_err(|_| HttpRefusal::busy("the sessions cannot be asked for; try again later"))?;
        if is_own {
            let _turn = self.opening.lock().await;
            let owner = SessionOwner::new(caller);
            self.has_room(owner.client.as_deref()).await?;
            self.owners.lock().insert(id.into(), owner);
        }
        Ok(is_own)
    }

    /// Begins a request, unless one of the same id is under way in the session: rmcp would keep the
    /// first one's state for the life of the session.
    pub(super) fn begin(
        &self,
        session: String,
        id: RequestId,
    ) -> Result<ActiveRequestGuard, HttpRefusal> {
        let request = (session, id);
        let mut all = self.under_way.lock();
        if !all.insert(request.clone()) {
            return Err(HttpRefusal::bad_request(
                "a request of the same id is under way in this session",
            ));
        }
        drop(all);
        Ok(ActiveRequestGuard {
            request,
            all: Arc::clone(&self.under_way),
        })
    }

    /// Opens one more session by this request, one caller after another. Must not be cancelled, or
    /// a session without an owner is left.
    pub(super) async fn open_one(
        &self,
        owner: SessionOwner,
        request: impl Future<Output = Response>,
    ) -> Result<Response, HttpRefusal> {
        let turn = self.opening.lock().await;
        self.has_room(owner.client.as_deref()).await?;
        let response = request.await;
        let id = response.headers().get(SESSION);
        if let Some(id) = id.and_then(|id| id.to_str().ok()) {
            let name = owner.name.clone();
            self.owners.lock().insert(id.into(), owner);
            // Others need not wait while it is kept.
            drop(turn);
            if let Some(shared) = &self.shared {
                shared.keep(id, &name).await;
            }
        }
        Ok(response)
    }

    async fn has_room(&self, client: Option<&str>) -> Result<(), HttpRefusal> {
        let open = self.open.sessions.read().await;
        let mut owners = self.owners.lock();
        owners.retain(|id, _| open.contains_key(id));
        let own = owners
            .values()
            .filter(|owner| owner.client.as_deref() == client);
        if client.is_some() && own.count() >= self.share {
            return Err(HttpRefusal::busy(
                "this client has its whole share of the sessions; end one, or try again later",
            ));
        }
        if open.len() >= self.most {
            return Err(HttpRefusal::busy(
                "too many sessions are open; try again later",
            ));
        }
        Ok(())
    }
}
