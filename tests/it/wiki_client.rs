//! Plain HTTP to a demo wiki.

#![expect(
    clippy::disallowed_types,
    reason = "tests speak to the wiki directly, not through the client under test"
)]

use reqwest::{Client, Method};
use serde_json::{Value, json};
use wikijs_mcp::demo::DemoWiki;

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {}", self.text))
    }
}

/// A client of one wiki, with one key or none.
#[derive(Clone)]
pub(crate) struct WikiClient {
    http: Client,
    base: String,
    key: Option<String>,
}

impl WikiClient {
    pub(crate) fn new(wiki: &DemoWiki, key: Option<&str>) -> Self {
        wikijs_mcp::wiki::provide_tls();
        Self {
            http: Client::builder().no_proxy().build().unwrap(),
            base: wiki.address(),
            key: key.map(str::to_owned),
        }
    }

    /// The same connections with another key.
    pub(crate) fn with_key(&self, key: Option<&str>) -> Self {
        Self {
            key: key.map(str::to_owned),
            ..self.clone()
        }
    }

    /// Sends a request of any kind.
    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<String>) -> Reply {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body);
        }
        let response = request.send().await.unwrap();
        let content_type = response.headers().get("content-type");
        let content_type = content_type.map(|value| value.to_str().unwrap().to_owned());
        Reply {
            status: response.status().as_u16(),
            content_type,
            text: response.text().await.unwrap(),
        }
    }

    /// Sends an operation.
    pub(crate) async fn post(&self, query: &str, variables: &Value) -> Reply {
        let body = json!({"query": query, "variables": variables}).to_string();
        self.send(Method::POST, "/graphql", Some(body)).await
    }

    /// Sends an operation that is answered with HTTP 200 and answers its JSON.
    pub(crate) async fn run(&self, query: &str, variables: Value) -> Value {
        let reply = self.post(query, &variables).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json()
    }
}
