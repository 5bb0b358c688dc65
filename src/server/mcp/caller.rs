//! Holds a caller's identity and rights.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{Implementation, Tool};
use rmcp::service::{RequestContext, RoleServer};

use super::super::app::App;
use super::super::clients::client_record::ClientRecord;
use super::result;
use super::shared_questions::SharedQuestions;
use crate::audit::{Client, Proposal};
use crate::error::Result;
use crate::gates::{ClientLimits, SessionId};
use crate::site::SiteName;
use crate::tools::{SessionTools, ToolDefinition, is_of_delegation, may_see, name_at};
use crate::write::{Asker, Caller, Extent, Family, SiteDirectory};

/// The tools without which a session may not read pages as resources either.
const READ_PAGES: [&str; 2] = ["wikijs_get_page_by_path", "wikijs_get_page_by_id"];

/// The app that would answer the next call of a caller, and the caller as a client.
pub(in crate::server) type CallerNow = (Arc<App>, Option<Arc<ClientRecord>>);

/// Finds what holds for a caller between its calls, for what is told unasked.
pub(in crate::server) trait CallerLookup: Debug + Send + Sync {
    /// The caller's bounds at this moment; `None` if it may not call any more.
    fn now(&self) -> Option<CallerNow>;
}

/// A caller's identity and rights.
#[derive(Debug, Clone)]
pub(in crate::server) struct CallerContext {
    /// The app that answers: of the server's own key, or the caller's.
    pub(in crate::server) app: Arc<App>,
    /// The session that owns its previews and remembered reads.
    pub(in crate::server) session: SessionId,
    /// The named client that the caller was authenticated as.
    pub(in crate::server) client: Option<Arc<ClientRecord>>,
    /// The caller's authenticated identity: a name, its own key, or both.
    pub(in crate::server) subject: Option<String>,
    /// The address that the call came from.
    pub(in crate::server) address: Option<String>,
    /// The delegates of a named client, and its own limits as a delegate.
    pub(in crate::server) family: Option<Arc<dyn Family>>,
    /// The sites that it may see.
    pub(in crate::server) sites: Option<Arc<dyn SiteDirectory>>,
    /// The site whose name its tools have, if its client has several.
    pub(in crate::server) called: Option<SiteName>,
    /// Finds its bounds later; `None` if they stay as they are.
    pub(in crate::server) later: Option<Arc<dyn CallerLookup>>,
    /// URL at which it reaches the review page, if that is known from its request.
    pub(in crate::server) review: Option<Arc<str>>,
    /// Servers of which each may get what its person answers.
    pub(in crate::server) questions: Option<Arc<dyn SharedQuestions>>,
    /// Held as long as the call is under way, even if its client hung up.
    pub(in crate::server) _held: Option<Arc<dyn Any + Send + Sync>>,
}

impl CallerContext {
    /// The only client of a connection, as over stdio.
    pub(in crate::server) const fn alone(app: Arc<App>, session: SessionId) -> Self {
        Self {
            app,
            session,
            client: None,
            subject: None,
            address: None,
            family: None,
            sites: None,
            called: None,
            later: None,
            review: None,
            questions: None,
            _held: None,
        }
    }

    /// The same for later calls: it holds nothing of this one.
    pub(in crate::server) fn lasting(&self) -> Self {
        Self {
            _held: None,
            sites: None,
            ..self.clone()
        }
    }

    /// The same caller under what holds at this moment; `None` if it may not call any more.
    pub(in crate::server) fn now(&self) -> Option<Self> {
        let Some(later) = &self.later else {
            return Some(self.clone());
        };
        let (app, client) = later.now()?;
        Some(Self {
            app,
            client,
            ..self.clone()
        })
    }

    /// The same with what another app offers.
    pub(in crate::server) fn with_app(&self, app: Arc<App>) -> Self {
        Self {
            app,
            ..self.clone()
        }
    }

    /// True if a tool is there for this caller.
    pub(in crate::server) fn offers(&self, tool: &ToolDefinition) -> bool {
        if is_of_delegation(tool) && self.family.as_ref().is_none_or(|one| one.is_delegate()) {
            return false;
        }
        let custom = tool.custom.as_ref();
        if custom.is_some_and(|custom| custom.is_for_open_reads) && !self.reads_every_page() {
            return false;
        }
        let client = self.client.as_ref();
        client.is_none_or(|client| client.rights.offers(tool))
    }

    /// The limits of a named client's writes and reads.
    pub(in crate::server) fn narrowing(&self) -> Option<&Arc<ClientLimits>> {
        let client = self.client.as_ref();
        client.map(|client| &client.rights.narrowing)
    }

    /// True if nothing bounds what this caller reads.
    fn reads_every_page(&self) -> bool {
        let own = self.narrowing();
        self.app.wiki.scope().is_open() && own.is_none_or(|own| own.reads.is_open())
    }

    /// The tools that are there for this caller: all that its `tools/list` has.
    pub(in crate::server) fn offered(&self) -> SessionTools {
        let registry = self.app.registry();
        let offered = registry.definitions().filter(|tool| self.offers(tool));
        SessionTools::new(offered.map(|tool| tool.name)).called(self.called.clone())
    }

    /// The definitions of those tools, as its `tools/list` has them.
    pub(in crate::server) fn listed(&self) -> Vec<Tool> {
        let (registry, offered) = (self.app.registry(), self.offered());
        let tools = registry.definitions().filter(|tool| offered.has(tool.name));
        let listed = |tool: &ToolDefinition| {
            let mut listed = result::tool(&offered.definition(tool));
            if let Some(site) = &self.called {
                listed.name = name_at(site, tool.name).into();
                listed.title = Some(format!("{site}: {}", tool.title));
            }
            listed
        };
        tools.map(listed).collect()
    }

    /// Admits a client to resources if it may read pages by a tool.
    pub(in crate::server) fn may_read_resources(&self) -> Result<(), ErrorData> {
        let offered = self.offered();
        let may = READ_PAGES.iter().any(|tool| offered.has(tool));
        let refusal = || ErrorData::invalid_request("this client may not read pages", None);
        may.then_some(()).ok_or_else(refusal)
    }

    /// The caller of a tool, for writes and for the record.
    pub(in crate::server) fn caller(
        &self,
        tool: &'static str,
        asker: Asker,
        context: &RequestContext<RoleServer>,
    ) -> Caller {
        // Without a handshake the transport fills in its own name for the missing client's.
        let named = context
            .client_info()
            .filter(|info| *info != Implementation::default());
        let client = named.map_or_else(Client::default, |info| Client {
            name: info.name,
            version: info.version,
            ..Client::default()
        });
        let own = self.client.as_ref();
        let client = Client {
            id: own.map(|own| own.id),
            role: own.map(|own| own.role),
            subject: self.subject.clone(),
            address: self.address.clone(),
            parent: own.and_then(|own| Some(own.bond.as_ref()?.maker.id)),
            person: own.and_then(|own| own.person().cloned()),
            ..client
        };
        Caller {
            asker,
            narrowing: self.narrowing().cloned(),
            extent: Extent::Brief,
            family: self.family.clone(),
            sites: self.sites.clone(),
            review: self.review.clone(),
            ..Caller::new(tool, client, self.session.clone())
        }
    }

    /// The open proposals of a caller, oldest first.
    pub(in crate::server) async fn open_proposals(&self, caller: &Caller) -> Result<Vec<Proposal>> {
        let mut open = self.app.desk.proposals().all().await?;
        open.retain(|proposal| proposal.is_open() && may_see(caller, proposal));
        Ok(open)
    }
}
