//! What the documentation says is what the program does: tables and captures are made by it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use wikijs_mcp::cli::Exit;
use wikijs_mcp::error::Code;
use wikijs_mcp::tools::{Kind, Registry, Surface, Toolset};

#[expect(
    clippy::disallowed_methods,
    reason = "the one switch of all golden files"
)]
pub(crate) fn may_write() -> bool {
    std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always")
}

/// Compares the text between two markers of a file; with `INSTA_UPDATE=always`, writes it.
pub(crate) fn generated(file: &str, marker: &str, text: &str, normal: impl Fn(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
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
    let mut short = String::from("| tool | for |\n|---|---|\n");
    for tool in Registry::of(&Surface::of(&[Toolset::Pages]))
        .unwrap()
        .definitions()
    {
        let kind = if tool.kind == Kind::Read {
            "read"
        } else {
            "write"
        };
        let description = tool.description.replace('\n', "<br>");
        let first = description.split(". ").next().unwrap();
        let _ = writeln!(all, "| `{}` | {kind} | {description} |", tool.name);
        let _ = writeln!(short, "| `{}` | {first} |", tool.name);
    }
    generated("docs/reference.md", "tools", &all, as_it_is);
    generated("README.md", "tools", &short, as_it_is);
}

#[test]
fn the_settings_are_those_that_are_read() {
    let all = wikijs_mcp::config::table();
    generated("docs/settings.md", "settings", &all, as_it_is);
    let first = wikijs_mcp::config::first_table();
    generated("README.md", "settings", &first, as_it_is);
    let source = [
        include_str!("../../src/config/settings.rs"),
        include_str!("../../src/config/connection.rs"),
        include_str!("../../src/config/policy.rs"),
        include_str!("../../src/config/write_policy.rs"),
        include_str!("../../src/config/storage.rs"),
        include_str!("../../src/config/anchors.rs"),
        include_str!("../../src/config/custom.rs"),
        include_str!("../../src/config/serve.rs"),
        include_str!("../../src/config/network.rs"),
        include_str!("../../src/wiki/key.rs"),
    ]
    .concat();
    for setting in wikijs_mcp::config::SETTINGS {
        assert!(
            source.contains(&format!("\"{}\"", setting.name)),
            "{} is not read",
            setting.name
        );
    }
}

#[test]
fn the_readme_is_a_page_to_begin_with() {
    let readme = include_str!("../../README.md");
    assert!(readme.len() <= 12_000, "{} bytes", readme.len());
}

#[test]
fn the_command_line_reference_is_the_help() {
    let reference = wikijs_mcp::cli::reference();
    generated("docs/command-line.md", "commands", &reference, as_it_is);
}

#[test]
fn the_schema_of_the_settings_file_is_the_programs() {
    let schema = format!("{:#}\n", wikijs_mcp::config::schema());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/settings.schema.json");
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
        &wikijs_mcp::server::metrics::table(),
        as_it_is,
    );
}

#[test]
fn the_columns_of_a_csv_are_those_of_the_program() {
    let columns = wikijs_mcp::cli::csv_columns();
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
    let output = Command::new(env!("CARGO_BIN_EXE_wikijs-mcp"))
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
