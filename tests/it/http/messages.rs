//! Each message is read by one rule: what is none is refused for one reason, before all else.

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::http::hosted::{Answer, answer, call, speaking};
use crate::prelude::*;

/// The code of an error for JSON that is no message, and for what is no JSON.
const NO_MESSAGE: i64 = -32600;
const NO_JSON: i64 = -32700;

/// JSON that is no message.
const BAD: &str = r#"
    no version => {"id":1,"method":"ping"}
    another version => {"jsonrpc":"1.0","id":1,"method":"ping"}
    a version twice => {"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}
    an id twice => {"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}
    an id written otherwise => {"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"ping"}
    a method twice => {"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}
    params twice => {"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}
    params that are a number => {"jsonrpc":"2.0","id":1,"method":"ping","params":5}
    a method that is a number => {"jsonrpc":"2.0","id":1,"method":5}
    a method and a result => {"jsonrpc":"2.0","id":1,"method":"ping","result":{}}
    no id => {"jsonrpc":"2.0","id":null,"method":"ping"}
    a part of an id => {"jsonrpc":"2.0","id":1.5,"method":"ping"}
    a large id => {"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}
    an object for an id => {"jsonrpc":"2.0","id":{},"method":"ping"}
    a batch => [{"jsonrpc":"2.0","id":1,"method":"ping"}]
    an empty batch => []
    a number => 1
"#;

/// Texts that are no JSON.
const CUT: &str = r#"
    a number that is too large => {"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1e400}}
    two messages => {"jsonrpc":"2.0","id":1,"method":"ping"}{}
    half a pair => {"jsonrpc":"2.0","id":"\ud800","method":"ping"}
"#;

/// All of these, with the code of the error.
fn bad() -> Vec<(&'static str, i64, Vec<u8>)> {
    let nested = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"a\":{}{}}}}}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let no_text = b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}";
    let zeros = b"{\"jsonrpc\":\"2.0\",\0\"id\":1,\"method\":\"ping\"}";
    let mut bad = Vec::new();
    for (code, texts) in [(NO_MESSAGE, BAD), (NO_JSON, CUT)] {
        let rows = text_rows(texts).into_iter();
        bad.extend(rows.map(|[name, text]| (name, code, text.as_bytes().to_vec())));
    }
    bad.push(("zeros", NO_JSON, zeros.to_vec()));
    bad.push(("lists in lists", NO_JSON, nested.into_bytes()));
    bad.push(("no UTF-8", NO_JSON, no_text.to_vec()));
    bad
}

async fn post(server: &Hosted, caller: &Caller, body: &[u8]) -> Answer {
    let length = format!("content-length: {}\r\n", body.len());
    let head = server.head("POST", "/mcp", &speaking(caller), &length);
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = [head.as_bytes(), body].concat();
    stream.write_all(&request).await.unwrap();
    answer(stream).await
}

#[tokio::test]
async fn what_is_no_message_is_refused_over_http_by_a_code() {
    let wiki = sample_wiki().await;
    let server = Setup::readonly(&wiki).host().await;
    let session = server.open(&Caller::default()).await;
    let mut bad = bad();
    bad.push(("nothing", NO_JSON, Vec::new()));
    bad.push(("a mark before it", NO_JSON, b"\xef\xbb\xbf{}".to_vec()));
    for caller in [&Caller::default(), &session] {
        for (name, code, body) in &bad {
            let refused = post(&server, caller, body).await;
            assert_eq!(refused.status, 400, "{name}: {refused:?}");
            let message = refused.message();
            assert_eq!(message["error"]["code"], *code, "{name}: {message}");
            assert!(message.get("id").is_none(), "{name}: {message}");
        }
    }
}

/// What is no JSON has no answer there: a client that repeats what it is told would be told for ever.
#[test]
fn what_is_no_message_is_refused_over_stdio_by_a_code_and_what_is_no_json_is_passed_over() {
    let mut program = Program::serve(&["serve", "--demo"], &[]);
    for (name, code, line) in bad() {
        program.say_bytes(&line);
        program.say(r#"{"jsonrpc":"2.0","id":"next","method":"ping"}"#);
        let mut told = Vec::new();
        loop {
            let message: Value = serde_json::from_str(&program.line()).unwrap();
            if message["id"] == "next" {
                assert_eq!(message["result"], json!({}), "{name}: {message}");
                break;
            }
            told.push(message["error"]["code"].clone());
        }
        let wanted: &[Value] = if code == NO_MESSAGE {
            &[json!(code)]
        } else {
            &[]
        };
        assert_eq!(told, wanted, "{name}");
    }
}

#[tokio::test]
async fn what_is_a_message_is_answered_under_its_id() {
    let wiki = sample_wiki().await;
    let server = Setup::readonly(&wiki).host().await;
    let long = "x".repeat(60_000);
    let ids = [json!(0), json!(-1), json!(i64::MAX), json!(""), json!(long)];
    for id in ids {
        let ping = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
        let answer = server.post(&Caller::default(), &ping).await;
        assert_eq!(answer.message()["id"], id);
    }
    // A name twice is a fault of the call.
    let doubled = call(TREE, json!({})).to_string();
    let doubled = doubled.replace("\"name\":", "\"name\":\"other\",\"name\":");
    let refused = post(&server, &Caller::default(), doubled.as_bytes()).await;
    assert_eq!(refused.status, 200, "{refused:?}");
    assert_eq!(refused.message()["error"]["code"], -32602);
}
