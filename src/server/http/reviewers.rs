//! Lets reviewers and auditors into the review page, by the file of named clients and by what an issuer
//! says of people.

use std::sync::Arc;

use parking_lot::Mutex;

use super::super::clients::client_record::ClientRecord;
use super::super::clients::registry::ClientRegistry;
use super::super::{App, Site};
use super::caller::NO_SITE;
use super::people::People;
use super::state::HttpState;
use crate::audit::{Actor, Client, Role};
use crate::gates::{PolicyLevel, SessionId};
use crate::review::{Authenticator, IssuerDoor, Reviewer, SignInRecord, SignedOut, WikiHandle};
use crate::site::SiteName;
use crate::write::Caller;

/// For how many of them what their decisions are made with is kept.
const MOST_BENCHES: usize = 32;

/// A client, its site's app, and the handle for its decisions there.
type ReviewerAccess = (Arc<ClientRecord>, Arc<App>, WikiHandle);

/// The doors of a server's review page.
pub(super) struct Reviewers {
    state: Arc<HttpState>,
    people: People,
    /// The handles for decisions, the one used last at the end; a client that was read anew has
    /// another, and so has a site whose settings changed.
    benches: Mutex<Vec<ReviewerAccess>>,
}

impl Reviewers {
    /// Those of a server.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub(super) fn new(
        state: Arc<HttpState>,
        clients: Arc<ClientRegistry>,
    ) -> Result<Self, getrandom::Error> {
        Ok(Self {
            people: People::new(Arc::clone(&state), clients)?,
            state,
            benches: Mutex::new(Vec::new()),
        })
    }

    /// A client as a reviewer of the site of this name, or of the first that they see.
    fn reviewer(&self, client: &Arc<ClientRecord>, site: Option<&str>) -> Option<Reviewer> {
        let may_decide = match client.role {
            Role::Reviewer => true,
            Role::Auditor => false,
            Role::Agent | Role::Metrics => return None,
        };
        let sites = &self.state.sites;
        let all = sites.all();
        let seen = || all.iter().filter(|site| client.sees(site, sites));
        let is_asked =
            |one: &&Arc<Site>| site.is_some() && one.name().map(SiteName::as_str) == site;
        let site = seen().find(is_asked).or_else(|| seen().next())?;
        let app = site.app();
        let bench = self.bench(client, &app);
        let is_dry_run = bench.desk.policy().writes.level() == PolicyLevel::DryRun;
        Some(Reviewer {
            name: client.name.clone(),
            site: site.name().cloned(),
            sites: seen().filter_map(|site| site.name().cloned()).collect(),
            may_decide,
            may_apply: may_decide && !is_dry_run,
            sees_all: client.role == Role::Auditor,
            decides_own: client
                .person
                .as_ref()
                .is_some_and(|person| person.decides_own),
            notice: None,
            prefixes: client.narrowing().prefixes.clone(),
            bench,
            caller: caller(client),
        })
    }

    fn bench(&self, client: &Arc<ClientRecord>, app: &Arc<App>) -> WikiHandle {
        let mut benches = self.benches.lock();
        let known = benches
            .iter()
            .position(|(own, of, _)| is_same(own, client) && Arc::ptr_eq(of, app));
        let (own, of, bench) = if let Some(at) = known {
            benches.remove(at)
        } else {
            let bench = app.bench_for(client.narrowing(), client.may.may_apply_in_dry_run);
            (Arc::clone(client), Arc::clone(app), bench)
        };
        if benches.len() >= MOST_BENCHES {
            benches.remove(0);
        }
        benches.push((own, of, bench.clone()));
        bench
    }
}

/// True if two readings of a client let it do the same: a person's is made anew for each request.
fn is_same(one: &Arc<ClientRecord>, other: &Arc<ClientRecord>) -> bool {
    let is_same_person =
        one.person.is_some() && (one.id, one.role, &one.may) == (other.id, other.role, &other.may);
    Arc::ptr_eq(one, other) || is_same_person
}

#[async_trait::async_trait]
impl Authenticator for Reviewers {
    async fn still(
        &self,
        of: (&str, &SignInRecord),
        site: Option<&str>,
    ) -> Result<Reviewer, SignedOut> {
        let (client, notice) = self.people.standing(of).await?;
        let reviewer = self.reviewer(&client, site);
        let reviewer = reviewer
            .ok_or_else(|| SignedOut::Because(format!("You may not come in: {NO_SITE}.")))?;
        Ok(Reviewer { notice, ..reviewer })
    }

    fn issuer(&self) -> Option<&dyn IssuerDoor> {
        let door: &dyn IssuerDoor = &self.people;
        self.people.settings().map(|_| door)
    }
}

/// The caller of a reviewer's decisions: their place on record, and the limits beyond the server's.
fn caller(client: &ClientRecord) -> Caller {
    let page = Client {
        name: "wikijs-gate".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        id: Some(client.id),
        role: Some(client.role),
        subject: Some(client.name.clone()),
        person: client.person().cloned(),
        ..Client::default()
    };
    let session = SessionId::new(format!("review:{}", client.id));
    Caller {
        actor: Some(Actor::signed_in(client.role, &client.name, client.id)),
        ..Caller::new("review", page, session)
    }
}
