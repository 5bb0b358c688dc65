//! From what a client sent to a tool's typed input, with all faults told at once.
//!
//! First all names and top-level types are checked against the schema, then serde reads, then
//! garde checks the values: each stage tells all that it finds.

use garde::Validate;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::error::{Code, Failure};
use crate::page::{Locale, PagePath, Reference};
use crate::wiki::Wiki;

/// One fault of the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The argument, as a path into the arguments.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

impl Fault {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }
}

/// Reads arguments by a schema into a typed input.
///
/// # Errors
/// `INVALID_INPUT` with `details.fields`.
pub fn parse<T>(
    schema: &Map<String, Value>,
    explained: &[(&str, &str)],
    arguments: Map<String, Value>,
) -> Result<T, Failure>
where
    T: DeserializeOwned + Validate<Context = ()>,
{
    let faults = check_shape(schema, explained, &arguments);
    if !faults.is_empty() {
        return Err(invalid(&faults));
    }
    // A number that is out of range may be one that serde cannot read either.
    let mut faults = check_ranges(schema, &arguments);
    let read = serde_path_to_error::deserialize::<_, T>(Value::Object(arguments));
    let input = match read {
        Ok(input) => Some(input),
        Err(error) => {
            if faults.is_empty() {
                let path = error.path().to_string();
                let path = if path == "." { "" } else { &path };
                faults.push(Fault::new(path, error.inner().to_string()));
            }
            None
        }
    };
    if let Some(Err(report)) = input.as_ref().map(Validate::validate) {
        for (path, error) in report.iter() {
            let path = camel_case(&path.to_string());
            if !faults.iter().any(|fault| fault.path == path) {
                faults.push(Fault::new(path, error.message()));
            }
        }
    }
    match input {
        Some(input) if faults.is_empty() => Ok(input),
        _ => Err(invalid(&faults)),
    }
}

/// A failure that names faults of the arguments.
#[must_use]
pub fn invalid(faults: &[Fault]) -> Failure {
    let message = match faults {
        [Fault { path, message }] if path.is_empty() => {
            format!("The arguments are not valid: {message}.")
        }
        [Fault { path, message }] => format!("The argument {path} {message}."),
        faults => format!(
            "{} arguments are not valid; see details.fields.",
            faults.len()
        ),
    };
    Failure::new(Code::InvalidInput, message).detail("fields", json!(faults))
}

/// A failure that names one faulty argument.
#[must_use]
pub fn invalid_argument(path: &str, message: impl Into<String>) -> Failure {
    invalid(&[Fault::new(path, message)])
}

fn check_shape(
    schema: &Map<String, Value>,
    explained: &[(&str, &str)],
    arguments: &Map<String, Value>,
) -> Vec<Fault> {
    let empty = Map::new();
    let known = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let mut faults = Vec::new();
    for (name, value) in arguments {
        match known.get(name) {
            Some(property) => faults.extend(type_faults(name, property, value)),
            None => faults.push(Fault::new(printable(name), unknown(name, explained, known))),
        }
    }
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !arguments.contains_key(name) {
            faults.push(Fault::new(name, "is required"));
        }
    }
    faults
}

fn type_faults(name: &str, property: &Value, value: &Value) -> Vec<Fault> {
    match (type_fault(name, property, value), value.as_array()) {
        (None, Some(values)) => {
            let items = property.get("items").unwrap_or(&Value::Null);
            let faults = values.iter().enumerate();
            faults
                .filter_map(|(index, value)| type_fault(&format!("{name}[{index}]"), items, value))
                .collect()
        }
        (fault, _) => fault.into_iter().collect(),
    }
}

/// What the schema says of numbers and lengths, in words that name the limit.
fn check_ranges(schema: &Map<String, Value>, arguments: &Map<String, Value>) -> Vec<Fault> {
    let fault = |(name, value): (&String, &Value)| {
        let property = schema.get("properties")?.get(name)?;
        let limit = |word: &str| property.get(word).and_then(Value::as_i64);
        let (number, lowest, highest, unit) = match value {
            Value::String(text) => {
                let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
                (length, limit("minLength"), limit("maxLength"), "characters")
            }
            Value::Number(number) => (
                // What an i64 cannot hold is too large: it is no negative number.
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
        let message = match unit {
            "" => format!("must be {word} {bound}"),
            unit if bound == 1 => {
                format!("must have {word} {bound} {}", unit.trim_end_matches('s'))
            }
            unit => format!("must have {word} {bound} {unit}"),
        };
        Some(Fault::new(name, message))
    };
    arguments.iter().filter_map(fault).collect()
}

fn type_fault(name: &str, property: &Value, value: &Value) -> Option<Fault> {
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
        return Some(Fault::new(
            name,
            format!("must be {article} {wanted}, not {given}"),
        ));
    }
    let allowed = property.get("enum").and_then(Value::as_array)?;
    (!allowed.contains(value)).then(|| {
        let names: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
        Fault::new(name, format!("must be one of {}", names.join(", ")))
    })
}

fn unknown(name: &str, explained: &[(&str, &str)], known: &Map<String, Value>) -> String {
    if let Some((_, why)) = explained.iter().find(|(explained, _)| *explained == name) {
        return (*why).to_owned();
    }
    let nearest = known
        .keys()
        .map(|known| {
            let (ours, given) = (known.to_lowercase(), name.to_lowercase());
            // "published" means isPublished, though publishEndDate begins more like it.
            let is_part = given.len() > 3 && ours.contains(&given);
            let likeness = strsim::jaro_winkler(&ours, &given);
            let likeness = if is_part { 1.0 } else { likeness };
            (if ours == given { 2.0 } else { likeness }, known)
        })
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((_, nearest)) = nearest {
        return format!("is not an argument of this tool (did you mean {nearest}?)");
    }
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    format!(
        "is not an argument of this tool; it takes {}",
        names.join(", ")
    )
}

/// A name that somebody sent, fit to be shown: cut, and without control characters.
fn printable(name: &str) -> String {
    name.chars().take(64).flat_map(char::escape_debug).collect()
}

/// garde names fields as Rust does; callers know them as JSON does.
fn camel_case(path: &str) -> String {
    let mut camel = String::with_capacity(path.len());
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        match c {
            '_' => camel.extend(chars.next().map(|c| c.to_ascii_uppercase())),
            c => camel.push(c),
        }
    }
    camel
}

/// Rules for garde, each made of the check that the rest of the program uses.
pub(super) mod rule {
    use std::ops::Deref;

    use crate::page::{self, Date, Locale, NewPath};

    type Told = Result<(), String>;

    /// A rule for an argument that must be there.
    pub(in crate::tools) fn required<T: Deref>(
        rule: impl Fn(&T::Target) -> Told,
    ) -> impl FnOnce(&T, &()) -> garde::Result {
        move |value, ()| rule(value).map_err(garde::Error::new)
    }

    /// A rule for an argument that may be left out.
    pub(in crate::tools) fn optional<T: Deref>(
        rule: impl Fn(&T::Target) -> Told,
    ) -> impl FnOnce(&Option<T>, &()) -> garde::Result {
        move |value, ()| {
            value
                .as_deref()
                .map_or(Ok(()), rule)
                .map_err(garde::Error::new)
        }
    }

    pub(in crate::tools) use page::{
        check_content as content, check_description as description, check_editor as editor,
        check_text as text, check_title as title,
    };

    pub(in crate::tools) fn locale(code: &str) -> Told {
        Locale::parse(code).map(|_| ())
    }

    pub(in crate::tools) fn selector(selector: &str) -> Told {
        page::Selector::parse(selector)
            .map(|_| ())
            .map_err(|fault| format!("is no selector: {fault}"))
    }

    pub(in crate::tools) fn part(selector: &str) -> Told {
        page::PartSelector::parse(selector)
            .map(|_| ())
            .map_err(|fault| format!("is no selector: {fault}"))
    }

    pub(in crate::tools) fn new_path(path: &str) -> Told {
        NewPath::parse(path).map(|_| ())
    }

    /// A date that must be one.
    pub(in crate::tools) fn time(date: &str) -> Told {
        match Date::parse(date) {
            Ok(_) if !date.is_empty() => Ok(()),
            _ => Err("must be a date in ISO 8601, as updatedAt is".to_owned()),
        }
    }

    pub(in crate::tools) fn date(date: &str) -> Told {
        Date::parse(date).map(|_| ())
    }

    pub(in crate::tools) fn tags(tags: &[String]) -> Told {
        if tags.len() > 100 {
            return Err("must have at most 100 tags".to_owned());
        }
        Ok(())
    }

    pub(in crate::tools) fn tag(tag: &str) -> Told {
        page::check_tag(tag).map(|_| ())
    }
}

/// Reads tags as the wiki stores them; each once.
pub(super) fn tags(tags: Vec<String>) -> Result<Vec<String>, Failure> {
    let mut stored: Vec<String> = Vec::with_capacity(tags.len());
    for tag in tags {
        let tag = crate::page::check_tag(&tag).map_err(|fault| invalid_argument("tags", fault))?;
        if !stored.contains(&tag) {
            stored.push(tag);
        }
    }
    Ok(stored)
}

/// Reads a place where a page shall come to be.
pub(super) fn new_path(path: &str) -> Result<crate::page::NewPath, Failure> {
    crate::page::NewPath::parse(path).map_err(|fault| invalid_argument("path", fault))
}

/// Reads below which path, and in which locale, pages are meant: the path may name its own.
pub(super) fn place(
    wiki: &Wiki,
    path: Option<&str>,
    locale: Option<&str>,
) -> Result<(Option<Locale>, Option<PagePath>), Failure> {
    let said = locale.map(Locale::as_stored);
    let Some(path) = path else {
        return Ok((said, None));
    };
    let (named, path) = Reference::place(path, &wiki.settings().base_url)
        .map_err(|fault| invalid_argument("path", fault))?;
    if let (Some(said), Some(named)) = (&said, &named)
        && said != named
    {
        return Err(invalid_argument(
            "path",
            format!("is in the locale {named}, not in {said}"),
        ));
    }
    Ok((
        said.or(named),
        Some(path).filter(|path| !path.as_str().is_empty()),
    ))
}

/// Reads a date.
pub(super) fn date(name: &str, date: Option<&str>) -> Result<Option<crate::page::Date>, Failure> {
    date.map(crate::page::Date::parse)
        .transpose()
        .map_err(|fault| invalid_argument(name, fault))
}
