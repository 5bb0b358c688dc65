//! Whether a page that was read back is the page that was promised.

use crate::page::{Field, PageState};
use crate::wiki::PageReading;

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
/// The styles are compared without white space and comments, which the wiki drops (W24). New
/// ones that still differ, but are neither gone nor the old ones, were minified further.
#[must_use]
pub fn prove(promised: &PageState, before: Option<&PageState>, reading: &PageReading) -> Proof {
    let found = reading.laid_over(promised);
    let mut differing = promised.difference(&found);
    let mut css_minified = false;
    if differing.contains(&Field::ScriptCss) {
        let old = before.map_or("", |before| before.script_css.as_str());
        let is_new = bare_css(&promised.script_css) != bare_css(old);
        let is_minified = bare_css(&promised.script_css) == bare_css(&found.script_css)
            || (is_new
                && !found.script_css.is_empty()
                && bare_css(&found.script_css) != bare_css(old));
        if is_minified {
            differing.retain(|field| *field != Field::ScriptCss);
            css_minified = true;
        }
    }
    Proof {
        differing,
        unverified: reading.unreadable().into_keys().collect(),
        css_minified,
        found,
    }
}

/// Styles without white space and comments.
fn bare_css(css: &str) -> String {
    let mut bare = String::with_capacity(css.len());
    let mut rest = css;
    while let Some((text, comment)) = rest.split_once("/*") {
        bare.extend(text.chars().filter(|c| !c.is_whitespace()));
        rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
    }
    bare.extend(rest.chars().filter(|c| !c.is_whitespace()));
    // The last semicolon of a block says nothing and goes too.
    bare.replace(";}", "}")
}

#[cfg(test)]
mod tests {
    use super::bare_css;

    #[test]
    fn white_space_comments_and_last_semicolons_do_not_count() {
        assert_eq!(
            bare_css("body { color: red; } /* x */\n"),
            "body{color:red}"
        );
        assert_eq!(bare_css("a{b:c}/* open"), "a{b:c}");
    }
}
