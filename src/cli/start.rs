//! How every command begins: the program's own log, then the settings.

use super::exit::Exit;
use super::log;
use crate::audit::AuditLog;
use crate::config::{AuditSettings, Settings, log_settings};

/// Starts the log and reads the settings.
///
/// # Errors
/// The setting that is missing or bad, with the exit code for it.
pub(super) fn settings() -> Result<Settings, (Exit, String)> {
    start_log()?;
    Settings::from_environment().map_err(|error| (Exit::Usage, error.to_string()))
}

/// Starts the log and gives the audit log of the configured wiki, to be read back; no key is
/// needed for that.
///
/// # Errors
/// The setting that is missing or bad, with the exit code for it.
pub(super) fn audit_log() -> Result<AuditLog, (Exit, String)> {
    start_log()?;
    let settings =
        AuditSettings::from_environment().map_err(|error| (Exit::Usage, error.to_string()))?;
    Ok(AuditLog::new(&settings.dir, &settings.wiki))
}

/// Starts the log alone, for commands that need no wiki.
///
/// # Errors
/// The setting that is bad, with the exit code for it.
pub(super) fn start_log() -> Result<(), (Exit, String)> {
    let settings = log_settings().map_err(|error| (Exit::Usage, error.to_string()))?;
    log::start(&settings).map_err(|error| (Exit::Usage, error))
}
