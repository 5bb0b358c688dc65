//! `wikijs-gate store`: checks, backs up and copies what is kept, and loads a store.

mod hammer;

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;

use super::file_faults;
use super::progress::ProgressLine;
use crate::audit::{AuditError, AuditLog, StoreCheck};
use crate::cli::prelude::*;
use crate::config::store_at;
use crate::gates::Approvals;
use crate::memory::MemoryStore;
use crate::mirror;
use crate::store::StoreError;
#[cfg(feature = "postgres")]
use crate::store::{Database, blocking};

#[derive(Debug, clap::Subcommand)]
pub(super) enum StoreCommand {
    /// Find what is missing, damaged or left over, and repair what a killed server left
    Check(CheckArgs),
    /// Copy everything into an empty directory, while servers go on
    #[command(
        after_help = "The copy is checked before the command ends. To restore it, stop the servers and put its files in place of\nthose in WIKI_AUDIT_DIR; `store copy` brings them into a database.\n\nExamples:\n  wikijs-gate store backup /mnt/backup/2030-01-01\n  WIKI_AUDIT_DIR=/mnt/backup/2030-01-01 wikijs-gate audit verify"
    )]
    Backup(BackupArgs),
    /// Copy this wiki's record and what lies beside it into another store: files or a database
    Copy(CopyArgs),
    /// Make the tables of the database that `WIKI_STORE` names, or bring them up to this version
    #[cfg(feature = "postgres")]
    Migrate(MigrateArgs),
    /// Load a directory of its own as servers do, and tell what the disk bears
    Hammer(hammer::HammerArgs),
}

/// Arguments of `store check`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exits with 0 if all is whole, or was repaired, and with 1 if something is broken.\n\nExamples:\n  wikijs-gate store check\n  wikijs-gate store check --json"
)]
pub(super) struct CheckArgs {
    /// Answer in JSON: one object with `repaired` and `broken`
    #[arg(long)]
    json: bool,
}

/// Arguments of `store backup` and `audit export`.
#[derive(Debug, clap::Args)]
pub(super) struct BackupArgs {
    /// The directory: it must be empty, or is made
    #[arg(value_name = "DIR")]
    to: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `store copy`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Stop all servers first. Both stores are checked before the command ends; a copy that broke off is gone on\nwith by the same command. Copy each site by `--site`, then set WIKI_STORE to the new store.\n\nExamples:\n  wikijs-gate store copy --to postgres://gate@db.example.com/gate --password-file /run/secrets/store\n  wikijs-gate store copy --to /var/lib/wikijs-gate"
)]
pub(super) struct CopyArgs {
    /// The other store: a directory, or `postgres://user@host/database`
    #[arg(long, value_name = "STORE", value_parser = NonEmptyStringValueParser::new())]
    to: String,
    /// The file with the password of that database
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `store migrate`.
#[cfg(feature = "postgres")]
#[derive(Debug, clap::Args)]
#[command(
    after_help = "All tables lie in one schema, `wikijs_gate` or the one of the address (`?schema=…`). Changes nothing if they are of\nthis version. The role needs the right to create the schema, or to create in it.\n\nExamples:\n  wikijs-gate store migrate\n  WIKI_STORE=postgres://owner@db/wikis wikijs-gate store migrate --json"
)]
pub(super) struct MigrateArgs {
    /// Answer in JSON: one object with `from` and `to`
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(command: &StoreCommand) -> CommandResult {
    match command {
        StoreCommand::Check(arguments) => check(arguments).await,
        StoreCommand::Backup(arguments) => back_up(arguments).await,
        StoreCommand::Copy(arguments) => copy(arguments).await,
        #[cfg(feature = "postgres")]
        StoreCommand::Migrate(arguments) => migrate(arguments).await,
        StoreCommand::Hammer(arguments) => Box::pin(hammer::run(arguments)).await,
    }
}

#[cfg(feature = "postgres")]
async fn migrate(arguments: &MigrateArgs) -> CommandResult {
    let home = start::store_home()?;
    let migrated =
        blocking::<_, StoreError, _>(move || home.database().map(Database::migrate).transpose())
            .await;
    let migrated = migrated
        .map_err(|error| Exit::failed(format!("the tables were not made, since {error}")))?;
    let migrated = migrated
        .ok_or_else(|| Exit::usage("WIKI_STORE names no database, and files need no tables"))?;
    let (from, to) = (migrated.from, migrated.to);
    if arguments.json {
        return print::json(&json!({ "from": from, "to": to }));
    }
    if from == to {
        say!("nothing to do: the tables are of version {to}");
    } else {
        say!("the tables are of version {to} now; before, of version {from}");
    }
    Ok(Exit::Done)
}

async fn check(arguments: &CheckArgs) -> CommandResult {
    let log = start::audit_log()?;
    let check = checked(&log).await?;
    if arguments.json {
        print::value(&json!({
            "wiki": log.wiki(),
            "whole": check.broken.is_empty(),
            "runs": check.runs,
            "states": check.states,
            "documents": check.documents,
            "repaired": check.repaired,
            "broken": check.broken,
        }));
    } else {
        for what in &check.repaired {
            say!("repaired  {}", print::harmless(what));
        }
        print_broken(&check);
        let verdict = match (check.broken.len(), check.repaired.len()) {
            (0, 0) => "whole".to_owned(),
            (0, repaired) => {
                let repaired = print::counted(repaired, "was", "were");
                format!("whole, now that {repaired} repaired")
            }
            (broken, _) => format!("{broken} broken: restore from a backup what they name"),
        };
        let (runs, states, documents) = (check.runs, check.states, check.documents);
        say!(
            "{}, {}, {}: {verdict}",
            print::counted(runs, "run", "runs"),
            print::counted(states, "kept state", "kept states"),
            print::counted(
                documents,
                "proposal, draft or approval",
                "proposals, drafts and approvals"
            ),
        );
    }
    Ok(exit(&check))
}

fn print_broken(check: &StoreCheck) {
    for what in &check.broken {
        let broken = print::painted("broken", Paint::Red);
        say!("{broken}    {}", print::harmless(what));
    }
}

const fn exit(check: &StoreCheck) -> Exit {
    if check.broken.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    }
}

/// Checks everything, the approvals and memories too.
async fn checked(log: &AuditLog) -> Result<StoreCheck, CommandError> {
    let mut progress = ProgressLine::new();
    let mut check = log
        .upkeep
        .check_store(|done, whole| progress.at(|| format!("{done} of {whole} files checked")))?;
    for (name, read) in Approvals::of(log).all().await? {
        check.count(&format!("approval {name}"), read.map(drop));
    }
    if let Err(error) = MemoryStore::of(log).all().await {
        check.broken.push(format!("memories: {error}"));
    }
    match mirror::check(&log.mirror_store()).await {
        Ok(broken) => check.broken.extend(broken),
        Err(error) => check.broken.push(format!("mirror: {error}")),
    }
    Ok(check)
}

/// Copies all of a wiki into an empty directory, and checks the copy.
pub(super) async fn back_up(BackupArgs { to, json }: &BackupArgs) -> CommandResult {
    let log = start::audit_log()?;
    let done = log.upkeep.back_up(to).await.map_err(|error| match error {
        AuditError::NoCopy(StoreError::Io(why)) => Exit::failed(file_faults::unmade(to, why)),
        error => error.into(),
    })?;
    // What cannot be read back is no backup.
    let copy = AuditLog::new(to, log.wiki());
    let checked = checked(&copy).await?;
    let megabytes = done.bytes >> 20;
    let files = done.runs + done.states + done.documents;
    if *json {
        print::value(&json!({
            "wiki": log.wiki(),
            "files": files,
            "bytes": done.bytes,
            "whole": checked.broken.is_empty(),
            "broken": checked.broken,
        }));
    } else {
        say!(
            "{files} files, {megabytes} MB, copied to {}",
            print::path(to)
        );
        print_broken(&checked);
    }
    Ok(exit(&checked))
}

async fn copy(arguments: &CopyArgs) -> CommandResult {
    let from = start::audit_log()?;
    let file = arguments.password_file.clone();
    let place = from.home().directory();
    let to = store_at(&arguments.to, file, place).map_err(Exit::usage)?;
    if &to == from.home() {
        return Err(Exit::usage(
            "--to names the store that is set: there is nothing to copy",
        ));
    }
    let to = AuditLog::new(to, from.wiki());
    let mut progress = ProgressLine::new();
    let done = from
        .upkeep
        .copy_to(&to.upkeep, |bytes| {
            progress.at(|| format!("{} MB copied", bytes >> 20));
        })
        .map_err(|fault| Exit::failed(fault.to_string()))?;
    drop(progress);
    let (ours, theirs) = (checked(&from).await?, checked(&to).await?);
    let is_whole = ours.broken.is_empty() && theirs.broken.is_empty();
    if arguments.json {
        print::value(&json!({
            "wiki": from.wiki(),
            "runs": done.runs,
            "states": done.states,
            "documents": done.documents,
            "bytes": done.bytes,
            "whole": is_whole,
            "broken": ours.broken,
            "brokenThere": theirs.broken,
        }));
    } else {
        let (runs, states, documents) = (done.runs, done.states, done.documents);
        say!(
            "{runs} runs, {states} kept states, {documents} documents are in both; {} MB copied now",
            done.bytes >> 20
        );
        print_broken(&ours);
        print_broken(&theirs);
    }
    Ok(if is_whole { Exit::Done } else { Exit::Failed })
}
