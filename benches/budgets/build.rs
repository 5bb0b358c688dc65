//! Measures how long people wait for a compiler: the first build by the README's command, and the unit tests
//! behind a change of one line.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use crate::figure::{Figure, Unit};
use crate::stats::milliseconds;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Measures both in empty target directories, which takes some ten minutes; crates are fetched before.
pub(crate) fn measure() -> Vec<Figure> {
    let dir = TempDir::new().expect("a temporary directory");
    let copy = dir.path().join("copy");
    let prefix = format!("--prefix={}/", copy.display());
    run(Command::new("git")
        .current_dir(ROOT)
        .args(["checkout-index", "--all", &prefix]));
    run(&mut cargo(&copy, dir.path(), &["fetch", "--locked"]));
    let first = seconds(&mut cargo(
        &copy,
        dir.path(),
        &["build", "--release", "--locked"],
    ));
    let tests = [
        "test",
        "--package",
        "wikijs-gate-write",
        "--lib",
        "--locked",
    ];
    run(&mut cargo(&copy, dir.path(), &tests));
    change_a_line(&copy.join("src/write/mod.rs"));
    let change = seconds(&mut cargo(&copy, dir.path(), &tests));
    vec![
        Figure::at_most(
            "first build by the README's command",
            Unit::Seconds,
            first,
            300.0,
        ),
        // Two thirds of the 12 s at commit 2e376c7, on the machine of the figures.
        Figure::at_most(
            "a changed line in src/write: until its unit tests have run",
            Unit::Seconds,
            change,
            8.0,
        ),
    ]
}

/// Adds a line that the compiler cannot skip.
fn change_a_line(file: &Path) {
    let text = fs::read_to_string(file).expect("UTF-8");
    fs::write(file, text + "\nconst _: &str = \"changed\";\n").expect("the file is written");
}

fn cargo(sources: &Path, target: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command
        .args(arguments)
        .current_dir(sources)
        .env("CARGO_TARGET_DIR", target.join("target"));
    command
}

fn seconds(command: &mut Command) -> f64 {
    let began = Instant::now();
    run(command);
    milliseconds(began.elapsed()) / 1_000.0
}

fn run(command: &mut Command) {
    let ended = command.stdout(Stdio::null()).status();
    assert!(ended.is_ok_and(|ended| ended.success()), "{command:?}");
}
