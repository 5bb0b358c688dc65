//! Pieces of style sheets: comments, escapes, functions, lengths.

/// The argument of a function.
pub(super) fn argument<'a>(value: &'a str, function: &str) -> Option<&'a str> {
    let mut rest = value;
    while let Some((before, behind)) = rest.split_once(function) {
        let is_name = !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
        if let Some(inside) = behind.strip_prefix('(').filter(|_| is_name) {
            return inside.split(')').next().map(str::trim);
        }
        rest = behind;
    }
    None
}

pub(super) fn number(text: &str) -> Option<f64> {
    text.trim()
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
}

/// True if an opacity is so low that nothing is seen.
pub(super) fn is_faint(value: &str) -> bool {
    match value.trim().strip_suffix('%') {
        Some(percent) => number(percent).is_some_and(|percent| percent <= 5.0),
        None => number(value).is_some_and(|share| share <= 0.05),
    }
}

/// A length in pixels, as nearly as matters here.
pub(super) fn pixels(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 14] = [
        ("rem", 16.0),
        ("em", 16.0),
        ("px", 1.0),
        ("pt", 1.33),
        ("pc", 16.0),
        ("ex", 8.0),
        ("ch", 8.0),
        ("cm", 37.8),
        ("mm", 3.78),
        ("in", 96.0),
        ("vw", 10.0),
        ("vh", 10.0),
        ("q", 1.0),
        ("%", 10.0),
    ];
    let text = text.trim();
    let text = argument(text, "calc").unwrap_or(text);
    let unit = UNITS
        .iter()
        .find_map(|(unit, size)| Some((text.strip_suffix(unit)?, size)));
    match unit {
        Some((text, size)) => number(text).map(|number| number * size),
        None => number(text),
    }
}

/// Splits at a sign that is outside quotes and brackets.
pub(super) fn split(text: &str, sign: char) -> impl Iterator<Item = &str> {
    let (mut quote, mut depth) = (None, 0_usize);
    text.split(move |c: char| {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == sign && quote.is_none() && depth == 0
    })
}

/// Styles with escapes decoded and each comment replaced by a space; the comments are passed on.
pub(super) fn clean(css: &str, mut comment: impl FnMut(usize, &str)) -> String {
    let mut clean = String::with_capacity(css.len());
    let mut quote = None;
    let mut rest = css;
    while let Some(at) = rest.find(['\\', '/', '"', '\'', '\n']) {
        let (before, behind) = rest.split_at(at);
        clean.push_str(before);
        let place = css.len() - behind.len();
        rest = behind.get(1..).unwrap_or_default();
        match behind.bytes().next() {
            Some(b'\\') => rest = unescape(rest, &mut clean),
            Some(b'/') if quote.is_none() && rest.starts_with('*') => {
                let inside = rest.get(1..).unwrap_or_default();
                let (said, behind) = inside.split_once("*/").unwrap_or((inside, ""));
                comment(place, said);
                clean.push(' ');
                rest = behind;
            }
            Some(sign @ (b'"' | b'\'')) => {
                match quote {
                    None => quote = Some(sign),
                    Some(open) if open == sign => quote = None,
                    Some(_) => {}
                }
                clean.push(char::from(sign));
            }
            Some(sign) => {
                if sign == b'\n' {
                    quote = None;
                }
                clean.push(char::from(sign));
            }
            None => {}
        }
    }
    clean.push_str(rest);
    clean
}

/// Appends the character that an escape means; one with a meaning in a style sheet becomes a
/// neutral letter.
fn unescape<'a>(rest: &'a str, clean: &mut String) -> &'a str {
    const STRANGE: char = '\u{FFFD}';
    let digits = rest
        .bytes()
        .take(6)
        .take_while(u8::is_ascii_hexdigit)
        .count();
    let (hex, behind) = rest.split_at_checked(digits).unwrap_or((rest, ""));
    let (c, behind) = if digits > 0 {
        let code = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
        let behind = behind.strip_prefix(char::is_whitespace).unwrap_or(behind);
        (code.unwrap_or(STRANGE), behind)
    } else {
        let mut chars = rest.chars();
        (chars.next().unwrap_or(STRANGE), chars.as_str())
    };
    let is_plain = c.is_alphanumeric() || matches!(c, '-' | '_');
    clean.push(if is_plain { c } else { STRANGE });
    behind
}
