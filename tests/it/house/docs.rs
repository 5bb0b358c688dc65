//! What the documentation says is what the program does: tables and captures are made by it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use wikijs_gate::cli::Exit;
use wikijs_gate::error::Code;
use wikijs_gate::tools::{Registry, ToolKind, ToolSelection, Toolset};

use crate::house::sources::sources;
use crate::testkit::{root, text_rows, vec_of};

#[expect(
    clippy::disallowed_methods,
    reason = "the one switch of all golden files"
)]
pub(crate) fn may_write() -> bool {
    std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always")
}

/// Compares the text between two markers of a file; with `INSTA_UPDATE=always`, writes it.
pub(crate) fn generated(file: &str, marker: &str, text: &str, normal: impl Fn(&str) -> String) {
    let path = root().join(file);
    let page = fs::read_to_string(&path).unwrap();
    let (open, close) = (
        format!("<!-- {marker} -->\n"),
        format!("<!-- /{marker} -->"),
    );
    let (head, rest) = page.split_once(&open).unwrap();
    let (written, tail) = rest.split_once(&close).unwrap();
    if normal(written) == normal(text) {
        return;
    }
    assert!(
        may_write(),
        "{file} does not say what the program does at {marker}; `just accept` writes it:\n{text}"
    );
    fs::write(&path, format!("{head}{open}{text}{close}{tail}")).unwrap();
}

fn as_it_is(text: &str) -> String {
    text.to_owned()
}

#[test]
fn the_tools_are_those_of_the_registry() {
    let mut all = String::from("| tool | kind | description |\n|---|---|---|\n");
    for tool in Registry::new(&ToolSelection::new(&[Toolset::Pages]))
        .unwrap()
        .definitions()
    {
        let kind = if tool.kind == ToolKind::Read {
            "read"
        } else {
            "write"
        };
        let description = tool.description.replace('\n', "<br>");
        let _ = writeln!(all, "| `{}` | {kind} | {description} |", tool.name);
    }
    generated("docs/reference.md", "tools", &all, as_it_is);
}

#[test]
fn the_settings_are_those_that_are_read() {
    let all = wikijs_gate::config::table();
    generated("docs/settings.md", "settings", &all, as_it_is);
    let source = [
        include_str!("../../../src/config/settings.rs"),
        include_str!("../../../src/config/collector.rs"),
        include_str!("../../../src/config/connection.rs"),
        include_str!("../../../src/config/policy.rs"),
        include_str!("../../../src/config/write_policy.rs"),
        include_str!("../../../src/config/storage.rs"),
        include_str!("../../../src/config/anchors.rs"),
        include_str!("../../../src/config/custom.rs"),
        include_str!("../../../src/config/serve.rs"),
        include_str!("../../../src/config/network.rs"),
        include_str!("../../../src/config/tls.rs"),
        include_str!("../../../src/wiki/rights/key.rs"),
    ]
    .concat();
    for setting in wikijs_gate::config::SETTINGS {
        assert!(
            source.contains(&format!("\"{}\"", setting.name)),
            "{} is not read",
            setting.name
        );
    }
}

#[test]
fn the_command_line_reference_is_the_help() {
    let reference = wikijs_gate::cli::reference();
    generated("docs/command-line.md", "commands", &reference, as_it_is);
}

/// True if this command line, without the program's name, names no command of these, or a flag that the
/// command does not have.
fn is_none(named: &str, help: &HashMap<&str, &str>) -> bool {
    let mut command = "wikijs-gate".to_owned();
    let mut words = named.split_whitespace().peekable();
    while let Some(word) = words.next_if(|word| help.contains_key(&*format!("{command} {word}"))) {
        command = format!("{command} {word}");
    }
    let is_group = { help.keys() }.any(|other| other.starts_with(&format!("{command} ")));
    let goes_on = words.peek().is_some_and(|word| !word.starts_with('-'));
    let (own, of_all) = (help[&*command], help["wikijs-gate"]);
    let is_flag = |word: &str| own.contains(word) || of_all.contains(word);
    is_group && goes_on || words.any(|word| word.starts_with("--") && !is_flag(word))
}

#[test]
fn every_command_that_a_text_of_the_program_names_is_there_with_its_flags() {
    let reference = format!("\n{}", wikijs_gate::cli::reference());
    let sections = reference.split("\n## ").skip(1);
    let help: HashMap<&str, &str> = { sections }.filter_map(|it| it.split_once('\n')).collect();
    for wrong in ["proposals aply", "audit key", "resume --now", "tool list x"] {
        assert_eq!(
            is_none(wrong, &help),
            !["audit key", "tool list x"].contains(&wrong),
            "{wrong}"
        );
    }
    let sources = sources();
    let named = sources.iter().flat_map(|(path, text)| {
        let named = text.split("`wikijs-gate ").skip(1);
        named.filter_map(move |rest| Some((path, rest.split_once('`')?.0)))
    });
    let named: Vec<_> = named.collect();
    assert!(named.len() > 100, "{}", named.len());
    let wrong = vec_of({ named.iter() }.filter(|(_, named)| is_none(named, &help)));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_schema_of_the_settings_file_is_the_programs() {
    let schema = format!("{:#}\n", wikijs_gate::config::schema());
    let path = root().join("docs/settings.schema.json");
    if may_write() {
        fs::write(&path, &schema).unwrap();
    }
    assert_eq!(fs::read_to_string(path).unwrap(), schema);
}

#[test]
fn the_error_codes_are_those_of_the_program() {
    let mut table = String::from("| code | meaning | what to do next |\n|---|---|---|\n");
    for code in Code::ALL {
        let _ = writeln!(table, "| `{code}` | {} | {} |", code.meaning(), code.hint());
    }
    generated("docs/reference.md", "errors", &table, as_it_is);
}

#[test]
fn the_metrics_are_those_of_the_program() {
    generated(
        "docs/http.md",
        "metrics",
        &wikijs_gate::server::metrics::table(),
        as_it_is,
    );
}

#[test]
fn the_columns_of_a_csv_are_those_of_the_program() {
    let columns = wikijs_gate::cli::csv_columns();
    generated("docs/audit.md", "csv", &columns, as_it_is);
}

#[test]
fn the_exit_codes_are_those_of_the_program() {
    let mut table = String::from("| code | meaning |\n|---|---|\n");
    for exit in Exit::ALL {
        let _ = writeln!(table, "| {} | {} |", exit.code(), exit.meaning());
    }
    generated("docs/reference.md", "exits", &table, as_it_is);
}

#[test]
fn the_capture_in_the_readme_is_what_the_demo_prints() {
    let output = Command::new(env!("CARGO_BIN_EXE_wikijs-gate"))
        .arg("demo")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let told = String::from_utf8(output.stdout).unwrap();
    let told = format!("```console\n$ cargo run --release -- demo\n{told}```\n");
    // Tokens, ids and times differ from run to run.
    let normal = |text: &str| -> String {
        text.split_inclusive([' ', '\n'])
            .map(|word| {
                let bare = word.trim().trim_matches(['.', ',']);
                let is_hex = bare.len() >= 8 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
                let is_time = bare.len() == 20 && bare.ends_with('Z');
                if is_hex || is_time {
                    "*".to_owned()
                } else {
                    word.to_owned()
                }
            })
            .collect()
    };
    generated("README.md", "demo", &told, normal);
}

/// A figure of docs/figures.md: its name, what was measured, its budget, and whether that is marked as missed.
fn figure(line: &str) -> Option<(&str, f64, &str, bool)> {
    let [what, measured, budget, ..] =
        line.strip_prefix("| ")?.split(" | ").collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let (measured, unit) = measured.split_once(' ')?;
    let (budget, is_missed) = match budget.strip_suffix(" *missed*") {
        Some(budget) => (budget, true),
        None => (budget, false),
    };
    assert!(
        budget == "not set yet" || budget.ends_with(&format!(" {unit}")),
        "{line}"
    );
    Some((what, measured.parse().ok()?, budget, is_missed))
}

/// Rows of docs/sizing.md: the table, what a row says, and the figure that it quotes.
const SIZES: &str = "
    memory => one client over stdio, idle, resident => memory idle, resident
    memory => the same after 2,000 calls => memory after 2,000 calls, resident
    memory => 200 clients over HTTP, each with a call always under way => HTTP: memory after 200 clients, resident
    memory => a wiki of 10,000 pages and 50 MB while its content is indexed => 10,000 pages: resident memory, highest
    memory => 30,000 calls that one client sends without waiting => memory, 30,000 calls sent at once, highest
    processor => start to the answer of `initialize` => start to the answer of initialize
    processor => added to a call of the wiki over stdio, median => added to a call of the wiki, median
    processor => added to a call of the wiki over HTTP, median => HTTP: added to a call of the wiki, median
    processor => calls a second over stdio, one client => calls a second, pipelined
    processor => calls a second over HTTP, 64 clients => HTTP: calls a second, 64 clients
    processor => 200 clients at once over HTTP: 99 of 100 calls end within => HTTP: 200 clients at once, p99
    pages => until 10,000 pages are indexed, with the wiki busy half of the time => 10,000 pages: until all are indexed
    pages => a search of the content of 10,000 pages, median => 10,000 pages: warm search of content, median
    pages => the first `files pull` of 10,000 pages => 10,000 pages as files: the first pull
";

#[test]
fn the_page_on_sizing_quotes_what_was_measured() {
    let figures = include_str!("../../../docs/figures.md");
    let sizes = text_rows::<3>(SIZES);
    for table in ["memory", "processor", "pages"] {
        let mut text = String::from("| what | measured |\n|---|--:|\n");
        for [_, what, name] in sizes.iter().filter(|[of, _, _]| *of == table) {
            let row = format!("| {name} | ");
            let row = figures.lines().find_map(|line| line.strip_prefix(&row));
            let measured = row.unwrap().split(" | ").next().unwrap();
            let _ = writeln!(text, "| {what} | {measured} |");
        }
        generated("docs/sizing.md", table, &text, as_it_is);
    }
}

#[test]
fn each_budget_that_is_missed_is_marked_and_explained_on_the_page() {
    let page = include_str!("../../../docs/figures.md");
    let list = page.split_once("<!-- missed -->").unwrap().1;
    let list = list.split_once("<!-- /missed -->").unwrap().0;
    let (mut seen, mut told) = (0, 0);
    for (what, measured, budget, is_missed) in page.lines().filter_map(figure) {
        let number = |text: &str| text.split(' ').next().unwrap().parse::<f64>().unwrap();
        let is_kept = if let Some(most) = budget.strip_prefix("<= ") {
            measured <= number(most)
        } else if let Some(least) = budget.strip_prefix(">= ") {
            measured >= number(least)
        } else {
            true
        };
        assert_eq!(is_kept, !is_missed, "{what}: {measured}, {budget}");
        let reason = list
            .lines()
            .find(|line| line.starts_with(&format!("- *missed*, {what}: ")));
        assert_eq!(reason.is_some(), is_missed, "{what}: {list}");
        assert!(
            reason.is_none_or(|reason| !reason.ends_with("nobody knows why yet.")),
            "{what}"
        );
        seen += 1;
        told += usize::from(is_missed);
    }
    assert!(seen > 60, "{seen}");
    let listed = list.lines().filter(|line| line.starts_with("- *missed*, "));
    let listed = listed.count();
    assert_eq!(listed, told, "{list}");
}

#[test]
fn the_slowest_tests_that_the_page_names_are_there() {
    let page = include_str!("../../../docs/internals.md");
    let table = page.split_once("<!-- slowest -->").unwrap().1;
    let table = table.split_once("<!-- /slowest -->").unwrap().0;
    let named: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    assert_eq!(named.len(), 10, "{named:?}");
    for name in named {
        let (module, test) = name.rsplit_once("::").unwrap();
        let path = format!("tests/it/{}.rs", module.replace("::", "/"));
        let path = root().join(path);
        let source = fs::read_to_string(path).unwrap();
        assert!(source.contains(&format!("fn {test}(")), "{name}");
    }
}
