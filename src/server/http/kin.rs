//! Making and ending delegates: for their maker's calls, and by themselves.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use secrecy::SecretString;
use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio_util::sync::CancellationToken;

use super::super::site::{Site, Sites};
use super::delegate::{Delegate, End};
use super::delegates_file::{DelegatesError, MOST_AT_ONCE};
use super::family::{Gone, Member};
use super::known::KnownClient;
use super::live::LiveClients;
use super::secret::{Token, digest};
use crate::audit::{CallId, Client, ClientId, Entry, Event, Role};
use crate::error::{Code, Failure};
use crate::gates::{Grant, Policy};
use crate::page::Prefix;
use crate::site::SiteName;
use crate::tools::{Definition, Registry, fits, is_of_delegation};
use crate::write::{Child, Deeds, DelegateKind, Delegated, Desk, Family, Sets, Wanted, denied};

/// How often it is looked whether a delegate has ended.
const LOOKED_APART: Duration = Duration::from_secs(1);

/// The tool that makes delegates.
const TOOL: &str = "wikijs_delegate";

/// A named client and its delegates.
#[derive(Debug)]
pub(super) struct Kin {
    clients: Arc<LiveClients>,
    client: Arc<KnownClient>,
    /// The site of the call. Weak, since a site knows the callers that it tells of changed tools.
    site: Weak<Site>,
    /// The digest of the token of the call.
    by: String,
}

impl Kin {
    pub(super) fn new(
        clients: &Arc<LiveClients>,
        client: &Arc<KnownClient>,
        site: &Arc<Site>,
        token: &str,
    ) -> Self {
        Self {
            clients: Arc::clone(clients),
            client: Arc::clone(client),
            site: Arc::downgrade(site),
            by: digest(token),
        }
    }

    /// The delegates of this client on this site.
    fn is_own(&self, line: &Delegate) -> bool {
        let site = self.site.upgrade();
        let name = site.as_ref().and_then(|site| site.name());
        line.parent() == Some(self.client.id)
            && site.is_some()
            && line.site.as_deref() == name.map(SiteName::as_str)
    }

    fn member(&self, is_meant: impl Fn(&Member) -> bool) -> Option<Arc<Member>> {
        let family = self.clients.family();
        family.iter().find(|member| is_meant(member)).cloned()
    }

    async fn take_of(&self, changes: usize) -> Result<(), Failure> {
        if self.client.bond.is_none() {
            return Ok(());
        }
        let id = self.client.id;
        let member = self.member(|member| member.line.id() == id);
        let member = member.ok_or_else(has_ended)?;
        member.standing().map_err(|_| has_ended())?;
        if changes == 0 {
            return Ok(());
        }
        let changes = u32::try_from(changes).unwrap_or(u32::MAX);
        let file = self.clients.delegates.clone();
        blocking(move || file.take(id, changes)).await
    }

    async fn make(
        &self,
        client: &Client,
        desk: &Desk,
        wanted: Wanted,
    ) -> Result<Delegated, Failure> {
        let site = self.site.upgrade();
        let site = site.ok_or_else(|| denied("This site is gone.", "not_named"))?;
        // As its file has it at this moment.
        let maker = self.clients.by_id(self.client.id);
        let maker = maker.filter(|maker| maker.takes(&self.by) == Some(Ok(())));
        let maker = maker.ok_or_else(|| denied("This client was revoked.", "ended"))?;
        let tools = tools(&site.app().registry(), &maker, &wanted)?;
        let can_write = tools.iter().any(|(_, can_write)| *can_write);
        let policy = desk.narrowed_policy(Some(maker.narrowing()), true);
        check_places(&policy, &maker, &wanted, can_write)?;
        if wanted.sets == Sets::Sent && (!can_write || !policy.is_enabled || policy.is_dry_run) {
            return Err(denied(
                "You send no writes yourself, so a delegate cannot.",
                "sends",
            ));
        }
        let token = Token::new().map_err(|_| failed("The system gave no random numbers."))?;
        let by = (maker.id, &*maker.name, &*self.by);
        let may = grant(&maker, &wanted, &tools, can_write);
        let mut line = Delegate::new(&token, by, (wanted.kind, &wanted.task), may)
            .map_err(|fault| invalid("task", &fault))?;
        line.site = site.name().map(ToString::to_string);
        line.writes = if can_write { wanted.writes } else { 0 };
        let (file, kept) = (self.clients.delegates.clone(), line.clone());
        blocking(move || file.add(kept)).await?;
        let tools: Vec<String> = tools.into_iter().map(|(name, _)| name).collect();
        let mut entry = entry(&line, "made")?;
        entry.client = Some(Client {
            name: client.name.clone(),
            version: client.version.clone(),
            address: client.address.clone(),
            ..client_of(&line)
        });
        entry.tool = Some(TOOL.to_owned());
        entry.reason = Some(in_words(&line));
        entry.note = Some(line.task().to_owned());
        if let Err(error) = desk.audit().record(entry).await {
            // Nobody has its token.
            let (file, id) = (self.clients.delegates.clone(), line.id());
            blocking(move || file.end(id, End::Ended).map(drop)).await?;
            return Err(Failure::new(Code::AuditUnavailable, error.to_string()));
        }
        let both = line.may().within(&maker.may);
        Ok(Delegated {
            id: line.id(),
            name: line.name(),
            expires: line.may().expires.clone().unwrap_or_default(),
            prefixes: both.ok().and_then(|both| {
                if can_write {
                    both.prefixes
                } else {
                    both.read_prefixes
                }
            }),
            tools,
            token: SecretString::from(token.reveal()),
        })
    }

    async fn end_one(&self, desk: &Desk, word: &str) -> Result<Deeds, Failure> {
        let own = |member: &Member| self.is_own(&member.line) && member.line.is_called(word);
        let member = self.member(own);
        let member =
            member.ok_or_else(|| invalid("delegate", "names no delegate of this client"))?;
        let (file, id) = (self.clients.delegates.clone(), member.line.id());
        // One whose time is up was ended by that.
        let why = match member.standing() {
            Err(Gone::For(why)) => why,
            Ok(_) | Err(Gone::Clock) => End::Ended,
        };
        let ended = blocking(move || file.end(id, why)).await?;
        settle(&self.clients, desk, &ended).await;
        let (sets, calls, all_calls) = desk.deeds_of(id).await?;
        let (at, why) = ended.end().unwrap_or(("", End::Ended));
        let (used, writes) = ended.writes();
        Ok(Deeds {
            id,
            name: ended.name(),
            ended: at.to_owned(),
            why: why.as_str(),
            used,
            writes,
            sets,
            calls,
            all_calls,
        })
    }
}

impl Family for Kin {
    fn is_delegate(&self) -> bool {
        self.client.bond.is_some()
    }

    fn left(&self) -> Option<u32> {
        self.client.bond.as_ref()?;
        let member = self.member(|member| member.line.id() == self.client.id)?;
        let (used, writes) = member.line.writes();
        Some(writes.saturating_sub(used))
    }

    fn children(&self) -> Vec<Child> {
        let family = self.clients.family();
        let own = family
            .iter()
            .filter(|member| self.is_own(&member.line) && member.standing().is_ok());
        let child = |member: &Arc<Member>| {
            let line = &member.line;
            let (writes_used, writes) = line.writes();
            Child {
                delegate: line.name(),
                task: line.task().to_owned(),
                expires_at: line.may().expires.clone().unwrap_or_default(),
                writes_used,
                writes,
            }
        };
        own.map(child).collect()
    }

    fn take(&self, changes: usize) -> BoxFuture<'_, Result<(), Failure>> {
        self.take_of(changes).boxed()
    }

    fn delegate<'a>(
        &'a self,
        client: &'a Client,
        desk: &'a Desk,
        wanted: Wanted,
    ) -> BoxFuture<'a, Result<Delegated, Failure>> {
        self.make(client, desk, wanted).boxed()
    }

    fn end<'a>(
        &'a self,
        desk: &'a Desk,
        delegate: &'a str,
    ) -> BoxFuture<'a, Result<Deeds, Failure>> {
        self.end_one(desk, delegate).boxed()
    }
}

/// The tools of a delegate, and whether each writes.
fn tools(
    registry: &Registry,
    maker: &KnownClient,
    wanted: &Wanted,
) -> Result<Vec<(String, bool)>, Failure> {
    let offered: Vec<&Definition> = registry
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
    let is_wanted = |tool: &Definition| {
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
fn check_places(
    policy: &Policy,
    maker: &KnownClient,
    wanted: &Wanted,
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

/// What a delegate is granted; what its maker may less is taken away at each call.
fn grant(maker: &KnownClient, wanted: &Wanted, tools: &[(String, bool)], can_write: bool) -> Grant {
    let minutes = time::Duration::minutes(wanted.minutes.into());
    let end = OffsetDateTime::now_utc() + minutes;
    let end = maker.expires.map_or(end, |makers| makers.min(end));
    let end = end.replace_nanosecond(0).unwrap_or(end);
    Grant {
        read_only: !can_write,
        tools: Some(tools.iter().map(|(name, _)| name.clone()).collect()),
        prefixes: wanted.prefixes.clone().filter(|_| can_write),
        read_prefixes: wanted.prefixes.clone(),
        dry_run: can_write && wanted.sets == Sets::LeftOpen,
        expires: end.format(&Rfc3339).ok(),
        ..Grant::default()
    }
}

/// How a delegate is told of on record: as its own client.
fn client_of(line: &Delegate) -> Client {
    Client {
        id: Some(line.id()),
        role: Some(Role::Agent),
        subject: Some(line.name()),
        parent: line.parent(),
        ..Client::default()
    }
}

fn entry(line: &Delegate, decision: &str) -> Result<Entry, Failure> {
    let call = CallId::current_or_new();
    let call = call.map_err(|error| Failure::new(Code::AuditUnavailable, error.to_string()))?;
    Ok(Entry {
        client: Some(client_of(line)),
        gate: Some("delegation".to_owned()),
        decision: Some(decision.to_owned()),
        ..Entry::new(call, Event::Delegation)
    })
}

/// What a delegate may, in a sentence of our own.
fn in_words(line: &Delegate) -> String {
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

/// Does once what belongs to the end of a delegate, whoever ended it: it is put on record, and what
/// it remembered goes to its maker.
async fn settle(clients: &LiveClients, desk: &Desk, ended: &Delegate) {
    let (file, id) = (clients.delegates.clone(), ended.id());
    match blocking(move || file.settle(id)).await {
        Ok(true) => {}
        // Another server, or another call, does it.
        Ok(false) => return,
        Err(failure) => {
            tracing::warn!(delegate = %ended.name(), %failure, "the end of a delegate could not be noted");
            return;
        }
    }
    let why = ended.end().map_or("", |(_, why)| why.as_str());
    let recorded = match entry(ended, "ended") {
        Ok(entry) => {
            let entry = Entry {
                reason: Some(why.to_owned()),
                ..entry
            };
            desk.audit()
                .record(entry)
                .await
                .map_err(|error| error.to_string())
        }
        Err(failure) => Err(failure.to_string()),
    };
    if let Err(error) = recorded {
        tracing::error!(delegate = %ended.name(), %error, "the end of a delegate could not be put on record");
    }
    tracing::info!(delegate = %ended.name(), why, "a delegate has ended");
    hand_over(desk, ended).await;
}

/// Gives a maker what its delegate remembered. This is the seam for the toolset `memory`: it is
/// called once, after the last call of the delegate that counted.
#[expect(clippy::unused_async, reason = "handing over is a matter of files")]
async fn hand_over(_desk: &Desk, _ended: &Delegate) {}

/// Ends delegates whose time is up or whose maker was revoked, until the server stops.
pub(super) async fn watch(clients: Arc<LiveClients>, sites: Arc<Sites>, stop: CancellationToken) {
    let mut missed = HashSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LOOKED_APART) => {}
        }
        missed = look(&clients, &sites, &missed).await;
    }
}

/// Ends the delegates that are due, and settles those that others ended. Returns those whose maker
/// was missing: one that is missed twice is gone, since a file may be being written just now.
async fn look(
    clients: &LiveClients,
    sites: &Sites,
    missed: &HashSet<ClientId>,
) -> HashSet<ClientId> {
    let mut missing = HashSet::new();
    let family = clients.family();
    for member in family.iter() {
        let line = &member.line;
        let is_settled = line.ended.as_ref().is_some_and(|ended| ended.is_settled);
        let why = match member.standing() {
            Err(Gone::For(why)) if !is_settled => why,
            _ => continue,
        };
        if why == End::MakerGone && line.ended.is_none() {
            // Whoever is not in a broken file may be there again.
            if !clients.is_in_force() {
                continue;
            }
            if !missed.contains(&line.id()) {
                missing.insert(line.id());
                continue;
            }
        }
        let (file, id) = (clients.delegates.clone(), line.id());
        let ended = match blocking(move || file.end(id, why)).await {
            Ok(ended) => ended,
            Err(failure) => {
                tracing::debug!(delegate = %line.name(), %failure, "a delegate could not be ended");
                continue;
            }
        };
        if let Some(site) = sites.of(line.site.as_deref()) {
            settle(clients, &site.app().desk, &ended).await;
        }
    }
    missing
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DelegatesError> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| told(&error)),
        Err(_) => Err(failed("The file of delegates could not be used.")),
    }
}

fn told(error: &DelegatesError) -> Failure {
    match error {
        DelegatesError::Unknown | DelegatesError::Ended => has_ended(),
        DelegatesError::TooMany => denied(
            &format!("You have {MOST_AT_ONCE} delegates, as many as there may be at once."),
            "too_many",
        )
        .hint("End one with wikijs_end_delegation, or wait until one ends."),
        DelegatesError::NoRoom => denied("There is no room for one more delegate.", "no_room"),
        DelegatesError::Spent(left) => denied(
            &format!("This delegate may make {left} more changes, and this is more."),
            "writes",
        )
        .detail("writesLeft", *left),
        DelegatesError::File(why) => {
            tracing::error!(%why, "the file of delegates cannot be used");
            denied(
                "The file of delegates cannot be used; the server's log says why.",
                "file",
            )
        }
    }
}

fn has_ended() -> Failure {
    denied(
        "This delegate has ended, or its maker may not call any more.",
        "ended",
    )
}

fn failed(message: &str) -> Failure {
    Failure::new(Code::InternalError, message)
}

fn invalid(name: &str, fault: &str) -> Failure {
    let field = json!([{ "path": name, "message": fault }]);
    Failure::new(Code::InvalidInput, format!("{name} {fault}.")).detail("fields", field)
}
