//! All rules of a server.

use std::sync::LazyLock;

use super::rule::{Rule, RuleCondition, Then};

/// The names of the rules that come with the program.
pub const BUILT_IN: [&str; 2] = ["secrets", "large-sets"];

/// The most pages that a set may ask for before somebody reviews it.
const MOST_PAGES: u64 = 20;
/// The most deletes that a set may ask for before somebody reviews it.
const MOST_DELETES: u64 = 1;
/// The most rules of an operator.
const MOST_RULES: usize = 200;

static RULES: LazyLock<[Rule; 3]> = LazyLock::new(|| {
    [
        Rule {
            name: "secrets".to_owned(),
            when: RuleCondition {
                grave_secret: true,
                ..RuleCondition::default()
            },
            then: Then::Deny,
            why: "a private key or a key of this wiki on a page is everybody's".to_owned(),
        },
        Rule {
            name: "large-sets".to_owned(),
            when: RuleCondition {
                pages_over: Some(MOST_PAGES),
                ..RuleCondition::default()
            },
            then: Then::Review,
            why: "many pages at once deserve a person's look".to_owned(),
        },
        Rule {
            name: "large-sets".to_owned(),
            when: RuleCondition {
                deletes_over: Some(MOST_DELETES),
                ..RuleCondition::default()
            },
            then: Then::Review,
            why: "several deletes at once deserve a person's look".to_owned(),
        },
    ]
});

/// All rules of a server: the built-in ones that are not switched off, then the operator's. The
/// default has the built-in ones alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleBook {
    rules: Vec<Rule>,
}

impl Default for RuleBook {
    fn default() -> Self {
        Self {
            rules: RULES.to_vec(),
        }
    }
}

impl RuleBook {
    /// The operator's rules, and the built-in ones except those that are switched off.
    ///
    /// # Errors
    /// One sentence, if there are too many rules or a name stands for two.
    pub fn new(rules: Vec<Rule>, off: &[&str]) -> Result<Self, String> {
        if rules.len() > MOST_RULES {
            return Err(format!("there are more than {MOST_RULES} rules"));
        }
        for (at, rule) in rules.iter().enumerate() {
            if BUILT_IN.contains(&&*rule.name) {
                return Err(format!(
                    "the name {:?} is a built-in rule's; give this one another",
                    rule.name
                ));
            }
            let is_same = |other: &Rule| other.name == rule.name;
            if rules.iter().take(at).any(is_same) {
                return Err(format!("two rules have the name {:?}", rule.name));
            }
        }
        let built_in = RULES.iter().filter(|rule| !off.contains(&&*rule.name));
        Ok(Self {
            rules: built_in.cloned().chain(rules).collect(),
        })
    }

    /// The rules, in the order in which they are tried.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// True if a rule is about one of these warnings.
    pub fn names_any(&self, codes: &[&str]) -> bool {
        let mut warnings = self.rules().filter_map(|rule| rule.when.warnings.as_ref());
        warnings.any(|all| all.iter().any(|code| codes.contains(&code.as_str())))
    }

    /// True if a rule counts a client's writes of a day.
    pub fn counts_writes(&self) -> bool {
        let mut rules = self.rules();
        rules.any(|rule| rule.when.writes_per_day_over.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::{BUILT_IN, RULES, RuleBook};
    use crate::rules::{Rule, RuleCondition, Then};

    fn rule(name: &str) -> Rule {
        Rule::new(name, RuleCondition::default(), Then::Deny, "").unwrap()
    }

    #[test]
    fn a_name_stands_for_one_rule() {
        assert!(RuleBook::new(vec![rule("a"), rule("b")], &[]).is_ok());
        assert!(RuleBook::new(vec![rule("a"), rule("a")], &[]).is_err());
        for built_in in BUILT_IN {
            assert!(RuleBook::new(vec![rule(built_in)], &BUILT_IN).is_err());
            assert!(RULES.iter().any(|rule| rule.name == built_in));
        }
        assert!(RuleBook::new(vec![rule("a"); 201], &[]).is_err());
    }
}
