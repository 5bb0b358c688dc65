use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{DelegatesError, DelegatesFile, MOST_AT_ONCE};
use crate::audit::ClientId;
use crate::gates::Grant;
use crate::server::clients::secret::{ClientToken, digest};
use crate::server::delegates::delegate::{DelegateEndReason, DelegateRecord};
use crate::server::http::TokensFile;

fn file(dir: &TempDir) -> DelegatesFile {
    TokensFile::new(dir.path().join("tokens")).delegates()
}

fn delegate(maker: &str) -> DelegateRecord {
    let end = OffsetDateTime::now_utc() + time::Duration::HOUR;
    let may = Grant {
        tools: Some(Vec::new()),
        expires: end.format(&Rfc3339).ok(),
        ..Grant::default()
    };
    let by = digest("wjs_maker");
    let maker_is = (ClientId::derived(maker), maker, &*by);
    let mut line =
        DelegateRecord::new(&ClientToken::new().unwrap(), maker_is, "write", may).unwrap();
    line.writes = 3;
    line
}

#[test]
fn the_file_is_private_and_one_that_others_may_write_is_not_read() {
    let dir = TempDir::new().unwrap();
    let file = file(&dir);
    assert_eq!(file.read(), Ok(Vec::new()));
    let one = delegate("ci");
    file.add(one.clone()).unwrap();
    assert_eq!(file.read(), Ok(vec![one.clone()]));
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(file.path()), 0o600);
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o620)).unwrap();
    for refused in [file.read().map(drop), file.take(one.id(), 1)] {
        let Err(DelegatesError::File(told)) = refused else {
            panic!("{refused:?}");
        };
        assert!(told.starts_with("the file of delegates"), "{told}");
    }
}

#[test]
fn changes_are_taken_once_across_all_servers_and_none_after_the_end() {
    let dir = TempDir::new().unwrap();
    let one = delegate("ci");
    file(&dir).add(one.clone()).unwrap();
    let taken = std::thread::scope(|scope| {
        let take = || file(&dir).take(one.id(), 1).is_ok();
        let servers: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
        let taken = servers.into_iter().map(|server| server.join().unwrap());
        taken.filter(|taken| *taken).count()
    });
    assert_eq!(taken, 3);
    let file = file(&dir);
    assert_eq!(file.take(one.id(), 1), Err(DelegatesError::Spent(0)));
    assert_eq!(file.take(one.id(), 0), Ok(()));
    assert_eq!(file.take(one.id(), u32::MAX), Err(DelegatesError::Spent(0)));
    let ended = file.end(one.id(), DelegateEndReason::Ended).unwrap();
    // The first end stays.
    assert_eq!(
        file.end(one.id(), DelegateEndReason::TimeUp).unwrap(),
        ended
    );
    assert_eq!(file.take(one.id(), 0), Err(DelegatesError::Ended));
    let other = ClientId::derived("other");
    assert_eq!(file.take(other, 1), Err(DelegatesError::Unknown));
    assert_eq!(file.remove(one.id()), Ok(true));
    assert_eq!(file.remove(one.id()), Ok(false));
}

#[test]
fn each_maker_has_five_at_once() {
    let dir = TempDir::new().unwrap();
    let file = file(&dir);
    let first = delegate("ci");
    file.add(first.clone()).unwrap();
    for _ in 1..MOST_AT_ONCE {
        file.add(delegate("ci")).unwrap();
    }
    assert_eq!(file.add(delegate("ci")), Err(DelegatesError::TooMany));
    file.add(delegate("other")).unwrap();
    // One whose end is not settled yet is kept, and counts no more.
    file.end(first.id(), DelegateEndReason::Ended).unwrap();
    file.add(delegate("ci")).unwrap();
    let left = file.read().unwrap();
    assert!(left.iter().any(|one| one.id() == first.id()));
}

#[test]
fn one_bad_line_spoils_the_file_and_is_not_repeated() {
    let dir = TempDir::new().unwrap();
    let file = file(&dir);
    file.add(delegate("ci")).unwrap();
    let good = fs::read_to_string(file.path()).unwrap();
    for bad in ["nonsense wjs_secret\n", &good] {
        fs::write(file.path(), format!("{good}{bad}")).unwrap();
        let Err(DelegatesError::File(told)) = file.read() else {
            panic!("{bad}");
        };
        assert!(told.contains("line 2") && !told.contains("wjs_"), "{told}");
    }
}
