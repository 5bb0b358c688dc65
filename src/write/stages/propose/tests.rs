use super::keep;
use crate::audit::{ProposalId, ProposalState};
use crate::change::Change;
use crate::gates::{ChangeSet, Gate, Policy, Refusal};
use crate::page::testing::page;
use crate::write::answer::{Notes, WriteAnswer};
use crate::write::stages::show;
use crate::write::testing::{Office, list, record, set, update};

/// Leaves a set open: its id, and what the answer says of it.
async fn open(office: &Office, set: &ChangeSet) -> Result<(Option<ProposalId>, Notes), Refusal> {
    let mut notes = Notes::default();
    let record = &mut record(set);
    let (proposals, review) = (&office.desk.proposals, &office.desk.policy.review);
    let id = keep(proposals, review, record, set, &mut notes).await?;
    Ok((id, notes))
}

fn office() -> Office {
    Office::new(Policy::default())
}

#[tokio::test]
async fn a_change_is_kept_for_a_person_under_the_id_that_the_answer_names() {
    let office = office();
    let set = set(update(1));
    let (id, notes) = open(&office, &set).await.unwrap();
    let id = id.unwrap();
    let kept = office.desk.audit.proposals.get(id).await.unwrap();
    assert_eq!((kept.first.page, kept.is_open()), (Some(1), true));
    let said = &notes.warnings[0];
    assert_eq!(said.code, "proposed");
    let command = format!("`wikijs-gate proposals apply {id}`");
    assert!(said.message.contains(&command), "{said:?}");
}

#[tokio::test]
async fn another_proposal_for_the_same_page_replaces_the_first_and_no_other() {
    let office = office();
    let mut ids = Vec::new();
    let mut replaced = Vec::new();
    for page in [1, 2, 1] {
        let set = set(update(page));
        let (id, notes) = open(&office, &set).await.unwrap();
        ids.push(id.unwrap());
        replaced.push(notes.replaces);
    }
    assert_eq!(replaced, [None, None, Some(ids[0])]);
}

#[tokio::test]
async fn nothing_to_do_is_shown_and_not_kept() {
    let office = office();
    let set = set(Change::between(page(), page()));
    let (id, notes) = open(&office, &set).await.unwrap();
    assert_eq!((id, notes), (None, Notes::default()));
    assert_eq!(office.words("event"), ["preview"]);
    assert_eq!(office.words("decision"), ["dry_run"]);
}

#[tokio::test]
async fn a_set_is_kept_as_one_proposal_of_all_its_changes() {
    let office = office();
    let set = list(vec![update(1), update(2)]);
    let (id, _) = open(&office, &set).await.unwrap();
    let kept = office.desk.audit.proposals.get(id.unwrap()).await.unwrap();
    let pages: Vec<_> = kept.changes().map(|one| one.page).collect();
    assert_eq!(pages, [Some(1), Some(2)]);
}

#[tokio::test]
async fn what_is_not_on_record_is_not_kept() {
    let office = office();
    office.without_log().await;
    let set = set(update(1));
    let refused = open(&office, &set).await;
    assert_eq!(refused.unwrap_err().gate, Gate::Record);
}

#[tokio::test]
async fn a_proposal_with_nothing_left_to_do_counts_as_applied() {
    let office = office();
    let (desk, first) = (&office.desk, set(update(1)));
    let (id, _) = open(&office, &first).await.unwrap();
    let id = id.unwrap();
    let unchanged = async |set: &ChangeSet| {
        let record = record(set);
        show::unchanged(&desk.proposals, &record, set, Notes::default(), None).await
    };
    unchanged(&first).await.unwrap();
    assert!(desk.audit.proposals.get(id).await.unwrap().is_open());
    let answer = unchanged(&first.of_proposal(Some(id))).await.unwrap();
    assert!(matches!(answer, WriteAnswer::Applied(applied) if applied.is_unchanged()));
    let state = desk.audit.proposals.get(id).await.unwrap().state;
    assert!(matches!(state, ProposalState::Applied { .. }), "{state:?}");
}
