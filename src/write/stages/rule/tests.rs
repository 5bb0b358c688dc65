use std::sync::Arc;

use super::{RuledRoute, facts, held};
use crate::audit::CallId;
use crate::change::Change;
use crate::error::Code;
use crate::gates::{
    ApprovalScope, Approvals, Approved, Approver, Gate, Policy, Refusal, StaticToken, WritePolicy,
    enabled, paths,
};
use crate::page::LineCounts;
use crate::page::testing::page;
use crate::rules::{ChangeFacts, Rule, RuleBook, RuleCondition, Then};
use crate::write::asker::{Asker, Handout};
use crate::write::route::{Route, Warrant};
use crate::write::stages::check::SetCheck;
use crate::write::stages::record;
use crate::write::testing::{
    Office, caller, checked, docket, permit, person, policy, session, set, update,
};

const TOKEN: &str = "open sesame, please";

fn token() -> WritePolicy {
    WritePolicy::Token(StaticToken::new(TOKEN.into()).unwrap())
}

/// A policy with one rule, which is about every change.
fn with_rule(writes: WritePolicy, then: Option<Then>) -> Policy {
    let rule = then.map(|then| Rule::new("x", RuleCondition::default(), then, "because").unwrap());
    let off = ["secrets", "large-sets"];
    let rules = RuleBook::new(rule.into_iter().collect(), &off).unwrap();
    Policy {
        rules: Arc::new(rules),
        ..policy(writes)
    }
}

fn yes() -> Approved {
    let (set, approver) = (
        set(Change::delete(page())),
        Approver::new(&session(), &crate::audit::Client::default()),
    );
    let call = CallId::new().unwrap();
    let given = Approvals::default().give(approver, set, ApprovalScope::Once, call);
    given.unwrap()
}

fn shown() -> Route {
    Route::Send(Warrant::Preview("token".to_owned()))
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum By {
    /// A client that can ask nobody.
    Alone,
    /// A client that can ask a person.
    Beside,
    /// An operator who looked at the change and decided.
    Operator,
}

/// The way of a set, as a word, and whether a warning names the rule.
async fn way(
    policy: &Policy,
    route: Route,
    by: By,
    checked: &mut SetCheck,
) -> Result<(&'static str, bool), Refusal> {
    let office = Office::new(policy.clone());
    let caller = caller(match by {
        By::Beside => Asker::Between(Handout::new().0),
        By::Alone | By::Operator => Asker::Nobody,
    });
    let enabled = enabled(policy, &session(), Some(TOKEN)).unwrap();
    let allowed = paths(enabled, set(Change::delete(page()))).unwrap();
    let way = held(&office.desk, policy, &caller, allowed, checked, route).await?;
    let word = match way {
        RuledRoute::Send(..) => "send",
        RuledRoute::Preview(_) => "preview",
        RuledRoute::Open(_) => "open",
        RuledRoute::Ask(_) => "ask",
        RuledRoute::Join(_) => "join",
    };
    let mut codes = checked.notes.warnings.iter().map(|one| &*one.code);
    Ok((word, codes.any(|code| code == "rule")))
}

/// Checks whose facts are of one change.
fn one_change() -> SetCheck {
    SetCheck {
        facts: vec![ChangeFacts::empty()],
        ..checked()
    }
}

#[tokio::test]
async fn a_rule_makes_the_way_of_a_set_stricter_and_never_milder() {
    use By::{Alone, Beside, Operator};
    use Then::{Person, Preview, Review};
    let tokens = || WritePolicy::Preview;
    let dry = || WritePolicy::DryRun;
    for (writes, then, route, by, way_of_it, is_named) in [
        // Without a rule the route stays.
        (tokens(), None, Route::Preview, Alone, "preview", false),
        (tokens(), None, Route::Open, Alone, "open", false),
        (tokens(), None, Route::Join, Alone, "join", false),
        (tokens(), None, shown(), Alone, "send", false),
        (person(), None, Route::Ask, Beside, "ask", false),
        (
            token(),
            None,
            Route::Send(Warrant::StaticToken),
            Alone,
            "send",
            false,
        ),
        // Where previews confirm.
        (
            tokens(),
            Some(Preview),
            Route::Preview,
            Alone,
            "preview",
            false,
        ),
        (tokens(), Some(Preview), shown(), Alone, "send", false),
        (dry(), Some(Preview), Route::Open, Alone, "open", false),
        (tokens(), Some(Person), Route::Preview, Beside, "ask", false),
        (tokens(), Some(Person), shown(), Beside, "ask", false),
        (tokens(), Some(Person), Route::Preview, Alone, "open", true),
        (tokens(), Some(Person), shown(), Alone, "open", true),
        (dry(), Some(Person), Route::Open, Beside, "open", true),
        (tokens(), Some(Review), Route::Preview, Beside, "open", true),
        (tokens(), Some(Review), shown(), Beside, "open", true),
        // A static token shows nobody anything.
        (
            token(),
            Some(Preview),
            Route::Send(Warrant::StaticToken),
            Alone,
            "open",
            false,
        ),
        (
            token(),
            Some(Person),
            Route::Send(Warrant::StaticToken),
            Beside,
            "open",
            true,
        ),
        // The person at the client is asked anyway, and decides unless a reviewer shall.
        (person(), Some(Preview), Route::Ask, Beside, "ask", false),
        (person(), Some(Person), Route::Ask, Beside, "ask", false),
        (person(), Some(Review), Route::Ask, Beside, "open", true),
        (
            person(),
            Some(Person),
            Route::Send(Warrant::Person(yes())),
            Beside,
            "send",
            false,
        ),
        (
            person(),
            Some(Review),
            Route::Send(Warrant::Person(yes())),
            Beside,
            "open",
            true,
        ),
        // The operator sees it first, and decides then.
        (
            tokens(),
            Some(Review),
            Route::Preview,
            Operator,
            "preview",
            false,
        ),
        (tokens(), Some(Review), shown(), Operator, "send", false),
        // A draft is held against the rules as a whole, when it is submitted.
        (tokens(), Some(Review), Route::Join, Beside, "join", true),
    ] {
        let mut policy = with_rule(writes, then);
        if by == Operator {
            policy = policy.for_operator();
        }
        let told = format!("{:?} {then:?} {by:?} {way_of_it}", policy.writes);
        let found = way(&policy, route, by, &mut one_change()).await;
        assert_eq!(found.unwrap(), (way_of_it, is_named), "{told}");
    }
}

#[tokio::test]
async fn what_a_rule_denies_goes_no_way() {
    let routes = || {
        [
            Route::Preview,
            Route::Open,
            Route::Ask,
            Route::Join,
            shown(),
        ]
    };
    for route in routes() {
        let policy = with_rule(WritePolicy::Preview, Some(Then::Deny));
        let refused = way(&policy, route, By::Beside, &mut one_change()).await;
        let refused = refused.unwrap_err();
        assert_eq!(
            (refused.gate, refused.failure.code),
            (Gate::Rules, Code::RuleDenied)
        );
    }
    // The facts of an undo are none: no rule is about it.
    for route in routes() {
        let policy = with_rule(WritePolicy::Preview, Some(Then::Deny));
        assert!(
            way(&policy, route, By::Beside, &mut checked())
                .await
                .is_ok()
        );
    }
}

#[tokio::test]
async fn the_writes_of_the_last_day_are_counted_if_a_rule_asks() {
    let office = Office::new(policy(WritePolicy::Preview));
    let mut permit = permit(update(1));
    let docket = docket(permit.set());
    let attempt = record::attempt(&office.desk.audit, &docket, &mut permit).await;
    assert!(attempt.unwrap().is_some());
    let mut counting = RuleCondition::default();
    counting.writes_per_day_over = Some(1);
    let change = update(1);
    let checked = crate::change::AdditionReport::default();
    let about = ChangeFacts::new(&change, LineCounts::default(), &checked);
    let caller = caller(Asker::Nobody);
    for (when, changes, expected) in [
        (counting.clone(), vec![about.clone()], 1),
        (RuleCondition::default(), vec![about], 0),
        (counting, vec![], 0),
    ] {
        let rule = Rule::new("x", when, Then::Deny, "because").unwrap();
        let policy = Policy {
            rules: Arc::new(RuleBook::new(vec![rule], &[]).unwrap()),
            ..policy(WritePolicy::Preview)
        };
        let facts = facts(&office.desk, &policy, &caller, &changes).await;
        assert_eq!(facts.unwrap().writes_of_day, expected);
    }
}
