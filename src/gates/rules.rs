//! The gate *rules*: what an operator's rules ask of a set beyond the other gates.

use super::refusal::{Gate, Refusal};
use crate::error::{Code, Failure};
use crate::rules::{Facts, Rule, RuleBook, Then};

/// What a rule asks of a set that no person has decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub(crate) struct Demand {
    /// What it asks; never `deny`, which is an error.
    pub(crate) then: Then,
    /// Which rule, and why, as the middle of a sentence.
    pub(crate) rule: String,
}

/// Opens unless a rule denies the set; says what the strictest rule asks where that is more. A
/// person's decision satisfies all of it but `deny`.
///
/// # Errors
/// `RULE_DENIED`, with the rule and why it stands.
pub(crate) fn rules(
    book: &RuleBook,
    facts: &Facts,
    is_decided: bool,
) -> Result<Option<Demand>, Refusal> {
    let Some(verdict) = book.verdict(facts) else {
        return Ok(None);
    };
    match verdict.then() {
        Then::Deny => Err(denied(
            verdict.rule,
            "The operator's rules deny this write.",
        )),
        _ if is_decided => Ok(None),
        then => Ok(Some(Demand {
            then,
            rule: named(verdict.rule),
        })),
    }
}

/// The refusal of a set that a rule leaves to a person, where somebody wants it sent undecided.
pub(crate) fn undecided(demand: &Demand) -> Refusal {
    let failure = Failure::new(
        Code::RuleDenied,
        "A rule of the operator wants a person's decision, and --yes is none.",
    );
    let failure = failure.hint("Run the command without --yes and look at the change.");
    Refusal::at(Gate::Rules, failure.detail("rule", demand.rule.as_str()))
}

fn denied(rule: &Rule, message: &str) -> Refusal {
    let mut failure = Failure::new(Code::RuleDenied, message).detail("rule", rule.name());
    if !rule.why().is_empty() {
        failure = failure.detail("why", rule.why());
    }
    Refusal::at(Gate::Rules, failure)
}

fn named(rule: &Rule) -> String {
    match rule.why() {
        "" => rule.name().to_owned(),
        why => format!("{} ({why})", rule.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::{rules, undecided};
    use crate::error::Code;
    use crate::rules::{BUILT_IN, ChangeFacts, Facts, Rule, RuleBook, Then, When};

    fn facts() -> Facts {
        Facts {
            changes: vec![ChangeFacts::empty()],
            ..Facts::default()
        }
    }

    fn book(then: Then) -> RuleBook {
        let rule = Rule::new("legal", When::default(), then, "ask Ada").unwrap();
        RuleBook::new(vec![rule], &BUILT_IN).unwrap()
    }

    #[test]
    fn a_persons_decision_satisfies_every_rule_but_deny() {
        for then in [Then::Preview, Then::Person, Then::Review] {
            let demand = rules(&book(then), &facts(), false).unwrap().unwrap();
            assert_eq!((demand.then, &*demand.rule), (then, "legal (ask Ada)"));
            assert_eq!(rules(&book(then), &facts(), true).unwrap(), None);
            assert_eq!(undecided(&demand).failure.code, Code::RuleDenied);
        }
        for is_decided in [false, true] {
            let refusal = rules(&book(Then::Deny), &facts(), is_decided).unwrap_err();
            assert_eq!(refusal.failure.code, Code::RuleDenied);
            assert_eq!(refusal.failure.details["rule"], "legal");
            assert_eq!(refusal.failure.details["why"], "ask Ada");
        }
    }

    #[test]
    fn where_no_rule_holds_nothing_is_asked() {
        let none = RuleBook::new(Vec::new(), &BUILT_IN).unwrap();
        assert_eq!(rules(&none, &facts(), false).unwrap(), None);
        assert_eq!(
            rules(&book(Then::Deny), &Facts::default(), false).unwrap(),
            None
        );
    }
}
