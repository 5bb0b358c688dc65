//! The command line: one file a subcommand. The only room that prints.

mod actor;
mod advice;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod allocator;
mod approvals;
mod audit;
mod bin;
mod completions;
mod config;
mod doctor;
mod error;
mod exit;
mod file_faults;
mod files;
mod flags;
mod health;
mod help;
mod id_prefix;
mod index;
mod left_to_people;
mod level;
mod log;
mod memory;
mod mirror;
mod pager;
mod pause;
mod prelude;
mod print;
mod process_memory;
mod progress;
mod proposals;
mod review;
mod rules;
mod serve;
mod show_change;
mod signals;
mod site;
mod start;
mod store;
mod table;
mod token;
mod tool;
mod typing;
mod undo;
mod when;
mod words;

#[cfg(feature = "demo")]
mod demo;

use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use error::CommandError;
use serde_json::json;

use crate::checks;

pub use exit::Exit;
pub use help::reference;

/// Let agents read and edit a Wiki.js wiki, with safety gates on every write
#[derive(Debug, Parser)]
#[command(name = "wikijs-gate", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the configured wiki over standard input and output, or HTTP
    ///
    /// It is the default command. Without a wiki's address and key it only lists its tools to a
    /// client on standard input, and each call says what to set.
    Serve(serve::Arguments),
    /// Undo a write, with the page state kept in the audit log
    Undo(undo::Arguments),
    /// List, show and bring back pages that anybody deleted
    #[command(subcommand)]
    Bin(bin::BinCommand),
    /// Review, apply and reject what agents proposed in a dry run
    #[command(subcommand)]
    Proposals(proposals::ProposalsCommand),
    /// Decide what agents proposed on a page in the browser
    Review(review::Arguments),
    /// Edit a wiki as files in a folder: pull, status, diff, push
    #[command(subcommand)]
    Files(files::FilesCommand),
    /// Stop the writes of all servers on this store
    ///
    /// Once it has answered, no write begins, without a restart.
    Pause(pause::PauseArgs),
    /// Resume writes after a pause
    #[command(after_help = "Examples:\n  wikijs-gate resume\n  wikijs-gate resume --json")]
    Resume(JsonArgs),
    /// List and end people's approvals for several writes
    #[command(subcommand)]
    Approvals(approvals::ApprovalsCommand),
    /// Review what was written or refused, and through which client
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Check, back up and copy what is kept, in files or a database
    #[command(subcommand)]
    Store(store::StoreCommand),
    /// Show which changes the rules of the settings file match
    #[command(subcommand)]
    Rules(rules::RulesCommand),
    /// Check wiki, key, rights, policy and audit log; changes nothing
    Doctor(doctor::Arguments),
    /// Ask a server over HTTP whether it is alive, for supervisors
    Health(health::Arguments),
    /// Call a tool like an agent, with output for people
    ///
    /// The call passes the same gates.
    #[command(subcommand)]
    Tool(tool::ToolCommand),
    /// Manage the named clients of a server over HTTP, and their tokens
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Manage the content indexes on the disk, which searches use
    #[command(subcommand)]
    Index(index::IndexCommand),
    /// Show, restore, forget, export and import what clients remember
    #[command(subcommand)]
    Memory(memory::MemoryCommand),
    /// Forget on purpose what was seen of pages
    #[command(subcommand)]
    Mirror(mirror::MirrorCommand),
    /// Write, check and show the settings
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Show, check, add and remove the sites of the settings file
    #[command(subcommand)]
    Site(site::SiteCommand),
    /// Print the completion script of a shell
    Completions(completions::Arguments),
    /// Show in a few seconds what this is for, on an embedded wiki
    #[cfg(feature = "demo")]
    Demo(demo::Arguments),
}

/// Arguments of commands that take no other.
#[derive(Debug, clap::Args)]
struct JsonArgs {
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// The columns of `audit list --csv`, as Markdown.
pub fn csv_columns() -> String {
    audit::csv_columns()
}

/// The definition of the command line, from which man pages are made.
#[doc(hidden)]
pub fn definition() -> clap::Command {
    command()
}

/// The time limit for the runtime's threads to end once all work is done.
const LAST_WAIT: Duration = Duration::from_millis(200);

/// Parses the command line, runs the command and prints its error. Only here an exit code is
/// chosen.
pub fn main() -> ExitCode {
    process_memory::keep_private();
    // Building every command with all its flags takes time and memory, so it is done only for help
    // and errors.
    let matches = every_flag()
        .try_get_matches()
        .or_else(|_| help::grouped(command()).try_get_matches());
    let parsed = matches.and_then(|matches| {
        start::give(flags::given(&matches));
        Ok((wants_json(&matches), Arguments::from_arg_matches(&matches)?))
    });
    let (wants_json, arguments) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            let text = error.render().to_string();
            if !error.use_stderr() {
                print::on_stdout(&text);
                return told_whole(Exit::Done).into();
            }
            let text = help::in_plain_words(&text);
            print::on_stderr(&text);
            if std::env::args_os().any(|argument| argument == "--json") {
                let message = help::in_one_line(&text);
                print::value(&json!({ "error": { "message": message } }));
            }
            return Exit::Usage.into();
        }
    };
    let threads = threads(arguments.command.as_ref());
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if let None | Some(Command::Serve(_) | Command::Review(_)) = &arguments.command {
        allocator::give_back_soon(threads);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            print::error(&format!("no threads could be started: {error}"));
            return Exit::Failed.into();
        }
    };
    let exit = runtime.block_on(run(arguments.command));
    // A read of stdin that blocks must not keep the program alive.
    runtime.shutdown_timeout(LAST_WAIT);
    checks::end_all();
    let exit = exit.unwrap_or_else(|error| {
        tell(&error, wants_json);
        error.exit
    });
    told_whole(exit).into()
}

/// The exit of a command; that of a failure if it did its work, but the output was lost.
fn told_whole(exit: Exit) -> Exit {
    match print::lost() {
        Some(kind) if exit == Exit::Done => {
            print::error(&format!("not all of the output could be written: {kind}"));
            Exit::Failed
        }
        _ => exit,
    }
}

/// Tells a person why a command failed; with `--json` a program, too, unless it got an answer already.
fn tell(error: &CommandError, wants_json: bool) {
    let failure = error.failure.as_deref();
    let left_out = failure.and_then(|failure| failure.details.get("leftOut")?.as_array());
    for page in left_out.into_iter().flatten().filter(|_| !wants_json) {
        print::note(&print::left_out_line(page));
    }
    print::error(&error.message);
    if wants_json && !print::has_said() {
        let message = || json!({ "message": error.message });
        let error = failure.map_or_else(message, |failure| json!(failure));
        print::value(&json!({ "error": error }));
    }
}

/// The most threads that wait for the disk; what comes beyond them stands in line. With the others they stay
/// far below `TasksMax` of the service's unit, beyond which no thread can be started.
const BLOCKING_THREADS: usize = 32;

/// The number of threads that the tasks of a command run on.
fn threads(command: Option<&Command>) -> usize {
    match command {
        None => serve::threads(&serve::Arguments::default()),
        Some(Command::Serve(arguments)) => serve::threads(arguments),
        Some(_) => 2,
    }
}

/// True if the command was called with `--json`.
fn wants_json(matches: &ArgMatches) -> bool {
    match matches.subcommand() {
        Some((_, matches)) => wants_json(matches),
        None => matches!(matches.try_get_one("json"), Ok(Some(true))),
    }
}

/// All commands, with all their flags.
fn every_flag() -> clap::Command {
    flags::add_to(Arguments::command())
}

/// The same; of the subcommands, none shows the flags of settings.
fn command() -> clap::Command {
    flags::only_at_the_top(every_flag())
}

/// A command's end, or its error with the exit code that goes with it.
type CommandResult = Result<Exit, CommandError>;

async fn run(command: Option<Command>) -> CommandResult {
    match command {
        None => Box::pin(serve::run(serve::Arguments::default())).await,
        Some(Command::Serve(arguments)) => Box::pin(serve::run(arguments)).await,
        Some(Command::Undo(arguments)) => undo::run(arguments).await,
        Some(Command::Bin(arguments)) => Box::pin(bin::run(arguments)).await,
        Some(Command::Proposals(arguments)) => Box::pin(proposals::run(arguments)).await,
        Some(Command::Review(arguments)) => Box::pin(review::run(arguments)).await,
        Some(Command::Files(arguments)) => Box::pin(files::run(arguments)).await,
        Some(Command::Pause(arguments)) => pause::pause(arguments).await,
        Some(Command::Resume(arguments)) => pause::resume(arguments.json).await,
        Some(Command::Approvals(arguments)) => approvals::run(&arguments).await,
        Some(Command::Audit(arguments)) => audit::run(arguments).await,
        Some(Command::Store(arguments)) => store::run(&arguments).await,
        Some(Command::Rules(arguments)) => rules::run(&arguments),
        Some(Command::Doctor(arguments)) => Box::pin(doctor::run(arguments)).await,
        Some(Command::Health(arguments)) => health::run(arguments).await,
        Some(Command::Tool(arguments)) => Box::pin(tool::run(arguments)).await,
        Some(Command::Token(arguments)) => token::run(arguments),
        Some(Command::Index(arguments)) => Box::pin(index::run(&arguments)).await,
        Some(Command::Memory(arguments)) => Box::pin(memory::run(arguments)).await,
        Some(Command::Mirror(arguments)) => Box::pin(mirror::run(arguments)).await,
        Some(Command::Config(arguments)) => Box::pin(config::run(&arguments)).await,
        Some(Command::Site(arguments)) => Box::pin(site::run(arguments)).await,
        Some(Command::Completions(arguments)) => Ok(completions::run(&arguments)),
        #[cfg(feature = "demo")]
        Some(Command::Demo(arguments)) => demo::run(arguments).await,
    }
}
