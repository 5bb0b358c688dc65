//! `wikijs-mcp serve`: the server over standard input and output.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::exit::Exit;
use super::signals::Signals;
use super::{Outcome, start};
use crate::config::Settings;
use crate::server::{App, serve_stdio};
use crate::write::Patience;

/// Arguments of `serve`.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Arguments {
    /// Serve an embedded demo wiki in place of the configured one: writes on, each confirmed by
    /// its preview, all of it gone at the end
    #[cfg(feature = "demo")]
    #[arg(long)]
    demo: bool,
}

pub(super) async fn run(arguments: Arguments) -> Outcome {
    #[cfg(feature = "demo")]
    if arguments.demo {
        start::start_log()?;
        let demo = super::demo::Embedded::start()
            .await
            .map_err(|error| (Exit::Failed, error))?;
        return serve(demo.settings()?).await;
    }
    let Arguments { .. } = arguments;
    serve(start::settings()?).await
}

async fn serve(settings: Settings) -> Outcome {
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    let stop = CancellationToken::new();
    let signals = Signals::listen(stop.clone()).map_err(|error| (Exit::Failed, error))?;
    let app = App::new(settings, Patience::default()).map_err(|error| (Exit::Usage, error))?;
    serve_stdio(Arc::new(app), stop)
        .await
        .map_err(|error| (Exit::Failed, error))?;
    Ok(signals.exit().unwrap_or(Exit::Done))
}
