//! Measures what the commands that read the record take, on logs of 100,000 and of 1,000,000 events.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::figure::{Figure, Unit};
use crate::process::BINARY;
use crate::script::{ADDRESS, Script, keep, page};
use crate::stats::{median, megabytes, milliseconds};

const RUNS: usize = 20;
const PAGES: usize = 10_000;
const TURNS: usize = 3;
/// How often the memory is looked at.
const LOOK: Duration = Duration::from_millis(2);

pub(crate) fn measure() -> Vec<Figure> {
    let mut figures = of_a_log();
    figures.extend(of_a_large_log());
    figures
}

/// What every command takes for a log of 100,000 events, and the memory of the one that takes most.
fn of_a_log() -> Vec<Figure> {
    let dir = log(100_000);
    let report = dir.path().join("report.html");
    let report = report.to_str().expect("UTF-8");
    let commands: [(&'static str, &[&str]); 7] = [
        ("100,000 events: audit list", &["list", "--path", "docs"]),
        ("100,000 events: audit show", &["show", "last"]),
        ("100,000 events: audit tail", &["tail"]),
        ("100,000 events: audit stats", &["stats"]),
        ("100,000 events: audit head", &["head"]),
        ("100,000 events: audit verify", &["verify"]),
        (
            "100,000 events: audit report",
            &["report", "--html", report],
        ),
    ];
    let (mut figures, mut peak, mut peak_of_report) = (Vec::new(), 0, 0);
    for (what, arguments) in commands {
        let (figure, memory) = timed(&dir, what, arguments, 2_000.0);
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
    let dir = log(1_000_000);
    let commands: [(&'static str, &[&str], f64); 4] = [
        (
            "1,000,000 events: audit list (50)",
            &["list", "--limit", "50"],
            300.0,
        ),
        ("1,000,000 events: audit show", &["show", "last"], 300.0),
        (
            "1,000,000 events: a page's story",
            &["list", "--page", "7"],
            300.0,
        ),
        ("1,000,000 events: audit stats", &["stats"], 2_000.0),
    ];
    let timed = |(what, arguments, most)| timed(&dir, what, arguments, most).0;
    commands.into_iter().map(timed).collect()
}

/// A log of so many events in twenty runs, with 10,000 kept pages.
fn log(events: usize) -> TempDir {
    let dir = TempDir::new().expect("a temporary directory");
    let pages: Vec<String> = (0..PAGES).map(|number| kept(dir.path(), number)).collect();
    let mut seen = Vec::new();
    for run in 0..RUNS {
        let mut script = Script::begin(
            dir.path(),
            &format!("2030-01-{:02}T00:00:00", run + 1),
            &format!("{run:016x}"),
            &seen,
        );
        for event in 0..events / RUNS {
            add(&mut script, events, run, event, &pages);
        }
        seen.push(script.close(&format!("2030-01-{:02}T23:59:59", run + 1)));
    }
    dir
}

/// The median time of a command, and the most memory that it had, in bytes.
fn timed(dir: &TempDir, what: &'static str, arguments: &[&str], most: f64) -> (Figure, u64) {
    let mut peak = 0;
    let taken = (0..TURNS).map(|_| {
        let (took, memory) = run(dir.path(), arguments);
        peak = memory.max(peak);
        milliseconds(took)
    });
    let median = median(taken.collect());
    (
        Figure::at_most(what, Unit::Milliseconds, median, most),
        peak,
    )
}

fn kept(dir: &Path, number: usize) -> String {
    let text = format!("# Page {number}\n\n") + &"A line of a page as most pages are.\n".repeat(40);
    keep(dir, &page("docs/page", &format!("Page {number}"), &text))
}

/// Of five events, two are a write, two more another, and one is a refusal.
fn add(script: &mut Script, events: usize, run: usize, event: usize, pages: &[String]) {
    let call = run * events + event / 5 * 3 + event % 5 / 2;
    let state = |number: usize| pages.get(number % pages.len());
    let mut record = json!({
        "call": format!("{call:016x}"), "tool": "wikijs_update_page", "operation": "update",
        "client": { "name": "claude-code", "version": "2.1" }, "id": call % 500, "locale": "en",
        "path": format!("docs/part-{}/page-{}", call % 7, call % 500), "fields": ["title", "content"],
    });
    let more = match event % 5 {
        4 => json!({
            "event": "refusal", "gate": "paths", "decision": "refused", "code": "PATH_DENIED",
            "reason": "The page lies below a denied prefix.",
        }),
        part => json!({
            "event": if part % 2 == 0 { "attempt" } else { "outcome" },
            "outcome": (part % 2 == 1).then_some("applied"), "step": "update",
            "gate": (part % 2 == 0).then_some("confirm"), "decision": (part % 2 == 0).then_some("token"),
            "before": state(call), "after": state(call + 1), "linesAdded": 3, "linesRemoved": 1,
        }),
    };
    if let (Value::Object(record), Value::Object(more)) = (&mut record, more) {
        record.extend(more);
    }
    let second = event * 86_000 / (events / RUNS);
    let time = format!(
        "2030-01-{:02}T{:02}:{:02}:{:02}",
        run + 1,
        second / 3600,
        second / 60 % 60,
        second % 60
    );
    script.add(&time, &record);
}

/// How long a command takes, and the most memory that it had, in bytes.
fn run(dir: &Path, arguments: &[&str]) -> (Duration, u64) {
    let began = Instant::now();
    let mut process = Command::new(BINARY)
        .arg("audit")
        .args(arguments)
        .env_clear()
        .env("WIKI_BASE_URL", ADDRESS)
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
