//! `wikijs-gate memory`: what clients remember, for the operator to look at, put right, and take to
//! another machine.

mod change;
mod exchange;
mod list;
mod show;
mod whose;

use clap::Subcommand;

use super::exit::Exit;
use super::{Outcome, print, start};
use crate::audit::{AuditLog, CallId, Entry, Event, MemoryId};
use crate::memory::{Memories, Memory, MemoryError, Owner, Rows};

/// The fewest characters of a memory's id that are taken for it.
const MIN_PREFIX: usize = 4;

/// Arguments of `memory`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List what clients remember, the most useful first
    List(list::Arguments),
    /// Show one memory whole
    Show(show::Arguments),
    /// Restore what was forgotten or superseded within 30 days
    Restore(change::Restore),
    /// Forget memories; they can be restored for 30 days
    Forget(change::Forget),
    /// Forget all of a client's memories, or of all clients
    Clear(change::Clear),
    /// Print memories as lines of JSON, for `memory import` on another machine
    Export(exchange::Export),
    /// Take over exported memories: by id, the newest wins
    Import(exchange::Import),
}

pub(super) async fn run(arguments: Arguments) -> Outcome {
    let desk = Desk::open()?;
    let done = match arguments.command {
        Command::List(arguments) => list::run(&desk, arguments).await,
        Command::Show(arguments) => show::run(&desk, arguments).await,
        Command::Restore(arguments) => change::restore(&desk, arguments).await,
        Command::Forget(arguments) => change::forget(&desk, arguments).await,
        Command::Clear(arguments) => change::clear(&desk, arguments).await,
        Command::Export(arguments) => exchange::export(&desk, arguments).await,
        Command::Import(arguments) => exchange::import(&desk, arguments).await,
    };
    let closed = desk.log.close().await;
    let exit = done?;
    closed.map_err(|error| failed(&MemoryError::Audit(error)))?;
    Ok(exit)
}

/// What the commands work with; no key is needed, since nothing is sent.
struct Desk {
    log: AuditLog,
    memories: Memories,
}

impl Desk {
    fn open() -> Result<Self, (Exit, String)> {
        let log = start::audit_log_to_come()?;
        if let Some(site) = start::layers()?.site() {
            log.of_site(site.clone());
        }
        start::check_audit_dir(&log)?;
        let memories = Memories::of(&log);
        Ok(Self { log, memories })
    }

    /// Everything, each memory with its owner, gone or not.
    async fn all(&self) -> Result<Vec<(Owner, Memory)>, (Exit, String)> {
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
        work: impl FnOnce(&Rows<'_>) -> Result<(T, Option<crate::memory::Deed>), MemoryError>
        + Send
        + 'static,
    ) -> Result<T, (Exit, String)> {
        let caller = start::operator(command);
        let call = CallId::new().map_err(|error| failed(&MemoryError::Audit(error)))?;
        let page = about.and_then(|memory| memory.page.clone());
        let entry = Entry {
            client: Some(caller.client),
            actor: caller.actor,
            tool: Some(command.to_owned()),
            id: page.as_ref().map(|page| page.id),
            locale: page.as_ref().map(|page| page.locale.clone()),
            path: page.map(|page| page.path),
            ..Entry::new(call, Event::Memory)
        };
        let done = self.memories.change(&self.log, entry, work);
        done.await.map_err(|error| failed(&error))
    }
}

/// The memories that are named, by their ids or the beginnings of these.
fn named(
    all: &[(Owner, Memory)],
    names: &[String],
) -> Result<Vec<(Owner, Memory)>, (Exit, String)> {
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
