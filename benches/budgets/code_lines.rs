//! Counts the lines of code of a folder: without tests, comments and blank lines.

use std::fs;
use std::path::Path;

/// So many lines of code are in the Rust files below a folder.
pub(crate) fn code_lines(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).expect("a folder of sources");
    entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            let is_test = ["tests", "testing", "tests.rs", "testing.rs"].contains(&name);
            match path.extension() {
                _ if is_test => 0,
                _ if path.is_dir() => code_lines(&path),
                Some(extension) if extension == "rs" => {
                    of_text(&fs::read_to_string(&path).expect("UTF-8"))
                }
                _ => 0,
            }
        })
        .sum()
}

/// Whether lines belong to a test.
enum Within {
    Code,
    /// Behind an attribute such as `#[cfg(test)]`, before its item.
    Attribute,
    /// An item of tests, which ends with a bracket at this indentation.
    Item(usize),
}

fn of_text(text: &str) -> u64 {
    let (mut count, mut within, mut is_comment) = (0, Within::Code, false);
    for line in text.lines() {
        let (code, indentation) = (line.trim(), line.len() - line.trim_start().len());
        if code.is_empty() || code.starts_with("//") {
            continue;
        }
        if is_comment || code.starts_with("/*") {
            is_comment = !code.contains("*/");
            continue;
        }
        within = match within {
            Within::Code if is_for_tests(code) => Within::Attribute,
            Within::Code => {
                count += 1;
                Within::Code
            }
            Within::Attribute if code.starts_with("#[") => Within::Attribute,
            Within::Attribute if code.ends_with([';', '}', ',']) => Within::Code,
            Within::Attribute => Within::Item(indentation),
            Within::Item(at) if at == indentation && code.starts_with(['}', ')']) => Within::Code,
            Within::Item(at) => Within::Item(at),
        };
    }
    count
}

fn is_for_tests(code: &str) -> bool {
    let attributes = ["#[cfg(test", "#[cfg(any(test", "#[cfg(all(test"];
    attributes
        .iter()
        .any(|attribute| code.starts_with(attribute))
}
