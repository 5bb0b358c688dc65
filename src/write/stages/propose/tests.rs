use super::open_set;
use crate::audit::{CallId, ProposalState};
use crate::change::Change;
use crate::gates::{ChangeSet, Gate, Policy, Refusal};
use crate::page::testing::page;
use crate::write::answer::Preview;
use crate::write::stages::show;
use crate::write::testing::{Office, checked, docket, session, set, update};

/// Leaves a change open.
async fn open(office: &Office, set: &ChangeSet) -> Result<Preview, Refusal> {
    let docket = &mut docket(set);
    super::open(&office.desk, docket, &session(), set, checked()).await
}

fn office() -> Office {
    Office::new(Policy::default())
}

#[tokio::test]
async fn a_change_is_kept_for_a_person_under_the_id_that_the_answer_names() {
    let office = office();
    let set = set(update(1));
    let shown = open(&office, &set).await.unwrap();
    let id = shown.proposal.unwrap();
    let kept = office.desk.audit.proposal(id).await.unwrap();
    assert_eq!((kept.page, kept.is_open()), (Some(1), true));
    assert_eq!(shown.confirm, None);
    let said = &shown.notes.warnings[0];
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
        let shown = open(&office, &set).await.unwrap();
        ids.push(shown.proposal.unwrap());
        replaced.push(shown.notes.replaces);
    }
    assert_eq!(replaced, [None, None, Some(ids[0])]);
}

#[tokio::test]
async fn nothing_to_do_is_shown_and_not_kept() {
    let office = office();
    let set = set(Change::between(page(), page()));
    let shown = open(&office, &set).await.unwrap();
    assert_eq!((shown.proposal, shown.confirm), (None, None));
    assert!(shown.notes.warnings.is_empty(), "{:?}", shown.notes);
    assert_eq!(office.words("event"), ["preview"]);
    assert_eq!(office.words("decision"), ["dry_run"]);
}

#[tokio::test]
async fn a_set_is_kept_as_one_proposal_of_all_its_changes() {
    let office = office();
    let changes = vec![update(1).into(), update(2).into()];
    let set = ChangeSet::list(CallId::new().unwrap(), changes).unwrap();
    let mut docket = docket(&set);
    let shown = open_set(&office.desk, &mut docket, &session(), &set, checked()).await;
    let shown = shown.unwrap();
    let kept = office.desk.audit.proposal(shown.proposal.unwrap()).await;
    let kept = kept.unwrap();
    let pages: Vec<_> = kept.changes().map(|one| one.page).collect();
    assert_eq!(pages, [Some(1), Some(2)]);
    assert_eq!(shown.confirm, None);
    assert_eq!(shown.notes.warnings[0].code, "proposed");
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
    let desk = &office.desk;
    let first = set(update(1));
    let docket = docket(&first);
    let shown = open(&office, &first).await;
    let id = shown.unwrap().proposal.unwrap();
    show::is_applied(desk, &docket, &first, None).await.unwrap();
    assert!(desk.audit.proposal(id).await.unwrap().is_open());
    let of_proposal = first.of_proposal(Some(id));
    let applied = show::is_applied(desk, &docket, &of_proposal, None).await;
    applied.unwrap();
    let state = desk.audit.proposal(id).await.unwrap().state;
    assert!(matches!(state, ProposalState::Applied { .. }), "{state:?}");
}
