//! Halves of characters in JSON: the wiki stores U+FFFD for one (W17), a Rust
//! parser refuses the whole text.

use std::borrow::Cow;

/// `json` with every lone surrogate escape made U+FFFD.
pub(super) fn mend(json: &str) -> Cow<'_, str> {
    if !json.contains("\\u") {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, escaped)) = rest.split_once('\\') {
        out.push_str(before);
        let pair = unit(escaped)
            .filter(|high| (0xd800..0xdc00).contains(high))
            .and_then(|_| {
                let low = escaped.get(5..)?.strip_prefix('\\')?;
                unit(low).filter(|low| (0xdc00..0xe000).contains(low))
            });
        let length = match unit(escaped) {
            Some(_) if pair.is_some() => 11,
            Some(_) => 5,
            // A short escape is a backslash and one character.
            None => escaped.chars().next().map_or(0, char::len_utf8),
        };
        let lone = pair.is_none() && unit(escaped).is_some_and(|u| (0xd800..0xe000).contains(&u));
        let (escape, after) = escaped.split_at_checked(length).unwrap_or((escaped, ""));
        out.push('\\');
        out.push_str(if lone { "ufffd" } else { escape });
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The number of an escape of the form `uXXXX` at the beginning of `text`.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('u')?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
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
