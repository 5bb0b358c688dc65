//! `wikijs-mcp token`: the named clients of a server over HTTP.

use std::time::Duration;

use serde_json::json;
use time::format_description::well_known::{Iso8601, Rfc3339};
use time::{Date, OffsetDateTime, UtcOffset};

use super::exit::Exit;
use super::print::{self, Paint};
use super::table::{Cell, Table};
use super::when::{from_now, minute};
use super::words::{self, one_of};
use super::{Outcome, files, start};
use crate::config::{ServeSettings, allowed_prefixes};
use crate::page::Prefix;
use crate::server::http::{ClientConfirm, Grant, NamedClient, Token, TokensFile, TokensFileError};
use crate::tools::{Registry, Surface, Toolset};

/// Arguments of `token`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a client in `WIKI_SERVE_TOKENS_FILE` and print its token, once; what it may do is
    /// never more than what the server allows
    New(New),
    /// List the clients
    #[command(after_help = "Examples:\n  wikijs-mcp token list\n  wikijs-mcp token list --json")]
    List {
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a client; its token counts for nothing from the next second on
    #[command(after_help = "Examples:\n  wikijs-mcp token revoke ci")]
    Revoke {
        /// The client
        name: String,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-mcp token new ci --read-only\n  wikijs-mcp token new task --expires 2h --prefixes docs/x"
)]
struct New {
    /// The client's name, under which its calls are on record
    name: String,
    // What has the name of a setting's flag stands in that flag's place here, by its id.
    /// Offer it no tool that writes
    #[arg(id = "WIKI_READ_ONLY", long = "read-only")]
    read_only: bool,
    /// Offer it these tools alone, comma-separated
    #[arg(
        id = "WIKI_TOOLS",
        long = "tools",
        value_delimiter = ',',
        value_name = "TOOLS",
        value_parser = one_of(words::tools, words::any),
        hide_possible_values = true
    )]
    tools: Option<Vec<String>>,
    /// Let it write below these prefixes alone, comma-separated
    #[arg(long, value_delimiter = ',', value_name = "PREFIXES")]
    prefixes: Option<Vec<String>>,
    /// Let it read below these prefixes alone, comma-separated
    #[arg(long, value_delimiter = ',', value_name = "PREFIXES")]
    read_prefixes: Option<Vec<String>>,
    /// Let it read nothing below these prefixes, comma-separated
    #[arg(long, value_delimiter = ',', value_name = "PREFIXES")]
    denied_read_prefixes: Option<Vec<String>>,
    /// Let it read no page with one of these tags, comma-separated
    #[arg(
        id = "WIKI_DENIED_READ_TAGS",
        long = "denied-read-tags",
        value_delimiter = ',',
        value_name = "TAGS"
    )]
    denied_read_tags: Option<Vec<String>>,
    /// Let its writes end as previews
    #[arg(long)]
    dry_run: bool,
    /// `person`: have a person say yes to each of its writes, where a preview's token would do
    #[arg(id = "WIKI_CONFIRM", long = "confirm", value_name = "MODE", value_parser = one_of(|| vec!["person"], words::any), hide_possible_values = true)]
    confirm: Option<String>,
    /// The most requests that it may send in a minute
    #[arg(long, value_name = "N")]
    rate: Option<u32>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
    /// When its token ends: after a time such as 2h, 30m or 7d, or at a date such as 2030-01-31
    #[arg(long, value_name = "WHEN")]
    expires: Option<String>,
}

pub(super) fn run(arguments: Arguments) -> Outcome {
    start::start_log(Some("warn"))?;
    let wrong = |error: String| (Exit::Usage, error);
    let layers = start::layers()?;
    let source = layers.source();
    let settings = ServeSettings::read(&source).map_err(|error| wrong(error.to_string()))?;
    let file = settings.tokens_file.ok_or_else(|| {
        wrong(
            "WIKI_SERVE_TOKENS_FILE is missing; it must name the file of named clients".to_owned(),
        )
    })?;
    let file = TokensFile::for_operator(file);
    match arguments.command {
        Command::New(new) => {
            let allowed = allowed_prefixes(&source).map_err(|error| wrong(error.to_string()))?;
            let vain = in_vain(&new, settings.rate, allowed.as_deref());
            let exit = make(&file, new)?;
            for note in &vain {
                print::note(note);
            }
            Ok(exit)
        }
        Command::List { json } => list(&file, json),
        Command::Revoke { name, json } => {
            file.remove(&name).map_err(failed(&file))?;
            print::line(&if json {
                json!({ "revoked": name }).to_string()
            } else {
                format!("{name} was revoked")
            });
            Ok(Exit::Done)
        }
    }
}

fn make(file: &TokensFile, new: New) -> Outcome {
    let wrong = |error: String| (Exit::Usage, error);
    let registry =
        Registry::of(&Surface::of(&Toolset::ALL)).map_err(|error| wrong(error.to_string()))?;
    for tool in new.tools.iter().flatten() {
        if registry.find(tool).is_none() {
            return Err(wrong(format!("--tools: there is no tool {tool:?}")));
        }
    }
    let confirm = match new.confirm.as_deref() {
        None => None,
        Some("person") => Some(ClientConfirm::Person),
        Some(_) => return Err(wrong("--confirm can only be person".to_owned())),
    };
    let ends = new.expires.map(|when| end(&when)).transpose();
    let may = Grant {
        read_only: new.read_only,
        tools: new.tools,
        prefixes: new.prefixes,
        read_prefixes: new.read_prefixes,
        denied_read_prefixes: new.denied_read_prefixes,
        denied_read_tags: new.denied_read_tags,
        dry_run: new.dry_run,
        confirm,
        rate: new.rate,
        expires: ends.map_err(wrong)?,
    };
    let token =
        Token::new().map_err(|_| (Exit::Failed, "the system gave no random numbers".to_owned()))?;
    let client = NamedClient::new(&new.name, &token, may).map_err(wrong)?;
    let ends_at = client.expires().ok().flatten();
    let id = client.id();
    file.add(client).map_err(failed(file))?;
    if new.json {
        print::line(&json!({ "name": new.name, "id": id, "token": token.reveal() }).to_string());
    } else {
        print::line(token.reveal());
        print::note("Keep this token: it is not shown again.");
        if let Some(end) = ends_at {
            print::note(&format!(
                "It expires {}, at {}.",
                from_now(end),
                minute(end)
            ));
        }
    }
    Ok(Exit::Done)
}

/// What of a grant can have no effect, since the server's own settings allow less.
fn in_vain(new: &New, most: u32, allowed: Option<&[Prefix]>) -> Vec<String> {
    let rate = new.rate.filter(|rate| *rate > most);
    let rate =
        rate.map(|_| format!("--rate: WIKI_SERVE_RATE allows {most} a minute, which stays so"));
    let outside = new.prefixes.iter().flatten().filter(|text| {
        let own = Prefix::parse(text).ok();
        own.zip(allowed)
            .is_some_and(|(own, allowed)| allowed.iter().all(|prefix| prefix.and(&own).is_none()))
    });
    let outside = outside.map(|text| {
        let text = print::harmless(text);
        format!("--prefixes: {text} lies outside WIKI_ALLOWED_MUTATION_PATH_PREFIXES; nothing can be written there")
    });
    rate.into_iter().chain(outside).collect()
}

/// When a token ends that lives so long, or until that date.
fn end(when: &str) -> Result<String, String> {
    let unit = |sign| match sign {
        'm' => Some(60),
        'h' => Some(3_600),
        'd' => Some(86_400),
        _ => None,
    };
    let after = || {
        let seconds = unit(when.chars().last()?)?;
        let number: u32 = when
            .get(..when.len() - 1)?
            .parse()
            .ok()
            .filter(|n| *n > 0)?;
        OffsetDateTime::now_utc().checked_add(
            Duration::from_secs(u64::from(number) * seconds)
                .try_into()
                .ok()?,
        )
    };
    let at = || {
        let day = Date::parse(when, &Iso8601::DATE).ok();
        let day = day.map(|day| day.midnight().assume_utc());
        day.or_else(|| OffsetDateTime::parse(when, &Rfc3339).ok())
    };
    after()
        .or_else(at)
        .filter(|end| *end > OffsetDateTime::now_utc())
        .and_then(|end| {
            let end = end.to_offset(UtcOffset::UTC).replace_nanosecond(0).ok()?;
            end.format(&Rfc3339).ok()
        })
        .ok_or_else(|| {
            "--expires must be a time such as 2h, 30m or 7d, or a date to come such as 2030-01-31"
                .to_owned()
        })
}

fn list(file: &TokensFile, is_json: bool) -> Outcome {
    let clients = file.read().map_err(failed(file))?;
    if is_json {
        let shown = clients.iter().map(|client| {
            json!({ "name": client.name, "id": client.id(), "created": client.created, "may": client.may, "expired": has_ended(client) })
        });
        let shown: Vec<_> = shown.collect();
        print::line(&json!({ "clients": shown }).to_string());
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["name", "id", "created", "expires", "may do less"]);
    for client in &clients {
        let end = client.expires().ok().flatten();
        let expires = match end {
            None => "never".into(),
            Some(end) if has_ended(client) => {
                Cell::painted(format!("ended {}", from_now(end)), Paint::Red)
            }
            Some(end) => format!("{}, {}", from_now(end), minute(end)).into(),
        };
        let (name, created) = (client.name.clone(), client.created.clone());
        table.row(vec![
            name.into(),
            client.id().to_string().into(),
            created.into(),
            expires,
            less(&client.may).into(),
        ]);
    }
    table.print();
    Ok(Exit::Done)
}

fn has_ended(client: &NamedClient) -> bool {
    let end = client.expires().ok().flatten();
    end.is_some_and(|end| end <= OffsetDateTime::now_utc())
}

/// What a client may do less than the server, in words.
fn less(may: &Grant) -> String {
    let words = [
        may.read_only.then(|| "reads only".to_owned()),
        may.tools
            .as_ref()
            .map(|tools| format!("tools {}", tools.join(" "))),
        may.prefixes
            .as_ref()
            .map(|all| format!("writes below {}", all.join(" "))),
        may.read_prefixes
            .as_ref()
            .map(|all| format!("reads below {}", all.join(" "))),
        may.denied_read_prefixes
            .as_ref()
            .map(|all| format!("reads nothing below {}", all.join(" "))),
        may.denied_read_tags
            .as_ref()
            .map(|all| format!("reads nothing tagged {}", all.join(" "))),
        may.dry_run.then(|| "dry run".to_owned()),
        may.confirm
            .map(|ClientConfirm::Person| "a person confirms".to_owned()),
        may.rate.map(|rate| format!("{rate} a minute")),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    print::harmless(&words.join(", "))
}

fn failed(file: &TokensFile) -> impl Fn(TokensFileError) -> (Exit, String) {
    |error| {
        let told = match error {
            TokensFileError::Io(why) => files::unwritten(file.path(), why),
            error => error.to_string(),
        };
        (Exit::Failed, told)
    }
}
