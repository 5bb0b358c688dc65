//! `wikijs-gate token rotate`: another token for a client that stays the same.

use std::time::Duration;

use time::OffsetDateTime;

use super::ending::{DEFAULT, end, length};
use super::link::{At, link, tell};
use super::{TokenCommandContext, client, failed, no_randomness};
use crate::cli::prelude::*;
use crate::cli::when::rfc3339;
use crate::server::http::{ClientToken, NamedClient, Rotation, TokensFile};

/// The default time for which the previous token remains valid.
const KEPT: &str = "24h";

/// Arguments of `token rotate`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate token rotate ci\n  wikijs-gate token rotate ci --keep-old 1h --expires 30d"
)]
pub(in crate::cli) struct Rotate {
    /// The client, whose id and grant stay
    name: String,
    /// How long its old token counts on, such as 30m or 1h, or 0; else 24 hours, and never beyond
    /// the end that it had
    #[arg(long, value_name = "TIME")]
    keep_old: Option<String>,
    /// When the client ends from now on: after a time such as 2h, 30m or 7d, at a date such as
    /// 2030-01-31, or `never`; else after 90 days
    #[arg(long, value_name = "WHEN")]
    expires: Option<String>,
    #[command(flatten)]
    at: At,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Rotate {
    pub(super) fn make(self, desk: &TokenCommandContext<'_>) -> CommandResult {
        let file = &desk.file;
        let before = client(file, &self.name)?;
        let ends = before.expires().map_err(Exit::failed)?;
        let expires = end(self.expires.as_deref().unwrap_or(DEFAULT)).map_err(Exit::usage)?;
        if before.role.signs_in() {
            return self.sign_in_anew(desk, &before, expires);
        }
        let keep = match self.keep_old.as_deref().unwrap_or(KEPT) {
            "0" => Some(Duration::ZERO),
            text => length(text),
        };
        let keep = keep
            .ok_or_else(|| Exit::usage("--keep-old must be a time such as 30m, 1h or 2d, or 0"))?;
        let token = ClientToken::new().map_err(no_randomness)?;
        let rotation = Rotation {
            token: Some(&token),
            keep,
            expires: expires.clone(),
        };
        file.rotate(&self.name, &rotation).map_err(failed(file))?;
        let now = OffsetDateTime::now_utc();
        let until = ends.map_or(now + keep, |ends| ends.min(now + keep));
        let until = Some(until).filter(|until| *until > now);
        if self.json {
            let until = rfc3339(until.and_then(|until| until.replace_nanosecond(0).ok()));
            return print::json(
                &json!({ "name": self.name, "id": before.id, "token": token.reveal(), "expires": expires, "oldTokenUntil": until }),
            );
        }
        print::line(token.reveal());
        print::note("Keep this token: it is not shown again.");
        print::note(&match until {
            Some(until) => format!(
                "The old token ends {}, at {}.",
                from_now(until),
                minute(until)
            ),
            None => "The old token has ended.".to_owned(),
        });
        self.tell_end(file);
        Ok(Exit::Done)
    }

    /// A person gets another link, and another end.
    fn sign_in_anew(
        self,
        desk: &TokenCommandContext<'_>,
        client: &NamedClient,
        expires: Option<String>,
    ) -> CommandResult {
        let (file, address, sign_ins) = (&desk.file, self.at.address(desk)?, desk.sign_ins()?);
        if self.keep_old.is_some() {
            return Err(Exit::usage(
                "--keep-old: reviewers and auditors have no token; they sign in with a link",
            ));
        }
        let rotation = Rotation {
            token: None,
            keep: Duration::ZERO,
            expires,
        };
        file.rotate(&self.name, &rotation).map_err(failed(file))?;
        let link = link(&address, &sign_ins, client)?;
        if self.json {
            print::value(
                &json!({ "name": self.name, "signInLink": link, "expires": rotation.expires }),
            );
        } else {
            tell(&link);
            self.tell_end(file);
        }
        Ok(Exit::Done)
    }

    /// Says when the client expires, from the present file.
    fn tell_end(&self, file: &TokensFile) {
        let client = client(file, &self.name).ok();
        let end = client.and_then(|client| client.expires().ok().flatten());
        if let Some(end) = end {
            let (name, away, at) = (&self.name, from_now(end), minute(end));
            remark!("{name} expires {away}, at {at}.");
        }
    }
}
