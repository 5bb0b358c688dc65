//! Reads the anchors of a page in Markdown, in a form that forgives whatever renderers differ in.
//!
//! Wiki.js writes a heading's text as its id (W51): in NFKC and lower case, `-` for white space, most
//! signs left out, `h-` before a digit, `-1` and so on behind a repeated one. Here letters and digits
//! alone count.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;

use super::super::model::percent::percent_decoded;
use super::outline::front_matter;

/// The most anchors of a page that are told.
const MAX_ANCHORS: usize = 5_000;
/// The most bytes of an id that are read.
const MAX_ID: usize = 100;

/// The anchors of a source; `None` if it may have others: from headings in HTML, of signs that are
/// replaced, or of several lines.
pub fn anchors(text: &str) -> Option<BTreeSet<String>> {
    let body = text.get(front_matter(text)..)?.to_lowercase();
    if (1..=6).any(|level| body.contains(&format!("<h{level}"))) {
        return None;
    }
    let mut found = BTreeSet::new();
    let (mut above, mut before) = ("", "");
    for line in body.lines() {
        // Those in lists and quotes are headings, too.
        let is_before = |c: char| c.is_whitespace() || c.is_ascii_digit() || ">-*+.)".contains(c);
        let marked = line.trim_start_matches(is_before).strip_prefix('#');
        let is_underline = |c: char| line.trim_end().chars().all(|other| other == c);
        let is_underlined = !line.trim().is_empty() && (is_underline('=') || is_underline('-'));
        if is_underlined && !above.trim().is_empty() {
            return None;
        }
        if let Some(title) = marked.or(is_underlined.then_some(before)) {
            let title = title.split('{').next().unwrap_or_default();
            if title.contains(['<', '&', '$', '[', '\\']) || title.matches(':').count() > 1 {
                return None;
            }
            found.insert(folded(title));
        }
        (above, before) = (before, line);
    }
    let ids = ["id=", "name=", "{#", " #"].iter().flat_map(|mark| {
        let id = |(at, _)| body.get(at + mark.len()..).unwrap_or_default();
        body.match_indices(mark).map(id)
    });
    for (number, id) in ids.enumerate() {
        if number + found.len() > MAX_ANCHORS {
            return None;
        }
        let id = id.get(..id.floor_char_boundary(MAX_ID)).unwrap_or_default();
        let id = id.trim_start_matches(['"', '\'']);
        let end = id.find(['"', '\'', '}', '>', ' ', '\n']);
        found.insert(folded(
            id.get(..end.unwrap_or(id.len())).unwrap_or_default(),
        ));
    }
    (found.len() <= MAX_ANCHORS).then_some(found)
}

/// The forms in which an anchor may stand among those of a page; none if a page has it without any
/// heading.
pub fn anchor_forms(anchor: &str) -> Vec<String> {
    let anchor = percent_decoded(anchor).to_lowercase();
    let is_own = ["top", "discussion", "comments"].contains(&anchor.as_str());
    let is_made = anchor.starts_with("fn") || anchor.starts_with(":~:");
    if is_own || is_made || folded(&anchor).is_empty() {
        return Vec::new();
    }
    let bare = anchor.strip_prefix("h-").unwrap_or(&anchor);
    let is_count = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let first = |text: &str| {
        let (name, count) = text.rsplit_once('-')?;
        is_count(count).then(|| folded(name))
    };
    let mut forms = vec![folded(&anchor), folded(bare)];
    forms.extend(first(&anchor).into_iter().chain(first(bare)));
    forms
}

/// The letters and digits of a text in lower case, in the form in which an id has them.
pub(in crate::page) fn folded(text: &str) -> String {
    let letters = text.nfkc().flat_map(char::to_lowercase);
    letters.filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::{anchor_forms, anchors};

    #[test]
    fn more_anchors_than_are_read_are_not_known() {
        assert_eq!(anchors(&"id=x".repeat(1 << 20)), None);
        let titles: String = ('a'..='z')
            .map(|c| format!("# {c}\n").repeat(300))
            .collect();
        assert_eq!(anchors(&titles).map(|all| all.len()), Some(26));
    }

    #[test]
    fn an_anchor_is_missed_only_where_all_of_a_page_are_known() {
        let has = |text: &str, anchor: &str| {
            let anchors = anchors(text)?;
            let forms = anchor_forms(anchor);
            Some(forms.is_empty() || forms.iter().any(|form| anchors.contains(form)))
        };
        for (text, anchor, wanted) in [
            ("# One Two\n", "one-two", Some(true)),
            ("# One Two\n", "one-three", Some(false)),
            ("## 1. `Set_up`, *now*!\n", "h-1-set_up-now", Some(true)),
            ("## A\n\n## A\n", "a-1", Some(true)),
            ("> - ## Größe & mehr\n", "größe", None),
            ("- ## Größe\n", "gr%C3%B6%C3%9Fe", Some(true)),
            ("Under\n===\n", "under", Some(true)),
            ("Over\nunder\n---\n", "x", None),
            ("---\na: b\nc: d\n---\n\n# T\n", "t", Some(true)),
            ("# T {#own .x}\n", "own", Some(true)),
            ("<a id='mark'></a><p name=other>", "mark", Some(true)),
            ("<a id='mark'></a><p name=other>", "other", Some(true)),
            ("<h2>T</h2>\n", "x", None),
            ("# :smile: T\n", "x", None),
            ("# See [x](y)\n", "x", None),
            ("# T\n", "top", Some(true)),
            ("# T\n", "fnref1", Some(true)),
            ("# T\n", ":~:text=x", Some(true)),
            (
                "## \u{fb01}ne \u{bd} e\u{301}\n",
                "fine-12-\u{e9}",
                Some(true),
            ),
            ("## \u{ff21}\u{2460} \u{1d401}\n", "a1-b", Some(true)),
            ("", "x", Some(false)),
        ] {
            assert_eq!(has(text, anchor), wanted, "{text:?} {anchor}");
        }
    }
}
