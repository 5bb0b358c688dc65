//! Keeps the rules of a style sheet that the wiki keeps (W25): measured on 2.5.314.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// A piece of a sheet or of a block.
enum Piece<'a> {
    /// Something that ends with a semicolon, or with the block.
    Statement(&'a str),
    /// A block in braces, and its prelude.
    Block(&'a str, &'a str),
}

/// A minified sheet without what the wiki drops: rules that are empty, nested or follow a brace
/// too many, at-rules that it does not know, `@import`s behind other rules.
pub(super) fn kept(css: &str) -> String {
    let mut kept = String::with_capacity(css.len());
    let mut has_rules = false;
    let mut swallows = false;
    for piece in pieces(css) {
        match piece {
            Piece::Statement(text) if is_import(text) => {
                if !has_rules {
                    kept.extend([&*plain_import(text), ";"]);
                }
            }
            Piece::Statement(text) if text.starts_with('@') && !text.contains(',') => {
                kept.extend([text, ";"]);
            }
            // What it cannot read takes the next rule along.
            Piece::Statement(_) => swallows = true,
            Piece::Block(..) if std::mem::take(&mut swallows) => {}
            Piece::Block(before, body) => {
                if let Some(body) = kept_of_block(before, body) {
                    has_rules = true;
                    kept.extend([before, "{", &body, "}"]);
                }
            }
        }
    }
    kept
}

/// A stored sheet as the editor's beautifier leaves it.
pub(super) fn without_local_imports(css: &str) -> String {
    let is_local = |text: &str| {
        is_import(text)
            && !["//", "http://", "https://"].iter().any(|far| {
                plain_import(text)
                    .strip_prefix("@import url(")
                    .is_some_and(|address| address.starts_with(far))
            })
    };
    let mut left = String::with_capacity(css.len());
    for piece in pieces(css) {
        match piece {
            Piece::Statement(text) if is_local(text) => {}
            Piece::Statement(text) => left.extend([text, ";"]),
            Piece::Block(before, body) => left.extend([before, "{", body, "}"]),
        }
    }
    left
}

/// The content of a block that is kept; `None` if the block is dropped.
fn kept_of_block(before: &str, body: &str) -> Option<String> {
    const GROUPS: [&str; 5] = ["@media", "@supports", "@container", "@layer", "@keyframes"];
    const PLAIN: [&str; 4] = ["@font-face", "@page", "@property", "@counter-style"];
    let begins = |names: &[&str]| names.iter().any(|name| before.starts_with(name));
    if before.is_empty() || before.starts_with('}') {
        return None;
    }
    let body = if begins(&GROUPS) {
        kept(body)
    } else if before.starts_with('@') && !begins(&PLAIN) {
        return None;
    } else {
        let declarations = pieces(body).into_iter().filter_map(|piece| match piece {
            Piece::Statement(text) => text.contains(':').then(|| text.to_owned()),
            // A custom property may have a value in braces, which keeps its semicolon.
            Piece::Block(name, value) if name.starts_with("--") => {
                Some(format!("{name}{{{value}}}"))
            }
            Piece::Block(..) => None,
        });
        declarations.collect::<Vec<_>>().join(";")
    };
    (!body.is_empty()).then_some(body)
}

fn is_import(text: &str) -> bool {
    text.starts_with("@import")
}

/// An `@import` of an address in quotes, and what stands behind it.
static IMPORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let quoted = r#""([^"]*)"|'([^']*)'"#;
    Regex::new(&format!(
        r"(?s)^@import\s*(?:url\((?:{quoted})\)?|{quoted})(.*)$"
    ))
    .ok()
});

/// An `@import` in the form in which it is stored.
fn plain_import(text: &str) -> String {
    let found = IMPORT.as_ref().and_then(|import| import.captures(text));
    let mut parts = found.iter().flat_map(Captures::iter).flatten().skip(1);
    match (parts.next(), parts.next()) {
        (Some(address), Some(rest)) => {
            format!("@import url({}){}", address.as_str(), rest.as_str())
        }
        _ => format!(
            "@import {}",
            text.trim_start_matches("@import").trim_start()
        ),
    }
}

/// The first character of a sheet, that character or the whole quoted text that it begins, and what
/// follows.
pub(super) fn first_token(css: &str) -> Option<(char, &str, &str)> {
    let first = css.chars().next()?;
    let (token, rest) = match first {
        '"' | '\'' => quoted(css, first),
        _ => css.split_at(first.len_utf8()),
    };
    Some((first, token, rest))
}

/// Splits `text`, which begins with `quote`, after the closing quote.
fn quoted(text: &str, quote: char) -> (&str, &str) {
    let mut escaped = false;
    for (at, found) in text.char_indices().skip(1) {
        match found {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if found == quote => return text.split_at(at + found.len_utf8()),
            _ => {}
        }
    }
    (text, "")
}

/// The pieces of a sheet or block, at its own level. A brace too many stands before the next.
fn pieces(css: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut from, mut open, mut depth, mut brackets) = (0, None, 0_usize, 0_usize);
    let mut rest = css;
    while let Some((c, _, after)) = first_token(rest) {
        let at = css.len() - rest.len();
        rest = after;
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            _ if brackets > 0 => {}
            '{' => {
                depth += 1;
                open = open.or(Some(at));
            }
            '}' if depth > 0 => {
                depth -= 1;
                if let Some(brace) = open.filter(|_| depth == 0) {
                    pieces.push(block(css, from, brace, at));
                    (from, open) = (at + 1, None);
                }
            }
            ';' if depth == 0 => {
                let text = css.get(from..at).unwrap_or_default();
                let follows_value =
                    matches!(pieces.last(), Some(Piece::Block(name, _)) if name.starts_with("--"));
                if !(text.is_empty() && follows_value) {
                    pieces.push(Piece::Statement(text));
                }
                from = at + 1;
            }
            _ => {}
        }
    }
    match open {
        Some(brace) => pieces.push(block(css, from, brace, css.len())),
        None => match css.get(from..) {
            Some(rest) if !rest.is_empty() => pieces.push(Piece::Statement(rest)),
            _ => {}
        },
    }
    pieces
}

fn block(css: &str, from: usize, brace: usize, end: usize) -> Piece<'_> {
    Piece::Block(
        css.get(from..brace).unwrap_or_default(),
        css.get(brace + 1..end).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use crate::demo::css::{beautify, stored};

    /// Sent, stored and shown, all measured on 2.5.314; white space of what is shown apart.
    #[test]
    fn rules_are_kept_and_dropped_as_the_wiki_does() {
        for (sent, kept, shown) in [
            (
                "@import \"x.css\"; a{b:c}",
                "@import url(x.css);a{b:c}",
                "a{b:c}",
            ),
            ("@import \"x.css\";", "@import url(x.css);", ""),
            (
                "@import url(https://e.com/a.css);a{top:0}",
                "@import url(https://e.com/a.css);a{top:0}",
                "@import url(https://e.com/a.css);a{top:0}",
            ),
            (
                "a{top:0}@import \"x.css\";b{top:0}",
                "a{top:0}b{top:0}",
                "a{top:0}b{top:0}",
            ),
            ("a{&:hover{color:red}}", "", ""),
            (
                "a{top:0;&:hover{left:0}bottom:0}b{top:0}",
                "a{top:0;bottom:0}b{top:0}",
                "a{top:0;bottom:0}b{top:0}",
            ),
            (
                "a{top:0}}b{top:0}c{top:0}",
                "a{top:0}c{top:0}",
                "a{top:0}c{top:0}",
            ),
            ("a{top:0}b{top:0", "a{top:0}b{top:0}", "a{top:0}b{top:0}"),
            ("a{}b{top:0}@media print{}", "b{top:0}", "b{top:0}"),
            ("@media x{a{}}b{top:0}", "b{top:0}", "b{top:0}"),
            ("@layer a,b;c{top:0}d{top:0}", "d{top:0}", "d{top:0}"),
            ("@layer a;", "@layer a;", "@layer a;"),
            ("@unknown foo{a{top:0}}", "", ""),
            ("a{top:0} ;b{top:0}", "a{top:0}", "a{top:0}"),
            (
                "a{--x: 1 2;--y:{a:b}}",
                "a{--x:1 2;--y:{a:b}}",
                "a{--x:1 2;--y:{a:b}}",
            ),
        ] {
            assert_eq!(stored(sent), kept, "{sent}");
            let plain: String = beautify(kept)
                .replace("  ", "")
                .replace('\n', "")
                .replace(" {", "{");
            assert_eq!(plain, shown, "{sent}");
        }
    }
}
