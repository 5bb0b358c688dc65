//! Limits how much of a change an answer shows.
//!
//! In a cut difference, added lines have separate room, so that a long removal can never hide its
//! replacement.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::warning::Warning;

/// The most bytes of a difference that an answer holds.
pub const MAX_DIFF_BYTES: usize = 32 * 1024;
/// The most bytes of one field's value that an answer holds.
pub const MAX_VALUE_BYTES: usize = 8 * 1024;
/// The most bytes of a difference in a brief answer.
pub const BRIEF_DIFF: usize = 4 * 1024;
/// The most bytes of one field's value in a brief answer.
pub const BRIEF_VALUE: usize = 1024;
/// The room of our own words in a cut text.
const OWN_BYTES: usize = 200;
/// A longer line is shown in part if it is the first and there is no room for all of it.
const SHORTEST_PART: usize = 80;

/// Cuts long differences and values, with a warning.
pub fn short(values: Map<String, Value>, warnings: &mut Vec<Warning>) -> Map<String, Value> {
    short_to(values, MAX_VALUE_BYTES, warnings)
}

/// As [`short`], with at most so many bytes a value.
pub fn short_to(
    mut values: Map<String, Value>,
    most: usize,
    warnings: &mut Vec<Warning>,
) -> Map<String, Value> {
    for (field, states) in &mut values {
        let Some(states) = states.as_object_mut() else {
            continue;
        };
        short_lists(field, states, most, warnings);
        for (name, state) in states {
            let Value::String(text) = state else { continue };
            if text.len() <= most {
                continue;
            }
            let cut = if name == "diff" {
                Cut::new(text, most)
            } else {
                Cut::at(text, most)
            };
            warnings.push(cut.warning("value_cut", text.len(), field));
            *text = cut.text;
        }
    }
    values
}

/// Cuts the lists of a field, if one is long, to the items that come or go with the change, as many as
/// there is room for; each with a warning.
fn short_lists(
    field: &str,
    states: &mut Map<String, Value>,
    most: usize,
    warnings: &mut Vec<Warning>,
) {
    let is_long = |state: &Value| state.is_array() && state.to_string().len() > most;
    if !states.values().any(is_long) {
        return;
    }
    let whole = states.clone();
    let sets = ["before", "after"].map(|name| {
        let items = whole.get(name).and_then(Value::as_array);
        items.into_iter().flatten().collect::<HashSet<_>>()
    });
    for (name, state) in states {
        let Value::Array(items) = state else { continue };
        let (all, mut room) = (items.len(), most);
        items.retain(|item| {
            let bytes = item.to_string().len() + 1;
            let stays = sets.iter().all(|items| items.contains(item));
            let is_shown = !stays && bytes <= room;
            room -= if is_shown { bytes } else { 0 };
            is_shown
        });
        let message = format!(
            "{} of {all} {field} {name} the change are shown, of those that come or go.",
            items.len()
        );
        warnings.push(Warning::new("value_cut", message));
    }
}

/// Cuts a difference, with a warning.
pub fn cut(diff: String, warnings: &mut Vec<Warning>) -> String {
    cut_to(diff, MAX_DIFF_BYTES, warnings)
}

/// As [`cut`], with at most so many bytes.
pub fn cut_to(diff: String, most: usize, warnings: &mut Vec<Warning>) -> String {
    if diff.len() <= most {
        return diff;
    }
    let cut = Cut::new(&diff, most);
    warnings.push(cut.warning("diff_cut", diff.len(), "the difference"));
    cut.text
}

/// A text that was cut.
#[derive(Debug, Default)]
struct Cut {
    text: String,
    /// The bytes of the whole text that it has.
    bytes: usize,
    /// The lines that are missing or cut.
    added: usize,
    rest: usize,
}

/// The room of one kind of lines.
struct LineBudget {
    bytes: usize,
    /// The text in place of the first missing line.
    mark: &'static str,
    /// True if a line with text of the page is shown.
    shows: bool,
    /// The number of missing lines.
    missing: usize,
}

impl LineBudget {
    /// Adds a line if there is room for it. Where not even the first line has room, it is added in
    /// part; all lines from the first missing one on are left out, so that there are no hidden gaps.
    fn put(&mut self, line: &str, cut: &mut Cut) {
        if self.missing == 0 && line.len() <= self.bytes {
            self.shows |= !line.starts_with("@@");
            self.bytes -= line.len();
            cut.bytes += line.len();
            cut.text.push_str(line);
            return;
        }
        if self.missing == 0 {
            if self.bytes >= SHORTEST_PART && !self.shows {
                let end = line.floor_char_boundary(self.bytes);
                let part = line.get(..end).unwrap_or_default();
                cut.bytes += part.len();
                // Writing to a string cannot fail.
                let _ = writeln!(cut.text, "{part}…");
            }
            cut.text.push_str(self.mark);
        }
        self.missing += 1;
    }
}

impl Cut {
    /// A difference of at most this many bytes, our own words included.
    fn new(diff: &str, most: usize) -> Self {
        let most = most.saturating_sub(OWN_BYTES);
        let is_added = |line: &str| line.starts_with('+');
        let lines = || diff.split_inclusive('\n');
        let added: usize = lines().filter(|line| is_added(line)).map(str::len).sum();
        let rest = diff.len() - added;
        let half = most / 2;
        let for_added = added.min(half.max(most.saturating_sub(rest)));
        let mut for_added = LineBudget {
            bytes: for_added,
            mark: "\\ From here on, lines that are added are not shown.\n",
            shows: false,
            missing: 0,
        };
        let mut for_rest = LineBudget {
            bytes: most - for_added.bytes,
            mark: "\\ From here on, lines that are removed or stay are not shown.\n",
            shows: false,
            missing: 0,
        };
        let mut cut = Self::default();
        for line in lines() {
            if is_added(line) {
                for_added.put(line, &mut cut);
            } else {
                for_rest.put(line, &mut cut);
            }
        }
        (cut.added, cut.rest) = (for_added.missing, for_rest.missing);
        cut
    }

    /// The beginning of a text.
    fn at(text: &str, most: usize) -> Self {
        let end = text.floor_char_boundary(most);
        let shown = text.get(..end).unwrap_or_default();
        Self {
            text: shown.to_owned(),
            bytes: shown.len(),
            ..Self::default()
        }
    }

    /// Says how much of something is shown, and how many lines are not, or not whole.
    fn warning(&self, code: &'static str, whole: usize, of: &str) -> Warning {
        let count = |count: usize, kind: &str| (count > 0).then(|| format!("{count} {kind}"));
        let kinds = [
            count(self.added, "added"),
            count(self.rest, "removed or unchanged"),
        ];
        let kinds: Vec<String> = kinds.into_iter().flatten().collect();
        let lead = "; lines that are not shown, or not whole: ";
        let lead = if kinds.is_empty() { "" } else { lead };
        let (bytes, kinds) = (self.bytes, kinds.join(", "));
        let message = format!("{bytes} of {whole} bytes of {of} are shown{lead}{kinds}.");
        Warning::new(code, message)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{MAX_DIFF_BYTES, MAX_VALUE_BYTES, cut, short};
    use crate::page::unified_diff;

    #[test]
    fn what_is_added_is_shown_however_much_is_removed() {
        let before = "what was there before\n".repeat(10_000);
        for after in ["evil()\n".to_owned(), "new\n".repeat(100_000) + "evil()\n"] {
            let (diff, _) = unified_diff(&before, &after);
            let mut warnings = Vec::new();
            let shown = cut(diff.clone(), &mut warnings);
            assert!(shown.len() <= MAX_DIFF_BYTES, "{}", shown.len());
            assert!(shown.contains("\n-what was there before\n"), "{shown}");
            let first = format!("\n+{}\n", after.lines().next().unwrap());
            assert!(shown.contains(&first), "{shown}");
            // All lines are shown or counted.
            let marks = |line: &&str| !line.starts_with('\\');
            let count = shown.lines().filter(marks).count();
            let told = warnings[0].message.split(|c: char| !c.is_ascii_digit());
            let told: Vec<usize> = told.filter_map(|word| word.parse().ok()).collect();
            let missing: usize = told[2..].iter().sum();
            let parts = shown.lines().filter(|line| line.ends_with('…')).count();
            assert_eq!(
                count + missing - parts,
                diff.lines().count(),
                "{warnings:?}"
            );
        }
    }

    #[test]
    fn a_difference_that_has_room_is_left_alone() {
        let (diff, _) = unified_diff("a\n", "b\n");
        let mut warnings = Vec::new();
        assert_eq!(cut(diff.clone(), &mut warnings), diff);
        assert!(warnings.is_empty());
    }

    #[test]
    fn a_line_that_is_longer_than_all_room_is_shown_in_part() {
        let (diff, _) = unified_diff(&"a".repeat(100_000), &"b".repeat(100_000));
        let shown = cut(diff, &mut Vec::new());
        assert!(
            shown.contains("\n-aaa") && shown.contains("\n+bbb"),
            "{shown}"
        );
        assert!(shown.len() <= MAX_DIFF_BYTES, "{}", shown.len());
        // What is shown of it is counted.
        let mut warnings = Vec::new();
        cut(format!("+{}\n", "b".repeat(100_000)), &mut warnings);
        assert_eq!(
            warnings[0].message,
            "32568 of 100002 bytes of the difference are shown; lines that are not shown, or not whole: 1 added."
        );
    }

    #[test]
    fn a_scripts_difference_is_cut_as_the_contents_is() {
        let (diff, _) = unified_diff(&"old();\n".repeat(5_000), "evil();\n");
        let values = json!({ "scriptJs": { "diff": diff, "linesAdded": 1 } });
        let values: Map<String, Value> = values.as_object().unwrap().clone();
        let mut warnings = Vec::new();
        let shown = short(values, &mut warnings);
        let shown = shown["scriptJs"]["diff"].as_str().unwrap();
        assert!(shown.contains("\n+evil();\n"), "{shown}");
        assert!(shown.len() <= MAX_VALUE_BYTES, "{}", shown.len());
        assert_eq!(warnings[0].code, "value_cut", "{warnings:?}");
        assert!(
            warnings[0].message.contains("removed or unchanged"),
            "{warnings:?}"
        );
    }

    #[test]
    fn of_long_lists_what_comes_and_goes_is_shown() {
        let tags = |more: &str| {
            let stay = (0..2_000).map(|number| format!("tag-{number}"));
            stay.chain([more.to_owned()]).collect::<Vec<_>>()
        };
        let values = json!({ "tags": { "before": tags("old"), "after": tags("new") } });
        let mut warnings = Vec::new();
        let shown = short(values.as_object().unwrap().clone(), &mut warnings);
        assert_eq!(
            shown["tags"],
            json!({ "before": ["old"], "after": ["new"] })
        );
        let told: Vec<&str> = warnings.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(
            told,
            [
                "1 of 2001 tags before the change are shown, of those that come or go.",
                "1 of 2001 tags after the change are shown, of those that come or go."
            ]
        );
        // Of a new page all come.
        let values = json!({ "tags": { "after": tags("new") } });
        let shown = short(values.as_object().unwrap().clone(), &mut warnings);
        let bytes = Value::Object(shown).to_string().len();
        assert!(
            bytes > MAX_VALUE_BYTES / 2 && bytes <= MAX_VALUE_BYTES + 100,
            "{bytes}"
        );
        // What has room stays.
        let values = json!({ "tags": { "before": ["a", "b"], "after": ["a"] } });
        let values: Map<String, Value> = values.as_object().unwrap().clone();
        assert_eq!(short(values.clone(), &mut Vec::new()), values);
    }

    #[test]
    fn a_long_value_is_shown_from_its_beginning_and_counted() {
        let long = "ä".repeat(5_000);
        let values = json!({ "title": { "before": "short", "after": long } });
        let mut warnings = Vec::new();
        let shown = short(values.as_object().unwrap().clone(), &mut warnings);
        assert_eq!(shown["title"]["before"], "short");
        assert_eq!(shown["title"]["after"], "ä".repeat(4_096));
        let told: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["value_cut: 8192 of 10000 bytes of title are shown."]);
        // As much as there is room for is left alone.
        let full = json!({ "title": { "after": "x".repeat(8_192) } });
        let mut warnings = Vec::new();
        let full = full.as_object().unwrap().clone();
        assert_eq!(short(full.clone(), &mut warnings), full);
        assert!(warnings.is_empty());
    }

    #[test]
    fn the_room_of_a_difference_is_used_and_what_is_missing_of_each_kind_is_named() {
        let added: Vec<String> = (0..1_000).map(|line| format!("+{line:0>62}\n")).collect();
        let added = added.concat();
        let mut warnings = Vec::new();
        let shown = cut(added.clone(), &mut warnings);
        // 32 kB less our own words hold 508 lines of 64 bytes.
        let room = 32 * 1024 - 200;
        let whole = room / 64;
        assert_eq!(shown.lines().filter(|line| line.len() == 63).count(), whole);
        assert_eq!(
            warnings[0].message,
            format!(
                "{} of 64000 bytes of the difference are shown; lines that are not shown, or not whole: {} added.",
                whole * 64,
                1_000 - whole
            )
        );
        let removed = added.replace('+', "-");
        let mut warnings = Vec::new();
        cut(removed, &mut warnings);
        assert!(
            warnings[0]
                .message
                .ends_with(&format!("{} removed or unchanged.", 1_000 - whole))
        );
        let just = "+x\n".repeat(32 * 1024 / 3);
        let mut warnings = Vec::new();
        assert_eq!(cut(just.clone(), &mut warnings), just);
        assert!(warnings.is_empty());
    }
}
