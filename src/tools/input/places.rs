//! Reads single arguments as this wiki means them: tags, paths, locales, dates.

use serde_json::json;

use super::{invalid_argument, refuse};
use crate::audit::{DraftName, MemoryId, NotHex};
use crate::error::Result;
use crate::page::{
    Date, Locale, NewPath, PagePath, PartSelector, Prefix, Reference, TagPattern, stored_tags,
};
use crate::tools::output::without_nulls;
use crate::wiki::{ListQuery, Wiki};

/// Reads tags as the wiki stores them, without duplicates.
pub(in crate::tools) fn tags(tags: Vec<String>) -> Result<Vec<String>> {
    stored_tags(tags, &[]).map_err(|fault| invalid_argument("tags", fault))
}

/// Reads tags to filter by or to add. A leading `#` is dropped, unless a tag really begins with it.
pub(in crate::tools) async fn known_tags(
    wiki: &Wiki,
    given: Option<Vec<String>>,
) -> Result<Vec<String>> {
    Ok(wiki.without_hash(tags(given.unwrap_or_default())?).await?)
}

/// Reads tags to list pages by, some of which may be patterns, and tags that they must not have.
/// With a pattern or with the latter, the wiki is asked without tags, since it returns only the
/// tags that it is asked for.
pub(in crate::tools) async fn tag_filters(
    wiki: &Wiki,
    given: Option<Vec<String>>,
    without: Option<Vec<String>>,
) -> Result<ListQuery> {
    let patterns = |tags: Vec<String>| tags.into_iter().map(TagPattern::new).collect();
    let (tags, without) = (
        known_tags(wiki, given).await?,
        known_tags(wiki, without).await?,
    );
    check_exclusions(wiki, &tags, &without).await?;
    let by_patterns = !without.is_empty() || tags.iter().any(|tag| TagPattern::is_one(tag));
    let mut query = ListQuery {
        without_tags: patterns(without),
        ..ListQuery::default()
    };
    if by_patterns {
        query.tag_patterns = patterns(tags);
    } else {
        query.tags = tags;
    }
    Ok(query)
}

/// Refuses a tag with a sign of exclusion, unless the wiki has such a tag.
async fn check_exclusions(wiki: &Wiki, tags: &[String], without: &[String]) -> Result<()> {
    const SIGNS: [char; 2] = ['!', '-'];
    if !{ tags.iter().chain(without) }.any(|tag| tag.starts_with(SIGNS)) {
        return Ok(());
    }
    let known = wiki.tags().await?;
    let is_sign = |tag: &str| {
        let pattern = TagPattern::new(tag);
        tag.starts_with(SIGNS) && !known.iter().any(|known| pattern.matches(&known.tag))
    };
    let first = [("tags", tags), ("withoutTags", without)]
        .into_iter()
        .find_map(|(name, all)| Some((name, all.iter().position(|tag| is_sign(tag))?)));
    let Some((name, at)) = first else {
        return Ok(());
    };
    let (excluded, wanted): (Vec<&String>, _) = tags.iter().partition(|tag| is_sign(tag));
    let wanted: Vec<&String> = wanted;
    let excluded = excluded.into_iter().chain(without);
    let bare = |tag: &String| {
        let signs: &[char] = if is_sign(tag) { &SIGNS } else { &[] };
        tag.trim_start_matches(signs).trim().to_owned()
    };
    let wanted = Some(wanted).filter(|wanted| !wanted.is_empty());
    let excluded: Vec<String> = excluded.map(bare).collect();
    let right = without_nulls(json!({ "tags": wanted, "withoutTags": excluded }));
    let fault = format!("matches no tag of this wiki; pages without a tag are found by {right}");
    refuse(&format!("{name}[{at}]"), fault)
}

/// Reads the selector of a part to be changed or copied.
pub(in crate::tools) fn part(selector: &str) -> Result<PartSelector> {
    PartSelector::for_edit(selector).map_err(|fault| invalid_argument("section", fault.to_string()))
}

/// Reads the place of a new page, and its locale if the text or the other argument names one.
pub(in crate::tools) fn new_place(
    wiki: &Wiki,
    path: &str,
    locale: Option<&str>,
) -> Result<(Option<Locale>, NewPath)> {
    let (named, path) = Reference::new_place(path, &wiki.settings().base_url)
        .map_err(|fault| invalid_argument("path", fault))?;
    let path = NewPath::parse(path.as_str()).map_err(|fault| invalid_argument("path", fault))?;
    Ok((one_locale(locale, named)?, path))
}

/// The locale given by an argument or in a path; the two must agree.
fn one_locale(said: Option<&str>, named: Option<Locale>) -> Result<Option<Locale>> {
    let said = said.map(Locale::as_stored);
    match (&said, &named) {
        (Some(said), Some(named)) if said != named => {
            refuse("path", format!("is in the locale {named}, not in {said}"))
        }
        _ => Ok(said.or(named)),
    }
}

/// The locales in which pages are listed and searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tools) struct Locales {
    /// The locale, or `None` for all.
    pub(in crate::tools) one: Option<Locale>,
    /// True if the locale is only the default; then hits in other locales are counted.
    pub(in crate::tools) is_fallback: bool,
}

/// The value that means all locales.
pub(super) const ALL: &str = "*";

/// Reads the path and locales to list or search in; by default, the configured locale.
pub(in crate::tools) fn places(
    wiki: &Wiki,
    path: Option<&str>,
    locale: Option<&str>,
) -> Result<(Locales, Option<PagePath>)> {
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

/// Refuses a locale that the wiki has not, for a list or search that found nothing in it: an empty
/// answer would be taken for a wiki without such pages.
pub(in crate::tools) async fn known_locale(wiki: &Wiki, locale: Option<&Locale>) -> Result<()> {
    let Some(locale) = locale else { return Ok(()) };
    let unknown = wiki.unknown_locale(locale).await;
    unknown.map_or(Ok(()), |unknown| Err(unknown.into()))
}

/// Reads the path and locale that limit the pages; the path may name its own locale.
pub(in crate::tools) fn place(
    wiki: &Wiki,
    path: Option<&str>,
    locale: Option<&str>,
) -> Result<(Option<Locale>, Option<PagePath>)> {
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

/// Reads the place at or below which a list looks, if one is named.
pub(in crate::tools) fn prefix(path: Option<&str>) -> Result<Option<Prefix>> {
    let prefix = path.map(Prefix::sought).transpose();
    prefix.map_err(|fault| invalid_argument("path", fault))
}

/// The id of a memory, if one is named.
pub(in crate::tools) fn memory_id(name: &str, id: Option<&str>) -> Result<Option<MemoryId>> {
    id.map(|id| required_memory_id(name, id)).transpose()
}

/// The id of a memory.
pub(in crate::tools) fn required_memory_id(name: &str, id: &str) -> Result<MemoryId> {
    id.parse()
        .map_err(|fault: NotHex| invalid_argument(name, fault.to_string()))
}

/// The name of a draft, or its id.
pub(in crate::tools) fn draft(name: &str) -> Result<DraftName> {
    name.parse()
        .map_err(|fault| invalid_argument("draft", fault))
}

/// Reads a date.
pub(in crate::tools) fn date(name: &str, date: Option<&str>) -> Result<Option<Date>> {
    date.map(Date::parse)
        .transpose()
        .map_err(|fault| invalid_argument(name, fault))
}
