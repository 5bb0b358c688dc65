//! A rule in words.

use std::fmt::{self, Display};

use super::rule::{Rule, RuleCondition, Then};
use crate::page::TagPattern;
use crate::words::joined;

impl Then {
    /// The consequence for a change, as the end of a sentence.
    const fn consequence(self) -> &'static str {
        match self {
            Self::Preview => "needs the token of a preview",
            Self::Person => "needs a person's yes",
            Self::Review => "waits until a person decides",
            Self::Deny => "is refused",
        }
    }
}

impl fmt::Display for Rule {
    /// `legal (deny): a change of pages below legal is refused; ask Ada`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({}): {} {}",
            self.name,
            self.then.as_str(),
            self.when,
            self.then.consequence()
        )?;
        match self.why.as_str() {
            "" => Ok(()),
            why => write!(f, "; {why}"),
        }
    }
}

impl fmt::Display for RuleCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts_set = self.pages_over.is_some() || self.deletes_over.is_some();
        match &self.operations {
            _ if counts_set => f.write_str("a set")?,
            None => f.write_str("a change")?,
            Some(operations) => {
                let words = operations
                    .iter()
                    .map(|one| format!("a {one}").replace("a update", "an update"));
                f.write_str(&joined(words, "or"))?;
            }
        }
        let operations = self.operations.as_ref().filter(|_| counts_set);
        let quoted = |tag: &TagPattern| format!("{:?}", tag.as_str());
        let tags = self.tags.as_ref();
        let tags: Option<Vec<String>> = tags.map(|tags| tags.iter().map(quoted).collect());
        let secret = "that adds a private key or a key or token of this wiki";
        let parts = [
            one_of("of pages at or below", self.paths.as_ref()),
            one_of("of changes of the kind", operations),
            one_of("of pages with the tag", tags.as_ref()),
            one_of("in", self.fields.as_ref()),
            one_of("by", self.clients.as_ref()),
            one_of("by the person", self.people.as_ref()),
            one_of("with the warning", self.warnings.as_ref()),
            self.grave_secret.then(|| secret.to_owned()),
        ];
        for part in parts.into_iter().flatten().chain(self.limits()) {
            write!(f, " {part}")?;
        }
        Ok(())
    }
}

/// A condition that one of these must meet.
fn one_of<T: Display>(before: &str, wanted: Option<&Vec<T>>) -> Option<String> {
    wanted.map(|wanted| format!("{before} {}", joined(wanted, "or")))
}

impl RuleCondition {
    /// Its numbers, each in words.
    fn limits(&self) -> impl Iterator<Item = String> {
        let limit = |over: Option<u64>, before: &str, after: &str| {
            over.map(|over| format!("{before} more than {over} {after}"))
        };
        let limits = [
            limit(self.lines_removed_over, "that removes", "lines"),
            limit(self.pages_over, "with", "pages asked for"),
            limit(self.deletes_over, "with", "deleted"),
            limit(
                self.writes_per_day_over,
                "by a client with",
                "writes in 24 hours",
            ),
        ];
        limits.into_iter().flatten()
    }
}

impl Rule {
    /// Its numbers and its reason, in words; empty if it has none.
    pub fn because(&self) -> String {
        let why = Some(self.why.clone()).filter(|why| !why.is_empty());
        let limits = self.when.limits().chain(why);
        limits.collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use crate::change::Operation;
    use crate::page::{Field, Prefix, TagPattern};
    use crate::rules::{Rule, RuleBook, RuleCondition, Then};

    #[test]
    fn rules_are_told_in_words() {
        let rule = |when, then, why: &str| Rule::new("x", when, then, why).unwrap().to_string();
        let prefix = |text: &str| Prefix::parse(text).unwrap();
        assert_eq!(
            rule(RuleCondition::default(), Then::Preview, ""),
            "x (preview): a change needs the token of a preview"
        );
        let when = RuleCondition {
            paths: Some(vec![prefix("legal"), prefix("de:recht")]),
            operations: Some(vec![Operation::Update, Operation::Delete]),
            fields: Some(vec![Field::Content]),
            tags: Some(vec![TagPattern::new("v*")]),
            clients: Some(vec!["ci".to_owned()]),
            warnings: Some(vec!["dead_link".to_owned()]),
            lines_removed_over: Some(5),
            writes_per_day_over: Some(50),
            ..RuleCondition::default()
        };
        assert_eq!(
            rule(when, Then::Review, "ask Ada"),
            "x (review): an update or a delete of pages at or below legal or de:recht of pages with the tag \"v*\" in content by ci with the warning dead_link that removes more than 5 lines by a client with more than 50 writes in 24 hours waits until a person decides; ask Ada"
        );
        let told: Vec<String> = RuleBook::default()
            .rules()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            told,
            [
                "secrets (deny): a change that adds a private key or a key or token of this wiki is refused; a private key or a key of this wiki on a page is everybody's",
                "large-sets (review): a set with more than 20 pages asked for waits until a person decides; many pages at once deserve a person's look",
                "large-sets (review): a set with more than 1 deleted waits until a person decides; several deletes at once deserve a person's look",
            ]
        );
    }
}
