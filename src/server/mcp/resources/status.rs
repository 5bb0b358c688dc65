//! `wikijs://status`: what applies to the reading session, as JSON.

use std::time::Duration;

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::super::super::clients::client_record::ClientRecord;
use super::super::caller::CallerContext;
use super::super::session_rules::{IndexState, SessionRules, Writes};
use super::{BuiltInResource, ResourceReader};
use crate::error::Result;
use crate::gates::{StandingApproval, paused};
use crate::page::{PageReading, Prefix};
use crate::site::SiteName;
use crate::tools::{Toolset, without_nulls};
use crate::wiki::{Right, in_words};
use crate::write::Family;

/// Timeout for the wiki's report of the key's rights.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most open proposals that are named.
const MOST_PROPOSALS: usize = 20;

/// The resource.
pub(super) const STATUS: BuiltInResource = BuiltInResource {
    uri: "wikijs://status",
    name: "status",
    title: "Status of this session: what may be written, key, index, open proposals",
    mime_type: "application/json",
    text: None,
    about: None,
};

/// The status of a session.
pub(in crate::server) async fn status_of(reader: &ResourceReader<'_>) -> Result<Value> {
    let wiki = &reader.visit.app.wiki;
    // Asked first, so that the terms can use the answer.
    let standing = wiki.standing().await;
    let terms = SessionRules::new(reader.visit, reader.can_ask);
    let rights = tokio::time::timeout(PATIENCE, rights(reader, &terms)).await;
    let rights = rights.ok().flatten();
    let proposals = proposals(reader).await.inspect_err(|failure| {
        let code = failure.code.as_str();
        tracing::warn!(code, "the proposals could not be read");
    });
    let desk = &reader.visit.app.desk;
    let approvals = desk.standing_approvals(&reader.caller).await;
    let approvals =
        approvals.inspect_err(|error| tracing::warn!(%error, "the approvals could not be read"));
    let unread = [
        ("key.rights", rights.is_none()),
        ("proposals", proposals.is_err()),
        ("approvals", approvals.is_err()),
    ];
    let unread = unread.into_iter().filter(|(_, is_unread)| *is_unread);
    let (visit, settings, key) = (reader.visit, wiki.settings(), wiki.key());
    let standing = standing.or(terms.standing);
    let client = match &visit.client {
        Some(client) => Some(own_client(client, visit.family.as_deref()).await),
        None => None,
    };
    let status = json!({
        "summary": terms.sentence(),
        "site": visit.app.desk.audit().site().map(SiteName::to_string),
        "wiki": settings.base_url.as_str(),
        "defaultLocale": settings.default_locale.as_str(),
        "key": {
            "standing": standing.map_or("unknown", |it| it.as_str()),
            "expiresAt": key.expires.and_then(|at| at.format(&Rfc3339).ok()),
            "rights": rights,
        },
        "client": client,
        "writes": writes(&terms),
        "proposals": proposals.ok(),
        "approvals": if_any(approvals.iter().flatten().map(allowed).collect()),
        "index": index(terms.index),
        "customTools": custom_tools(visit),
        "unavailable": if_any(unread.map(|(name, _)| name).collect()),
    });
    Ok(without_nulls(status))
}

fn if_any<T>(all: Vec<T>) -> Option<Vec<T>> {
    (!all.is_empty()).then_some(all)
}

/// The key's rights at the last changed page, among the writable ones if there are any.
async fn rights(reader: &ResourceReader<'_>, terms: &SessionRules) -> Option<Value> {
    reader.visit.may_read_resources().ok()?;
    let wiki = &reader.visit.app.wiki;
    let pages = wiki.pages_lately().await.ok()?;
    let is_published = |page: &&PageReading| page.is_published == Some(true);
    let is_allowed = |page: &&PageReading| {
        let holds = |prefix: &Prefix| prefix.holds(&page.locale, &page.path);
        let allowed = terms.policy.allowed.as_deref();
        allowed.is_none_or(|allowed| allowed.iter().any(holds))
    };
    let mut published = pages.iter().filter(is_published);
    let page = published
        .clone()
        .find(is_allowed)
        .or_else(|| published.next())?;
    let mut rights = wiki.rights(page).await.ok()?;
    let mut all = Right::ALL.to_vec();
    let offered = reader.visit.offered();
    if offered.has_any_of(Toolset::Comments) {
        all.extend(Right::OF_COMMENTS);
    }
    if offered.has_any_of(Toolset::Assets) {
        all.extend(Right::OF_ASSETS);
        rights = wiki.with_assets(rights).await.ok()?;
    }
    let those = |wanted: Option<bool>| -> Vec<&str> {
        let those = all.iter().filter(|right| rights.has(**right) == wanted);
        those.map(|right| right.name()).collect()
    };
    Some(json!({
        "at": format!("{}/{}", page.locale, page.path),
        "has": those(Some(true)),
        "lacks": those(Some(false)),
        "unknown": if_any(those(None)),
    }))
}

/// The open proposals of this caller.
async fn proposals(reader: &ResourceReader<'_>) -> Result<Value> {
    let open = reader.visit.open_proposals(&reader.caller).await?;
    let newest = open.iter().rev().take(MOST_PROPOSALS).map(|proposal| {
        json!({
            "id": proposal.id.to_string(),
            "operation": proposal.first.operation.as_str(),
            "locale": proposal.first.locale.as_str(),
            "path": proposal.first.path.as_str(),
            "createdAt": String::from(proposal.created.clone()),
        })
    });
    Ok(json!({ "open": open.len(), "newest": newest.collect::<Vec<_>>() }))
}

/// The approvals that a person gave for writes to come.
fn allowed(approval: &StandingApproval) -> Value {
    json!({
        "scope": approval.scope().as_str(),
        "operation": approval.operation,
        "page": approval.page,
        "writesLeft": approval.writes_left,
        "endsAt": approval.ends,
    })
}

/// The operator's own tools that this session is offered, and why queries are not offered yet.
fn custom_tools(visit: &CallerContext) -> Option<Value> {
    let own = &visit.app.own_tools;
    let registry = visit.app.registry();
    let offered = visit.offered();
    let customs = registry.definitions().filter(|tool| tool.custom.is_some());
    let names = customs.map(|tool| tool.name);
    own.names().next().is_some().then(|| {
        json!({
            "offered": names.filter(|name| offered.has(name)).collect::<Vec<_>>(),
            "waiting": own.wait(),
        })
    })
}

/// The named client that reads it; for a delegate with its maker, task and changes left.
async fn own_client(client: &ClientRecord, family: Option<&dyn Family>) -> Value {
    let (left, children) = match family {
        Some(family) => (family.left().await, family.children().await),
        None => (None, Vec::new()),
    };
    let bond = client.bond.as_ref();
    let soon = client.ends_soon().filter(|_| bond.is_none());
    json!({
        "name": client.subject(),
        "expiresAt": client.expires.and_then(|at| at.format(&Rfc3339).ok()),
        "notice": soon.map(|end| {
            format!(
                "This client's token ends in {}. Ask the operator for another: `wikijs-gate token rotate {}`.",
                in_words(end - OffsetDateTime::now_utc()),
                client.name
            )
        }),
        "delegateOf": bond.map(|bond| bond.maker.name.as_str()),
        "task": bond.map(|bond| bond.task.to_string()),
        "writesLeft": left,
        "delegates": if_any(children),
    })
}

/// The treatment of a write, the line that set it, and where may be written: everywhere, if there
/// are no allowed prefixes.
fn writes(terms: &SessionRules) -> Value {
    let names =
        |prefixes: &[Prefix]| -> Vec<String> { prefixes.iter().map(ToString::to_string).collect() };
    let policy = &terms.policy;
    json!({
        "level": policy.writes.as_str(),
        "setBy": policy.set_by.to_string(),
        "refused": match terms.writes {
            Writes::Refused(why) => Some(why),
            Writes::Gets(_) => None,
        },
        "allowedPrefixes": policy.allowed.as_deref().map(names),
        "deniedPrefixes": names(&policy.denied),
        "hasTrash": policy.trash.is_some(),
        "paused": terms.pause.as_ref().map(|pause| paused(pause).details),
    })
}

fn index(state: IndexState) -> Value {
    let (state, covered) = match state {
        IndexState::Off => ("off", None),
        IndexState::NotBegun => ("not begun", None),
        IndexState::Filling(covered) => ("being made", Some(covered)),
        IndexState::Made(covered) => ("made", Some(covered)),
    };
    json!({
        "state": state,
        "complete": covered.as_ref().map(|covered| covered.is_complete),
        "pages": covered.as_ref().map(|covered| covered.pages),
        "of": covered.as_ref().map(|covered| covered.of),
        "withoutContent": covered.as_ref().map(|covered| covered.without_content),
    })
}
