//! How every command begins: the layers of settings, the program's own log, then the settings, and
//! who it is.

use std::sync::OnceLock;

use super::exit::Exit;
use super::log;
use crate::audit::Client;
use crate::config::{Given, Layers, Settings, log_settings};
use crate::gates::SessionId;
use crate::write::{Asker, Caller};

/// What the command line says of settings; as much the whole process's as its environment.
static GIVEN: OnceLock<Given> = OnceLock::new();

/// Keeps what the command line says of settings, once.
pub(super) fn give(given: Given) {
    GIVEN.get_or_init(|| given);
}

/// What the command line says of settings.
pub(super) fn given() -> &'static Given {
    GIVEN.get_or_init(Given::default)
}

/// Starts the log and reads the settings.
///
/// # Errors
/// The first setting that is missing or bad, with the exit code for it.
pub(super) fn settings() -> Result<Settings, (Exit, String)> {
    start_log()?;
    Settings::load(&layers()?).map_err(|faults| first(&faults))
}

/// Starts the log alone, for commands that need no wiki.
///
/// # Errors
/// The setting that is bad, with the exit code for it.
pub(super) fn start_log() -> Result<(), (Exit, String)> {
    let settings =
        log_settings(&layers()?.source()).map_err(|error| (Exit::Usage, error.to_string()))?;
    log::start(&settings).map_err(|error| (Exit::Usage, error))
}

/// All that settings are read from.
///
/// # Errors
/// The first fault of the settings file, with the exit code for it.
pub(super) fn layers() -> Result<Layers, (Exit, String)> {
    Layers::load(given()).map_err(|faults| first(&faults))
}

/// A start ends with one line.
fn first(faults: &[impl ToString]) -> (Exit, String) {
    let told = faults.first().map_or_else(String::new, ToString::to_string);
    (Exit::Usage, told)
}

/// Who calls, where an operator does so by a command.
pub(super) fn caller(tool: &'static str) -> Caller {
    Caller {
        tool,
        client: Client {
            name: "wikijs-mcp".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Client::default()
        },
        session: SessionId::new("operator"),
        asker: Asker::Nobody,
    }
}
