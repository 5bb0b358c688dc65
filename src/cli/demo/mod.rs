//! `wikijs-gate demo`: the embedded wiki, alone or with the story of what this program is for.

mod client;
mod story;

use std::net::SocketAddr;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::signals::Signals;
use crate::cli::prelude::*;
use crate::config::Settings;
use crate::demo::{DemoOptions, DemoWiki, Seed};

/// Arguments of `demo`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Serve the embedded wiki alone at this loopback address (port 0: any), and print its
    /// address and keys as one line of JSON
    #[arg(long, value_name = "ADDRESS")]
    wiki: Option<SocketAddr>,
    /// Start it without pages
    #[arg(long, requires = "wiki")]
    empty: bool,
}

pub(super) async fn run(arguments: Arguments) -> CommandResult {
    match arguments.wiki {
        Some(address) => wiki_alone(address, &arguments).await,
        None => story::tell().await,
    }
}

async fn wiki_alone(address: SocketAddr, arguments: &Arguments) -> CommandResult {
    if !address.ip().is_loopback() {
        return Err(Exit::usage(
            "--wiki must be a loopback address: the demo wiki's keys are no secrets",
        ));
    }
    let options = DemoOptions {
        address,
        seed: if arguments.empty {
            Seed::Empty
        } else {
            Seed::Sample
        },
    };
    let stop = CancellationToken::new();
    let signals = Signals::listen(stop.clone()).map_err(Exit::failed)?;
    let wiki = DemoWiki::start(options)
        .await
        .map_err(|error| Exit::failed(format!("the demo wiki could not be started: {error}")))?;
    print::value(&json!({ "address": wiki.address(), "keys": wiki.keys() }));
    stop.cancelled().await;
    wiki.shutdown().await;
    Ok(signals.exit().unwrap_or(Exit::Done))
}

/// An embedded wiki with a directory for the audit log; both are gone when it is dropped.
pub(super) struct Embedded {
    wiki: DemoWiki,
    dir: TempDir,
}

impl Embedded {
    pub(super) async fn start() -> Result<Self, String> {
        let failed = |error| format!("the demo could not be started: {error}");
        Ok(Self {
            wiki: DemoWiki::start(DemoOptions::default())
                .await
                .map_err(failed)?,
            dir: tempfile::Builder::new()
                .prefix("wikijs-gate-demo-")
                .tempdir()
                .map_err(failed)?,
        })
    }

    /// Settings for it: writes on, each confirmed by its preview.
    pub(super) fn settings(&self) -> Result<Settings, CommandError> {
        let get = |name: &str| {
            self.variables()
                .into_iter()
                .find(|(variable, _)| *variable == name)
                .map(|(_, value)| value.into())
        };
        Settings::read(&crate::config::SettingsSource::new(&get)).map_err(Exit::failed)
    }

    /// The same settings as a server's environment.
    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("WIKI_BASE_URL", self.wiki.address()),
            ("WIKI_API_TOKEN", self.wiki.keys().scripter.clone()),
            ("WIKI_MUTATIONS_ENABLED", "true".to_owned()),
            ("WIKI_MUTATION_DRY_RUN", "false".to_owned()),
            (
                "WIKI_AUDIT_DIR",
                self.dir.path().to_string_lossy().into_owned(),
            ),
        ]
    }
}
