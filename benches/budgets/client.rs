//! A client over HTTP: of the wiki itself, with the request that a tool makes, or of the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// A client with connections that it keeps.
#[derive(Clone)]
pub(crate) struct Client {
    #[expect(
        clippy::disallowed_types,
        reason = "the wiki's own answer is what all else is measured against"
    )]
    http: reqwest::Client,
    address: String,
    headers: HeaderMap,
    body: String,
}

impl Client {
    /// A client that asks the wiki for one page, whole, as `wikijs_get_page_by_id` does.
    pub(crate) fn new(address: &str, key: &str, page: i64) -> Self {
        let body = json!({
            "variables": { "id": page },
            "query": include_str!("../../graphql/page_single.graphql"),
            "operationName": "PageSingle",
        });
        Self::of_wiki(address, key, &body)
    }

    /// A client that asks the wiki anything.
    pub(crate) fn graphql(address: &str, key: &str, body: &Value) -> Self {
        Self::of_wiki(address, key, body)
    }

    /// The same question over another client's connections.
    pub(crate) fn over(&self, other: &Self) -> Self {
        Self {
            http: other.http.clone(),
            ..self.clone()
        }
    }

    fn of_wiki(address: &str, key: &str, body: &Value) -> Self {
        let body = body.to_string();
        Self::asking(format!("{address}/graphql"), body)
            .with("authorization", &format!("Bearer {key}"))
    }

    /// A client that posts this JSON to an address.
    pub(crate) fn asking(address: String, body: String) -> Self {
        wikijs_gate::wiki::provide_tls();
        #[expect(clippy::disallowed_types, reason = "see the field")]
        let client = reqwest::Client::builder()
            .tls_certs_only([])
            .no_proxy()
            .gzip(true)
            .build();
        let client = Self {
            http: client.expect("a client"),
            address,
            headers: HeaderMap::new(),
            body,
        };
        client.with("content-type", "application/json")
    }

    /// With one header more.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        let value = value.parse().expect("a header's value");
        self.headers.insert(name, value);
        self
    }

    /// Asks once, and reads the answer to its end.
    pub(crate) async fn ask(&self) -> Vec<u8> {
        let (_, answer) = self.send(Method::POST, self.body.clone()).await;
        let text = str::from_utf8(&answer).expect("UTF-8");
        assert!(!text.contains("\"isError\":true"), "an error: {text}");
        answer
    }

    /// Asks once, whatever comes back.
    pub(crate) async fn try_ask(&self, method: Method) {
        let request = self.http.request(method, &self.address);
        let request = request.headers(self.headers.clone());
        if let Ok(answer) = request.body(self.body.clone()).send().await {
            let _ = answer.bytes().await;
        }
    }

    /// Sends any body: the headers of the answer, and the whole of it.
    pub(crate) async fn send(&self, method: Method, body: String) -> (HeaderMap, Vec<u8>) {
        let request = self.http.request(method, &self.address);
        let mut answer = request
            .headers(self.headers.clone())
            .body(body)
            .send()
            .await
            .expect("an answer");
        assert!(answer.status().is_success(), "{}", answer.status());
        let headers = std::mem::take(answer.headers_mut());
        let body = answer.bytes().await.expect("the whole answer");
        (headers, body.into())
    }

    /// Asks until `count` answers are there, `lanes` requests under way at once.
    pub(crate) async fn ask_often(&self, count: usize, lanes: usize) {
        ask_often(&vec![self.clone(); lanes], count).await;
    }
}

/// Asks until `count` answers are there, each client once at a time.
pub(crate) async fn ask_often(clients: &[Client], count: usize) {
    let begun = Arc::new(AtomicUsize::new(0));
    let lanes: Vec<_> = clients
        .iter()
        .map(|client| {
            let (client, begun) = (client.clone(), Arc::clone(&begun));
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
