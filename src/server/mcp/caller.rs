//! Holds a caller's identity and rights.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{Implementation, Tool};
use rmcp::service::{RequestContext, RoleServer};
use time::OffsetDateTime;

use super::super::app::App;
use super::result;
use crate::audit::{Client, ClientId, Proposal, Role};
use crate::error::Failure;
use crate::gates::{ClientLimits, SessionId};
use crate::tools::{SessionTools, ToolDefinition, is_of_delegation, may_see};
use crate::write::{Asker, Caller, Extent, Family};

/// The tools without which a session may not read pages as resources either.
const READ_PAGES: [&str; 2] = ["wikijs_get_page_by_path", "wikijs_get_page_by_id"];

/// A caller's identity and rights.
#[derive(Debug, Clone)]
pub(in crate::server) struct CallerContext {
    /// The app that answers: of the server's own key, or the caller's.
    pub(in crate::server) app: Arc<App>,
    /// The session that owns its previews and remembered reads.
    pub(in crate::server) session: SessionId,
    /// The named client that the caller was authenticated as.
    pub(in crate::server) client: Option<ClientIdentity>,
    /// The caller's authenticated identity: a name, its own key, or both.
    pub(in crate::server) subject: Option<String>,
    /// The address that the call came from.
    pub(in crate::server) address: Option<String>,
    /// The limits of a named client.
    pub(in crate::server) rights: Option<CallerRights>,
    /// The delegates of a named client, and its own limits as a delegate.
    pub(in crate::server) family: Option<Arc<dyn Family>>,
    /// URL at which it reaches the review page, if that is known from its request.
    pub(in crate::server) review: Option<Arc<str>>,
    /// Held as long as the call is under way, even if its client hung up.
    pub(in crate::server) _held: Option<Arc<dyn CallGuard>>,
}

/// A named client, as its calls know it.
#[derive(Debug, Clone)]
pub(in crate::server) struct ClientIdentity {
    pub(in crate::server) id: ClientId,
    pub(in crate::server) name: String,
    pub(in crate::server) role: Role,
    /// Time at which it ends, if it does.
    pub(in crate::server) ends: Option<OffsetDateTime>,
    /// The client that made it, if it is a delegate.
    pub(in crate::server) maker: Option<Maker>,
}

/// The maker of a delegate.
#[derive(Debug, Clone)]
pub(in crate::server) struct Maker {
    pub(in crate::server) id: ClientId,
    pub(in crate::server) name: String,
    /// The task of the delegate.
    pub(in crate::server) task: Arc<str>,
}

impl ClientIdentity {
    /// The name under which its calls are counted: its maker's, if it is a delegate.
    pub(in crate::server) fn counted(&self) -> &str {
        self.maker.as_ref().map_or(&self.name, |maker| &maker.name)
    }
}

/// The permits that a call holds.
pub(in crate::server) trait CallGuard: std::fmt::Debug + Send + Sync {}

/// The limits of a named client.
#[derive(Debug, Clone, Default)]
pub(in crate::server) struct CallerRights {
    /// The limits of its writes and reads.
    pub(in crate::server) narrowing: Arc<ClientLimits>,
    /// The only tools that it is offered.
    pub(in crate::server) tools: Option<Arc<[String]>>,
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
            rights: None,
            family: None,
            review: None,
            _held: None,
        }
    }

    /// The same for later calls: it holds nothing of this one.
    pub(in crate::server) fn lasting(&self) -> Self {
        Self {
            _held: None,
            ..self.clone()
        }
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
        let rights = self.rights.as_ref();
        rights.is_none_or(|rights| rights.offers(tool))
    }

    /// True if nothing bounds what this caller reads.
    fn reads_every_page(&self) -> bool {
        let own = self.rights.as_ref();
        self.app.wiki.scope().is_open() && own.is_none_or(|own| own.narrowing.reads.is_open())
    }

    /// The tools that are there for this caller: all that its `tools/list` has.
    pub(in crate::server) fn offered(&self) -> SessionTools {
        let registry = self.app.registry();
        let offered = registry.definitions().filter(|tool| self.offers(tool));
        SessionTools::of(offered.map(|tool| tool.name))
    }

    /// The definitions of those tools, as its `tools/list` has them.
    pub(in crate::server) fn listed(&self) -> Vec<Tool> {
        let (registry, offered) = (self.app.registry(), self.offered());
        let tools = registry.definitions().filter(|tool| offered.has(tool.name));
        tools
            .map(|tool| result::tool(&offered.definition(tool)))
            .collect()
    }

    /// Admits a client to resources if it may read pages by a tool.
    pub(in crate::server) fn may_read_resources(&self) -> Result<(), ErrorData> {
        let offered = self.offered();
        let may = READ_PAGES.iter().any(|tool| offered.has(tool));
        let refusal = || ErrorData::invalid_request("this client may not read pages", None);
        may.then_some(()).ok_or_else(refusal)
    }
}

impl CallerContext {
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
        Caller {
            tool,
            client: Client {
                id: self.client.as_ref().map(|client| client.id),
                role: self.client.as_ref().map(|client| client.role),
                subject: self.subject.clone(),
                address: self.address.clone(),
                parent: self
                    .client
                    .as_ref()
                    .and_then(|client| client.maker.as_ref())
                    .map(|maker| maker.id),
                ..client
            },
            actor: None,
            session: self.session.clone(),
            asker,
            narrowing: self
                .rights
                .as_ref()
                .map(|rights| Arc::clone(&rights.narrowing)),
            extent: Extent::Bounded,
            family: self.family.clone(),
            asked: None,
            note: None,
            review: self.review.clone(),
        }
    }

    /// The open proposals of a caller, oldest first.
    pub(in crate::server) async fn open_proposals(
        &self,
        caller: &Caller,
    ) -> Result<Vec<Proposal>, Failure> {
        let mut open = self.app.desk.proposals().all().await?;
        open.retain(|proposal| proposal.is_open() && may_see(caller, proposal));
        Ok(open)
    }
}

impl CallerRights {
    /// True if a tool is there for callers with these rights.
    pub(in crate::server) fn offers(&self, tool: &ToolDefinition) -> bool {
        (!tool.can_write() || !self.narrowing.is_read_only) && self.lists(tool.name)
    }

    fn lists(&self, tool: &str) -> bool {
        let tools = self.tools.as_deref();
        tools.is_none_or(|tools| tools.iter().any(|name| name == tool))
    }
}
