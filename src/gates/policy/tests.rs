use std::path::Path;
use std::time::Duration;

use super::Policy;
use crate::audit::{AuditLog, Pauses};
use crate::error::Code;
use crate::gates::set_by::{Layer, SetBy};
use crate::gates::{Authority, Fallback, PolicyLevel, StaticToken, WritePolicy};
use crate::page::Prefix;
use crate::page::testing::But as _;

const LIMIT: Duration = Duration::from_secs(7);

fn token() -> WritePolicy {
    WritePolicy::Token(StaticToken::new("open sesame, please".into()).expect("long"))
}

fn person(fallback: Fallback) -> WritePolicy {
    WritePolicy::Person {
        limit: LIMIT,
        fallback,
    }
}

const REVIEW: WritePolicy = WritePolicy::Review { limit: LIMIT };

fn levels() -> [WritePolicy; 6] {
    [
        WritePolicy::Off,
        WritePolicy::DryRun,
        REVIEW,
        person(Fallback::None),
        token(),
        WritePolicy::Preview,
    ]
}

fn policy(writes: WritePolicy) -> Policy {
    Policy {
        writes,
        set_by: SetBy::new("the level", Layer::Default),
        fallback_set_by: SetBy::new("the fallback", Layer::Default),
        allowed: Some(vec![Prefix::parse("docs").expect("a prefix")]),
        ..Policy::default()
    }
}

/// The level of each policy, resolved for somebody.
fn resolved(of: impl Fn(Policy) -> Policy) -> [&'static str; 6] {
    levels().map(|writes| of(policy(writes)).writes.as_str())
}

#[test]
fn the_operators_decision_goes_beyond_every_level_but_off_and_passes_a_pause() {
    assert_eq!(
        resolved(Policy::for_operator),
        ["off", "preview", "preview", "preview", "preview", "preview"]
    );
    let log = AuditLog::new(Path::new("/nowhere"), "wiki");
    let policy = policy(token()).but(|it| it.pauses = log.pauses.clone());
    let own = policy.clone().for_operator();
    assert_eq!(own.allowed, policy.allowed);
    let told = |policy: &Policy| format!("{:?}", policy.pauses);
    assert_eq!(told(&own), format!("{:?}", Pauses::default()));
    assert_ne!(told(&policy), told(&own));
}

#[test]
fn a_command_that_asks_nobody_gets_what_the_level_gives_and_proposes_where_a_person_must_be_asked()
{
    let own = resolved(|policy| policy.for_unattended(false).for_caller(false));
    assert_eq!(
        own,
        ["off", "dry_run", "review", "dry_run", "token", "preview"]
    );
    let call = resolved(|policy| policy.for_tool_call().for_caller(false));
    assert_eq!(call, own);
    let log = AuditLog::new(Path::new("/nowhere"), "wiki");
    for passes_pause in [true, false] {
        let policy = policy(WritePolicy::Preview).but(|it| it.pauses = log.pauses.clone());
        let own = policy.for_unattended(passes_pause);
        let has_pauses = format!("{:?}", own.pauses) != format!("{:?}", Pauses::default());
        assert_ne!(has_pauses, passes_pause);
    }
}

#[test]
fn what_is_to_be_proposed_is_never_sent() {
    let own = resolved(Policy::to_propose);
    assert_eq!(
        own,
        ["off", "dry_run", "dry_run", "dry_run", "dry_run", "dry_run"]
    );
}

#[test]
fn a_client_that_cannot_ask_gets_what_the_operator_chose_for_it() {
    for (fallback, can_ask, level, line) in [
        (Fallback::None, false, "person", "the level (default)"),
        (
            Fallback::Preview,
            false,
            "preview",
            "the fallback (default)",
        ),
        (
            Fallback::Proposal,
            false,
            "dry_run",
            "the fallback (default)",
        ),
        (Fallback::Preview, true, "person", "the level (default)"),
        (Fallback::Proposal, true, "person", "the level (default)"),
    ] {
        let own = policy(person(fallback)).for_caller(can_ask);
        let found = (own.writes.as_str(), own.set_by.to_string());
        assert_eq!(found, (level, line.to_owned()), "{fallback:?} {can_ask}");
        assert_eq!(own.allowed, policy(token()).allowed);
    }
    let others = |policy: Policy| policy.for_caller(false);
    assert_eq!(
        resolved(others),
        ["off", "dry_run", "review", "person", "token", "preview"]
    );
}

#[test]
fn read_only_stops_clients_and_nobody_else() {
    let reading = |writes| {
        policy(writes)
            .but(|it| it.read_only = Some(SetBy::new("WIKI_READ_ONLY", Layer::Environment)))
    };
    for writes in levels() {
        let client = reading(writes.clone()).for_caller(true);
        assert_eq!(client.writes.level(), PolicyLevel::Off);
        let call = reading(writes.clone()).for_tool_call().for_caller(false);
        assert_eq!(call.writes.level(), PolicyLevel::Off);
        let command = reading(writes.clone()).for_unattended(false);
        assert_eq!(command.writes.level(), writes.level());
    }
    let client = reading(WritePolicy::Preview).for_caller(true);
    let refusal = client.refuse(Code::MutationsDisabled, "No.");
    assert_eq!(refusal.details["level"], "off");
    assert_eq!(refusal.details["setBy"], "WIKI_READ_ONLY (environment)");
    let operator = reading(WritePolicy::DryRun)
        .for_operator()
        .for_caller(false);
    assert_eq!(operator.writes.level(), PolicyLevel::Preview);
}

#[test]
fn only_where_a_person_is_asked_is_there_time_to_think() {
    let rule = || SetBy::new("legal", Layer::Rule);
    for writes in levels() {
        let is_person = writes.level() == PolicyLevel::Person;
        let own = policy(writes);
        assert_eq!(own.thinking(), is_person.then_some(LIMIT));
        assert_eq!(own.asking(LIMIT, rule()).thinking(), Some(LIMIT));
        let longer = own.with_thinking(LIMIT * 2);
        assert_eq!(longer.thinking(), is_person.then_some(LIMIT * 2));
        assert!(longer.allowed.is_some());
    }
}

#[test]
fn only_a_clients_call_waits_for_a_review() {
    for writes in levels() {
        let is_review = writes.level() == PolicyLevel::Review;
        assert_eq!(policy(writes.clone()).waiting(), is_review.then_some(LIMIT));
        let longer = policy(writes.clone()).with_thinking(LIMIT * 2);
        assert_eq!(longer.waiting(), is_review.then_some(LIMIT * 2));
        for own in [
            policy(writes.clone()).for_tool_call(),
            policy(writes.clone()).for_unattended(false),
            policy(writes).for_operator(),
        ] {
            assert_eq!(own.waiting(), None, "{own:?}");
        }
    }
}

#[test]
fn each_authority_goes_beyond_the_level_as_far_as_it_says() {
    let all = [
        Authority::Client,
        Authority::ToolCall,
        Authority::Unattended {
            passes_pause: false,
        },
        Authority::Unattended { passes_pause: true },
        Authority::Reviewer {
            ends_dry_run: false,
        },
        Authority::Reviewer { ends_dry_run: true },
        Authority::Operator,
    ];
    let flags = all.map(|one| {
        let flag = |name, is_so: bool| if is_so { name } else { "" };
        [
            flag("decides", one.decides()),
            flag("ends_dry_run", one.ends_dry_run()),
            flag("passes_pause", one.passes_pause()),
            flag("heeds_read_only", one.heeds_read_only()),
            flag("asks_nobody", one.asks_nobody()),
            flag("purges", one.purges()),
        ]
        .join(" ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
    });
    let expected = [
        "heeds_read_only purges",
        "heeds_read_only asks_nobody purges",
        "asks_nobody",
        "passes_pause asks_nobody",
        "decides",
        "decides ends_dry_run",
        "decides ends_dry_run passes_pause",
    ];
    assert_eq!(flags, expected);
}
