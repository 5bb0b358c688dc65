//! `wikijs_search_pages`: what the wiki's own search engine and our content index find.

mod by_meaning;
mod indexed;
mod matching;
mod phrasings;
mod related;
mod scope;

use std::collections::HashSet;
use std::sync::Arc;

use super::no_page::nowhere;
use super::prelude::*;
use crate::index::ContentHit;
use crate::page::{Locale, PagePath, PageReading, escape_hidden};
use crate::wiki;
pub(super) use indexed::{Indexed, Sought};
use phrasings::{MAX_CONTEXT, MAX_PHRASINGS, Phrasings};
use scope::SearchScope;

/// The tool.
pub(super) struct SearchPages;

/// Where to look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum In {
    #[default]
    Auto,
    Wiki,
    Content,
}

/// How to interpret the query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum MatchMode {
    #[default]
    Words,
    Exact,
    Regex,
}

/// The hint if more pages match than are shown.
const MORE: &str =
    "More pages match: raise limit (at most 100), or narrow by path, tags or more words.";

/// The hint if the wiki's own engine found so much that the content was not searched.
const ONLY_TITLES: &str = "Only titles, paths and descriptions were searched: these hits fill the limit. For words in the content: in: content. For more hits: raise limit (at most 100), or narrow by path, tags or more words.";

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    #[garde(length(chars, min = 1, max = 500))]
    query: Option<String>,
    /// Other words, in place of query.
    #[garde(inner(length(min = 1, max = MAX_PHRASINGS), inner(length(chars, min = 1, max = 500))))]
    #[schemars(length(max = 5))]
    queries: Option<Vec<String>>,
    /// "*": all.
    #[garde(custom(rule::optional(rule::locales)))]
    locale: Option<String>,
    /// At or below this path.
    #[garde(custom(rule::optional(rule::text)))]
    path: Option<String>,
    /// Default 20.
    #[garde(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// Bytes on each side of a match.
    #[garde(range(min = 1, max = MAX_CONTEXT))]
    context: Option<u32>,
    /// Default auto: content too if wiki (titles) leaves room.
    #[garde(skip)]
    r#in: Option<In>,
    /// EXACT, REGEX: lines with their numbers, case counts.
    #[garde(skip)]
    r#match: Option<MatchMode>,
    /// With all.
    #[garde(inner(inner(custom(rule::required(rule::tag)))))]
    tags: Option<Vec<String>>,
    /// With none.
    #[garde(inner(inner(custom(rule::required(rule::tag)))))]
    without_tags: Option<Vec<String>>,
    #[garde(custom(rule::optional(rule::time)))]
    updated_since: Option<String>,
    /// Path or id.
    #[garde(custom(rule::optional(rule::text)))]
    links_to: Option<String>,
    /// In place of query: an id.
    #[garde(range(min = 1))]
    related_to: Option<i64>,
}

/// Its answer.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// Comes first, so that hits from an incomplete index are not taken for all hits. Absent if the
    /// index is complete.
    index: Option<Indexed>,
    hits: Vec<SearchHit>,
    searched_in: Vec<&'static str>,
    /// Why pages were not found by meaning, or how many were not; absent without embeddings.
    meaning: Option<String>,
    /// Number of further pages with matching lines.
    hits_left: Option<i64>,
    /// Advice if more pages match than are shown, or no page is at the path.
    hint: Option<&'static str>,
    /// Number of further hits in locales other than the configured one, as far as engine and index
    /// know.
    other_locales: Option<i64>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct SearchHit {
    id: Option<i64>,
    locale: String,
    path: String,
    title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    /// Set if the index is incomplete, so that better hits may be missing; such a hit has no score.
    provisional: Option<String>,
    is_published: Option<bool>,
    snippet: Option<String>,
    section: Option<String>,
    /// Matching lines, each preceded by its number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<String>,
    lines_left: Option<i64>,
    score: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    found_in: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<String>,
    /// The rank among the pages that have all words of a query.
    #[serde(skip)]
    exact_rank: Option<usize>,
}

/// The address of a page.
type LocalePath = (Locale, PagePath);

/// The most hits of the content index in other locales that are counted.
const MAX_COUNTED: usize = 100;

/// The reason why requests that need the index are refused.
pub(super) const SWITCHED_OFF: &str = "the operator switched the index off with WIKI_INDEX=off";

/// The names of the two places.
const WIKI: &str = "wiki";
const CONTENT: &str = "content";
const MEANING: &str = "meaning";

impl Tool for SearchPages {
    const NAME: &'static str = "wikijs_search_pages";
    const DESCRIPTION: &'static str = "Find pages by words (or their beginnings) in titles and content, or pages related to one. A snippet marks matches with « »; section holds it. By tags or time alone: wikijs_list_pages; below a path: wikijs_get_page_tree.";
    const ANSWER: &'static str = "Without index it is complete. Absent in a hit: published, empty.";
    const KIND: ToolKind = ToolKind::Read;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        let limit = input::count(input.limit, 20);
        match (Phrasings::read(&input, limit)?, input.related_to) {
            (Some(asked), None) => {
                let scope = Arc::new(SearchScope::load(&context, &input).await?);
                let place = input.r#in.unwrap_or_default();
                let mut output = match (input.r#match, input.query) {
                    (Some(way @ (MatchMode::Exact | MatchMode::Regex)), Some(query)) => {
                        matching::matching(&context, &query, way, (&scope, place), limit).await?
                    }
                    _ => search(&context, &asked, &scope, place, limit).await?,
                };
                if output.hits.is_empty() {
                    input::known_locale(&context.wiki, scope.locale()).await?;
                    if let Some(path) = scope.path() {
                        // Where the list cannot be had, the answer lacks this hint alone.
                        let hint = nowhere(&context.wiki, scope.locale(), path).await;
                        output.hint = hint.unwrap_or_default();
                    }
                }
                Ok(output)
            }
            (None, Some(_)) if input.r#match.is_some() => refuse("match", "goes with query alone"),
            (None, Some(id)) => {
                let scope = SearchScope::load(&context, &input).await?;
                related::related(&context, id, scope, limit).await
            }
            (None, None) => refuse(
                "query",
                "is required, or queries or relatedTo in its place; pages by filters alone are listed by wikijs_list_pages",
            ),
            (Some(_), Some(_)) => refuse("relatedTo", "replaces query; leave one of them out"),
        }
    }
}

async fn search(
    context: &ToolContext,
    asked: &Phrasings,
    scope: &Arc<SearchScope>,
    place: In,
    limit: usize,
) -> Result<Output> {
    let wiki = &context.wiki;
    let mut output = Output::default();
    let mut lists: Vec<Vec<SearchHit>> = asked.queries.iter().map(|_| Vec::new()).collect();
    let mut elsewhere = HashSet::new();
    if place != In::Content {
        for (query, list) in asked.queries.iter().zip(&mut lists) {
            let is_wanted = |locale: &_, path: &_| scope.holds(locale, path);
            let hits = wiki.search(query, scope.locale(), is_wanted, asked.depth);
            *list = hits.await?.iter().map(SearchHit::of_wiki).collect();
        }
        output.searched_in.push(WIKI);
    }
    // Asked for last: a wiki that is silent has been waited for once by now, and not twice.
    let counts_elsewhere = scope.is_fallback() && wiki.has_other_locales().await;
    if place != In::Content && counts_elsewhere {
        for query in &asked.queries {
            let is_counted = |locale: &_, path: &_| scope.holds_elsewhere(locale, path);
            elsewhere.extend(wiki.places_of_hits(query, is_counted).await?);
        }
    }
    // If the wiki found enough, there is no room for more; only the content has text around hits.
    let fills = |list: &Vec<SearchHit>| list.len() >= limit;
    let is_full = place == In::Auto && asked.around == 0 && lists.iter().all(fills);
    if place == In::Wiki || is_full {
        output.other_locales = some_count(elsewhere.len());
        output.hits = phrasings::fused(lists);
        output = output.cut(limit);
        if is_full && context.index.is_on() {
            output.hint = Some(ONLY_TITLES);
        }
        return Ok(output);
    }
    match in_content(context, asked, scope, counts_elsewhere).await {
        Ok((found, others, indexed)) => {
            elsewhere.extend(others);
            for (list, hits) in lists.iter_mut().zip(found) {
                add(list, hits, asked.depth, &indexed);
            }
            output.searched_in.push(CONTENT);
            output.index = indexed.if_lacking();
        }
        Err(failure) if place == In::Content => return Err(failure),
        // The wiki's hits remain, and the answer says that nothing else was searched.
        Err(failure) => tracing::debug!(%failure, "the content index was left out"),
    }
    output.other_locales = some_count(elsewhere.len());
    output.hits = phrasings::fused(lists);
    if output.searched_in.contains(&CONTENT) {
        let words = std::mem::take(&mut output.hits);
        (output.hits, output.meaning) =
            by_meaning::with_meaning(context, asked, scope, words).await;
    }
    Ok(output.cut(limit))
}

/// The hits of each query, the places of those in other locales, and the coverage of the index.
type InContent = (Vec<Vec<ContentHit>>, Vec<LocalePath>, Indexed);

async fn in_content(
    context: &ToolContext,
    asked: &Phrasings,
    scope: &Arc<SearchScope>,
    counts_elsewhere: bool,
) -> Result<InContent> {
    let index = &context.index;
    if !index.is_on() {
        return refuse("in", format!("cannot be content: {SWITCHED_OFF}"));
    }
    let covered = context.indexed().await?;
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for query in &asked.queries {
        let most = (asked.depth, asked.around);
        found.push(index.find(query.to_owned(), scope.filter(), most).await?);
        if counts_elsewhere {
            let elsewhere = Arc::clone(scope);
            let is_counted = move |locale: &_, path: &_| elsewhere.holds_elsewhere(locale, path);
            let hits = index.find(query.to_owned(), is_counted, (MAX_COUNTED, 0));
            let place = |hit: ContentHit| (hit.page.locale, hit.page.path);
            others.extend(hits.await?.into_iter().map(place));
        }
    }
    Ok((found, others, Indexed::new(covered, Sought::Words)))
}

/// Adds what the index found: it completes the wiki's hits and appends its own.
fn add(hits: &mut Vec<SearchHit>, found: Vec<ContentHit>, limit: usize, indexed: &Indexed) {
    let provisional = indexed.provisional();
    let best = found.first().map_or(1.0, |best| best.score);
    for found in found {
        let page = &found.page;
        let is_it =
            |hit: &SearchHit| hit.locale == page.locale.as_str() && hit.path == page.path.as_str();
        let at = hits.iter().position(is_it).unwrap_or(hits.len());
        if at == hits.len() && at < limit {
            hits.push(SearchHit::of_page(page));
        }
        let Some(hit) = hits.get_mut(at) else {
            continue;
        };
        hit.is_published = draft(page);
        hit.snippet = found.snippet.as_deref().map(escape_hidden);
        hit.section = found.section;
        // While pages are still unindexed, a score means nothing.
        hit.score = match provisional {
            Some(_) => None,
            None => Some(permille(found.score, best)),
        };
        hit.provisional.clone_from(&provisional);
        hit.found_in.push(CONTENT);
        hit.exact_rank = found.has_all.then_some(0);
    }
}

/// A score relative to the best one, which is 1000; an integer, since some clients refuse
/// fractions.
fn permille(score: f64, best: f64) -> i64 {
    format!("{:.0}", score / best * 1e3)
        .parse()
        .unwrap_or_default()
}

impl Output {
    /// Truncates the hits to the limit, with a note if that leaves some out.
    fn cut(mut self, limit: usize) -> Self {
        self.hint = (self.hits.len() > limit).then_some(MORE);
        self.hits.truncate(limit);
        self
    }
}

impl SearchHit {
    fn of_wiki(hit: &wiki::EngineHit) -> Self {
        Self {
            id: hit.id,
            locale: hit.locale.as_str().to_owned(),
            path: hit.path.as_str().to_owned(),
            title: escape_hidden(&hit.title),
            description: escape_hidden(&hit.description),
            found_in: vec![WIKI],
            ..Self::default()
        }
    }

    fn of_page(page: &PageReading) -> Self {
        Self {
            id: page.id,
            locale: page.locale.as_str().to_owned(),
            path: page.path.as_str().to_owned(),
            title: escape_hidden(&page.title),
            description: escape_hidden(page.description.as_deref().unwrap_or_default()),
            is_published: draft(page),
            ..Self::default()
        }
    }
}

/// Given only for drafts, since an unpublished page must not be overlooked.
fn draft(page: &PageReading) -> Option<bool> {
    page.is_published.filter(|is_published| !is_published)
}
