//! `wikijs://status`: what applies to the reading session, as JSON.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::super::super::clients::client_record::ClientRecord;
use super::super::caller::CallerContext;
use super::super::session_rules::{IndexState, SessionRules, Writes};
use super::{BuiltInResource, ResourceReader, ResourceText};
use crate::audit::Proposal;
use crate::error::{Code, Failure};
use crate::gates::paused;
use crate::page::{PageReading, Prefix};
use crate::site::SiteName;
use crate::tools::Toolset;
use crate::wiki::{PageRights, Right, in_words};
use crate::write::{Child, Family};

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
    text: ResourceText::Made(|reader| Box::pin(status(reader))),
    about: None,
};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    summary: String,
    /// The site of the server's settings that this session is with.
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<String>,
    wiki: String,
    default_locale: String,
    key: KeyInfo,
    /// The named client that reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<OwnClient>,
    writes: WriteStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    proposals: Option<ProposalsInfo>,
    index: IndexStatus,
    /// The operator's own tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    custom_tools: Option<CustomTools>,
    /// Facts that could not be found out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unavailable: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct CustomTools {
    /// Those that this session is offered.
    offered: Vec<&'static str>,
    /// The reason queries are not offered yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OwnClient {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// Advice about that, where it is soon.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
    /// Its maker, task and number of changes left, if it is a delegate.
    #[serde(skip_serializing_if = "Option::is_none")]
    delegate_of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    writes_left: Option<u32>,
    /// Its delegates that last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    delegates: Vec<Child>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct KeyInfo {
    standing: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rights: Option<KeyRights>,
}

/// The key's rights at one page; they may differ elsewhere.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct KeyRights {
    at: String,
    has: Vec<&'static str>,
    lacks: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct WriteStatus {
    /// The treatment of a write: `off`, `dry_run`, `review`, `person`, `token` or `preview`.
    level: &'static str,
    /// The line that set it.
    set_by: String,
    /// The reason every write is refused, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'static str>,
    /// Everywhere, if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_prefixes: Option<Vec<String>>,
    denied_prefixes: Vec<String>,
    /// True if a page can be moved to a trash instead of deleted.
    has_trash: bool,
    /// Reason and time of an operator's pause of all writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<Value>,
}

#[derive(Debug, Serialize)]
struct ProposalsInfo {
    open: usize,
    newest: Vec<OpenProposal>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OpenProposal {
    id: String,
    operation: &'static str,
    locale: String,
    path: String,
    created_at: String,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct IndexStatus {
    /// `off`, `not begun`, `being made` or `made`.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    without_content: Option<usize>,
}

async fn status(reader: &ResourceReader<'_>) -> Result<String, Failure> {
    let wiki = &reader.visit.app.wiki;
    // Asked first, so that the terms can use the answer.
    let standing = wiki.standing().await;
    let terms = SessionRules::new(reader.visit, reader.can_ask);
    let mut unavailable = Vec::new();
    let may_read = reader.visit.may_read_resources().is_ok();
    let rights = if may_read {
        let rights = tokio::time::timeout(PATIENCE, rights(reader, &terms)).await;
        rights.ok().flatten()
    } else {
        None
    };
    if rights.is_none() {
        unavailable.push("key.rights");
    }
    let proposals = match proposals(reader).await {
        Ok(proposals) => Some(proposals),
        Err(failure) => {
            tracing::warn!(
                code = failure.code.as_str(),
                "the proposals could not be read"
            );
            unavailable.push("proposals");
            None
        }
    };
    let key = wiki.key();
    let status = Status {
        summary: terms.sentence(),
        site: reader
            .visit
            .app
            .desk
            .audit()
            .site()
            .map(SiteName::to_string),
        wiki: wiki.settings().base_url.as_str().to_owned(),
        default_locale: wiki.settings().default_locale.as_str().to_owned(),
        key: KeyInfo {
            standing: standing
                .or(terms.standing)
                .map_or("unknown", |it| it.as_str()),
            expires_at: key.expires().and_then(|at| at.format(&Rfc3339).ok()),
            rights,
        },
        client: reader
            .visit
            .client
            .as_ref()
            .map(|client| OwnClient::new(client, reader.visit.family.as_deref())),
        writes: WriteStatus::new(&terms),
        proposals,
        index: IndexStatus::new(terms.index),
        custom_tools: CustomTools::new(reader.visit),
        unavailable,
    };
    serde_json::to_string(&status)
        .map_err(|_| Failure::new(Code::InternalError, "The status could not be written."))
}

/// The key's rights at the last changed page, among the writable ones if there are any.
async fn rights(reader: &ResourceReader<'_>, terms: &SessionRules) -> Option<KeyRights> {
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
    Some(KeyRights::new(page, &rights, &all))
}

impl KeyRights {
    fn new(page: &PageReading, rights: &PageRights, all: &[Right]) -> Self {
        let those = |wanted: Option<bool>| {
            let those = all.iter().filter(|right| rights.has(**right) == wanted);
            those.map(|right| right.name()).collect()
        };
        Self {
            at: format!("{}/{}", page.locale, page.path),
            has: those(Some(true)),
            lacks: those(Some(false)),
            unknown: those(None),
        }
    }
}

/// The open proposals of this caller.
async fn proposals(reader: &ResourceReader<'_>) -> Result<ProposalsInfo, Failure> {
    let open = reader.visit.open_proposals(&reader.caller).await?;
    Ok(ProposalsInfo {
        open: open.len(),
        newest: open
            .into_iter()
            .rev()
            .take(MOST_PROPOSALS)
            .map(OpenProposal::new)
            .collect(),
    })
}

impl CustomTools {
    fn new(visit: &CallerContext) -> Option<Self> {
        let own = &visit.app.own_tools;
        let registry = visit.app.registry();
        let offered = visit.offered();
        let customs = registry.definitions().filter(|tool| tool.custom.is_some());
        let names = customs.map(|tool| tool.name);
        own.are_there().then(|| Self {
            offered: names.filter(|name| offered.has(name)).collect(),
            waiting: own.wait(),
        })
    }
}

impl OwnClient {
    fn new(client: &ClientRecord, family: Option<&dyn Family>) -> Self {
        let bond = client.bond.as_ref();
        let soon = client.ends_soon().filter(|_| bond.is_none());
        Self {
            name: client.subject(),
            expires_at: client.expires.and_then(|at| at.format(&Rfc3339).ok()),
            notice: soon.map(|end| {
                format!(
                    "This client's token ends in {}. Ask the operator for another: `wikijs-gate token rotate {}`.",
                    in_words(end - OffsetDateTime::now_utc()),
                    client.name
                )
            }),
            delegate_of: bond.map(|bond| bond.maker.name.clone()),
            task: bond.map(|bond| bond.task.to_string()),
            writes_left: family.and_then(Family::left),
            delegates: family.map(Family::children).unwrap_or_default(),
        }
    }
}

impl OpenProposal {
    fn new(proposal: Proposal) -> Self {
        Self {
            id: proposal.id.to_string(),
            operation: proposal.operation.as_str(),
            locale: proposal.locale.as_str().to_owned(),
            path: proposal.path.as_str().to_owned(),
            created_at: proposal.created.into(),
        }
    }
}

impl WriteStatus {
    fn new(terms: &SessionRules) -> Self {
        let names = |prefixes: &[Prefix]| prefixes.iter().map(ToString::to_string).collect();
        Self {
            level: terms.policy.writes().as_str(),
            set_by: terms.policy.set_by().to_string(),
            refused: match terms.writes {
                Writes::Refused(why) => Some(why),
                Writes::Gets(_) => None,
            },
            allowed_prefixes: terms.policy.allowed.as_deref().map(names),
            denied_prefixes: names(&terms.policy.denied),
            has_trash: terms.policy.trash.is_some(),
            paused: terms
                .pause
                .as_ref()
                .map(|pause| paused(pause).details.into()),
        }
    }
}

impl IndexStatus {
    fn new(state: IndexState) -> Self {
        let bare = |state| Self {
            state,
            ..Self::default()
        };
        let (state, covered) = match state {
            IndexState::Off => return bare("off"),
            IndexState::NotBegun => return bare("not begun"),
            IndexState::Filling(covered) => ("being made", covered),
            IndexState::Made(covered) => ("made", covered),
        };
        Self {
            state,
            complete: Some(covered.is_complete),
            pages: Some(covered.pages),
            of: Some(covered.of),
            without_content: Some(covered.without_content),
        }
    }
}
