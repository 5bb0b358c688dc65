use std::sync::Arc;
use std::time::{Duration, Instant};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{ClientRecord, DelegateRefusal, LiveDelegate};
use crate::audit::Role;
use crate::gates::Grant;
use crate::server::clients::secret::{ClientToken, digest};
use crate::server::delegates::delegate::{DelegateEnd, DelegateEndReason, DelegateRecord};
use crate::server::http::{LinkSecret, NamedClient};
use crate::write::{DelegateKind, Handover};

const LAG: time::Duration = time::Duration::minutes(30);

struct Pair {
    maker: NamedClient,
    line: DelegateRecord,
    own: ClientToken,
}

fn pair(may: Grant) -> Pair {
    let (token, own) = (ClientToken::new().unwrap(), ClientToken::new().unwrap());
    let maker = NamedClient::new("ci", &token, may).unwrap();
    let end = OffsetDateTime::now_utc() + LAG + LAG;
    let grant = Grant {
        read_only: true,
        tools: Some(vec!["wikijs_list_tags".to_owned()]),
        expires: end.format(&Rfc3339).ok(),
        ..Grant::default()
    };
    let by = digest(token.reveal());
    let maker_is = (maker.id(), "ci", &*by);
    let kind = (DelegateKind::Researcher, "look around");
    let line = DelegateRecord::new(&own, maker_is, kind, grant).unwrap();
    Pair { maker, line, own }
}

fn known(client: &NamedClient) -> Arc<ClientRecord> {
    Arc::new(client.checked(Duration::ZERO).unwrap())
}

fn member(
    line: &DelegateRecord,
    clients: &[Arc<ClientRecord>],
    until: Option<Instant>,
) -> LiveDelegate {
    LiveDelegate::of(line.clone(), clients, Duration::ZERO, until).unwrap()
}

fn gone(member: &LiveDelegate, now: OffsetDateTime, at: Instant) -> Option<DelegateRefusal> {
    member.standing_at(now, at).err()
}

#[test]
fn a_delegate_is_its_own_client_with_what_both_may_and_counts_as_its_maker() {
    let pair = pair(Grant {
        rate: Some(7),
        denied_read_tags: Some(vec!["secret".to_owned()]),
        ..Grant::default()
    });
    let maker = known(&pair.maker);
    let member = member(&pair.line, &[Arc::clone(&maker)], None);
    assert!(member.is_of(&digest(pair.own.reveal())));
    assert!(!member.is_of(&digest("wjs_other")));
    let own = member.standing().unwrap();
    assert_ne!(own.id, maker.id);
    assert_eq!(own.counted().identity, maker.identity);
    assert_eq!(own.subject(), format!("ci/{}", own.name));
    assert_eq!(own.rate, Some(7));
    assert_eq!(own.narrowing().reads.tags().collect::<Vec<_>>(), ["secret"]);
    assert!(own.narrowing().is_read_only);
}

#[test]
fn a_delegate_is_gone_with_its_time_its_maker_its_makers_token_and_role() {
    let pair = pair(Grant::default());
    let maker = known(&pair.maker);
    let of = |clients: &[Arc<ClientRecord>]| member(&pair.line, clients, None);
    let (now, at) = (OffsetDateTime::now_utc(), Instant::now());
    let there = of(&[Arc::clone(&maker)]);
    assert_eq!(gone(&there, now, at), None);
    let time_up = Some(DelegateRefusal::For(DelegateEndReason::TimeUp));
    assert_eq!(gone(&there, now + LAG + LAG + LAG, at), time_up);
    let maker_gone = Some(DelegateRefusal::For(DelegateEndReason::MakerGone));
    assert_eq!(gone(&of(&[]), now, at), maker_gone);
    let stranger = NamedClient::new("ci", &ClientToken::new().unwrap(), Grant::default()).unwrap();
    assert_eq!(gone(&of(&[known(&stranger)]), now, at), maker_gone);
    // The same client with another token, or another role.
    let line = serde_json::to_value(&pair.maker).unwrap();
    let mut other = line.clone();
    other["sha256"] = "0".repeat(64).into();
    let other: NamedClient = serde_json::from_value(other).unwrap();
    assert_eq!(gone(&of(&[known(&other)]), now, at), maker_gone);
    let secret = LinkSecret::new().unwrap();
    let person = NamedClient::with_link("ci", Role::Reviewer, &secret, Grant::default()).unwrap();
    let mut person = serde_json::to_value(&person).unwrap();
    person["id"] = line["id"].clone();
    let person: NamedClient = serde_json::from_value(person).unwrap();
    assert_eq!(gone(&of(&[known(&person)]), now, at), maker_gone);
    let mut past = pair.maker.clone();
    past.may.expires = Some("2020-01-01T00:00:00Z".to_owned());
    assert_eq!(gone(&of(&[known(&past)]), now, at), maker_gone);
    let mut ended = pair.line.clone();
    ended.ended = Some(DelegateEnd {
        at: "2026-01-01T00:00:00Z".to_owned(),
        why: DelegateEndReason::Revoked,
        is_settled: true,
        legacy: Handover::default(),
    });
    let ended = member(&ended, &[maker], None);
    assert_eq!(
        gone(&ended, now, at),
        Some(DelegateRefusal::For(DelegateEndReason::Revoked))
    );
}

#[test]
fn a_clock_that_is_set_back_lengthens_no_life() {
    let pair = pair(Grant::default());
    let maker = known(&pair.maker);
    let first = member(&pair.line, &[Arc::clone(&maker)], None);
    let (now, at) = (OffsetDateTime::now_utc(), Instant::now());
    // An hour has passed, and the clock was set back by half of it.
    let later = at + Duration::from_mins(61);
    let time_up = Some(DelegateRefusal::For(DelegateEndReason::TimeUp));
    assert_eq!(gone(&first, now + LAG, later), time_up);
    // The file was read again meanwhile.
    let again = member(&pair.line, &[Arc::clone(&maker)], Some(first.until));
    assert!(again.until <= first.until);
    assert_eq!(gone(&again, now, later), time_up);
    // It was set back to before the delegate was made: nothing can be said of its end.
    let before = now - time::Duration::hours(1);
    assert_eq!(gone(&first, before, at), Some(DelegateRefusal::Clock));
    // A server whose clock is a little behind lets it in.
    assert_eq!(gone(&first, now - time::Duration::MINUTE, at), None);
}

#[test]
fn a_line_that_no_server_writes_is_no_delegate() {
    let pair = pair(Grant::default());
    let line = serde_json::to_value(&pair.line).unwrap();
    let check = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut line = line.clone();
        change(&mut line);
        serde_json::from_value::<DelegateRecord>(line)
            .map_err(|error| error.to_string())
            .and_then(|line| line.check())
    };
    assert_eq!(check(&|_| {}), Ok(()));
    let client = |member: &'static str, value: serde_json::Value| {
        check(&move |line| line["client"][member] = value.clone()).is_err()
    };
    assert!(client("parent", serde_json::Value::Null));
    assert!(client("role", "reviewer".into()));
    assert!(client("created", "soon".into()));
    // A day at most.
    assert!(client("created", "2020-01-01T00:00:00Z".into()));
    assert!(check(&|line| line["client"]["may"]["tools"] = serde_json::Value::Null).is_err());
    assert!(check(&|line| line["client"]["may"]["sites"] = serde_json::json!(["a"])).is_err());
    assert!(check(&|line| line["client"]["may"]["expires"] = serde_json::Value::Null).is_err());
    assert!(check(&|line| line["by"] = "x".into()).is_err());
    assert!(check(&|line| line["more"] = 1.into()).is_err());
}
