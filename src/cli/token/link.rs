//! `wikijs-gate token link`: another link with which a person signs in.

use secrecy::ExposeSecret as _;

use super::{TokenCommandContext, client, failed};
use crate::cli::prelude::*;
use crate::config::review_address;
use crate::review::SignIns;
use crate::server::http::{NamedClient, TokensFileError};

/// Arguments of `token link`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  wikijs-gate token link anna --url https://wiki-mcp.example.com"
)]
pub(in crate::cli) struct TokenLinkArgs {
    /// The reviewer or auditor
    name: String,
    #[command(flatten)]
    at: At,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Where a person reaches the server.
#[derive(Debug, clap::Args)]
pub(super) struct At {
    /// Where a browser reaches the server; else at `WIKI_REVIEW_URL`, the first of
    /// `WIKI_SERVE_ALLOWED_HOSTS`, or `WIKI_SERVE_ADDRESS`
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

impl TokenLinkArgs {
    pub(super) fn make(self, desk: &TokenCommandContext<'_>) -> CommandResult {
        let client = client(&desk.file, &self.name)?;
        if !client.role.signs_in() {
            return Err(failed(&desk.file)(TokensFileError::HasNoLink));
        }
        let address = self.at.address(desk)?;
        let link = link(&address, &desk.sign_ins()?, &client)?;
        if self.json {
            print::value(&json!({ "name": self.name, "signInLink": link }));
        } else {
            tell(&link);
        }
        Ok(Exit::Done)
    }
}

impl At {
    /// The address without a slash at its end.
    pub(super) fn address(&self, desk: &TokenCommandContext<'_>) -> Result<String, CommandError> {
        let settings = &desk.settings;
        if let Some(url) = &self.url {
            let parsed = url::Url::parse(url).ok();
            let is_http = parsed.is_some_and(|url| {
                matches!(url.scheme(), "http" | "https")
                    && url.query().or(url.fragment()).is_none()
                    && url.username().is_empty()
                    && url.password().is_none()
            });
            return is_http.then(|| above_page(url)).ok_or_else(|| {
                Exit::usage("--url must be an address such as https://wiki-mcp.example.com")
            });
        }
        if let Some(url) = review_address(&desk.source).map_err(Exit::usage)?.named() {
            return Ok(above_page(url));
        }
        let by_name = settings.allowed_hosts.first();
        let by_name = by_name.map(|host| format!("https://{host}"));
        let at = settings.address.map(|mut at| {
            // What listens everywhere is reached from this machine at least.
            if at.ip().is_unspecified() {
                at.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
            }
            format!("{}://{at}", settings.scheme())
        });
        by_name.or(at).ok_or_else(|| {
            Exit::usage("--url must say where a browser reaches the server: none of WIKI_REVIEW_URL, WIKI_SERVE_ALLOWED_HOSTS and WIKI_SERVE_ADDRESS does")
        })
    }
}

/// The address of a server, which may be given with its page's path as in `WIKI_REVIEW_URL`.
fn above_page(url: &str) -> String {
    let url = url.trim_end_matches('/');
    url.strip_suffix("/review").unwrap_or(url).to_owned()
}

/// Makes a link that signs in whoever opens it first, as this client.
pub(super) fn link(
    address: &str,
    sign_ins: &SignIns,
    client: &NamedClient,
) -> Result<String, CommandError> {
    let name = &client.name;
    let secret = sign_ins.invite(client.id, name).map_err(|fault| {
        Exit::failed(format!(
            "no link was made: {fault}; `wikijs-gate token link {name}` tries again"
        ))
    })?;
    Ok(format!(
        "{address}/review/sign-in?link={}",
        secret.expose_secret()
    ))
}

/// Shows a link, once.
pub(super) fn tell(link: &str) {
    print::line(link);
    print::note(
        "Open this link in a browser, or hand it to that person alone: it signs in once, within a day.",
    );
}
