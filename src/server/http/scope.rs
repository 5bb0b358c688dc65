//! Refuses calls for which a person's token lacks a scope that their grant would allow them to use.

use serde::Deserialize;

use super::caller::HttpCaller;
use super::refusal::HttpRefusal;
use crate::tools::{ToolDefinition, name_at};

/// The part of a message that names a tool.
#[derive(Deserialize)]
struct ToolCall {
    method: String,
    params: CalledTool,
}

#[derive(Deserialize)]
struct CalledTool {
    name: String,
}

/// Refuses a call of a tool that writes, where the token lacks the scope for it. The tools are not
/// offered with such a token either: this tells its client which scope to ask for.
pub(super) fn check(caller: &HttpCaller, message: &[u8]) -> Result<(), HttpRefusal> {
    let person = caller.client.as_ref().and_then(|it| it.person.as_ref());
    if !person.is_some_and(|person| person.lacks.write) {
        return Ok(());
    }
    // What is no message is for rmcp to refuse.
    let Ok(call) = serde_json::from_slice::<ToolCall>(message) else {
        return Ok(());
    };
    let registry = caller.context.app.registry();
    let is_it = |tool: &ToolDefinition| {
        let site = caller.site.name();
        tool.name == call.params.name
            || site.is_some_and(|site| name_at(site, tool.name) == call.params.name)
    };
    let mut named = registry.definitions().filter(|tool| is_it(tool));
    if call.method == "tools/call" && named.any(ToolDefinition::can_write) {
        return Err(HttpRefusal::lacking_scope(true));
    }
    Ok(())
}
