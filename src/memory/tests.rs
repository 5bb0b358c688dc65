//! The store: what it keeps, how long, how much, and whose.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use tempfile::TempDir;

use super::entry::MAX_CHARS;
use super::store::{MOST, MOST_BYTES, MOST_OWNERS, purge};
use super::*;
use crate::audit::{AuditEntry, AuditEvent, AuditLog, CallId, MemoryId};
use crate::page::testing::But as _;

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn owner(key: &str) -> MemoryOwner {
    MemoryOwner::client(key, key)
}

pub(super) fn memory(content: &str, changed: Timestamp) -> Memory {
    Memory {
        id: MemoryId::new().unwrap(),
        content: content.to_owned(),
        kind: MemoryType::Fact,
        importance: 5,
        page: None,
        author: "agent".to_owned(),
        created: changed,
        changed,
        used: changed,
        uses: 0,
        forgotten: None,
        superseded_by: None,
        exchanged: None,
    }
}

fn forgotten(content: &str, at: Timestamp) -> Memory {
    memory(content, at).but(|it| it.forgotten = Some(at))
}

/// A store of its own.
struct Own {
    dir: TempDir,
    log: AuditLog,
    store: MemoryStore,
}

impl Own {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let log = AuditLog::new(dir.path(), "docs");
        let store = MemoryStore::of(&log);
        Self { dir, log, store }
    }

    async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Memories) -> Result<T, MemoryError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        let entry = AuditEntry::new(CallId::new().unwrap(), AuditEvent::Memory);
        let change = self.store.change(entry, |memories| {
            let note = AuditNote {
                decision: "remembered",
                reason: "test".to_owned(),
            };
            work(memories).map(|value| (value, Some(note)))
        });
        change.await
    }

    async fn add(&self, key: &str, all: Vec<Memory>) -> Result<(), MemoryError> {
        let owner = owner(key);
        self.change(move |memories| {
            memories.of(&owner)?.extend(all);
            Ok(())
        })
        .await
    }

    async fn of(&self, key: &str) -> Result<Vec<Memory>, MemoryError> {
        self.store.of_owner(&owner(key)).await
    }

    fn file(&self) -> PathBuf {
        let files = fs::read_dir(&self.store.dir).unwrap();
        let mut files = files.map(|file| file.unwrap().path());
        files.find(|file| file.extension().is_some()).unwrap()
    }
}

#[tokio::test]
async fn a_memory_comes_back_as_it_was_kept() {
    let own = Own::new();
    let whole = Memory {
        page: Some(MemoryPage {
            id: 7,
            locale: crate::page::Locale::as_stored("de"),
            path: crate::page::PagePath::as_stored("a/b"),
        }),
        kind: MemoryType::Task,
        uses: 3,
        superseded_by: Some(MemoryId::new().unwrap()),
        ..forgotten("\u{1f9e0} 'x\" \n", Timestamp::now())
    };
    own.add("a", vec![whole.clone()]).await.unwrap();
    assert_eq!(own.of("a").await.unwrap(), std::slice::from_ref(&whole));
    assert_eq!(own.of("b").await.unwrap(), []);
    // What is forgotten is nobody's own any more.
    let id = whole.id;
    let gone = own.change(move |all| all.own(&owner("a"), id).cloned());
    assert_eq!(gone.await, Err(MemoryError::NoSuch));
    // An owner without memories has no file.
    own.change(|all| all.of(&owner("a")).map(Vec::clear))
        .await
        .unwrap();
    assert_eq!(own.store.all().await.unwrap(), []);
    assert_eq!(fs::read_dir(&own.store.dir).unwrap().count(), 0);
}

#[test]
fn words_are_found_in_any_form_and_nothing_in_them_is_syntax() {
    let one = memory("The café's 会议记录 lie in docs/meetings; C++", NOW);
    let finds = |query: &str| ranked(vec![one.clone()], Some(query), NOW).len();
    for query in [
        "cafe",
        "会议",
        "meet",
        "nothing meetings",
        "docs/meetings",
        "C++",
    ] {
        assert_eq!(finds(query), 1, "{query}");
    }
    for query in ["nothing", "议会", "*", "\"", "NEAR(", "words:nothing"] {
        assert_eq!(finds(query), 0, "{query}");
    }
}

#[tokio::test]
async fn an_owner_has_room_for_so_many_and_so_much_and_another_for_its_own() {
    let own = Own::new();
    let small = |count| vec![memory("x", NOW); count];
    assert_eq!(own.add("a", small(MOST)).await, Ok(()));
    assert_eq!(own.add("a", small(1)).await, Err(MemoryError::Full));
    assert_eq!(own.of("a").await.unwrap().len(), MOST);
    assert_eq!(own.add("b", small(1)).await, Ok(()));
    let large = memory(&"🧠".repeat(MAX_CHARS), NOW);
    let most = MOST_BYTES / large.content.len();
    assert_eq!(own.add("c", vec![large.clone(); most]).await, Ok(()));
    assert_eq!(own.add("c", vec![large]).await, Err(MemoryError::Full));
    for number in 3..MOST_OWNERS {
        own.add(&number.to_string(), small(1)).await.unwrap();
    }
    let one_more = own.add("d", small(1)).await;
    assert_eq!(one_more, Err(MemoryError::TooManyOwners));
}

#[test]
fn what_was_forgotten_is_kept_for_thirty_days_and_no_more_than_there_is_room_for() {
    let left_at = |days: i64| {
        let mut all = vec![forgotten("x", NOW), memory("kept", NOW)];
        purge(&mut all, NOW.plus_days(days));
        all.len()
    };
    assert_eq!([-3_650, 0, 30, 31].map(left_at), [2, 2, 2, 1]);
    let days = 0..i64::try_from(MOST + 5).unwrap();
    let mut all: Vec<Memory> = days
        .map(|number| forgotten("x", Timestamp(NOW.0 + number)))
        .collect();
    purge(&mut all, NOW);
    assert_eq!(all.len(), MOST);
    assert_eq!(all[0].forgotten, Some(Timestamp(NOW.0 + 5)));
}

#[tokio::test]
async fn a_handover_gives_the_most_important_first_and_what_has_no_room_can_be_restored() {
    let own = Own::new();
    let mut few = vec![memory("low", NOW), memory("high", NOW)];
    few[1].importance = 9;
    few.push(forgotten("gone", Timestamp::now()));
    own.add("child", few).await.unwrap();
    own.add("maker", vec![memory("x", NOW); MOST - 1])
        .await
        .unwrap();
    let give = || {
        own.store.change(
            AuditEntry::new(CallId::new().unwrap(), AuditEvent::Memory),
            |all| all.hand_over(&owner("child"), &owner("maker")),
        )
    };
    assert_eq!(give().await, Ok(1));
    assert_eq!(own.of("child").await.unwrap(), []);
    let got = own.of("maker").await.unwrap();
    let kept = |text: &str| {
        let one = got.iter().find(|one| one.content == text).unwrap();
        one.forgotten.is_none()
    };
    assert_eq!(
        [kept("high"), kept("low"), kept("gone")],
        [true, false, false]
    );
    assert_eq!(give().await, Ok(0));
}

#[test]
fn recalled_memories_rank_by_words_importance_and_health_and_none_is_hidden() {
    let old = memory("old memory", NOW).but(|it| it.used = NOW.plus_days(-365));
    let important = memory("important memory", NOW).but(|it| it.importance = 10);
    let plain = memory("plain memory", NOW);
    let contents = |words: Option<&str>| -> Vec<(String, u8)> {
        let all = vec![old.clone(), plain.clone(), important.clone()];
        let ranked = ranked(all, words, NOW).into_iter();
        ranked.map(|one| (one.memory.content, one.health)).collect()
    };
    let told = |text: &str, health| (text.to_owned(), health);
    let expected = [
        told("important memory", 100),
        told("plain memory", 100),
        told("old memory", 7),
    ];
    assert_eq!(contents(None), expected);
    let expected = [
        told("old memory", 7),
        told("important memory", 100),
        told("plain memory", 100),
    ];
    assert_eq!(contents(Some("an old memory")), expected);
}

#[tokio::test]
async fn the_files_are_private_and_one_that_others_may_write_is_not_read() {
    let own = Own::new();
    assert_eq!(own.of("a").await, Ok(Vec::new()));
    assert!(!own.store.dir.exists());
    own.add("a", vec![memory("x", NOW)]).await.unwrap();
    let file = own.file();
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::set_permissions(&file, Permissions::from_mode(0o620)).unwrap();
    let why = own.of("a").await;
    assert_eq!(why, Err(MemoryError::NotOurs("can be changed by others")));
    let elsewhere = own.dir.path().join("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    symlink(&elsewhere, &file).unwrap();
    assert_eq!(own.of("a").await, Err(MemoryError::NotOurs("is a link")));
    let added = own.add("a", vec![memory("y", NOW)]).await;
    assert_eq!(added, Err(MemoryError::NotOurs("is a link")));
}

#[tokio::test]
async fn a_file_that_is_damaged_or_of_a_newer_version_stays_as_it_is() {
    let own = Own::new();
    own.add("a", vec![memory("x", NOW)]).await.unwrap();
    let file = own.file();
    own.add("b", vec![memory("z", NOW)]).await.unwrap();
    let good = fs::read_to_string(&file).unwrap();
    for bad in [
        b"nonsense".to_vec(),
        vec![0xff; 9_000],
        good.replace("\"v\":1", "\"v\":2").into_bytes(),
        good.replace("\"fact\"", "\"order\"").into_bytes(),
    ] {
        fs::write(&file, &bad).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        let damaged = MemoryError::Damaged(name.trim_end_matches(".jsonl").to_owned());
        assert_eq!(own.of("a").await, Err(damaged.clone()));
        let added = own.add("a", vec![memory("y", NOW)]).await;
        assert_eq!(added, Err(damaged.clone()));
        // Those of others are read all the same.
        let (others, faults) = own.store.readable().await.unwrap();
        assert_eq!((others.len(), faults), (1, vec![damaged]));
        assert_eq!(fs::read(&file).unwrap(), bad);
    }
}

#[tokio::test]
async fn an_import_takes_what_is_newer_and_names_a_bad_line() {
    let own = Own::new();
    let one = memory("one", NOW);
    let line = |memory: &Memory| {
        let line = MemoryLine::of("wiki", owner("a"), memory.clone());
        serde_json::to_string(&line).unwrap()
    };
    let older = line(&Memory {
        content: "older".to_owned(),
        changed: NOW.plus_days(-1),
        ..one.clone()
    });
    let import = async |text: &str| {
        let import = MemoryImport::read(text, "wiki", None)?;
        own.change(|memories| import.apply(memories)).await
    };
    let text = format!("{older}\n\n{}\n{older}\n", line(&one));
    let done = import(&text).await.unwrap();
    assert_eq!((done.added, done.updated, done.kept), (1, 1, 1));
    let exchanged = one.clone().but(|memory| memory.exchanged = Some(NOW));
    assert_eq!(own.of("a").await.unwrap(), [exchanged]);
    let done = import(&text).await.unwrap();
    assert_eq!((done.added, done.updated, done.kept), (0, 0, 3));
    let fresh = line(&memory("fresh", NOW));
    for bad in [
        "{}".to_owned(),
        line(&memory("", NOW)),
        line(&memory("x", NOW).but(|memory| memory.importance = 0)),
        line(&memory("AKIAQYLPMN5HHHFPZAM2", NOW)),
        fresh.replace("\"v\":1", "\"v\":9"),
        fresh.replace("\"key\":\"a\"", "\"key\":\"\\u001b\""),
        fresh.replace("\"created\":\"", "\"created\":\"x"),
        fresh.replace("\"uses\":0", "\"uses\":0,\"more\":1"),
    ] {
        let refused = import(&format!("{fresh}\n{bad}")).await;
        let is_named = matches!(refused, Err(MemoryError::BadLine { line: 2, .. }));
        assert!(is_named, "{bad}: {refused:?}");
    }
    assert_eq!(own.of("a").await.unwrap().len(), 1);
}

/// The outcome of an import of these memories as this owner's.
async fn imported(own: &Own, key: &str, all: &[Memory]) -> Imported {
    let mut text = String::new();
    for one in all {
        let line = MemoryLine::of("wiki", owner(key), one.clone());
        text.push_str(&serde_json::to_string(&line).unwrap());
        text.push('\n');
    }
    let import = MemoryImport::read(&text, "wiki", None).unwrap();
    own.change(|memories| import.apply(memories)).await.unwrap()
}

/// Number of memories with this text.
async fn count(own: &Own, key: &str, text: &str) -> usize {
    let all = own.of(key).await.unwrap();
    all.iter().filter(|one| one.content == text).count()
}

#[tokio::test]
async fn forgotten_memories_of_a_peer_push_out_none_that_can_be_restored_here() {
    let own = Own::new();
    let now = Timestamp::now();
    let mut here = vec![forgotten("mine", now.plus_days(-20)); 3];
    here.extend(vec![memory("kept", NOW); MOST / 2 - 3]);
    own.add("a", here).await.unwrap();
    let theirs: Vec<Memory> = (0..MOST).map(|_| forgotten("theirs", now)).collect();
    let done = imported(&own, "a", &theirs).await;
    assert_eq!((done.added, done.left_out), (MOST / 2 - 3, MOST / 2 + 3));
    // What is forgotten here then has room, too.
    let forget = own.change(|all| {
        let now = all.now;
        let all = all.of(&owner("a"))?.iter_mut();
        all.filter(|one| one.forgotten.is_none())
            .for_each(|one| one.end(now, None));
        Ok(())
    });
    forget.await.unwrap();
    let [mine, kept] = [
        count(&own, "a", "mine").await,
        count(&own, "a", "kept").await,
    ];
    assert_eq!((mine, kept), (3, MOST / 2 - 3));
}

#[tokio::test]
async fn what_a_peer_ends_or_overwrites_waits_for_room_among_what_can_be_restored() {
    let now = Timestamp::now();
    let changed = memory("changed here", NOW).but(|it| it.changed = now.plus_days(-2));
    let kept = memory("kept", NOW);
    let ended = Memory {
        forgotten: Some(now),
        changed: now,
        ..kept.clone()
    };
    let theirs = Memory {
        content: "changed there".to_owned(),
        changed: now.plus_days(-1),
        ..changed.clone()
    };
    for (forgotten_here, left_out) in [(MOST, 2), (MOST - 2, 0)] {
        let own = Own::new();
        let mine = (0..forgotten_here).map(|_| forgotten("mine", now.plus_days(-20)));
        let here = mine.chain([kept.clone(), changed.clone()]).collect();
        own.add("a", here).await.unwrap();
        let done = imported(&own, "a", &[ended.clone(), theirs.clone()]).await;
        assert_eq!((done.updated, done.left_out), (2 - left_out, left_out));
        assert_eq!(count(&own, "a", "mine").await, forgotten_here);
        // It stays, or can be restored.
        assert_eq!(count(&own, "a", "changed here").await, 1);
    }
}

#[tokio::test]
async fn a_change_is_on_record_first_and_one_that_cannot_be_is_not_made() {
    let own = Own::new();
    own.add("a", vec![memory("one", NOW)]).await.unwrap();
    own.log.close().await.unwrap();
    let refused = own.add("a", vec![memory("two", NOW)]).await;
    assert!(matches!(refused, Err(MemoryError::Audit(_))), "{refused:?}");
    assert_eq!(own.of("a").await.unwrap().len(), 1);
    let text = fs::read_dir(&own.store.dir).unwrap();
    let names: Vec<_> = text.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
}
