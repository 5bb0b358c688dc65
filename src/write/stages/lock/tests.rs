use std::time::Duration;

use super::take;
use crate::audit::{AuditError, AuditLog};
use crate::change::Change;
use crate::error::Code;
use crate::gates::{Gate, Refusal, TurnOf};
use crate::page::testing::page;
use crate::write::route::Warrant;
use crate::write::source::{Bulk, PageSelection, Under, Update, WriteRequest};
use crate::write::testing::{Office, move_and_update, office, record, session, set, update};

/// Tells of page 1, page 2 and the tree if others must wait for it.
async fn held(audit: &AuditLog) -> [bool; 3] {
    let now = Duration::ZERO;
    let is_busy = |error: Option<AuditError>| error == Some(AuditError::Busy);
    [
        is_busy(audit.lock_page(1, now).await.err()),
        is_busy(audit.lock_page(2, now).await.err()),
        is_busy(audit.lock_tree(now).await.err()),
    ]
}

#[tokio::test]
async fn each_kind_of_change_keeps_others_from_its_page_and_from_the_tree_if_it_rebuilds_it() {
    let office = office();
    let audit = &office.desk.audit;
    for (change, expected) in [
        (update(1), [true, false, false]),
        (Change::recreate(page()), [false, false, true]),
        (move_and_update(), [true, false, true]),
        (Change::delete(page()), [true, false, true]),
    ] {
        let lock = take(audit, TurnOf::of(&change), Duration::ZERO).await;
        assert_eq!(held(audit).await, expected, "{change:?}");
        drop(lock.unwrap());
        assert_eq!(held(audit).await, [false; 3], "{change:?}");
    }
}

#[tokio::test]
async fn a_write_that_cannot_have_all_its_locks_in_time_keeps_none() {
    let office = office();
    let audit = &office.desk.audit;
    let other = TurnOf::of(&move_and_update());
    let _other = take(audit, other, Duration::ZERO).await.unwrap();
    for (page, rebuilds_tree) in [(Some(1), false), (Some(2), true)] {
        let turn = TurnOf {
            page,
            rebuilds_tree,
        };
        let refusal = Refusal::from(take(audit, turn, Duration::ZERO).await.err().unwrap());
        assert_eq!(refusal.gate, Gate::Record);
        assert_eq!(refusal.failure.code, Code::Timeout);
    }
    // What the second had locked before it gave up is free again.
    assert_eq!(held(audit).await, [true, false, true]);
}

/// The turn of a request, with what confirms it.
async fn turn(
    office: &Office,
    warrant: &Warrant,
    request: &WriteRequest,
) -> Result<TurnOf, Refusal> {
    let desk = &office.desk;
    let record = record(&set(update(1)));
    let call = desk.call(&desk.policy, &record, Under::Wiki);
    warrant.turn(call, request).await
}

fn renaming(id: i64, updates_links: bool) -> WriteRequest {
    WriteRequest::Update(Update {
        id,
        edits: None,
        former: None,
        accept_loss: Vec::new(),
        if_updated_at: None,
        updates_links,
    })
}

#[tokio::test]
async fn a_previews_token_takes_the_turn_of_what_was_shown_and_the_static_token_that_of_the_call() {
    let office = office();
    let shown = office
        .desk
        .memory
        .previews
        .offer(&session(), set(update(1)));
    let preview = Warrant::Preview(shown.unwrap().token);
    let request = renaming(2, false);
    let of = async |warrant| turn(&office, warrant, &request).await.unwrap();
    assert_eq!(of(&preview).await, TurnOf::of(&update(1)));
    let own = TurnOf {
        page: Some(2),
        rebuilds_tree: true,
    };
    assert_eq!(of(&Warrant::StaticToken).await, own);
    let unknown = Warrant::Preview("unknown".to_owned());
    let refused = turn(&office, &unknown, &request).await.unwrap_err();
    assert_eq!(refused.gate, Gate::Confirm);
}

#[tokio::test]
async fn a_request_whose_changes_take_turns_of_their_own_takes_none() {
    let office = office();
    let bulk = WriteRequest::Bulk(Box::new(Bulk {
        which: PageSelection::Ids(vec![1]),
        tags: None,
        replace_all: crate::change::ReplaceAll::default(),
        is_published: None,
        move_to: None,
        expect_pages: None,
        keeps_on_failure: false,
        selected_by: Vec::new(),
        elsewhere: 0,
    }));
    for request in [renaming(1, true), bulk] {
        let turn = turn(&office, &Warrant::StaticToken, &request).await;
        assert_eq!(turn.unwrap(), TurnOf::default());
    }
}
