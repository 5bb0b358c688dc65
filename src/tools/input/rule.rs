//! Rules for garde, each built on the check that the rest of the program uses.

use std::ops::Deref;
use std::str::FromStr as _;

use crate::audit::{DraftName, MemoryId};
use crate::page::{self, Date, Locale, NewPath, Reference};

type ValidationResult = Result<(), String>;

/// A rule for an argument that must be there.
pub(in crate::tools) fn required<T: Deref>(
    rule: impl Fn(&T::Target) -> ValidationResult,
) -> impl FnOnce(&T, &()) -> garde::Result {
    move |value, ()| rule(value).map_err(garde::Error::new)
}

/// A rule for an argument that may be left out.
pub(in crate::tools) fn optional<T: Deref>(
    rule: impl Fn(&T::Target) -> ValidationResult,
) -> impl FnOnce(&Option<T>, &()) -> garde::Result {
    move |value, ()| {
        value
            .as_deref()
            .map_or(Ok(()), rule)
            .map_err(garde::Error::new)
    }
}

pub(in crate::tools) use page::{
    check_comment as comment, check_content as content, check_description as description,
    check_editor as editor, check_text as text, check_title as title,
};

/// The path of an asset or of a folder of assets.
pub(in crate::tools) fn asset(path: &str) -> ValidationResult {
    page::parse_asset_path(path).map(drop)
}

/// The same, or the address of an asset.
pub(in crate::tools) fn asset_or_url(asked: &str) -> ValidationResult {
    if is_address(asked) {
        return Ok(());
    }
    asset(asked)
}

/// True for the address of something.
pub(in crate::tools) fn is_address(asked: &str) -> bool {
    asked.starts_with("https://") || asked.starts_with("http://")
}

pub(in crate::tools) fn note(note: &str) -> ValidationResult {
    page::Note::parse(note, page::Whose::Agent).map(|_| ())
}

/// The text of a memory.
pub(in crate::tools) use crate::memory::check_content as memory;

/// The id of a memory.
pub(in crate::tools) fn memory_id(id: &str) -> ValidationResult {
    let read = id.parse::<MemoryId>();
    read.map(drop).map_err(|fault| fault.to_string())
}

/// The name of a draft, or its id.
pub(in crate::tools) fn draft(name: &str) -> ValidationResult {
    DraftName::from_str(name).map(drop).map_err(str::to_owned)
}

pub(in crate::tools) fn locale(code: &str) -> ValidationResult {
    Locale::parse(code).map(|_| ())
}

pub(in crate::tools) fn selector(selector: &str) -> ValidationResult {
    page::PartSelector::for_edit(selector)
        .map(|_| ())
        .map_err(|fault| format!("is no selector: {fault}"))
}

pub(in crate::tools) fn part(selector: &str) -> ValidationResult {
    page::PartSelector::parse(selector)
        .map(|_| ())
        .map_err(|fault| format!("is no selector: {fault}"))
}

/// The content of a new page: required unless it is copied.
pub(in crate::tools) fn content_or_copied(
    is_copied: bool,
) -> impl FnOnce(&Option<String>, &()) -> garde::Result {
    move |said, ()| match said.as_deref() {
        None if is_copied => Ok(()),
        None => Err(garde::Error::new("is required, or fromPage")),
        Some(said) => content(said).map_err(garde::Error::new),
    }
}

/// One locale, or all.
pub(in crate::tools) fn locales(code: &str) -> ValidationResult {
    if code == super::places::ALL {
        Ok(())
    } else {
        locale(code)
    }
}

/// The place of a new page; an address is checked later, where the wiki's own is known.
pub(in crate::tools) fn new_place(path: &str) -> ValidationResult {
    if path.contains("://") {
        return Ok(());
    }
    let (_, path) = Reference::split(path);
    NewPath::parse(path.as_str()).map(|_| ())
}

/// A date that must be valid.
pub(in crate::tools) fn time(date: &str) -> ValidationResult {
    match Date::parse(date) {
        Ok(_) if !date.is_empty() => Ok(()),
        _ => Err(
            "must be a date or time in ISO 8601, such as 2026-01-31 or 2026-01-31T09:00:00Z"
                .to_owned(),
        ),
    }
}

pub(in crate::tools) fn date(date: &str) -> ValidationResult {
    Date::parse(date).map(|_| ())
}

pub(in crate::tools) fn tag(tag: &str) -> ValidationResult {
    page::check_tag(tag).map(|_| ())
}
