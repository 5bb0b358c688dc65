use std::fs::File;

use proptest::prelude::*;
use time::OffsetDateTime;
use time::macros::datetime;

use super::{CallHistory, CallHistoryError, CallSelector, story};
use crate::audit::run::indexed::tests::make_index;
use crate::audit::run::open_attempts::open_attempts;
use crate::audit::testing::{Script, page};
use crate::audit::{AuditEntry, AuditEvent, AuditLog, CallFilter, CallId, Outcome};
use crate::change::Operation;
use crate::page::Field;
use crate::page::testing::But as _;

const START: OffsetDateTime = datetime!(2020-01-01 00:00 UTC);

fn told(call: CallId, event: AuditEvent, step: &str, outcome: Option<Outcome>) -> AuditEntry {
    AuditEntry {
        operation: Some(Operation::Update),
        fields: vec![Field::Title],
        step: Some(step.to_owned()),
        outcome,
        ..AuditEntry::new(call, event)
    }
}

/// The course of a modelled call.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Refused,
    Previewed,
    Unchanged,
    Open,
    Settled(Outcome),
    /// Moved, and then the update had this outcome.
    Moved(Outcome),
    /// Moved, and then the log failed.
    Stopped,
}

impl Kind {
    fn is_applied(self) -> bool {
        matches!(
            self,
            Self::Settled(Outcome::Applied) | Self::Moved(Outcome::Applied)
        )
    }

    fn outcome(self) -> Option<Outcome> {
        match self {
            Self::Refused | Self::Previewed | Self::Open => None,
            Self::Unchanged => Some(Outcome::Unchanged),
            Self::Moved(Outcome::NotApplied) | Self::Stopped => Some(Outcome::PartlyApplied),
            Self::Settled(outcome) | Self::Moved(outcome) => Some(outcome),
        }
    }
}

#[derive(Debug, Clone)]
enum Op {
    /// In one of the runs, a call that may take back an earlier one.
    Call {
        run: usize,
        kind: Kind,
        undoes: Option<prop::sample::Index>,
    },
    /// In one of the runs, an open attempt is settled.
    Settle {
        run: usize,
        which: prop::sample::Index,
        outcome: Outcome,
    },
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        6 => Just(Outcome::Applied),
        1 => Just(Outcome::NotApplied),
        1 => Just(Outcome::PartlyApplied),
        1 => Just(Outcome::Unknown),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let kind = prop_oneof![
        1 => Just(Kind::Refused),
        1 => Just(Kind::Previewed),
        1 => Just(Kind::Unchanged),
        2 => Just(Kind::Open),
        9 => outcome().prop_map(Kind::Settled),
        2 => outcome().prop_map(Kind::Moved),
        1 => Just(Kind::Stopped),
    ];
    let undoes = prop::option::weighted(0.6, any::<prop::sample::Index>());
    prop_oneof![
        8 => (0..RUNS, kind, undoes).prop_map(|(run, kind, undoes)| Op::Call { run, kind, undoes }),
        1 => (0..RUNS, any::<prop::sample::Index>(), outcome())
            .prop_map(|(run, which, outcome)| Op::Settle { run, which, outcome }),
    ]
}

const RUNS: usize = 3;

/// A call as the model knows it.
#[derive(Debug)]
struct Known {
    call: CallId,
    run: usize,
    kind: Kind,
    undoes: Option<CallId>,
    /// The place of its outcome in time.
    at: usize,
}

#[derive(Default)]
struct Model(Vec<Known>);

impl Model {
    fn undone_by(&self, call: CallId) -> Option<CallId> {
        self.0
            .iter()
            .filter(|it| it.undoes == Some(call) && it.kind.is_applied())
            .filter(|it| self.undone_by(it.call).is_none())
            .max_by_key(|it| it.at)
            .map(|it| it.call)
    }

    fn last(&self) -> Option<CallId> {
        self.0
            .iter()
            .filter(|it| it.kind.is_applied() && it.undoes.is_none())
            .filter(|it| self.undone_by(it.call).is_none())
            .max_by_key(|it| it.at)
            .map(|it| it.call)
    }

    /// Open attempts of runs that are not held.
    fn open(&self, held: usize) -> Vec<CallId> {
        let mut open: Vec<CallId> = self
            .0
            .iter()
            .filter(|it| matches!(it.kind, Kind::Open) && it.run != held)
            .map(|it| it.call)
            .collect();
        open.sort();
        open
    }
}

fn write(script: &mut Script, time: OffsetDateTime, known: &Known) {
    let call = known.call;
    let mut say = |entry: AuditEntry| {
        script.entry(time, &entry.but(|entry| entry.undoes = known.undoes));
    };
    let mut step = |step: &str, is_moved: bool, outcome: Option<Outcome>| {
        let fields = if is_moved {
            vec![Field::Path, Field::Title]
        } else {
            vec![Field::Title]
        };
        for (event, outcome) in [(AuditEvent::Attempt, None), (AuditEvent::Outcome, outcome)] {
            if event == AuditEvent::Attempt || outcome.is_some() {
                say(told(call, event, step, outcome).but(|entry| entry.fields = fields.clone()));
            }
        }
    };
    match known.kind {
        Kind::Refused => say(AuditEntry::new(call, AuditEvent::Refusal)),
        Kind::Previewed => say(AuditEntry::new(call, AuditEvent::Preview)),
        Kind::Unchanged => say(AuditEntry::new(call, AuditEvent::Outcome)
            .but(|entry| entry.outcome = Some(Outcome::Unchanged))),
        Kind::Open => step("update", false, None),
        Kind::Settled(outcome) => step("update", false, Some(outcome)),
        Kind::Moved(outcome) => {
            step("move", true, Some(Outcome::Applied));
            step("update", true, Some(outcome));
        }
        Kind::Stopped => {
            step("move", true, Some(Outcome::Applied));
            say(AuditEntry::new(call, AuditEvent::Refusal));
        }
    }
}

fn enact(scripts: &mut [Script], ops: &[Op]) -> Model {
    let mut model = Model::default();
    for (at, op) in ops.iter().enumerate() {
        let time = START + time::Duration::seconds(i64::try_from(at).unwrap());
        match op {
            Op::Call { run, kind, undoes } => {
                let known = Known {
                    call: CallId::new().unwrap(),
                    run: *run,
                    kind: *kind,
                    undoes: undoes
                        .filter(|_| !model.0.is_empty())
                        .map(|index| index.get(&model.0).call),
                    at,
                };
                write(&mut scripts[*run], time, &known);
                model.0.push(known);
            }
            Op::Settle {
                run,
                which,
                outcome,
            } => {
                let mut open: Vec<&mut Known> = model
                    .0
                    .iter_mut()
                    .filter(|it| matches!(it.kind, Kind::Open))
                    .collect();
                if open.is_empty() {
                    continue;
                }
                let index = which.index(open.len());
                let known = &mut *open[index];
                let entry = told(known.call, AuditEvent::Outcome, "update", Some(*outcome))
                    .but(|entry| entry.undoes = known.undoes);
                scripts[*run].entry(time, &entry);
                known.kind = Kind::Settled(*outcome);
                known.at = at;
            }
        }
    }
    model
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn last_undone_and_open_are_as_in_a_simple_model(
        ops in prop::collection::vec(op(), 0..40),
        held in 0..RUNS,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let log = AuditLog::new(dir.path(), "docs").by_index();
        let place = log.place.clone();
        let mut scripts: Vec<Script> = (0..RUNS)
            .map(|_| Script::begin(dir.path(), START, Vec::new()))
            .collect();
        let model = enact(&mut scripts, &ops);
        let paths: Vec<_> = scripts.into_iter().map(Script::kill).collect();
        let living = File::open(&paths[held]).unwrap();
        living.try_lock().unwrap();

        let mut stats = Vec::new();
        for is_indexed in [false, true] {
            if is_indexed {
                make_index(&place);
            }
            stats.push(log.calls.stats(&CallFilter::default()));
            let last = story(&log.calls, &CallSelector::Last, None).map(|story| story.call);
            prop_assert_eq!(last, model.last().ok_or(CallHistoryError::NoneLeft));
            for known in &model.0 {
                let story = story(&log.calls, &known.call.into(), None).unwrap();
                prop_assert_eq!(story.undone_by, model.undone_by(known.call));
                prop_assert_eq!(story.outcome, known.kind.outcome());
                prop_assert_eq!(story.is_open, matches!(known.kind, Kind::Open));
                prop_assert!(!story.has_unreadable && !story.is_cut);
            }
        }
        prop_assert_eq!(&stats[0], &stats[1]);
        let mut open: Vec<CallId> = open_attempts(&place, None)
            .unwrap()
            .iter()
            .map(|attempt| attempt.entry.call)
            .collect();
        open.sort();
        prop_assert_eq!(open, model.open(held));
    }
}

#[tokio::test]
async fn a_story_goes_on_in_later_runs() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let call = CallId::new().unwrap();
    let state = async |title| log.states.keep(&page(title)).await;
    let (before, after) = (state("a").await.unwrap(), state("b").await.unwrap());
    let found = state("c").await.unwrap();
    let mut first = Script::begin(dir.path(), START, Vec::new());
    first.entry(
        START,
        &AuditEntry {
            operation: Some(Operation::Create),
            step: Some("create".to_owned()),
            before: Some(before),
            after: Some(after),
            ..AuditEntry::new(call, AuditEvent::Attempt)
        },
    );
    first.kill();
    let open = log.calls.story(&call.into()).await.unwrap();
    assert_eq!((open.outcome, open.is_open, open.id), (None, true, None));

    let settled = log.runs.open_attempts(None).await.unwrap().remove(0);
    log.record(AuditEntry {
        id: Some(9),
        found: Some(found),
        ..settled.outcome(Outcome::Applied)
    })
    .await
    .unwrap();
    assert_eq!(log.runs.open_attempts(None).await.unwrap(), []);
    let prefix = call.to_string().get(..4).unwrap().parse().unwrap();
    let story = log.calls.story(&prefix).await.unwrap();
    assert_eq!(story, log.calls.story(&CallSelector::Last).await.unwrap());
    let events: Vec<AuditEvent> = story.records.iter().map(|record| record.event).collect();
    assert_eq!(events, [AuditEvent::Attempt, AuditEvent::Outcome]);
    assert_eq!(story.outcome, Some(Outcome::Applied));
    assert_eq!(story.operation, Some(Operation::Create));
    assert_eq!(story.id, Some(9));
    assert_eq!(story.undone_by, None);
    assert_eq!(story.before, Some(before));
    assert_eq!(story.after, Some(after));
    assert_eq!(story.last_applied().unwrap().found, Some(found));
}

#[tokio::test]
async fn a_prefix_of_several_calls_names_them_and_a_wrong_one_none() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let find = async |text: &str| log.calls.story(&text.parse().unwrap()).await;
    assert_eq!(find("last").await, Err(CallHistoryError::NoneLeft));
    let mut script = Script::begin(dir.path(), START, Vec::new());
    let mut calls = Vec::new();
    for n in 0..10 {
        let call: CallId = format!("abcd{n}00000000000").parse().unwrap();
        script.entry(START, &AuditEntry::new(call, AuditEvent::Refusal));
        calls.push(call);
    }
    script.kill();
    assert_eq!(
        find("abcd").await,
        Err(CallHistoryError::Ambiguous {
            candidates: calls[..8].to_vec(),
            has_more: true
        })
    );
    assert_eq!(find("abcd3").await.unwrap().call, calls[3]);
    assert_eq!(find("abcd300000000000").await.unwrap().call, calls[3]);
    assert_eq!(find("bcd3").await, Err(CallHistoryError::NotFound));
    assert_eq!(
        find("abcd300000000001").await,
        Err(CallHistoryError::NotFound)
    );
    assert_eq!(find("last").await, Err(CallHistoryError::NoneLeft));
    for bad in ["", "abc", "ABCD", "abcd3000000000000", "latest", "../a"] {
        assert!(bad.parse::<CallSelector>().is_err(), "{bad}");
    }
}

#[tokio::test]
async fn undos_in_a_ring_undo_nothing_and_end() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let [one, two] = [CallId::new().unwrap(), CallId::new().unwrap()];
    let mut script = Script::begin(dir.path(), START, Vec::new());
    for (call, undoes) in [(one, two), (two, one)] {
        for (event, outcome) in [
            (AuditEvent::Attempt, None),
            (AuditEvent::Outcome, Some(Outcome::Applied)),
        ] {
            script.entry(
                START,
                &told(call, event, "update", outcome).but(|entry| entry.undoes = Some(undoes)),
            );
        }
    }
    script.kill();
    let story: CallHistory = log.calls.story(&two.into()).await.unwrap();
    assert_eq!((story.call, story.undone_by), (two, None));
}

#[tokio::test]
async fn a_line_that_may_tell_of_an_undo_and_cannot_be_read_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let call = CallId::new().unwrap();
    let mut script = Script::begin(dir.path(), START, Vec::new());
    script.entry(START, &AuditEntry::new(call, AuditEvent::Refusal));
    let path = script.kill();
    assert!(!log.calls.story(&call.into()).await.unwrap().has_unreadable);
    let damaged = format!("{{\"undoes\":\"{call}\"}}\n");
    let whole = std::fs::read_to_string(&path).unwrap() + &damaged;
    std::fs::write(&path, whole).unwrap();
    assert!(log.calls.story(&call.into()).await.unwrap().has_unreadable);
}
