//! Lets reviewers and auditors into the review page, by the file of named clients.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use super::super::app::App;
use super::super::clients::client_record::ClientRecord;
use super::super::clients::registry::ClientRegistry;
use super::super::site::{Site, Sites};
use crate::audit::{Actor, Client, ClientId, Role};
use crate::gates::{PolicyLevel, SessionId};
use crate::review::{Authenticator, Reviewer, SignInId, WikiHandle};
use crate::site::SiteName;
use crate::write::{Asker, Caller, Extent};

/// For how many of them what their decisions are made with is kept.
const MOST_BENCHES: usize = 32;

/// A client, its site's app, and the handle for its decisions there.
type ReviewerAccess = (Arc<ClientRecord>, Arc<App>, WikiHandle);

/// The doors of a server's review page.
#[derive(Debug)]
pub(super) struct Reviewers {
    sites: Arc<Sites>,
    clients: Arc<ClientRegistry>,
    /// The handles for decisions, the one used last at the end; a client that was read anew has
    /// another, and so has a site whose settings changed.
    benches: Mutex<Vec<ReviewerAccess>>,
}

impl Reviewers {
    pub(super) const fn new(sites: Arc<Sites>, clients: Arc<ClientRegistry>) -> Self {
        Self {
            sites,
            clients,
            benches: Mutex::new(Vec::new()),
        }
    }

    /// A client as a reviewer of the site of this name, or of the first that they see.
    fn reviewer(&self, client: &Arc<ClientRecord>, site: Option<&str>) -> Option<Reviewer> {
        let may_decide = match client.role() {
            Role::Reviewer => true,
            Role::Auditor => false,
            Role::Agent | Role::Metrics => return None,
        };
        let all = self.sites.all();
        let seen = || all.iter().filter(|site| client.sees(site, &self.sites));
        let is_asked =
            |one: &&Arc<Site>| site.is_some() && one.name().map(SiteName::as_str) == site;
        let site = seen().find(is_asked).or_else(|| seen().next())?;
        let app = site.app();
        let bench = self.bench(client, &app);
        let is_dry_run = bench.desk.policy().writes().level() == PolicyLevel::DryRun;
        Some(Reviewer {
            id: SignInId {
                person: client.id().to_string(),
                link: client.links,
            },
            name: client.name().to_owned(),
            site: site.name().cloned(),
            sites: seen().filter_map(|site| site.name().cloned()).collect(),
            may_decide,
            may_apply: may_decide && !is_dry_run,
            sees_all: client.role() == Role::Auditor,
            prefixes: client.narrowing().prefixes.clone(),
            bench,
            caller: caller(client),
        })
    }

    fn bench(&self, client: &Arc<ClientRecord>, app: &Arc<App>) -> WikiHandle {
        let mut benches = self.benches.lock();
        let known = benches
            .iter()
            .position(|(own, of, _)| Arc::ptr_eq(own, client) && Arc::ptr_eq(of, app));
        let (own, of, bench) = if let Some(at) = known {
            benches.remove(at)
        } else {
            let may_apply_in_dry_run = client.may_apply_in_dry_run();
            let bench = app.bench_for(client.narrowing(), may_apply_in_dry_run);
            (Arc::clone(client), Arc::clone(app), bench)
        };
        if benches.len() >= MOST_BENCHES {
            benches.remove(0);
        }
        benches.push((own, of, bench.clone()));
        bench
    }
}

impl Authenticator for Reviewers {
    fn of_link(&self, secret: &str) -> Option<Reviewer> {
        let client = self.clients.of_link(secret)?;
        self.reviewer(&client, None)
    }

    fn take_link<'a>(&'a self, secret: &'a str) -> BoxFuture<'a, Option<Reviewer>> {
        async {
            let client = self.clients.sign_in(secret).await?;
            self.reviewer(&client, None)
        }
        .boxed()
    }

    fn still(&self, of: &SignInId, site: Option<&str>) -> Option<Reviewer> {
        let id: ClientId = of.person.parse().ok()?;
        let client = self.clients.by_id(id)?;
        (client.links == of.link).then(|| self.reviewer(&client, site))?
    }
}

/// The caller of a reviewer's decisions: their place on record, and the limits beyond the server's.
fn caller(client: &ClientRecord) -> Caller {
    Caller {
        tool: "review",
        client: Client {
            name: "wikijs-gate".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            id: Some(client.id()),
            subject: Some(client.name().to_owned()),
            ..Client::default()
        },
        actor: Some(Actor::signed_in(client.role(), client.name(), client.id())),
        session: SessionId::new(format!("review:{}", client.id())),
        asker: Asker::Nobody,
        narrowing: None,
        extent: Extent::Whole,
        proposes: false,
        family: None,
        sites: None,
        task: None,
        asked: None,
        note: None,
        review: None,
    }
}
