//! The permit of one change set, and the steps made from it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use super::set::{ChangeSet, SetChange};
use crate::audit::{CallId, HeldLease, OnRecord};
use crate::change::{Change, Operation};
use crate::page::PageState;

/// Proof that every gate opened for this very set. Only the gate *confirm* makes one, from the
/// proof of the gate before it and from what confirms the set.
///
/// Nothing outside the gates can make one:
///
/// ```compile_fail,E0624
/// fn forge(set: wikijs_gate_core::gates::ChangeSet) -> wikijs_gate_core::gates::Permit {
///     wikijs_gate_core::gates::Permit::new(set)
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Permit {
    set: ChangeSet,
    change: Arc<Change>,
    steps: VecDeque<Operation>,
}

/// One mutation that may be sent once: sending consumes it, and it can be neither forged nor
/// copied.
///
/// ```compile_fail,E0599
/// fn twice(step: &wikijs_gate_core::gates::Step) -> wikijs_gate_core::gates::Step {
///     step.clone()
/// }
/// ```
///
/// ```compile_fail,E0451
/// use wikijs_gate_core::change::{Change, Operation};
/// fn forge(change: std::sync::Arc<Change>) -> wikijs_gate_core::gates::Step {
///     wikijs_gate_core::gates::Step { change, kind: Operation::Delete, record: panic!() }
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Step {
    change: Arc<Change>,
    kind: Operation,
    record: OnRecord,
}

/// A step whose leases were looked at, right before it is sent.
///
/// ```compile_fail,E0423
/// fn unseen(step: wikijs_gate_core::gates::Step) -> wikijs_gate_core::gates::SureStep {
///     wikijs_gate_core::gates::SureStep(step)
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct SureStep(Step);

impl Permit {
    pub(super) fn new(set: ChangeSet) -> Self {
        let change = set.first().change.clone();
        Self {
            // A list is sent by the permits of its changes.
            steps: if set.is_list() {
                VecDeque::new()
            } else {
                change.steps().into()
            },
            change: Arc::new(change),
            set,
        }
    }

    /// The permits of a list's changes, in order, each under a call of its own. A change that does
    /// nothing has none.
    ///
    /// # Errors
    /// If no id can be had.
    pub fn split<E>(self, mut id: impl FnMut() -> Result<CallId, E>) -> Result<Vec<Self>, E> {
        let own = |one: &SetChange| {
            let own = ChangeSet::single(id()?, one.clone());
            let own = own.of_proposal(self.set.proposal());
            Ok(Self::new(own.noted(self.set.note().cloned())))
        };
        let all = self.set.iter().filter(|one| !one.change.is_empty());
        all.map(own).collect()
    }

    /// The permits of a move by a temporary place: of its first step, and of the others; of one that
    /// goes no such way, all of it.
    pub fn aside_first(mut self, is_aside: bool) -> (Self, Option<Self>) {
        if !is_aside {
            return (self, None);
        }
        let first = match self.steps.front() {
            Some(Operation::Aside) => self.steps.pop_front(),
            _ => None,
        };
        let aside = Self {
            set: self.set.clone(),
            change: Arc::clone(&self.change),
            steps: first.into_iter().collect(),
        };
        (aside, Some(self))
    }

    /// True if its page is at its temporary place.
    fn is_aside(&self) -> bool {
        self.change.aside().is_some() && self.upcoming() != Some(Operation::Aside)
    }

    /// The same permit for the page as it was just read.
    ///
    /// # Errors
    /// The page as it was shown and as it is, if a field differs.
    pub fn on(self, fresh: PageState) -> Result<Self, Box<(PageState, PageState)>> {
        let is_aside = self.is_aside();
        let expected = if is_aside {
            self.change.after_step(Operation::Aside)
        } else {
            self.change.before().map(Cow::Borrowed)
        };
        if let Some(before) = expected
            && !before.difference(&fresh).is_empty()
        {
            return Err(Box::new((before.into_owned(), fresh)));
        }
        if is_aside {
            return Ok(self);
        }
        Ok(Self {
            steps: self.steps,
            ..Self::new(self.set.on(fresh))
        })
    }

    /// Proof that the writes of this permit may be taken back.
    pub const fn may_go_back(&self) -> MayGoBack {
        MayGoBack {
            call: self.set.id(),
        }
    }

    /// The set that it is of.
    pub const fn set(&self) -> &ChangeSet {
        &self.set
    }

    /// The change.
    pub fn change(&self) -> &Change {
        &self.change
    }

    /// The change, for whoever needs it after the permit is spent.
    pub fn shared_change(&self) -> Arc<Change> {
        Arc::clone(&self.change)
    }

    /// The kind of the next step, if one is left.
    pub fn upcoming(&self) -> Option<Operation> {
        self.steps.front().copied()
    }

    /// Takes the next step, for one attempt that is on record.
    pub fn next_step(&mut self, record: OnRecord) -> Option<Step> {
        self.steps.pop_front().map(|kind| Step {
            change: Arc::clone(&self.change),
            kind,
            record,
        })
    }
}

/// Proof that a call's write had a permit, and so its sender may take it back once.
#[derive(Debug)]
#[must_use]
pub struct MayGoBack {
    call: CallId,
}

impl MayGoBack {
    /// The permit of the change that takes the write back, under a call of its own; `None` for
    /// any other change.
    pub fn permit(self, id: CallId, back: SetChange) -> Option<Permit> {
        (back.undoes == Some(self.call)).then(|| Permit::new(ChangeSet::single(id, back)))
    }
}

impl Step {
    /// The change that it is a part of.
    pub fn change(&self) -> &Change {
        &self.change
    }

    /// Its kind.
    pub const fn kind(&self) -> Operation {
        self.kind
    }

    /// The call on whose record it stands.
    pub fn call(&self) -> CallId {
        self.record.call()
    }

    /// Looks at the leases under which it is sent; `None` if others may have one of them by now.
    pub fn sure(self, leases: &[HeldLease]) -> Option<SureStep> {
        let is_sure = leases.iter().all(HeldLease::is_sure);
        is_sure.then_some(SureStep(self))
    }
}

impl SureStep {
    /// The step.
    pub const fn step(&self) -> &Step {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Permit;
    use crate::audit::CallId;
    use crate::change::{Change, Operation};
    use crate::gates::{ChangeSet, SetChange};
    use crate::page::testing::But as _;
    use crate::page::{PagePath, PageState, testing};

    fn page(id: i64, title: &str) -> PageState {
        testing::titled(title).but(|it| it.id = Some(id))
    }

    fn change(id: i64) -> SetChange {
        Change::between(page(id, "A"), page(id, "B")).into()
    }

    fn call() -> CallId {
        CallId::new().unwrap()
    }

    #[test]
    fn the_permit_of_a_list_sends_nothing_but_by_those_of_its_changes_in_order() {
        let set = ChangeSet::list(call(), vec![change(1), change(2)]).unwrap();
        let permit = Permit::new(set);
        assert_eq!(permit.upcoming(), None);
        let permits = Permit::split(permit, CallId::new).unwrap();
        let pages: Vec<_> = permits.iter().map(|permit| permit.set().page()).collect();
        assert_eq!(pages, [Some(1), Some(2)]);
        assert_ne!(permits[0].set().id(), permits[1].set().id());
        for permit in &permits {
            assert_eq!(permit.upcoming(), Some(Operation::Update));
        }
    }

    #[test]
    fn a_permit_holds_for_the_page_as_it_was_shown_whoever_touched_it_and_for_no_other_state() {
        let permit = || Permit::new(ChangeSet::single(call(), change(1)));
        let touched = page(1, "A")
            .but(|it| it.updated_at = Some("2026-01-01T00:00:00.000Z".to_owned().into()));
        let fresh = permit().on(touched.clone()).unwrap();
        assert_eq!(fresh.change().before(), Some(&touched));
        let (before, now) = *permit().on(page(1, "C")).unwrap_err();
        assert_eq!((&*before.title, &*now.title), ("A", "C"));
    }

    #[test]
    fn a_move_by_a_temporary_place_is_split_behind_its_first_step() {
        let at = testing::at;
        let aside = Some(PagePath::as_stored("moving-1"));
        let change = Change::between(at("a"), at("b")).by_way_of(aside);
        let permit = Permit::new(ChangeSet::single(call(), change));
        let (first, rest) = permit.aside_first(true);
        let rest = rest.unwrap();
        let steps = |permit: &Permit| permit.steps.iter().copied().collect::<Vec<_>>();
        assert_eq!(steps(&first), [Operation::Aside]);
        assert_eq!(steps(&rest), [Operation::Move]);
        assert_eq!(steps(&first.on(at("a")).unwrap()), [Operation::Aside]);
        // The others are of the page where the first step left it.
        let rest = rest.on(at("moving-1")).unwrap();
        assert_eq!(rest.change().before().unwrap().path.as_str(), "a");
        assert_eq!(steps(&rest), [Operation::Move]);
        assert!(rest.on(at("a")).is_err());
    }

    #[test]
    fn only_the_write_that_was_let_through_may_be_taken_back() {
        let permit = Permit::new(ChangeSet::single(call(), change(1)));
        let back =
            |undoes| SetChange::from(Change::between(page(1, "B"), page(1, "A"))).undoing(undoes);
        let own = Some(permit.set().id());
        for (undoes, expected) in [(own, true), (Some(call()), false), (None, false)] {
            let given = permit.may_go_back().permit(call(), back(undoes));
            assert_eq!(given.is_some(), expected, "{undoes:?}");
        }
    }
}
