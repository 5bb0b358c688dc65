use std::fs;
use std::io::Write as _;
use std::path::Path;

use time::OffsetDateTime;
use time::macros::datetime;

use super::{CatchUp, bring_up};
use crate::audit::disk::layout::AuditLayout;
use crate::audit::run::reader::runs;
use crate::audit::testing::{Script, run_path};
use crate::audit::{
    AuditEntry, AuditEvent, AuditLog, CallFilter, CallId, CallSelector, Client, Outcome,
};
use crate::change::Operation;
use crate::page::testing::But as _;
use crate::page::{Locale, PagePath};
use crate::store::local::line_index::LineIndex;

const START: OffsetDateTime = datetime!(2030-01-01 00:00 UTC);

/// Makes the index of a log, however small.
pub(in crate::audit) fn make_index(place: &AuditLayout) {
    let index = LineIndex::make(&place.line_index()).unwrap();
    let brought = bring_up(index, &runs(place).unwrap(), u64::MAX, |_, _| ()).unwrap();
    assert!(matches!(brought, CatchUp::Up(_)));
}

fn is_used(log: &AuditLog) -> bool {
    log.calls.indexed().unwrap().index.is_some()
}

fn write(call: CallId, page: i64, event: AuditEvent) -> AuditEntry {
    AuditEntry {
        operation: Some(Operation::Update),
        id: Some(page),
        locale: Some(Locale::as_stored("en")),
        path: Some(PagePath::as_stored("docs/a")),
        step: Some("update".to_owned()),
        outcome: (event == AuditEvent::Outcome).then_some(Outcome::Applied),
        ..AuditEntry::new(call, event)
    }
}

/// Three runs: writes of five pages, undone ones, sets, refusals by gates, a write that a later run settled,
/// a clock that went back, a line that is no record.
fn log_of(dir: &Path) -> (AuditLog, Vec<CallId>) {
    let mut all = Vec::new();
    let left = CallId::new().unwrap();
    for run in 0..3_i64 {
        let begin = START + time::Duration::hours(run);
        let mut script = Script::begin(dir, begin, Vec::new());
        let set = CallId::new().unwrap();
        for number in 0..40_i64 {
            let call = CallId::new().unwrap();
            // Several of one moment, too.
            let at = begin + time::Duration::seconds(number / 3);
            let entry = |event| AuditEntry {
                undoes: (number % 7 == 6).then(|| all[all.len() / 2]),
                set: (number % 5 == 4).then_some(set),
                ..write(call, number % 5, event)
            };
            if number % 4 == 3 {
                let refusal = AuditEntry {
                    gate: (number % 8 == 3).then(|| "a \"gate\"".to_owned()),
                    client: (number % 3 == 0)
                        .then(|| Client::default().but(|client| client.name = "agent".to_owned())),
                    ..AuditEntry::new(call, AuditEvent::Refusal)
                };
                script.entry(at - time::Duration::days(number / 30), &refusal);
            } else {
                script.entry(at, &entry(AuditEvent::Attempt));
                script.entry(at, &entry(AuditEvent::Outcome));
            }
            all.push(call);
        }
        let end = begin + time::Duration::minutes(1);
        let of_set = AuditEntry {
            set: Some(set),
            outcome: Some(Outcome::Applied),
            ..AuditEntry::new(set, AuditEvent::Outcome)
        };
        script.entry(end, &of_set);
        all.push(set);
        let event = [
            AuditEvent::Attempt,
            AuditEvent::Preview,
            AuditEvent::Outcome,
        ];
        // A call may be about several pages.
        let event = event[usize::try_from(run).unwrap()];
        script.entry(end, &write(left, 2 + run, event));
        let path = script.kill();
        let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(b"no record\n").unwrap();
    }
    all.push(left);
    (AuditLog::new(dir, "docs").by_index(), all)
}

/// Everything that is asked of a log by the index.
async fn answers(log: &AuditLog, calls: &[CallId]) -> Vec<String> {
    let mut told = Vec::new();
    let until = START + time::Duration::hours(2);
    for filter in [
        CallFilter::default(),
        CallFilter {
            since: Some(START + time::Duration::seconds(5)),
            until: Some(until),
            ..CallFilter::default()
        },
        CallFilter::default().but(|filter| filter.page = Some(3)),
        CallFilter {
            page: Some(3),
            since: Some(START + time::Duration::seconds(5)),
            until: Some(until),
            ..CallFilter::default()
        },
        CallFilter::default().but(|filter| filter.page = Some(99)),
    ] {
        told.push(format!("{:?}", log.calls.stats(&filter).unwrap()));
        let mut before = None;
        loop {
            let (latest, unreadable) = log.calls.latest(&filter, before.as_ref(), 20).unwrap();
            let older = latest.older;
            let calls = latest.into_calls();
            told.push(format!("{calls:?} {older} {unreadable}"));
            before = calls.into_iter().next_back();
            if older == 0 {
                break;
            }
        }
    }
    for call in calls {
        told.push(format!("{:?}", log.calls.story(&(*call).into()).await));
        let beginning: String = call.to_string().chars().take(6).collect();
        let selector = beginning.parse().unwrap();
        told.push(format!("{:?}", log.calls.story(&selector).await));
        let mut of_set = log.calls.of_set(*call).await.unwrap();
        of_set.sort_by_key(|call| call.call);
        told.push(format!("{of_set:?}"));
    }
    told.push(format!("{:?}", log.calls.story(&CallSelector::Last).await));
    told.push(format!("{:?}", log.calls.last_undo(None).await));
    for page in 0..6 {
        let mut writes = log.calls.of_pages(vec![page], Some(START)).await.unwrap();
        writes.sort_by_key(|call| call.call);
        told.push(format!("{writes:?}"));
    }
    told
}

#[tokio::test]
async fn no_answer_differs_with_an_index() {
    let dir = tempfile::tempdir().unwrap();
    let (log, calls) = log_of(dir.path());
    let before = answers(&log, &calls).await;
    make_index(&log.place);
    assert!(is_used(&log));
    assert_eq!(answers(&log, &calls).await, before);
    // What decides on a write reads the runs.
    assert!(!is_used(&AuditLog::new(dir.path(), "docs")));
}

#[tokio::test]
async fn an_index_follows_the_runs_and_one_that_does_not_fit_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let (log, calls) = log_of(dir.path());
    let place = log.place.clone();
    assert!(!is_used(&log));
    make_index(&place);
    // A run goes on, and another one begins.
    let run = run_path(&place, &runs(&place).unwrap()[0]);
    let text = fs::read_to_string(&run).unwrap();
    let more = text.lines().nth(1).unwrap().to_owned() + "\n";
    let goes_on = |text: &str| fs::write(&run, text).unwrap();
    goes_on(&(text.clone() + &more));
    assert!(is_used(&log));
    Script::begin(dir.path(), START + time::Duration::hours(9), Vec::new()).kill();
    assert!(is_used(&log));
    let expected = answers(&log, &calls).await;
    fs::remove_file(place.line_index()).unwrap();
    assert_eq!(answers(&log, &calls).await, expected);
    let path = place.line_index();
    let damages: [&dyn Fn(); 6] = [
        // A run was cut, or another one is in its place.
        &|| goes_on(text.split_at(text.len() / 2).0),
        &|| goes_on(&text.replace("docs/a", "docs/b")),
        // A run was purged.
        &|| fs::remove_file(&run).unwrap(),
        // The index was cut, is something else, or is of another version.
        &|| {
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        },
        &|| fs::write(&path, "no index").unwrap(),
        &|| {
            let database = rusqlite::Connection::open(&path).unwrap();
            database.execute_batch("PRAGMA user_version = 99").unwrap();
        },
    ];
    for damage in damages {
        goes_on(&text);
        make_index(&place);
        damage();
        let with = answers(&log, &calls).await;
        fs::remove_file(&path).unwrap();
        assert_eq!(answers(&log, &calls).await, with);
    }
}

#[test]
fn an_index_is_private_and_one_that_cannot_be_made_stops_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = log_of(dir.path());
    let path = log.place.line_index();
    make_index(&log.place);
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(!is_used(&log));
    assert!(LineIndex::make(&path).is_none());
    assert_eq!(log.calls.each(|_| ()).unwrap(), 3);
}
