//! The program's own log: to stderr, or to a file a day.

use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::config::LogSettings;

/// Starts the log. Other crates' lines pass from warnings on: rmcp logs whole messages, with
/// what pages say, at its lower levels, and each client that hangs up as an error.
///
/// # Errors
/// One sentence, if the directory cannot be written.
pub(super) fn start(settings: &LogSettings) -> Result<(), String> {
    let filter = match settings.level {
        "off" => "off".to_owned(),
        "error" => "error,rmcp::service=off".to_owned(),
        level => format!("warn,rmcp=error,rmcp::service=off,wikijs_mcp={level}"),
    };
    let writer = match &settings.dir {
        None => BoxMakeWriter::new(std::io::stderr),
        Some(dir) => {
            let file = RollingFileAppender::builder()
                .rotation(Rotation::DAILY)
                .filename_prefix("wikijs-mcp")
                .filename_suffix("log")
                .build(dir)
                .map_err(|_| "WIKI_LOG_DIR must be a directory that can be written".to_owned())?;
            BoxMakeWriter::new(file)
        }
    };
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_ansi(false)
        .with_writer(writer);
    if settings.is_json {
        subscriber.json().init();
    } else {
        subscriber.init();
    }
    Ok(())
}
