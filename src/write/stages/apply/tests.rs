use std::sync::Arc;

use parking_lot::Mutex;

use super::{INTERRUPTED, Run, SetEnd, WriteJob, at_first, in_its_own_task};
use crate::audit::{AuditError, CallId, DraftChange, DraftName, DraftOwner, KeyDigest};
use crate::change::{Change, Warning};
use crate::error::{Code, Failure};
use crate::gates::{ChangeSet, DraftDigest, DraftMark};
use crate::page::testing::{But as _, page};
use crate::write::answer::{Notes, SetOutcome, WriteAnswer};
use crate::write::stages::lock::WriteLock;
use crate::write::testing::{Office, checked, list, office, permit_of, record, update};

/// A change that has nothing to do.
fn nothing() -> Change {
    Change::between(page(), page())
}

/// Sends a set to a wiki that nobody reaches.
async fn sent(office: &Office, set: ChangeSet) -> Result<WriteAnswer, Failure> {
    let job = WriteJob {
        record: record(&set),
        checked: checked(),
        proposal: None,
        lock: WriteLock::default(),
        knowing: None,
        family: None,
    };
    let sender = Office::sender();
    let answer = in_its_own_task(&office.desk, &sender, permit_of(set), job);
    answer.await.unwrap()
}

#[tokio::test]
async fn a_set_whose_first_change_fails_has_nothing_to_keep_or_to_take_back() {
    for keeps in [false, true] {
        let office = office();
        let set = list(vec![update(1), update(2)]).with(|batch| batch.keeps_on_failure = keeps);
        let failure = sent(&office, set).await.unwrap_err();
        assert_eq!(failure.code, Code::WikiUnavailable);
        assert_eq!(failure.details["outcome"], "not_applied");
        let changes = failure.details["changes"].as_array().unwrap();
        let outcomes: Vec<&str> = changes
            .iter()
            .map(|one| one["outcome"].as_str().unwrap())
            .collect();
        assert_eq!(outcomes, ["not_applied", "not_sent"], "{keeps}");
        // The first change was refused, the set has ended, and nothing was attempted.
        assert_eq!(office.words("event"), ["refusal", "outcome"]);
        assert_eq!(office.words("outcome"), ["", "not_applied"]);
    }
}

#[tokio::test]
async fn a_draft_ends_with_the_set_that_was_applied_and_stays_for_one_that_was_not() {
    let owner = || DraftOwner {
        counted_with: "c".to_owned(),
        called: None,
        key: KeyDigest::new(&[7; 32]),
    };
    let name = || "rework".parse::<DraftName>().unwrap();
    for (change, is_applied) in [(update(1), false), (nothing(), true)] {
        let office = office();
        let audit = &office.desk.audit;
        let held = audit.drafts.hold(owner(), name(), true).await.unwrap();
        let drafted = DraftChange {
            before: Some(page()),
            after: None,
            lost: Vec::new(),
            updates_links: false,
            part_of: None,
            warnings: Vec::new(),
            shown: Vec::new(),
        };
        let draft = held.join(drafted).await.unwrap();
        let mark = DraftMark {
            id: draft.id,
            revision: draft.revision,
            digest: DraftDigest::default(),
        };
        let answer = sent(
            &office,
            list(vec![change]).with(|batch| batch.draft = Some(mark)),
        )
        .await;
        match answer {
            Ok(WriteAnswer::Set(set)) => assert_eq!(set.outcome, SetOutcome::Applied),
            Ok(other) => panic!("{other:?}"),
            Err(failure) => assert!(!is_applied, "{failure}"),
        }
        let left = audit.drafts.get(owner(), name()).await.err();
        assert_eq!(left, is_applied.then_some(AuditError::NoDraft));
    }
}

/// A set of one change that is being sent.
fn run(office: &Office) -> Run {
    let set = list(vec![update(1)]);
    let permits = permit_of(set.clone()).split(CallId::new).unwrap();
    let first = at_first(&office.desk.wiki, &set, &permits, Notes::default());
    Run {
        context: Arc::clone(&office.desk),
        sender: Office::sender(),
        record: record(&set),
        progress: Arc::new(Mutex::new(first)),
        family: None,
        overtaken: 0,
    }
}

#[tokio::test]
async fn what_each_change_has_to_say_is_said_once_of_the_set() {
    let office = office();
    let run = run(&office);
    for code in ["css_minified", "css_minified", "overwrote_newer"] {
        run.warn(Notes::default().but(|notes| notes.warnings = vec![Warning::new(code, "why.")]));
    }
    let answer = run.progress.lock();
    let codes: Vec<&str> = answer.notes.warnings.iter().map(|one| &*one.code).collect();
    assert_eq!(codes, ["css_minified", "overwrote_newer"]);
}

#[tokio::test]
async fn a_set_that_the_end_of_the_server_cut_short_is_on_record_as_interrupted() {
    for (end, decision, outcome) in [
        (SetEnd::Interrupted, INTERRUPTED, SetOutcome::Interrupted),
        (SetEnd::TakenBack, "", SetOutcome::NotApplied),
    ] {
        let office = office();
        let run = run(&office);
        run.end(end, None).await;
        assert_eq!(office.words("event"), ["outcome"]);
        assert_eq!(office.words("decision"), [decision]);
        assert_eq!(run.progress.lock().outcome, outcome);
    }
}
