//! Whether a page that was read back is the page that was promised.

use crate::page::{Field, PageReading, PageState};

/// What a reading proves of a promised state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The fields that are not as promised.
    pub differing: Vec<Field>,
    /// The fields that this key could not read back.
    pub unverified: Vec<Field>,
    /// Whether the wiki stored other styles than were sent, in the way it does (W24).
    pub css_minified: bool,
    /// The page as it was found; where it could not be read, as it was promised.
    pub found: PageState,
}

impl Proof {
    /// Whether all that could be read is as promised.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.differing.is_empty()
    }
}

/// Compares a page that was read back with what was promised of it.
///
/// The styles are compared without what means nothing in them, since the wiki minifies them (W24). New ones that
/// still differ, but are neither gone nor the old ones, were minified further.
#[must_use]
pub fn prove(promised: &PageState, before: Option<&PageState>, reading: &PageReading) -> Proof {
    let found = reading.laid_over(promised);
    let mut differing = promised.difference(&found);
    let mut css_minified = false;
    if differing.contains(&Field::ScriptCss) {
        let wanted = plain_css(&promised.script_css);
        let stored = plain_css(&found.script_css);
        let old = plain_css(before.map_or("", |before| before.script_css.as_str()));
        css_minified = wanted == stored || (wanted != old && stored != old && !stored.is_empty());
        if css_minified {
            differing.retain(|field| *field != Field::ScriptCss);
        }
    }
    Proof {
        differing,
        unverified: reading.unreadable().into_keys().collect(),
        css_minified,
        found,
    }
}

/// Styles without comments and without the white space that means nothing: around `{`, `}`,
/// `;` and `,`, and behind `:`. Elsewhere a run of it is one space, since `.a .b` is not
/// `.a.b`; strings stay as they are.
fn plain_css(css: &str) -> String {
    let mut plain = String::with_capacity(css.len());
    let mut quote = None;
    let mut is_space_due = false;
    let mut chars = css.chars().peekable();
    while let Some(c) = chars.next() {
        if let Some(open) = quote {
            plain.push(c);
            if c == '\\' {
                plain.extend(chars.next());
            } else if c == open {
                quote = None;
            }
            continue;
        }
        if c == '/' && chars.peek() == Some(&'*') {
            chars.next();
            let mut last = ' ';
            for c in chars.by_ref() {
                if last == '*' && c == '/' {
                    break;
                }
                last = c;
            }
            is_space_due = true;
        } else if c.is_whitespace() {
            is_space_due = true;
        } else {
            let is_tight = plain.is_empty()
                || plain.ends_with(['{', '}', ';', ',', ':'])
                || matches!(c, '{' | '}' | ';' | ',');
            if is_space_due && !is_tight {
                plain.push(' ');
            }
            is_space_due = false;
            if c == '}' && plain.ends_with(';') {
                plain.pop();
            }
            if matches!(c, '"' | '\'') {
                quote = Some(c);
            }
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::plain_css;

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
        assert_ne!(plain_css(".a .b{c:d}"), plain_css(".a.b{c:d}"));
        assert_ne!(
            plain_css("a{content:\"a b\"}"),
            plain_css("a{content:\"ab\"}")
        );
        assert_eq!(
            plain_css("a{content:\"; }  \\\" /* */\"}"),
            "a{content:\"; }  \\\" /* */\"}"
        );
    }
}
