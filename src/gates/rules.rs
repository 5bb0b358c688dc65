//! The gate *rules*: what an operator's rules ask of a set beyond the other gates.

use super::{AllowedSet, ChangeSet, Gate, Gated, Refusal};
use crate::error::{Code, Failure};
use crate::rules::{Facts, Rule, Then};

/// A rule's demand for a set that nobody has decided.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Demand {
    /// The demand; never `deny`, which is an error.
    pub then: Then,
    /// The rule and its reason, as the middle of a sentence.
    pub rule: String,
}

/// Proof that the places of a set are allowed and that every rule is satisfied. The gate *confirm*
/// takes nothing else.
///
/// Nothing outside the gates can make one:
///
/// ```compile_fail,E0451
/// use wikijs_gate_core::gates::{AllowedSet, Cleared};
/// fn forge(allowed: AllowedSet<'_>) -> Cleared<'_> {
///     Cleared { allowed }
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Cleared<'p> {
    pub(super) allowed: AllowedSet<'p>,
}

impl<'p> Cleared<'p> {
    /// The set.
    pub const fn set(&self) -> &ChangeSet {
        self.allowed.set()
    }

    /// The proof of the gate *paths*, for a set that is not sent now.
    pub fn into_allowed(self) -> AllowedSet<'p> {
        self.allowed
    }
}

/// The rules' verdict on a set.
#[derive(Debug)]
#[must_use]
pub enum Ruled<'p> {
    /// It may be confirmed.
    Cleared(Cleared<'p>),
    /// A rule demands more; the set cannot be confirmed.
    Demands(AllowedSet<'p>, Demand),
}

/// Clears a set unless a rule denies it or demands more than the strictest demand that is met.
///
/// The rules are those of the policy that the gates before this one saw.
///
/// # Errors
/// `RULE_DENIED`, with the rule and why it stands.
pub fn rules<'p>(allowed: AllowedSet<'p>, facts: &Facts, met: Option<Then>) -> Gated<Ruled<'p>> {
    let Some(rule) = allowed.enabled.policy.rules.verdict(facts) else {
        return Ok(Ruled::Cleared(Cleared { allowed }));
    };
    match rule.then {
        Then::Deny => Err(denied(rule)),
        then if met >= Some(then) => Ok(Ruled::Cleared(Cleared { allowed })),
        then => {
            let rule = named(rule);
            Ok(Ruled::Demands(allowed, Demand { then, rule }))
        }
    }
}

fn denied(rule: &Rule) -> Refusal {
    let failure = Failure::new(Code::RuleDenied, "The operator's rules deny this write.")
        .detail("rule", &*rule.name)
        .detail_if("why", Some(&*rule.why).filter(|why| !why.is_empty()));
    Refusal::at(Gate::Rules, failure)
}

fn named(rule: &Rule) -> String {
    match rule.because().as_str() {
        "" => rule.name.clone(),
        because => format!("{} ({because})", rule.name),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Ruled, rules};
    use crate::audit::CallId;
    use crate::change::Change;
    use crate::error::Code;
    use crate::gates::{ChangeSet, Policy, SessionId, WritePolicy, enabled, paths};
    use crate::page::testing::{But as _, page};
    use crate::rules::{BUILT_IN, ChangeFacts, Facts, Rule, RuleBook, RuleCondition, Then};

    fn facts() -> Facts {
        Facts::default().but(|it| it.changes = vec![ChangeFacts::empty()])
    }

    fn policy(rules: Vec<Rule>) -> Policy {
        Policy {
            writes: WritePolicy::Preview,
            rules: Arc::new(RuleBook::new(rules, &BUILT_IN).unwrap()),
            ..Policy::default()
        }
    }

    fn legal(then: Then) -> Policy {
        policy(vec![
            Rule::new("legal", RuleCondition::default(), then, "ask Ada").unwrap(),
        ])
    }

    /// The gate's verdict on a delete: `None` if it is cleared, else a demand or a refusal's rule.
    fn said(policy: &Policy, facts: &Facts, met: Option<Then>) -> Option<(Then, String)> {
        let opened = enabled(policy, &SessionId::new("s"), None).unwrap();
        let set = ChangeSet::single(CallId::new().unwrap(), Change::delete(page()));
        match rules(paths(opened, set.clone()).unwrap(), facts, met) {
            Ok(Ruled::Cleared(cleared)) => {
                assert!(cleared.set().is_same_write(&set));
                None
            }
            Ok(Ruled::Demands(allowed, demand)) => {
                assert!(allowed.set().is_same_write(&set));
                Some((demand.then, demand.rule))
            }
            Err(refusal) => {
                assert_eq!(refusal.failure.code, Code::RuleDenied);
                assert_eq!(refusal.failure.details["rule"], "legal");
                assert_eq!(refusal.failure.details["why"], "ask Ada");
                Some((Then::Deny, "legal (ask Ada)".to_owned()))
            }
        }
    }

    #[test]
    fn only_what_a_rule_asks_for_clears_a_set_and_nothing_clears_a_denied_one() {
        for (then, met, is_cleared) in [
            (Then::Preview, None, false),
            (Then::Preview, Some(Then::Preview), true),
            (Then::Preview, Some(Then::Person), true),
            (Then::Preview, Some(Then::Review), true),
            (Then::Person, None, false),
            (Then::Person, Some(Then::Preview), false),
            (Then::Person, Some(Then::Person), true),
            (Then::Person, Some(Then::Review), true),
            (Then::Review, None, false),
            (Then::Review, Some(Then::Preview), false),
            (Then::Review, Some(Then::Person), false),
            (Then::Review, Some(Then::Review), true),
            (Then::Deny, None, false),
            (Then::Deny, Some(Then::Preview), false),
            (Then::Deny, Some(Then::Person), false),
            (Then::Deny, Some(Then::Review), false),
        ] {
            let demand = (!is_cleared).then(|| (then, "legal (ask Ada)".to_owned()));
            assert_eq!(said(&legal(then), &facts(), met), demand, "{met:?}");
        }
    }

    #[test]
    fn where_no_rule_holds_nothing_is_asked() {
        assert_eq!(said(&policy(Vec::new()), &facts(), None), None);
        let nothing = Facts::default();
        assert_eq!(said(&legal(Then::Deny), &nothing, None), None);
    }
}
