//! The layer `session`, and the owners of sessions: an id is valid only for the client that got it,
//! and unknown to everybody else.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::response::Response;
use parking_lot::Mutex;
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::caller::{HttpCaller, SESSION};
use super::limits::HttpLimits;
use super::refusal::HttpRefusal;
use super::shared_sessions::SharedSessions;

/// Time for which an answer of the store about a session counts: as long may it go on here after
/// another server ended it.
const LOOK: Duration = Duration::from_secs(1);

/// The owner of a session.
#[derive(Debug)]
pub(super) struct SessionOwner {
    /// The client, with its own key if it brings one: nobody else may use the session.
    pub(super) name: String,
    /// The named client in whose share it counts.
    pub(super) client: Option<String>,
    /// The last look at the store, where other servers know it, each of which may end it.
    shared: Option<Instant>,
    /// The last try to let them know it.
    tried: Instant,
}

impl SessionOwner {
    /// The caller of a request.
    pub(super) fn new(caller: &HttpCaller) -> Self {
        Self {
            client: caller.counted().map(str::to_owned),
            name: caller.owner.clone(),
            shared: None,
            tried: Instant::now(),
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
    if sessions.is_of(id, &caller.owner).await || sessions.takes_over(id, caller).await? {
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

    /// True if a session of this server is this caller's. One that another server ended ends here.
    async fn is_of(&self, id: &str, owner: &str) -> bool {
        let own = {
            let owners = self.owners.lock();
            owners
                .get(id)
                .filter(|own| own.name == owner)
                .map(|own| (own.shared, own.tried))
        };
        let Some((looked, tried)) = own else {
            return false;
        };
        let Some(shared) = &self.shared else {
            return true;
        };
        let Some(looked) = looked else {
            // The store was away when it began.
            if tried.elapsed() >= LOOK {
                self.keep(shared, id, owner).await;
            }
            return true;
        };
        if looked.elapsed() < LOOK {
            return true;
        }
        // While the store is away, those who are known are served on.
        if !matches!(shared.is_of(id, owner).await, Ok(false)) {
            if let Some(own) = self.owners.lock().get_mut(id) {
                own.shared = Some(Instant::now());
            }
            return true;
        }
        self.owners.lock().remove(id);
        if let Err(error) = self.open.close_session(&id.into()).await {
            tracing::debug!(%error, "a session that ended elsewhere was closed already");
        }
        false
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
            let owner = SessionOwner {
                shared: Some(Instant::now()),
                ..SessionOwner::new(caller)
            };
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
                self.keep(shared, id, &name).await;
            }
        }
        Ok(response)
    }

    /// Lets other servers know a session.
    async fn keep(&self, shared: &SharedSessions, id: &str, owner: &str) {
        let is_kept = shared.keep(id, owner).await;
        if let Some(own) = self.owners.lock().get_mut(id) {
            own.tried = Instant::now();
            own.shared = own.shared.or(is_kept.then_some(own.tried));
        }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::time::Instant;

    use axum::body::Body;
    use axum::http::Response;
    use rmcp::transport::streamable_http_server::session::store::{
        SessionState, SessionStore as _,
    };
    use serde_json::{Value, json};

    use super::super::caller::SESSION;
    use super::super::limits::HttpLimits;
    use super::super::shared_sessions::SharedSessions;
    use super::{LOOK, McpSessions, SessionOwner};
    use crate::store::local::LocalStore;
    use crate::store::{DocumentKind, Store};

    const KIND: DocumentKind = DocumentKind::McpSession;

    fn owner(shared: Option<Instant>) -> SessionOwner {
        SessionOwner {
            name: "ci".to_owned(),
            client: None,
            shared,
            tried: Instant::now(),
        }
    }

    /// Two servers that share a store. The first has begun a session, with which the second goes on.
    async fn two(store: &Arc<dyn Store>) -> [McpSessions; 2] {
        let server = || {
            let shared = SharedSessions::new(Arc::clone(store));
            McpSessions::new(&HttpLimits::default(), shared)
        };
        let [one, two] = [server(), server()];
        begin(&one).await;
        two.owners
            .lock()
            .insert("id".into(), owner(Some(Instant::now())));
        for server in [&one, &two] {
            assert!(server.is_of("id", "ci").await && !server.is_of("id", "other").await);
        }
        [one, two]
    }

    /// A server begins a session.
    async fn begin(server: &McpSessions) {
        let begun: SessionState = serde_json::from_value(json!({ "initialize_params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        } }))
        .unwrap();
        let shared = server.shared.as_ref().unwrap();
        shared.store("id", &begun).await.unwrap();
        let response = Response::builder().header(SESSION, "id");
        let response = response.body(Body::empty()).unwrap();
        let opened = server.open_one(owner(None), async { response }).await;
        assert!(opened.is_ok());
    }

    /// As if the last look had been a second ago.
    fn look_again(server: &McpSessions) {
        for own in server.owners.lock().values_mut() {
            own.tried = own.tried.checked_sub(LOOK).unwrap();
            own.shared = own.shared.and_then(|at| at.checked_sub(LOOK));
        }
    }

    fn store() -> (tempfile::TempDir, Arc<dyn Store>) {
        let dir = tempfile::tempdir().unwrap();
        let store = LocalStore::new(dir.path(), "").remote().unwrap();
        (dir, Arc::new(store))
    }

    #[tokio::test]
    async fn a_session_that_one_server_ended_ends_at_the_others() {
        let (_dir, store) = store();
        let [one, two] = two(&store).await;
        let shared = two.shared.as_ref().unwrap();
        shared.delete("id").await.unwrap();
        assert!(
            one.is_of("id", "ci").await,
            "within a second of the last look"
        );
        for server in [&one, &two] {
            look_again(server);
            assert!(!server.is_of("id", "ci").await);
            assert_eq!(server.owners.lock().len(), 0);
        }
    }

    #[tokio::test]
    async fn a_session_that_began_while_the_store_was_away_is_known_to_the_others_later() {
        let (dir, store) = store();
        // A file where the directory of sessions should be.
        let [one, two] = [(); 2].map(|()| {
            let shared = SharedSessions::new(Arc::clone(&store));
            McpSessions::new(&HttpLimits::default(), shared)
        });
        let in_the_way = dir.path().join("mcp-sessions");
        std::fs::write(&in_the_way, "").unwrap();
        begin(&one).await;
        assert!(one.is_of("id", "ci").await);
        std::fs::remove_file(&in_the_way).unwrap();
        let shared = two.shared.as_ref().unwrap();
        assert!(!shared.is_of("id", "ci").await.unwrap());
        look_again(&one);
        assert!(one.is_of("id", "ci").await);
        assert!(shared.is_of("id", "ci").await.unwrap());
    }

    #[tokio::test]
    async fn the_requests_of_a_session_ask_the_store_once_a_second() {
        let dir = tempfile::tempdir().unwrap();
        let store = LocalStore::new(dir.path(), "").remote().unwrap();
        let read = Arc::clone(&store.documents_read);
        let store: Arc<dyn Store> = Arc::new(store);
        let [one, _] = two(&store).await;
        let before = read.load(Ordering::Relaxed);
        for second in 1..=3 {
            look_again(&one);
            for _ in 0..5 {
                assert!(one.is_of("id", "ci").await);
            }
            assert_eq!(read.load(Ordering::Relaxed) - before, second);
        }
    }

    /// However many sessions there are.
    #[tokio::test]
    async fn a_session_that_goes_on_or_ends_elsewhere_is_found_by_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let store = LocalStore::new(dir.path(), "").remote().unwrap();
        let listed = Arc::clone(&store.documents_listed);
        let store: Arc<dyn Store> = Arc::new(store);
        let [_, two] = two(&store).await;
        look_again(&two);
        assert!(two.is_of("id", "ci").await);
        let shared = two.shared.as_ref().unwrap();
        let before = listed.load(Ordering::Relaxed);
        assert!(shared.load("id").await.unwrap().is_some());
        shared.delete("id").await.unwrap();
        assert_eq!(listed.load(Ordering::Relaxed), before);
        assert!(shared.load("id").await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_session_ends_with_its_life_and_goes_on_while_the_store_is_away() {
        let (_dir, store) = store();
        let [one, two] = two(&store).await;
        let name = store.documents(KIND).unwrap()[0].name.clone();
        let bytes = store.document(KIND, &name).unwrap().unwrap();
        store
            .write_document(KIND, &name, &vec![b'x'; 200 << 10])
            .unwrap();
        look_again(&one);
        assert!(one.is_of("id", "ci").await, "unreadable");
        let mut document: Value = serde_json::from_slice(&bytes).unwrap();
        let begun = document["begun"].as_i64().unwrap();
        document["begun"] = json!(begun - 25 * 60 * 60);
        let bytes = serde_json::to_vec(&document).unwrap();
        store.write_document(KIND, &name, &bytes).unwrap();
        look_again(&two);
        assert!(!two.is_of("id", "ci").await);
    }
}
