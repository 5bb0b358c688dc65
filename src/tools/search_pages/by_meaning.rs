//! Adds pages that are near in meaning to what the words found.

use std::cmp::Reverse;
use std::sync::Arc;

use super::phrasings::{Phrasings, fused};
use super::scope::SearchScope;
use super::{MEANING, SearchHit};
use crate::index::{NearPage, NearPages};
use crate::page::escape_hidden;
use crate::tools::context::ToolContext;
use crate::words::counted;

/// The most pages that are added for their meaning alone: some page is always the nearest, even of nonsense.
const MOST: usize = 10;

/// The hits of words, and of meaning where it can be used; and why not, or what is lacking, if the index is to use it.
pub(super) async fn with_meaning(
    context: &ToolContext,
    asked: &Phrasings,
    scope: &Arc<SearchScope>,
    mut words: Vec<SearchHit>,
) -> (Vec<SearchHit>, Option<String>) {
    if !context.index.finds_meaning() {
        return (words, None);
    }
    let (mut lists, mut missing) = (Vec::new(), 0);
    for query in &asked.queries {
        match context.index.near(query, scope.filter(), MOST).await {
            Ok(near) => {
                missing = missing.max(near.missing);
                let hits = near.pages.into_iter().map(SearchHit::near);
                lists.push(hits.collect());
            }
            Err(why) => return (words, Some(words_alone(&why))),
        }
    }
    let exact = words.iter_mut().filter(|hit| hit.exact_rank.is_some());
    for (rank, hit) in exact.enumerate() {
        hit.exact_rank = Some(rank);
    }
    // A page that has all the words stays where they put it: a name or a number means nothing else. So much is sure,
    // and equal weights serve questions best (docs/reading.md).
    let mut hits = fused(vec![words, fused(lists)]);
    hits.sort_by_key(|hit| Reverse(hit.exact_rank.map(Reverse)));
    for hit in &mut hits {
        hit.score = None;
    }
    let why = context.index.why_not_embedded();
    (hits, lacking(missing, why.as_deref()))
}

/// The note for an answer without meaning.
pub(super) fn words_alone(why: &str) -> String {
    format!("Searched by words alone: {why}.")
}

/// The note for an answer of which some pages lack, with the reason if one is known.
pub(super) fn lacking(missing: usize, why: Option<&str>) -> Option<String> {
    let pages = counted(missing, "page is found by its", "pages are found by their");
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    (missing > 0).then(|| format!("{pages} words alone so far{why}."))
}

impl SearchHit {
    fn near(near: NearPage) -> Self {
        Self {
            snippet: near.snippet.as_deref().map(escape_hidden),
            section: near.section,
            found_in: vec![MEANING],
            ..Self::of_page(&near.page)
        }
    }
}

/// The nearest pages of another, or why there are none.
pub(super) async fn near_page(
    context: &ToolContext,
    id: i64,
    scope: &Arc<SearchScope>,
    most: usize,
) -> (NearPages, Option<String>) {
    if !context.index.finds_meaning() {
        return (NearPages::default(), None);
    }
    match context.index.near_page(id, scope.filter(), most).await {
        Ok(near) => {
            let note = lacking(near.missing, context.index.why_not_embedded().as_deref());
            (near, note)
        }
        Err(why) => (NearPages::default(), Some(words_alone(&why))),
    }
}
