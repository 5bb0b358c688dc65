use std::time::Duration;

use tempfile::TempDir;
use time::OffsetDateTime;

use super::standing::{LIFE, MAX_STANDING, MAX_WRITES, now};
use super::{ApprovalScope, ApprovalSubject, Approvals, Approver, StandingApproval};
use crate::audit::{AuditLog, CallId, Client, LineHash};
use crate::change::{Change, Edits};
use crate::gates::{ChangeSet, SessionId};
use crate::page::testing::But as _;
use crate::page::{Field, Locale, testing::numbered as page};

fn plain(change: Change) -> ChangeSet {
    ChangeSet::single(call(), change)
}

fn edit(id: i64, edits: Edits) -> ChangeSet {
    plain(Change::update(page(id), edits).expect("an update"))
}

fn title(id: i64) -> ChangeSet {
    let title = Some("B".to_owned());
    edit(id, Edits::default().but(|edits| edits.title = title))
}

fn create() -> ChangeSet {
    plain(Change::recreate(page(1)))
}

/// Changes that need an approval of their own.
fn heavy() -> Vec<ChangeSet> {
    let text = || Some("a{}".to_owned());
    let styled = page(1).but(|it| it.script_css = "a{}".to_owned());
    let lossy = title(1)
        .first()
        .change
        .clone()
        .with_loss_of(vec![Field::Tags]);
    vec![
        plain(Change::delete(page(1))),
        plain(lossy),
        plain(Change::recreate(styled)),
        edit(
            1,
            Edits::default().but(|edits| edits.locale = Some(Locale::as_stored("de"))),
        ),
        edit(
            1,
            Edits {
                locale: Some(Locale::as_stored("de")),
                title: text(),
                ..Edits::default()
            },
        ),
        edit(1, Edits::default().but(|edits| edits.script_css = text())),
        edit(
            1,
            Edits {
                script_js: text(),
                title: text(),
                ..Edits::default()
            },
        ),
    ]
}

fn who(session: &str, client: &str) -> Approver {
    let client = Client::default().but(|it| it.name = client.to_owned());
    Approver::new(&SessionId::new(session), &client, LineHash::FIRST)
}

fn us() -> Approver {
    who("s", "c")
}

fn call() -> CallId {
    CallId::new().expect("an id")
}

/// The approvals of a server on this directory.
fn on(dir: &TempDir) -> Approvals {
    Approvals::of(&AuditLog::new(dir.path(), "docs"))
}

fn dir() -> TempDir {
    TempDir::new().expect("a directory")
}

/// A yes of this scope to a change of the title of page 1.
async fn given(approvals: &Approvals, scope: ApprovalScope) -> CallId {
    let id = call();
    let given = approvals.give(&us(), title(1), scope, id).await;
    assert_eq!(given.expect("an approval").approval(), id);
    id
}

#[tokio::test]
async fn once_covers_the_change_that_was_shown_and_no_other() {
    let dir = dir();
    let approvals = on(&dir);
    let id = call();
    let given = approvals
        .give(&us(), title(1), ApprovalScope::Once, id)
        .await;
    let given = given.expect("an approval");
    assert_eq!(given.approval(), id);
    assert!(given.set().is_same_write(&title(1)));
    assert!(approvals.take(&us(), &title(1)).await.is_none());
}

#[tokio::test]
async fn a_page_is_approved_for_its_session_client_operation_and_page() {
    let dir = dir();
    let id = given(&on(&dir), ApprovalScope::Page).await;
    // It is there for another server, too.
    let approvals = on(&dir);
    for other in [who("t", "c"), who("s", "d")] {
        assert!(approvals.take(&other, &title(1)).await.is_none());
    }
    for other in [title(2), create()] {
        assert!(approvals.take(&us(), &other).await.is_none());
    }
    let taken = approvals.take(&us(), &title(1)).await.expect("an approval");
    assert_eq!(taken.approval(), id);
    assert_eq!(taken.standing(), Some(ApprovalScope::Page));
}

#[tokio::test]
async fn a_client_is_the_same_by_all_that_is_known_of_it_but_its_address() {
    let dir = dir();
    let approvals = on(&dir);
    let session = SessionId::new("1:ci/x").of_client("ci");
    let own = Client {
        name: "agent".to_owned(),
        version: "1".to_owned(),
        id: Some(crate::audit::ClientId::derived("ci")),
        subject: Some("ci".to_owned()),
        address: Some("192.0.2.1".to_owned()),
        ..Client::default()
    };
    let is_covered = async |session: &SessionId, client: Client| {
        let approver = Approver::new(session, &client, LineHash::FIRST);
        approvals.take(&approver, &title(1)).await.is_some()
    };
    let approver = Approver::new(&session, &own, LineHash::FIRST);
    let given = approvals.give(&approver, title(1), ApprovalScope::Kind, call());
    assert!(given.await.is_some());
    let moved = own.clone().but(|client| client.address = None);
    assert!(is_covered(&session, moved).await);
    for other in [
        own.clone().but(|client| client.name = "other".to_owned()),
        own.clone().but(|client| client.version = "2".to_owned()),
        own.clone()
            .but(|client| client.id = Some(crate::audit::ClientId::derived("later"))),
        Client {
            id: None,
            subject: None,
            ..own.clone()
        },
    ] {
        assert!(!is_covered(&session, other.clone()).await, "{other:?}");
    }
    let of_another = SessionId::new("1:ci/x").of_client("other");
    assert!(!is_covered(&of_another, own).await);
}

#[tokio::test]
async fn a_kind_is_approved_for_any_page_but_no_other_operation() {
    let dir = dir();
    let approvals = on(&dir);
    given(&approvals, ApprovalScope::Kind).await;
    let taken = approvals.take(&us(), &title(2)).await.expect("an approval");
    assert_eq!(taken.standing(), Some(ApprovalScope::Kind));
    assert!(approvals.take(&us(), &create()).await.is_none());
}

#[tokio::test]
async fn deletes_moves_styles_scripts_and_losses_are_never_covered() {
    let dir = dir();
    let approvals = on(&dir);
    for scope in [ApprovalScope::Page, ApprovalScope::Kind] {
        given(&approvals, scope).await;
        for heavy in heavy() {
            let given = approvals.give(&us(), heavy.clone(), scope, call()).await;
            assert!(given.is_none(), "{heavy:?}");
        }
    }
    let given = approvals
        .give(&us(), create(), ApprovalScope::Kind, call())
        .await;
    assert!(given.is_some());
    for heavy in heavy() {
        assert!(approvals.take(&us(), &heavy).await.is_none(), "{heavy:?}");
        assert_eq!(ApprovalScope::offered(&us(), &heavy), [ApprovalScope::Once]);
        let given = approvals
            .give(&us(), heavy, ApprovalScope::Once, call())
            .await;
        assert!(given.is_some());
    }
}

#[tokio::test]
async fn without_a_session_or_a_name_there_is_only_once() {
    let dir = dir();
    let approvals = on(&dir);
    let client = Client::default().but(|client| client.name = "c".to_owned());
    let fleeting = Approver::new(&SessionId::fleeting("s"), &client, LineHash::FIRST);
    for nobody in [fleeting, who("s", "")] {
        let offered = ApprovalScope::offered(&nobody, &title(1));
        assert_eq!(offered, [ApprovalScope::Once]);
        for scope in [ApprovalScope::Page, ApprovalScope::Kind] {
            let given = approvals.give(&nobody, title(1), scope, call());
            assert!(given.await.is_none());
        }
        given(&approvals, ApprovalScope::Kind).await;
        assert!(approvals.take(&nobody, &title(1)).await.is_none());
    }
}

#[tokio::test]
async fn other_gates_end_an_approval_and_do_not_bring_it_back() {
    let dir = dir();
    let approvals = on(&dir);
    given(&approvals, ApprovalScope::Kind).await;
    let under_others = us().but(|approver| approver.gates = LineHash::new(b"others"));
    assert!(approvals.take(&under_others, &title(1)).await.is_none());
    assert!(approvals.take(&us(), &title(1)).await.is_none());
    // What others do under their gates ends nothing of ours.
    given(&approvals, ApprovalScope::Kind).await;
    let stranger = who("t", "c").but(|approver| approver.gates = LineHash::new(b"others"));
    assert!(approvals.take(&stranger, &title(1)).await.is_none());
    assert!(approvals.take(&us(), &title(1)).await.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_use_no_write_twice() {
    let dir = dir();
    let servers = [on(&dir), on(&dir)].map(std::sync::Arc::new);
    given(&servers[0], ApprovalScope::Page).await;
    let all = servers.iter().flat_map(|server| {
        (0..MAX_WRITES).map(|_| {
            let server = std::sync::Arc::clone(server);
            tokio::spawn(async move { server.take(&us(), &title(1)).await.is_some() })
        })
    });
    let mut taken = 0;
    for one in all.collect::<Vec<_>>() {
        taken += u8::from(one.await.expect("a write"));
    }
    assert_eq!(taken, MAX_WRITES - 1);
    assert_eq!(servers[0].all().await.expect("a list"), []);
}

/// Uses one up at this time.
async fn taken_at(approvals: &Approvals, now: OffsetDateTime) -> bool {
    let subject = ApprovalSubject::new(&title(1)).expect("a subject");
    let taken = approvals.spend(now, &us(), subject).await;
    taken.expect("the store").is_some()
}

/// Gives one at this time.
async fn given_at(approvals: &Approvals, now: OffsetDateTime) {
    let operation = crate::change::Operation::Update;
    let new = StandingApproval::new(now, &us(), (operation, None), call());
    approvals.add(now, new).await.expect("the store");
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn an_approval_ends_after_thirty_minutes_and_stays_ended() {
    let dir = dir();
    let (approvals, now) = (on(&dir), now());
    given_at(&approvals, now).await;
    assert!(taken_at(&approvals, now + LIFE - SECOND).await);
    assert!(!taken_at(&approvals, now + LIFE).await);
    // Whoever saw its end removed it, so no clock brings it back.
    assert!(!taken_at(&approvals, now + SECOND).await);
    assert_eq!(LIFE, Duration::from_mins(30));
}

#[tokio::test]
async fn a_clock_that_goes_back_prolongs_no_approval_and_ends_none_by_more_than_it_went_back() {
    let dir = dir();
    let (approvals, now) = (on(&dir), now());
    given_at(&approvals, now).await;
    // Back by a second: it does not count for that second, and not longer.
    assert!(!taken_at(&approvals, now - SECOND).await);
    assert!(taken_at(&approvals, now + SECOND).await);
    // Back by its life or more: it has ended.
    assert!(!taken_at(&approvals, now - LIFE - SECOND).await);
    assert!(!taken_at(&approvals, now + SECOND).await);
}

#[tokio::test]
async fn the_server_of_an_approval_ends_it_whatever_the_clock_says() {
    let dir = dir();
    let approvals = on(&dir);
    let id = given(&approvals, ApprovalScope::Kind).await;
    approvals.end_after(Duration::ZERO, id);
    let gone = async {
        while !approvals.all().await.expect("a list").is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let gone = tokio::time::timeout(Duration::from_secs(20), gone).await;
    assert!(gone.is_ok());
}

#[tokio::test]
async fn the_oldest_of_the_owner_with_the_most_goes_if_there_are_too_many() {
    let dir = dir();
    let (approvals, now) = (on(&dir), now());
    let add = async |approver: &Approver, at| {
        let update = (crate::change::Operation::Update, None);
        let new = StandingApproval::new(at, approver, update, call());
        approvals.add(now, new).await.expect("the store");
    };
    add(&who("t", "c"), now - 3 * SECOND).await;
    add(&us(), now - 2 * SECOND).await;
    let first = approvals.valid_for(&us()).await.expect("a list");
    for _ in 2..=MAX_STANDING {
        add(&us(), now).await;
    }
    let ours = approvals.valid_for(&us()).await.expect("a list");
    assert_eq!(ours.len(), MAX_STANDING - 1);
    assert!(!ours.contains(&first[0]));
    let theirs = approvals.valid_for(&who("t", "c")).await;
    assert_eq!(theirs.expect("a list").len(), 1);
}

#[tokio::test]
async fn what_cannot_be_read_counts_as_none_and_the_rest_goes_on() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = dir();
    let approvals = on(&dir);
    let id = given(&approvals, ApprovalScope::Kind).await;
    let at = |name: &str| dir.path().join("docs/approvals").join(name);
    let own = at(&format!("{id}.json"));
    let text = std::fs::read_to_string(&own).expect("a document");
    let other = call();
    let copy = |id: CallId, text: &str| {
        let path = at(&format!("{id}.json"));
        std::fs::write(&path, text).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    };
    // Cut, a copy under another name, longer or more than any, of a newer version.
    let (id, other_id) = (id.to_string(), other.to_string());
    for damaged in [
        text.split_at(text.len() / 2).0.to_owned(),
        text.clone(),
        text.replace(&id, &other_id).replace(":19}", ":200}"),
        text.replace(&id, &other_id).replace(":19}", ":0}"),
        text.replace(&id, &other_id)
            .replace("\"ends\":\"2", "\"ends\":\"3"),
        text.replace(&id, &other_id).replace("\"v\":1", "\"v\":2"),
    ] {
        copy(other, &damaged);
        let all = approvals.all().await.expect("a list");
        let read: Vec<_> = { all.iter() }
            .filter(|(name, _)| *name == other_id)
            .collect();
        assert!(matches!(read[..], [(_, Err(_))]), "{damaged}");
    }
    // What others may change is nobody's word.
    let all = text.replace(&id, &other_id);
    copy(other, &all);
    let shared = std::fs::Permissions::from_mode(0o622);
    std::fs::set_permissions(at(&format!("{other_id}.json")), shared).expect("a mode");
    for _ in 1..MAX_WRITES {
        assert!(approvals.take(&us(), &title(1)).await.is_some());
    }
    assert!(approvals.take(&us(), &title(1)).await.is_none());
    // The operator can remove it by its name.
    let ended = approvals.end(vec![other_id.clone()]).await;
    assert_eq!(ended, Ok(vec![other_id]));
}

#[tokio::test]
async fn an_approval_that_is_used_up_does_not_hide_a_fresh_one() {
    let dir = dir();
    let approvals = on(&dir);
    given(&approvals, ApprovalScope::Page).await;
    for _ in 1..MAX_WRITES {
        assert!(approvals.take(&us(), &title(1)).await.is_some());
    }
    assert!(approvals.take(&us(), &title(1)).await.is_none());
    let second = given(&approvals, ApprovalScope::Page).await;
    let taken = approvals.take(&us(), &title(1)).await.expect("a fresh one");
    assert_eq!(taken.approval(), second);
}

#[test]
fn each_scope_has_its_word() {
    let words = [
        ApprovalScope::Once,
        ApprovalScope::Page,
        ApprovalScope::Kind,
    ]
    .map(ApprovalScope::as_str);
    assert_eq!(words, ["once", "page", "kind"]);
}
