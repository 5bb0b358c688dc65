//! Measures what the commands that read the record take, on logs of 100,000 and of 1,000,000 events.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use wikijs_gate::audit::AuditLog;

use crate::figure::{Figure, Unit};
use crate::process::BINARY;
use crate::stats::{median, megabytes, milliseconds};
use crate::wiki::Wiki;

/// The settings for the wiki of `store hammer`.
pub(crate) const OF_HAMMER: &[(&str, &str)] = &[("WIKI_BASE_URL", "https://hammer.invalid")];
const TURNS: usize = 3;
/// How often the memory is looked at.
const LOOK: Duration = Duration::from_millis(2);

pub(crate) fn measure() -> Vec<Figure> {
    let mut figures = of_a_log();
    figures.extend(of_a_large_log());
    figures.push(of_proposals());
    figures
}

/// What every command takes for a log of 100,000 events, and the memory of the one that takes most.
fn of_a_log() -> Vec<Figure> {
    let dir = log(100_000, 0);
    let report = dir.path().join("report.html");
    let report = report.to_str().expect("UTF-8");
    let commands: [(&'static str, &[&str]); 7] = [
        (
            "100,000 events: audit list",
            &["audit", "list", "--path", "docs"],
        ),
        ("100,000 events: audit show", &["audit", "show", "last"]),
        ("100,000 events: audit tail", &["audit", "tail"]),
        ("100,000 events: audit stats", &["audit", "stats"]),
        ("100,000 events: audit head", &["audit", "head"]),
        ("100,000 events: audit verify", &["audit", "verify"]),
        (
            "100,000 events: audit report",
            &["audit", "report", "--html", report],
        ),
    ];
    let (mut figures, mut peak, mut peak_of_report) = (Vec::new(), 0, 0);
    for (what, arguments) in commands {
        let (figure, memory) = timed((&dir, OF_HAMMER), what, arguments, 2_000.0);
        let highest = if what.ends_with("report") {
            &mut peak_of_report
        } else {
            &mut peak
        };
        *highest = memory.max(*highest);
        figures.push(figure);
    }
    let memory = |what, bytes, most| Figure::at_most(what, Unit::Megabytes, megabytes(bytes), most);
    figures.push(memory("100,000 events: memory, highest", peak, 48.0));
    figures.push(memory(
        "100,000 events: memory of the report",
        peak_of_report,
        96.0,
    ));
    figures
}

/// What the questions that people ask again and again take for a log of 1,000,000 events.
fn of_a_large_log() -> Vec<Figure> {
    let dir = log(1_000_000, 0);
    let commands: [(&'static str, &[&str], f64); 4] = [
        (
            "1,000,000 events: audit list (50)",
            &["audit", "list", "--limit", "50"],
            300.0,
        ),
        (
            "1,000,000 events: audit show",
            &["audit", "show", "last"],
            300.0,
        ),
        (
            "1,000,000 events: a page's story",
            &["audit", "list", "--page", "7"],
            300.0,
        ),
        (
            "1,000,000 events: audit stats",
            &["audit", "stats"],
            2_000.0,
        ),
    ];
    let timed = |(what, arguments, most)| timed((&dir, OF_HAMMER), what, arguments, most).0;
    commands.into_iter().map(timed).collect()
}

/// What 10,000 open proposals take to be listed.
fn of_proposals() -> Figure {
    let wiki = Wiki::start();
    let address = wiki.address();
    let dir = with_proposals(&address);
    let settings = [("WIKI_BASE_URL", &*address), ("WIKI_API_TOKEN", wiki.key())];
    let what = "10,000 open proposals: proposals list";
    timed((&dir, &settings), what, &["proposals", "list"], 500.0).0
}

/// The record of the wiki at this address, with 10,000 open proposals.
pub(crate) fn with_proposals(address: &str) -> TempDir {
    let dir = log(20_000, 10_000);
    let name = address.trim_start_matches("http://");
    let own = AuditLog::new(dir.path(), name).runs.dir();
    fs::rename(dir.path().join("hammer.invalid"), own).expect("a free name");
    dir
}

/// A log of so many events in twenty runs, and so many open proposals.
pub(crate) fn log(events: usize, proposals: usize) -> TempDir {
    let dir = TempDir::new().expect("a temporary directory");
    let (events, proposals) = (events.to_string(), proposals.to_string());
    let load = [
        "--events",
        &*events,
        "--proposals",
        &proposals,
        "--writers",
        "20",
    ];
    let made = Command::new(BINARY)
        .args(["store", "hammer", "--dir"])
        .arg(dir.path())
        .args(load)
        .env_clear()
        .stdout(Stdio::null())
        .status();
    assert!(made.expect("the program starts").success());
    dir
}

/// The median time of a command, and the most memory that it had, in bytes.
pub(crate) fn timed(
    (dir, settings): (&TempDir, &[(&str, &str)]),
    what: &'static str,
    arguments: &[&str],
    most: f64,
) -> (Figure, u64) {
    let mut peak = 0;
    let taken = (0..TURNS).map(|_| {
        let (took, memory) = run(dir.path(), settings, arguments);
        peak = memory.max(peak);
        milliseconds(took)
    });
    let median = median(taken.collect());
    (
        Figure::at_most(what, Unit::Milliseconds, median, most),
        peak,
    )
}

/// How long a command takes, and the most memory that it had, in bytes.
pub(crate) fn run(dir: &Path, settings: &[(&str, &str)], arguments: &[&str]) -> (Duration, u64) {
    let began = Instant::now();
    let mut process = Command::new(BINARY)
        .args(arguments)
        .env_clear()
        .envs(settings.iter().copied())
        .env("WIKI_AUDIT_DIR", dir)
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let status = format!("/proc/{}/status", process.id());
    let mut peak = 0;
    loop {
        let ended = process.try_wait().expect("the program can be waited for");
        if let Some(ended) = ended {
            assert!(ended.success(), "{arguments:?}: {ended}");
            return (began.elapsed(), peak);
        }
        let status = fs::read_to_string(&status).unwrap_or_default();
        let highest = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes =
            highest.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) * 1024);
        std::thread::sleep(LOOK);
    }
}
