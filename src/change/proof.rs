//! Proves that a page that was read back is as promised.

use crate::page::{DroppedRules, Field, PageReading, PageState, dropped_rules};

/// What a reading proves of a promised state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The fields that are not as promised.
    pub differing: Vec<Field>,
    /// The fields that this key could not read back.
    pub unverified: Vec<Field>,
    /// Whether the wiki stored the styles minified, as it does (W24).
    pub css_minified: bool,
    /// The rules of the sent styles that were not stored (W25).
    pub css_dropped: DroppedRules,
    /// The page as it was found; unreadable fields are as promised.
    pub found: PageState,
}

impl Proof {
    /// Whether every readable field is as promised.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.differing.is_empty()
    }
}

/// Compares a page that was read back with its promised state.
///
/// New styles that are neither empty nor the old ones are compared rule by rule: if no effective
/// rule is missing, they were only minified (W24).
#[must_use]
pub fn prove(promised: &PageState, before: Option<&PageState>, reading: &PageReading) -> Proof {
    let mut found = reading.laid_over(promised);
    let unverified: Vec<Field> = reading
        .unreadable()
        .into_keys()
        // A field that the key cannot change need not be read back.
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
