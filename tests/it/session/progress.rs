//! A call that takes long says how far it is.

use std::sync::Mutex;

use rmcp::handler::client::ClientHandler;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::NotificationContext;

use crate::prelude::*;

/// A client that keeps what it is told.
#[derive(Debug, Clone, Default)]
struct Told(Arc<Mutex<Vec<ProgressNotificationParam>>>);

impl ClientHandler for Told {
    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.0.lock().unwrap().push(told);
    }
}

#[tokio::test]
async fn a_search_that_fills_the_index_says_how_many_pages_it_holds() {
    let wiki = sample_wiki().await;
    let setup = Setup::readonly(&wiki).indexed();
    let told = Told::default();
    let served = setup
        .serve_to(told.clone(), ClientLifecycleMode::Initialize)
        .await;
    let search = json!({ "query": "linux", "in": "content" });
    let answer = served.call(SEARCH, search).await.unwrap();
    assert_eq!(answer.get("index"), None, "complete");
    let pages = wiki.with_store(|store| store.pages().count());
    let pages = u32::try_from(pages).ok().map(f64::from);
    let told = told.0.lock().unwrap();
    assert!(!told.is_empty());
    assert!(told.is_sorted_by(|one, next| one.progress < next.progress));
    assert!(told.iter().all(|told| told.total == pages), "{told:?}");
}

#[tokio::test]
async fn a_set_that_is_sent_says_how_many_of_its_changes_are_there() {
    let wiki = sample_wiki().await;
    let setup = Setup::admin(&wiki).toolsets("pages,drafts");
    let told = Told::default();
    let served = setup
        .serve_to(told.clone(), ClientLifecycleMode::Initialize)
        .await;
    let mut ids: Vec<i64> = wiki.with_store(|store| store.pages().map(|page| page.id).collect());
    ids.sort_unstable();
    ids.truncate(3);
    let arguments = json!({ "ids": ids, "addTags": ["set"], "expectPages": 3 });
    let done = served.confirmed(BULK, arguments);
    assert_eq!(done.await.unwrap()["outcome"], "applied");
    let told = told.0.lock().unwrap();
    assert!(!told.is_empty());
    assert!(told.is_sorted_by(|one, next| one.progress < next.progress));
    assert!(told.iter().all(|told| told.total == Some(3.0)), "{told:?}");
}
