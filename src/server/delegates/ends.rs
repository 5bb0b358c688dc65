//! The ends of delegates: by their makers, by themselves, by the operator, each settled once.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::super::clients::registry::ClientRegistry;
use super::super::site::Sites;
use super::delegate::{DelegateBasis, DelegateEndReason, DelegateRecord};
use super::kept::KeptDelegates;
use super::serving::{PostedNotice, ServerNotice};
use crate::audit::{AuditEntry, AuditError, AuditEvent, CallId, Client, Role};
use crate::error::{Code, Failure};
use crate::write::WriteContext;

/// Time between two checks for ended delegates.
const LOOKED_APART: Duration = Duration::from_secs(1);

/// The client under which a delegate is on record: its own.
pub(in crate::server) fn client_of(line: &DelegateRecord) -> Client {
    Client {
        id: Some(line.id()),
        role: Some(Role::Agent),
        subject: Some(line.name()),
        parent: line.parent(),
        ..Client::default()
    }
}

pub(in crate::server) fn entry(
    line: &DelegateRecord,
    decision: &str,
) -> Result<AuditEntry, Failure> {
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
pub(in crate::server) async fn settle(
    delegates: &KeptDelegates,
    desk: &WriteContext,
    ended: &DelegateRecord,
) -> usize {
    let why = ended.ended.map_or("", DelegateEndReason::as_str);
    // First, so that a server that is killed here leaves it to the next. What it remembered stays
    // its own where it cannot be handed over.
    let handed = hand_over(desk, ended).await.unwrap_or_else(|failure| {
        tracing::error!(delegate = %ended.name(), %failure, "what a delegate remembered could not be handed over");
        0
    });
    let digest = ended.digest().to_owned();
    match delegates.on(move |all| all.remove(&digest)).await {
        Ok(true) => {}
        // Another server, or another call, did it.
        Ok(false) => return handed,
        Err(error) => {
            tracing::warn!(delegate = %ended.name(), %error, "a delegate that has ended could not be removed");
            return handed;
        }
    }
    let recorded = async {
        let mut entry = entry(ended, "ended")?;
        entry.reason = Some(why.to_owned());
        let done = desk.audit().record(entry).await;
        done.map_err(|error| unrecorded(&error))
    };
    if let Err(failure) = recorded.await {
        tracing::error!(delegate = %ended.name(), %failure, "the end of a delegate could not be put on record");
    }
    tracing::info!(delegate = %ended.name(), why, "a delegate has ended");
    handed
}

/// The failure if something cannot be put on record.
pub(in crate::server) fn unrecorded(error: &AuditError) -> Failure {
    Failure::new(Code::AuditUnavailable, error.to_string())
}

async fn hand_over(desk: &WriteContext, ended: &DelegateRecord) -> Result<usize, Failure> {
    // No client over stdio has memories of its own.
    let (Some(maker), DelegateBasis::Token(_)) = (ended.parent(), &ended.by) else {
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
        for member in clients.family().await {
            let Some(why) = member.line.end_reason() else {
                continue;
            };
            let line = Arc::clone(&member.line);
            let end = move |all: &KeptDelegates| all.end(line.digest(), why);
            let ended = match clients.delegates.on(end).await {
                Ok(ended) => ended,
                Err(error) => {
                    tracing::debug!(delegate = %member.line.name(), %error, "a delegate could not be ended");
                    continue;
                }
            };
            if let Some(site) = sites.find(ended.site.as_deref()) {
                settle(&clients.delegates, &site.app().desk, &ended).await;
            }
        }
    }
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
    let work = tokio::task::spawn_blocking(move || {
        if let Err(error) = posted.renew(now.as_ref()) {
            tracing::debug!(%error, "others cannot be told that this server takes delegates");
        }
        posted
    });
    work.await.ok()
}
