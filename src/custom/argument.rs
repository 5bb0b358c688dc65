//! The arguments of a recipe: their types, bounds and defaults.

use serde_json::{Value, json};

use super::name::is_argument;
use super::path_part;
use super::read::{TomlFault, TomlTable, json as json_of};
use super::template::{DAYS, plain};

/// The longest text of one line, unless the recipe says another bound.
const LINE: i64 = 200;
/// The same of a text of several lines.
const LINES: i64 = 20_000;
/// The longest text that a recipe can allow.
const MOST: i64 = 200_000;
/// The most choices.
const CHOICES: usize = 100;
/// The argument that a writing tool takes itself.
pub(super) const CONFIRM: &str = "confirm";

/// The type of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ArgumentType {
    Text {
        least: i64,
        most: i64,
        /// True if it may have several lines.
        lines: bool,
        /// True if it may have several segments where it is a part of a path.
        slash: bool,
    },
    Integer {
        least: i64,
        most: i64,
    },
    Boolean,
    Choice(Vec<String>),
}

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecipeArgument {
    pub(super) name: String,
    description: Option<String>,
    pub(super) kind: ArgumentType,
    pub(super) default: Option<Value>,
    pub(super) is_required: bool,
}

impl RecipeArgument {
    /// Reads the table of an argument.
    pub(super) fn read(
        name: &str,
        mut table: TomlTable<'_, '_>,
        faults: &mut Vec<TomlFault>,
    ) -> Self {
        let before = faults.len();
        if !is_argument(name) || name == CONFIRM || DAYS.contains(&name) {
            let fault = format!(
                "{name:?} cannot be an argument's name: letters, digits and _, and none of {CONFIRM}, {}",
                DAYS.join(", ")
            );
            faults.push((table.at(), fault));
        }
        let kind = kind(&mut table, faults);
        let description = table.text("description", faults);
        let required = table.flag("required", faults);
        let default = table.read("default", faults, "a text, a number or a flag", |value| {
            json_of(value)
        });
        let (at, what) = (table.at(), table.what.clone());
        table.finish(faults);
        if required == Some(true) && default.is_some() {
            let fault = format!("{what}default means nothing to an argument that is required");
            faults.push((at.clone(), fault));
        }
        let read = Self {
            name: name.to_owned(),
            description,
            kind,
            is_required: required.unwrap_or(default.is_none()),
            default,
        };
        if let Some(default) = &read.default
            && faults.len() == before
            && let Err(fault) = read.check(default)
        {
            faults.push((at, format!("{what}default {fault}")));
        }
        read
    }

    /// Its schema.
    pub(super) fn schema(&self) -> Value {
        let mut schema = match &self.kind {
            ArgumentType::Text { least, most, .. } => {
                json!({ "type": "string", "minLength": least, "maxLength": most })
            }
            ArgumentType::Integer { least, most } => {
                json!({ "type": "integer", "minimum": least, "maximum": most })
            }
            ArgumentType::Boolean => json!({ "type": "boolean" }),
            ArgumentType::Choice(words) => json!({ "type": "string", "enum": words }),
        };
        if let Value::Object(members) = &mut schema {
            let described = self.description.clone().map(Value::from);
            let members_of = [
                ("description", described),
                ("default", self.default.clone()),
            ];
            for (name, value) in members_of {
                members.extend(value.map(|value| (name.to_owned(), value)));
            }
        }
        schema
    }

    /// Checks a value. What the schema says is checked here once more, for defaults.
    ///
    /// # Errors
    /// What it must be.
    pub(super) fn check(&self, value: &Value) -> Result<(), String> {
        match (&self.kind, value) {
            (
                ArgumentType::Text {
                    least, most, lines, ..
                },
                Value::String(text),
            ) => {
                let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
                if length < *least || length > *most {
                    return Err(format!("must have {least} to {most} characters"));
                }
                let is_allowed = |c: char| *lines && matches!(c, '\n' | '\t');
                let is_bad = |c: char| c.is_control() && !is_allowed(c);
                let is_bad = |c: char| is_bad(c) || !lines && matches!(c, '\u{2028}' | '\u{2029}');
                if text.contains(is_bad) {
                    let lines = if *lines { "" } else { "one line, " };
                    return Err(format!("must be {lines}without control characters"));
                }
                Ok(())
            }
            (ArgumentType::Integer { least, most }, Value::Number(number)) => number
                .as_i64()
                .filter(|number| (least..=most).contains(&number))
                .map(drop)
                .ok_or_else(|| format!("must be a whole number from {least} to {most}")),
            (ArgumentType::Boolean, Value::Bool(_)) => Ok(()),
            (ArgumentType::Choice(words), Value::String(word)) if words.contains(word) => Ok(()),
            (ArgumentType::Choice(words), _) => Err(format!("must be one of {}", words.join(", "))),
            _ => Err("is of another type".to_owned()),
        }
    }

    /// Checks a value that becomes a part of a path.
    ///
    /// # Errors
    /// What it must be.
    pub(super) fn check_in_path(&self, value: &Value) -> Result<(), String> {
        let slash = match self.kind {
            ArgumentType::Text { slash, .. } => slash,
            // These words are the operator's own.
            ArgumentType::Choice(_) => true,
            ArgumentType::Integer { .. } | ArgumentType::Boolean => false,
        };
        path_part::check(&plain(value), slash)
    }

    /// A value that could be given.
    pub(super) fn sample(&self) -> Value {
        match &self.kind {
            ArgumentType::Text { least, .. } => "a"
                .repeat(usize::try_from((*least).max(1)).unwrap_or(1))
                .into(),
            ArgumentType::Integer { least, most } => 1.clamp(*least, *most).into(),
            ArgumentType::Boolean => false.into(),
            ArgumentType::Choice(words) => words.first().map_or("", String::as_str).into(),
        }
    }
}

fn kind(table: &mut TomlTable<'_, '_>, faults: &mut Vec<TomlFault>) -> ArgumentType {
    let at = table.at();
    let what = table.what.clone();
    let mut between = |table: &mut TomlTable<'_, '_>,
                       names: [&'static str; 2],
                       usual: (i64, i64),
                       bounds: (i64, i64)| {
        let [least, most] = names.map(|name| table.number(name, faults));
        let (least, most) = (
            least.unwrap_or(usual.0),
            most.unwrap_or(usual.1.max(least.unwrap_or(0))),
        );
        if least > most || least < bounds.0 || most > bounds.1 {
            let [low, high] = names;
            let fault = format!(
                "{what}{low} and {what}{high} must lie in this order between {} and {}",
                bounds.0, bounds.1
            );
            faults.push((at.clone(), fault));
        }
        (least, most)
    };
    let word = table.get("type").and_then(|value| value.get_ref().as_str());
    match word {
        Some("string") => {
            let mut own = Vec::new();
            let lines = table.flag("lines", &mut own).unwrap_or_default();
            let slash = table.flag("slash", &mut own).unwrap_or_default();
            let usual = if lines { LINES } else { LINE };
            let (least, most) = between(table, ["min_length", "max_length"], (1, usual), (0, MOST));
            faults.extend(own);
            ArgumentType::Text {
                least,
                most,
                lines,
                slash,
            }
        }
        Some("integer") => {
            let (low, high) = (i64::from(i32::MIN), i64::from(i32::MAX));
            let (least, most) = between(table, ["min", "max"], (0, high), (low, high));
            ArgumentType::Integer { least, most }
        }
        Some("boolean") => ArgumentType::Boolean,
        Some("choice") => {
            let words = table.read("choices", faults, "texts in quotes", |value| {
                let words: Option<Vec<String>> = (value.as_array()?.iter())
                    .map(|word| word.get_ref().as_str().map(str::to_owned))
                    .collect();
                words
            });
            let words = words.unwrap_or_default();
            if words.is_empty() || words.len() > CHOICES {
                faults.push((at, format!("{what}choices must be 1 to {CHOICES} texts")));
            }
            ArgumentType::Choice(words)
        }
        _ => {
            let fault = format!("{what}type must be string, integer, boolean or choice");
            faults.push((at, fault));
            ArgumentType::Boolean
        }
    }
}
