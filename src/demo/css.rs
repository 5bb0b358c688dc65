//! Rewrites style sheets as the wiki does when it stores them and when it shows them to an editor
//! (W24, W25): measured on 2.5.314.

use super::css_rules::{self, first_token};

/// A style sheet as it is stored: minified, without the rules that the wiki drops.
pub(super) fn stored(css: &str) -> String {
    css_rules::kept(&minify(css))
}

/// `css` without comments and meaningless white space.
///
/// Quoted text stays as it is. A space before a colon stays where it may be a
/// selector's (`a :hover` is not `a:hover`).
fn minify(css: &str) -> String {
    let mut out = String::with_capacity(css.len());
    let mut rest = css;
    let mut pending_space = false;
    while let Some((next, token, after)) = first_token(rest) {
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
            pending_space = true;
            continue;
        }
        rest = after;
        if next.is_whitespace() {
            pending_space = true;
            continue;
        }
        if pending_space && wants_space(&out, next, rest) {
            out.push(' ');
        }
        pending_space = false;
        if next == '}' && out.ends_with(';') {
            out.pop();
        }
        out.push_str(token);
    }
    out
}

/// The stored styles in the form in which an editor shows them: with the same meaning, but without
/// local `@import`s.
pub(super) fn beautify(css: &str) -> String {
    let css = css_rules::without_local_imports(css);
    let mut out = String::with_capacity(css.len() * 2);
    let mut depth = 0_usize;
    let mut brackets = 0_usize;
    let mut rest = css.as_str();
    while let Some((next, token, after)) = first_token(rest) {
        rest = after;
        match next {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        match next {
            '{' if brackets == 0 => {
                depth += 1;
                out.push_str(" {");
            }
            ';' if brackets == 0 => out.push(';'),
            '}' if brackets == 0 => {
                depth = depth.saturating_sub(1);
                out.push_str(&line(depth));
                out.push('}');
            }
            _ => {
                out.push_str(token);
                continue;
            }
        }
        if !rest.is_empty() && !rest.starts_with('}') {
            out.push_str(&line(depth));
        }
    }
    out
}

fn line(depth: usize) -> String {
    format!("\n{}", "  ".repeat(depth))
}

/// True if a space between `written` and `next` has a meaning.
fn wants_space(written: &str, next: char, rest: &str) -> bool {
    let Some(last) = written.chars().next_back() else {
        return false;
    };
    if "{}:;,".contains(last) || "{};,".contains(next) {
        return false;
    }
    if next == ':' {
        // A declaration ends with `;` or `}`, a selector with `{`.
        let end = rest.chars().find(|c| "{};".contains(*c));
        return end == Some('{');
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{beautify, minify};

    #[test]
    fn spaces_around_punctuation_and_the_last_semicolon_go() {
        assert_eq!(minify("body { color: red }"), "body{color:red}");
        assert_eq!(
            minify("h1 ,\n h2 {\n  margin : 0 auto;\n  color: red;\n}\n\np { top: 0; }\n"),
            "h1,h2{margin:0 auto;color:red}p{top:0}"
        );
    }

    #[test]
    fn comments_go_and_quoted_text_stays() {
        assert_eq!(
            minify("/* a */ a::after { content: \"x  ; /* \\\" }\" } /* b"),
            "a::after{content:\"x  ; /* \\\" }\"}"
        );
    }

    #[test]
    fn a_space_that_a_selector_needs_stays() {
        assert_eq!(minify("li :hover { top: 0 }"), "li :hover{top:0}");
        assert_eq!(
            minify("@media (min-width: 3px) { a > b { width: calc(1px + 2px) } }"),
            "@media (min-width:3px){a > b{width:calc(1px + 2px)}}"
        );
    }

    #[test]
    fn what_is_shown_to_an_editor_is_minified_to_the_same() {
        for css in [
            "body{color:red}",
            "@media (min-width:3px){a > b{width:0;top:calc(1px + 2px)}}h1,h2{top:0}",
            "a::after{content:\"; }\";background:url(data:image/png;base64,A=)}",
            "",
        ] {
            assert_eq!(minify(&beautify(css)), css);
        }
        assert_eq!(beautify("body{color:red}"), "body {\n  color:red\n}");
    }

    #[test]
    fn what_is_minified_already_stays() {
        assert_eq!(minify("body{color:red}"), "body{color:red}");
        assert_eq!(minify(""), "");
    }
}
