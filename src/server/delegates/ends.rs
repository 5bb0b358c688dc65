//! The ends of delegates: by their makers, by themselves, by the operator, each settled once.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::super::clients::registry::ClientRegistry;
use super::super::site::Sites;
use super::delegate::{DelegateEndReason, DelegateRecord};
use super::faults::blocking;
use super::limits::DelegateRefusal;
use crate::audit::{AuditEntry, AuditEvent, CallId, Client, ClientId, Role};
use crate::error::{Code, Failure};
use crate::write::{Handover, HandoverTargets, WriteContext};

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
    let call = CallId::current_or_new();
    let call = call.map_err(|error| Failure::new(Code::AuditUnavailable, error.to_string()))?;
    Ok(AuditEntry {
        client: Some(client_of(line)),
        gate: Some("delegation".to_owned()),
        decision: Some(decision.to_owned()),
        ..AuditEntry::new(call, AuditEvent::Delegation)
    })
}

/// Does what belongs to the end of a delegate, whoever ended it: what it remembered goes to its
/// maker, and the end is put on record once.
pub(in crate::server) async fn settle(
    clients: &ClientRegistry,
    desk: &WriteContext,
    ended: &DelegateRecord,
    legacy: Handover,
) {
    // First, so that a server that is killed here leaves it to the next. What it remembered stays
    // its own where it cannot be handed over.
    if let Err(failure) = hand_over(desk, ended, legacy).await {
        tracing::error!(delegate = %ended.name(), %failure, "what a delegate remembered could not be handed over");
    }
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
            let entry = AuditEntry {
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
}

/// A delegate and its maker, as those who remember.
pub(in crate::server) fn heirs(line: &DelegateRecord) -> Option<HandoverTargets> {
    Some(HandoverTargets {
        delegate: (line.id(), line.name()),
        maker: (line.parent()?, line.maker().to_owned()),
    })
}

async fn hand_over(
    desk: &WriteContext,
    ended: &DelegateRecord,
    legacy: Handover,
) -> Result<(), Failure> {
    let Some(heirs) = heirs(ended) else {
        return Ok(());
    };
    let record = entry(ended, "ended")?;
    desk.hand_over(record, &heirs, legacy).await
}

/// Ends delegates whose time is up or whose maker was revoked, until the server stops.
pub(in crate::server) async fn watch(
    clients: Arc<ClientRegistry>,
    sites: Arc<Sites>,
    stop: CancellationToken,
) {
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
    clients: &ClientRegistry,
    sites: &Sites,
    missed: &HashSet<ClientId>,
) -> HashSet<ClientId> {
    let mut missing = HashSet::new();
    let family = clients.family();
    for member in family.iter() {
        let line = &member.line;
        let is_settled = line.ended.as_ref().is_some_and(|ended| ended.is_settled);
        let why = match member.standing() {
            Err(DelegateRefusal::For(why)) if !is_settled => why,
            _ => continue,
        };
        if why == DelegateEndReason::MakerGone && line.ended.is_none() {
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
        let ended = match blocking(move || file.end(id, why, Handover::default())).await {
            Ok(ended) => ended,
            Err(failure) => {
                tracing::debug!(delegate = %line.name(), %failure, "a delegate could not be ended");
                continue;
            }
        };
        if let Some(site) = sites.of(line.site.as_deref()) {
            settle(clients, &site.app().desk, &ended, ended.legacy()).await;
        }
    }
    missing
}
