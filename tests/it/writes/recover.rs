//! Who settles what a killed server left open, when, and what a reading proves; `kill` has the
//! whole of each write.

use std::process::Command;

use futures_util::future::join_all;
use wikijs_gate::audit::CallId;

use crate::prelude::*;
use crate::writes::kill::{self, Killed};

impl Killed {
    fn call(&self) -> CallId {
        self.of(AuditEvent::Attempt)[0].call.unwrap()
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let of_call = |record: &wikijs_gate::audit::Record| record.call == Some(self.call());
        let mut records = self.of(AuditEvent::Outcome);
        records.retain(of_call);
        records.iter().filter_map(|record| record.outcome).collect()
    }

    async fn undo(&self, by: &Served, force: bool) -> Result<Value, Value> {
        let arguments = json!({ "callId": self.call().to_string(), "force": force });
        by.confirmed(UNDO, arguments).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_settles_after_the_handshake_without_being_asked() {
    let killed = kill::DELETE.killed_when_sent(Reach::Afterwards).await;
    let seen = killed.faulty.seen().len();
    let served = killed.setup().serve().await;
    killed.faulty.requests_arrive(seen + 1).await;
    served.app.desk.recovered().await;
    assert_eq!(killed.outcomes(), [Outcome::Applied]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_start_at_once_settle_once() {
    let killed = kill::DELETE.killed_when_sent(Reach::Never).await;
    let servers = join_all((0..4).map(|_| killed.next())).await;
    assert_eq!(killed.outcomes(), [Outcome::Unknown]);
    // It is settled: nobody looks at it again.
    let seen = killed.faulty.seen().len();
    killed.next().await;
    assert_eq!(killed.faulty.seen().len(), seen);
    drop(servers);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_open_is_settled_before_the_first_write_goes_out() {
    let killed = kill::DELETE.killed_when_sent(Reach::Never).await;
    let served = killed
        .setup()
        .with("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please")
        .serve()
        .await;
    let id = id_of(&killed.wiki, "home");
    let arguments = json!({ "id": id, "title": "x", "confirm": "open-sesame-please" });
    served.call(UPDATE, arguments).await.unwrap();
    let records = served.records();
    let place = |event, call: Option<CallId>, is_it: bool| {
        records
            .iter()
            .position(|record| record.event == event && (record.call == call) == is_it)
            .unwrap()
    };
    let call = Some(killed.call());
    assert!(place(AuditEvent::Outcome, call, true) < place(AuditEvent::Attempt, call, false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wiki_that_is_silent_keeps_no_write_waiting_for_ever() {
    let killed = kill::DELETE.killed_when_sent(Reach::Afterwards).await;
    let silence = Fault::new(Reach::Never, Reply::Silence);
    killed.faulty.on_request_after(0, silence);
    let served = killed.next().await;
    let id = id_of(&killed.wiki, "home");
    let edits = json!({ "id": id, "title": "x" });
    served.confirmed(UPDATE, edits).await.unwrap();
    assert_eq!(killed.outcomes(), []);
    killed.next().await;
    assert_eq!(killed.outcomes(), [Outcome::Applied]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_key_cannot_read_stays_open_for_one_that_can() {
    // That a page is gone is said to every key.
    for write in [kill::UPDATE, kill::CREATE] {
        let killed = write.killed_when_sent(Reach::Afterwards).await;
        for key in [
            killed.wiki.keys().reader.clone(),
            killed.wiki.keys().readonly.clone(),
            killed.wiki.expired_key(),
        ] {
            let weak = killed.setup().with("WIKI_API_TOKEN", &key).serve().await;
            weak.app.desk.recovered().await;
            assert_eq!(killed.outcomes(), [], "{}", write.tool);
        }
        killed.next().await;
        assert_eq!(killed.outcomes(), [Outcome::Applied]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_cannot_write_leaves_it_to_one_that_can() {
    let killed = kill::DELETE.killed_when_sent(Reach::Afterwards).await;
    let seen = killed.faulty.seen().len();
    let files = runs(killed.dir.path());
    for (name, value) in [
        ("WIKI_MUTATIONS_ENABLED", "false"),
        ("WIKI_MUTATION_DRY_RUN", "true"),
    ] {
        let served = killed.setup().with(name, value).serve().await;
        served.call(TAGS, json!({})).await.unwrap();
    }
    // Each asks for tags, and once whose key it is.
    assert_eq!(killed.faulty.seen().len(), seen + 4);
    assert_eq!(runs(killed.dir.path()), files);
    // The preview of an undo has to know what it would take back.
    let dry = killed.setup().dry().serve().await;
    assert_eq!(killed.undo(&dry, false).await.unwrap()["preview"], true);
    assert_eq!(killed.outcomes(), [Outcome::Applied]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_somebody_else_wrote_over_since_is_found_in_the_history() {
    let write = kill::UPDATE.but(|write| write.arguments = |id| json!({ "id": id, "title": "T" }));
    let killed = write.killed_when_sent(Reach::Afterwards).await;
    let id = id_of(&killed.wiki, write.path);
    killed.wiki.with_store(|store| {
        store.rewrite(id, |page| "Theirs".clone_into(&mut page.title));
    });
    let served = killed.next().await;
    assert_eq!(killed.outcomes(), [Outcome::Applied]);
    let error = killed.undo(&served, false).await.unwrap_err();
    assert_eq!(error["code"], "EDIT_CONFLICT");
    assert_eq!(error["details"]["fields"], json!(["title"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_somebody_else_wrote_since_is_not_taken_for_the_write() {
    let write = kill::UPDATE
        .but(|write| write.arguments = |id| json!({ "id": id, "title": "T", "tags": ["x"] }));
    let killed = write.killed_when_sent(Reach::Afterwards).await;
    let id = id_of(&killed.wiki, write.path);
    let change = |description: &str, title: &str| {
        killed.wiki.with_store(|store| {
            let page = store.page_mut(id).unwrap();
            page.description = Some(description.to_owned());
            title.clone_into(&mut page.title);
        });
    };
    change("Theirs", "Theirs");
    let served = killed.next().await;
    assert_eq!(killed.outcomes(), [Outcome::PartlyApplied]);
    let error = killed.undo(&served, false).await.unwrap_err();
    assert_eq!(error["code"], "EDIT_CONFLICT");
    assert_eq!(error["details"]["fields"], json!(["title"]));
    change("Theirs", "T");
    let outcome = &killed.undo(&served, false).await.unwrap()["outcome"];
    assert_eq!(outcome, "applied");
    let mut wanted = killed.before.clone();
    let page = wanted.iter_mut().find(|page| page.path == write.path);
    page.unwrap().description = Some("Theirs".to_owned());
    killed.is_restored_to(&wanted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_in_which_nothing_is_as_promised_is_not_claimed() {
    let killed = kill::UPDATE.killed_when_sent(Reach::Never).await;
    let id = id_of(&killed.wiki, "releases/2-4");
    killed
        .wiki
        .with_store(|store| "Theirs".clone_into(&mut store.page_mut(id).unwrap().title));
    let served = killed.next().await;
    assert_eq!(killed.outcomes(), [Outcome::Unknown]);
    let error = killed.undo(&served, true).await.unwrap_err();
    assert_eq!(error["code"], "NOTHING_TO_UNDO");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_page_that_is_not_the_promised_one_to_the_letter_is_not_claimed() {
    let killed = kill::CREATE.killed_when_sent(Reach::Afterwards).await;
    let id = id_of(&killed.wiki, "docs/x");
    killed
        .wiki
        .with_store(|store| store.page_mut(id).unwrap().content.push('!'));
    let served = killed.next().await;
    assert_eq!(killed.outcomes(), [Outcome::Unknown]);
    let code = &killed.undo(&served, true).await.unwrap_err()["code"];
    assert_eq!(code, "NOTHING_TO_UNDO");
    let created = killed.of(AuditEvent::Outcome).pop().unwrap();
    assert_eq!((created.id, created.found), (None, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_whose_states_are_lost_is_unknown() {
    let killed = kill::DELETE.killed_when_sent(Reach::Afterwards).await;
    fs::remove_dir_all(wiki_dir(killed.dir.path()).join("pages")).unwrap();
    killed.next().await;
    assert_eq!(killed.outcomes(), [Outcome::Unknown]);
    let settled = killed.of(AuditEvent::Outcome).remove(0);
    says(&settled.reason.unwrap(), "kept states are lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_undo_settles_before_it_looks() {
    let killed = kill::UPDATE.killed_when_sent(Reach::Afterwards).await;
    let mut command = Command::new(env!("CARGO_BIN_EXE_wikijs-gate"));
    command
        .args(["undo", "last", "--yes", "--json"])
        .env_clear()
        .env("WIKI_BASE_URL", killed.faulty.address())
        .env("WIKI_API_TOKEN", &killed.wiki.keys().scripter)
        .env("WIKI_AUDIT_DIR", killed.dir.path())
        .env("WIKI_MUTATIONS_ENABLED", "true")
        .env("WIKI_MUTATION_DRY_RUN", "false");
    let undone = tokio::task::spawn_blocking(move || command.output().unwrap());
    let undone = undone.await.unwrap();
    assert_eq!(undone.status.code(), Some(0), "{undone:?}");
    killed.is_restored_to(&killed.before);
    // It is named in the log, without a word of the wiki.
    let told = String::from_utf8(undone.stderr).unwrap();
    let line = told
        .lines()
        .find(|line| line.contains("left open"))
        .unwrap();
    let attempt = killed.of(AuditEvent::Attempt).remove(0);
    assert!(line.contains(&killed.call().to_string()), "{line}");
    says(&line, &format!("page={}", attempt.id.unwrap()));
    assert!(line.contains("applied"), "{line}");
    assert!(!told.contains("releases"), "{told}");
}
