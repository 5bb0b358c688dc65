//! Checks the tools and places that a maker hands on against its own.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::super::clients::client_record::ClientRecord;
use super::delegate::DelegateRecord;
use super::faults::invalid;
use crate::error::Result;
use crate::gates::Grant;
use crate::page::Prefix;
use crate::tools::{Registry, ToolDefinition, is_of_delegation};
use crate::words::counted;
use crate::write::{DelegateSpec, denied};

/// The tools of a delegate: those of its maker that were asked for, and only those that read if it
/// makes no changes.
pub(in crate::server) fn tools(
    registry: &Registry,
    maker: &ClientRecord,
    wanted: &DelegateSpec,
) -> Result<Vec<String>> {
    let own: Vec<&ToolDefinition> = registry
        .definitions()
        .filter(|tool| maker.rights.offers(tool) && !is_of_delegation(tool))
        .collect();
    let (reads, names) = (wanted.writes == 0, wanted.tools.as_ref());
    for name in names.into_iter().flatten() {
        let Some(tool) = own.iter().find(|tool| tool.name == *name) else {
            let fault = format!("names {name}, which you do not have, or cannot hand on");
            return Err(invalid("tools", &fault));
        };
        if reads && tool.can_write() {
            let fault = "must be at least 1 for a tool that writes";
            return Err(invalid("writes", fault));
        }
    }
    let mut all = own;
    all.retain(|tool| {
        let is_wanted = names.is_none_or(|names| names.iter().any(|name| name == tool.name));
        is_wanted && !(reads && tool.can_write())
    });
    if all.is_empty() || !reads && !all.iter().any(|tool| tool.can_write()) {
        let message = "You have no tool for this that could be handed on.";
        return Err(denied(message, "no_tools"));
    }
    Ok(all.iter().map(|tool| tool.name.to_owned()).collect())
}

/// The grant of a delegate, and the prefixes that its maker's limits leave of its own.
pub(in crate::server) fn grant(
    maker: &ClientRecord,
    wanted: &DelegateSpec,
    tools: &[String],
) -> Result<(Grant, Option<Vec<String>>)> {
    let prefixes = wanted.prefixes.iter().flatten();
    let prefixes: Result<Vec<Prefix>, String> = prefixes.map(|text| Prefix::parse(text)).collect();
    let prefixes = prefixes.map_err(|fault| invalid("prefixes", &fault))?;
    // With such prefixes alone it would find nothing.
    let doubted = |prefix: &Prefix| Some(format!("has {prefix}, {}", prefix.doubt()?));
    let doubts: Option<Vec<String>> = prefixes.iter().map(doubted).collect();
    if let Some(doubt) = doubts.iter().flatten().next() {
        return Err(invalid("prefixes", doubt));
    }
    let minutes = time::Duration::minutes(wanted.minutes.into());
    let end = OffsetDateTime::now_utc() + minutes;
    let end = maker.expires.map_or(end, |makers| makers.min(end));
    let end = end.replace_nanosecond(0).unwrap_or(end);
    let reads = wanted.writes == 0;
    let may = Grant {
        read_only: reads,
        tools: Some(tools.to_vec()),
        prefixes: wanted.prefixes.clone().filter(|_| !reads),
        read_prefixes: wanted.prefixes.clone(),
        dry_run: !reads && !wanted.sends,
        expires: end.format(&Rfc3339).ok(),
        ..Grant::default()
    };
    let both = may.within(&maker.may);
    let both = both.map_err(|fault| invalid("prefixes", &fault))?;
    let left = if reads {
        both.read_prefixes
    } else {
        both.prefixes
    };
    if left.as_ref().is_some_and(Vec::is_empty) {
        return Err(invalid("prefixes", "names no path that you have"));
    }
    Ok((may, left))
}

/// A delegate's rights, in a sentence of our own.
pub(in crate::server) fn in_words(line: &DelegateRecord) -> String {
    let may = &line.client.may;
    let below = may.read_prefixes.as_ref();
    let below = below.map_or_else(String::new, |all| format!(" below {}", all.join(" ")));
    let writes = match (may.dry_run, line.writes) {
        (_, 0) => "reads".to_owned(),
        (true, writes) => format!("proposes {}", counted(writes, "change", "changes")),
        (false, writes) => format!("writes {}", counted(writes, "change", "changes")),
    };
    let until = may.expires.as_deref().unwrap_or_default();
    format!("{writes}{below} until {until}")
}
