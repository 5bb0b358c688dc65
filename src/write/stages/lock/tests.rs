use std::time::Duration;

use super::{of_change, take};
use crate::audit::{AuditError, ProposalId};
use crate::change::Change;
use crate::error::{Code, Failure};
use crate::gates::{ChangeSet, Gate, WritePolicy};
use crate::page::testing::page;
use crate::write::audit_entry::EntryBuilder;
use crate::write::context::WriteContext;
use crate::write::route::Warrant;
use crate::write::source::conflict::Stopped;
use crate::write::source::{ChangeSource, ComparedSet, Later, WriteCall};
use crate::write::stages::propose::open;
use crate::write::testing::{
    Office, checked, docket, move_and_update, policy, session, set, update,
};

/// A source that says of itself only which turn it takes.
struct Wants {
    page: Option<i64>,
    tree: bool,
    turn: bool,
    proposal: Option<ProposalId>,
}

const OWN: Wants = Wants {
    page: Some(2),
    tree: false,
    turn: true,
    proposal: None,
};

impl ChangeSource for Wants {
    fn tell<'a>(&'a self, _: &'a WriteContext, _: &'a mut EntryBuilder) -> Later<'a, ()> {
        Box::pin(async {})
    }

    fn page_of_turn<'a>(&'a self, _: &'a WriteContext) -> Later<'a, Option<i64>> {
        Box::pin(async { self.page })
    }

    fn has_turn(&self) -> bool {
        self.turn
    }

    fn rebuilds_tree(&self) -> bool {
        self.tree
    }

    fn proposal(&self) -> Option<ProposalId> {
        self.proposal
    }

    fn made<'a>(&'a self, _: WriteCall<'a>) -> Later<'a, Result<ComparedSet, Stopped>> {
        Box::pin(async { Err(Failure::new(Code::PageNotFound, "It makes none.").into()) })
    }

    fn shown_again<'a>(
        &'a self,
        call: WriteCall<'a>,
        _: ChangeSet,
    ) -> Later<'a, Result<ComparedSet, Stopped>> {
        self.made(call)
    }
}

fn office() -> Office {
    Office::new(policy(WritePolicy::Preview))
}

/// Tells of page 1, page 2 and the tree if others must wait for it.
async fn held(desk: &WriteContext) -> [bool; 3] {
    let now = Duration::ZERO;
    let is_busy = |error: Option<AuditError>| error == Some(AuditError::Busy);
    [
        is_busy(desk.audit.lock_page(1, now).await.err()),
        is_busy(desk.audit.lock_page(2, now).await.err()),
        is_busy(desk.audit.lock_tree(now).await.err()),
    ]
}

#[tokio::test]
async fn each_kind_of_change_keeps_others_from_its_page_and_from_the_tree_if_it_rebuilds_it() {
    let office = office();
    for (change, expected) in [
        (update(1), [true, false, false]),
        (Change::recreate(page()), [false, false, true]),
        (move_and_update(), [true, false, true]),
        (Change::delete(page()), [true, false, true]),
    ] {
        let turn = of_change(&office.desk, &change).await.unwrap();
        assert_eq!(held(&office.desk).await, expected, "{change:?}");
        drop(turn);
        assert_eq!(held(&office.desk).await, [false; 3], "{change:?}");
    }
}

#[tokio::test]
async fn a_previews_token_takes_the_turn_of_what_was_shown_and_the_static_token_that_of_the_call() {
    let office = office();
    let desk = &office.desk;
    let shown = desk.memory.preview(&session(), set(move_and_update()));
    let preview = Warrant::Preview(shown.unwrap().token);
    let turn = take(desk, &session(), &OWN, &preview).await.unwrap();
    assert_eq!(held(desk).await, [true, false, true]);
    drop(turn);
    for (tree, expected) in [(false, [false, true, false]), (true, [false, true, true])] {
        let source = Wants { tree, ..OWN };
        let turn = take(desk, &session(), &source, &Warrant::StaticToken).await;
        assert_eq!(held(desk).await, expected);
        drop(turn);
    }
}

#[tokio::test]
async fn a_source_whose_changes_take_turns_of_their_own_takes_none() {
    let office = office();
    let source = Wants { turn: false, ..OWN };
    let turn = take(&office.desk, &session(), &source, &Warrant::StaticToken).await;
    assert!(turn.unwrap().is_none());
}

#[tokio::test]
async fn an_unknown_token_is_refused_before_the_turn_and_a_known_write_is_refused_at_it() {
    let office = office();
    let desk = &office.desk;
    let _other = of_change(desk, &move_and_update()).await.unwrap();
    let unknown = Warrant::Preview("unknown".to_owned());
    let refusal = take(desk, &session(), &OWN, &unknown).await.err().unwrap();
    assert_eq!(refusal.gate, Gate::Confirm);
    for source in [
        Wants {
            page: Some(1),
            ..OWN
        },
        Wants { tree: true, ..OWN },
    ] {
        let refused = take(desk, &session(), &source, &Warrant::StaticToken).await;
        let refusal = refused.err().unwrap();
        assert_eq!(
            (refusal.gate, refusal.failure.code),
            (Gate::Record, Code::Timeout)
        );
    }
    // What the second source had locked before it gave up is free again.
    assert_eq!(held(desk).await, [true, false, true]);
}

#[tokio::test]
async fn the_proposal_that_is_applied_is_held_with_the_turn() {
    let office = office();
    let (desk, set) = (&office.desk, set(update(1)));
    let docket = &mut docket(&set);
    let left_open = open(desk, docket, &session(), &set, checked()).await;
    let proposal = left_open.unwrap().proposal;
    assert!(proposal.is_some());
    for proposal in [proposal, None] {
        let source = Wants { proposal, ..OWN };
        let turn = take(desk, &session(), &source, &Warrant::StaticToken).await;
        let turn = turn.unwrap().unwrap();
        assert_eq!(turn.proposal.is_some(), proposal.is_some());
    }
}
