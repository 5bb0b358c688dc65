//! Refuses calls for which a person's token lacks a scope that their grant would allow them to use.

use super::caller::HttpCaller;
use super::refusal::HttpRefusal;
use crate::tools::{ToolDefinition, name_at};

/// Refuses a call of a tool that writes, and to cancel the task of a write, where the token lacks the
/// scope for it. The tools are not offered with such a token either: this tells its client which scope
/// to ask for.
pub(super) fn check(caller: &HttpCaller, method: &str, name: &str) -> Result<(), HttpRefusal> {
    let client = caller.context.client.as_ref();
    let person = client.and_then(|it| it.person.as_ref());
    if !person.is_some_and(|person| person.lacks.write) {
        return Ok(());
    }
    let registry = caller.context.app.registry();
    let is_it = |tool: &ToolDefinition| {
        let site = caller.site.name();
        tool.name == name || site.is_some_and(|site| name_at(site, tool.name) == name)
    };
    let mut named = registry.definitions().filter(|tool| is_it(tool));
    let writes = match method {
        "tools/call" => named.any(ToolDefinition::can_write),
        "tasks/cancel" => true,
        _ => false,
    };
    if writes {
        return Err(HttpRefusal::lacking_scope(true));
    }
    Ok(())
}
