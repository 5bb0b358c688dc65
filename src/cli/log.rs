//! The program's own log: to stderr, or to a file a day.

#![expect(clippy::disallowed_types, reason = "the file that the server logs to")]

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use parking_lot::{Mutex, MutexGuard};
use time::{Date, OffsetDateTime};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::config::LogSettings;
use crate::private_files;

const NOT_WRITABLE: &str = "WIKI_LOG_DIR must be a directory that can be written";

/// Starts the log. Other crates' lines pass from warnings on: rmcp logs whole messages, with
/// what pages say, at its lower levels, and each client that hangs up as an error.
///
/// # Errors
/// One sentence, if the directory cannot be written.
pub(super) fn start(settings: &LogSettings) -> Result<(), String> {
    let filter = match settings.level {
        "off" => "off".to_owned(),
        "error" => "error,rmcp::service=off".to_owned(),
        level => format!("warn,rmcp=error,rmcp::service=off,wikijs_gate={level}"),
    };
    let writer = match &settings.dir {
        None => BoxMakeWriter::new(std::io::stderr),
        Some(dir) => {
            BoxMakeWriter::new(Daily::begin(dir.clone()).map_err(|_| NOT_WRITABLE.to_owned())?)
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

/// Starts the log on stderr, for commands that write nothing; of the directory it is only seen whether
/// it can be written.
///
/// # Errors
/// As [`start`].
pub(super) fn start_on_stderr(mut settings: LogSettings) -> Result<(), String> {
    match settings.dir.take() {
        Some(dir) if !private_files::may_write_directory(&dir) => Err(NOT_WRITABLE.to_owned()),
        _ => start(&settings),
    }
}

/// A directory with a file for each day in UTC. The files are private to their owner, which is the
/// directory's owner if root's command makes them.
struct Daily {
    dir: PathBuf,
    file: Mutex<(Date, File)>,
}

impl Daily {
    fn begin(dir: PathBuf) -> io::Result<Self> {
        private_files::make_dirs(&dir)?;
        let today = today();
        let file = Mutex::new((today, open(&dir, today)?));
        Ok(Self { dir, file })
    }
}

fn today() -> Date {
    OffsetDateTime::now_utc().date()
}

fn open(dir: &Path, day: Date) -> io::Result<File> {
    private_files::open_to_append(&dir.join(format!("wikijs-gate.{day}.log")))
}

/// The file of the day, held while one line is written to it.
struct LogFileGuard<'a>(MutexGuard<'a, (Date, File)>);

impl<'a> MakeWriter<'a> for Daily {
    type Writer = LogFileGuard<'a>;

    fn make_writer(&'a self) -> LogFileGuard<'a> {
        let mut file = self.file.lock();
        let today = today();
        // If the new file cannot be made, the old one is used further, so no line is lost.
        if file.0 != today
            && let Ok(new) = open(&self.dir, today)
        {
            *file = (today, new);
        }
        LogFileGuard(file)
    }
}

impl Write for LogFileGuard<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.1.write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.1.flush()
    }
}
