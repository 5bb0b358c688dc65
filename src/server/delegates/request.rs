//! Checks the tools, places and grant that a maker hands on against its own.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::super::clients::client_record::ClientRecord;
use super::delegate::DelegateRecord;
use super::faults::invalid;
use crate::error::Failure;
use crate::gates::{Grant, Policy};
use crate::page::Prefix;
use crate::tools::{Registry, ToolDefinition, fits, is_of_delegation};
use crate::write::{DelegateKind, DelegateSpec, DelegateWrites, denied};

/// The tools of a delegate, and whether each writes.
pub(in crate::server) fn tools(
    registry: &Registry,
    maker: &ClientRecord,
    wanted: &DelegateSpec,
) -> Result<Vec<(String, bool)>, Failure> {
    let offered: Vec<&ToolDefinition> = registry
        .definitions()
        .filter(|tool| maker.rights.offers(tool) && !is_of_delegation(tool))
        .collect();
    for name in wanted.tools.iter().flatten() {
        let Some(tool) = offered.iter().find(|tool| tool.name == *name) else {
            return Err(invalid(
                "tools",
                "names a tool that you do not have, or cannot hand on",
            ));
        };
        if !fits(wanted.kind, tool) {
            let kind = wanted.kind.as_str();
            return Err(invalid(
                "tools",
                &format!("{name} is not for the kind {kind}; take the kind custom"),
            ));
        }
    }
    if wanted.kind == DelegateKind::Custom && wanted.tools.is_none() {
        return Err(invalid("tools", "must name the tools of the kind custom"));
    }
    let is_wanted = |tool: &ToolDefinition| {
        let own = wanted.tools.as_ref();
        own.is_none_or(|own| own.iter().any(|name| name == tool.name))
    };
    let all: Vec<(String, bool)> = offered
        .iter()
        .filter(|tool| fits(wanted.kind, tool) && is_wanted(tool))
        .map(|tool| (tool.name.to_owned(), tool.can_write()))
        .collect();
    if wanted.kind == DelegateKind::Writer && !all.iter().any(|(_, can_write)| *can_write) {
        return Err(denied(
            "You have no tool that writes, so you delegate reading alone.",
            "read_only",
        ));
    }
    if all.is_empty() {
        return Err(denied(
            "You have no tool that could be handed on.",
            "no_tools",
        ));
    }
    Ok(all)
}

/// Refuses a prefix at which the maker itself has nothing to do.
pub(in crate::server) fn check_places(
    policy: &Policy,
    maker: &ClientRecord,
    wanted: &DelegateSpec,
    can_write: bool,
) -> Result<(), Failure> {
    let reads = maker.narrowing().reads.allowed();
    let writes = policy.allowed.as_deref().filter(|_| can_write);
    for text in wanted.prefixes.iter().flatten() {
        let prefix = Prefix::parse(text).map_err(|fault| invalid("prefixes", &fault))?;
        let is_outside = |all: &[Prefix]| all.iter().all(|one| one.and(&prefix).is_none());
        if [reads, writes].into_iter().flatten().any(is_outside) {
            return Err(invalid(
                "prefixes",
                "names a path outside of those that you have",
            ));
        }
    }
    Ok(())
}

/// The grant of a delegate; its maker's limits are applied at each call.
pub(in crate::server) fn grant(
    maker: &ClientRecord,
    wanted: &DelegateSpec,
    tools: &[(String, bool)],
    can_write: bool,
) -> Grant {
    let minutes = time::Duration::minutes(wanted.minutes.into());
    let end = OffsetDateTime::now_utc() + minutes;
    let end = maker.expires.map_or(end, |makers| makers.min(end));
    let end = end.replace_nanosecond(0).unwrap_or(end);
    Grant {
        read_only: !can_write,
        tools: Some(tools.iter().map(|(name, _)| name.clone()).collect()),
        prefixes: wanted.prefixes.clone().filter(|_| can_write),
        read_prefixes: wanted.prefixes.clone(),
        dry_run: can_write && wanted.sets == DelegateWrites::LeftOpen,
        expires: end.format(&Rfc3339).ok(),
        ..Grant::default()
    }
}

/// A delegate's rights, in a sentence of our own.
pub(in crate::server) fn in_words(line: &DelegateRecord) -> String {
    let may = line.may();
    let below = may.prefixes.as_ref().or(may.read_prefixes.as_ref());
    let below = below.map_or_else(String::new, |all| format!(" below {}", all.join(" ")));
    let writes = match (may.read_only, may.dry_run, line.writes()) {
        (true, ..) => "reads".to_owned(),
        (_, true, (_, writes)) => format!("proposes {writes} changes"),
        (_, false, (_, writes)) => format!("writes {writes} changes"),
    };
    let until = may.expires.as_deref().unwrap_or_default();
    format!("{writes}{below} until {until}")
}
