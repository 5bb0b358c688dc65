//! Proves that a page that was read back is as promised.

use crate::page::{DroppedRules, Field, PageReading, PageState, dropped_rules};

/// The result of comparing a reading with a promised state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The fields that are not as promised.
    pub differing: Vec<Field>,
    /// The fields that this key could not read back.
    pub unverified: Vec<Field>,
    /// True if the wiki stored the styles minified, as it does (W24).
    pub css_minified: bool,
    /// The rules of the sent styles that were not stored (W25).
    pub css_dropped: DroppedRules,
    /// The page as it was found; unreadable fields are as promised.
    pub found: PageState,
}

impl Proof {
    /// True if every readable field is as promised.
    pub const fn holds(&self) -> bool {
        self.differing.is_empty()
    }
}

/// Compares a page that was read back with its promised state.
///
/// New styles that are neither empty nor the old ones are compared rule by rule: if no effective
/// rule is missing, they were only minified (W24).
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

#[cfg(test)]
mod tests {
    use super::prove;
    use crate::page::testing::But as _;
    use crate::page::{Field, PageReading, PageState, testing};

    fn styled(css: &str) -> PageState {
        testing::page().but(|it| it.script_css = css.to_owned())
    }

    fn read(page: PageState) -> PageReading {
        PageReading::from(page)
    }

    #[test]
    fn a_page_as_promised_proves_it_and_another_names_what_differs() {
        let promised = testing::page();
        let proof = prove(&promised, None, &read(promised.clone()));
        assert!(proof.holds() && proof.unverified.is_empty() && !proof.css_minified);
        let other = promised.clone().but(|it| it.title = "Other".to_owned());
        let proof = prove(&promised, None, &read(other.clone()));
        assert!(!proof.holds());
        assert_eq!(proof.differing, [Field::Title]);
        assert_eq!(proof.found, other);
    }

    #[test]
    fn what_could_not_be_read_is_unverified_and_not_known_of_the_page_that_was_found() {
        let promised = styled("a{color:red}");
        let reading = read(promised.clone()).but(|it| it.script_css = None);
        let proof = prove(&promised, None, &reading);
        assert!(proof.holds());
        assert_eq!(proof.unverified, [Field::ScriptCss]);
        assert_eq!(proof.found.unknown, [Field::ScriptCss]);

        // Styles that this key cannot change need no look, if nobody said what they are.
        let keeps = reading.clone().but(|it| it.keeps_styles = true);
        let unsaid = promised
            .clone()
            .but(|it| it.unknown = vec![Field::ScriptCss]);
        assert_eq!(prove(&unsaid, None, &keeps).unverified, []);
        assert_eq!(
            prove(&unsaid, None, &keeps).found.unknown,
            [Field::ScriptCss]
        );
        assert_eq!(
            prove(&promised, None, &keeps).unverified,
            [Field::ScriptCss]
        );
        assert_eq!(
            prove(&unsaid, None, &reading).unverified,
            [Field::ScriptCss]
        );
        let titleless = keeps.but(|it| it.tags = None);
        let other = promised.but(|it| it.unknown = vec![Field::Tags, Field::ScriptCss]);
        assert_eq!(prove(&other, None, &titleless).unverified, [Field::Tags]);
    }

    #[test]
    fn new_styles_may_be_stored_otherwise_if_they_mean_the_same() {
        let promised = styled("a{color:red} b{color:blue}");
        // A plain comparison of the fields would already accept minified styles.
        let lost = read(styled("a{color:red}"));
        let kept = read(styled("b{color:blue}a{color:red}"));
        let before = styled("i{color:green}");
        let proof = prove(&promised, Some(&before), &lost);
        assert_eq!(proof.differing, [Field::ScriptCss]);
        assert!(!proof.css_minified && !proof.css_dropped.effective.is_empty());
        let proof = prove(&promised, Some(&before), &kept);
        assert_eq!(proof.css_minified, proof.holds());
        // The old styles, promised or found, are no stored form of new ones.
        let proof = prove(&promised, Some(&promised), &lost);
        assert_eq!(proof.differing, [Field::ScriptCss]);
        assert!(proof.css_dropped.effective.is_empty());
        let found = styled("a{color:red}");
        let proof = prove(&promised, Some(&found), &lost);
        assert_eq!(proof.differing, [Field::ScriptCss]);
        assert!(proof.css_dropped.effective.is_empty());
        // A page that was just made had no old styles.
        let proof = prove(&promised, None, &lost);
        assert!(!proof.css_dropped.effective.is_empty());
        // A difference in another field still counts.
        let other = styled("b{color:blue}a{color:red}").but(|it| it.title = "Other".to_owned());
        let proof = prove(&promised, Some(&before), &read(other));
        assert!(proof.differing.contains(&Field::Title));
    }
}
