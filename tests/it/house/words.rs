//! Words: a type's name stands once, no type of the record says too much, and comments say what a thing does.

use crate::house::sources::sources;
use crate::prelude::*;

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

/// The lines of a source but for those of tests.
fn code_lines<'a>(path: &str, text: &'a str) -> impl Iterator<Item = &'a str> {
    let is_for_tests = path.ends_with("tests.rs") || path.ends_with("testing.rs");
    let text = if is_for_tests { "" } else { text };
    let (code, _) = text.split_once("\nmod tests {").unwrap_or((text, ""));
    code.lines()
}

/// Names that each tool and each command has for its own arguments and answer.
const OF_EACH: [&str; 3] = ["Arguments", "Input", "Output"];
/// Other names that stand for more than one type; this list only becomes shorter.
const TWICE: [&str; 0] = [];

#[test]
fn a_types_name_stands_once() {
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in sources() {
        if path.contains("/demo/") {
            continue;
        }
        for name in code_lines(&path, &text).filter_map(type_defined) {
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

/// The type of which a line begins an `impl` that is not a trait's.
fn type_implemented(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(generics) => generics.split_once("> ")?.1,
        None => rest.trim_start(),
    };
    let name = rest.split(['<', ' ']).next()?;
    (!rest.contains(" for ")).then_some(name)
}

/// True for the first line of a method.
fn is_method(line: &str) -> bool {
    let own = line.strip_prefix("    ");
    let own = own.filter(|own| !own.starts_with([' ', '/']));
    own.is_some_and(|own| own.starts_with("fn ") || own.contains(" fn "))
}

/// The most methods, private ones too, of one type of the record and its view.
const MOST_METHODS: usize = 15;

#[test]
fn no_type_of_the_record_has_too_many_methods() {
    let mut methods: BTreeMap<String, usize> = BTreeMap::new();
    for (path, text) in sources() {
        if !["src/audit/", "src/view/"]
            .iter()
            .any(|room| path.starts_with(room))
        {
            continue;
        }
        let mut at = None;
        for line in code_lines(&path, &text) {
            if line.starts_with("impl") {
                at = type_implemented(line);
            } else if line == "}" {
                at = None;
            } else if let Some(name) = at.filter(|_| is_method(line)) {
                *methods.entry(name.to_owned()).or_default() += 1;
            }
        }
    }
    assert!(methods.len() > 50, "{methods:#?}");
    assert!(methods.contains_key("CallHistory"), "{methods:#?}");
    methods.retain(|_, count| *count > MOST_METHODS);
    assert!(methods.is_empty(), "{methods:#?}");
}

#[test]
fn methods_are_recognised() {
    for (line, name) in [
        ("impl Page {", Some("Page")),
        ("impl<'a> Rows<'a> {", Some("Rows")),
        ("impl<F: FnMut(Page)> Walk<F> {", Some("Walk")),
        ("impl Display for Page {", None),
        ("impl<T> From<T> for Page {", None),
        ("struct Page {", None),
    ] {
        assert_eq!(type_implemented(line), name, "{line}");
    }
    assert!(is_method("    pub(super) const fn new() -> Self {"));
    assert!(is_method("    async fn of("));
    assert!(!is_method("        fn within() {"));
    assert!(!is_method("    /// A fn that"));
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
