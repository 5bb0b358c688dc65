//! The ends of delegates: by their makers, by themselves, by the operator, each settled once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::super::clients::registry::ClientRegistry;
use super::super::site::Sites;
use super::delegate::{DelegateBasis, DelegateEndReason, DelegateRecord};
use super::kept::KeptDelegates;
use super::serving::{PostedNotice, ServerNotice};
use crate::audit::{AuditEntry, AuditError, AuditEvent, CallId, Client, ClientId, Role};
use crate::error::{Code, Failure, Result};
use crate::write::WriteContext;

/// Time between two checks for ended delegates.
const LOOKED_APART: Duration = Duration::from_secs(1);
/// Time until an end that could not be settled is tried again.
const PUT_OFF: Duration = Duration::from_secs(10);

/// The client under which a delegate is on record: its own.
pub(in crate::server) fn client_of(line: &DelegateRecord) -> Client {
    Client {
        id: Some(line.id()),
        role: Some(Role::Agent),
        subject: Some(line.name()),
        parent: line.client.parent,
        ..Client::default()
    }
}

pub(in crate::server) fn entry(line: &DelegateRecord, decision: &str) -> Result<AuditEntry> {
    let call = CallId::current_or_new().map_err(|error| unrecorded(&error))?;
    Ok(AuditEntry {
        client: Some(client_of(line)),
        gate: Some("delegation".to_owned()),
        decision: Some(decision.to_owned()),
        ..AuditEntry::new(call, AuditEvent::Delegation)
    })
}

/// Does what belongs to the end of a delegate, whoever ended it: what it remembered goes to its
/// maker, and the end is put on record once. Returns the number of memories that its maker got.
///
/// # Errors
/// That the end is not surely on record; its document stays, so that it is tried again.
pub(in crate::server) async fn settle(
    delegates: &KeptDelegates,
    desk: &WriteContext,
    ended: &DelegateRecord,
) -> Result<usize> {
    // First, so that a server that is killed here leaves it to the next. What it remembered stays
    // its own where it cannot be handed over.
    let handed = hand_over(desk, ended).await.unwrap_or_else(|failure| {
        tracing::error!(delegate = %ended.name(), %failure, "what a delegate remembered could not be handed over");
        0
    });
    match put_on_record(delegates, desk, ended).await {
        Ok(true) => {
            let why = ended.ended.map_or("", DelegateEndReason::as_str);
            tracing::info!(delegate = %ended.name(), why, "a delegate has ended");
        }
        // Another server, or another call, did it.
        Ok(false) => {}
        Err(failure) => {
            tracing::error!(delegate = %ended.name(), %failure, "the end of a delegate could not be put on record");
            return Err(failure);
        }
    }
    Ok(handed)
}

/// Puts the end of a delegate on record and removes its document, one server after another. A server
/// that is killed in between leaves the document to the next, which finds the record.
async fn put_on_record(
    delegates: &KeptDelegates,
    desk: &WriteContext,
    ended: &DelegateRecord,
) -> Result<bool> {
    let digest = ended.digest().to_owned();
    let Some(turn) = delegates.on(move |all| all.turn_of(&digest)).await? else {
        return Ok(false);
    };
    if !is_on_record(desk, ended).await {
        let mut entry = entry(ended, "ended")?;
        entry.call = ended.end_call.unwrap_or(entry.call);
        entry.reason = ended.ended.map(|why| why.as_str().to_owned());
        let done = desk.audit().record(entry).await;
        done.map_err(|error| unrecorded(&error))?;
    }
    let digest = ended.digest().to_owned();
    let remove = move |all: &KeptDelegates| all.remove_held(&turn, &digest);
    Ok(delegates.on(remove).await?)
}

/// True if the end of a delegate is on record under its call.
async fn is_on_record(desk: &WriteContext, ended: &DelegateRecord) -> bool {
    let Some(call) = ended.end_call else {
        return false;
    };
    let story = desk.audit().calls.story(&call.into()).await;
    story.is_ok_and(|story| {
        story.records.iter().any(|record| {
            let whose = record.client.as_ref().and_then(|client| client.id);
            let is_end = record.event == AuditEvent::Delegation
                && record.decision.as_deref() == Some("ended");
            is_end && whose == Some(ended.id())
        })
    })
}

/// The failure if something cannot be put on record.
pub(in crate::server) fn unrecorded(error: &AuditError) -> Failure {
    Failure::new(Code::AuditUnavailable, error.to_string())
}

async fn hand_over(desk: &WriteContext, ended: &DelegateRecord) -> Result<usize> {
    // No client over stdio has memories of its own.
    let (Some(maker), DelegateBasis::Token(_)) = (ended.client.parent, &ended.by) else {
        return Ok(0);
    };
    let both = ((ended.id(), &*ended.name()), (maker, &*ended.maker));
    desk.hand_over(entry(ended, "ended")?, both).await
}

/// Ends delegates whose time is up, and settles those that others ended, until the server stops. Tells other
/// processes meanwhile that delegates may call it at this address, if they may.
pub(in crate::server) async fn watch(
    clients: Arc<ClientRegistry>,
    sites: Arc<Sites>,
    address: impl Fn() -> Option<String>,
    stop: CancellationToken,
) {
    let mut posted = PostedNotice::new(clients.delegates.store()).ok();
    // Those that could not be settled, and when they are tried again.
    let mut put_off: HashMap<ClientId, Instant> = HashMap::new();
    loop {
        let now = address().map(|address| notice(&sites, address));
        posted = post(posted, now.filter(|_| !stop.is_cancelled())).await;
        if stop.is_cancelled() {
            return;
        }
        tokio::select! {
            () = stop.cancelled() => continue,
            () = tokio::time::sleep(LOOKED_APART) => {}
        }
        put_off.retain(|_, until| Instant::now() < *until);
        for member in clients.family().await {
            let line = &member.line;
            if line.end_reason().is_none() || put_off.contains_key(&line.id()) {
                continue;
            }
            if let Err(failure) = end(&clients, &sites, line).await {
                tracing::debug!(delegate = %line.name(), %failure, "a delegate could not be ended");
                put_off.insert(line.id(), Instant::now() + PUT_OFF);
            }
        }
    }
}

/// Ends a delegate whose time is up, and settles one that has ended, at its site.
async fn end(clients: &ClientRegistry, sites: &Sites, line: &Arc<DelegateRecord>) -> Result<()> {
    let why = line.end_reason().unwrap_or(DelegateEndReason::TimeUp);
    let (line, call) = (Arc::clone(line), CallId::new()?);
    let end = move |all: &KeptDelegates| {
        let has_ended = all.has_ended(&line)?;
        has_ended
            .then(|| all.end(line.digest(), why, call))
            .transpose()
    };
    let Some(ended) = clients.delegates.on(end).await? else {
        // This server's clock is ahead.
        return Ok(());
    };
    if let Some(site) = sites.find(ended.site.as_deref()) {
        settle(&clients.delegates, &site.app().desk, &ended).await?;
    }
    Ok(())
}

fn notice(sites: &Sites, address: String) -> ServerNotice {
    let all = sites.all();
    let bounds = all.iter().map(|site| {
        let name = site.name().map(ToString::to_string);
        (name.unwrap_or_default(), site.bounds())
    });
    ServerNotice {
        address,
        bounds: bounds.collect(),
    }
}

/// Posts a notice; gives back what posts the next one.
async fn post(posted: Option<PostedNotice>, now: Option<ServerNotice>) -> Option<PostedNotice> {
    let mut posted = posted?;
    let work = crate::blocking::run(move || {
        if let Err(error) = posted.renew(now.as_ref()) {
            tracing::debug!(%error, "others cannot be told that this server takes delegates");
        }
        posted
    });
    work.await
}
