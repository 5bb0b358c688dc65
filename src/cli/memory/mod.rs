//! `wikijs-gate memory`: what clients remember, for the operator to look at, put right, and take to
//! another machine.

mod change;
mod exchange;
mod list;
mod show;
mod whose;

use clap::Subcommand;

use super::exit::Exit;
use super::{CommandResult, print, start};
use crate::audit::{AuditEntry, AuditEvent, AuditLog, CallId, MemoryId};
use crate::memory::{Memory, MemoryError, MemoryOwner, MemoryRows, MemoryStore};

/// The fewest characters of a memory's id that are taken for it.
const MIN_PREFIX: usize = 4;

/// Arguments of `memory`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: MemoryCommand,
}

#[derive(Debug, Subcommand)]
enum MemoryCommand {
    /// List what clients remember, the most useful first
    List(list::Arguments),
    /// Show one memory whole
    Show(show::Arguments),
    /// Restore what was forgotten or superseded within 30 days
    Restore(change::Restore),
    /// Forget memories; they can be restored for 30 days
    Forget(change::ForgetArgs),
    /// Forget all of a client's memories, or of all clients
    Clear(change::Clear),
    /// Print memories as lines of JSON, for `memory import` on another machine
    Export(exchange::Export),
    /// Take over exported memories: by id, the newest wins
    Import(exchange::ImportArgs),
}

pub(super) async fn run(arguments: Arguments) -> CommandResult {
    let desk = MemoryCommandContext::open()?;
    let done = match arguments.command {
        MemoryCommand::List(arguments) => list::run(&desk, arguments).await,
        MemoryCommand::Show(arguments) => show::run(&desk, arguments).await,
        MemoryCommand::Restore(arguments) => change::restore(&desk, arguments).await,
        MemoryCommand::Forget(arguments) => change::forget(&desk, arguments).await,
        MemoryCommand::Clear(arguments) => change::clear(&desk, arguments).await,
        MemoryCommand::Export(arguments) => exchange::export(&desk, arguments).await,
        MemoryCommand::Import(arguments) => exchange::import(&desk, arguments).await,
    };
    let closed = desk.log.close().await;
    let exit = done?;
    closed.map_err(|error| failed(&MemoryError::Audit(error)))?;
    Ok(exit)
}

/// The audit log and the memory store; no key is needed, since nothing is sent.
struct MemoryCommandContext {
    log: AuditLog,
    memories: MemoryStore,
}

impl MemoryCommandContext {
    fn open() -> Result<Self, (Exit, String)> {
        let log = start::audit_log_to_come()?;
        if let Some(site) = start::layers()?.site() {
            log.of_site(site.clone());
        }
        start::check_audit_dir(&log)?;
        let memories = MemoryStore::of(&log);
        Ok(Self { log, memories })
    }

    /// Everything, each memory with its owner, gone or not.
    async fn all(&self) -> Result<Vec<(MemoryOwner, Memory)>, (Exit, String)> {
        let all = self.memories.look(|rows| {
            let mut all = Vec::new();
            for owner in rows.owners()? {
                let own = rows.of_owner(&owner.key)?.into_iter();
                all.extend(own.map(|memory| (owner.clone(), memory)));
            }
            Ok(all)
        });
        Ok(all
            .await
            .map_err(|error| failed(&error))?
            .unwrap_or_default())
    }

    /// Changes something by a command, on record as the operator's.
    async fn change<T: Send + 'static>(
        &self,
        command: &'static str,
        about: Option<&Memory>,
        work: impl FnOnce(&MemoryRows<'_>) -> Result<(T, Option<crate::memory::AuditNote>), MemoryError>
        + Send
        + 'static,
    ) -> Result<T, (Exit, String)> {
        let caller = start::operator(command);
        let call = CallId::new().map_err(|error| failed(&MemoryError::Audit(error)))?;
        let page = about.and_then(|memory| memory.page.clone());
        let entry = AuditEntry {
            client: Some(caller.client),
            actor: caller.actor,
            tool: Some(command.to_owned()),
            id: page.as_ref().map(|page| page.id),
            locale: page.as_ref().map(|page| page.locale.clone()),
            path: page.map(|page| page.path),
            ..AuditEntry::new(call, AuditEvent::Memory)
        };
        let done = self.memories.change(&self.log, entry, work);
        done.await.map_err(|error| failed(&error))
    }
}

/// The memories that are named, by their ids or the beginnings of these.
fn named(
    all: &[(MemoryOwner, Memory)],
    names: &[String],
) -> Result<Vec<(MemoryOwner, Memory)>, (Exit, String)> {
    let wrong = |why: String| (Exit::Usage, why);
    let find = |name: &String| {
        let fits = |id: MemoryId| id.to_string().starts_with(name.as_str());
        let mut found = all.iter().filter(|(_, memory)| fits(memory.id));
        match (found.next(), found.next()) {
            (Some(one), None) if name.len() >= MIN_PREFIX => Ok(one.clone()),
            (Some(_), _) => Err(wrong(
                "several memories begin like that, or it is too short; name more of the id"
                    .to_owned(),
            )),
            (None, _) => Err(wrong(format!(
                "there is no memory {}; `wikijs-gate memory list --all` has all of them",
                print::harmless(name)
            ))),
        }
    };
    names.iter().map(find).collect()
}

fn failed(error: &MemoryError) -> (Exit, String) {
    if let MemoryError::BadLines(lines) = error {
        return (Exit::Failed, exchange::told(lines));
    }
    (Exit::Failed, format!("{error}; {}", error.hint()))
}
