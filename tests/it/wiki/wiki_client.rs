//! Plain HTTP to a demo wiki.

#![expect(
    clippy::disallowed_types,
    reason = "tests speak to the wiki directly, not through the client under test"
)]

use reqwest::{Client, Method, RequestBuilder};

use crate::prelude::*;

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) text: String,
    pub(crate) bytes: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {}", self.text))
    }
}

/// A file that is sent.
pub(crate) struct Sent<'a> {
    pub(crate) field: &'a str,
    pub(crate) name: &'a str,
    pub(crate) mime: &'a str,
    pub(crate) data: Vec<u8>,
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
        wikijs_gate::wiki::provide_tls();
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
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body);
        }
        self.read(request).await
    }

    async fn read(&self, mut request: RequestBuilder) -> Reply {
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let response = request.send().await.unwrap();
        let content_type = response.headers().get("content-type");
        let content_type = content_type.map(|value| value.to_str().unwrap().to_owned());
        let status = response.status().as_u16();
        let bytes = response.bytes().await.unwrap().to_vec();
        Reply {
            status,
            content_type,
            text: String::from_utf8_lossy(&bytes).into_owned(),
            bytes,
        }
    }

    /// Sends a form with a file, as the wiki's own pages do: the folder first.
    pub(crate) async fn upload(&self, folder: Option<i64>, file: Option<Sent<'_>>) -> Reply {
        const MARK: &str = "--------------------------b0undary";
        let mut form = Vec::new();
        if let Some(folder) = folder {
            let part = format!(
                "--{MARK}\r\nContent-Disposition: form-data; name=\"mediaUpload\"\r\n\r\n{{\"folderId\":{folder}}}\r\n"
            );
            form.extend(part.into_bytes());
        }
        if let Some(file) = file {
            let (field, name, mime) = (file.field, file.name, file.mime);
            let head = format!(
                "--{MARK}\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\nContent-Type: {mime}\r\n\r\n"
            );
            form.extend(head.into_bytes());
            form.extend(file.data);
            form.extend(b"\r\n");
        }
        form.extend(format!("--{MARK}--\r\n").into_bytes());
        let request = self.http.post(format!("{}/u", self.base));
        let request = request.header(
            "content-type",
            format!("multipart/form-data; boundary={MARK}"),
        );
        self.read(request.body(form)).await
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
