//! Turns what a client sent into a tool's typed input and reports all faults at once.
//!
//! First all names and top-level types are checked against the schema, then serde reads, then garde
//! checks the values. Each stage reports every fault it finds.

mod places;
pub(super) mod rule;
mod shape;

use garde::Validate;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::arguments::Arguments;
pub(super) use super::faults::{invalid_argument, refuse};
use super::page_argument::{FROM_PAGE, ID, LINKS_TO, PAGE};
use crate::error::{Result, camel_case};
use crate::nearest::nearest;
pub(super) use places::{
    Locales, date, draft, known_locale, known_tags, memory_id, new_place, part, place, places,
    prefix, required_memory_id, tag_filters, tags,
};
pub(super) use shape::MISSING_ID;
use shape::{check_ranges, check_shape, out_of_range};

/// Reads arguments by a schema into a typed input, in linear time.
///
/// # Errors
/// `INVALID_INPUT` with `details.fields`.
pub(super) fn parse<T>(
    schema: &Map<String, Value>,
    explained: &[(&str, &str)],
    mut arguments: Arguments,
) -> Result<T>
where
    T: DeserializeOwned + Validate<Context = ()>,
{
    arguments.check_size()?;
    read_kindly(schema, &mut arguments.members);
    let faults = check_shape(schema, explained, &arguments);
    if !faults.is_empty() {
        return Err(faults.into_failure());
    }
    let arguments = arguments.whole()?;
    // Serde may not be able to read an out-of-range number either.
    let mut faults = check_ranges(schema, &arguments);
    let read = serde_path_to_error::deserialize::<_, T>(Value::Object(arguments));
    let input = match read {
        Ok(input) => Some(input),
        Err(error) => {
            if faults.is_empty() {
                let path = error.path().to_string();
                let path = if path == "." { "" } else { &path };
                faults.add(path, || read_fault(&error.inner().to_string()));
            }
            None
        }
    };
    if let Some(Err(report)) = input.as_ref().map(Validate::validate) {
        for (path, error) in report.iter() {
            let path = camel_case(&path.to_string());
            if !faults.covers(&path) {
                faults.add(&path, || {
                    rule_fault(is_list(schema, &path), error.message())
                });
            }
        }
    }
    match input {
        Some(input) if faults.is_empty() => Ok(input),
        _ => Err(faults.into_failure()),
    }
}

/// The fault of an argument that serde cannot read, as a predicate; `error` quotes names in backticks.
fn read_fault(error: &str) -> String {
    let names: Vec<&str> = error.split('`').skip(1).step_by(2).collect();
    let (Some(given), Some(known)) = (names.first(), names.get(1..)) else {
        return error.replacen("invalid ", "has an invalid ", 1);
    };
    let known = || known.join(", ");
    if error.starts_with("unknown field") {
        let near = names.get(1..).and_then(|known| nearest(given, known, 0.6));
        let near = near.map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
        format!("is not known there{near}; known are {}", known())
    } else if error.starts_with("unknown variant") {
        format!("must be one of {}", known())
    } else if error.starts_with("missing field") {
        format!("lacks {given}")
    } else if error.starts_with("invalid value: integer") && given.starts_with('-') {
        "must be at least 0".to_owned()
    } else if error.starts_with("invalid value: integer") {
        format!("must be a smaller number than {given}")
    } else {
        error.replacen("invalid ", "has an invalid ", 1)
    }
}

/// True if an argument is a list.
fn is_list(schema: &Map<String, Value>, name: &str) -> bool {
    let property = schema.get("properties").and_then(|known| known.get(name));
    property.is_some_and(|property| property.get("type") == Some(&"array".into()))
}

/// The fault that one of garde's own rules finds, in our words; those of our rules are in them.
fn rule_fault(is_list: bool, message: &str) -> String {
    let (unit, bound) = match message.strip_prefix("length is ") {
        Some(bound) if is_list => ("items", bound),
        Some(bound) => ("characters", bound),
        None => ("", message),
    };
    let bounds = [("lower than ", "at least"), ("greater than ", "at most")];
    let worded = bounds.into_iter().find_map(|(theirs, ours)| {
        let bound = bound.strip_prefix(theirs)?.parse::<i64>().ok()?;
        Some(out_of_range(ours, bound, unit))
    });
    worded.unwrap_or_else(|| message.to_owned())
}

/// A number of things, or the usual one.
pub(super) fn count(given: Option<u32>, usual: usize) -> usize {
    let given = given.and_then(|number| usize::try_from(number).ok());
    given.unwrap_or(usual)
}

/// Accepts `"240"` for 240 where a whole number is wanted, since several models write ids so; 240
/// for `"240"` where a page is wanted by path or id; and the former notation `{"from": 12, "to":
/// 40}` for the lines `12-40`.
fn read_kindly(schema: &Map<String, Value>, arguments: &mut Map<String, Value>) {
    let is_whole = |property: &Value| property.get("type") == Some(&"integer".into());
    let read = |value: &mut Value| {
        let number = value
            .as_str()
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|text| text.parse::<i64>().ok());
        if let Some(number) = number {
            *value = number.into();
        }
    };
    let known = schema.get("properties").and_then(Value::as_object);
    // Beside an id of a page `page` is its name.
    let takes_page_id = known.is_some_and(|known| known.get(ID).is_some_and(is_whole));
    let is_name_or_id = |name: &str| match name {
        PAGE => !takes_page_id,
        name => [LINKS_TO, FROM_PAGE].contains(&name),
    };
    for (name, property) in known.into_iter().flatten() {
        match arguments.get_mut(name) {
            Some(value) if is_whole(property) => read(value),
            Some(Value::Number(id)) if is_name_or_id(name) && id.is_u64() => {
                let id = id.to_string();
                arguments.insert(name.clone(), id.into());
            }
            Some(Value::Object(range)) if name == "lines" => {
                let bound = |name| range.get(name).and_then(Value::as_u64);
                if let (2, Some(from), Some(to)) = (range.len(), bound("from"), bound("to")) {
                    arguments.insert(name.clone(), format!("{from}-{to}").into());
                }
            }
            Some(Value::Array(values)) if property.get("items").is_some_and(is_whole) => {
                values.iter_mut().for_each(read);
            }
            _ => {}
        }
    }
}
