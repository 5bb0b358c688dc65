use super::{attempt, failed, outcome};
use crate::audit::{AuditError, Outcome};
use crate::change::{Change, Operation};
use crate::error::Code;
use crate::page::PageState;
use crate::page::testing::{But as _, numbered, page};
use crate::write::stages::verify::Settled;
use crate::write::testing::{move_and_update, office, permit, proof, record, set, update};

/// The step was applied, and the page read back like this.
fn settled(found: Option<PageState>) -> Settled {
    let proof = found.map(|found| proof(&found.clone(), found));
    Settled::sent(Outcome::Applied, proof, None)
}

#[tokio::test]
async fn each_step_is_taken_once_in_order_and_is_on_record_first() {
    let office = office();
    let mut permit = permit(move_and_update());
    let record = record(permit.set());
    let audit = &office.desk.audit;
    for (number, kind) in [(1, Operation::Move), (2, Operation::Update)] {
        let step = attempt(audit, &record, &mut permit, &[]).await.unwrap();
        assert_eq!(step.unwrap().kind(), kind);
        assert_eq!(office.words("event"), vec!["attempt"; number]);
    }
    assert_eq!(office.words("step"), ["move", "update"]);
    let none = attempt(audit, &record, &mut permit, &[]).await.unwrap();
    assert!(none.is_none());
    assert_eq!(office.records().len(), 2, "an attempt of nothing");
}

#[tokio::test]
async fn an_attempt_that_is_not_on_record_yields_no_step() {
    let office = office();
    office.without_log().await;
    let mut permit = permit(update(1));
    let record = record(permit.set());
    let refused = attempt(&office.desk.audit, &record, &mut permit, &[]).await;
    assert_eq!(refused.unwrap_err(), AuditError::Ended);
    assert_eq!(permit.upcoming(), Some(Operation::Update));
}

#[tokio::test]
async fn the_page_as_found_is_kept_only_if_it_is_not_as_promised() {
    let change = update(1);
    let promised = change.after().unwrap().clone();
    let other = promised.clone().but(|page| page.title = "C".to_owned());
    // When the wiki wrote it is no field.
    let later =
        promised.but(|page| page.updated_at = Some("2026-01-01T00:00:00.000Z".to_owned().into()));
    for (found, is_kept) in [(Some(later), false), (Some(other), true), (None, false)] {
        let office = office();
        let record = record(&set(change.clone()));
        let settled = settled(found);
        let step = (Operation::Update, &change);
        assert!(outcome(&office.desk.audit, &record, step, &settled, None).await);
        let records = office.records();
        assert_eq!(records[0]["outcome"], "applied");
        assert_eq!(records[0].get("found").is_some(), is_kept, "{settled:?}");
    }
}

#[tokio::test]
async fn the_outcome_of_a_create_names_the_page_that_was_made() {
    let change = Change::recreate(page());
    let made = numbered(41);
    for (found, id) in [(Some(made), Some(41)), (None, None)] {
        let office = office();
        let record = record(&set(change.clone()));
        let settled = settled(found);
        let step = (Operation::Create, &change);
        assert!(outcome(&office.desk.audit, &record, step, &settled, None).await);
        assert_eq!(office.records()[0]["id"].as_i64(), id);
    }
}

#[tokio::test]
async fn an_outcome_that_is_not_on_record_is_told() {
    let office = office();
    office.without_log().await;
    let (change, record) = (update(1), record(&set(update(1))));
    let settled = settled(None);
    let step = (Operation::Update, &change);
    assert!(!outcome(&office.desk.audit, &record, step, &settled, None).await);
}

#[tokio::test]
async fn a_log_that_fails_behind_the_move_leaves_a_page_partly_written() {
    let office = office();
    let change = move_and_update();
    let error = || AuditError::Ended;
    let (audit, record) = (&office.desk.audit, record(&set(move_and_update())));
    let before = failed(audit, &record, error(), &change, None).await;
    assert_eq!(before.code, Code::AuditUnavailable);
    assert!(!before.details.contains_key("outcome"), "{before:?}");
    let moved = settled(None);
    let behind = failed(audit, &record, error(), &change, Some(&moved)).await;
    assert_eq!(behind.code, Code::PartlyApplied);
    assert_eq!(behind.details["fields"], serde_json::json!(["scriptCss"]));
    assert_eq!(behind.details["outcome"], "partly_applied");
    // Both times the record says why nothing more was sent.
    assert_eq!(office.words("event"), ["refusal", "refusal"]);
    assert_eq!(office.words("gate"), ["record", "record"]);
    assert_eq!(office.words("code"), ["AUDIT_UNAVAILABLE"; 2]);
}
