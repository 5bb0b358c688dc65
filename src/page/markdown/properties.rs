//! The properties that people write at the head of a page: a leading block of YAML between lines
//! of `---`, as far as it holds scalars and flat lists.
//!
//! Parsed by hand: the needed part of YAML takes a page of code, and no maintained crate leaves out
//! anchors, tags and nested values. A value of any other form is given as written, so that none is
//! lost.

mod set;

use serde::Serialize;

use super::outline::front_matter;
pub use set::set_properties;

/// The most bytes of a block that are read.
const MAX_BYTES: usize = 16 * 1024;
/// The most properties, and items of a list, that are read.
const MAX_ITEMS: usize = 100;

/// The value of a property; texts are as written, without quotes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Property {
    /// One value.
    Text(String),
    /// A list of values.
    List(Vec<String>),
}

impl Property {
    /// Its values.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        let values: &[String] = match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::List(values) => values,
        };
        values.iter().map(String::as_str)
    }
}

/// The properties of a page's source, in its order; for a repeated name, the first value.
///
/// ```
/// use wikijs_gate_core::page::{Property, properties};
///
/// let found = properties("---\nstatus: review\nowners: [ann, bo]\n---\n\n# Page\n");
/// assert_eq!(found[0], ("status".to_owned(), Property::Text("review".to_owned())));
/// assert_eq!(found[1].1.values().collect::<Vec<_>>(), ["ann", "bo"]);
/// ```
pub fn properties(text: &str) -> Vec<(String, Property)> {
    let end = text.floor_char_boundary(front_matter(text).min(MAX_BYTES));
    let block = text.get(..end).unwrap_or_default();
    let mut lines = block.lines().skip(1).peekable();
    let mut found: Vec<(String, Property)> = Vec::new();
    while let Some(line) = lines.next() {
        let Some((name, value)) = named(line) else {
            continue;
        };
        let mut below = Vec::new();
        while let Some(line) = lines.next_if(|line| is_below(line)) {
            below.push(line);
        }
        if found.len() < MAX_ITEMS && !found.iter().any(|(known, _)| *known == name) {
            found.push((name, read(value, &below)));
        }
    }
    found
}

/// The name and the value on a line that begins a property.
fn named(line: &str) -> Option<(String, &str)> {
    if line.starts_with([' ', '\t', '#', '-']) {
        return None;
    }
    let (name, value) = line.split_once(':')?;
    let is_value = value.is_empty() || value.starts_with([' ', '\t']);
    let name = scalar(name.trim())?;
    (is_value && !name.is_empty()).then(|| (name, value.trim()))
}

/// True if a line belongs to the property above it.
fn is_below(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with([' ', '\t']) || item(line).is_some()
}

/// The text of a list item.
fn item(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('-')?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim())
}

fn read(value: &str, below: &[&str]) -> Property {
    let is_said = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let below: Vec<&str> = below.iter().filter(is_said).copied().collect();
    let value = if value.starts_with('#') { "" } else { value };
    let flat = if below.is_empty() {
        on_line(value).map(|(property, _)| property)
    } else if value.is_empty() {
        let items = below.iter().map(|line| scalar(item(line)?));
        items
            .take(MAX_ITEMS)
            .collect::<Option<_>>()
            .map(Property::List)
    } else {
        None
    };
    flat.unwrap_or_else(|| {
        let lines = std::iter::once(value).filter(|value| !value.is_empty());
        Property::Text(lines.chain(below).collect::<Vec<_>>().join("\n"))
    })
}

/// The property whose value stands on its line, and where the value ends.
fn on_line(value: &str) -> Option<(Property, usize)> {
    let text = || scalar_and_end(value).map(|(text, end)| (Property::Text(text), end));
    flat_list(value).or_else(text)
}

/// `[a, "b, c"]`, and where it ends.
fn flat_list(value: &str) -> Option<(Property, usize)> {
    let inner = value.strip_prefix('[')?;
    let mut items = Vec::new();
    let (mut quote, mut start) = (None, 0);
    for (at, c) in inner.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') if inner.get(start..at)?.trim().is_empty() => quote = Some(c),
            (None, ',' | ']') => {
                let item = inner.get(start..at)?.trim();
                // What stands behind the last comma may be nothing.
                if c == ',' || !item.is_empty() {
                    items.push(scalar(item)?);
                }
                start = at + 1;
                if c == ']' {
                    let rest = inner.get(start..)?.trim();
                    let ends = rest.is_empty() || rest.starts_with('#');
                    items.truncate(MAX_ITEMS);
                    return ends.then_some((Property::List(items), start + 1));
                }
            }
            _ => {}
        }
    }
    None
}

/// One value, without quotes and comment; none where it is of another form.
fn scalar(value: &str) -> Option<String> {
    scalar_and_end(value).map(|(text, _)| text)
}

/// The same, and where it ends.
fn scalar_and_end(value: &str) -> Option<(String, usize)> {
    let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        let is_other = value.starts_with(['[', '{', '&', '*', '!', '|', '>', '@', '`', '%'])
            || value.contains(": ")
            || value.ends_with(':');
        let bare = value.split(" #").next().unwrap_or_default();
        return (!is_other).then(|| (bare.trim().to_owned(), bare.trim_end().len()));
    };
    let inner = value.get(1..)?;
    let mut text = String::new();
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' if quote == '\'' && chars.next_if_eq(&'\'').is_some() => text.push('\''),
            '\\' if quote == '"' => text.push(match chars.next()? {
                'n' => '\n',
                't' => '\t',
                c @ ('"' | '\\' | '/') => c,
                _ => return None,
            }),
            c if c == quote => {
                let rest: String = chars.collect();
                let end = value.len() - rest.len();
                let rest = rest.trim();
                return (rest.is_empty() || rest.starts_with('#')).then_some((text, end));
            }
            c => text.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Property, properties};
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    fn read(block: &str) -> Value {
        let found = properties(&format!("---\n{block}\n---\n\nstatus: no\n"));
        let members = found.into_iter();
        let members: Map<String, Value> = members
            .map(|(name, value)| (name, serde_json::to_value(value).unwrap()))
            .collect();
        Value::Object(members)
    }

    #[test]
    fn scalars_and_flat_lists_are_read() {
        assert_eq!(
            read(
                "# who\nstatus: review # soon\nowner: \"Ann: A\"\nnote: 'it''s'\nempty:\nsince: 2026-03-01\nurl: https://example.org/a#b\ntags: [a, \"b, c\", 'd']\nteams:\n  - ops\n  - \"data\"\nmore:\n- x\n\n- y\nend: true\n\"my key\": 1\nstatus: twice"
            ),
            json!({
                "status": "review",
                "owner": "Ann: A",
                "note": "it's",
                "empty": "",
                "since": "2026-03-01",
                "url": "https://example.org/a#b",
                "tags": ["a", "b, c", "d"],
                "teams": ["ops", "data"],
                "more": ["x", "y"],
                "end": "true",
                "my key": "1",
            })
        );
        assert_eq!(
            read("none: []\nlast: [a,]"),
            json!({ "none": [], "last": ["a"] })
        );
    }

    #[test]
    fn a_byte_order_mark_before_the_block_changes_nothing() {
        let block = "---\nstatus: review\n---\n\n# Page\n";
        let marked = ["\u{feff}", block].concat();
        assert_eq!(properties(&marked), properties(block));
        assert_eq!(properties(&marked).len(), 1);
    }

    #[test]
    fn what_is_neither_is_given_as_written() {
        assert_eq!(
            read(
                "a:\n  b: 1\n  c: 2\nd: &x 1\ne: |\n  one\n  two\nf: {g: 1}\nh: [[1]]\ni:\n  - j: 1\nk: \"open\nl: x"
            ),
            json!({
                "a": "  b: 1\n  c: 2",
                "d": "&x 1",
                "e": "|\n  one\n  two",
                "f": "{g: 1}",
                "h": "[[1]]",
                "i": "  - j: 1",
                "k": "\"open",
                "l": "x",
            })
        );
    }

    #[test]
    fn only_a_leading_block_counts_and_it_is_bounded() {
        for text in [
            "# Page\n\n---\nstatus: x\n---\n",
            "---\n\nstatus: x\n---\n",
            "---\nstatus: x\n",
        ] {
            assert_eq!(properties(text), [], "{text}");
        }
        let many: Vec<String> = (0..500).map(|n| format!("k{n}: {n}\n")).collect();
        let many = many.concat();
        assert_eq!(properties(&format!("---\n{many}---\n")).len(), 100);
        let long = format!("---\na: {}\nb: 1\n---\n", "ä".repeat(100_000));
        assert_eq!(properties(&long).len(), 1);
    }

    proptest! {
        #[test]
        fn a_quoted_text_is_read_as_it_was_meant(text in "[a\"'\\\\:#,ä \\[\\]-]{0,20}") {
            let quoted = serde_json::to_string(&text).unwrap();
            let found = properties(&format!("---\nk: {quoted}\nl: [{quoted}]\n---\n"));
            prop_assert_eq!(&found[0].1, &Property::Text(text.clone()));
            if !text.contains('"') {
                prop_assert_eq!(&found[1].1, &Property::List(vec![text]));
            }
        }

        #[test]
        fn no_block_breaks_off(block in "([a:]|\n|- |  |\\[|\\]|\"|'|,|#|\\{|ä|\\||---\n){0,30}") {
            let found = properties(&format!("---\nk: v\n{block}"));
            prop_assert!(found.iter().all(|(name, _)| !name.is_empty()));
        }
    }
}
