//! A rule: which changes it is about, and what they need.

use serde::Serialize;

use crate::change::{Operation, Warning};
use crate::page::{Field, Prefix, TagPattern};
use crate::words::words;

words! {
    /// The demand of a rule on a change, from the mildest to the strictest.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Then: as_str, ALL {
        /// A preview, and its token.
        Preview = "preview",
        /// A person's yes, asked for during the call.
        Person = "person",
        /// The change stays open until a person decides.
        Review = "review",
        /// The change is refused in any case.
        Deny = "deny",
    }
}

/// The changes that a rule is about: every given condition must hold. Of a list, one member must
/// match; `None` selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleCondition {
    /// The page is or will be at or below one of these.
    pub paths: Option<Vec<Prefix>>,
    /// The operations on the page. An update that also moves it counts as both.
    pub operations: Option<Vec<Operation>>,
    /// One of these fields changes.
    pub fields: Option<Vec<Field>>,
    /// The page has such a tag, before or after.
    pub tags: Option<Vec<TagPattern>>,
    /// A client with one of these names asks for it; letter case is ignored.
    pub clients: Option<Vec<String>>,
    /// A person who signed in with one of these names or subjects asks for it; letter case of a name
    /// is ignored.
    pub people: Option<Vec<String>>,
    /// A check warns of the change with one of these codes.
    pub warnings: Option<Vec<String>>,
    /// More lines of the page's content are removed than this.
    pub lines_removed_over: Option<u64>,
    /// More such changes in the set were asked for than this.
    pub pages_over: Option<u64>,
    /// More such deletes in the set were asked for than this.
    pub deletes_over: Option<u64>,
    /// The client has made more writes in the last 24 hours than this.
    pub writes_per_day_over: Option<u64>,
    /// The change adds a private key or a credential of this wiki. Only built-in rules have this
    /// condition.
    pub(super) grave_secret: bool,
}

/// A rule of an operator, or one that is built in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub name: String,
    pub(super) when: RuleCondition,
    /// The rule's demand on the changes that it matches.
    pub then: Then,
    /// The operator's reason for it; may be empty.
    pub why: String,
}

/// The longest name, in characters.
const LONGEST_NAME: usize = 60;
/// The longest reason, in characters.
const LONGEST_WHY: usize = 200;

impl Rule {
    /// A rule of an operator.
    ///
    /// # Errors
    /// One fragment about its name or reason.
    pub fn new(
        name: impl Into<String>,
        when: RuleCondition,
        then: Then,
        why: impl Into<String>,
    ) -> Result<Self, String> {
        let (name, why) = (name.into(), why.into());
        let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_letter) {
            return Err(format!(
                "name must have 1 to {LONGEST_NAME} letters, digits, \"-\" and \"_\""
            ));
        }
        if why.chars().count() > LONGEST_WHY || why.chars().any(char::is_control) {
            return Err(format!(
                "why must be one line of at most {LONGEST_WHY} characters"
            ));
        }
        Ok(Self {
            name,
            when,
            then,
            why,
        })
    }

    /// True if it is about people who signed in.
    pub const fn names_people(&self) -> bool {
        self.when.people.is_some()
    }

    /// Its paths that probably match no page, each with the reason.
    pub fn doubts(&self) -> impl Iterator<Item = (&Prefix, &'static str)> {
        let paths = self.when.paths.iter().flatten();
        paths.filter_map(|path| Some((path, path.doubt()?)))
    }

    /// The reason why no change can match the rule, if none can.
    pub fn matches_nothing(&self, allowed: Option<&[Prefix]>, denied: &[Prefix]) -> Option<String> {
        let when = &self.when;
        let operations = when.operations.as_deref();
        let only = |wanted: &[Operation]| {
            operations.is_some_and(|all| all.iter().all(|one| wanted.contains(one)))
        };
        if let Some(paths) = &when.paths {
            let is_open = |path: &Prefix| {
                let meets = |all: &[Prefix]| all.iter().any(|one| one.and(path).is_some());
                let is_denied = denied
                    .iter()
                    .any(|one| one.and(path).as_ref() == Some(path));
                allowed.is_none_or(meets) && !is_denied
            };
            if !paths.iter().any(is_open) {
                return Some("nothing may be written below its paths".to_owned());
            }
        }
        let is_about_deletes = operations.is_none_or(|all| all.contains(&Operation::Delete));
        if when.deletes_over.is_some() && !is_about_deletes {
            return Some("it counts deletes and is about none".to_owned());
        }
        let changes_no_place = |fields: &Vec<Field>| !fields.iter().any(|field| field.is_place());
        if only(&[Operation::Move]) && when.fields.as_ref().is_some_and(changes_no_place) {
            return Some("a move changes path and locale alone".to_owned());
        }
        let counts_removed = when.lines_removed_over.is_some();
        if counts_removed && only(&[Operation::Create]) {
            return Some("a create removes no lines".to_owned());
        }
        let all_of = |known: &[&str]| {
            let codes = when.warnings.as_ref();
            codes.is_some_and(|codes| codes.iter().all(|code| known.contains(&code.as_str())))
        };
        if only(&[Operation::Create]) && all_of(&OF_THERE) {
            return Some("its warnings are about pages that are there".to_owned());
        }
        let leaves = ["cannot_return", "links_break"];
        // An operator's own checks look at deletes, too.
        let is_of_leaving = |code: &String| {
            leaves.contains(&code.as_str()) || code.starts_with(Warning::OF_OPERATOR)
        };
        if only(&[Operation::Delete])
            && when
                .warnings
                .as_ref()
                .is_some_and(|codes| !codes.iter().any(is_of_leaving))
        {
            return Some("a delete adds nothing that its warnings are about".to_owned());
        }
        (when.pages_over.is_some_and(|over| over >= MOST_ASKED_FOR)
            || when.deletes_over.is_some_and(|over| over >= MOST_ASKED_FOR))
        .then(|| format!("a set has at most {MOST_ASKED_FOR} changes that were asked for"))
    }
}

/// The codes of warnings that no new page gets.
const OF_THERE: [&str; 7] = [
    "links_break",
    "own_links_break",
    "much_removed",
    "heading_dropped",
    "tags_dropped",
    "cannot_return",
    "unpublished",
];

/// The most changes that one set can ask for.
const MOST_ASKED_FOR: u64 = 200;

#[cfg(test)]
mod tests {
    use super::{Rule, RuleCondition, Then};
    use crate::change::Operation;
    use crate::page::testing::But as _;
    use crate::page::{Field, Prefix};

    fn prefixes(texts: &[&str]) -> Vec<Prefix> {
        texts
            .iter()
            .map(|text| Prefix::parse(text).unwrap())
            .collect()
    }

    #[test]
    fn names_and_reasons_have_bounds() {
        let rule =
            |name: &str, why: &str| Rule::new(name, RuleCondition::default(), Then::Deny, why);
        assert!(rule("legal-pages_2", "ask Ada").is_ok());
        assert!(rule("x", "").is_ok());
        for bad in ["", "a b", "ä", "a.b", &"x".repeat(61)] {
            assert!(rule(bad, "").is_err(), "{bad}");
        }
        for bad in ["a\nb", &"x".repeat(201)] {
            assert!(rule("x", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_rule_that_can_be_about_no_change_is_found() {
        let (allowed, denied) = (prefixes(&["docs", "notes"]), prefixes(&["docs/secret"]));
        let of_new = |codes: &[&str]| RuleCondition {
            operations: Some(vec![Operation::Create]),
            warnings: Some(codes.iter().map(|code| (*code).to_owned()).collect()),
            ..RuleCondition::default()
        };
        for (when, matches_nothing) in [
            (RuleCondition::default(), false),
            (
                RuleCondition::default().but(|it| it.paths = Some(prefixes(&["docs/legal"]))),
                false,
            ),
            (
                RuleCondition::default().but(|it| it.paths = Some(prefixes(&["legal"]))),
                true,
            ),
            (
                RuleCondition::default()
                    .but(|it| it.paths = Some(prefixes(&["docs/secret/plans"]))),
                true,
            ),
            (
                RuleCondition::default()
                    .but(|it| it.paths = Some(prefixes(&["docs/secret", "docs"]))),
                false,
            ),
            (
                RuleCondition {
                    operations: Some(vec![Operation::Move]),
                    fields: Some(vec![Field::Title]),
                    ..RuleCondition::default()
                },
                true,
            ),
            (
                RuleCondition {
                    operations: Some(vec![Operation::Move, Operation::Update]),
                    fields: Some(vec![Field::Title]),
                    ..RuleCondition::default()
                },
                false,
            ),
            (
                RuleCondition {
                    operations: Some(vec![Operation::Create]),
                    lines_removed_over: Some(3),
                    ..RuleCondition::default()
                },
                true,
            ),
            (
                RuleCondition {
                    operations: Some(vec![Operation::Update]),
                    deletes_over: Some(3),
                    ..RuleCondition::default()
                },
                true,
            ),
            (
                RuleCondition {
                    operations: Some(vec![Operation::Delete]),
                    warnings: Some(vec!["script_added".to_owned()]),
                    ..RuleCondition::default()
                },
                true,
            ),
            (
                RuleCondition {
                    operations: Some(vec![Operation::Delete]),
                    warnings: Some(vec!["check:links".to_owned()]),
                    ..RuleCondition::default()
                },
                false,
            ),
            (
                RuleCondition {
                    operations: Some(vec![Operation::Delete]),
                    warnings: Some(vec!["links_break".to_owned()]),
                    ..RuleCondition::default()
                },
                false,
            ),
            (of_new(&["links_break", "unpublished"]), true),
            (of_new(&["links_break", "dead_link"]), false),
            (
                RuleCondition::default().but(|it| it.pages_over = Some(200)),
                true,
            ),
        ] {
            let rule = Rule::new("x", when, Then::Deny, "").unwrap();
            let found = rule.matches_nothing(Some(&allowed), &denied);
            assert_eq!(found.is_some(), matches_nothing, "{rule:?}: {found:?}");
        }
    }
}
