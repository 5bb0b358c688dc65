use secrecy::ExposeSecret as _;
use time::{Duration, OffsetDateTime};

use super::{Fence, LINK_COUNTS, NOTED, SignIns, digest};
use crate::audit::ClientId;
use crate::page::testing::But as _;

#[tokio::test]
async fn a_use_is_noted_and_what_pages_leave_is_no_use() {
    let dir = tempfile::tempdir().unwrap();
    let sign_ins = SignIns::new(&dir.path().into());
    let link = sign_ins.invite(ClientId::new().unwrap(), "anna").unwrap();
    let opened = sign_ins.take_link(link.expose_secret()).await.unwrap();
    let (cookie, session) = opened.unwrap();
    let name = digest(&cookie);
    let used = async |ago: i64| {
        let of_before = session
            .clone()
            .but(|record| record.used = session.used - ago);
        sign_ins.write(&name, &of_before, Fence::default()).unwrap();
        // The issuer is asked again by the last use.
        sign_ins.change(&name, |_| ()).await;
        let changed = sign_ins.get(&name).unwrap().unwrap();
        assert_eq!(changed.used, of_before.used);
        sign_ins.note_use(&name, &of_before).await;
        sign_ins.get(&name).unwrap().unwrap().used
    };
    assert!(used(NOTED).await >= session.used);
    assert!(used(NOTED - 60).await < session.used);
}

#[tokio::test]
async fn a_link_opens_one_session_and_is_none_itself() {
    let dir = tempfile::tempdir().unwrap();
    let sign_ins = SignIns::new(&dir.path().into());
    let client = ClientId::new().unwrap();
    let first = sign_ins.invite(client, "anna").unwrap();
    let link = sign_ins.invite(client, "anna").unwrap();
    let link = link.expose_secret();
    for wrong in ["", "wjl_", &format!("{link}x"), first.expose_secret()] {
        assert_eq!(sign_ins.of_link(wrong).unwrap(), None);
        assert_eq!(sign_ins.take_link(wrong).await.unwrap(), None);
    }
    // Its secret is no cookie.
    assert_eq!(sign_ins.session(&digest(link)).unwrap(), None);
    let unused = sign_ins.of_link(link).unwrap().unwrap();
    let end = unused.ends().unwrap() - OffsetDateTime::now_utc();
    assert!((23..=24).contains(&(end + Duration::MINUTE).whole_hours()));
    let late = unused.but(|record| record.used -= LINK_COUNTS);
    let late_name = digest("wjl_late");
    sign_ins.write(&late_name, &late, Fence::default()).unwrap();
    assert_eq!(sign_ins.take_link("wjl_late").await.unwrap(), None);
    let (cookie, session) = sign_ins.take_link(link).await.unwrap().unwrap();
    assert_eq!((session.name(), session.client()), ("anna", Some(client)));
    assert_eq!(sign_ins.take_link(link).await.unwrap(), None);
    assert_eq!(sign_ins.session(&digest(&cookie)).unwrap(), Some(session));
    // Nor is a cookie a link.
    assert_eq!(sign_ins.of_link(&cookie).unwrap(), None);
    assert_eq!(sign_ins.revoke("anna/00000000").unwrap(), 0);
    let short = format!("anna/{}", SignIns::short(&digest(&cookie)));
    assert_eq!(sign_ins.revoke(&short).unwrap(), 1);
    assert_eq!(sign_ins.session(&digest(&cookie)).unwrap(), None);
    // A page that comes late brings nothing back.
    let late = |state: &mut super::BrowserState| state.is_side_by_side = true;
    sign_ins.change(&digest(&cookie), late).await;
    assert_eq!(sign_ins.all().unwrap(), []);
}

#[tokio::test]
async fn whoever_signs_out_while_somebody_is_at_the_session_stays_out() {
    let dir = tempfile::tempdir().unwrap();
    let sign_ins = SignIns::new(&dir.path().into())
        .but(|ins| ins.patience = std::time::Duration::from_millis(300));
    let link = sign_ins.invite(ClientId::new().unwrap(), "anna").unwrap();
    let opened = sign_ins.take_link(link.expose_secret()).await.unwrap();
    let (cookie, session) = opened.unwrap();
    let name = digest(&cookie);
    let turn = sign_ins.turn(&name).await.unwrap();
    let kept = sign_ins.sign_out(&name).await.unwrap();
    assert_eq!(kept.as_ref(), Some(&session));
    assert_eq!(sign_ins.get(&name).unwrap(), None);
    // Whoever has the turn had looked before.
    sign_ins.write(&name, &session, turn.fence()).unwrap();
    tokio::task::yield_now().await;
    drop(turn);
    drop(sign_ins.turn(&name).await.unwrap());
    assert_eq!(sign_ins.get(&name).unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_come_with_one_link_to_several_servers_one_is_let_in() {
    let dir = tempfile::tempdir().unwrap();
    let servers = (0..8).map(|_| SignIns::new(&dir.path().into()));
    let servers: Vec<_> = servers.collect();
    let link = servers[0].invite(ClientId::new().unwrap(), "anna").unwrap();
    let coming = servers
        .iter()
        .map(|one| one.take_link(link.expose_secret()));
    let came = futures_util::future::join_all(coming).await;
    let let_in = came.into_iter().filter_map(Result::unwrap);
    assert_eq!(let_in.count(), 1);
    assert_eq!(servers[0].all().unwrap().len(), 1);
}
