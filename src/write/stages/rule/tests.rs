use std::sync::Arc;

use super::{Ruling, apply, facts};
use crate::audit::CallId;
use crate::change::Change;
use crate::error::Code;
use crate::gates::{Approved, Gate, Policy, Refusal, StaticToken, WritePolicy, enabled, paths};
use crate::page::LineCounts;
use crate::page::testing::{But as _, page};
use crate::rules::{ChangeFacts, Rule, RuleBook, RuleCondition, Then};
use crate::write::caller::Asker;
use crate::write::route::{Route, Stop, Warrant};
use crate::write::stages::record;
use crate::write::testing::{
    Office, caller, list, office, permit, person, policy, record, session, set, update,
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
    policy(writes).but(|it| it.rules = Arc::new(rules))
}

fn yes() -> Approved {
    Approved::of(set(Change::delete(page())), CallId::new().unwrap(), None)
}

const PREVIEW: Route = Route::Stop(Stop::Preview);
const OPEN: Route = Route::Stop(Stop::Propose);
const ASK: Route = Route::Stop(Stop::Ask);
const JOIN: Route = Route::Stop(Stop::AddToDraft);

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
    changes: &[ChangeFacts],
) -> Result<(&'static str, bool), Refusal> {
    let office = Office::new(policy.clone());
    let client = &crate::audit::Client::default();
    let facts = facts(&office.desk.audit, policy, client, changes).await?;
    let enabled = enabled(policy, &session(), Some(TOKEN)).unwrap();
    let allowed = paths(enabled, set(Change::delete(page()))).unwrap();
    let (ruling, warning) = apply(policy, allowed, &facts, route, by == By::Beside)?;
    let word = match ruling {
        Ruling::Next(..) => "send",
        Ruling::Stop(Stop::Preview, _) => "preview",
        Ruling::Stop(Stop::Propose, _) => "open",
        Ruling::Stop(Stop::Ask, _) => "ask",
        Ruling::Stop(Stop::AddToDraft, _) => "join",
        Ruling::Stop(Stop::Unchanged, _) => "unchanged",
    };
    Ok((word, warning.is_some_and(|one| one.code == "rule")))
}

fn one_change() -> Vec<ChangeFacts> {
    vec![ChangeFacts::empty()]
}

#[tokio::test]
async fn a_rule_makes_the_way_of_a_set_stricter_and_never_milder() {
    use By::{Alone, Beside, Operator};
    use Then::{Person, Preview, Review};
    let tokens = || WritePolicy::Preview;
    let dry = || WritePolicy::DryRun;
    for (writes, then, route, by, way_of_it, is_named) in [
        // Without a rule the route stays.
        (tokens(), None, PREVIEW, Alone, "preview", false),
        (tokens(), None, OPEN, Alone, "open", false),
        (tokens(), None, JOIN, Alone, "join", false),
        (tokens(), None, shown(), Alone, "send", false),
        (person(), None, ASK, Beside, "ask", false),
        (
            token(),
            None,
            Route::Send(Warrant::StaticToken),
            Alone,
            "send",
            false,
        ),
        // Where previews confirm.
        (tokens(), Some(Preview), PREVIEW, Alone, "preview", false),
        (tokens(), Some(Preview), shown(), Alone, "send", false),
        (dry(), Some(Preview), OPEN, Alone, "open", false),
        (tokens(), Some(Person), PREVIEW, Beside, "ask", false),
        (tokens(), Some(Person), shown(), Beside, "ask", false),
        (tokens(), Some(Person), PREVIEW, Alone, "preview", true),
        (tokens(), Some(Person), shown(), Alone, "open", true),
        (dry(), Some(Person), OPEN, Beside, "open", true),
        (tokens(), Some(Review), PREVIEW, Beside, "preview", true),
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
        (person(), Some(Preview), ASK, Beside, "ask", false),
        (person(), Some(Person), ASK, Beside, "ask", false),
        (person(), Some(Review), ASK, Beside, "open", true),
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
        (tokens(), Some(Review), PREVIEW, Operator, "preview", false),
        (tokens(), Some(Review), shown(), Operator, "send", false),
        // A draft is held against the rules as a whole, when it is submitted.
        (tokens(), Some(Review), JOIN, Beside, "join", true),
    ] {
        let mut policy = with_rule(writes, then);
        if by == Operator {
            policy = policy.for_operator();
        }
        let told = format!("{:?} {then:?} {by:?} {way_of_it}", policy.writes);
        let found = way(&policy, route, by, &one_change()).await;
        assert_eq!(found.unwrap(), (way_of_it, is_named), "{told}");
    }
}

#[tokio::test]
async fn what_a_rule_denies_goes_no_way() {
    let routes = || [PREVIEW, OPEN, ASK, JOIN, shown()];
    for route in routes() {
        let policy = with_rule(WritePolicy::Preview, Some(Then::Deny));
        let refused = way(&policy, route, By::Beside, &one_change()).await;
        let refused = refused.unwrap_err();
        assert_eq!(refused.gate, Gate::Rules);
        assert_eq!(refused.failure.code, Code::RuleDenied);
    }
    // The facts of an undo are none: no rule is about it.
    for route in routes() {
        let policy = with_rule(WritePolicy::Preview, Some(Then::Deny));
        assert!(way(&policy, route, By::Beside, &[]).await.is_ok());
    }
}

#[tokio::test]
async fn the_writes_of_the_last_day_are_counted_if_a_rule_asks() {
    let office = office();
    let mut permit = permit(update(1));
    let record = record(permit.set());
    let attempt = record::attempt(&office.desk.audit, &record, &mut permit, &[]).await;
    assert!(attempt.unwrap().is_some());
    let mut counting = RuleCondition::default();
    counting.writes_per_day_over = Some(1);
    let change = update(1);
    let checked = crate::change::AdditionReport::default();
    let about = ChangeFacts::new(&change, LineCounts::default(), &checked);
    let client = caller(Asker::Nobody).client;
    for (when, changes, expected) in [
        (counting.clone(), vec![about.clone()], 1),
        (RuleCondition::default(), vec![about], 0),
        (counting, vec![], 0),
    ] {
        let rule = Rule::new("x", when, Then::Deny, "because").unwrap();
        let policy = policy(WritePolicy::Preview)
            .but(|it| it.rules = Arc::new(RuleBook::new(vec![rule], &[]).unwrap()));
        let facts = facts(&office.desk.audit, &policy, &client, &changes).await;
        assert_eq!(facts.unwrap().writes_of_day, expected);
    }
}

#[test]
fn a_set_with_nothing_to_do_is_unchanged_unless_it_joins_a_draft_or_is_shown_alone() {
    let nothing = || Change::between(page(), page());
    let policy = policy(WritePolicy::Preview);
    for (set, stop, expected) in [
        (set(nothing()), Stop::Preview, Stop::Unchanged),
        (set(nothing()), Stop::Ask, Stop::Unchanged),
        (set(nothing()), Stop::Propose, Stop::Propose),
        (set(nothing()), Stop::AddToDraft, Stop::AddToDraft),
        (list(vec![nothing()]), Stop::Preview, Stop::Unchanged),
        (list(vec![nothing()]), Stop::Propose, Stop::Unchanged),
        (
            list(vec![nothing(), update(1)]),
            Stop::Propose,
            Stop::Propose,
        ),
        (set(update(1)), Stop::Preview, Stop::Preview),
        (set(update(1)), Stop::Ask, Stop::Ask),
    ] {
        let told = format!("{set:?} {stop:?}");
        let enabled = enabled(&policy, &session(), None).unwrap();
        let ruling = Ruling::Stop(stop, paths(enabled, set).unwrap());
        let Ruling::Stop(found, _) = ruling.unless_nothing_to_do(false) else {
            panic!("{told}");
        };
        assert_eq!(found, expected, "{told}");
    }
}
