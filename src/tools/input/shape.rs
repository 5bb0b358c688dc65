//! Checks arguments against a tool's schema: names, types, lengths and ranges.

use serde_json::{Map, Value};

use crate::nearest::{most_alike, name_likeness};
use crate::tools::arguments::Arguments;
use crate::tools::faults::ArgumentFaults;
use crate::words::separated;

/// The most items of a list whose schema sets no limit.
const MOST_ITEMS: u64 = 100;

/// The fault of a missing id of a page.
pub(in crate::tools) const MISSING_ID: &str =
    "is required; wikijs_get_page_by_path takes a path or a title, and returns the id";

pub(super) fn check_shape(
    schema: &Map<String, Value>,
    explained: &[(&str, &str)],
    arguments: &Arguments,
) -> ArgumentFaults {
    let empty = Map::new();
    let known = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let mut faults = ArgumentFaults::default();
    // The arguments that the tool takes are listed once.
    let mut takes = Some(if known.is_empty() {
        "none".to_owned()
    } else {
        separated(known.keys(), ", ")
    });
    let is_integer = |property: &Value| {
        let kind = property.get("type").and_then(Value::as_str);
        kind == Some("integer")
    };
    let takes_page = known.contains_key("page") && known.get("id").is_some_and(is_integer);
    for (name, value) in &arguments.members {
        match known.get(name) {
            Some(Value::Object(_)) if takes_page && name == "id" && value.is_string() => {
                faults.add(name, || {
                    "must be an integer, not a string; page takes a path or a title".to_owned()
                });
            }
            Some(property) => type_faults(&mut faults, name, property, value),
            None => faults.add(name, || match value {
                Value::Object(inner) if wraps(inner, known) => {
                    "holds the arguments; give them themselves, without it around them".to_owned()
                }
                _ => unknown(name, explained, known, &mut takes),
            }),
        }
    }
    // No tool has so many arguments.
    faults.count_more(arguments.left_out);
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !arguments.has(name) {
            faults.add(name, || match name {
                "id" if takes_page => {
                    "is required, or page with a path or a title in its place".to_owned()
                }
                _ => missing(name, known.get(name)),
            });
        }
    }
    faults
}

fn type_faults(faults: &mut ArgumentFaults, name: &str, property: &Value, value: &Value) {
    if let Some(message) = type_fault(name, property, value) {
        faults.add(name, || message);
        return;
    }
    let Value::Array(items) = value else { return };
    // The number of items is checked before the items.
    if let Some(message) = length_fault(property, items.len()) {
        faults.add(name, || message);
        return;
    }
    let item = property.get("items").unwrap_or(&Value::Null);
    for (index, value) in items.iter().enumerate() {
        if let Some(message) = type_fault(name, item, value) {
            faults.add(&format!("{name}[{index}]"), || message);
        }
    }
}

/// The fault of a list with too few or too many items.
fn length_fault(property: &Value, items: usize) -> Option<String> {
    let limit = |word: &str| property.get(word).and_then(Value::as_u64);
    let (least, most) = (limit("minItems"), limit("maxItems").unwrap_or(MOST_ITEMS));
    let items = u64::try_from(items).unwrap_or(u64::MAX);
    match least {
        Some(least) if items < least => Some(must_have("at least", least, "items")),
        _ if items > most => Some(must_have("at most", most, "items")),
        _ => None,
    }
}

fn must_have(word: &str, bound: impl Into<i128>, unit: &str) -> String {
    let bound = bound.into();
    let unit = if bound == 1 {
        unit.trim_end_matches('s')
    } else {
        unit
    };
    format!("must have {word} {bound} {unit}")
}

/// The fault of a number, which has no unit, or of a length.
pub(super) fn out_of_range(word: &str, bound: i64, unit: &str) -> String {
    match unit {
        "" => format!("must be {word} {bound}"),
        unit => must_have(word, bound, unit),
    }
}

/// Checks numbers and lengths against the schema; the message names the limit.
pub(super) fn check_ranges(
    schema: &Map<String, Value>,
    arguments: &Map<String, Value>,
) -> ArgumentFaults {
    let fault = |name: &str, value: &Value| {
        let property = schema.get("properties")?.get(name)?;
        let limit = |word: &str| property.get(word).and_then(Value::as_i64);
        let (number, lowest, highest, unit) = match value {
            Value::String(text) => {
                let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
                (length, limit("minLength"), limit("maxLength"), "characters")
            }
            Value::Number(number) => (
                // A number beyond `i64` is too large; it is never negative.
                number.as_i64().unwrap_or(i64::MAX),
                limit("minimum"),
                limit("maximum"),
                "",
            ),
            _ => return None,
        };
        let (word, bound) = match (lowest, highest) {
            (Some(lowest), _) if number < lowest => ("at least", lowest),
            (_, Some(highest)) if number > highest => ("at most", highest),
            _ => return None,
        };
        Some(out_of_range(word, bound, unit))
    };
    let mut faults = ArgumentFaults::default();
    for (name, value) in arguments {
        if let Some(message) = fault(name, value) {
            faults.add(name, || message);
        }
    }
    faults
}

fn type_fault(name: &str, property: &Value, value: &Value) -> Option<String> {
    let wanted = property.get("type").and_then(Value::as_str)?;
    let fits = match wanted {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    if !fits {
        let given = match value {
            Value::Null => "null; leave it out instead",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        let article = if wanted.starts_with(['a', 'i', 'o']) {
            "an"
        } else {
            "a"
        };
        let elsewhere = match value {
            // A path or a title was given instead of an id.
            Value::String(_) if wanted == "integer" && names_a_page(name) => {
                "; wikijs_get_page_by_path takes a path or a title, and returns the id"
            }
            Value::Number(_) if wanted == "string" && name == "path" => {
                "; wikijs_get_page_by_id takes an id, and returns the path"
            }
            _ if name == "lines" => "; such as 12-40",
            _ => "",
        };
        return Some(format!(
            "must be {article} {wanted}, not {given}{elsewhere}"
        ));
    }
    let allowed = property.get("enum").and_then(Value::as_array)?;
    (!allowed.contains(value)).then(|| {
        let names = allowed.iter().filter_map(Value::as_str);
        format!("must be one of {}", separated(names, ", "))
    })
}

/// True if an object's members are arguments of the tool.
fn wraps(inner: &Map<String, Value>, known: &Map<String, Value>) -> bool {
    !inner.is_empty() && inner.keys().all(|name| known.contains_key(name))
}

/// True if an argument is the id of a page.
fn names_a_page(name: &str) -> bool {
    matches!(name, "id" | "ids" | "page" | "relatedTo")
}

/// The fault of a missing argument; of an id, with where ids come from.
fn missing(name: &str, property: Option<&Value>) -> String {
    let of = |member: &str| property?.get(member)?.as_str();
    match (of("type"), of("description")) {
        (Some("integer"), _) if names_a_page(name) => MISSING_ID.to_owned(),
        (_, Some(meaning)) if matches!(name, "id" | "callId") => {
            format!("is required: {}", meaning.trim_end_matches('.'))
        }
        _ => "is required".to_owned(),
    }
}

/// The fault of an unknown argument; `takes` is told once.
fn unknown(
    name: &str,
    explained: &[(&str, &str)],
    known: &Map<String, Value>,
    takes: &mut Option<String>,
) -> String {
    if let Some((_, why)) = explained.iter().find(|(explained, _)| *explained == name) {
        return (*why).to_owned();
    }
    let is_text = matches!(name, "text" | "body" | "markdown") && known.contains_key("content");
    let nearest = most_alike(known.keys(), 1, 0.7, |known| {
        if is_text && *known == "content" {
            return 1.0;
        }
        let (ours, given) = (known.to_lowercase(), name.to_lowercase());
        // "published" means isPublished, although publishEndDate is more similar.
        let is_part = given.len() > 3 && ours.contains(&given) && ours != given;
        if is_part || ends_with_word(name, known) {
            0.99
        } else {
            name_likeness(known, name)
        }
    });
    let nearest = nearest
        .first()
        .map_or_else(String::new, |nearest| format!(" (did you mean {nearest}?)"));
    let takes = takes.take();
    let takes = takes.map_or_else(String::new, |takes| format!("; it takes {takes}"));
    format!("is not an argument of this tool{nearest}{takes}")
}

/// True if a name ends with another one as a word of its own, as `pageId` and `page_id` with `id`.
fn ends_with_word(name: &str, word: &str) -> bool {
    let Some((before, end)) = (name.len().checked_sub(word.len()))
        .and_then(|at| name.split_at_checked(at))
        .filter(|(before, _)| !before.is_empty())
    else {
        return false;
    };
    let begins = end.starts_with(|c: char| c.is_ascii_uppercase()) || before.ends_with(['_', '-']);
    begins && end.eq_ignore_ascii_case(word)
}
