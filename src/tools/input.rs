//! From what a client sent to a tool's typed input, with all faults told at once.
//!
//! First all names and top-level types are checked against the schema, then serde reads, then
//! garde checks the values: each stage tells all that it finds.

use garde::Validate;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::arguments::Arguments;
use super::faults::Faults;
pub(super) use super::faults::invalid_argument;
use super::nearest::MOST_NAME;
use crate::error::Failure;
use crate::page::{Locale, NewPath, PagePath, Reference, TagPattern};
use crate::wiki::Wiki;

/// The most items of a list whose schema says nothing of that.
const MOST_ITEMS: u64 = 100;

/// Reads arguments by a schema into a typed input, in a time in proportion to their size.
///
/// # Errors
/// `INVALID_INPUT` with `details.fields`.
pub(super) fn parse<T>(
    schema: &Map<String, Value>,
    explained: &[(&str, &str)],
    mut arguments: Arguments,
) -> Result<T, Failure>
where
    T: DeserializeOwned + Validate<Context = ()>,
{
    arguments.check_size()?;
    read_kindly(schema, arguments.members_mut());
    let faults = check_shape(schema, explained, &arguments);
    if !faults.is_empty() {
        return Err(faults.into_failure());
    }
    let arguments = arguments.whole()?;
    // A number that is out of range may be one that serde cannot read either.
    let mut faults = check_ranges(schema, &arguments);
    let read = serde_path_to_error::deserialize::<_, T>(Value::Object(arguments));
    let input = match read {
        Ok(input) => Some(input),
        Err(error) => {
            if faults.is_empty() {
                let path = error.path().to_string();
                let path = if path == "." { "" } else { &path };
                faults.add(path, || error.inner().to_string());
            }
            None
        }
    };
    if let Some(Err(report)) = input.as_ref().map(Validate::validate) {
        for (path, error) in report.iter() {
            let path = camel_case(&path.to_string());
            if !faults.covers(&path) {
                faults.add(&path, || error.message().to_owned());
            }
        }
    }
    match input {
        Some(input) if faults.is_empty() => Ok(input),
        _ => Err(faults.into_failure()),
    }
}

/// Takes `"240"` for 240 where a whole number is wanted: several models write ids so. Takes
/// `{"from": 12, "to": 40}` for the lines `12-40`, as they were once written.
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
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        match arguments.get_mut(name) {
            Some(value) if is_whole(property) => read(value),
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

fn check_shape(
    schema: &Map<String, Value>,
    explained: &[(&str, &str)],
    arguments: &Arguments,
) -> Faults {
    let empty = Map::new();
    let known = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let mut faults = Faults::default();
    for (name, value) in arguments.members() {
        match known.get(name) {
            Some(property) => type_faults(&mut faults, name, property, value),
            None => faults.add(name, || match value {
                Value::Object(inner) if wraps(inner, known) => {
                    "holds the arguments; give them themselves, without it around them".to_owned()
                }
                _ => unknown(name, explained, known),
            }),
        }
    }
    // No tool has so many arguments, whatever their names are.
    faults.count_more(arguments.left_out());
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !arguments.has(name) {
            faults.add(name, || "is required".to_owned());
        }
    }
    faults
}

fn type_faults(faults: &mut Faults, name: &str, property: &Value, value: &Value) {
    if let Some(message) = type_fault(name, property, value) {
        faults.add(name, || message);
        return;
    }
    let Value::Array(items) = value else { return };
    // How many there are is looked at before what they are.
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

/// What is wrong with the number of items of a list.
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

/// What the schema says of numbers and lengths, in words that name the limit.
fn check_ranges(schema: &Map<String, Value>, arguments: &Map<String, Value>) -> Faults {
    let fault = |name: &str, value: &Value| {
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
        Some(match unit {
            "" => format!("must be {word} {bound}"),
            unit => must_have(word, bound, unit),
        })
    };
    let mut faults = Faults::default();
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
            // A path or a title, where a page is named by its id.
            Value::String(_) if wanted == "integer" && names_a_page(name) => {
                "; wikijs_get_page_by_path takes a path or a title, and answers the id"
            }
            Value::Number(_) if wanted == "string" && name == "path" => {
                "; wikijs_get_page_by_id takes an id, and answers the path"
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
        let names: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
        format!("must be one of {}", names.join(", "))
    })
}

/// Whether an object's members are arguments of the tool.
fn wraps(inner: &Map<String, Value>, known: &Map<String, Value>) -> bool {
    !inner.is_empty() && inner.keys().all(|name| known.contains_key(name))
}

/// Whether an argument is the id of a page.
fn names_a_page(name: &str) -> bool {
    matches!(name, "id" | "ids" | "linksTo" | "relatedTo")
}

fn unknown(name: &str, explained: &[(&str, &str)], known: &Map<String, Value>) -> String {
    if let Some((_, why)) = explained.iter().find(|(explained, _)| *explained == name) {
        return (*why).to_owned();
    }
    // A name much longer than any that is known is like none, and dear to compare.
    let nearest = known
        .keys()
        .filter(|_| name.len() <= MOST_NAME)
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

    use crate::page::{self, Date, Locale, NewPath, Reference};

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

    /// One locale, or all.
    pub(in crate::tools) fn locales(code: &str) -> Told {
        if code == super::ALL {
            Ok(())
        } else {
            locale(code)
        }
    }

    /// A place where a page shall come to be; an address is looked at where the wiki's is known.
    pub(in crate::tools) fn new_place(path: &str) -> Told {
        if path.contains("://") {
            return Ok(());
        }
        let (_, path) = Reference::split(path);
        NewPath::parse(path.as_str()).map(|_| ())
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

/// Reads tags that pages are chosen by, or that are to be added to what a page has: `#` before one
/// is dropped, unless there is a tag that begins so.
pub(super) async fn known_tags(
    wiki: &Wiki,
    given: Option<Vec<String>>,
) -> Result<Vec<String>, Failure> {
    Ok(wiki.without_hash(tags(given.unwrap_or_default())?).await?)
}

/// Reads tags that pages are listed by, some of which may be patterns. The wiki, which shows only
/// the tags that it is asked for, is then asked for none.
pub(super) async fn tag_filters(
    wiki: &Wiki,
    given: Option<Vec<String>>,
) -> Result<(Vec<String>, Vec<TagPattern>), Failure> {
    let tags = known_tags(wiki, given).await?;
    if tags.iter().any(|tag| TagPattern::is_one(tag)) {
        let patterns = tags.into_iter().map(TagPattern::new);
        return Ok((Vec::new(), patterns.collect()));
    }
    Ok((tags, Vec::new()))
}

/// Reads a place where a page shall come to be, and its locale where the text or the other argument
/// names one.
pub(super) fn new_place(
    wiki: &Wiki,
    path: &str,
    locale: Option<&str>,
) -> Result<(Option<Locale>, NewPath), Failure> {
    let (named, path) = Reference::new_place(path, &wiki.settings().base_url)
        .map_err(|fault| invalid_argument("path", fault))?;
    let path = NewPath::parse(path.as_str()).map_err(|fault| invalid_argument("path", fault))?;
    Ok((one_locale(locale, named)?, path))
}

/// The locale that is said, by an argument or in a path; both must say the same.
fn one_locale(said: Option<&str>, named: Option<Locale>) -> Result<Option<Locale>, Failure> {
    let said = said.map(Locale::as_stored);
    match (&said, &named) {
        (Some(said), Some(named)) if said != named => Err(invalid_argument(
            "path",
            format!("is in the locale {named}, not in {said}"),
        )),
        _ => Ok(said.or(named)),
    }
}

/// Which locales pages are listed and searched in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Locales {
    /// The one, or none for all.
    pub(super) one: Option<Locale>,
    /// Whether nobody said so: then those of the others are counted.
    pub(super) is_fallback: bool,
}

/// What stands for all locales.
const ALL: &str = "*";

/// Reads below which path, and in which locales, pages are listed and searched: in the configured
/// one where neither argument says any.
pub(super) fn places(
    wiki: &Wiki,
    path: Option<&str>,
    locale: Option<&str>,
) -> Result<(Locales, Option<PagePath>), Failure> {
    let is_all = locale == Some(ALL);
    let (said, path) = place(wiki, path, locale.filter(|_| !is_all))?;
    let is_fallback = said.is_none() && !is_all;
    let one = if is_fallback {
        Some(wiki.settings().default_locale.clone())
    } else {
        said
    };
    Ok((Locales { one, is_fallback }, path))
}

/// Reads below which path, and in which locale, pages are meant: the path may name its own.
pub(super) fn place(
    wiki: &Wiki,
    path: Option<&str>,
    locale: Option<&str>,
) -> Result<(Option<Locale>, Option<PagePath>), Failure> {
    let Some(path) = path else {
        return Ok((one_locale(locale, None)?, None));
    };
    let (named, path) = Reference::place(path, &wiki.settings().base_url)
        .map_err(|fault| invalid_argument("path", fault))?;
    Ok((
        one_locale(locale, named)?,
        Some(path).filter(|path| !path.as_str().is_empty()),
    ))
}

/// Reads a date.
pub(super) fn date(name: &str, date: Option<&str>) -> Result<Option<crate::page::Date>, Failure> {
    date.map(crate::page::Date::parse)
        .transpose()
        .map_err(|fault| invalid_argument(name, fault))
}
