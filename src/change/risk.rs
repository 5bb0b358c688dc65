//! Names the risks of a set of changes: for whoever decides on it, in every list and on every page.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Change, Operation, Warning};
use crate::page::Field;
use crate::words::words;

/// The warning that what the wiki keeps beside a deleted page is gone for good.
pub(crate) const LOST_FOR_GOOD: &str = "lost_for_good";

words! {
    /// A risk of a set of changes, in the order in which it is named.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Risk: as_str, ALL {
        /// A page, a comment or an asset goes.
        Deletes = "deletes",
        /// Undo cannot bring everything back.
        LosesForGood = "loses-for-good",
        /// Readers' browsers run a new script, or load something of another site.
        Scripts = "scripts",
        /// A secret is added.
        Secrets = "secrets",
        /// Text is added that readers do not see.
        HiddenText = "hidden-text",
        /// A page is not published any more.
        Unpublishes = "unpublishes",
        /// Tags change, by which the wiki may let people in.
        Tags = "tags",
        /// A check warns of something else.
        Warnings = "warnings",
    }
}

impl Risk {
    /// The risk with this word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|risk| risk.as_str() == word)
    }

    /// The risks of changes, by the kind and the fields of each, and by the codes of all warnings
    /// about them.
    pub fn classify<'a>(
        changes: impl IntoIterator<Item = (Operation, &'a [Field])>,
        codes: impl IntoIterator<Item = &'a str>,
    ) -> BTreeSet<Self> {
        let mut risks = BTreeSet::new();
        for (operation, fields) in changes {
            if operation.deletes() {
                risks.insert(Self::Deletes);
            }
            // A new page has tags of its own, and a deleted one has none any more.
            let is_change = matches!(operation, Operation::Update | Operation::Move);
            if is_change && fields.contains(&Field::Tags) {
                risks.insert(Self::Tags);
            }
        }
        risks.extend(codes.into_iter().map(Self::of_warning));
        risks
    }

    /// The risk that a warning is about, by its code.
    pub fn of_warning(code: &str) -> Self {
        match code {
            LOST_FOR_GOOD => Self::Deletes,
            "loss_accepted" | "cannot_return" => Self::LosesForGood,
            "script_added" | "foreign_resource_added" => Self::Scripts,
            "secret_added" => Self::Secrets,
            "hidden_text_added" => Self::HiddenText,
            "unpublished" => Self::Unpublishes,
            _ => Self::Warnings,
        }
    }
}

impl Change {
    /// The warning that names what of a deleted page nothing brings back.
    pub fn lost_for_good(&self) -> Option<Warning> {
        (self.operation() == Operation::Delete).then(|| {
            let lost = "the wiki keeps no history, comments or id of a deleted page; the audit log \
                        keeps the page itself.";
            Warning::new(LOST_FOR_GOOD, lost)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Operation, Risk};
    use crate::page::Field;

    fn words(changes: &[(Operation, &[Field])], codes: &[&str]) -> Vec<&'static str> {
        let risks = Risk::classify(changes.iter().copied(), codes.iter().copied());
        risks.into_iter().map(Risk::as_str).collect()
    }

    #[test]
    fn risks_are_named_once_and_the_gravest_first() {
        let update: (Operation, &[Field]) = (Operation::Update, &[Field::Content, Field::Tags]);
        let delete: (Operation, &[Field]) = (Operation::DeleteAsset, &[]);
        let codes = ["dead_link", "script_added", "links_break", "unpublished"];
        assert_eq!(
            words(&[update, delete, update], &codes),
            ["deletes", "scripts", "unpublishes", "tags", "warnings"]
        );
        assert_eq!(
            words(&[], &["secret_added", "hidden_text_added"]),
            ["secrets", "hidden-text"]
        );
        assert_eq!(words(&[], &["check:spelling"]), ["warnings"]);
    }

    #[test]
    fn an_edit_and_a_new_page_with_tags_are_no_risk() {
        let edit: (Operation, &[Field]) = (Operation::Update, &[Field::Content]);
        let create: (Operation, &[Field]) = (Operation::Create, &[Field::Tags]);
        assert!(words(&[edit, create], &[]).is_empty());
    }

    #[test]
    fn each_word_names_its_risk() {
        for risk in Risk::ALL {
            assert_eq!(Risk::named(risk.as_str()), Some(risk));
        }
        assert_eq!(Risk::named("Deletes"), None);
    }
}
