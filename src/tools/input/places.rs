//! What single arguments mean on this wiki: tags, paths, locales, dates.

use super::invalid_argument;
use crate::audit::DraftName;
use crate::error::Failure;
use crate::page::{Date, Locale, NewPath, PagePath, Reference, TagPattern};
use crate::wiki::Wiki;

/// Reads tags as the wiki stores them; each once.
pub(in crate::tools) fn tags(tags: Vec<String>) -> Result<Vec<String>, Failure> {
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
pub(in crate::tools) async fn known_tags(
    wiki: &Wiki,
    given: Option<Vec<String>>,
) -> Result<Vec<String>, Failure> {
    Ok(wiki.without_hash(tags(given.unwrap_or_default())?).await?)
}

/// Reads tags that pages are listed by, some of which may be patterns. The wiki, which shows only
/// the tags that it is asked for, is then asked for none.
pub(in crate::tools) async fn tag_filters(
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
pub(in crate::tools) fn new_place(
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
pub(in crate::tools) struct Locales {
    /// The one, or none for all.
    pub(in crate::tools) one: Option<Locale>,
    /// Whether nobody said so: then those of the others are counted.
    pub(in crate::tools) is_fallback: bool,
}

/// What stands for all locales.
pub(super) const ALL: &str = "*";

/// Reads below which path, and in which locales, pages are listed and searched: in the configured
/// one where neither argument says any.
pub(in crate::tools) fn places(
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
pub(in crate::tools) fn place(
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
/// The name of a draft, or its id.
pub(in crate::tools) fn draft(name: &str) -> Result<DraftName, Failure> {
    name.parse()
        .map_err(|fault| invalid_argument("draft", fault))
}

pub(in crate::tools) fn date(name: &str, date: Option<&str>) -> Result<Option<Date>, Failure> {
    date.map(Date::parse)
        .transpose()
        .map_err(|fault| invalid_argument(name, fault))
}
