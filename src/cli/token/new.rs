//! `wikijs-gate token new`: one more client.

use super::super::words::{self, one_of};
use super::ending::{DEFAULT, end};
use super::link::{At, link, tell};
use super::{TokenCommandContext, failed, no_randomness};
use crate::audit::Role;
use crate::cli::prelude::*;
use crate::custom::is_custom_name;
use crate::page::Prefix;
use crate::server::http::{ClientConfirm, ClientToken, Grant, NamedClient};
use crate::site::SiteName;
use crate::tools::{Registry, ToolSelection, Toolset};

/// Arguments of `token new`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate token new ci --read-only\n  wikijs-gate token new task --expires 2h --prefixes docs/x\n  wikijs-gate token new anna --reviewer --prefixes docs"
)]
pub(in crate::cli) struct New {
    /// The client's name, under which its calls are on record
    name: String,
    /// A person who decides on what waits, on the review page
    #[arg(long, group = "role")]
    reviewer: bool,
    /// A person who reads all of the record on the review page, and decides nothing
    #[arg(long, group = "role")]
    auditor: bool,
    /// What collects /metrics, and opens nothing else
    #[arg(long, group = "role")]
    metrics: bool,
    /// Let it see these sites of the settings file alone, comma-separated; else the one that `/mcp`
    /// alone means
    #[arg(long, value_delimiter = ',', value_name = "SITES")]
    sites: Option<Vec<String>>,
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
    /// Let it write, or decide, below these prefixes alone, comma-separated
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
    /// Let a reviewer apply what waits although the server is in a dry run
    #[arg(long)]
    may_apply_in_dry_run: bool,
    /// The most requests that it may send in a minute
    #[arg(long, value_name = "N")]
    rate: Option<u32>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
    /// When it ends: after a time such as 2h, 30m or 7d, at a date such as 2030-01-31, or `never`;
    /// else after 90 days
    #[arg(long, value_name = "WHEN")]
    expires: Option<String>,
    #[command(flatten)]
    at: At,
}

impl New {
    fn role(&self) -> Role {
        match (self.reviewer, self.auditor, self.metrics) {
            (true, ..) => Role::Reviewer,
            (_, true, _) => Role::Auditor,
            (.., true) => Role::Metrics,
            _ => Role::Agent,
        }
    }

    /// The sites that it is to see.
    pub(super) fn sites(&self) -> impl Iterator<Item = SiteName> {
        self.sites
            .iter()
            .flatten()
            .filter_map(|site| site.parse().ok())
    }

    /// True if it sees the wiki alone that `/mcp` means.
    pub(super) const fn sees_default(&self) -> bool {
        self.sites.is_none() && !self.metrics
    }

    fn grant(&self) -> Result<Grant, String> {
        let registry =
            Registry::new(&ToolSelection::new(&Toolset::ALL)).map_err(|error| error.to_string())?;
        for tool in self.tools.iter().flatten() {
            // Whether a file says a custom tool is known where it is served.
            if registry.find(tool).is_none() && !is_custom_name(tool) {
                return Err(format!("--tools: there is no tool {tool:?}"));
            }
        }
        let confirm = match self.confirm.as_deref() {
            None => None,
            Some("person") => Some(ClientConfirm::Person),
            Some(_) => return Err("--confirm can only be person".to_owned()),
        };
        Ok(Grant {
            sites: self.sites.clone(),
            read_only: self.read_only,
            tools: self.tools.clone(),
            prefixes: self.prefixes.clone(),
            read_prefixes: self.read_prefixes.clone(),
            denied_read_prefixes: self.denied_read_prefixes.clone(),
            denied_read_tags: self.denied_read_tags.clone(),
            dry_run: self.dry_run,
            confirm,
            may_apply_in_dry_run: self.may_apply_in_dry_run,
            rate: self.rate,
            expires: end(self.expires.as_deref().unwrap_or(DEFAULT))?,
        })
    }

    pub(super) fn make(&self, desk: &TokenCommandContext<'_>) -> CommandResult {
        let file = &desk.file;
        let (role, may) = (self.role(), self.grant().map_err(Exit::usage)?);
        let is_link = role.signs_in();
        // The client, and its token or link, which is shown once.
        let (client, shown) = if is_link {
            let (address, sign_ins) = (self.at.address(desk)?, desk.sign_ins()?);
            let client = NamedClient::new(&self.name, role, None, may).map_err(Exit::usage)?;
            file.add(client.clone()).map_err(failed(file))?;
            let link = link(&address, &sign_ins, &client)?;
            (client, link)
        } else {
            let token = ClientToken::new().map_err(no_randomness)?;
            let client = NamedClient::new(&self.name, role, Some(&token), may);
            let client = client.map_err(Exit::usage)?;
            file.add(client.clone()).map_err(failed(file))?;
            (client, token.reveal().to_owned())
        };
        let (id, ends) = (client.id, client.expires().ok().flatten());
        let expires = client.may.expires;
        if self.json {
            let word = if is_link { "signInLink" } else { "token" };
            return print::json(
                &json!({ "name": self.name, "id": id, "role": role, "expires": expires, (word): shown }),
            );
        }
        if is_link {
            tell(&shown);
        } else {
            print::line(&shown);
            print::note("Keep this token: it is not shown again.");
        }
        if let Some(end) = ends {
            let whose = if is_link { self.name.as_str() } else { "It" };
            let else_ = if self.expires.is_none() {
                "; --expires says otherwise"
            } else {
                ""
            };
            let (away, at) = (from_now(end), minute(end));
            remark!("{whose} expires {away}, at {at}{else_}.");
        }
        Ok(Exit::Done)
    }

    /// The parts of a grant that have no effect, since the server's own settings allow less, or since no
    /// usual path is meant by them.
    pub(super) fn in_vain(&self, most: u32, allowed: Option<&[Prefix]>) -> Vec<String> {
        let rate = self.rate.filter(|rate| *rate > most);
        let rate =
            rate.map(|_| format!("--rate: WIKI_SERVE_RATE allows {most} a minute, which stays so"));
        let outside = self.prefixes.iter().flatten().filter(|text| {
            let own = Prefix::parse(text).ok();
            own.zip(allowed).is_some_and(|(own, allowed)| {
                allowed.iter().all(|prefix| prefix.and(&own).is_none())
            })
        });
        let outside = outside.map(|text| {
            let text = print::harmless(text);
            format!("--prefixes: {text} lies outside WIKI_ALLOWED_MUTATION_PATH_PREFIXES; nothing can be written there")
        });
        let lists = [
            ("--prefixes", &self.prefixes),
            ("--read-prefixes", &self.read_prefixes),
            ("--denied-read-prefixes", &self.denied_read_prefixes),
        ];
        let doubts = lists.into_iter().flat_map(|(flag, prefixes)| {
            prefixes.iter().flatten().filter_map(move |text| {
                let doubt = Prefix::parse(text).ok()?.doubt()?;
                Some(format!("{flag} has {}, {doubt}", print::harmless(text)))
            })
        });
        rate.into_iter().chain(outside).chain(doubts).collect()
    }
}
