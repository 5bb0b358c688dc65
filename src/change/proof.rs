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
/// New styles that do not mean what was sent, but are neither gone nor the old ones, were
/// minified further (W24).
#[must_use]
pub fn prove(promised: &PageState, before: Option<&PageState>, reading: &PageReading) -> Proof {
    let found = reading.laid_over(promised);
    let mut differing = promised.difference(&found);
    let mut css_minified = false;
    if differing.contains(&Field::ScriptCss) {
        let is_old = |state: &PageState| match before {
            Some(before) => before.same(state, Field::ScriptCss),
            None => state.script_css.is_empty(),
        };
        css_minified = !is_old(promised) && !is_old(&found) && !found.script_css.is_empty();
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
