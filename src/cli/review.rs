//! `wikijs-gate review`: a page in the browser where the operator decides.
//!
//! It listens on loopback alone. Browsers keep cookies by name and not by port, so the page has a
//! name of its own below `localhost`, made anew for each run. The link that signs in goes to the
//! terminal, and to the browser through a file that only its user can read, never through the
//! command line of a process, which everybody on the machine can read.

#![expect(
    clippy::disallowed_methods,
    reason = "a link that is signed in with once"
)]

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use secrecy::ExposeSecret as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::level;
use super::proposals::named;
use super::signals::Signals;
use crate::audit::ClientId;
use crate::cli::prelude::*;
use crate::gates::{Policy, PolicyLevel};
use crate::hex;
use crate::private_files;
use crate::review::{
    Authenticator, ReviewOrigin, Reviewer, Reviews, SignInRecord, SignIns, SignedOut, WikiHandle,
    router,
};
use crate::server::http::serve_routes;
use crate::write::Timeouts;

/// Programs that open a file in the user's browser.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

/// Arguments of `review`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "What you decide on the page is the operator's decision: it applies at every level but `off`, ends a dry run,\npasses a pause, and satisfies every rule but `deny`.\n\nExamples:\n  wikijs-gate review\n  wikijs-gate review 4f2a6b1c9d8e7f60\n  wikijs-gate review --no-browser --port 8780"
)]
pub(super) struct Arguments {
    /// The proposal to begin with: its id, or four or more of its first characters
    id: Option<String>,
    /// Listen at this port of 127.0.0.1; a free one if none is named
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Only print the address
    #[arg(long)]
    no_browser: bool,
}

/// Lets the operator in, by the link of this run.
struct OperatorsDoor {
    /// This run, as a client that nobody else has.
    run: ClientId,
    operator: Reviewer,
    sign_ins: SignIns,
}

#[async_trait::async_trait]
impl Authenticator for OperatorsDoor {
    async fn still(
        &self,
        (name, record): (&str, &SignInRecord),
        _: Option<&str>,
    ) -> Result<Reviewer, SignedOut> {
        if record.client() != Some(self.run) {
            return Err(SignedOut::Over);
        }
        self.sign_ins.note_use(name, record).await;
        Ok(self.operator.clone())
    }
}

pub(super) async fn run(arguments: Arguments) -> CommandResult {
    let app = start::app_of(Timeouts::default(), Policy::for_operator)?;
    let first = match arguments.id {
        Some(id) => named(&app, &[id]).await?.first().copied(),
        None => None,
    };
    let policy = app.desk.policy();
    if matches!(policy.writes.level(), PolicyLevel::Off) {
        remark!(
            "{}: sets can be looked at and rejected, and none applied",
            level::named(policy)
        );
    }
    let stop = CancellationToken::new();
    let signals = Signals::listen(stop.clone()).map_err(Exit::failed)?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let listener = TcpListener::bind(address).await;
    let listener = listener
        .map_err(|error| Exit::failed(format!("{address} cannot be listened at: {error}")))?;
    let port = listener.local_addr().map_err(Exit::failed)?;
    let (name, run) = (random()?, ClientId::new().map_err(Exit::failed)?);
    let host = format!("{name}.localhost:{}", port.port());
    let caller = start::operator(RecordedCommand::Review);
    let operator = Reviewer {
        name: caller
            .actor
            .as_ref()
            .map_or_else(String::new, |actor| actor.as_str().to_owned()),
        site: None,
        sites: Vec::new(),
        may_decide: true,
        may_apply: true,
        sees_all: true,
        decides_own: false,
        notice: None,
        prefixes: None,
        bench: WikiHandle {
            wiki: Arc::clone(&app.wiki),
            desk: Arc::clone(&app.desk),
            writer: Arc::clone(&app.writer),
            mirror: app.mirror.clone(),
        },
        caller,
    };
    let sign_ins = SignIns::new(app.desk.audit().home());
    let secret = sign_ins.invite(run, &operator.name).map_err(Exit::failed)?;
    let doors = OperatorsDoor {
        run,
        operator,
        sign_ins: sign_ins.clone(),
    };
    let place = ReviewOrigin {
        host: Some(host.clone()),
        ..ReviewOrigin::default()
    };
    let then = first.map_or_else(String::new, |id| format!("&then={id}"));
    let secret = secret.expose_secret();
    let link = format!("http://{host}/review/sign-in?link={secret}{then}");
    print::line(&link);
    print::note("the link works once, in one browser; Ctrl-C ends the page");
    let file = if arguments.no_browser {
        None
    } else {
        open(&link)
    };
    let reviews = Reviews::new(Arc::new(doors), sign_ins.clone(), place);
    serve_routes(listener, router(Arc::new(reviews)), stop).await;
    if let Some(file) = file {
        let _ = std::fs::remove_file(file);
    }
    app.writer.finish().await;
    sign_ins.end_of(run).map_err(Exit::failed)?;
    Ok(signals.exit().unwrap_or(Exit::Done))
}

/// Random bits in hex.
fn random() -> Result<String, CommandError> {
    let mut bits = [0_u8; 8];
    getrandom::fill(&mut bits).map_err(Exit::failed)?;
    Ok(hex::encode(&bits))
}

/// Opens the link in the user's browser, through a private file that leads on to it; gives the
/// file. Where there is no browser, the printed link is enough.
fn open(link: &str) -> Option<PathBuf> {
    if !print::can_ask() {
        return None;
    }
    let path = std::env::temp_dir().join(format!("wikijs-gate-review-{}.html", std::process::id()));
    let escaped = link.replace('&', "&amp;");
    let text = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0; url={escaped}\"><a href=\"{escaped}\">Go on</a>\n"
    );
    private_files::make_whole(&path, text.as_bytes()).ok()?;
    let is_open = OPENERS.iter().any(|opener| {
        let opened = Command::new(opener)
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        opened.is_ok()
    });
    if !is_open {
        print::note("no browser could be opened; open the address by hand");
    }
    Some(path)
}
