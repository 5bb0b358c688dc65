//! Search for exact texts and regular expressions in the content of indexed pages, line by line.

use std::time::Instant;

use regex::{Regex, RegexBuilder};

use super::store::{IndexResult, Store};
use crate::hex;
use crate::page::{Locale, PagePath, PageReading, TextPosition, needs_locale};

/// The most bytes of a compiled pattern, and of the cache that it fills in use.
const MAX_COMPILED: usize = 256 * 1024;
const MAX_TABLE: usize = 1024 * 1024;
/// The most bytes of a line that a regular expression is matched against.
const MAX_LINE: usize = 64 * 1024;

/// The pattern of a search.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// This text, letter by letter.
    Exact(String),
    /// Matches of this expression within a line.
    Regex(Regex),
}

/// The lines of a page in which a pattern was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternHit {
    /// The page, as the list told of it.
    pub page: PageReading,
    /// The first of the lines.
    pub lines: Vec<TextPosition>,
    /// The number of such lines.
    pub count: usize,
    /// The selector of the section that the first line is in.
    pub section: Option<String>,
}

/// The pages in which a pattern was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatternHits {
    /// The pages, those changed last first.
    pub hits: Vec<PatternHit>,
    /// The number of further pages.
    pub left: usize,
    /// The number of pages looked at.
    pub looked_at: usize,
    /// The number of pages to look at: more than `looked_at` if the time ran out.
    pub of: usize,
    /// The number of indexed pages skipped because the key cannot read their source.
    pub without_source: usize,
    /// The number of lines too long to be matched in full.
    pub long_lines: usize,
}

impl Pattern {
    /// A regular expression. It takes time proportional to the text; it has no backreferences and
    /// no look-around.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn regex(text: &str) -> Result<Self, String> {
        let regex = RegexBuilder::new(text)
            .size_limit(MAX_COMPILED)
            .dfa_size_limit(MAX_TABLE)
            .nest_limit(50)
            .build();
        let regex = regex.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => {
                "is too large when compiled; repeat less, or write [0-9] for \\d".to_owned()
            }
            error => fault(&error.to_string()),
        })?;
        if regex.is_match("") {
            return Err("matches nothing at all, which every line has".to_owned());
        }
        Ok(Self::Regex(regex))
    }

    /// An asset's path as pages write it.
    ///
    /// # Errors
    /// If the path is too long.
    pub fn of_asset(path: &PagePath) -> Result<Self, String> {
        let name = addressed(path);
        let locale = if needs_locale(path) { "" } else { "?" };
        // Behind nothing of a longer path, but for the wiki's address and a locale (W42).
        Self::regex(&format!(
            r"(?:^|[^\w.%/-]|https?://[^/\s]+)(?:/(?i:[a-z]{{2}}(?:-[a-z]{{2}})?)){locale}/?{name}(?:[^\w.-]|\.(?:\W|$)|$)"
        ))
    }

    /// The number of lines of a text that are too long to be matched in full.
    fn long_lines(&self, text: &str) -> usize {
        match self {
            Self::Regex(_) if text.len() > MAX_LINE => {
                text.lines().filter(|line| line.len() > MAX_LINE).count()
            }
            Self::Regex(_) | Self::Exact(_) => 0,
        }
    }

    /// The offsets in a text at which each matching line first matches, until the time is over.
    fn places<'a>(
        &'a self,
        text: &'a str,
        deadline: Instant,
    ) -> Box<dyn Iterator<Item = usize> + 'a> {
        match self {
            Self::Exact(wanted) => {
                let mut behind = 0;
                Box::new(
                    text.match_indices(wanted.as_str())
                        .map(|(at, _)| at)
                        .filter(move |at| {
                            let is_new = *at >= behind;
                            if is_new {
                                let rest = text.get(*at..).unwrap_or_default();
                                behind = rest.find('\n').map_or(text.len(), |end| at + end + 1);
                            }
                            is_new
                        }),
                )
            }
            Self::Regex(regex) => {
                let mut start = 0;
                let lines = text.split_inclusive('\n');
                let in_time = lines.take_while(move |_| Instant::now() < deadline);
                Box::new(in_time.filter_map(move |line| {
                    let at = start;
                    start += line.len();
                    let line = line.trim_end_matches(['\n', '\r']);
                    let line = line.get(..line.floor_char_boundary(MAX_LINE))?;
                    Some(at + regex.find(line)?.start())
                }))
            }
        }
    }
}

/// A pattern of a path as pages write it: each character that addresses cannot say may be encoded.
fn addressed(path: &PagePath) -> String {
    let mut pattern = String::new();
    for c in path.as_str().chars() {
        if c.is_ascii_alphanumeric() || c == '/' {
            pattern.push(c);
            continue;
        }
        let c = c.to_string();
        pattern.push_str("(?:");
        pattern.push_str(&regex::escape(&c));
        pattern.push_str("|(?i:");
        for byte in c.bytes() {
            pattern.push('%');
            pattern.push_str(&hex::encode(&[byte]));
        }
        pattern.push_str("))");
    }
    pattern
}

/// The message of an error, without the drawing of the pattern.
fn fault(error: &str) -> String {
    let said = error.lines().find_map(|line| line.strip_prefix("error: "));
    format!("is no regular expression: {}", said.unwrap_or(error))
}

/// The pages to look at, last changed first. Pages whose source the key cannot read are left out:
/// what readers see has other lines than the source.
pub(super) fn wanted(
    store: &Store,
    is_wanted: &dyn Fn(&Locale, &PagePath) -> bool,
) -> IndexResult<Vec<PageReading>> {
    let sourced = store.sourced()?;
    let mut pages = store.newest_first()?;
    pages.retain(|page| {
        is_wanted(&page.locale, &page.path) && page.id.is_some_and(|id| sourced.contains(&id))
    });
    Ok(pages)
}

/// Looks at some pages, until the time is over.
pub(super) fn look(
    store: &Store,
    pages: &[PageReading],
    pattern: &Pattern,
    (most_hits, most_lines): (usize, usize),
    (found, deadline): (&mut PatternHits, Instant),
) -> IndexResult<()> {
    let is_over = || Instant::now() >= deadline;
    for page in pages {
        if is_over() {
            return Ok(());
        }
        let Some(content) = store.content(page.id.unwrap_or_default())? else {
            found.looked_at += 1;
            continue;
        };
        found.long_lines += pattern.long_lines(&content.text);
        let mut places = pattern.places(&content.text, deadline).peekable();
        let first = places.peek().copied();
        if first.is_none() && is_over() {
            return Ok(());
        }
        found.looked_at += 1;
        let Some(first) = first else {
            continue;
        };
        if found.hits.len() >= most_hits {
            found.left += 1;
            continue;
        }
        let mut lines = Vec::new();
        let mut count = 0;
        for at in places {
            if lines.len() < most_lines {
                lines.push(TextPosition::at(&content.text, at));
            }
            count += 1;
            if is_over() {
                break;
            }
        }
        found.hits.push(PatternHit {
            page: page.clone(),
            section: content.section_at(first).map(str::to_owned),
            lines,
            count,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Pattern, PatternHits, look, wanted};
    use crate::index::store::{Home, Store};
    use crate::page::{Locale, PagePath, PageReading};

    fn page(id: i64, content: &str) -> PageReading {
        let (locale, path) = (
            Locale::as_stored("en"),
            PagePath::as_stored(format!("p/{id}")),
        );
        PageReading {
            content: Some(content.to_owned()),
            ..PageReading::bare(Some(id), locale, path, format!("Page {id}"))
        }
    }

    fn store(contents: &[&str]) -> Store {
        let mut store = Store::open(&Home::Memory).expect("a store");
        for (id, content) in (1..).zip(contents) {
            store.put(&[page(id, content)]).expect("put");
        }
        store
    }

    fn looked(store: &Store, pattern: &Pattern, time: Duration) -> PatternHits {
        let pages = wanted(store, &|_, _| true).expect("pages");
        let mut found = PatternHits {
            of: pages.len(),
            ..PatternHits::default()
        };
        let deadline = Instant::now() + time;
        look(store, &pages, pattern, (2, 3), (&mut found, deadline)).expect("a look");
        found
    }

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn the_time_holds_within_a_page_too() {
        // However fast the search is, so many lines take longer than this. Only the last one matches.
        let text = format!("{}Z7\n", "x\n".repeat(100_000));
        let store = store(&[&text]);
        let pattern = Pattern::regex("Z[0-9]").expect("a pattern");
        let began = Instant::now();
        let found = looked(&store, &pattern, Duration::from_millis(1));
        assert!(began.elapsed() < Duration::from_secs(10));
        // The page was skipped, so it is not counted as one without a hit.
        assert_eq!((found.looked_at, found.of), (0, 1));
        assert_eq!(found.hits, []);
        // With more time the same page has its hit.
        let found = looked(&store, &pattern, LONG);
        assert_eq!((found.looked_at, found.hits.len()), (1, 1));
    }

    #[test]
    fn what_an_expression_is_not_held_against_is_counted() {
        let text = format!("short\n{}Z7\n", "y".repeat(70_000));
        let store = store(&[&text]);
        let regex = Pattern::regex("Z[0-9]").expect("a pattern");
        let found = looked(&store, &regex, LONG);
        assert_eq!((found.hits.len(), found.long_lines), (0, 1));
        let exact = looked(&store, &Pattern::Exact("Z7".to_owned()), LONG);
        assert_eq!((exact.hits.len(), exact.long_lines), (1, 0));
    }

    #[test]
    fn each_line_is_found_once_with_its_number() {
        let store = store(&["a.b a.b\r\naxb\n\n# H\n\nA.B\nä a.b\na.b\na.b"]);
        let exact = looked(&store, &Pattern::Exact("a.b".to_owned()), LONG);
        let told = |found: &PatternHits| -> Vec<(usize, String)> {
            let lines = found.hits[0].lines.iter();
            lines.map(|line| (line.line, line.text.clone())).collect()
        };
        assert_eq!(
            told(&exact),
            [
                (1, "a.b a.b".to_owned()),
                (7, "ä a.b".to_owned()),
                (8, "a.b".to_owned())
            ]
        );
        assert_eq!(exact.hits[0].count, 4);
        let regex = Pattern::regex("^a.b$").expect("a pattern");
        let regex = looked(&store, &regex, LONG);
        assert_eq!(
            regex.hits[0]
                .lines
                .iter()
                .map(|line| line.line)
                .collect::<Vec<_>>(),
            [2, 8, 9]
        );
        assert_eq!(regex.hits[0].section, Some("section[0]".to_owned()));
        let two_lines = looked(&store, &Pattern::Exact("# H\n\nA".to_owned()), LONG);
        assert_eq!(told(&two_lines), [(4, "# H".to_owned())]);
    }

    #[test]
    fn pages_beyond_the_limit_are_counted_and_a_look_ends_in_time() {
        let store = store(&["x", "y", "x", "x", "x"]);
        let pattern = Pattern::Exact("x".to_owned());
        let found = looked(&store, &pattern, LONG);
        assert_eq!((found.hits.len(), found.left), (2, 2));
        assert_eq!((found.looked_at, found.of), (5, 5));
        let found = looked(&store, &pattern, Duration::ZERO);
        assert_eq!((found.looked_at, found.of), (0, 5));
    }

    #[test]
    fn what_is_no_pattern_is_refused_in_one_line() {
        for (text, fault) in [
            ("(", "is no regular expression: unclosed group"),
            (
                "a{999}{999}",
                "is too large when compiled; repeat less, or write [0-9] for \\d",
            ),
            ("x*", "matches nothing at all, which every line has"),
            (
                "(?=x)",
                "is no regular expression: look-around, including look-ahead and look-behind, is not supported",
            ),
        ] {
            assert_eq!(Pattern::regex(text).expect_err(text), fault, "{text}");
        }
    }

    /// Expressions that never end in backtracking engines.
    #[test]
    fn no_pattern_takes_longer_than_the_text_does() {
        let text = format!("{}b", "a".repeat(60_000));
        let store = store(&[text.as_str(), text.as_str()]);
        for pattern in ["(a*)*c", "(a|aa)+$", "(.*)(.*)(.*)c", "([a-z]+)*\\d"] {
            let begin = Instant::now();
            if let Ok(pattern) = Pattern::regex(pattern) {
                looked(&store, &pattern, LONG);
            }
            let took = begin.elapsed();
            assert!(took < Duration::from_secs(5), "{pattern}: {took:?}");
        }
    }
}
