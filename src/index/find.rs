//! Queries of the index: pages with some words, and similar pages.

use std::collections::HashSet;

use super::snippet::snippet;
use super::store::{IndexResult, Store};
use super::terms::{Term, terms};
use super::tokens::tokens;
use crate::page::{Locale, PagePath, PageReading};

/// The most words of a page that are compared with other pages.
const MAX_WORDS: usize = 12;
/// The most tokens of a page that are searched for rare words.
const MAX_TOKENS: usize = 20_000;
/// A word on this few pages is rare, however few pages there are.
const FEW: usize = 20;
/// A word on more than one page in this many is not rare.
const RARE: usize = 10;

/// A page that the index found.
#[derive(Debug, Clone, PartialEq)]
pub struct ContentHit {
    /// The page, as the list told of it.
    pub page: PageReading,
    /// A part of its content or description, each match between `«` and `»`; in one line, unless more
    /// than usual is shown around it.
    pub snippet: Option<String>,
    /// The selector of the section that the snippet is from.
    pub section: Option<String>,
    /// The score; larger is better.
    pub score: f64,
    /// True if it has all words of the query.
    pub has_all: bool,
}

/// A page that has rare words in common with another.
#[derive(Debug, Clone, PartialEq)]
pub struct RareWords {
    /// The page.
    pub page: PageReading,
    /// The words.
    pub words: Vec<String>,
    /// The score; larger is better.
    pub score: f64,
}

/// Pages with all words of a query, then those with some: the answer to a question often lacks some
/// of its words.
pub(super) fn find(
    store: &Store,
    query: &str,
    is_wanted: &dyn Fn(&Locale, &PagePath) -> bool,
    (limit, around): (usize, usize),
) -> IndexResult<Vec<ContentHit>> {
    let terms = terms(query);
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let is_wanted = |page: &PageReading| is_wanted(&page.locale, &page.path);
    let mut found = store.ranked(&joined(&terms, " AND "), is_wanted, limit)?;
    let with_all = found.len();
    if found.len() < limit && terms.len() > 1 {
        let have: HashSet<Option<i64>> = found.iter().map(|(page, _)| page.id).collect();
        let lowest = found.last().map_or(f64::INFINITY, |(_, score)| *score);
        let telling = telling(store, &terms)?;
        let is_new = |page: &PageReading| is_wanted(page) && !have.contains(&page.id);
        let rest = store.ranked(&joined(&telling, " OR "), is_new, limit - found.len())?;
        let rest = rest.into_iter();
        found.extend(rest.map(|(page, score)| (page, score.min(lowest) / 2.0)));
    }
    let hits = found.into_iter().enumerate().map(|(at, found)| {
        let has_all = at < with_all;
        Ok(ContentHit {
            has_all,
            ..hit(store, found, &terms, around)?
        })
    });
    hits.collect()
}

/// The terms that tell pages apart: those on at most half of the pages, or on few; all terms if
/// there are none of these.
fn telling(store: &Store, terms: &[Term]) -> IndexResult<Vec<Term>> {
    let pages = store.count()?.pages;
    let mut telling = Vec::new();
    for term in terms {
        let is_common = match &term.parts[..] {
            [word] => store.pages_with(word)? > (pages / 2).max(FEW),
            _ => false,
        };
        if !is_common {
            telling.push(term.clone());
        }
    }
    Ok(if telling.is_empty() {
        terms.to_vec()
    } else {
        telling
    })
}

fn joined(terms: &[Term], by: &str) -> String {
    terms.iter().map(Term::syntax).collect::<Vec<_>>().join(by)
}

fn hit(
    store: &Store,
    (page, worth): (PageReading, f64),
    terms: &[Term],
    around: usize,
) -> IndexResult<ContentHit> {
    let content = store
        .content(page.id.unwrap_or_default())?
        .unwrap_or_default();
    let found = snippet(&content.text, terms, around);
    let section = found
        .as_ref()
        .and_then(|found| content.section_at(found.at));
    let section = section.map(str::to_owned);
    let described = || snippet(page.description.as_deref()?, terms, around);
    Ok(ContentHit {
        snippet: found.or_else(described).map(|found| found.text),
        section,
        score: worth,
        has_all: false,
        page,
    })
}

/// Pages that have rare words in common with a page, the most similar first.
pub(super) fn alike(
    store: &Store,
    id: i64,
    is_wanted: &dyn Fn(&Locale, &PagePath) -> bool,
    limit: usize,
) -> IndexResult<Vec<RareWords>> {
    let Some(content) = store.content(id)? else {
        return Ok(Vec::new());
    };
    let mut rare = rare_words(store, &content.text)?;
    rare.truncate(MAX_WORDS);
    let mut pages: Vec<RareWords> = Vec::new();
    // One word at a time, so that the common words are known without reading any page.
    for (word, worth) in rare {
        let term = Term {
            parts: vec![word.clone()],
            is_cjk: false,
        };
        let syntax = term.exact();
        let is_wanted =
            |page: &PageReading| page.id != Some(id) && is_wanted(&page.locale, &page.path);
        for (page, _) in store.ranked(&syntax, is_wanted, usize::MAX)? {
            match pages.iter_mut().find(|known| known.page.id == page.id) {
                Some(known) => {
                    known.words.push(word.clone());
                    known.score += worth;
                }
                None => pages.push(RareWords {
                    page,
                    words: vec![word.clone()],
                    score: worth,
                }),
            }
        }
    }
    pages.sort_by(|a, b| b.score.total_cmp(&a.score));
    pages.truncate(limit);
    Ok(pages)
}

/// Words of a text that occur on few other pages, each with its weight (at most 1), the rarest
/// first.
fn rare_words(store: &Store, text: &str) -> IndexResult<Vec<(String, f64)>> {
    let pages = store.count()?.pages;
    let most = (pages / RARE).clamp(2, 50);
    let mut seen: HashSet<String> = HashSet::new();
    let mut rare = Vec::new();
    for token in tokens(text).take(MAX_TOKENS) {
        let is_word = !token.is_cjk
            && token.text.chars().count() > 3
            && !token.text.chars().all(char::is_numeric);
        if is_word && seen.insert(token.text.clone()) {
            let on = store.pages_with(&token.text)?;
            if (2..=most).contains(&on) {
                rare.push((on, token.text));
            }
        }
    }
    rare.sort();
    let weight = |on: usize| 2.0 / u32::try_from(on).map_or(f64::INFINITY, f64::from);
    let weighted = rare.into_iter().map(|(on, word)| (word, weight(on)));
    Ok(weighted.collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy as _, any, prop, proptest};
    use proptest::test_runner::Config;

    use super::{alike, find};
    use crate::index::store::{Home, Store};
    use crate::page::{Locale, PagePath, PageReading};

    fn page(content: &str) -> PageReading {
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("a/b"));
        PageReading {
            content: Some(content.to_owned()),
            ..PageReading::bare(Some(1), locale, path, content.to_owned())
        }
    }

    #[test]
    fn no_text_of_a_query_is_an_error_and_a_page_is_found_by_its_own_words() {
        let syntax = prop::sample::select(vec![
            "\"", "'", "*", "^", "(", ")", "{", "}", ":", "-", "+", "AND ", "OR ", "NOT ", "NEAR(",
            ",2)", "title:", "a", "\0", "会", "議", "ｶ", "ﾞ", " ", "\u{301}", "é",
        ]);
        let text = prop::collection::vec(syntax, 0..30)
            .prop_map(|parts| parts.concat())
            .boxed();
        let text = proptest::prop_oneof![text, any::<String>()];
        let config = Config {
            failure_persistence: None,
            ..Config::with_cases(300)
        };
        let store = std::cell::RefCell::new(Store::open(&Home::Memory).expect("a store"));
        proptest!(config, |(text in text)| {
            let mut store = store.borrow_mut();
            store.put(&[page(&text)]).expect("put");
            let found = find(&store, &text, &|_, _| true, (5, 0)).expect("a query");
            let has_words = !super::terms(&text).is_empty();
            assert_eq!(found.len(), usize::from(has_words), "{text:?}");
            alike(&store, 1, &|_, _| true, 5).expect("a comparison");
        });
    }
}
