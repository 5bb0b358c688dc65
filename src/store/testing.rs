//! The contract of a store: what every one of them must do. [`store_suite`] runs it on one.
//!
//! Each test gets two stores of the same state, as two processes have them.

use std::io::Read as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;

use super::LeaseMode::{Alone, Shared};
use super::{
    DocumentKind, Durability, LeaseName, LeaseQueue, ListedRun, RunStream, RunWriter, Store,
    StoreError,
};

pub(super) type Two = [Arc<dyn Store>; 2];

const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(20);

/// Runs the contract on the stores that this makes: two of one state, and what they live in. An attribute, as
/// `#[ignore]`, is that of each test.
macro_rules! store_suite {
    ($make:expr $(, #[$attribute:meta])?) => {
        $crate::store::testing::store_suite! { @each [$(#[$attribute])?] $make;
            a_lease_is_for_one_alone_or_for_all_that_share_it
            a_lease_is_held_or_free_for_others_to_see
            documents_are_replaced_whole_and_listed
            a_document_that_is_too_large_is_refused
            changes_under_a_lease_are_never_lost
            a_document_is_changed_under_its_lease
            blobs_are_kept_and_removed_unless_renewed
            a_lease_is_waited_for_in_order_among_stores
            whoever_waits_gets_the_lease_when_it_is_free
            a_wait_has_an_end
            a_run_is_read_from_any_byte_while_it_grows
            a_run_is_held_until_its_writer_is_gone
            what_must_not_go_on_record_in_a_pause_does_not
            runs_are_listed_by_name_and_counted
        }
    };
    (@each $attribute:tt $make:expr; $($name:ident)+) => {
        $($crate::store::testing::store_suite! { @one $attribute $make; $name })+
    };
    (@one [$(#[$attribute:meta])?] $make:expr; $name:ident) => {
        #[tokio::test]
        $(#[$attribute])?
        async fn $name() {
            let (two, _lives_in) = $make;
            $crate::store::testing::$name(two).await;
        }
    };
}

pub(super) use store_suite;

pub(super) async fn a_lease_is_for_one_alone_or_for_all_that_share_it([one, two]: Two) {
    for name in [
        LeaseName::TREE,
        LeaseName::PAUSE,
        LeaseName::page(7),
        LeaseName::document(DocumentKind::Draft, "a.b"),
    ] {
        let held = one.try_lease(&name, Alone).unwrap().unwrap();
        assert!(one.try_lease(&name, Alone).unwrap().is_none(), "{name:?}");
        assert!(two.try_lease(&name, Alone).unwrap().is_none(), "{name:?}");
        assert!(two.try_lease(&name, Shared).unwrap().is_none(), "{name:?}");
        // Another name is another lease.
        assert!(two.try_lease(&LeaseName::page(8), Alone).unwrap().is_some());
        drop(held);
        assert!(two.try_lease(&name, Alone).unwrap().is_some(), "{name:?}");
    }
    let first = one.try_lease(&LeaseName::BLOBS, Shared).unwrap().unwrap();
    let second = two.try_lease(&LeaseName::BLOBS, Shared).unwrap().unwrap();
    assert!(two.try_lease(&LeaseName::BLOBS, Alone).unwrap().is_none());
    drop(first);
    assert!(one.try_lease(&LeaseName::BLOBS, Alone).unwrap().is_none());
    drop(second);
    assert!(one.try_lease(&LeaseName::BLOBS, Alone).unwrap().is_some());
}

pub(super) async fn a_lease_is_held_or_free_for_others_to_see([one, two]: Two) {
    let name = LeaseName::page(7);
    assert!(!two.may_be_held(&name));
    let held = one.try_lease(&name, Alone).unwrap().unwrap();
    assert!(two.may_be_held(&name));
    two.sweep_leases().unwrap();
    assert!(two.try_lease(&name, Alone).unwrap().is_none());
    drop(held);
    assert!(!two.may_be_held(&name));
}

pub(super) async fn documents_are_replaced_whole_and_listed([one, two]: Two) {
    for kind in [
        DocumentKind::Proposal,
        DocumentKind::Draft,
        DocumentKind::Approval,
        DocumentKind::Delegate,
        DocumentKind::LastUse,
    ] {
        assert_eq!(one.document(kind, "a").unwrap(), None);
        assert_eq!(one.documents(kind).unwrap(), []);
        assert!(!one.remove_document(kind, "a").unwrap());
        one.write_document(kind, "a", b"first, and longer").unwrap();
        two.write_document(kind, "a", b"second").unwrap();
        two.write_document(kind, "b", b"").unwrap();
        assert_eq!(one.document(kind, "a").unwrap().unwrap(), b"second");
        assert_eq!(one.document(kind, "b").unwrap().unwrap(), b"");
        let mut listed = one.documents(kind).unwrap();
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        let told: Vec<(&str, u64)> = { listed.iter() }
            .map(|listed| (listed.name.as_str(), listed.length))
            .collect();
        assert_eq!(told, [("a", 6), ("b", 0)]);
        assert!(listed.iter().all(|it| it.changed <= SystemTime::now()));
        assert!(one.remove_document(kind, "a").unwrap());
        assert_eq!(two.document(kind, "a").unwrap(), None);
    }
    for kind in [DocumentKind::Pause, DocumentKind::AnchorFault] {
        assert_eq!(one.document(kind, "").unwrap(), None);
        one.write_document(kind, "", b"{}").unwrap();
        assert_eq!(two.document(kind, "").unwrap().unwrap(), b"{}");
        assert!(two.remove_document(kind, "").unwrap());
        assert_eq!(one.document(kind, "").unwrap(), None);
    }
}

pub(super) async fn a_document_that_is_too_large_is_refused([one, two]: Two) {
    let most = usize::try_from(DocumentKind::Pause.most_bytes()).unwrap();
    let bytes = vec![b'x'; most + 1];
    one.write_document(DocumentKind::Pause, "", &bytes).unwrap();
    let read = two.document(DocumentKind::Pause, "");
    assert_eq!(read, Err(StoreError::Unfit("is too large")));
    one.write_document(DocumentKind::Pause, "", &bytes[1..])
        .unwrap();
    let read = two.document(DocumentKind::Pause, "").unwrap();
    assert_eq!(read.unwrap().len(), most);
}

pub(super) async fn changes_under_a_lease_are_never_lost(two: Two) {
    const EACH: u32 = 25;
    let kind = DocumentKind::Draft;
    let name = LeaseName::document(kind, "count");
    let adds = two.clone().into_iter().flat_map(|store| {
        let queue = LeaseQueue::new(Arc::clone(&store));
        let name = name.clone();
        (0..2).map(move |_| {
            let (store, queue, name) = (Arc::clone(&store), queue.clone(), name.clone());
            tokio::spawn(async move {
                for _ in 0..EACH {
                    let _held = queue.alone(&name, LONG).await.unwrap();
                    let read = store.document(kind, "count").unwrap();
                    let count = read.map_or(0, |text| {
                        String::from_utf8(text).unwrap().parse::<u32>().unwrap()
                    });
                    let text = (count + 1).to_string();
                    store
                        .write_document(kind, "count", text.as_bytes())
                        .unwrap();
                }
            })
        })
    });
    for adding in adds.collect::<Vec<_>>() {
        adding.await.unwrap();
    }
    let count = two[0].document(kind, "count").unwrap().unwrap();
    assert_eq!(count, (4 * EACH).to_string().as_bytes());
}

pub(super) async fn a_document_is_changed_under_its_lease([one, two]: Two) {
    let (kind, name) = (DocumentKind::Draft, "a");
    let lease = LeaseName::document(kind, name);
    for store in [&one, &two] {
        let held = store.try_lease(&lease, Alone).unwrap().unwrap();
        assert!(!store.remove_held(held.fence(), kind, name).unwrap());
        let written = store.write_held(held.fence(), (kind, name), b"text");
        assert_eq!(written, Ok(()));
        assert_eq!(one.document(kind, name).unwrap().unwrap(), b"text");
        assert!(store.remove_held(held.fence(), kind, name).unwrap());
    }
    assert_eq!(two.documents(kind).unwrap(), []);
}

pub(super) async fn blobs_are_kept_and_removed_unless_renewed([one, two]: Two) {
    assert_eq!(one.blob("ab", 10).unwrap(), None);
    assert_eq!(one.end_of_blob("ab", 4).unwrap(), None);
    assert!(!one.renew_blob("ab").unwrap());
    let before = SystemTime::now() - Duration::from_mins(1);
    assert!(!one.remove_blob("ab", SystemTime::now()).unwrap());
    assert_eq!(one.put_blob("ab", b"0123456789").unwrap(), 10);
    assert_eq!(two.blob("ab", 10).unwrap().unwrap(), b"0123456789");
    assert_eq!(two.blob("ab", 9), Err(StoreError::Unfit("is too large")));
    assert_eq!(two.end_of_blob("ab", 4).unwrap().unwrap(), b"6789");
    assert_eq!(two.end_of_blob("ab", 99).unwrap().unwrap(), b"0123456789");
    assert!(two.renew_blob("ab").unwrap());
    let listed = one.blobs().unwrap();
    assert_eq!((listed[0].name.as_str(), listed[0].length), ("ab", 10));
    assert!(!one.remove_blob("ab", before).unwrap());
    let later = SystemTime::now() + Duration::from_mins(1);
    assert!(one.remove_blob("ab", later).unwrap());
    assert_eq!(two.blob("ab", 10).unwrap(), None);
    assert_eq!(two.blobs().unwrap(), []);
}

pub(super) async fn a_lease_is_waited_for_in_order_among_stores([one, two]: Two) {
    let name = LeaseName::page(7);
    let (near, far) = (
        LeaseQueue::new(Arc::clone(&one)),
        LeaseQueue::new(Arc::clone(&two)),
    );
    let (ends, mut order) = tokio::sync::mpsc::unbounded_channel();
    let held = near.alone(&name, LONG).await.unwrap();
    let wait = |queue: &LeaseQueue, word: &'static str| {
        let (queue, name, ends) = (queue.clone(), name.clone(), ends.clone());
        tokio::spawn(async move {
            let held = queue.alone(&name, LONG).await.unwrap();
            ends.send(word).unwrap();
            drop(held);
        })
    };
    let second = wait(&far, "far");
    while !one.may_be_held(&name.next()) {
        tokio::task::yield_now().await;
    }
    let third = wait(&near, "near");
    drop(held);
    second.await.unwrap();
    third.await.unwrap();
    let order = (order.recv().await, order.recv().await);
    assert_eq!(order, (Some("far"), Some("near")));
    assert!(!one.may_be_held(&name) && !one.may_be_held(&name.next()));
}

pub(super) async fn whoever_waits_gets_the_lease_when_it_is_free([one, two]: Two) {
    let (first, second) = (LeaseQueue::new(one), LeaseQueue::new(two));
    let name = LeaseName::TREE;
    let held = first.alone(&name, LONG).await.unwrap();
    let mut near = Box::pin(first.alone(&name, LONG));
    let mut far = Box::pin(second.alone(&name, LONG));
    assert!(near.as_mut().now_or_never().is_none());
    assert!(far.as_mut().now_or_never().is_none());
    drop(held);
    // Concurrently: a lease taken for a future that is not polled stays taken.
    let (near, far) = tokio::join!(async { near.await.map(drop) }, async {
        far.await.map(drop)
    });
    assert_eq!((near, far), (Ok(()), Ok(())));
}

pub(super) async fn a_wait_has_an_end([one, two]: Two) {
    let (first, second) = (LeaseQueue::new(one), LeaseQueue::new(two));
    for name in [LeaseName::TREE, LeaseName::page(7)] {
        let held = first.alone(&name, LONG).await.unwrap();
        for queue in [&first, &second] {
            for wait in [SHORT, Duration::ZERO] {
                let got = queue.alone(&name, wait).await.map(drop);
                assert_eq!(got, Err(StoreError::Busy));
            }
        }
        let shared = second.shared(&name, SHORT).await.map(drop);
        assert_eq!(shared, Err(StoreError::Busy));
        drop(held);
        drop(second.alone(&name, Duration::ZERO).await.unwrap());
    }
}

/// Begins a run as whoever does must.
fn begun(store: &dyn Store, name: &str, count: &str) -> Box<dyn RunWriter> {
    let _lease = store.try_lease(&LeaseName::RUNS, Alone).unwrap().unwrap();
    store.begin_run(name, count).unwrap()
}

fn listed(store: &dyn Store) -> Vec<(String, u64, bool)> {
    let tell = |run: ListedRun| {
        assert!(run.changed <= SystemTime::now() + LONG);
        (run.name, run.length, run.is_held.unwrap())
    };
    store.runs().unwrap().into_iter().map(tell).collect()
}

pub(super) async fn a_run_is_read_from_any_byte_while_it_grows([one, two]: Two) {
    assert!(two.open_run("a.jsonl").unwrap().is_none());
    let mut writer = begun(&*one, "a.jsonl", "1\n");
    let mut run = two.open_run("a.jsonl").unwrap().unwrap();
    let mut bytes = [0; 4];
    assert_eq!(run.read_at(0, &mut bytes).unwrap(), 0);
    assert_eq!(run.synced_length().unwrap(), 0);
    for (line, until, length) in [
        (&b"first\n"[..], Durability::Synced, 6),
        (b"2\nthird\n", Durability::Soon, 14),
        (b"4\n", Durability::Synced, 16),
    ] {
        writer.append(line, until).unwrap();
        assert_eq!(run.synced_length().unwrap(), length);
    }
    for (start, expected) in [(0, &b"firs"[..]), (4, b"t\n2\n"), (14, b"4\n"), (16, b"")] {
        // It may give less at a time.
        let mut read = 0;
        while read < expected.len() {
            let at = start + u64::try_from(read).unwrap();
            let more = run.read_at(at, &mut bytes[read..]).unwrap();
            assert!(more > 0, "{start}");
            read += more;
        }
        assert_eq!(bytes[..read], *expected);
    }
    assert_eq!(run.read_at(99, &mut bytes).unwrap(), 0);
    // Far more than is sent or read at once.
    let long = [vec![b'x'; 3 << 20], b"\n".to_vec()].concat();
    writer.append(&long, Durability::Synced).unwrap();
    let mut read = Vec::new();
    RunStream::new(run).read_to_end(&mut read).unwrap();
    assert_eq!(read.len(), 16 + long.len());
    assert!(read.ends_with(&long) && read.starts_with(b"first\n2\nthird\n4\n"));
}

pub(super) async fn a_run_is_held_until_its_writer_is_gone([one, two]: Two) {
    let mut writer = begun(&*one, "a.jsonl", "1\n");
    for length in [0, 6] {
        for store in [&one, &two] {
            assert_eq!(listed(&**store), [("a.jsonl".to_owned(), length, true)]);
            assert!(!store.remove_run("a.jsonl").unwrap());
        }
        if length == 0 {
            writer.append(b"first\n", Durability::Synced).unwrap();
        }
    }
    drop(writer);
    for store in [&one, &two] {
        assert_eq!(listed(&**store), [("a.jsonl".to_owned(), 6, false)]);
    }
    assert!(two.remove_run("a.jsonl").unwrap());
    two.sync_removed().unwrap();
    assert!(!one.remove_run("a.jsonl").unwrap());
    assert_eq!(listed(&*one), []);
    assert!(one.open_run("a.jsonl").unwrap().is_none());
}

pub(super) async fn what_must_not_go_on_record_in_a_pause_does_not([one, two]: Two) {
    let mut writer = begun(&*one, "a.jsonl", "1\n");
    let mut length = 0;
    for pauses in [&one, &two] {
        let mut append = |until, expected| {
            assert_eq!(writer.append(b"line\n", until), expected);
            length += if expected.is_ok() { 5 } else { 0 };
            assert_eq!(listed(&*two)[0].1, length);
        };
        append(Durability::SyncedUnlessPaused, Ok(()));
        pauses.write_document(DocumentKind::Pause, "", b"").unwrap();
        append(Durability::SyncedUnlessPaused, Err(StoreError::Paused));
        append(Durability::Synced, Ok(()));
        append(Durability::SyncedUnlessPaused, Err(StoreError::Paused));
        assert!(pauses.remove_document(DocumentKind::Pause, "").unwrap());
        append(Durability::SyncedUnlessPaused, Ok(()));
    }
}

pub(super) async fn runs_are_listed_by_name_and_counted([one, two]: Two) {
    assert_eq!(one.run_count().unwrap(), None);
    assert_eq!(listed(&*one), []);
    let writers = [("b.jsonl", "2\n"), ("a.jsonl", "3\n"), ("c.jsonl", "4\n")];
    let writers = writers.map(|(name, count)| {
        let writer = begun(&*one, name, count);
        assert_eq!(two.run_count().unwrap().unwrap(), count);
        writer
    });
    let names = listed(&*two).into_iter().map(|(name, ..)| name);
    assert!(names.eq(["a.jsonl", "b.jsonl", "c.jsonl"]));
    // A name is given once.
    assert!(two.begin_run("a.jsonl", "5\n").is_err());
    drop(writers);
}
