//! The layer `client`: finds the caller of a request, its site and the app that answers it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};

use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::HeaderMap;
use parking_lot::Mutex;

use super::super::clients::client_record::ClientRecord;
use super::super::clients::secret::TOKEN_PREFIX;
use super::super::delegates::delegations::Delegations;
use super::super::mcp::caller::{CallerContext, CallerLookup, CallerNow};
use super::super::mcp::site_directory::Directory;
use super::super::{App, Site};
use super::address::origin_of;
use super::apps::Apps;
use super::refusal::HttpRefusal;
use super::state::HttpState;
use super::{page_host, token};
use crate::audit::{ClientId, Role};
use crate::gates::SessionId;
use crate::oauth::{OauthSettings, is_of_issuer};
use crate::review::LINK_PREFIX;
use crate::write::Family;

/// The header that carries the caller's own key of the wiki.
pub(super) const CALLER_KEY: &str = "x-wiki-api-token";
/// The header that names a session.
pub(super) const SESSION: &str = "mcp-session-id";
/// Says why somebody sees no site, whichever they name.
pub(super) const NO_SITE: &str = "you see no wiki of this server; its operator names your sites, by `wikijs-gate token new NAME --sites` or in [[oauth.grants]]";
/// The owner of what is remembered for callers without a name; no client can have this name.
const UNNAMED: &str = "unnamed callers";
/// The most sites whose callers' apps are kept after the sites were removed.
const MOST_APPS: usize = 100;

/// The caller of a request.
#[derive(Clone)]
pub(super) struct HttpCaller {
    pub(super) site: Arc<Site>,
    /// The owner of its sessions and previews: the client, with its own key if it brings one.
    pub(super) owner: String,
    /// The session that the request names.
    pub(super) session: Option<String>,
    /// The most requests that it may send in a minute.
    pub(super) rate: u32,
    /// What the handler of the protocol learns of it.
    pub(super) context: CallerContext,
}

impl HttpCaller {
    /// The caller that this layer found.
    pub(super) fn get(request: &Request) -> Result<&Self, HttpRefusal> {
        let found = request.extensions().get::<Arc<Self>>();
        found.map(|caller| &**caller).ok_or(HttpRefusal::BROKE_OFF)
    }

    /// The named client in whose shares and rate it counts.
    pub(super) fn counted(&self) -> Option<&str> {
        let client = self.context.client.as_ref();
        client.map(|client| &*client.counted().identity)
    }

    /// Its id, if it is a delegate or a person, who can end at any time.
    pub(super) fn ending(&self) -> Option<ClientId> {
        let client = self.context.client.as_ref()?;
        (client.bond.is_some() || client.person.is_some()).then_some(client.id)
    }
}

/// Finds the callers of requests.
pub(super) struct Callers {
    state: Arc<HttpState>,
    /// The apps of callers, by site.
    apps: Mutex<HashMap<u64, Arc<Apps>>>,
}

/// A caller as its next call would find it.
#[derive(Debug)]
struct PresentCaller {
    callers: Weak<Callers>,
    site: Weak<Site>,
    client: Option<ClientId>,
    /// The word for the key that it brought.
    key: Option<String>,
}

impl CallerLookup for PresentCaller {
    fn now(&self) -> Option<CallerNow> {
        let (callers, site) = (self.callers.upgrade()?, self.site.upgrade()?);
        let present = |id| callers.state.clients.as_ref()?.present(id);
        let client = match self.client {
            Some(id) => Some(present(id).filter(|it| it.sees(&site, &callers.state.sites))?),
            None => None,
        };
        let (apps, app) = callers.apps(&site);
        let app = match &self.key {
            Some(key) => apps.of_key(key)?,
            None => app,
        };
        Some((apps.within(client.as_deref(), app), client))
    }
}

/// The layer `client`: lets agents through, and callers without a name where none is needed.
pub(super) async fn client(
    State(callers): State<Arc<Callers>>,
    site: Option<Path<String>>,
    Extension(peer): Extension<SocketAddr>,
    mut request: Request,
) -> Result<Request, HttpRefusal> {
    let client = token::authenticate(&callers.state, request.headers()).await?;
    if let Some(client) = client.as_ref().filter(|it| it.role != Role::Agent) {
        return Err(HttpRefusal::forbidden(if client.person.is_some() {
            "your grant is for the review page, at /review; tools are for those with the role agent"
        } else {
            "this token is for /metrics alone; tools are called with the token of an agent"
        }));
    }
    let lacking = client.as_ref().and_then(|client| {
        let lacks = client.person.as_ref()?.lacks;
        // The next token comes in place of this one: whoever may write needs both scopes in it.
        let needs_write = lacks.write || !client.may.read_only;
        lacks.read.then_some(needs_write)
    });
    if let Some(needs_write) = lacking {
        return Err(HttpRefusal::lacking_scope(needs_write));
    }
    let site = callers.site(site.as_ref().map(|site| &*site.0), client.as_deref())?;
    let caller = callers.identify(peer, site, client, request.headers())?;
    request.extensions_mut().insert(Arc::new(caller));
    Ok(request)
}

impl Callers {
    pub(super) fn new(state: Arc<HttpState>) -> Self {
        Self {
            state,
            apps: Mutex::default(),
        }
    }

    /// The site of a path that this client may see: another is as if it were not there.
    fn site(
        &self,
        name: Option<&str>,
        client: Option<&ClientRecord>,
    ) -> Result<Arc<Site>, HttpRefusal> {
        let sites = &self.state.sites;
        let admits = |site: &Arc<Site>| client.is_none_or(|client| client.sees(site, sites));
        if let Some(site) = sites.find(name).filter(admits) {
            return Ok(site);
        }
        let all = sites.all();
        let mut own = all.iter().filter(|site| admits(site));
        Err(HttpRefusal::not_found(match (own.next(), own.next()) {
            (None, _) => NO_SITE,
            // A caller with one site alone need not name it.
            (Some(one), None) if name.is_none() => return Ok(Arc::clone(one)),
            _ if name.is_some() => "there is no such site for this caller",
            _ => "which site is not clear; call /mcp/NAME with the name of a site",
        }))
    }

    fn identify(
        self: &Arc<Self>,
        peer: SocketAddr,
        site: Arc<Site>,
        client: Option<Arc<ClientRecord>>,
        headers: &HeaderMap,
    ) -> Result<HttpCaller, HttpRefusal> {
        let settings = self.state.settings();
        let (apps, app) = self.apps(&site);
        let name = client.as_ref().map_or(UNNAMED, |client| &client.identity);
        let named = client.as_ref().map(|client| client.subject());
        if let Some(key) = headers.get(CALLER_KEY).and_then(|key| key.to_str().ok())
            && let Some(why) = misplaced(key, settings.oauth.as_deref())
        {
            return Err(HttpRefusal::bad_request(why));
        }
        let own = own_key(&apps, name, headers, settings.has_caller_keys)?;
        let later = PresentCaller {
            callers: Arc::downgrade(self),
            site: Arc::downgrade(&site),
            client: client.as_ref().map(|client| client.id),
            key: own.as_ref().map(|(_, key)| key.clone()),
        };
        let (app, owner, subject) = match own {
            None => (app, name.to_owned(), named),
            Some((app, key)) => {
                let digest = format!("key:{}", key.get(..12).unwrap_or(&key));
                let subject = named.map_or(digest.clone(), |named| format!("{named}/{digest}"));
                (app, format!("{name}/{key}"), Some(subject))
            }
        };
        let app = apps.within(client.as_deref(), app);
        // A delegate of a caller with a key of its own would need that key. One that was made before
        // callers needed keys is held to its bounds.
        let delegations = match (&self.state.clients, &client) {
            (Some(clients), Some(client)) if client.bond.is_some() || !settings.has_caller_keys => {
                let own = Delegations::new(clients, client, &site, &token::bearer(headers));
                Some(Arc::new(own))
            }
            _ => None,
        };
        // A session is one site's alone, on every server that serves it, and not another wiki's that comes
        // later under its name.
        let owner = format!("{} {owner}", site.identity());
        let session = headers.get(SESSION);
        let session = session.map(|id| id.to_str().unwrap_or_default().to_owned());
        let address = origin_of(peer.ip(), headers, &settings.trusted_proxies);
        let rate = client.as_ref().and_then(|client| client.may.rate);
        let called_in = session_id(&owner, session.as_deref(), client.as_deref());
        let mut context = CallerContext {
            client,
            subject,
            address: Some(address.to_string()),
            family: delegations.clone().map(|own| -> Arc<dyn Family> { own }),
            review: page_host::url_for(&self.state, peer, headers),
            later: Some(Arc::new(later)),
            ..CallerContext::alone(app, called_in)
        };
        let (callers, own, of_session) = (Arc::clone(self), context.clone(), session.clone());
        let (number, has_own_key) = (site.number, settings.has_caller_keys);
        context.sites = Some(Directory::new(context.clone(), move || {
            // Its key is of one wiki and goes to no other.
            if has_own_key {
                return Vec::new();
            }
            callers.elsewhere(
                (&own, number),
                of_session.as_deref(),
                delegations.as_deref(),
            )
        }));
        Ok(HttpCaller {
            rate: rate.unwrap_or(u32::MAX).min(settings.rate),
            context,
            site,
            owner,
            session,
        })
    }

    /// The apps of a site's callers, with the app that is in force.
    fn apps(&self, site: &Site) -> (Arc<Apps>, Arc<App>) {
        let app = site.app();
        let mut apps = self.apps.lock();
        if apps.len() > MOST_APPS {
            // Of sites that were removed.
            let all = self.state.sites.all();
            apps.retain(|number, _| all.iter().any(|site| site.number == *number));
        }
        let new = || Arc::new(Apps::new(Arc::clone(&app), self.state.limits.keys));
        let own = Arc::clone(apps.entry(site.number).or_insert_with(new));
        drop(apps);
        let app = own.follow(app);
        (own, app)
    }

    /// A caller at the other sites that its client sees.
    fn elsewhere(
        &self,
        (own, site): (&CallerContext, u64),
        session: Option<&str>,
        delegations: Option<&Delegations>,
    ) -> Vec<CallerContext> {
        let (sites, client) = (&self.state.sites, own.client.as_deref());
        let is_other = |other: &&Arc<Site>| {
            other.number != site && client.is_none_or(|client| client.sees(other, sites))
        };
        let at = |site: &Arc<Site>| {
            let (apps, app) = self.apps(site);
            let name = client.map_or(UNNAMED, |client| &client.identity);
            let owner = format!("{} {name}", site.identity());
            let family = delegations.map(|own| own.on(site));
            CallerContext {
                app: apps.within(client, app),
                session: session_id(&owner, session, client),
                family: family.map(|own| -> Arc<dyn Family> { Arc::new(own) }),
                ..own.clone()
            }
        };
        sites.all().iter().filter(is_other).map(at).collect()
    }
}

/// The reason why a text is another secret than a key of the wiki, and must not go there.
fn misplaced(key: &str, oauth: Option<&OauthSettings>) -> Option<&'static str> {
    if oauth.is_some_and(|oauth| is_of_issuer(key, &oauth.issuer)) {
        return Some(
            "X-Wiki-Api-Token holds a token of the issuer, which goes into Authorization and never to the wiki; it takes a key of the wiki",
        );
    }
    let is_ours = key.starts_with(TOKEN_PREFIX) || key.starts_with(LINK_PREFIX);
    is_ours.then_some(
        "X-Wiki-Api-Token holds a secret of this server, which never goes to the wiki; a client's token goes into Authorization, and a key of the wiki here",
    )
}

/// The app of the caller's own key of the wiki, and a word that tells keys apart; `None` where
/// callers bring no keys.
fn own_key(
    apps: &Apps,
    client: &str,
    headers: &HeaderMap,
    is_needed: bool,
) -> Result<Option<(Arc<App>, String)>, HttpRefusal> {
    match (is_needed, headers.get(CALLER_KEY)) {
        (false, None) => Ok(None),
        (true, Some(key)) => {
            let known = key.to_str().ok().and_then(|key| apps.for_key(client, key));
            let refusal = HttpRefusal::bad_request(
                "X-Wiki-Api-Token holds no key of the wiki: it takes the key alone, without Bearer, spaces or quotes, and 4 kB at most",
            );
            known.map(Some).ok_or(refusal)
        }
        // Not 401: clients would sign in again, and that brings no key of the wiki.
        (true, None) => Err(HttpRefusal::bad_request(
            "this server needs each caller's own key of the wiki, in X-Wiki-Api-Token",
        )),
        (false, Some(_)) => Err(HttpRefusal::bad_request(
            "this server takes no keys of callers; leave X-Wiki-Api-Token out",
        )),
    }
}

/// The session of a call. Whose it is does not depend on the key, since each key has its own previews
/// anyway.
fn session_id(owner: &str, session: Option<&str>, client: Option<&ClientRecord>) -> SessionId {
    let id = match session {
        Some(id) => SessionId::new(format!("{owner}/{id}")),
        None => SessionId::fleeting(owner),
    };
    match client {
        Some(client) => id.of_client(client.counted().identity.as_str()),
        None => id.owned_by(UNNAMED),
    }
}
