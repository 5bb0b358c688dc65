use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tempfile::TempDir;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{DelegatesError, KeptDelegates, MOST_AT_ONCE};
use crate::audit::{CallId, ClientId};
use crate::gates::Grant;
use crate::server::clients::secret::{ClientToken, digest};
use crate::server::delegates::delegate::{DelegateBasis, DelegateEndReason, DelegateRecord};
use crate::store::local::LocalStore;

/// Those of one server.
fn kept(dir: &TempDir) -> KeptDelegates {
    KeptDelegates::new(&dir.path().into())
}

#[test]
fn a_look_reads_the_delegates_that_changed_and_no_other() {
    let dir = TempDir::new().unwrap();
    let store = LocalStore::new(dir.path(), "");
    let read = Arc::clone(&store.documents_read);
    let kept = KeptDelegates {
        store: Arc::new(store),
        read: Arc::default(),
    };
    let all = ["a", "b", "c"].map(delegate);
    for one in &all {
        kept.add(one).unwrap();
    }
    let looked = || {
        let before = read.load(Ordering::Relaxed);
        assert_eq!(kept.all().unwrap().0.len(), 3);
        read.load(Ordering::Relaxed) - before
    };
    looked();
    assert_eq!(looked(), 0);
    kept.take(all[1].digest(), 1).unwrap();
    assert_eq!(looked(), 1);
    let used = |one: &Arc<DelegateRecord>| one.used;
    assert_eq!(kept.all().unwrap().0.iter().map(used).sum::<u32>(), 1);
}

fn path(dir: &TempDir, one: &DelegateRecord) -> PathBuf {
    dir.path().join(format!("delegates/{}.json", one.digest()))
}

fn names(kept: &KeptDelegates) -> Vec<String> {
    let (all, faults) = kept.all().unwrap();
    assert_eq!(faults, []);
    all.iter().map(|one| one.name()).collect()
}

fn delegate(maker: &str) -> DelegateRecord {
    let end = OffsetDateTime::now_utc() + time::Duration::HOUR;
    let may = Grant {
        tools: Some(Vec::new()),
        expires: end.format(&Rfc3339).ok(),
        ..Grant::default()
    };
    let by = digest("wjs_maker");
    let maker_is = (ClientId::derived(maker), maker, DelegateBasis::Token(by));
    let mut line =
        DelegateRecord::new(&ClientToken::new().unwrap(), maker_is, "write", may).unwrap();
    line.writes = 3;
    line
}

#[test]
fn a_document_is_private_and_a_damaged_one_is_named_gives_nothing_and_spoils_no_other() {
    let dir = TempDir::new().unwrap();
    let kept = kept(&dir);
    assert_eq!(names(&kept), [""; 0]);
    let (good, bad) = (delegate("ci"), delegate("ci"));
    kept.add(&good).unwrap();
    kept.add(&bad).unwrap();
    assert_eq!(names(&kept).len(), 2);
    let (file, own) = (path(&dir, &bad), fs::read(path(&dir, &bad)).unwrap());
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let is_refused = || {
        let (all, faults) = kept.all().unwrap();
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!(all[0].id(), good.id());
        let told = faults[0].to_string();
        assert!(
            told.contains(bad.digest()) && !told.contains("wjs_"),
            "{told}"
        );
        assert!(matches!(
            kept.take(bad.digest(), 1),
            Err(DelegatesError::Damaged { .. })
        ));
        assert_eq!(kept.take(good.digest(), 0), Ok(()));
    };
    let other = serde_json::to_vec(&good).unwrap();
    for text in [
        &b"nonsense wjs_secret"[..],
        b"",
        &vec![b' '; 200_000],
        &other,
    ] {
        fs::write(&file, text).unwrap();
        is_refused();
    }
    fs::write(&file, own).unwrap();
    assert_eq!(names(&kept).len(), 2);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o620)).unwrap();
    is_refused();
    fs::remove_file(&file).unwrap();
    assert_eq!(names(&kept), [good.name()]);
}

#[test]
fn changes_are_taken_once_across_all_servers_and_none_after_the_end() {
    let dir = TempDir::new().unwrap();
    let one = delegate("ci");
    let own = one.digest();
    kept(&dir).add(&one).unwrap();
    let taken = std::thread::scope(|scope| {
        let take = || kept(&dir).take(own, 1).is_ok();
        let servers: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
        let taken = servers.into_iter().map(|server| server.join().unwrap());
        taken.filter(|taken| *taken).count()
    });
    assert_eq!(taken, 3);
    let kept = kept(&dir);
    assert_eq!(kept.take(own, 1), Err(DelegatesError::Spent(0)));
    assert_eq!(kept.take(own, 0), Ok(()));
    assert_eq!(kept.take(own, u32::MAX), Err(DelegatesError::Spent(0)));
    let call = CallId::new().unwrap();
    let ended = kept.end(own, DelegateEndReason::Ended, call).unwrap();
    // The first end stays.
    let again = kept.end(own, DelegateEndReason::TimeUp, CallId::new().unwrap());
    assert_eq!(again.unwrap(), ended);
    assert_eq!(kept.take(own, 0), Err(DelegatesError::Ended));
    assert_eq!(kept.take("other", 1), Err(DelegatesError::Unknown));
    assert_eq!(kept.remove(own), Ok(true));
    assert_eq!(kept.remove(own), Ok(false));
}

#[test]
fn a_delegate_has_ended_by_the_clock_of_the_store_or_by_its_own_word() {
    let dir = TempDir::new().unwrap();
    let (kept, one) = (kept(&dir), delegate("ci"));
    assert_eq!(kept.has_ended(&one), Ok(false));
    let mut late = one.clone();
    late.client.may.expires = Some("2020-01-01T00:00:00Z".to_owned());
    assert_eq!(kept.has_ended(&late), Ok(true));
    let ended = Some(DelegateEndReason::Revoked);
    let revoked = DelegateRecord { ended, ..one };
    assert_eq!(kept.has_ended(&revoked), Ok(true));
}

#[test]
fn an_end_that_nobody_settles_is_not_written_again() {
    let dir = TempDir::new().unwrap();
    let (kept, one) = (kept(&dir), delegate("ci"));
    kept.add(&one).unwrap();
    let written = || fs::metadata(path(&dir, &one)).unwrap().ino();
    let end = || {
        let call = CallId::new().unwrap();
        kept.end(one.digest(), DelegateEndReason::TimeUp, call)
            .unwrap()
    };
    let made = written();
    let ended = end();
    let after = written();
    assert_ne!(after, made);
    assert_eq!(end(), ended);
    assert_eq!(written(), after);
}

#[test]
fn each_maker_has_five_at_once_however_many_servers_make_them() {
    let dir = TempDir::new().unwrap();
    let made = std::thread::scope(|scope| {
        let add = || kept(&dir).add(&delegate("ci")).is_ok();
        let servers: Vec<_> = (0..8).map(|_| scope.spawn(add)).collect();
        let made = servers.into_iter().map(|server| server.join().unwrap());
        made.filter(|made| *made).count()
    });
    assert_eq!(made, MOST_AT_ONCE);
    let kept = kept(&dir);
    assert_eq!(kept.add(&delegate("ci")), Err(DelegatesError::TooMany));
    kept.add(&delegate("other")).unwrap();
    // One whose end is not settled yet is kept, and counts no more.
    let (all, _) = kept.all().unwrap();
    let first = all.iter().find(|one| one.maker == "ci").unwrap();
    kept.revoke(&first.name()).unwrap();
    kept.add(&delegate("ci")).unwrap();
    assert!(names(&kept).contains(&first.name()));
}

#[test]
fn a_server_sees_what_another_changed_however_often() {
    let dir = TempDir::new().unwrap();
    let (one, other, line) = (kept(&dir), kept(&dir), delegate("ci"));
    other.add(&line).unwrap();
    for used in 0..=3 {
        let (all, _) = one.all().unwrap();
        assert_eq!((all[0].used, all[0].writes), (used, 3));
        let _ = other.take(line.digest(), 1);
    }
    other.remove(line.digest()).unwrap();
    assert_eq!(names(&one), [""; 0]);
}
