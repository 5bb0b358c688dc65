//! `wikijs-gate token`: the named clients of a server over HTTP.

mod ending;
mod link;
mod list;
mod new;
mod rotate;

use super::file_faults;
use crate::audit::{ClientId, StoreHome};
use crate::cli::prelude::*;
use crate::config::{ServeSettings, SettingsSource, allowed_prefixes, store_home};
use crate::review::SignIns;
use crate::server::http::{KeptDelegates, NamedClient, TokensFile, TokensFileError};

#[derive(Debug, clap::Subcommand)]
pub(super) enum TokenCommand {
    /// Make a client in `WIKI_SERVE_TOKENS_FILE` and print its token, or the link with which a
    /// person signs in, once; what it may do is never more than what the server allows
    New(new::New),
    /// Make another link with which a reviewer or auditor signs in, in place of the one before
    Link(link::TokenLinkArgs),
    /// Give a client another token and another end; its id stays, and its old token counts on for
    /// a time
    Rotate(rotate::Rotate),
    /// List the clients and the sessions of people at the review page, when each ends, and when it
    /// came last
    #[command(after_help = "Examples:\n  wikijs-gate token list\n  wikijs-gate token list --json")]
    List(JsonArgs),
    /// Remove a client, with all its delegates, or end one delegate; its token counts for nothing
    /// from the next second on. Or end the sessions of a person at the review page, or one of them
    #[command(
        after_help = "Examples:\n  wikijs-gate token revoke ci\n  wikijs-gate token revoke ci/delegate-1a2b3c4d\n  wikijs-gate token revoke anna@example.com"
    )]
    Revoke {
        /// The client, the delegate, the person, or the session as `token list` shows it
        name: String,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(command: TokenCommand) -> CommandResult {
    start::start_log(Some("warn"))?;
    let layers = start::layers()?;
    let source = layers.source();
    let settings = ServeSettings::read(&source).map_err(Exit::usage)?;
    let file = settings.tokens_file.clone().ok_or_else(|| {
        Exit::usage("WIKI_SERVE_TOKENS_FILE is missing; it must name the file of named clients")
    })?;
    let desk = TokenCommandContext {
        file: TokensFile::for_operator(file),
        settings,
        source,
    };
    let file = &desk.file;
    match command {
        TokenCommand::New(new) => {
            let allowed = allowed_prefixes(&desk.source).map_err(Exit::usage)?;
            let vain = new.in_vain(desk.settings.rate, allowed.as_deref());
            let exit = new.make(&desk)?;
            for note in &vain {
                print::note(note);
            }
            for site in new.sites().filter(|site| layers.at(Some(site)).is_none()) {
                print::note(&format!("--sites: the settings file has no site {site}"));
            }
            if new.sees_default() && layers.lack_a_default() {
                print::note(
                    "without --sites it sees the wiki that /mcp means, and the settings file has none: name sites, or set default_site",
                );
            }
            Ok(exit)
        }
        TokenCommand::Link(link) => link.make(&desk),
        TokenCommand::Rotate(rotate) => rotate.make(&desk),
        TokenCommand::List(arguments) => list::list(file, &desk.home()?, arguments.json),
        TokenCommand::Revoke { name, json } => {
            let end = || desk.sign_ins()?.revoke(&name).map_err(Exit::failed);
            // The names of people have an @, and no client's has. One session has a slash in its name, and so has
            // a delegate.
            if name.contains(['@', '/']) {
                match end()? {
                    0 if name.contains('/') => {
                        let delegates = KeptDelegates::new(&desk.home()?);
                        delegates.revoke(&name).map_err(Exit::failed)?;
                    }
                    0 => return Err(failed(file)(TokensFileError::Unknown)),
                    _ => {}
                }
            } else {
                let client = client(file, &name);
                file.remove(&name).map_err(failed(file))?;
                // The client is out, whatever becomes of the list of its sessions and delegates.
                let ended = match client {
                    Ok(client) if client.role.signs_in() => ("sessions", end().map(drop)),
                    Ok(client) => ("delegates", desk.end_delegates(client.id)),
                    Err(_) => ("", Ok(())),
                };
                if let (what, Err(CommandError { message: fault, .. })) = ended {
                    remark!("Its {what} stay listed until they end: {fault}.");
                }
            }
            let words = format!("{name} was revoked");
            print::answer(json, &json!({ "revoked": name }), &words)
        }
    }
}

/// The named clients, and the settings of their server.
struct TokenCommandContext<'a> {
    file: TokensFile,
    settings: ServeSettings,
    source: SettingsSource<'a>,
}

impl TokenCommandContext<'_> {
    fn home(&self) -> Result<StoreHome, CommandError> {
        store_home(&self.source).map_err(Exit::usage)
    }

    fn sign_ins(&self) -> Result<SignIns, CommandError> {
        Ok(SignIns::new(&self.home()?))
    }

    /// Ends the delegates of a client that was removed.
    fn end_delegates(&self, maker: ClientId) -> Result<(), CommandError> {
        let delegates = KeptDelegates::new(&self.home()?);
        delegates.revoke_of(maker).map_err(Exit::failed)
    }
}

/// The client of a name.
fn client(file: &TokensFile, name: &str) -> Result<NamedClient, CommandError> {
    let clients = file.read().map_err(failed(file))?;
    let found = clients.into_iter().find(|client| client.name == name);
    found.ok_or_else(|| failed(file)(TokensFileError::Unknown))
}

fn failed(file: &TokensFile) -> impl Fn(TokensFileError) -> CommandError {
    |error| {
        let told = match error {
            TokensFileError::Io(why) => file_faults::unwritten(&file.path, why),
            error => error.to_string(),
        };
        Exit::failed(told)
    }
}

/// The error if the system has no random numbers.
fn no_randomness(_: getrandom::Error) -> CommandError {
    Exit::failed("the system gave no random numbers")
}
