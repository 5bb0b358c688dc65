use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use super::quota::{MAX_BYTES, MAX_PREVIEWS};
use super::{Asked, PreviewStore, Previews, SessionPreviews};
use crate::audit::{CallId, LineHash};
use crate::change::Change;
use crate::error::Code;
use crate::gates::{ChangeSet, SessionId};
use crate::page::testing::page;
use crate::store::local::LocalStore;
use crate::store::{DocumentKind, LeaseMode, LeaseName, Store, owner_in_name};

/// More previews than anybody keeps, by one client.
const MANY: usize = 20 * MAX_PREVIEWS;

fn change() -> ChangeSet {
    let change = Change::delete(page());
    ChangeSet::single(CallId::new().expect("an id"), change)
}

#[test]
fn a_token_counts_once_and_for_its_session_alone() {
    let previews = Previews::new(Previews::LIFE);
    let (ours, theirs) = (SessionId::new("a"), SessionId::new("b"));
    let token = previews.offer(&ours, change()).expect("a token").token;
    assert!(previews.take(&theirs, &token).is_err());
    assert!(previews.take(&ours, &token).is_ok());
    assert!(previews.take(&ours, &token).is_err());
}

#[test]
fn an_old_token_does_not_count() {
    let previews = Previews::new(Duration::ZERO);
    let session = SessionId::new("a");
    let token = previews.offer(&session, change()).expect("a token").token;
    assert!(previews.look(&session, &token).is_err());
}

#[test]
fn no_more_than_the_limit_are_kept_and_the_oldest_goes() {
    let previews = Previews::new(Previews::LIFE);
    let session = SessionId::new("a");
    let tokens: Vec<String> = (0..=MAX_PREVIEWS)
        .map(|_| previews.offer(&session, change()).expect("a token").token)
        .collect();
    let alive = tokens
        .iter()
        .filter(|token| previews.look(&session, token).is_ok())
        .count();
    assert_eq!(alive, MAX_PREVIEWS);
    assert!(previews.look(&session, &tokens[0]).is_err());
}

#[test]
fn what_has_not_the_form_of_a_token_is_no_expired_one() {
    let previews = Previews::new(Previews::LIFE);
    let session = SessionId::new("a");
    let code = |token: &str| previews.look(&session, token).unwrap_err().code;
    let token = previews.offer(&session, change()).expect("a token").token;
    for bad in [
        "",
        "yes",
        "true",
        token.get(1..).unwrap_or_default(),
        &token.to_uppercase().replace(char::is_numeric, "A"),
    ] {
        assert_eq!(code(bad), crate::error::Code::ConfirmMismatch, "{bad}");
    }
    assert_eq!(code(&"0".repeat(32)), crate::error::Code::ConfirmExpired);
}

fn heavy(bytes: usize) -> ChangeSet {
    let mut page = change().first().change.before().expect("a page").clone();
    page.content = "x".repeat(bytes);
    ChangeSet::single(CallId::new().expect("an id"), Change::delete(page))
}

#[test]
fn whoever_holds_the_most_gives_way_whatever_sessions_it_opens() {
    let previews = Previews::new(Previews::LIFE);
    let few = SessionId::new("a/1").owned_by("a");
    let sessions = ["b/1", "b/2"].map(|name| SessionId::new(name).owned_by("b"));
    let kept = previews.offer(&few, change()).expect("a token").token;
    let first = previews.offer(&sessions[0], change()).expect("a token");
    let set = change();
    for number in 0..MANY {
        let session = &sessions[number % 2];
        previews.offer(session, set.clone()).expect("a token");
    }
    assert_eq!(previews.kept.lock().len(), MAX_PREVIEWS);
    assert_eq!(previews.turn_of(&few, &kept).unwrap().page, Some(1));
    assert!(previews.turn_of(&sessions[0], &first.token).is_err());
    // A light owner's newcomer evicts a heavy owner's preview.
    let late = SessionId::new("c");
    let token = previews.offer(&late, change()).expect("a token").token;
    assert!(previews.look(&late, &token).is_ok());
    assert!(previews.look(&few, &kept).is_ok());
}

#[test]
fn large_previews_do_not_push_out_those_of_who_holds_less() {
    let previews = Previews::new(Previews::LIFE);
    let (few, much) = (SessionId::new("a"), SessionId::new("b"));
    let kept = previews.offer(&few, change()).expect("a token").token;
    let large = || previews.offer(&much, heavy(MAX_BYTES / 4));
    let tokens: Vec<String> = (0..5).map(|_| large().expect("a token").token).collect();
    let alive = tokens.iter().map(|one| previews.look(&much, one).is_ok());
    let alive: Vec<bool> = alive.collect();
    assert_eq!(alive, [false, false, true, true, true]);
    assert!(previews.look(&few, &kept).is_ok());
    // A preview that could only evict those of lighter owners is refused, and costs its owner
    // nothing.
    let late = SessionId::new("c");
    let small = previews.offer(&late, change()).expect("a token").token;
    let refused = previews.offer(&late, heavy(MAX_BYTES));
    assert_eq!(refused.unwrap_err().code, crate::error::Code::TooLarge);
    assert!(previews.look(&late, &small).is_ok());
    assert!(previews.look(&much, &tokens[4]).is_ok());
}

#[test]
fn the_call_that_was_previewed_is_kept_for_its_session() {
    let previews = Previews::new(Previews::LIFE);
    let (ours, theirs) = (SessionId::new("a"), SessionId::new("b"));
    let set = change();
    let id = set.id();
    let token = previews.offer(&ours, set).expect("a token").token;
    assert!(previews.asked(&ours, &token).expect("it counts").is_none());
    let asked = |content: &str| {
        let arguments = json!({ "content": content });
        Asked::new(
            "wikijs_update_page",
            arguments.as_object().expect("an object").clone(),
        )
    };
    previews.keep_asked(&theirs, &token, asked("theirs"));
    assert!(previews.asked(&ours, &token).expect("it counts").is_none());
    previews.keep_asked(&ours, &token, asked("ours"));
    let kept = previews
        .asked(&ours, &token)
        .expect("it counts")
        .expect("kept");
    assert_eq!(kept.arguments["content"], "ours");
    assert!(previews.asked(&theirs, &token).is_err());

    assert_eq!(previews.shown(&ours, id).map(|set| set.id()), Some(id));
    assert!(previews.shown(&theirs, id).is_none());
    let other = CallId::new().expect("an id");
    assert!(previews.shown(&ours, other).is_none());
}

#[test]
fn the_call_takes_room_beside_its_preview() {
    let previews = Previews::new(Previews::LIFE);
    let session = SessionId::new("a");
    let first = previews.offer(&session, change()).expect("a token").token;
    let arguments = json!({ "content": "x".repeat(MAX_BYTES) });
    let asked = Asked::new(
        "wikijs_update_page",
        arguments.as_object().expect("an object").clone(),
    );
    previews.keep_asked(&session, &first, asked);
    let second = previews.offer(&session, change()).expect("a token").token;
    assert!(previews.look(&session, &first).is_err(), "it made room");
    assert!(previews.look(&session, &second).is_ok());
}

#[tokio::test]
async fn the_call_that_used_a_token_up_is_known_to_its_session_alone() {
    let previews = Previews::new(Previews::LIFE);
    let (ours, theirs) = (SessionId::new("a"), SessionId::new("b"));
    let [one, two] = [(); 2].map(|()| previews.offer(&ours, change()).expect("a token").token);
    let (first, second) = (CallId::new().expect("an id"), CallId::new().expect("an id"));
    for (call, token) in [(first, &one), (second, &two)] {
        let spent = call.during(async { previews.take(&ours, token) }).await;
        assert!(spent.is_ok());
    }
    assert_eq!(previews.used_by(&ours, &one), Some(first));
    assert_eq!(previews.used_by(&ours, &two), Some(second));
    assert_eq!(previews.used_by(&theirs, &one), None);
    assert_eq!(previews.used_by(&ours, &"0".repeat(32)), None);
}

#[test]
fn large_previews_wait_beside_each_other() {
    let previews = Previews::new(Previews::LIFE);
    let session = SessionId::new("a");
    let tokens = [(); 3].map(|()| {
        previews
            // As much as a change of the largest page that the wiki takes.
            .offer(&session, heavy(10_000_000))
            .expect("a token")
            .token
    });
    assert!(
        tokens
            .iter()
            .all(|token| previews.look(&session, token).is_ok())
    );
}

/// Previews as a session has them where servers share this place.
fn by<'a>(here: &'a Previews, place: &PreviewStore, session: &'a SessionId) -> SessionPreviews<'a> {
    SessionPreviews {
        session,
        here,
        place: Some(place.clone()),
    }
}

#[tokio::test]
async fn a_preview_counts_at_every_server_of_a_remote_store_and_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = LocalStore::new(dir.path(), "docs").remote().unwrap();
    let read = Arc::clone(&store.documents_read);
    let store: Arc<dyn Store> = Arc::new(store);
    let gates = LineHash::new(b"gates");
    let place = PreviewStore::new(&store, || gates).expect("a remote store");
    let (ours, theirs) = (SessionId::new("a"), SessionId::new("b"));
    let [one, two, three] = [(); 3].map(|()| Previews::new(Previews::LIFE));
    let set = change();
    let (id, token) = (set.id(), one.offer(&ours, set.clone()).expect("a token"));
    let token = token.token;
    let arguments = json!({ "id": 7 }).as_object().cloned().unwrap_or_default();
    let asked = Asked::new("wikijs_delete_page", arguments);
    by(&one, &place, &ours).keep_asked(&token, asked).await;
    let names = store.documents(DocumentKind::Preview).expect("documents");
    assert_eq!(names.len(), 1);
    assert!(
        !names[0].name.contains(&token),
        "the token is told to nobody"
    );

    // Neither another session nor another policy finds it.
    by(&two, &place, &theirs)
        .fetch(&token)
        .await
        .expect("an answer");
    assert!(two.look(&theirs, &token).is_err());
    let stricter = PreviewStore::new(&store, || LineHash::new(b"other")).expect("a store");
    by(&two, &stricter, &ours)
        .fetch(&token)
        .await
        .expect("an answer");
    assert!(two.look(&ours, &token).is_err());

    by(&two, &place, &ours)
        .fetch(&token)
        .await
        .expect("an answer");
    assert!(
        two.look(&ours, &token)
            .expect("it counts")
            .is_same_write(&set)
    );
    let asked = two.asked(&ours, &token).expect("it counts").expect("kept");
    assert_eq!(&*asked.tool, "wikijs_delete_page");
    assert_eq!(asked.arguments["id"], 7);
    let shown = by(&three, &place, &ours).shown(id).await;
    let shown = shown.expect("an answer");
    assert_eq!(shown.map(|set| set.id()), Some(id));
    assert!(
        three.look(&ours, &token).is_err(),
        "to be shown is not to confirm"
    );

    let call = CallId::new().expect("a call");
    let spent = call.during(by(&two, &place, &ours).spend(&token)).await;
    assert!(spent.is_ok());
    // The call of a server that had not heard of it used nothing up.
    let late = CallId::new().expect("a call");
    let refused = late.during(by(&one, &place, &ours).spend(&token)).await;
    let refused = refused.expect_err("it was used up");
    assert!(refused.hint.contains("do not repeat"), "{refused:?}");
    assert_eq!(one.used_by(&ours, &token), None);
    for server in [&one, &two, &three] {
        by(server, &place, &ours)
            .fetch(&token)
            .await
            .expect("an answer");
        // Each says which call used it up.
        assert_eq!(server.used_by(&ours, &token), Some(call));
        assert!(by(server, &place, &ours).spend(&token).await.is_err());
    }
    // Another session looks for a note of its own, before and after the previews, and opens no other.
    let before = read.load(Ordering::Relaxed);
    let found = by(&two, &place, &theirs).fetch(&token).await;
    assert!(found.is_ok() && two.used_by(&theirs, &token).is_none());
    assert_eq!(read.load(Ordering::Relaxed) - before, 2);
    // One that could not be shared counts where it was given.
    let alone = one.offer(&ours, change()).expect("a token").token;
    assert!(by(&one, &place, &ours).spend(&alone).await.is_ok());
}

#[tokio::test]
async fn what_used_a_token_up_is_noted_before_its_preview_is_gone() {
    let dir = tempfile::tempdir().expect("a directory");
    let store: Arc<dyn Store> = Arc::new(LocalStore::new(dir.path(), "docs").remote().unwrap());
    let place = PreviewStore::new(&store, || LineHash::new(b"gates")).expect("a remote store");
    let ours = SessionId::new("a");
    let [one, two] = [(); 2].map(|()| Previews::new(Previews::LIFE));
    let shown = async || {
        let token = one.offer(&ours, change()).expect("a token").token;
        let asked = Asked::new("wikijs_delete_page", serde_json::Map::new());
        by(&one, &place, &ours).keep_asked(&token, asked).await;
        token
    };
    // Whoever comes while another server uses the token up is not told to begin anew.
    let token = shown().await;
    let name = format!("used.{}.{}", owner_in_name(ours.owner()), {
        LineHash::new(token.as_bytes())
    });
    let lease = LeaseName::document(DocumentKind::Preview, &name);
    let lease = store.try_lease(&lease, LeaseMode::Alone).unwrap().unwrap();
    let refused = by(&one, &place, &ours).spend(&token).await;
    let refused = refused.expect_err("late");
    assert!(refused.hint.contains("do not repeat"), "{refused:?}");
    drop(lease);

    // A preview that cannot be removed, as a server that is killed then leaves it.
    let token = shown().await;
    let listed = store.documents(DocumentKind::Preview).unwrap();
    let ending = LineHash::new(token.as_bytes()).to_string();
    let name = listed
        .iter()
        .find(|one| one.name.ends_with(&ending))
        .unwrap();
    let files = dir.path().join("docs/previews").read_dir().unwrap();
    let file = files
        .map(|file| file.unwrap().path())
        .find(|path| path.to_string_lossy().contains(&name.name))
        .expect("its file");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir_all(file.join("full")).unwrap();
    let call = CallId::new().expect("a call");
    let failed = call.during(by(&one, &place, &ours).spend(&token)).await;
    assert_eq!(failed.expect_err("a fault").code, Code::AuditUnavailable);
    by(&two, &place, &ours)
        .fetch(&token)
        .await
        .expect("an answer");
    assert_eq!(two.used_by(&ours, &token), Some(call));
}

#[tokio::test]
async fn where_the_store_is_away_a_failure_says_of_previews_or_questions_what_they_are() {
    let dir = tempfile::tempdir().expect("a directory");
    let root = dir.path().join("root");
    std::fs::create_dir(&root).expect("a directory");
    let store: Arc<dyn Store> = Arc::new(LocalStore::new(&root, "docs").remote().unwrap());
    let place = PreviewStore::new(&store, || LineHash::new(b"gates")).expect("a remote store");
    // Nothing is below a file.
    std::fs::remove_dir_all(&root).expect("nothing there");
    std::fs::write(&root, "").expect("a file");
    let session = SessionId::new("a");
    let offered = Previews::new(Previews::LIFE).offer(&session, change());
    let token = offered.expect("a token").token;
    for (place, said) in [
        (
            place.clone(),
            "The previews that servers share cannot be reached",
        ),
        (
            place.of_questions(),
            "The questions that servers share cannot be reached",
        ),
    ] {
        let here = Previews::new(Previews::LIFE);
        let failed = by(&here, &place, &session).fetch(&token).await;
        let message = failed.expect_err("no store").message;
        assert!(message.starts_with(said), "{message}");
    }
}

#[tokio::test]
async fn one_clients_many_previews_push_out_none_of_others_at_any_server() {
    let dir = tempfile::tempdir().expect("a directory");
    let store: Arc<dyn Store> = Arc::new(LocalStore::new(dir.path(), "docs").remote().unwrap());
    let mut place = PreviewStore::new(&store, || LineHash::new(b"gates")).expect("a remote store");
    place.most = 100;
    let servers = [(); 3].map(|()| Previews::new(Previews::LIFE));
    let asked = || Asked::new("wikijs_delete_page", serde_json::Map::new());
    let offer = async |server: &Previews, session: &SessionId| {
        let token = server.offer(session, change()).expect("a token").token;
        by(server, &place, session)
            .keep_asked(&token, asked())
            .await;
        token
    };
    let few = SessionId::new("a/1").owned_by("a");
    let kept = offer(&servers[0], &few).await;
    let (mut tokens, session) = (Vec::new(), SessionId::new("b/1").owned_by("b"));
    for number in 0..40 {
        tokens.push(offer(&servers[number % 2], &session).await);
        let documents = store.documents(DocumentKind::Preview).expect("documents");
        // A tenth of all at most is one client's.
        assert!(documents.len() <= 11, "{}", documents.len());
    }
    // A server that showed none of them finds those that are left.
    let mut found = Vec::new();
    for token in [&kept].into_iter().chain(&tokens) {
        let own = if token == &kept { &few } else { &session };
        by(&servers[2], &place, own)
            .fetch(token)
            .await
            .expect("an answer");
        let spent = by(&servers[2], &place, own).spend(token).await;
        found.push(spent.is_ok());
    }
    assert!(found[0], "the other client's counts everywhere");
    assert_eq!(found.iter().filter(|found| **found).count(), 11);
    assert!(!found[1] && found[40], "{found:?}");
}
