//! Halves of characters in JSON: the wiki stores U+FFFD for one (W17), a Rust
//! parser refuses the whole text.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Escapes: of a whole pair, of a half alone, of anything else.
static ESCAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?s)\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|(\\u[dD][89a-fA-F][[:xdigit:]]{2})|\\.",
    )
    .ok()
});

/// `json` with every lone surrogate escape made U+FFFD.
pub(super) fn mend(json: &str) -> Cow<'_, str> {
    let mended = |escape: &Captures<'_>| match (escape.get(1), escape.get(0)) {
        (None, Some(other)) => other.as_str().to_owned(),
        _ => "\\ufffd".to_owned(),
    };
    match ESCAPES.as_ref() {
        Some(escapes) if json.contains("\\u") => escapes.replace_all(json, mended),
        _ => Cow::Borrowed(json),
    }
}

#[cfg(test)]
mod tests {
    use super::mend;

    #[test]
    fn a_lone_half_becomes_the_replacement_character() {
        assert_eq!(mend(r#""a\ud83db""#), r#""a\ufffdb""#);
        assert_eq!(mend(r#""\udf8c""#), r#""\ufffd""#);
        assert_eq!(mend(r#""\ud83d\ud83c\udf8c""#), r#""\ufffd\ud83c\udf8c""#);
    }

    #[test]
    fn everything_else_stays() {
        for text in [
            r#""\ud83c\udf8c""#,
            r#""\\ud83d""#,
            r#""\n\u0041\"é""#,
            "{}",
        ] {
            assert_eq!(mend(text), text);
        }
    }
}
