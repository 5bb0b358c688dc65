//! Sets and removes properties at the head of a page; all other bytes of the block stay.

use std::ops::Range;

use serde_json::{Map, Value};

use super::super::super::select::position::line_end;
use super::super::outline::front_matter;
use super::{MAX_ITEMS, is_below, item, named, on_line, scalar_and_end};
use crate::page::{Property, properties};

/// The most properties that one call sets.
const MOST_SET: usize = 50;
/// The most characters of a key that a fault shows.
const MOST_SHOWN: usize = 100;

const BROKEN: &str =
    "stands in a block whose lines are not all understood; change the block with edits";
const NESTED: &str = "has a value that is nested, spans lines, or has an anchor, a tag or comments between its lines; change it with edits";
const BAD_KEY: &str = "is no key that can be set here: it has letters, digits, _ - and ., begins with a letter, and is no word of YAML such as true or n";
const BAD_VALUE: &str = "takes a text of one line, a number, true, false, a list of such texts, or null to remove it; anything else goes with edits";
const NO_BLOCK: &str = "has no block to stand in: the page begins with a line --- that begins no such block; change it with edits";
const TWICE: &str = "is in the block more than once; change it with edits";
const LAST: &str = "is the last of its block; take the whole block away with edits";
const UNEXPECTED: &str =
    "cannot be set so that the block says that and nothing else; change it with edits";

/// Sets the properties of a page's source, or with `null` removes them, each in its place; a new one
/// comes last. A page without a block gets one.
///
/// # Errors
/// The first property that cannot be set exactly, and why, as a sentence without its end.
pub fn set_properties(text: &str, set: &Map<String, Value>) -> Result<String, String> {
    let mut changed = text.to_owned();
    for (number, (key, value)) in set.iter().enumerate() {
        let made = if number < MOST_SET {
            with(&changed, key, value)
        } else {
            Err("is one of more than 50, the most at a time")
        };
        // What was written is read again: the property as asked for, all others as they were.
        let made = made.and_then(|made| {
            let is_as_meant = properties(&made) == expected(properties(&changed), key, value);
            is_as_meant.then_some(made).ok_or(UNEXPECTED)
        });
        let key = crate::page::escaped(key, MOST_SHOWN);
        changed = made.map_err(|what| format!("The property {key} {what}"))?;
    }
    Ok(changed)
}

/// The properties once one of them is set.
fn expected(mut all: Vec<(String, Property)>, key: &str, value: &Value) -> Vec<(String, Property)> {
    let property = match value {
        Value::Null => {
            all.retain(|(name, _)| name != key);
            return all;
        }
        Value::Array(items) => {
            let texts = items.iter().filter_map(Value::as_str);
            Property::List(texts.map(str::to_owned).collect())
        }
        Value::String(text) => Property::Text(text.clone()),
        other => Property::Text(other.to_string()),
    };
    match all.iter_mut().find(|(name, _)| name == key) {
        Some((_, old)) => *old = property,
        None => all.push((key.to_owned(), property)),
    }
    all
}

/// The text with one property set.
fn with(text: &str, key: &str, value: &Value) -> Result<String, &'static str> {
    if !is_plain(key) || key.contains([' ', '/']) {
        return Err(BAD_KEY);
    }
    let value = written(value)?;
    let end = front_matter(text);
    if end == 0 {
        return with_block(text, key, value);
    }
    let block = text.get(..end).unwrap_or_default().trim_end();
    let closing = block.rfind('\n').map_or(0, |at| at + 1);
    let own = find(text.get(..closing).unwrap_or_default(), key)?;
    let (gone, new) = match (own, value) {
        (None, None) => return Ok(text.to_owned()),
        (None, Some(value)) => {
            let line = format!("{key}: {value}{}", line_end(block));
            (closing..closing, line)
        }
        (Some(own), value) => {
            let lines = text.get(own.clone()).unwrap_or_default();
            let line = line_with(lines, value.as_deref().unwrap_or_default())?;
            (own, value.map_or_else(String::new, |_| line))
        }
    };
    let before = text.get(..gone.start).unwrap_or_default();
    let after = text.get(gone.end..).unwrap_or_default();
    let made = [before, &new, after].concat();
    if front_matter(&made) == 0 {
        return Err(LAST);
    }
    Ok(made)
}

/// A page that has no block yet, with one.
fn with_block(text: &str, key: &str, value: Option<String>) -> Result<String, &'static str> {
    let Some(value) = value else {
        return Ok(text.to_owned());
    };
    let bare = text.trim_start_matches('\u{feff}');
    if bare.lines().next().map(str::trim_end) == Some("---") {
        return Err(NO_BLOCK);
    }
    let mark = text.get(..text.len() - bare.len()).unwrap_or_default();
    let end = line_end(text);
    let apart = if bare.starts_with(['\r', '\n']) {
        ""
    } else {
        end
    };
    Ok(format!(
        "{mark}---{end}{key}: {value}{end}---{end}{apart}{bare}"
    ))
}

/// The lines of a property of a block, if it has it.
fn find(block: &str, key: &str) -> Result<Option<Range<usize>>, &'static str> {
    let mut own: Option<Range<usize>> = None;
    // Whether the present property is the one, once there is one.
    let mut is_own = None;
    let mut at = 0;
    let mut lines = block.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let (start, bare) = (at, line.trim_end());
        at += line.len();
        if start == 0 || bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        if is_below(bare) {
            if is_own.ok_or(BROKEN)? {
                own = own.map(|own| own.start..at);
            }
            continue;
        }
        let (name, value) = named(bare).ok_or(BROKEN)?;
        // An open quote or bracket could hold all that follows.
        let is_open = value.starts_with(['"', '\'', '[', '{'])
            && on_line(value).is_none()
            && !value.ends_with(['}', ']']);
        if is_open && !lines.peek().is_some_and(|next| is_below(next)) {
            return Err(BROKEN);
        }
        is_own = Some(name == key);
        if name == key && own.replace(start..at).is_some() {
            return Err(TWICE);
        }
    }
    Ok(own)
}

/// The line of a property with a new value, in the place of its lines: an old value on the line, or
/// a list below it.
fn line_with(lines: &str, new: &str) -> Result<String, &'static str> {
    let line = lines.split_inclusive('\n').next().unwrap_or_default();
    let below = lines.get(line.len()..).unwrap_or_default();
    let colon = line.find(':').ok_or(BROKEN)? + 1;
    let rest = line.get(colon..).unwrap_or_default();
    let start = colon + rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let old = line.get(start..).unwrap_or_default();
    let is_empty = old.starts_with('#');
    let end = on_line(if is_empty { "" } else { old.trim_end() })
        .ok_or(NESTED)?
        .1;
    let is_item = |line: &str| {
        let item = item(line.trim_end());
        item.is_some_and(|item| scalar_and_end(item).is_some_and(|(_, end)| end == item.len()))
    };
    if !below.is_empty() && (end > 0 || !below.lines().all(is_item)) {
        return Err(NESTED);
    }
    let lead = line.get(..start).unwrap_or_default();
    let behind = line.get(start + end..).unwrap_or_default();
    let before = if lead.ends_with(':') { " " } else { "" };
    let after = if is_empty { " " } else { "" };
    Ok([lead, before, new, after, behind].concat())
}

/// A value as YAML writes it; `None` removes the property.
fn written(value: &Value) -> Result<Option<String>, &'static str> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::String(text) => quoted(text)?,
        Value::Bool(_) => value.to_string(),
        Value::Number(number) if !number.to_string().contains('e') => number.to_string(),
        Value::Array(items) if items.len() <= MAX_ITEMS => {
            let texts = items
                .iter()
                .map(|item| quoted(item.as_str().ok_or(BAD_VALUE)?));
            format!("[{}]", texts.collect::<Result<Vec<_>, _>>()?.join(", "))
        }
        _ => return Err(BAD_VALUE),
    }))
}

/// A text as YAML writes it: in quotes unless nothing in it could mean anything else.
fn quoted(text: &str) -> Result<String, &'static str> {
    let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    match text {
        text if text.contains(is_break) => Err(BAD_VALUE),
        text if is_plain(text) => Ok(text.to_owned()),
        text => serde_json::to_string(text).map_err(|_| BAD_VALUE),
    }
}

/// True if YAML reads a text without quotes as that text.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"];
    let is_sign = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/');
    text.starts_with(char::is_alphabetic)
        && text.chars().all(is_sign)
        && !text.ends_with(' ')
        && !WORDS.contains(&&*text.to_lowercase())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::set_properties;
    use crate::page::properties;

    fn set(text: &str, values: Value) -> Result<String, String> {
        let values: Map<String, Value> = serde_json::from_value(values).unwrap();
        set_properties(text, &values)
    }

    const BLOCK: &str = "---\r\n# who\r\nstatus: \"draft\"  # soon\r\nowner: 'Ann'\r\nteams:\r\n  - ops\r\n  - data\r\n\r\nmore: {a: [1]}\r\ntext: |\r\n  ---\r\n  status: no\r\nempty: # none\r\n---\r\n\r\n# Page\r\n";

    #[test]
    fn a_property_is_set_in_its_place_and_every_other_byte_stays() {
        for (values, old, new) in [
            (json!({ "status": "done" }), "\"draft\"", "done"),
            (json!({ "owner": "Ann" }), "'Ann'", "Ann"),
            (json!({ "owner": "a: b" }), "'Ann'", "\"a: b\""),
            (json!({ "owner": "---" }), "'Ann'", "\"---\""),
            (json!({ "owner": true }), "'Ann'", "true"),
            (json!({ "owner": "true" }), "'Ann'", "\"true\""),
            (json!({ "owner": 1.5 }), "'Ann'", "1.5"),
            (json!({ "owner": ["a", "b, c"] }), "'Ann'", "[a, \"b, c\"]"),
            (json!({ "owner": null }), "owner: 'Ann'\r\n", ""),
            (
                json!({ "teams": ["x"] }),
                "teams:\r\n  - ops\r\n  - data\r\n",
                "teams: [x]\r\n",
            ),
            (
                json!({ "teams": "x" }),
                "teams:\r\n  - ops\r\n  - data\r\n",
                "teams: x\r\n",
            ),
            (
                json!({ "teams": null }),
                "teams:\r\n  - ops\r\n  - data\r\n",
                "",
            ),
            (json!({ "empty": "x" }), "empty: #", "empty: x #"),
            (
                json!({ "since": "2026-01-31" }),
                "none\r\n",
                "none\r\nsince: \"2026-01-31\"\r\n",
            ),
            (json!({ "absent": null }), "", ""),
        ] {
            assert_eq!(
                set(BLOCK, values.clone()),
                Ok(BLOCK.replacen(old, new, 1)),
                "{values}"
            );
        }
    }

    #[test]
    fn a_page_without_a_block_gets_one() {
        for (page, with) in [
            ("# Page\n", "---\nstatus: new\n---\n\n# Page\n"),
            ("\r\n# P\r\n", "---\r\nstatus: new\r\n---\r\n\r\n# P\r\n"),
            ("\u{feff}# P", "\u{feff}---\nstatus: new\n---\n\n# P"),
        ] {
            assert_eq!(set(page, json!({ "status": "new" })), Ok(with.to_owned()));
            assert_eq!(set(page, json!({ "status": null })), Ok(page.to_owned()));
        }
    }

    #[test]
    fn what_cannot_be_set_exactly_is_refused() {
        let nested = "---\na:\n  b: 1\nc: &x 1\nd: |\n  e\nf:\n  - g # h\ni: 1\ni: 2\n---\n";
        for (text, values, why) in [
            (nested, json!({ "a": 1 }), "nested"),
            (nested, json!({ "c": null }), "anchor"),
            (nested, json!({ "d": "x" }), "spans lines"),
            (nested, json!({ "f": ["x"] }), "comments"),
            (nested, json!({ "i": 3 }), "more than once"),
            (nested, json!({ "j": { "k": 1 } }), "takes a text"),
            (nested, json!({ "j": "a\nb" }), "takes a text"),
            (nested, json!({ "j": [["a"]] }), "takes a text"),
            (nested, json!({ "a b": 1 }), "no key"),
            (nested, json!({ "true": 1 }), "no key"),
            (
                "---\nk: \"open\nl: x\n---\n",
                json!({ "l": 1 }),
                "not all understood",
            ),
            (
                "---\nk: [a,\nb: c]\n---\n",
                json!({ "b": 1 }),
                "not all understood",
            ),
            (
                "---\nk: v\nno key\n---\n",
                json!({ "k": 1 }),
                "not all understood",
            ),
            (
                "---\nk: v\n\n# P\n",
                json!({ "k": 1 }),
                "begins no such block",
            ),
            ("---\n---\n", json!({ "k": 1 }), "begins no such block"),
            (
                "---\n# c\nk: v\n---\n",
                json!({ "k": null }),
                "the last of its block",
            ),
        ] {
            let fault = set(text, values.clone()).expect_err(text);
            assert!(fault.contains(why), "{values}: {fault}");
        }
        let many: Map<String, Value> = (0..51).map(|n| (format!("k{n}"), json!(n))).collect();
        assert!(set("x", Value::Object(many)).is_err());
        let long = format!("---\na: {}\n---\n", "x".repeat(20_000));
        assert!(set(&long, json!({ "b": 1 })).is_err());
    }

    proptest! {
        #[test]
        fn a_text_that_is_set_is_read_again_and_no_other_property_changes(
            text in "([a:]|- |  |\\[|\\]|\"|'|,|#|\\{|ä|\\||&|---|\\\\){0,12}",
            block in "(a: 1\n|b: 'x'\n|c:\n|  - y\n|# z\n|d: [e]\n|\n){0,8}",
        ) {
            let page = format!("---\nk: v\n{block}---\n\nText\n");
            if let Ok(made) = set(&page, json!({ "k": text, "n": [text] })) {
                let (old, new) = (properties(&page), properties(&made));
                prop_assert_eq!(&old[1..], &new[1..old.len()]);
                prop_assert!(made.ends_with("---\n\nText\n"));
                prop_assert_eq!(new[0].1.values().collect::<Vec<_>>(), [&*text]);
                prop_assert_eq!(new.last().unwrap().1.values().collect::<Vec<_>>(), [&*text]);
            }
        }
    }
}
