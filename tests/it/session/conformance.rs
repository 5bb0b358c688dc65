//! What the protocol says of requests that this server does not serve.

use crate::prelude::*;

const VERSION: &str = "2026-07-28";

/// A request of protocol 2026-07-28 and the headers that go with it.
fn request(method: &str, mut params: Value) -> (Caller, Value) {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let caller = Caller::default()
        .with("mcp-protocol-version", VERSION)
        .with("mcp-method", method)
        .with("mcp-name", params["uri"].as_str().unwrap_or_default());
    let message = json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": params });
    (caller, message)
}

#[tokio::test]
async fn what_is_not_served_or_no_longer_of_the_protocol_is_not_found() {
    let wiki = sample_wiki().await;
    let server = Setup::readonly(&wiki).host().await;
    let methods = "initialize ping resources/subscribe logging/setLevel no/such";
    for method in methods.split(' ') {
        let (caller, message) = request(method, json!({}));
        let answer = server.post(&caller, &message).await;
        assert_eq!(answer.status, 404, "{method}");
        assert_eq!(answer.message()["error"]["code"], -32601, "{method}");
    }
    // Well-formed it is another matter to whoever reads it, and of an older protocol one more.
    let (caller, message) = request("logging/setLevel", json!({ "level": "info" }));
    let answer = server.post(&caller, &message).await;
    assert_eq!(answer.message()["error"]["code"], -32601, "{answer:?}");
    let session = server.open(&Caller::default()).await;
    let level = json!({ "jsonrpc": "2.0", "id": 5, "method": "logging/setLevel",
        "params": { "level": "info" } });
    let answer = server.post(&session, &level).await;
    assert_eq!(answer.message()["error"]["code"], -32601, "{answer:?}");
}

#[tokio::test]
async fn every_list_that_is_answered_is_declared() {
    let wiki = sample_wiki().await;
    let server = Setup::readonly(&wiki).host().await;
    let (caller, message) = request("server/discover", json!({}));
    let declared = server.post(&caller, &message).await.message();
    for list in ["tools", "resources", "prompts"] {
        assert!(
            declared["result"]["capabilities"][list].is_object(),
            "{list}"
        );
        let (caller, message) = request(&format!("{list}/list"), json!({}));
        let answer = server.post(&caller, &message).await.message();
        assert!(answer["result"][list].is_array(), "{answer}");
    }
}

#[tokio::test]
async fn an_error_of_a_resource_names_its_address() {
    let wiki = sample_wiki().await;
    let server = Setup::readonly(&wiki).host().await;
    for uri in ["test://nothing", "wikijs://en/docs/none"] {
        let (caller, message) = request("resources/read", json!({ "uri": uri }));
        let error = &server.post(&caller, &message).await.message()["error"];
        assert_eq!(error["code"], -32602, "{uri}");
        assert_eq!(error["data"]["uri"], uri);
        assert_eq!(error["data"]["error"]["code"], "PAGE_NOT_FOUND");
    }
}
