use std::collections::HashMap;

use url::Url;

use super::{ChangeSet, DraftDigest, DraftMark, LeftOut, Mending, Omission, SetChange, TurnOf};
use crate::audit::{CallId, DraftId, Exclusions, ProposalId};
use crate::change::Change;
use crate::page::testing::{But as _, linked_site, numbered as page};
use crate::page::{Note, PagePath, Whose};

fn call() -> CallId {
    CallId::new().expect("an id")
}

fn titled(id: i64) -> Change {
    let after = page(id).but(|it| it.title = "Other".to_owned());
    Change::between(page(id), after)
}

fn list(changes: Vec<Change>) -> ChangeSet {
    let changes = changes.into_iter().map(SetChange::from).collect();
    ChangeSet::list(call(), changes).expect("a change")
}

fn mending(alone: i64, links: usize) -> Mending {
    Mending {
        site: linked_site(Url::parse("https://wiki.example.org").expect("an address")),
        alone: HashMap::from([(alone, links)]),
        left: Vec::new(),
    }
}

fn note() -> Option<Note> {
    Note::parse("why", Whose::Operator).ok()
}

#[test]
fn a_list_keeps_what_is_said_of_it_and_a_single_write_is_none() {
    let mark = DraftMark {
        id: DraftId::new().expect("an id"),
        revision: 3,
        digest: DraftDigest::default(),
    };
    let omitted = Omission {
        asked: vec![1],
        all: Exclusions::read("left out: 1 of 2: 2").expect("an omission"),
    };
    let (undone, proposal) = (call(), ProposalId::new().expect("an id"));
    let say = |set: ChangeSet| {
        let set = set.with(|batch| {
            batch.left_out = vec![LeftOut::new(&page(9), "why")];
            batch.keeps_on_failure = true;
            batch.undoes = Some(undone);
            batch.mending = Some(mending(2, 5));
            batch.draft = Some(mark);
            batch.omitted = Some(omitted.clone());
        });
        set.of_proposal(Some(proposal)).noted(note())
    };
    let set = say(list(vec![titled(1), titled(2)]));
    let anew = set.clone().with_changes(vec![titled(2).into()]);
    assert_eq!(anew.id(), set.id());
    for set in [&set, &anew] {
        let batch = set.batch();
        assert!(set.is_list() && batch.keeps_on_failure && batch.mending.is_some());
        assert_eq!(batch.left_out, [LeftOut::new(&page(9), "why")]);
        assert_eq!(batch.undoes, Some(undone));
        assert_eq!(batch.draft, Some(mark));
        assert_eq!(batch.omitted.as_ref(), Some(&omitted));
        assert_eq!(set.proposal(), Some(proposal));
        assert_eq!(set.note(), note().as_ref());
        assert_eq!(set.only_mends(&titled(2).into()), Some(5));
        assert_eq!(set.only_mends(&titled(1).into()), None);
        assert_eq!(set.only_mends(&Change::recreate(page(2)).into()), None);
    }
    let other = call();
    assert_eq!(set.clone().under(other).id(), other);
    assert_eq!(set.under(other).note(), note().as_ref());
    assert_eq!((anew.iter().count(), anew.page()), (1, Some(2)));
    assert_eq!(anew.clone().with_changes(Vec::new()).iter().count(), 1);

    let single = say(ChangeSet::single(call(), titled(1)));
    let batch = single.batch();
    assert!(!single.is_list() && !batch.keeps_on_failure && batch.left_out.is_empty());
    assert!(batch.undoes.is_none() && batch.draft.is_none() && batch.omitted.is_none());
    assert!(batch.mending.is_none());
    assert!(ChangeSet::list(call(), Vec::new()).is_none());
    assert!(!list(vec![titled(1)]).batch().keeps_on_failure);
}

#[test]
fn a_single_write_takes_the_turn_of_its_page_and_a_list_none() {
    let turn = TurnOf::new;
    let moved = page(1).but(|it| it.path = PagePath::as_stored("docs/elsewhere"));
    for (change, wanted) in [
        (titled(1), turn(Some(1), false)),
        (Change::between(page(1), moved), turn(Some(1), true)),
        (Change::delete(page(1)), turn(Some(1), true)),
        (Change::recreate(page(1)), turn(None, true)),
    ] {
        assert_eq!(ChangeSet::single(call(), change.clone()).turn(), wanted);
        assert_eq!(list(vec![change]).turn(), TurnOf::default());
    }
}

#[test]
fn two_sets_are_the_same_write_only_if_all_of_it_is() {
    let set = list(vec![titled(1), titled(2)]);
    assert!(set.is_same_write(&list(vec![titled(1), titled(2)])));
    let undoing = SetChange::from(titled(2)).but(|change| change.undoes = Some(call()));
    let also = SetChange::from(titled(2)).but(|change| change.also_undoes = vec![call()]);
    for other in [
        list(vec![titled(2), titled(1)]),
        list(vec![titled(1)]),
        list(vec![titled(1), Change::delete(page(2))]),
        list(vec![titled(1), titled(2), titled(3)]),
        list(vec![titled(1), titled(2)]).with(|batch| batch.keeps_on_failure = true),
        set.clone().with_changes(vec![titled(1).into(), undoing]),
        set.clone().with_changes(vec![titled(1).into(), also]),
    ] {
        assert!(!set.is_same_write(&other), "{other:?}");
        assert!(!other.is_same_write(&set), "{other:?}");
    }
    let one = ChangeSet::single(call(), titled(1));
    assert!(!one.is_same_write(&list(vec![titled(1)])));
    assert!(one.is_same_write(&ChangeSet::single(call(), titled(1))));
}

#[test]
fn a_set_does_nothing_only_if_none_of_its_changes_does_anything() {
    let nothing = || Change::between(page(1), page(1));
    assert!(list(vec![nothing(), nothing()]).is_nothing());
    assert!(!list(vec![nothing(), titled(1)]).is_nothing());
    let fresh = page(1).but(|it| it.description = "new".to_owned());
    let on = ChangeSet::single(call(), titled(1)).on(fresh);
    let before = on.first().change.before().expect("a page");
    assert_eq!(before.description, "new");
    let both = list(vec![titled(1), titled(2)]);
    let each = ChangeSet::single(call(), titled(1)).bytes();
    assert_eq!(both.bytes(), 2 * each);
    assert!(each > 0);
}
