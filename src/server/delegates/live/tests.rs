use std::sync::Arc;
use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{ClientRecord, LiveDelegate};
use crate::audit::Role;
use crate::gates::Grant;
use crate::server::clients::secret::{ClientToken, digest};
use crate::server::delegates::delegate::{DelegateBasis, DelegateEndReason, DelegateRecord};
use crate::server::http::NamedClient;

struct Pair {
    maker: NamedClient,
    line: DelegateRecord,
    own: ClientToken,
}

fn pair(may: Grant) -> Pair {
    let (token, own) = (ClientToken::new().unwrap(), ClientToken::new().unwrap());
    let maker = NamedClient::new("ci", Role::Agent, Some(&token), may).unwrap();
    let end = OffsetDateTime::now_utc() + time::Duration::HOUR;
    let grant = Grant {
        read_only: true,
        tools: Some(vec!["wikijs_list_tags".to_owned()]),
        expires: end.format(&Rfc3339).ok(),
        ..Grant::default()
    };
    let by = digest(token.reveal());
    let maker_is = (maker.id, "ci", DelegateBasis::Token(by));
    let line = DelegateRecord::new(&own, maker_is, "look around", grant).unwrap();
    Pair { maker, line, own }
}

fn known(client: &NamedClient) -> Arc<ClientRecord> {
    Arc::new(client.checked(Duration::ZERO).unwrap())
}

fn member(line: &DelegateRecord, clients: &[Arc<ClientRecord>]) -> LiveDelegate {
    LiveDelegate::of(Arc::new(line.clone()), clients, None, Duration::ZERO).unwrap()
}

#[test]
fn a_delegate_is_its_own_client_with_what_both_may_and_counts_as_its_maker() {
    let pair = pair(Grant {
        rate: Some(7),
        denied_read_tags: Some(vec!["secret".to_owned()]),
        ..Grant::default()
    });
    let maker = known(&pair.maker);
    let member = member(&pair.line, &[Arc::clone(&maker)]);
    assert_eq!(member.line.digest(), digest(pair.own.reveal()));
    let own = member.standing().unwrap();
    assert_ne!(own.id, maker.id);
    assert_eq!(own.counted().identity, maker.identity);
    assert_eq!(own.subject(), format!("ci/{}", own.name));
    assert_eq!(own.may.rate, Some(7));
    assert_eq!(own.narrowing().reads.tags().collect::<Vec<_>>(), ["secret"]);
    assert!(own.narrowing().is_read_only);
}

#[test]
fn a_delegate_is_gone_with_its_time_its_maker_its_makers_token_and_role() {
    let pair = pair(Grant::default());
    let maker = known(&pair.maker);
    let stands = |line: &DelegateRecord, clients: &[Arc<ClientRecord>]| {
        member(line, clients).standing().is_some()
    };
    assert!(stands(&pair.line, &[Arc::clone(&maker)]));
    assert!(!stands(&pair.line, &[]));
    let stranger = NamedClient::new(
        "ci",
        Role::Agent,
        Some(&ClientToken::new().unwrap()),
        Grant::default(),
    )
    .unwrap();
    // The same client with another token, or another role, or past its end.
    let line = serde_json::to_value(&pair.maker).unwrap();
    let mut other = line.clone();
    other["sha256"] = "0".repeat(64).into();
    let other: NamedClient = serde_json::from_value(other).unwrap();
    let person = NamedClient::new("ci", Role::Reviewer, None, Grant::default()).unwrap();
    let mut person = serde_json::to_value(&person).unwrap();
    person["id"] = line["id"].clone();
    let person: NamedClient = serde_json::from_value(person).unwrap();
    let mut past = pair.maker.clone();
    past.may.expires = Some("2020-01-01T00:00:00Z".to_owned());
    for maker in [stranger, other, person, past] {
        assert!(!stands(&pair.line, &[known(&maker)]), "{maker:?}");
    }
    let mut ended = pair.line.clone();
    ended.ended = Some(DelegateEndReason::Revoked);
    let mut late = pair.line.clone();
    late.client.may.expires = Some("2020-01-01T00:00:00Z".to_owned());
    for (line, why) in [
        (ended, DelegateEndReason::Revoked),
        (late, DelegateEndReason::TimeUp),
    ] {
        let one = member(&line, &[Arc::clone(&maker)]);
        assert!(one.standing().is_none());
        assert_eq!(one.line.end_reason(), Some(why));
    }
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
    assert!(check(&|line| line["client"]["may"]["expires"] = serde_json::Value::Null).is_err());
    assert!(check(&|line| line["more"] = 1.into()).is_err());
}
