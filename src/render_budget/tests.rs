use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;

use super::{
    Budget, CALL, CallBudget, FREE, LARGE, LEAST_OF_LARGE, MOST_OF_SMALL, RenderBudgetExceeded,
    SMALL, SMALL_ANSWER, TIMES, UNIT, counted, expect_answer, give_back, grow, grown, hold,
    keep_for_answer, lacks_room,
};

/// Runs a call under a budget of the test's own.
async fn call<F: Future>(budget: &Arc<Budget>, work: F) -> F::Output {
    CALL.scope(CallBudget::new(Arc::clone(budget)), work).await
}

fn budget(patience: Duration) -> Arc<Budget> {
    Arc::new(Budget::new(patience))
}

fn left(budget: &Budget) -> (usize, usize) {
    let left = |of: &tokio::sync::Semaphore| of.available_permits() * UNIT;
    (left(&budget.large), left(&budget.small))
}

#[tokio::test]
async fn one_huge_call_is_alone_with_its_size_and_leaves_room_for_small_ones() {
    let budget = budget(Duration::from_mins(1));
    let mut second = Box::pin(call(&budget, hold(LARGE)));
    let huge = call(&budget, async {
        hold(usize::MAX).await.expect("room");
        assert_eq!(left(&budget), (0, SMALL));
        assert!((&mut second).now_or_never().is_none());
        let small = call(&budget, hold(MOST_OF_SMALL / TIMES)).now_or_never();
        assert_eq!(small, Some(Ok(())));
    });
    huge.await;
    assert_eq!(second.await, Ok(()));
    assert_eq!(left(&budget), (LARGE, SMALL));
}

#[tokio::test]
async fn who_finds_no_room_in_time_is_told_so() {
    let budget = budget(Duration::ZERO);
    call(&budget, async {
        hold(LARGE).await.expect("room");
        assert_eq!(call(&budget, hold(LARGE)).await, Err(RenderBudgetExceeded));
        // What is little is none of it.
        assert_eq!(call(&budget, hold(FREE)).await, Ok(()));
    })
    .await;
}

#[tokio::test]
async fn what_is_little_and_what_no_call_shows_takes_no_room() {
    let budget = budget(Duration::ZERO);
    call(&budget, async {
        hold(FREE).await.expect("nothing to wait for");
        assert_eq!(left(&budget), (LARGE, SMALL));
    })
    .await;
    assert_eq!(hold(usize::MAX).await, Ok(()));
    assert!(!lacks_room(usize::MAX));
    assert_eq!(grow(usize::MAX, None).await, Ok(()));
}

#[tokio::test]
async fn more_is_taken_in_place_of_what_there_was_and_less_is_nothing_new() {
    let budget = budget(Duration::ZERO);
    call(&budget, async {
        hold(MOST_OF_SMALL / TIMES).await.expect("room");
        assert_eq!(left(&budget), (LARGE, SMALL - MOST_OF_SMALL));
        hold(MOST_OF_SMALL).await.expect("room");
        assert_eq!(left(&budget), (LARGE - LEAST_OF_LARGE, SMALL));
        hold(FREE).await.expect("nothing to wait for");
        assert_eq!(left(&budget), (LARGE - LEAST_OF_LARGE, SMALL));
        give_back();
        assert_eq!(left(&budget), (LARGE, SMALL));
    })
    .await;
}

#[tokio::test]
async fn an_answer_of_unknown_size_takes_all_room_until_its_size_is_known() {
    let budget = budget(Duration::ZERO);
    call(&budget, async {
        let before = counted();
        assert!(!lacks_room(UNIT) && lacks_room(SMALL_ANSWER / 2));
        grow(SMALL_ANSWER / 2, None).await.expect("room");
        assert_eq!(left(&budget), (LARGE - LEAST_OF_LARGE, SMALL));
        assert!(!lacks_room(SMALL_ANSWER) && lacks_room(SMALL_ANSWER + 1));
        grow(SMALL_ANSWER + 1, None).await.expect("room");
        assert_eq!(left(&budget), (0, SMALL));
        assert!(!lacks_room(usize::MAX));
        let known = 6 * SMALL_ANSWER;
        grown(before, known);
        assert_eq!(left(&budget), (LARGE - 2 * known * TIMES, SMALL));
        // Of one whose size is known, as much is taken; each counts.
        let before = counted();
        grow(SMALL_ANSWER, Some(SMALL_ANSWER)).await.expect("room");
        grown(before, SMALL_ANSWER);
        let all = 2 * (known + SMALL_ANSWER) * TIMES;
        assert_eq!(left(&budget), (LARGE - all, SMALL));
    })
    .await;
    assert_eq!(left(&budget), (LARGE, SMALL));
}

#[tokio::test]
async fn an_answer_with_a_page_whose_states_are_counted_takes_nothing_more() {
    let budget = budget(Duration::ZERO);
    call(&budget, async {
        hold(SMALL_ANSWER).await.expect("room");
        let taken = left(&budget);
        let before = counted();
        assert!(!lacks_room(SMALL_ANSWER));
        grown(before, SMALL_ANSWER);
        assert_eq!(left(&budget), taken);
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_was_large_before_takes_its_room_before_it_is_asked_for() {
    let budget = budget(Duration::ZERO);
    call(&budget, async {
        expect_answer(FREE).await.expect("nothing to wait for");
        assert_eq!(left(&budget), (LARGE, SMALL));
        let before = counted();
        expect_answer(SMALL_ANSWER).await.expect("room");
        let taken = left(&budget);
        assert_eq!(taken, (LARGE - LEAST_OF_LARGE, SMALL));
        // The answer then has its room, and none is taken twice.
        assert!(!lacks_room(SMALL_ANSWER));
        grown(before, SMALL_ANSWER);
        assert_eq!(left(&budget), taken);
        let other = call(&budget, expect_answer(LARGE));
        assert_eq!(other.await, Err(RenderBudgetExceeded));
    })
    .await;
    call(&budget, async {
        hold(SMALL_ANSWER).await.expect("room");
        let taken = left(&budget);
        expect_answer(SMALL_ANSWER).await.expect("room");
        assert_eq!(left(&budget), taken);
    })
    .await;
}

#[tokio::test]
async fn an_answer_keeps_what_it_needs_until_it_is_sent() {
    let budget = budget(Duration::ZERO);
    let kept = call(&budget, async {
        assert!(keep_for_answer(UNIT).is_none());
        hold(LARGE).await.expect("room");
        keep_for_answer(UNIT + 1)
    });
    let kept = kept.await;
    assert_eq!(left(&budget), (LARGE - 2 * UNIT, SMALL));
    drop(kept);
    assert_eq!(left(&budget), (LARGE, SMALL));
}
