//! Changes that cannot be taken over: where one of them is a stricter gate, writes pause.

use std::fs;

use super::{At, Lines, Place, Running, Wikis, file};
use crate::audit::Pause;

/// A running server of a site, at whose file these lines are changed.
async fn changed(top: [&str; 2], site: [&str; 2]) -> (Option<String>, Vec<Option<Pause>>, Running) {
    let place = Place::new();
    let with = |top: &str, site: &str| {
        let server = file(Wikis::Named, At::Top, &Lines::new(), &[]);
        let (server, own) = server.split_once("[sites.a]").unwrap();
        place.put(&format!(
            "{}{top}\n[sites.a]{own}{site}\n",
            kept(server, top)
        ));
    };
    with(top[0], site[0]);
    let mut running = Running::start(&place.given()).await.unwrap();
    with(top[1], site[1]);
    let fault = running.look().await;
    let holds = running.holds();
    (fault, holds, running)
}

/// The lines of a text that name nothing that these lines name.
fn kept(text: &str, own: &str) -> String {
    let name = |line: &str| line.split(" =").next().unwrap_or_default().to_owned();
    let own: Vec<String> = own.lines().map(name).collect();
    let kept = text.lines().filter(|line| !own.contains(&name(line)));
    kept.flat_map(|line| [line, "\n"]).collect()
}

#[tokio::test]
async fn a_stricter_gate_beside_a_change_that_takes_a_restart_pauses_writes() {
    let other = "log = \"debug\"";
    for (was, is) in [
        ("", "mutations_enabled = false"),
        ("", "mutation_dry_run = true"),
        ("", "confirm = \"person\""),
        (
            "confirm = \"person\"\nconfirm_fallback = \"preview\"",
            "confirm = \"person\"",
        ),
        ("", "allowed_mutation_path_prefixes = [\"docs\"]"),
        ("", "denied_mutation_path_prefixes = [\"hr\"]"),
        ("", "allowed_read_path_prefixes = [\"docs\"]"),
        ("", "denied_read_tags = [\"secret\"]"),
        ("trash_prefix = \"trash\"", ""),
        ("", "read_only = true"),
        ("", "exclude_tools = [\"wikijs_delete_page\"]"),
        ("toolsets = [\"pages\", \"undo\"]", "toolsets = [\"pages\"]"),
        ("", "serve_caller_keys = true"),
        ("", "[[rules]]\nname = \"no\"\nthen = \"deny\""),
    ] {
        // A table ends what stands at the top.
        let with = |text: &str| format!("{other}\n{text}");
        let (fault, holds, running) = changed([was, &with(is)], [""; 2]).await;
        assert!(fault.is_some_and(|fault| fault.contains("log")), "{is}");
        let [Some(Pause::Settings(why))] = &*holds else {
            panic!("{was:?} -> {is:?}: {holds:?}");
        };
        assert!(why.contains("is not in force"), "{why}");
        assert!(!why.contains("config.toml"), "{why}");
        drop(running);
        // The other way round, nothing is stricter.
        if !is.contains("serve_caller_keys") {
            let (fault, holds, _) = changed([is, &with(was)], [""; 2]).await;
            assert!(fault.is_some(), "{is:?} -> {was:?}: {holds:?}");
            assert_eq!(holds, [None], "{is:?} -> {was:?}: {holds:?}");
        }
    }
}

#[tokio::test]
async fn a_gate_closed_at_the_top_pauses_a_site_whose_own_value_is_wider() {
    for (top, own) in [
        ("mutations_enabled = false", "mutations_enabled = true"),
        ("mutation_dry_run = true", "mutation_dry_run = false"),
        ("confirm = \"review\"", "confirm = \"preview\""),
        ("toolsets = [\"undo\"]", "toolsets = [\"pages\"]"),
    ] {
        let (fault, holds, _) = changed(["", top], [own; 2]).await;
        assert!(
            fault.is_some_and(|fault| fault.contains("sites.a")),
            "{top}"
        );
        assert!(
            matches!(&*holds, [Some(Pause::Settings(_))]),
            "{top}: {holds:?}"
        );
    }
}

#[tokio::test]
async fn writes_go_on_once_the_file_is_put_right_and_not_before() {
    let place = Place::new();
    let base = file(Wikis::Both, At::Top, &Lines::new(), &[]);
    let text = |lines: &str| format!("{lines}\n{}", kept(&base, lines));
    place.put(&text(""));
    let mut running = Running::start(&place.given()).await.unwrap();
    let closed = "mutation_dry_run = true\nserve_rate = 0";
    place.put(&text(closed));
    assert!(running.look().await.is_some());
    assert!(running.holds().iter().all(Option::is_some));
    // What cannot be read at all says nothing of gates; what was known of them stays.
    place.put("nonsense");
    assert!(
        running
            .look()
            .await
            .is_some_and(|fault| fault.contains("no TOML"))
    );
    assert!(running.holds().iter().all(Option::is_some));
    place.put(&text("serve_rate = 0"));
    assert!(running.look().await.is_some());
    assert_eq!(running.holds(), [None, None]);
    place.put(&text(closed));
    assert!(running.look().await.is_some());
    place.put(&text(""));
    assert_eq!(running.look().await, None);
    assert_eq!(running.holds(), [None, None]);
    assert!(
        running
            .sites
            .all()
            .iter()
            .all(|site| site.app().desk.may_write())
    );
}

#[tokio::test]
async fn a_file_that_closes_nothing_pauses_nothing_whatever_is_wrong_with_it() {
    for (top, why) in [
        ("nonsense = 1", "nonsense"),
        ("serve_rate = 0", "serve_rate"),
        ("log = \"debug\"", "restart"),
        ("[", "no TOML"),
        ("serve_rate = 5\nserve_rate = 6", "no TOML"),
    ] {
        let (fault, holds, _) = changed(["", top], [""; 2]).await;
        assert!(
            fault.as_ref().is_some_and(|fault| fault.contains(why)),
            "{top}: {fault:?}"
        );
        assert_eq!(holds, [None], "{top}");
    }
}

#[tokio::test]
async fn a_site_that_is_taken_out_is_paused_where_the_file_cannot_be_taken_over() {
    let place = Place::new();
    place.put(&file(Wikis::Both, At::Top, &Lines::new(), &[]));
    let mut running = Running::start(&place.given()).await.unwrap();
    place.put(&format!(
        "log = \"debug\"\n{}",
        file(Wikis::Unnamed, At::Top, &Lines::new(), &[])
    ));
    assert!(running.look().await.is_some());
    let holds = running.holds();
    let [None, Some(Pause::Settings(why))] = &*holds else {
        panic!("{holds:?}");
    };
    assert!(why.contains("the site"), "{why}");
    // Without anything else it is not served any more.
    place.put(&file(Wikis::Unnamed, At::Top, &Lines::new(), &[]));
    assert_eq!(running.look().await, None);
    assert_eq!(running.sites.all().len(), 1);
}

#[tokio::test]
async fn a_key_file_that_is_emptied_keeps_the_key_and_stops_no_gate_from_closing() {
    let place = Place::new();
    let own = vec![("api_token_file", "\"key1\"")];
    let base = file(Wikis::Unnamed, At::Top, &own, &["api_token"]);
    place.put(&base);
    let mut running = Running::start(&place.given()).await.unwrap();
    let key = |running: &Running| running.sites.all()[0].app().wiki.key().digest();
    let before = key(&running);
    fs::write(place.0.path().join("key1"), "").unwrap();
    let fault = running.look().await;
    assert!(fault.is_some_and(|fault| fault.contains("api_token_file")));
    assert_eq!((key(&running), running.holds()), (before, vec![None]));
    let closed = "mutations_enabled = false";
    place.put(&format!("{closed}\n{}", kept(&base, closed)));
    assert!(running.look().await.is_some());
    assert!(matches!(&*running.holds(), [Some(Pause::Settings(_))]));
    // The file of the key is looked at, too: with a good key all of it is taken over.
    let stamps = |running: &Running| running.reload.layers.stamps(&running.reload.given);
    let before = stamps(&running);
    fs::write(place.0.path().join("key1"), "three").unwrap();
    assert!(stamps(&running) != before);
    assert_eq!(running.look().await, None);
    assert_eq!(running.holds(), [None]);
    assert!(!running.sites.all()[0].app().desk.may_write());
}

#[tokio::test]
async fn proxies_without_named_clients_are_refused_as_at_a_start() {
    let place = Place::new();
    let base = kept(
        &file(Wikis::Unnamed, At::Top, &Lines::new(), &[]),
        "serve_tokens_file =",
    );
    place.put(&base);
    let mut running = Running::start(&place.given()).await.unwrap();
    place.put(&format!("serve_trusted_proxies = [\"10.0.0.0/8\"]\n{base}"));
    let fault = running.look().await;
    assert!(
        fault
            .as_ref()
            .is_some_and(|fault| fault.contains("WIKI_SERVE_TOKENS_FILE")),
        "{fault:?}"
    );
}
