//! Compares style sheets by meaning, not by form.

use super::tokens::{CssKind, CssTokens};

/// True if two style sheets mean the same.
///
/// Wiki.js keeps no other difference: it minifies styles when it stores them (W24), and shows
/// them in lines of their own to an editor.
pub fn same_css(a: &str, b: &str) -> bool {
    a == b || plain_css(a) == plain_css(b)
}

/// Styles without comments and without meaningless white space: around `{`, `}`, `;`, `,` and the
/// comments that the wiki keeps, after `:`, and around a selector's `>`, `+` and `~`. Elsewhere
/// white space becomes one space, since `.a .b` is not `.a.b`; strings stay as they are.
fn plain_css(css: &str) -> String {
    let mut plain = String::with_capacity(css.len());
    let (mut brackets, mut is_space_due, mut is_tight) = (0_usize, false, true);
    // Decided once for each stretch up to the next `{`, `}` or `;`, to keep the time linear.
    let mut in_selector = None;
    let mut tokens = CssTokens::of(css);
    while let Some((kind, piece)) = tokens.next() {
        if kind == CssKind::Comment && piece.starts_with("/*!") {
            plain.push_str(piece);
            (is_space_due, is_tight) = (false, true);
            continue;
        }
        if matches!(kind, CssKind::Space | CssKind::Comment) {
            is_space_due = true;
            continue;
        }
        let sign = if kind == CssKind::Sign { piece } else { "" };
        match sign {
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets = brackets.saturating_sub(1),
            "{" | "}" | ";" => in_selector = None,
            _ => {}
        }
        let is_combinator = matches!(sign, ">" | "+" | "~")
            && brackets == 0
            && *in_selector.get_or_insert_with(|| is_selector(tokens.clone()));
        let is_edge = is_combinator || matches!(sign, "{" | "}" | ";" | ",");
        if is_space_due && !is_tight && !is_edge {
            plain.push(' ');
        }
        is_space_due = false;
        is_tight = is_edge || sign == ":";
        if sign == "}" && plain.ends_with(';') {
            plain.pop();
        }
        plain.push_str(piece);
    }
    plain
}

/// True if a selector follows: a declaration ends with `;` or `}`.
fn is_selector(mut rest: CssTokens<'_>) -> bool {
    let is_end = |(kind, piece): &(CssKind, &str)| {
        *kind == CssKind::Sign && matches!(*piece, "{" | "}" | ";")
    };
    rest.find(is_end).is_some_and(|(_, piece)| piece == "{")
}

#[cfg(test)]
mod tests {
    use super::{plain_css, same_css};

    #[test]
    fn white_space_that_means_nothing_comments_and_last_semicolons_do_not_count() {
        assert_eq!(
            plain_css("body { color: red; } /* x */\n"),
            "body{color:red}"
        );
        assert_eq!(plain_css("a , b{c:d}/* open"), "a,b{c:d}");
        assert_eq!(plain_css(" a  /**/  b { c : d }"), "a b{c :d}");
    }

    #[test]
    fn white_space_that_means_something_stays() {
        assert!(!same_css(".a .b{c:d}", ".a.b{c:d}"));
        assert!(!same_css("a{content:\"a b\"}", "a{content:\"ab\"}"));
        assert!(!same_css("a{top:calc(1px + 2px)}", "a{top:calc(1px+2px)}"));
        assert!(!same_css("a{b:1 +2}", "a{b:1+2}"));
        assert_eq!(
            plain_css("a{content:\"; }  \\\" /* */\"}"),
            "a{content:\"; }  \\\" /* */\"}"
        );
    }

    /// Stored and as shown to an editor, both measured on 2.5.314.
    #[test]
    fn what_is_stored_means_what_an_editor_is_shown() {
        for (stored, shown) in [
            ("body{color:red}", "body {\n  color: red\n}"),
            (
                "a>b+c~d,e:hover{margin:0 auto!important;background:url(\"x y.png\")}",
                "a > b + c ~ d,\ne:hover {\n  margin: 0 auto!important;\n  background: url(\"x y.png\")\n}",
            ),
            (
                "@media (min-width:3px) and (max-width:4px){a>b{width:calc(1px + 2px)}}",
                "@media (min-width:3px) and (max-width:4px) {\n  a > b {\n    width: calc(1px + 2px)\n  }\n}",
            ),
            (
                "/*! keep */a{b:c}/*! end */",
                "/*! keep */\na {\n  b: c\n}\n/*! end */\n",
            ),
            ("a,b{/*! in */c:d}", "a,\nb {\n  /*! in */\n  c: d\n}"),
            (
                ":not(a > b)::after{content:\"; }  \\\" > x\"}",
                ":not(a > b)::after {\n  content: \"; }  \\\" > x\"\n}",
            ),
            (
                "a{background:url(data:image/png;base64,AAA=)}",
                "a {\n  background: url(data:image/png;base64,AAA=)\n}",
            ),
            (
                "@charset \"utf-8\";@keyframes k{from{top:0}50%{top:1px}}",
                "@charset \"utf-8\";\n@keyframes k {\n  from {\n    top: 0\n  }\n  50% {\n    top: 1px\n  }\n}",
            ),
            (".a{--x:{};}", ".a {\n  --x: {\n    \n  };\n}"),
        ] {
            assert!(same_css(stored, shown), "{}", plain_css(shown));
        }
    }

    /// The wiki keeps comments that begin with `!`.
    #[test]
    fn a_comment_that_is_kept_counts() {
        assert!(!same_css("/*! a */b{c:d}", "/*! b */b{c:d}"));
        assert!(!same_css("/*! a */b{c:d}", "b{c:d}"));
    }
}
