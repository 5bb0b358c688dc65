use proptest::prelude::*;
use time::macros::datetime;

use super::super::members::{Record, RecordStamp};
use super::{Unreadable, VERSION};
use crate::audit::entry::chain::{RunFileEnd, Verified, verify};
use crate::audit::{
    Actor, AuditEntry, AuditEvent, CallId, Client, FileHead, KeptState, KeyDigest, LineHash,
    Outcome, Role, RunId,
};
use crate::change::Operation;
use crate::page::testing::But as _;
use crate::page::{Date, Field, Locale, PagePath};

fn stamp() -> RecordStamp<'static> {
    RecordStamp {
        seq: 1,
        time: datetime!(2030-01-02 03:04:05.678_9 UTC),
        run: "00000000000000aa".parse().unwrap(),
        wiki: "docs",
        site: None,
        prev: LineHash::FIRST,
    }
}

fn full_entry() -> AuditEntry {
    let text = |text: &str| Some(text.to_owned());
    let kept = |byte: u8| Some(KeptState::new(&[byte]));
    AuditEntry {
        call: "00000000000000bb".parse().unwrap(),
        event: AuditEvent::Outcome,
        client: Some(Client {
            name: "inspector".to_owned(),
            version: "1.2".to_owned(),
            id: Some("00000000000000ee".parse().unwrap()),
            role: Some(Role::Agent),
            subject: text("alice"),
            address: text("127.0.0.1"),
            parent: None,
            person: None,
        }),
        actor: Some(Actor::user("root", Some("alice"))),
        tool: text("wikijs_update_page"),
        operation: Some(Operation::Update),
        key: Some(KeyDigest::new(&[7; 32])),
        id: Some(7),
        locale: Some(Locale::as_stored("en")),
        path: Some(PagePath::new("docs/a")),
        new_path: Some(PagePath::new("docs/b")),
        aside: Some(PagePath::new("docs/moving-7")),
        gate: text("confirm"),
        decision: text("allowed"),
        reason: text("the token is that of the preview"),
        fields: vec![Field::Content, Field::Path, Field::Content],
        lines_added: 2,
        lines_removed: 1,
        before: kept(1),
        after: kept(2),
        found: kept(3),
        updated_at: Some(Date::from("2030-01-02T03:04:05.000Z".to_owned())),
        outcome: Some(Outcome::PartlyApplied),
        code: text("PARTLY_APPLIED"),
        step: text("update"),
        undoes: Some("00000000000000cc".parse().unwrap()),
        also_undoes: Vec::new(),
        confirms: Some("00000000000000ab".parse().unwrap()),
        standing: text("page"),
        proposal: text("00000000000000dd"),
        proposer: Some(Client::default().but(|client| client.name = "agent".to_owned())),
        set: Some("00000000000000ff".parse().unwrap()),
        note: text("the guide moved"),
        trace: "4bf92f3577b34da6a3ce929d0e0e4736".parse().ok(),
        warnings: vec!["dead_link".to_owned()],
        removed: Vec::new(),
        ms: 12,
    }
}

#[test]
fn the_members_are_in_the_designs_order() {
    let mut record = Record::new(&full_entry(), &stamp());
    let line = String::from_utf8(record.seal().unwrap()).unwrap();
    insta::assert_snapshot!(line, @r#"{"v":1,"seq":1,"time":"2030-01-02T03:04:05.678Z","run":"00000000000000aa","call":"00000000000000bb","event":"outcome","client":{"name":"inspector","version":"1.2","id":"00000000000000ee","role":"agent","subject":"alice","address":"127.0.0.1"},"actor":"user:root/login:alice","tool":"wikijs_update_page","operation":"update","wiki":"docs","key":"07070707070707070707070707070707","id":7,"locale":"en","path":"docs/a","newPath":"docs/b","aside":"docs/moving-7","gate":"confirm","decision":"allowed","reason":"the token is that of the preview","fields":["path","content"],"linesAdded":2,"linesRemoved":1,"before":"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a","after":"dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986","found":"084fed08b978af4d7d196a7446a86b58009e636b611db16211b65a9aadff29c5","updatedAt":"2030-01-02T03:04:05.000Z","outcome":"partly_applied","code":"PARTLY_APPLIED","step":"update","undoes":"00000000000000cc","confirms":"00000000000000ab","standing":"page","proposal":"00000000000000dd","proposer":{"name":"agent","version":""},"set":"00000000000000ff","trace":"4bf92f3577b34da6a3ce929d0e0e4736","note":"the guide moved","warnings":["dead_link"],"ms":12,"prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":"2d9a0c219d922365d710d877f45ba63fdbfb7d3b687d543c6e86c800af9a0884"}"#);
    assert_eq!(Record::parse(line.as_bytes()), Ok(record));
}

#[test]
fn what_does_not_apply_is_absent() {
    let call = "00000000000000bb".parse().unwrap();
    let mut record = Record::new(&AuditEntry::new(call, AuditEvent::Refusal), &stamp());
    let line = String::from_utf8(record.seal().unwrap()).unwrap();
    insta::assert_snapshot!(line, @r#"{"v":1,"seq":1,"time":"2030-01-02T03:04:05.678Z","run":"00000000000000aa","call":"00000000000000bb","event":"refusal","wiki":"docs","fields":[],"linesAdded":0,"linesRemoved":0,"ms":0,"prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":"9344ea5f639e4d643e54b32ad88521fd5a8387f308ed61cecafc6068ff7225a6"}"#);
}

#[test]
fn a_start_lists_the_runs_before_the_time_taken() {
    let head = FileHead {
        file: "20300101T000000Z-00000000000000ee.jsonl".to_owned(),
        length: 1234,
        hash: Some(LineHash::new(b"")),
    };
    let mut record =
        Record::bare(AuditEvent::Start, &stamp()).but(|record| record.runs = Some(vec![head]));
    let line = String::from_utf8(record.seal().unwrap()).unwrap();
    insta::assert_snapshot!(line, @r#"{"v":1,"seq":1,"time":"2030-01-02T03:04:05.678Z","run":"00000000000000aa","event":"start","wiki":"docs","fields":[],"linesAdded":0,"linesRemoved":0,"runs":[{"file":"20300101T000000Z-00000000000000ee.jsonl","length":1234,"hash":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}],"ms":0,"prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":"f8773769ab20f8d9029182c9f307306d8d22e6c572094fbdbc9b1a433997cf8b"}"#);
}

#[test]
fn a_purge_names_what_it_removes_and_nothing_else_does() {
    let removed = vec![FileHead {
        file: "a.jsonl".to_owned(),
        length: 1,
        hash: None,
    }];
    let entry = |event| {
        AuditEntry::new(CallId::new().unwrap(), event).but(|entry| entry.removed = removed.clone())
    };
    let record = |event| Record::new(&entry(event), &stamp()).removed;
    assert_eq!(record(AuditEvent::Purge), Some(removed.clone()));
    assert_eq!(record(AuditEvent::Outcome), None);
}

#[test]
fn texts_from_outside_are_cut() {
    let long = "ä".repeat(5_000);
    let record = Record::new(
        &AuditEntry {
            client: Some(Client::default().but(|client| client.name = long.clone())),
            path: Some(PagePath::new(&long)),
            reason: Some("ä".repeat(1_024)),
            ..AuditEntry::new(CallId::new().unwrap(), AuditEvent::Refusal)
        },
        &stamp(),
    );
    let length = |text: &str| text.chars().count();
    let client = record.client.unwrap();
    assert_eq!(length(&client.name), 256);
    assert!(client.name.ends_with('…'));
    let path = record.path.unwrap();
    assert_eq!(length(path.as_str()), 1_024);
    assert!(path.as_str().ends_with('…'));
    assert_eq!(record.reason.unwrap(), "ä".repeat(1_024));
}

#[test]
fn a_record_of_a_newer_form_is_told_from_what_is_none() {
    let newer = format!("{{\"v\":{},\"what\":\"ever\"}}", VERSION + 1);
    assert_eq!(
        Record::parse(newer.as_bytes()),
        Err(Unreadable::Newer(VERSION + 1))
    );
    for none in ["", "{}", "{\"v\":1}", "hello", "{\"v\":\"2\"}"] {
        assert_eq!(
            Record::parse(none.as_bytes()),
            Err(Unreadable::NotARecord),
            "{none}"
        );
    }
}

#[test]
fn the_time_of_a_record_can_be_read() {
    let record = Record::bare(AuditEvent::Start, &stamp());
    assert_eq!(
        record.instant(),
        Some(datetime!(2030-01-02 03:04:05.678 UTC))
    );
}

prop_compose! {
    fn any_text()(text in any::<Option<String>>()) -> Option<String> { text }
}

fn any_client() -> impl Strategy<Value = Option<Client>> {
    let client = (any::<String>(), any::<String>(), any_text(), any_text());
    proptest::option::of(client.prop_map(|(name, version, subject, address)| Client {
        name,
        version,
        id: None,
        role: None,
        subject,
        address,
        parent: None,
        person: None,
    }))
}

fn any_entry() -> impl Strategy<Value = AuditEntry> {
    let event = proptest::sample::select(vec![
        AuditEvent::Attempt,
        AuditEvent::Refusal,
        AuditEvent::Preview,
        AuditEvent::Approval,
        AuditEvent::Outcome,
        AuditEvent::Proposal,
        AuditEvent::Purge,
    ]);
    let fields = proptest::collection::vec(proptest::sample::select(Field::ALL.to_vec()), 0..5);
    let texts = proptest::collection::vec(any_text(), 10);
    let place = (any::<Option<i64>>(), any_text(), any_text(), any_text());
    (event, any_client(), fields, texts, place, any::<u64>()).prop_map(
        |(event, client, fields, texts, (id, locale, path, new_path), ms)| {
            let mut texts = texts.into_iter();
            let mut next = || texts.next().flatten();
            AuditEntry {
                event,
                client,
                tool: next(),
                id,
                locale: locale.map(Locale::as_stored),
                path: path.map(PagePath::as_stored),
                new_path: new_path.map(PagePath::as_stored),
                gate: next(),
                decision: next(),
                reason: next(),
                fields,
                code: next(),
                step: next(),
                standing: next(),
                proposal: next(),
                ms,
                ..full_entry()
            }
        },
    )
}

proptest! {
    #[test]
    fn any_records_survive_json_and_make_a_chain(
        entries in proptest::collection::vec(any_entry(), 0..6),
        run in any::<u64>(),
    ) {
        let run: RunId = format!("{run:016x}").parse().unwrap();
        let mut file = Vec::new();
        let mut stamp = RecordStamp { run, ..stamp() };
        for entry in &entries {
            let mut record = Record::new(entry, &stamp);
            let line = record.seal().unwrap();
            prop_assert_eq!(Record::parse(&line), Ok(record.clone()));
            prop_assert!(!line.contains(&b'\n'));
            file.extend_from_slice(&line);
            file.push(b'\n');
            stamp = RecordStamp { seq: stamp.seq + 1, prev: record.hash, ..stamp };
        }
        let records = u64::try_from(entries.len()).unwrap();
        prop_assert_eq!(
            verify(file.as_slice()),
            Ok(Verified { records, last: stamp.prev, end: RunFileEnd::Open })
        );
    }
}
