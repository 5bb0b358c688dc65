//! The wikis that a server serves, each under the settings in force for it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock};
use rmcp::service::{Peer, RoleServer};
use tokio::sync::Notify;

use super::mcp::caller::CallerContext;
use super::{App, Unasked, mirroring};
use crate::gates::SessionId;
use crate::site::SiteName;

/// The most sessions and requests of one site that are told of changed tools.
const MOST_TOLD: usize = 1_024;

/// One wiki that is served. Its app changes with its settings; calls under way keep theirs.
#[derive(Debug)]
pub struct Site {
    /// Tells it from every other site of this process, also from a later one of its name.
    pub(super) number: u64,
    name: Option<SiteName>,
    app: RwLock<Arc<App>>,
    told: Mutex<Vec<ToolListener>>,
    /// True once its work in the background has begun.
    has_begun: AtomicBool,
}

/// A listener to changes of its tools.
#[derive(Debug)]
struct ToolListener {
    ear: Ear,
    visit: CallerContext,
}

/// The way to reach a listener.
#[derive(Debug, Clone)]
pub(super) enum Ear {
    /// A session, up to protocol 2025-11-25.
    Session(Peer<RoleServer>),
    /// A request that listens, from protocol 2026-07-28 on.
    Request(Weak<Notify>),
}

impl Ear {
    fn is_there(&self) -> bool {
        match self {
            Self::Session(peer) => !peer.is_transport_closed(),
            Self::Request(heard) => heard.strong_count() > 0,
        }
    }

    fn tell(&self) {
        match self {
            Self::Session(peer) => {
                let peer = peer.clone();
                // A client that is gone needs no news.
                tokio::spawn(async move { peer.notify_tool_list_changed().await });
            }
            Self::Request(heard) => {
                if let Some(heard) = heard.upgrade() {
                    heard.notify_one();
                }
            }
        }
    }
}

impl Site {
    /// A site; without a name for the wiki of no table.
    pub fn new(name: Option<SiteName>, app: impl Into<Arc<App>>) -> Arc<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self {
            number: MADE.fetch_add(1, Ordering::Relaxed),
            name,
            app: RwLock::new(app.into()),
            told: Mutex::default(),
            has_begun: AtomicBool::default(),
        })
    }

    /// Begins to settle what earlier runs left open, in the background, and looks at the wiki for its
    /// mirror from now on.
    pub(super) fn begin(self: &Arc<Self>) {
        self.app().desk.begin_recovery();
        if !self.has_begun.swap(true, Ordering::Relaxed) {
            let site = Arc::downgrade(self);
            let app = move || Some(site.upgrade()?.app());
            tokio::spawn(mirroring::keep_looking(app));
        }
    }

    /// Its name.
    pub const fn name(&self) -> Option<&SiteName> {
        self.name.as_ref()
    }

    /// Its name and its wiki's: the same on every server, and another one for a site of another wiki that
    /// comes later under its name.
    pub(super) fn identity(&self) -> String {
        let name = self.name.as_ref().map_or("", SiteName::as_str);
        format!("{name}@{}", self.app().desk.audit().wiki())
    }

    /// The app that answers its calls now.
    pub fn app(&self) -> Arc<App> {
        Arc::clone(&self.app.read())
    }

    /// Has a session told when its tools change.
    pub(super) fn tell(&self, peer: &Peer<RoleServer>, visit: &CallerContext) {
        self.add(Ear::Session(peer.clone()), visit);
    }

    /// The notification that wakes a request that listens when the tools of its caller change.
    pub(super) fn listen(&self, visit: &CallerContext) -> Arc<Notify> {
        let heard = Arc::new(Notify::new());
        self.add(Ear::Request(Arc::downgrade(&heard)), visit);
        heard
    }

    fn tell_client_of_many(&self, ear: &Ear, session: &SessionId) {
        let visit = CallerContext::alone(self.app(), session.clone());
        self.add(ear.clone(), &visit);
    }

    fn add(&self, ear: Ear, visit: &CallerContext) {
        let mut told = self.told.lock();
        told.retain(|one| one.ear.is_there());
        if told.len() < MOST_TOLD {
            told.push(ToolListener {
                ear,
                visit: visit.lasting(),
            });
        }
    }

    /// Answers calls with another app from now on, and tells those whose tools changed.
    pub(super) fn take(&self, app: &Arc<App>) {
        let old = std::mem::replace(&mut *self.app.write(), Arc::clone(app));
        let mut told = self.told.lock();
        told.retain(|one| one.ear.is_there());
        for one in &mut *told {
            let before = one.visit.with_app(Arc::clone(&old)).listed();
            // The old app must not outlive its calls.
            one.visit = one.visit.with_app(Arc::clone(app));
            if before != one.visit.listed() {
                one.ear.tell();
            }
        }
    }

    /// Tells those whose tools changed since what bounds their clients did.
    pub(super) fn follow_clients(&self) {
        let mut told = self.told.lock();
        told.retain(|one| one.ear.is_there());
        for one in &mut *told {
            // Whoever may not call any more learns it from the next call.
            let Some(now) = one.visit.now() else { continue };
            if now.listed() != one.visit.listed() {
                one.ear.tell();
            }
            one.visit = now;
        }
    }

    /// Asks the wiki again for what the operator's own queries wait for, and tells those whose
    /// tools changed.
    async fn ask_again(&self) -> Result<(), Unasked> {
        let app = self.app();
        if !app.own_tools.is_due() {
            return Ok(());
        }
        let listed = |told: &ToolListener| told.visit.listed();
        let before: Vec<_> = self.told.lock().iter().map(listed).collect();
        app.ask_schema().await?;
        let told = self.told.lock();
        for (place, one) in told.iter().enumerate() {
            // Whoever came meanwhile is told once too often.
            if before.get(place) != Some(&listed(one)) {
                one.ear.tell();
            }
        }
        Ok(())
    }
}

/// All wikis of a server.
#[derive(Debug)]
pub struct Sites {
    list: RwLock<SiteList>,
    /// Clients with all of them, and their sessions.
    told: Mutex<Vec<(Ear, SessionId)>>,
}

#[derive(Debug, Clone)]
struct SiteList {
    sites: Arc<[Arc<Site>]>,
    default: Option<SiteName>,
    /// The reason the present settings are not in force, if they are not.
    fault: Option<String>,
}

impl Sites {
    /// These sites; `default` is the one that is meant where none is named.
    pub fn new(sites: Vec<Arc<Site>>, default: Option<SiteName>) -> Arc<Self> {
        Arc::new(Self {
            list: RwLock::new(SiteList {
                sites: sites.into(),
                default,
                fault: None,
            }),
            told: Mutex::default(),
        })
    }

    /// The only wiki of a server.
    pub fn only(app: Arc<App>) -> Arc<Self> {
        Self::new(vec![Site::new(None, app)], None)
    }

    fn list(&self) -> SiteList {
        self.list.read().clone()
    }

    /// All of them.
    pub fn all(&self) -> Arc<[Arc<Site>]> {
        self.list().sites
    }

    /// The site of a name; without one, the wiki of no table, the default site, or the only one.
    pub fn find(&self, name: Option<&str>) -> Option<Arc<Site>> {
        let list = self.list();
        let named = |name: Option<&str>| {
            let is_it = |site: &&Arc<Site>| site.name().map(SiteName::as_str) == name;
            list.sites.iter().find(is_it).map(Arc::clone)
        };
        match (name, &*list.sites) {
            (Some(name), _) => named(Some(name)),
            (None, [one]) => Some(Arc::clone(one)),
            (None, _) => {
                named(None).or_else(|| named(Some(list.default.as_ref().map(SiteName::as_str)?)))
            }
        }
    }

    /// The reason the present settings are not in force, if they are not.
    pub fn fault(&self) -> Option<String> {
        self.list().fault
    }

    pub(super) fn set_fault(&self, fault: Option<String>) {
        self.list.write().fault = fault;
    }

    pub(super) fn set(&self, sites: Vec<Arc<Site>>, default: Option<SiteName>) {
        let mut list = self.list.write();
        let old = std::mem::replace(&mut list.sites, sites.into());
        list.default = default;
        let new = Arc::clone(&list.sites);
        drop(list);
        let is_in = |all: &[Arc<Site>], one: &Arc<Site>| all.iter().any(|it| Arc::ptr_eq(it, one));
        let came: Vec<_> = new.iter().filter(|one| !is_in(&old, one)).collect();
        let mut told = self.told.lock();
        told.retain(|(ear, _)| ear.is_there());
        if came.is_empty() && old.iter().all(|one| is_in(&new, one)) {
            return;
        }
        for (ear, session) in &*told {
            for site in &came {
                site.tell_client_of_many(ear, session);
            }
            ear.tell();
        }
    }

    /// Has a client with all sites told when its tools change, or sites come and go.
    pub(super) fn tell(&self, ear: &Ear, session: &SessionId) {
        let mut told = self.told.lock();
        told.retain(|(ear, _)| ear.is_there());
        if told.len() < MOST_TOLD {
            told.push((ear.clone(), session.clone()));
            let all = self.all();
            for site in all.iter() {
                site.tell_client_of_many(ear, session);
            }
        }
    }

    /// Begins to settle what earlier runs left open, in the background, and to look for the mirrors.
    pub fn begin_recovery(&self) {
        for site in self.all().iter() {
            site.begin();
        }
    }

    /// Asks wikis again for what the operator's own queries wait for; what is wrong with those, if
    /// it turned out now.
    pub(super) async fn ask_again(&self) -> Result<(), String> {
        for site in self.all().iter() {
            if let Err(Unasked::Wrong(fault)) = site.ask_again().await {
                return Err(fault);
            }
        }
        Ok(())
    }

    /// Begins no more writes and no more changes of sets under way.
    pub fn close(&self) {
        for site in self.all().iter() {
            site.app().writer.close();
        }
    }

    /// Waits for writes under way, then closes the logs; all sites at the same time.
    pub async fn finish(&self) {
        let all = self.all();
        let ends = all.iter().map(|site| {
            let app = site.app();
            async move { app.writer.finish().await }
        });
        futures_util::future::join_all(ends).await;
    }
}
