use super::{keep, stopped, unchanged};
use crate::audit::CallId;
use crate::change::{Change, Warning};
use crate::error::{Code, Failure};
use crate::gates::{ChangeSet, Gate, LinkLeft, Policy, Refusal, WritePolicy, enabled};
use crate::page::testing::{But as _, page};
use crate::page::{Locale, PagePath, Prefix};
use crate::write::answer::{Notes, WriteAnswer};
use crate::write::caller::Extent;
use crate::write::source::conflict::Stopped;
use crate::write::stages::batch_preview::preview;
use crate::write::testing::{
    Office, checked, mending, move_and_update, office, person, policy, record, session, set, update,
};

/// The refusal under a policy for a change that could not be made.
async fn refusal(office: &Office, policy: &Policy, code: Code, merged: Option<Change>) -> Refusal {
    let enabled = enabled(policy, &session(), None).unwrap();
    let failure = Failure::new(code, "Why.");
    let merged = merged.map(Box::new);
    let why = Stopped { failure, merged };
    let record = record(&set(update(1)));
    let desk = &office.desk;
    stopped(&desk.audit, &desk.memory.previews, enabled, &record, why).await
}

/// Keeps a set under a token, which this returns.
async fn kept(office: &Office, set: &ChangeSet) -> Result<String, Refusal> {
    let desk = &office.desk;
    let kept = keep(&desk.audit, &desk.memory.previews, &record(set), set).await;
    kept.map(|kept| kept.token)
}

#[tokio::test]
async fn a_preview_comes_with_a_token_for_this_very_set_and_is_on_record() {
    let office = office();
    let set = set(update(1));
    let token = kept(&office, &set).await.unwrap();
    let kept = office
        .desk
        .memory
        .previews
        .look(&session(), &token)
        .unwrap();
    assert!(kept.is_same_write(&set));
    assert_eq!(office.words("event"), ["preview"]);
    assert_eq!(office.words("decision"), ["to_be_confirmed"]);
}

#[tokio::test]
async fn a_preview_that_is_not_on_record_gives_no_token() {
    let office = office();
    office.without_log().await;
    let set = set(update(1));
    let shown = kept(&office, &set).await;
    assert_eq!(shown.unwrap_err().gate, Gate::Record);
}

#[test]
fn only_a_delete_says_first_what_the_wiki_does_not_keep() {
    let office = office();
    for (change, expected) in [
        (Change::delete(page()), &["lost_for_good", "other"][..]),
        (move_and_update(), &["other"]),
        (update(1), &["other"]),
    ] {
        let mut checked = checked();
        let other = Warning::new("other", "one more.");
        checked.notes.warnings.push(other);
        let shown = preview(&office.desk.wiki, &set(change), checked, Extent::Whole);
        let codes = shown.notes.warnings.iter().map(|one| one.code.to_string());
        assert_eq!(codes.collect::<Vec<_>>(), expected);
    }
}

#[tokio::test]
async fn a_change_that_cannot_be_made_is_refused_at_the_gate_that_its_caller_can_mend() {
    let office = office();
    for (code, gate) in [
        (Code::ConfirmExpired, Gate::Confirm),
        (Code::ConfirmMismatch, Gate::Confirm),
        (Code::ConfirmRequired, Gate::Change),
        (Code::EditConflict, Gate::Change),
        (Code::PageNotFound, Gate::Change),
    ] {
        let refusal = refusal(&office, &office.desk.policy, code, None).await;
        assert_eq!((refusal.gate, refusal.failure.code), (gate, code));
        assert!(!refusal.failure.details.contains_key("merged"));
    }
    assert_eq!(office.records().len(), 0);
}

#[tokio::test]
async fn a_merge_is_shown_and_has_a_token_only_where_tokens_confirm() {
    for (policy, has_token) in [
        (policy(WritePolicy::Preview), true),
        (policy(WritePolicy::Preview).for_operator(), true),
        (policy(person()), false),
        (policy(WritePolicy::DryRun), false),
    ] {
        let office = office();
        let merged = Some(update(1));
        let refusal = refusal(&office, &policy, Code::EditConflict, merged).await;
        assert_eq!(refusal.gate, Gate::Change);
        let shown = &refusal.failure.details["merged"];
        assert!(shown["diff"].is_string(), "{shown}");
        let token = shown["confirm"].as_str();
        assert_eq!(token.is_some(), has_token, "{policy:?}");
        if let Some(token) = token {
            let kept = office.desk.memory.previews.look(&session(), token).unwrap();
            assert!(kept.is_same_write(&set(update(1))));
        }
        assert_eq!(office.records().len(), usize::from(has_token));
    }
}

#[tokio::test]
async fn a_merge_is_not_shown_where_its_place_may_not_be_written() {
    let office = office();
    let denying =
        policy(WritePolicy::Preview).but(|it| it.denied = vec![Prefix::parse("docs").unwrap()]);
    let merged = Some(update(1));
    let refusal = refusal(&office, &denying, Code::EditConflict, merged).await;
    assert_eq!(refusal.gate, Gate::Paths);
    assert!(!refusal.failure.details.contains_key("merged"));
    assert_eq!(office.records().len(), 0);
}

#[tokio::test]
async fn nothing_to_do_is_answered_with_the_page_as_it_is_and_on_record_as_unchanged() {
    let office = office();
    let at = "2026-01-01T00:00:00.000Z";
    let page = page().but(|it| it.updated_at = Some(at.to_owned().into()));
    let set = set(Change::between(page.clone(), page));
    let (record, proposals) = (record(&set), &office.desk.proposals);
    let answer = unchanged(proposals, &record, &set, Notes::default(), None).await;
    let Ok(WriteAnswer::Applied(answer)) = answer else {
        panic!("{answer:?}");
    };
    assert!(answer.is_unchanged());
    assert_eq!(answer.updated_at.as_deref(), Some(at));
    assert_eq!(answer.change.changed, []);
    assert_eq!(office.words("outcome"), ["unchanged"]);
}

#[test]
fn the_links_that_a_set_does_not_mend_are_told() {
    let left = LinkLeft {
        id: 2,
        place: (Locale::as_stored("en"), PagePath::as_stored("docs/b")),
        link: Some(("/docs/a".to_owned(), 1)),
        why: "in code".into(),
    };
    let mending = mending(3, 0, vec![left.clone()]);
    let list = || ChangeSet::list(CallId::new().unwrap(), vec![update(1).into()]).unwrap();
    let links_left = |set: ChangeSet| set.links_left().cloned().collect::<Vec<_>>();
    assert_eq!(
        links_left(list().with(|batch| batch.mending = Some(mending))),
        [left]
    );
    assert_eq!(links_left(list()), []);
}
