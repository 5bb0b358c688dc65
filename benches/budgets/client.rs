//! A client of the wiki itself: the request that a tool makes, without the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// A client with connections that it keeps.
#[derive(Clone)]
pub(crate) struct Direct {
    #[expect(
        clippy::disallowed_types,
        reason = "the wiki's own answer is what all else is measured against"
    )]
    client: reqwest::Client,
    address: String,
    key: String,
    body: String,
}

impl Direct {
    /// A client that asks for one page, whole, as `wikijs_get_page_by_id` does.
    pub(crate) fn new(address: &str, key: &str, page: i64) -> Self {
        let body = json!({
            "variables": { "id": page },
            "query": include_str!("../../graphql/page_single.graphql"),
            "operationName": "PageSingle",
        });
        Self::asking(address, key, &body)
    }

    /// A client that asks for a list of so many rows, as `wikijs_list_pages` does.
    pub(crate) fn list(address: &str, key: &str, limit: usize) -> Self {
        let body = json!({
            "variables": { "limit": limit },
            "query": include_str!("../../graphql/page_list.graphql"),
            "operationName": "PageList",
        });
        Self::asking(address, key, &body)
    }

    fn asking(address: &str, key: &str, body: &Value) -> Self {
        #[expect(clippy::disallowed_types, reason = "see the field")]
        let client = reqwest::Client::builder()
            .tls_certs_only([])
            .no_proxy()
            .gzip(true)
            .build();
        Self {
            client: client.expect("a client"),
            address: format!("{address}/graphql"),
            key: key.to_owned(),
            body: body.to_string(),
        }
    }

    /// Asks once, and reads the answer to its end.
    pub(crate) async fn ask(&self) -> Vec<u8> {
        let answer = self
            .client
            .post(&self.address)
            .bearer_auth(&self.key)
            .header("content-type", "application/json")
            .body(self.body.clone())
            .send()
            .await
            .expect("the wiki answers");
        assert_eq!(answer.status(), 200);
        answer.bytes().await.expect("the whole answer").into()
    }

    /// Asks until `count` answers are there, `lanes` requests under way at once.
    pub(crate) async fn ask_often(&self, count: usize, lanes: usize) {
        let begun = Arc::new(AtomicUsize::new(0));
        let lanes: Vec<_> = (0..lanes)
            .map(|_| {
                let (client, begun) = (self.clone(), Arc::clone(&begun));
                tokio::spawn(async move {
                    while begun.fetch_add(1, Ordering::Relaxed) < count {
                        client.ask().await;
                    }
                })
            })
            .collect();
        for lane in lanes {
            lane.await.expect("each lane ends");
        }
    }
}

/// A runtime for requests one after another: nothing of it runs on another thread.
pub(crate) fn one_by_one() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

/// A runtime for many at once, with as many workers as the server has.
pub(crate) fn at_once() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("threads")
}
