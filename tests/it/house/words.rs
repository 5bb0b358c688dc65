//! Words: a type's name stands once, and comments say what a thing does.

use std::collections::{BTreeMap, BTreeSet};

use crate::house::sources::sources;

/// The name of a type that a line defines outside of functions and `impl`s.
fn type_defined(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub").map_or(line, |rest| {
        let end = rest.starts_with('(').then(|| rest.split_once(')'));
        end.flatten().map_or(rest, |(_, rest)| rest).trim_start()
    });
    let mut words = line.split([' ', '<', '(', ';', '{', '=']);
    let word = words.next()?;
    let is_type = ["struct", "enum", "trait", "type", "union"].contains(&word);
    is_type.then(|| words.next())?
}

/// Names that each tool and each command has for its own arguments and answer.
const OF_EACH: [&str; 3] = ["Arguments", "Input", "Output"];
/// Other names that stand for more than one type; this list only becomes shorter.
const TWICE: [&str; 0] = [];

#[test]
fn a_types_name_stands_once() {
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in sources() {
        let is_for_tests = path.ends_with("tests.rs") || path.ends_with("testing.rs");
        if is_for_tests || path.contains("/demo/") {
            continue;
        }
        let (code, _) = text.split_once("\nmod tests {").unwrap_or((&text, ""));
        for name in code.lines().filter_map(type_defined) {
            names
                .entry(name.to_owned())
                .or_default()
                .insert(path.clone());
        }
    }
    assert!(names.len() > 1_000, "{}", names.len());
    names.retain(|name, files| files.len() > 1 && !OF_EACH.contains(&&**name));
    let known: BTreeSet<&str> = TWICE.into_iter().collect();
    let found: BTreeSet<&str> = names.keys().map(|name| &**name).collect();
    assert_eq!(found, known, "{names:#?}");
}

#[test]
fn definitions_of_types_are_recognised() {
    for (line, name) in [
        ("pub struct Page {", Some("Page")),
        ("pub(in crate::write) enum Kind<T> {", Some("Kind")),
        ("pub(super) type Pair = (u8, u8);", Some("Pair")),
        ("struct Digest([u8; 32]);", Some("Digest")),
        ("pub fn page() {", None),
        ("    type Err = Fault;", None),
        ("", None),
    ] {
        assert_eq!(type_defined(line), name, "{line}");
    }
}

const QUESTIONS: [&str; 12] = [
    "What", "Whether", "How", "Where", "Who", "Which", "Whose", "Whom", "Why", "When", "Whoever",
    "Whatever",
];
/// Heads and first lines that begin with a question word: arguments and answers of tools and
/// commands, whose words go to agents and operators.
const MOST_QUESTIONS: usize = 100;

#[test]
fn comments_say_what_a_thing_does() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let mut before = "";
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            let is_first = match (line.get(..3), before.get(..3)) {
                (Some("//!"), _) => number == 0,
                (Some("///"), before) => before != Some("///"),
                _ => false,
            };
            let word = line
                .get(3..)
                .and_then(|rest| rest.split_whitespace().next());
            if is_first && word.is_some_and(|word| QUESTIONS.contains(&word)) {
                found.push(format!("{path}:{}: {line}", number + 1));
            }
            before = line;
        }
    }
    let (count, list) = (found.len(), found.join("\n"));
    assert!(
        count <= MOST_QUESTIONS,
        "{count} of {MOST_QUESTIONS}:\n{list}"
    );
}
