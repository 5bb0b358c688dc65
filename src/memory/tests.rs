//! The store: what it keeps, how long, how much, and whose.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

use super::open::open;
use super::rows::MemoryRows;
use super::upkeep::keep_up;
use super::*;
use crate::audit::{AuditEntry, AuditEvent, AuditLog, CallId, MemoryId};

const NOW: Timestamp = Timestamp(1_900_000_000_000);

fn owner(key: &str) -> MemoryOwner {
    MemoryOwner::client(key, key)
}

fn memory(content: &str, changed: Timestamp) -> Memory {
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
        gone: None,
    }
}

fn forgotten(content: &str, at: Timestamp) -> Memory {
    Memory {
        gone: Some(MemoryEnd { at, by: None }),
        ..memory(content, at)
    }
}

fn place(dir: &TempDir) -> PathBuf {
    fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
    dir.path().join("memory.sqlite")
}

fn made(dir: &TempDir) -> Connection {
    open(&place(dir), true).unwrap().unwrap()
}

fn all(db: &Connection, key: &str) -> Vec<Memory> {
    MemoryRows::of(db, NOW).of_owner(key).unwrap()
}

#[test]
fn a_memory_comes_back_as_it_was_kept() {
    let dir = TempDir::new().unwrap();
    let db = made(&dir);
    let rows = MemoryRows::of(&db, NOW);
    let whole = Memory {
        page: Some(MemoryPage {
            id: 7,
            locale: crate::page::Locale::as_stored("de"),
            path: crate::page::PagePath::as_stored("a/b"),
        }),
        kind: MemoryType::Task,
        uses: 3,
        gone: Some(MemoryEnd {
            at: NOW,
            by: Some(MemoryId::new().unwrap()),
        }),
        ..memory("\u{1f9e0} 'x\" \n", NOW)
    };
    rows.put(&owner("a"), &whole).unwrap();
    assert_eq!(all(&db, "a"), std::slice::from_ref(&whole));
    assert_eq!(rows.find(whole.id).unwrap().unwrap().0, owner("a"));
    // What is gone is nobody's own any more, and no word finds it.
    assert_eq!(rows.own("a", whole.id), Err(MemoryError::NoSuch));
    assert!(rows.with_words("a", "x").unwrap().is_empty());
    rows.remove(whole.id).unwrap();
    rows.sweep().unwrap();
    assert_eq!(rows.owners().unwrap(), []);
}

#[test]
fn words_are_found_in_what_is_kept_now_and_of_one_owner() {
    let dir = TempDir::new().unwrap();
    let db = made(&dir);
    let rows = MemoryRows::of(&db, NOW);
    let one = memory("The café's 会议记录 lie in docs/meetings", NOW);
    rows.put(&owner("a"), &one).unwrap();
    rows.put(&owner("b"), &memory("the café of b", NOW))
        .unwrap();
    let finds = |query: &str| rows.with_words("a", query).unwrap().len();
    for query in ["cafe", "会议", "meet", "nothing meetings", "docs/meetings"] {
        assert_eq!(finds(query), 1, "{query}");
    }
    for query in ["nothing", "议会", "", "*", "\"", "NEAR(", "words:nothing"] {
        assert_eq!(finds(query), 0, "{query}");
    }
    let changed = Memory {
        content: "lunch".to_owned(),
        ..one
    };
    rows.put(&owner("a"), &changed).unwrap();
    assert_eq!((finds("cafe"), finds("lunch")), (0, 1));
}

#[test]
fn an_owner_has_room_for_so_many_and_so_much_and_another_for_its_own() {
    let dir = TempDir::new().unwrap();
    let db = made(&dir);
    db.execute_batch("BEGIN").unwrap();
    let rows = MemoryRows::of(&db, NOW);
    let small = |count: usize, key: &str| {
        for _ in 0..count {
            rows.put(&owner(key), &memory("x", NOW)).unwrap();
        }
        rows.check_room(key)
    };
    assert_eq!(small(MOST, "a"), Ok(()));
    assert_eq!(small(1, "a"), Err(MemoryError::Full));
    assert_eq!(small(1, "b"), Ok(()));
    let large = "🧠".repeat(MAX_CHARS);
    for _ in 0..MOST_BYTES / large.len() {
        rows.put(&owner("c"), &memory(&large, NOW)).unwrap();
    }
    assert_eq!(rows.check_room("c"), Ok(()));
    assert_eq!(
        rows.usage("c").unwrap().bytes,
        MOST_BYTES / large.len() * large.len()
    );
    rows.put(&owner("c"), &memory(&large, NOW)).unwrap();
    assert_eq!(rows.check_room("c"), Err(MemoryError::Full));
    for _ in 0..=2 * MOST {
        rows.put(&owner("d"), &forgotten("x", NOW)).unwrap();
    }
    assert_eq!(rows.check_room("d"), Err(MemoryError::ForgotTooMuch));
    for number in 4..200 {
        rows.put(&owner(&number.to_string()), &memory("x", NOW))
            .unwrap();
    }
    let one_more = rows.put(&owner("e"), &memory("x", NOW));
    assert_eq!(one_more, Err(MemoryError::TooManyOwners));
}

#[test]
fn what_was_forgotten_is_purged_after_thirty_days_and_no_clock_that_jumps_purges_it() {
    let dir = TempDir::new().unwrap();
    let db = made(&dir);
    let rows = MemoryRows::of(&db, NOW);
    rows.put(&owner("a"), &forgotten("x", NOW)).unwrap();
    rows.put(&owner("a"), &memory("kept", NOW)).unwrap();
    let left_at = |days: i64| {
        keep_up(&db, NOW.plus_days(days)).unwrap();
        all(&db, "a").len()
    };
    assert_eq!(left_at(29), 2);
    // Years ahead for a while, and right again.
    for _ in 0..5 {
        assert_eq!(left_at(3_650), 2);
    }
    assert_eq!(left_at(1), 2);
    assert_eq!(left_at(3_650), 2);
    // Years back.
    assert_eq!(left_at(-3_650), 2);
    let put_right = all(&db, "a");
    assert!(
        put_right
            .iter()
            .all(|one| one.used <= NOW.plus_days(-3_650))
    );
    rows.put(&owner("b"), &forgotten("y", NOW)).unwrap();
    let of_b = |days: i64| {
        keep_up(&db, NOW.plus_days(days)).unwrap();
        all(&db, "b").len()
    };
    assert_eq!([of_b(31), of_b(31), of_b(32), of_b(33)], [1, 1, 0, 0]);
    assert_eq!(all(&db, "a").len(), 1, "what is not gone stays");
}

#[test]
fn what_was_done_under_a_clock_that_ran_ahead_ages_like_all_else_afterwards() {
    let dir = TempDir::new().unwrap();
    let db = made(&dir);
    let rows = MemoryRows::of(&db, NOW);
    let ahead = NOW.plus_days(20_000);
    rows.put(&owner("a"), &memory("x", ahead)).unwrap();
    rows.put(&owner("a"), &forgotten("y", ahead)).unwrap();
    keep_up(&db, NOW).unwrap();
    for one in all(&db, "a") {
        assert_eq!((one.created, one.changed, one.used), (NOW, NOW, NOW));
        assert!(one.gone.is_none_or(|gone| gone.at == NOW));
    }
}

#[test]
fn recalled_memories_rank_by_words_importance_and_health_and_none_is_hidden() {
    let old = Memory {
        used: NOW.plus_days(-365),
        ..memory("old", NOW)
    };
    let important = Memory {
        importance: 10,
        ..memory("important", NOW)
    };
    let plain = memory("plain", NOW);
    let contents = |fitting: Option<&[(MemoryId, f64)]>| -> Vec<(String, u8)> {
        let fitting = fitting.map(|fitting| fitting.iter().copied().collect());
        let all = vec![old.clone(), plain.clone(), important.clone()];
        let ranked = ranked(all, fitting.as_ref(), NOW).into_iter();
        ranked.map(|one| (one.memory.content, one.health)).collect()
    };
    let told = |text: &str, health| (text.to_owned(), health);
    assert_eq!(
        contents(None),
        [told("important", 100), told("plain", 100), told("old", 7)]
    );
    let fitting = [(old.id, 9.0), (plain.id, 1.0), (important.id, 1.0)];
    assert_eq!(
        contents(Some(&fitting)),
        [told("old", 7), told("important", 100), told("plain", 100)]
    );
}

#[test]
fn the_file_is_private_and_only_ours_is_opened() {
    let dir = TempDir::new().unwrap();
    let file = place(&dir);
    assert!(open(&file, false).unwrap().is_none());
    assert!(!file.exists());
    drop(made(&dir));
    let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
    drop(made(&dir));
    assert_eq!(mode(&file), 0o600);
    let why = || open(&file, true).map(|_| ()).unwrap_err();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o777)).unwrap();
    assert_eq!(why(), MemoryError::NotOurs("lies where others may write"));
    fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
    let second = dir.path().join("second");
    fs::hard_link(&file, &second).unwrap();
    assert_eq!(why(), MemoryError::NotOurs("has a second name"));
    fs::remove_file(&file).unwrap();
    symlink(&second, &file).unwrap();
    assert_eq!(why(), MemoryError::NotOurs("is a link"));
    symlink(dir.path().join("none"), dir.path().join("dangling")).unwrap();
    let dangling = open(&dir.path().join("dangling"), true).map(|_| ());
    assert_eq!(dangling, Err(MemoryError::NotOurs("is a link")));
}

#[test]
fn a_file_that_is_no_store_of_this_version_stays_as_it_is() {
    let dir = TempDir::new().unwrap();
    let file = place(&dir);
    let why = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        let why = open(&file, true).map(|_| ()).unwrap_err();
        assert_eq!(fs::read(&file).unwrap(), bytes);
        why
    };
    assert_eq!(why(b"nonsense"), MemoryError::Damaged);
    assert_eq!(why(&[0x5a; 9_000]), MemoryError::Damaged);
    fs::remove_file(&file).unwrap();
    let other = Connection::open(&file).unwrap();
    other.execute_batch("CREATE TABLE entry (id); ").unwrap();
    drop(other);
    assert_eq!(open(&file, true).map(|_| ()), Err(MemoryError::Damaged));
    fs::remove_file(&file).unwrap();
    let newer = made(&dir);
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    assert_eq!(open(&file, true).map(|_| ()), Err(MemoryError::Newer));
    // A store whose rows hold what this program does not write.
    fs::remove_file(&file).unwrap();
    let db = made(&dir);
    let rows = MemoryRows::of(&db, NOW);
    rows.put(&owner("a"), &memory("x", NOW)).unwrap();
    db.execute_batch("UPDATE entry SET kind = 'order'").unwrap();
    assert_eq!(rows.of_owner("a"), Err(MemoryError::Damaged));
}

#[test]
fn an_import_takes_what_is_newer_and_names_every_bad_line() {
    let dir = TempDir::new().unwrap();
    let db = made(&dir);
    let rows = MemoryRows::of(&db, NOW);
    let one = memory("one", NOW);
    let line = |memory: &Memory| export_line("wiki", &owner("a"), memory).unwrap();
    let older = line(&Memory {
        content: "older".to_owned(),
        changed: NOW.plus_days(-1),
        ..one.clone()
    });
    let gone = line(&Memory {
        gone: Some(MemoryEnd {
            at: NOW.plus_days(-2),
            by: None,
        }),
        ..memory("gone", NOW.plus_days(-3))
    });
    let import = |text: &str, into: Option<&MemoryOwner>| {
        let import = MemoryImport::read(text, "wiki", into, NOW).map_err(MemoryError::BadLines)?;
        import.apply(&rows)
    };
    let text = format!("{}\n\n{older}\n{gone}\n", line(&one));
    let done = import(&text, None).unwrap();
    assert_eq!((done.added, done.updated, done.kept), (2, 0, 0));
    assert_eq!(all(&db, "a")[1], one);
    let done = import(&text, None).unwrap();
    assert_eq!((done.added, done.updated, done.kept), (0, 0, 2));
    let wrong = |error: Result<Imported, MemoryError>| match error {
        Err(MemoryError::BadLines(lines)) => {
            lines.into_iter().map(|bad| bad.line).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let fresh = memory("fresh", NOW);
    let bad = [
        line(&fresh),
        String::new(),
        "{}".to_owned(),
        line(&memory("", NOW)),
        line(&memory("x", NOW.plus_days(2))),
        line(&Memory {
            importance: 0,
            ..memory("x", NOW)
        }),
        line(&memory("AKIAQYLPMN5HHHFPZAM2", NOW)),
        line(&memory("x", NOW)).replace("\"v\":1", "\"v\":9"),
        line(&memory("x", NOW)).replace("\"client\":\"a\"", "\"client\":\"\\u001b\""),
        line(&memory("x", NOW)).replace("\"created\":\"", "\"created\":\"x"),
        line(&memory("x", NOW)).replace("\"uses\":0", "\"uses\":0,\"more\":1"),
    ];
    assert_eq!(
        wrong(import(&bad.join("\n"), None)),
        [3, 4, 5, 6, 7, 8, 9, 10, 11]
    );
    assert!(rows.find(fresh.id).unwrap().is_none());
    assert_eq!(wrong(import(&text, Some(&owner("b")))), [1, 4]);
    let many = vec![line(&fresh); MOST_LINES + 1].join("\n");
    assert_eq!(wrong(import(&many, None)), [MOST_LINES + 1]);
}

#[tokio::test]
async fn a_change_is_on_record_first_and_one_that_cannot_be_is_not_made() {
    let dir = TempDir::new().unwrap();
    let log = AuditLog::new(dir.path(), "docs");
    let memories = MemoryStore::of(&log);
    let add = async |content: &'static str| {
        let entry = AuditEntry::new(CallId::new().unwrap(), AuditEvent::Memory);
        let change = memories.change(&log, entry, move |rows| {
            rows.put(&owner("a"), &memory(content, rows.now))?;
            let reason = content.to_owned();
            let decision = "remembered";
            Ok(((), Some(AuditNote { decision, reason })))
        });
        change.await
    };
    let kept = async || {
        let look = memories.look(|rows| rows.of_owner("a")).await.unwrap();
        look.map_or(0, |all| all.len())
    };
    assert_eq!(kept().await, 0);
    assert!(!memories.file().exists());
    add("one").await.unwrap();
    assert_eq!(kept().await, 1);
    log.close().await.unwrap();
    let refused = add("two").await;
    assert!(matches!(refused, Err(MemoryError::Audit(_))), "{refused:?}");
    assert_eq!(kept().await, 1);
}
