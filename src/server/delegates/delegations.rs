//! A client and its delegates: what it hands on, and what holds for it as a delegate.

use std::sync::{Arc, Weak};

use secrecy::SecretString;

use super::super::clients::client_record::ClientRecord;
use super::super::clients::registry::ClientRegistry;
use super::super::clients::secret::{ClientToken, digest};
use super::super::site::Site;
use super::delegate::{DelegateBasis, DelegateEndReason, DelegateRecord};
use super::ends::{client_of, entry, settle, unrecorded};
use super::faults::{has_ended, invalid};
use super::kept::{DelegatesError, KeptDelegates};
use super::live::{LiveDelegate, stdio_client, user_over_stdio};
use super::request::{grant, in_words, tools};
use super::serving::{ServerNotice, running};
use crate::audit::{CallId, Client, Role};
use crate::error::{Code, Failure, Result};
use crate::site::SiteName;
use crate::store::on;
use crate::write::{Child, DelegateSpec, Delegated, EndedDelegate, Family, WriteContext, denied};

/// The tool that makes delegates.
const TOOL: &str = "wikijs_delegate";

/// A client and its delegates.
#[derive(Debug, Clone)]
pub(in crate::server) struct Delegations {
    delegates: KeptDelegates,
    /// The named clients; `None` over stdio.
    clients: Option<Arc<ClientRegistry>>,
    client: Arc<ClientRecord>,
    /// The site of the call. Weak, since a site knows the callers that it tells of changed tools.
    site: Weak<Site>,
    /// The digest of the token of the call; empty over stdio.
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
            delegates: clients.delegates.clone(),
            clients: Some(Arc::clone(clients)),
            client: Arc::clone(client),
            site: Arc::downgrade(site),
            by: digest(token),
        }
    }

    /// The client of a connection over stdio, whose delegates call a server over HTTP on the same store.
    pub(in crate::server) fn over_stdio(site: &Arc<Site>) -> Self {
        Self {
            delegates: KeptDelegates::new(site.app().desk.audit().home()),
            clients: None,
            client: Arc::new(stdio_client(user_over_stdio(), site.name().cloned())),
            site: Arc::downgrade(site),
            by: String::new(),
        }
    }

    /// The same client on another site.
    pub(in crate::server) fn on(&self, site: &Arc<Site>) -> Self {
        Self {
            site: Arc::downgrade(site),
            ..self.clone()
        }
    }

    /// The delegates of this client on this site.
    fn is_own(&self, line: &DelegateRecord) -> bool {
        let Some(site) = self.site.upgrade() else {
            return false;
        };
        line.client.parent == Some(self.client.id)
            && line.site.as_deref() == site.name().map(SiteName::as_str)
            && line.is_of(site.app().desk.audit().wiki())
    }

    /// The client as it is at this moment.
    fn maker(&self, clients: &ClientRegistry) -> Result<Arc<ClientRecord>> {
        let maker = clients.by_id(self.client.id);
        let maker = maker.filter(|it| it.backs(&self.by) && it.role == Role::Agent);
        // The token of the call bounds what a person hands on.
        let maker = maker.map(|maker| match maker.person {
            Some(_) => Arc::clone(&self.client),
            None => maker,
        });
        maker.ok_or_else(|| {
            denied(
                "This client was revoked, or may not call tools any more.",
                "ended",
            )
        })
    }

    /// What bounds this client over stdio, and the address of a server where the same bounds hold.
    async fn server_for(&self, site: &Site) -> Result<(String, String)> {
        let store = self.delegates.store();
        let running = on(&store, |store| running(store).map_err(DelegatesError::from)).await?;
        let bounds = site.bounds();
        let name = site.name().map_or("", SiteName::as_str);
        let is_same = |one: &&ServerNotice| one.bounds.get(name) == Some(&bounds);
        if let Some(found) = running.iter().find(is_same) {
            let path = site
                .name()
                .map_or_else(String::new, |name| format!("/{name}"));
            return Ok((bounds, format!("{}/mcp{path}", found.address)));
        }
        let failure = match running.first() {
            Some(other) => denied(
                &format!(
                    "The server at {} has other settings, or another key, than this session: what bounds you here would not bound a delegate there.",
                    other.address
                ),
                "other_settings",
            ),
            None => denied(
                "No server over HTTP with named clients runs on the state of this session, so no server would take a delegate's token.",
                "no_server",
            ),
        };
        Err(failure.hint("Go on without a delegate, or ask the operator for a server over HTTP with the settings of this session."))
    }
}

#[async_trait::async_trait]
impl Family for Delegations {
    fn is_delegate(&self) -> bool {
        self.client.bond.is_some()
    }

    async fn left(&self) -> Option<u32> {
        self.client.bond.as_ref()?;
        let member = self.clients.as_ref()?.delegate(&self.by).await.ok()?;
        Some(member.line.writes.saturating_sub(member.line.used))
    }

    async fn children(&self) -> Vec<Child> {
        let Some(clients) = &self.clients else {
            return Vec::new();
        };
        let child = |member: LiveDelegate| {
            let line = &member.line;
            Child {
                delegate: line.name(),
                task: line.task.as_str().to_owned(),
                expires_at: line.client.may.expires.clone().unwrap_or_default(),
                writes_used: line.used,
                writes: line.writes,
            }
        };
        let family = clients.family().await.into_iter();
        let own = family.filter(|it| self.is_own(&it.line) && it.standing().is_some());
        own.map(child).collect()
    }

    async fn take(&self, changes: usize) -> Result<()> {
        let Some(clients) = &self.clients else {
            return Ok(());
        };
        if self.client.bond.is_none() {
            // What a person began with a token goes on after its end.
            let is_person = self.client.person.is_some();
            return if is_person {
                Ok(())
            } else {
                self.maker(clients).map(drop)
            };
        }
        let member = clients.delegate(&self.by).await?;
        member.standing().ok_or_else(has_ended)?;
        if changes == 0 {
            return Ok(());
        }
        let changes = u32::try_from(changes).unwrap_or(u32::MAX);
        let own = self.by.clone();
        let take = move |all: &KeptDelegates| all.take(&own, changes);
        Ok(self.delegates.on(take).await?)
    }

    async fn delegate(
        &self,
        client: &Client,
        desk: &WriteContext,
        wanted: DelegateSpec,
    ) -> Result<Delegated> {
        let site = self.site.upgrade();
        let site = site.ok_or_else(|| denied("This site is gone.", "not_named"))?;
        let (maker, basis, server) = if let Some(clients) = &self.clients {
            let basis = DelegateBasis::Token(self.by.clone());
            (self.maker(clients)?, basis, None)
        } else {
            let (bounds, server) = self.server_for(&site).await?;
            let basis = DelegateBasis::Bounds(bounds);
            (Arc::clone(&self.client), basis, Some(server))
        };
        let tools = tools(&site.app().registry(), &maker, &wanted)?;
        let (may, prefixes) = grant(&maker, &wanted, &tools)?;
        let no_token = "The system gave no random numbers.";
        let token = ClientToken::new().map_err(|_| Failure::new(Code::InternalError, no_token))?;
        let made = (maker.id, &*maker.name, basis);
        let mut line = DelegateRecord::new(&token, made, &wanted.task, may)
            .map_err(|fault| invalid("task", &fault))?;
        line.site = site.name().map(ToString::to_string);
        line.wiki = Some(desk.audit().wiki().to_owned());
        line.writes = wanted.writes;
        let kept = line.clone();
        self.delegates.on(move |all| all.add(&kept)).await?;
        let mut entry = entry(&line, "made")?;
        entry.client = Some(Client {
            name: client.name.clone(),
            version: client.version.clone(),
            address: client.address.clone(),
            ..client_of(&line)
        });
        entry.tool = Some(TOOL.to_owned());
        entry.reason = Some(in_words(&line));
        entry.note = Some(line.task.as_str().to_owned());
        if let Err(error) = desk.audit().record(entry).await {
            // Nobody has its token.
            let remove = move |all: &KeptDelegates| all.remove(line.digest());
            self.delegates.on(remove).await?;
            return Err(unrecorded(&error));
        }
        if let Some(clients) = &self.clients {
            clients.family().await;
        }
        Ok(Delegated {
            server,
            name: line.name(),
            expires: line.client.may.expires.clone().unwrap_or_default(),
            prefixes,
            tools,
            token: SecretString::from(token.reveal()),
        })
    }

    async fn end(&self, desk: &WriteContext, delegate: &str) -> Result<EndedDelegate> {
        let own = |line: &Arc<DelegateRecord>| self.is_own(line) && line.name() == delegate;
        let (all, _) = self.delegates.on(KeptDelegates::all).await?;
        let line = all.into_iter().find(own);
        let line = line.ok_or_else(|| invalid("delegate", "names no delegate of this client"))?;
        // One whose time is up was ended by that.
        let why = line.end_reason().unwrap_or(DelegateEndReason::Ended);
        let call = CallId::current_or_new()?;
        let end = move |all: &KeptDelegates| all.end(line.digest(), why, call);
        let ended = self.delegates.on(end).await?;
        // What fails now a server does later.
        let handed = settle(&self.delegates, desk, &ended).await.unwrap_or(0);
        Ok(EndedDelegate {
            delegate: ended.name(),
            writes_used: ended.used,
            memories: u32::try_from(handed).unwrap_or(u32::MAX),
        })
    }
}
