//! How every command begins: the program's own log, then the settings.

use std::sync::Arc;

use super::exit::Exit;
use super::log;
use crate::audit::Client;
use crate::config::{Settings, log_settings};
use crate::gates::SessionId;
use crate::server::App;
use crate::write::{Asker, Caller, Patience};

/// Starts the log and reads the settings.
///
/// # Errors
/// The setting that is missing or bad, with the exit code for it.
pub(super) fn settings() -> Result<Settings, (Exit, String)> {
    start_log()?;
    Settings::from_environment().map_err(|error| (Exit::Usage, error.to_string()))
}

/// Starts the log alone, for commands that need no wiki.
///
/// # Errors
/// The setting that is bad, with the exit code for it.
pub(super) fn start_log() -> Result<(), (Exit, String)> {
    let settings = log_settings().map_err(|error| (Exit::Usage, error.to_string()))?;
    log::start(&settings).map_err(|error| (Exit::Usage, error))
}

/// All that an operator's command works with. The operator's yes stands for the confirm and for
/// the end of a dry run; all else of the settings holds.
///
/// # Errors
/// The setting that is missing or bad, with the exit code for it.
pub(super) fn app_for_operator() -> Result<Arc<App>, (Exit, String)> {
    let mut settings = settings()?;
    settings.policy = settings.policy.for_operator();
    let app = App::new(settings, Patience::default()).map_err(|error| (Exit::Usage, error))?;
    Ok(Arc::new(app))
}

/// The operator, who calls by a command.
pub(super) fn operator(command: &'static str) -> Caller {
    Caller {
        tool: command,
        client: Client {
            name: "wikijs-mcp".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Client::default()
        },
        session: SessionId::new("operator"),
        asker: Asker::Nobody,
    }
}
