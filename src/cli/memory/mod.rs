//! `wikijs-gate memory`: what clients remember, for the operator to look at, put right, and take to
//! another machine.

mod change;
mod exchange;
mod list;
mod show;
mod whose;

use std::sync::atomic::{AtomicBool, Ordering};

use clap::Subcommand;

use super::id_prefix::by_prefix;
use crate::audit::{AuditEntry, AuditEvent, AuditLog, CallId};
use crate::cli::prelude::*;
use crate::memory::{AuditNote, Memories, MemoryError, MemoryLine, MemoryStore};

#[derive(Debug, Subcommand)]
pub(super) enum MemoryCommand {
    /// List what clients remember, the most useful first
    List(list::Arguments),
    /// Show one memory whole
    Show(show::Arguments),
    /// Restore what was forgotten or superseded within 30 days
    Restore(change::Restore),
    /// Forget memories; they can be restored for 30 days
    Forget(change::ForgetArgs),
    /// Print memories as lines of JSON, for `memory import` on another machine
    Export(exchange::Export),
    /// Take over exported memories: by id, the newest wins
    Import(exchange::ImportArgs),
}

pub(super) async fn run(command: MemoryCommand) -> CommandResult {
    let log = match &command {
        MemoryCommand::Restore(_) | MemoryCommand::Forget(_) | MemoryCommand::Import(_) => {
            start::audit_log_to_record()
        }
        MemoryCommand::List(_) | MemoryCommand::Show(_) | MemoryCommand::Export(_) => {
            start::audit_log_to_come()
        }
    };
    let desk = MemoryCommandContext::open(log?)?;
    let done = match command {
        MemoryCommand::List(arguments) => list::run(&desk, arguments).await,
        MemoryCommand::Show(arguments) => show::run(&desk, arguments).await,
        MemoryCommand::Restore(arguments) => change::restore(&desk, arguments).await,
        MemoryCommand::Forget(arguments) => change::forget(&desk, arguments).await,
        MemoryCommand::Export(arguments) => exchange::export(&desk, arguments).await,
        MemoryCommand::Import(arguments) => exchange::import(&desk, arguments).await,
    };
    let closed = desk.log.close().await;
    let mut exit = done?;
    if exit == Exit::Done && desk.has_damaged.load(Ordering::Relaxed) {
        exit = Exit::Failed;
    }
    closed.map_err(MemoryError::Audit)?;
    Ok(exit)
}

/// The audit log and the memory store; no key is needed, since nothing is sent.
struct MemoryCommandContext {
    log: AuditLog,
    memories: MemoryStore,
    /// True if a file was left out since it is damaged.
    has_damaged: AtomicBool,
}

impl MemoryCommandContext {
    fn open(log: AuditLog) -> Result<Self, CommandError> {
        if let Some(site) = start::layers()?.site() {
            log.of_site(site.clone());
        }
        start::check_audit_dir(&log)?;
        let memories = MemoryStore::of(&log);
        Ok(Self {
            log,
            memories,
            has_damaged: AtomicBool::new(false),
        })
    }

    /// The memories of all clients; files that are damaged are named and left out.
    async fn all(&self) -> Result<Vec<MemoryLine>, MemoryError> {
        let (all, damaged) = self.memories.readable().await?;
        self.tell(&damaged);
        Ok(all)
    }

    /// The memories that are named, by their ids or the beginnings of these; what is damaged is told if
    /// one of them is not found.
    async fn named(&self, names: &[String]) -> Result<Vec<MemoryLine>, CommandError> {
        let (all, damaged) = self.memories.readable().await?;
        named(&all, names).inspect_err(|_| self.tell(&damaged))
    }

    fn tell(&self, damaged: &[MemoryError]) {
        for error in damaged {
            self.has_damaged.store(true, Ordering::Relaxed);
            print::error(&format!("{error}; {}", error.hint()));
        }
    }

    /// Changes something by a command, on record as the operator's.
    async fn change<T: Send + 'static>(
        &self,
        command: RecordedCommand,
        work: impl FnOnce(&mut Memories) -> Result<(T, Option<AuditNote>), MemoryError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        let caller = start::operator(command);
        let call = CallId::new().map_err(MemoryError::Audit)?;
        let entry = AuditEntry {
            client: Some(caller.client),
            actor: caller.actor,
            tool: Some(command.to_string()),
            ..AuditEntry::new(call, AuditEvent::Memory)
        };
        self.memories.change(entry, work).await
    }
}

/// Those of some memories that are named.
fn named(all: &[MemoryLine], names: &[String]) -> Result<Vec<MemoryLine>, CommandError> {
    let several =
        || Exit::usage("several memories begin like that, or it is too short; name more of the id");
    let find = |name: &String| {
        let found = by_prefix(all, |one| one.memory.id.to_string(), name, several)?;
        found.cloned().ok_or_else(|| {
            let (name, hint) = (print::harmless(name), MemoryError::NoSuch.hint());
            Exit::usage(format!("there is no memory {name}; {hint}"))
        })
    };
    names.iter().map(find).collect()
}
