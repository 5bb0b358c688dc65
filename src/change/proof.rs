//! Whether a page that was read back is the page that was promised.

use crate::page::{DroppedRules, Field, PageReading, PageState, dropped_rules};

/// What a reading proves of a promised state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The fields that are not as promised.
    pub differing: Vec<Field>,
    /// The fields that this key could not read back.
    pub unverified: Vec<Field>,
    /// Whether the wiki stored other styles than were sent, in the way it does (W24).
    pub css_minified: bool,
    /// The rules of the styles that were sent and are not stored (W25).
    pub css_dropped: DroppedRules,
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
/// New styles that are neither gone nor the old ones are compared rule by rule: where no rule
/// that does something is missing, they were minified further (W24).
#[must_use]
pub fn prove(promised: &PageState, before: Option<&PageState>, reading: &PageReading) -> Proof {
    let mut found = reading.laid_over(promised);
    let unverified: Vec<Field> = reading
        .unreadable()
        .into_keys()
        // What the key cannot change it need not read back.
        .filter(|field| {
            !(reading.keeps_styles && *field == Field::ScriptCss && !promised.knows(*field))
        })
        .collect();
    for field in &unverified {
        if found.knows(*field) {
            found.unknown.push(*field);
        }
    }
    let mut differing = promised.difference(&found);
    let mut css_minified = false;
    let mut css_dropped = DroppedRules::default();
    let is_old =
        |state: &PageState| before.is_some_and(|before| before.same(state, Field::ScriptCss));
    if differing.contains(&Field::ScriptCss) && !is_old(promised) && !is_old(&found) {
        css_dropped = dropped_rules(&promised.script_css, &found.script_css);
        css_minified = css_dropped.effective.is_empty();
        if css_minified {
            differing.retain(|field| *field != Field::ScriptCss);
        }
    }
    Proof {
        differing,
        unverified,
        css_minified,
        css_dropped,
        found,
    }
}
