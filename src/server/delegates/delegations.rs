//! A named client and its delegates: what it hands on, and what holds for it as a delegate.

use std::sync::{Arc, Weak};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use secrecy::SecretString;

use super::super::clients::client_record::ClientRecord;
use super::super::clients::registry::ClientRegistry;
use super::super::clients::secret::{ClientToken, digest};
use super::super::site::Site;
use super::delegate::{DelegateEndReason, DelegateRecord};
use super::ends::{client_of, entry, settle, unrecorded};
use super::faults::{failed, has_ended, invalid};
use super::live::LiveDelegate;
use super::request::{grant, in_words, tools};
use crate::audit::Client;
use crate::error::Failure;
use crate::site::SiteName;
use crate::store::blocking;
use crate::write::{Child, DelegateSpec, Delegated, EndedDelegate, Family, WriteContext, denied};

/// The tool that makes delegates.
const TOOL: &str = "wikijs_delegate";

/// A named client and its delegates.
#[derive(Debug)]
pub(in crate::server) struct Delegations {
    clients: Arc<ClientRegistry>,
    client: Arc<ClientRecord>,
    /// The site of the call. Weak, since a site knows the callers that it tells of changed tools.
    site: Weak<Site>,
    /// The digest of the token of the call.
    by: String,
}

impl Delegations {
    pub(in crate::server) fn new(
        clients: &Arc<ClientRegistry>,
        client: &Arc<ClientRecord>,
        site: &Arc<Site>,
        token: &str,
    ) -> Self {
        Self {
            clients: Arc::clone(clients),
            client: Arc::clone(client),
            site: Arc::downgrade(site),
            by: digest(token),
        }
    }

    /// The same client on another site.
    pub(in crate::server) fn on(&self, site: &Arc<Site>) -> Self {
        Self {
            clients: Arc::clone(&self.clients),
            client: Arc::clone(&self.client),
            site: Arc::downgrade(site),
            by: self.by.clone(),
        }
    }

    /// The delegates of this client on this site.
    fn is_own(&self, line: &DelegateRecord) -> bool {
        let site = self.site.upgrade();
        let name = site.as_ref().and_then(|site| site.name());
        line.parent() == Some(self.client.id)
            && site.is_some()
            && line.site.as_deref() == name.map(SiteName::as_str)
    }

    async fn take_of(&self, changes: usize) -> Result<(), Failure> {
        if self.client.bond.is_none() {
            return Ok(());
        }
        let member = self.clients.delegate(&self.by).await?;
        member.standing().ok_or_else(has_ended)?;
        if changes == 0 {
            return Ok(());
        }
        let changes = u32::try_from(changes).unwrap_or(u32::MAX);
        let (delegates, own) = (self.clients.delegates.clone(), self.by.clone());
        Ok(blocking(move || delegates.take(&own, changes)).await?)
    }

    async fn make(
        &self,
        client: &Client,
        desk: &WriteContext,
        wanted: DelegateSpec,
    ) -> Result<Delegated, Failure> {
        let site = self.site.upgrade();
        let site = site.ok_or_else(|| denied("This site is gone.", "not_named"))?;
        // As it is at this moment.
        let maker = self.clients.by_id(self.client.id);
        let maker = maker.filter(|maker| maker.backs(&self.by));
        // The token of the call bounds what a person hands on.
        let maker = maker.map(|maker| match maker.person {
            Some(_) => Arc::clone(&self.client),
            None => maker,
        });
        let maker = maker.ok_or_else(|| denied("This client was revoked.", "ended"))?;
        let tools = tools(&site.app().registry(), &maker, &wanted)?;
        let (may, prefixes) = grant(&maker, &wanted, &tools)?;
        let token = ClientToken::new().map_err(|_| failed("The system gave no random numbers."))?;
        let by = (maker.id, &*maker.name, &*self.by);
        let mut line = DelegateRecord::new(&token, by, &wanted.task, may)
            .map_err(|fault| invalid("task", &fault))?;
        line.site = site.name().map(ToString::to_string);
        line.writes = wanted.writes;
        let (delegates, kept) = (self.clients.delegates.clone(), line.clone());
        blocking(move || delegates.add(&kept)).await?;
        let mut entry = entry(&line, "made")?;
        entry.client = Some(Client {
            name: client.name.clone(),
            version: client.version.clone(),
            address: client.address.clone(),
            ..client_of(&line)
        });
        entry.tool = Some(TOOL.to_owned());
        entry.reason = Some(in_words(&line));
        entry.note = Some(line.task().to_owned());
        if let Err(error) = desk.audit().record(entry).await {
            // Nobody has its token.
            let delegates = self.clients.delegates.clone();
            blocking(move || delegates.remove(line.digest())).await?;
            return Err(unrecorded(&error));
        }
        self.clients.family().await;
        Ok(Delegated {
            name: line.name(),
            expires: line.may().expires.clone().unwrap_or_default(),
            prefixes,
            tools,
            token: SecretString::from(token.reveal()),
        })
    }

    async fn end_one(&self, desk: &WriteContext, name: &str) -> Result<EndedDelegate, Failure> {
        let own = |member: &LiveDelegate| self.is_own(&member.line) && member.line.name() == name;
        let member = self.clients.family().await.into_iter().find(own);
        let member =
            member.ok_or_else(|| invalid("delegate", "names no delegate of this client"))?;
        // One whose time is up was ended by that.
        let why = member.end_reason().unwrap_or(DelegateEndReason::Ended);
        let delegates = self.clients.delegates.clone();
        let ended = blocking(move || delegates.end(member.line.digest(), why)).await?;
        let handed = settle(&self.clients, desk, &ended).await;
        Ok(EndedDelegate {
            delegate: ended.name(),
            writes_used: ended.used,
            memories: u32::try_from(handed).unwrap_or(u32::MAX),
        })
    }
}

impl Family for Delegations {
    fn is_delegate(&self) -> bool {
        self.client.bond.is_some()
    }

    fn left(&self) -> BoxFuture<'_, Option<u32>> {
        async move {
            self.client.bond.as_ref()?;
            let member = self.clients.delegate(&self.by).await.ok()?;
            let (used, writes) = member.line.writes();
            Some(writes.saturating_sub(used))
        }
        .boxed()
    }

    fn children(&self) -> BoxFuture<'_, Vec<Child>> {
        let child = |member: LiveDelegate| {
            let line = &member.line;
            let (writes_used, writes) = line.writes();
            Child {
                delegate: line.name(),
                task: line.task().to_owned(),
                expires_at: line.may().expires.clone().unwrap_or_default(),
                writes_used,
                writes,
            }
        };
        async move {
            let family = self.clients.family().await.into_iter();
            let own = family.filter(|it| self.is_own(&it.line) && it.standing().is_some());
            own.map(child).collect()
        }
        .boxed()
    }

    fn take(&self, changes: usize) -> BoxFuture<'_, Result<(), Failure>> {
        self.take_of(changes).boxed()
    }

    fn delegate<'a>(
        &'a self,
        client: &'a Client,
        desk: &'a WriteContext,
        wanted: DelegateSpec,
    ) -> BoxFuture<'a, Result<Delegated, Failure>> {
        self.make(client, desk, wanted).boxed()
    }

    fn end<'a>(
        &'a self,
        desk: &'a WriteContext,
        delegate: &'a str,
    ) -> BoxFuture<'a, Result<EndedDelegate, Failure>> {
        self.end_one(desk, delegate).boxed()
    }
}
