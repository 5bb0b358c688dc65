//! Lists the tools where no wiki is set, and answers each call with the settings that are missing.

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};

use super::mcp::{methods, result};
use crate::config::{CommandLineSettings, Indent, Layers};
use crate::error::{Code, Failure};
use crate::tools::{Registry, SessionTools, ToolDefinition, is_of_delegation};
use crate::words::joined;

/// The hint once the settings are there.
const RESTART: &str = "Tell the user to start this server again, as by reconnecting it in the client: its settings are there now.";

/// Answers a connection of a server that has no wiki: it holds no key, opens no log, sends nothing.
#[derive(Debug)]
pub(super) struct WithoutWiki {
    pub(super) tools: Registry,
    pub(super) missing: Vec<&'static str>,
    /// The command line, by which its settings file is found.
    pub(super) given: CommandLineSettings,
}

impl WithoutWiki {
    /// The tools that a server on these settings has for the only client of its stdin.
    fn offered(&self) -> Vec<&ToolDefinition> {
        // Whether its reads are bounded is known with the wiki.
        let is_open = |tool: &&ToolDefinition| {
            let custom = tool.custom.as_ref();
            custom.is_none_or(|custom| !custom.is_for_open_reads)
        };
        let tools = self.tools.definitions().filter(is_open);
        tools.filter(|tool| !is_of_delegation(tool)).collect()
    }

    /// The answer to every call, by the settings as they are now.
    fn failure(&self) -> Failure {
        if Layers::load(&self.given).is_ok_and(|layers| layers.name_a_wiki()) {
            let told = "This server was started before its wiki was set.";
            return Failure::new(Code::NotConfigured, told).hint(RESTART);
        }
        Failure::new(Code::NotConfigured, self.told()).detail("missing", self.missing.clone())
    }

    fn told(&self) -> String {
        let missing = joined(&self.missing, "and");
        format!("This server has no wiki yet: {missing} must be set.")
    }
}

impl ServerHandler for WithoutWiki {
    fn get_info(&self) -> ServerConfig {
        let told = format!("{} {}", self.told(), Code::NotConfigured.hint());
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(methods::server_info())
            .with_instructions(told)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.offered();
        let offered = SessionTools::new(tools.iter().map(|tool| tool.name));
        let told = tools.iter().map(|tool| offered.definition(tool));
        let told = told.map(|tool| result::tool(&tool)).collect();
        Ok(ListToolsResult::with_all_items(told))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self.offered().iter().any(|tool| tool.name == request.name) {
            let name = methods::printable(&request.name);
            return Err(ErrorData::invalid_params(
                format!("unknown tool: {name}"),
                None,
            ));
        }
        Ok(result::failure(&self.failure(), Indent::default()).into())
    }
}
