//! Reads one query or several for the same, and fuses the lists of their hits.

use std::collections::HashMap;

use super::{In, Input, MatchMode, SearchHit};
use crate::error::Result;
use crate::tools::input::{self, refuse};

/// The most queries of one call.
pub(super) const MAX_PHRASINGS: usize = 5;
/// The most bytes to show on each side of a match.
pub(super) const MAX_CONTEXT: u32 = 1_000;
/// The most bytes that all hits together show on one side of their matches.
const MAX_CONTEXT_OF_ALL: usize = 20_000;
/// The length of the lists that are fused, whatever number of hits is shown.
const MIN_FUSED: usize = 20;
/// The weight of the first hit of a list, and how slowly it falls with the rank: `WORTH / (RANK +
/// rank)`, reciprocal rank fusion.
const WORTH: u64 = 1_000_000_000;
/// See [`WORTH`].
const RANK: u64 = 60;

/// The queries of a search by words, and its bounds.
pub(super) struct Phrasings {
    /// The queries, each once.
    pub(super) queries: Vec<String>,
    /// The most hits of each: more than are shown, to know whether there are more.
    pub(super) depth: usize,
    /// Bytes to show on each side of a match; 0 for a usual snippet.
    pub(super) around: usize,
}

impl Phrasings {
    /// The queries of a call; `None` if it names none.
    ///
    /// # Errors
    /// `INVALID_INPUT` if arguments exclude each other.
    pub(super) fn read(input: &Input, limit: usize) -> Result<Option<Self>> {
        let around = input::count(input.context, 0);
        let by_lines = input.r#match.unwrap_or_default() != MatchMode::Words;
        if around > 0 && (by_lines || input.r#in == Some(In::Wiki) || input.related_to.is_some()) {
            let fault = "goes with the search of content by words alone; leave context out with match, in: wiki or relatedTo";
            return refuse("context", fault);
        }
        if around * limit > MAX_CONTEXT_OF_ALL {
            let most = MAX_CONTEXT_OF_ALL / limit;
            return refuse(
                "context",
                format!("must be at most {most} with a limit of {limit}"),
            );
        }
        let (given, depth) = match (&input.query, &input.queries) {
            (Some(_), Some(_)) => {
                return refuse("queries", "replaces query; leave one of them out");
            }
            (None, Some(_)) if input.r#match.is_some() => {
                return refuse("match", "goes with query alone");
            }
            (None, None) => return Ok(None),
            (Some(query), None) => (std::slice::from_ref(query), limit),
            (None, Some(queries)) => (queries.as_slice(), limit.max(MIN_FUSED)),
        };
        let mut queries: Vec<String> = Vec::new();
        for query in given {
            if query.trim().is_empty() && !by_lines {
                let argument = if input.query.is_some() {
                    "query"
                } else {
                    "queries"
                };
                let fault = "has no word; pages by filters alone are listed by wikijs_list_pages";
                return refuse(argument, fault);
            }
            let is_same =
                |other: &String| other.trim().to_lowercase() == query.trim().to_lowercase();
            if !queries.iter().any(is_same) {
                queries.push(query.clone());
            }
        }
        Ok(Some(Self {
            queries,
            depth: depth + 1,
            around,
        }))
    }
}

/// The hits of several lists as one, each page once: the sum of its reciprocal ranks decides. Pages
/// of one sum keep the order of the queries.
pub(super) fn fused(mut lists: Vec<Vec<SearchHit>>) -> Vec<SearchHit> {
    if lists.len() <= 1 {
        return lists.pop().unwrap_or_default();
    }
    let mut hits: Vec<(u64, SearchHit)> = Vec::new();
    let mut known: HashMap<(String, String), usize> = HashMap::new();
    for list in lists {
        for (rank, hit) in (RANK..).zip(list) {
            let at = *known
                .entry((hit.locale.clone(), hit.path.clone()))
                .or_insert(hits.len());
            match hits.get_mut(at) {
                Some((sum, first)) => {
                    *sum += WORTH / rank;
                    first.complete(hit);
                }
                None => hits.push((WORTH / rank, hit)),
            }
        }
    }
    hits.sort_by_key(|(sum, _)| std::cmp::Reverse(*sum));
    let best = hits.first().map_or(1, |(sum, _)| *sum);
    let scored = hits.into_iter().map(|(sum, mut hit)| {
        let score = i64::try_from(sum * 1_000 / best).ok();
        hit.score = score.filter(|_| hit.provisional.is_none());
        hit
    });
    scored.collect()
}

impl SearchHit {
    /// Adds what another query tells of the same page.
    fn complete(&mut self, other: Self) {
        if self.snippet.is_none() {
            (self.snippet, self.section) = (other.snippet, other.section);
        }
        self.is_published = self.is_published.or(other.is_published);
        self.exact_rank = self.exact_rank.or(other.exact_rank);
        self.provisional = self.provisional.take().or(other.provisional);
        for place in other.found_in {
            if !self.found_in.contains(&place) {
                self.found_in.push(place);
            }
        }
    }
}
