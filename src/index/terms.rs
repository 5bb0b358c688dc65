//! The terms of a query, and FTS5's syntax for them.

use super::tokens::{WordToken, tokens};

/// The most terms of a query.
const MAX_TERMS: usize = 32;

/// Words or CJK characters that must follow one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// Their texts.
    pub(super) parts: Vec<String>,
    /// True if they are CJK characters.
    pub(super) is_cjk: bool,
}

/// The terms of a query: split at white space, then into runs of one kind of character.
pub(super) fn terms(query: &str) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    for chunk in query.split_whitespace() {
        let mut run: Option<(Term, usize)> = None;
        for WordToken {
            range,
            text,
            is_cjk,
        } in tokens(chunk)
        {
            match &mut run {
                Some((term, end)) if term.is_cjk == is_cjk && (!is_cjk || *end == range.start) => {
                    term.parts.push(text);
                    *end = range.end;
                }
                _ => {
                    terms.extend(run.take().map(|(term, _)| term));
                    let parts = vec![text];
                    run = Some((Term { parts, is_cjk }, range.end));
                }
            }
        }
        terms.extend(run.map(|(term, _)| term));
    }
    let mut unique: Vec<Term> = Vec::new();
    for term in terms {
        if !unique.contains(&term) {
            unique.push(term);
        }
    }
    unique.truncate(MAX_TERMS);
    unique
}

impl Term {
    /// True if the last word matches as a prefix. One letter would match too many words.
    pub(super) fn is_prefix(&self) -> bool {
        let last = self.parts.last().map_or(0, |last| last.chars().count());
        !self.is_cjk && last > 1
    }

    /// The term without prefix matching, in FTS5's syntax.
    pub(super) fn exact(&self) -> String {
        quoted(&self.parts.join(" "))
    }

    /// The term in FTS5's syntax. A whole word counts twice: exactly and as a prefix.
    pub(super) fn syntax(&self) -> String {
        if let (true, [one]) = (self.is_cjk, &self.parts[..]) {
            return format!("{}*", quoted(one));
        }
        if self.is_cjk {
            let pairs = self.parts.windows(2).map(<[String]>::concat);
            return quoted(&pairs.collect::<Vec<_>>().join(" "));
        }
        let phrase = self.exact();
        if self.is_prefix() {
            format!("({phrase} OR {phrase}*)")
        } else {
            phrase
        }
    }
}

/// A string of FTS5: nothing in it is syntax.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::terms;

    fn syntax(query: &str) -> Vec<String> {
        terms(query).iter().map(super::Term::syntax).collect()
    }

    #[test]
    fn every_word_is_a_prefix_and_what_is_joined_is_a_phrase() {
        assert_eq!(
            syntax("Install db_down c install"),
            [
                r#"("install" OR "install"*)"#,
                r#"("db down" OR "db down"*)"#,
                r#""c""#
            ]
        );
    }

    #[test]
    fn cjk_is_a_phrase_of_pairs_and_one_character_begins_pairs() {
        assert_eq!(syntax("会议"), ["\"会议\""]);
        assert_eq!(
            syntax("Q3会议记录"),
            [r#"("q3" OR "q3"*)"#, "\"会议 议记 记录\""]
        );
        assert_eq!(syntax("京"), ["\"京\"*"]);
    }

    #[test]
    fn signs_of_syntax_are_none() {
        assert_eq!(
            syntax("\"a\" AND NEAR(b, 2) {title}: *"),
            [
                "\"a\"",
                r#"("and" OR "and"*)"#,
                r#""near b""#,
                "\"2\"",
                r#"("title" OR "title"*)"#
            ]
        );
        assert_eq!(syntax("* \" ( - ^"), Vec::<String>::new());
    }
}
