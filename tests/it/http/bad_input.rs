//! Bad input is cheap: in time, in what is answered, and in memory, whatever is at fault.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use serde_json::Map;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http::hosted::{call, speaking};
use crate::prelude::*;

/// The most bytes of any answer to what is wrong.
const MOST_ANSWER: usize = 256 << 10;
/// The most memory that any bad input takes, in bytes.
const MOST_MEMORY: u64 = 64_000_000;
/// As much bad input as is looked at.
const LARGE: usize = 7_000_000;

/// How long a text takes to be read as JSON: what time is measured with.
fn reading(text: &str) -> Duration {
    let began = Instant::now();
    let _ = serde_json::from_str::<Value>(text).unwrap();
    began.elapsed()
}

/// Values of every kind, none of them small.
fn values() -> Vec<Value> {
    const MANY: usize = 3_000;
    let member = |n: usize| (format!("a{n}"), json!(n));
    let nested = |inner: Value, _| json!([inner]);
    vec![
        json!(null),
        json!(true),
        json!(-1.5e300),
        json!(u64::MAX),
        json!("\u{1b}\"".repeat(MANY)),
        json!(vec![0; MANY]),
        json!(vec![""; MANY]),
        json!(vec![vec![0]; MANY]),
        json!(vec![json!({ "a": 1 }); MANY / 2]),
        Value::Object((0..MANY).map(member).collect()),
        (0..80).fold(json!([]), nested),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn no_argument_of_any_tool_makes_an_answer_large_or_slow() {
    let (_wiki, served) =
        sample(|wiki| Setup::scripter(wiki).toolsets("pages,undo,proposals")).await;
    let registry = served.app.registry();
    assert_eq!(registry.definitions().count(), 16);
    for tool in registry.definitions() {
        let known = tool.input["properties"].as_object().unwrap();
        let names = known.keys().map(String::as_str).chain(["zzz"]);
        for name in names {
            for value in values() {
                let arguments = json!({ name: value });
                let text = arguments.to_string();
                let (reading, began) = (reading(&text), Instant::now());
                let answer = served.call(tool.name, arguments).await;
                let took = began.elapsed();
                let shown = text.get(..80).unwrap_or(&text);
                let bound = reading * 100 + Duration::from_secs(3);
                assert!(took < bound, "{} {shown}: {took:?} of {bound:?}", tool.name);
                let (Ok(answer) | Err(answer)) = answer;
                let size = answer.to_string().len();
                assert!(size < MOST_ANSWER / 2, "{} {shown}: {size}", tool.name);
                let listed = answer["details"]["fields"].as_array();
                assert!(listed.is_none_or(|listed| listed.len() <= 20), "{answer}");
            }
        }
    }
}

/// The least of three times: what else the machine does can only make one longer.
async fn least(timed: impl AsyncFn() -> Duration) -> Duration {
    timed().await.min(timed().await).min(timed().await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_are_answered_while_bad_input_comes_in() {
    let wiki = sample_wiki().await;
    let server = Setup::readonly(&wiki).host().await;
    let caller = Caller::default();
    let timed = async |tool: &str, arguments: Value| {
        let began = Instant::now();
        let answer = server.call(&caller, tool, arguments).await;
        (began.elapsed(), answer)
    };
    let bad = json!({ "ids": vec![0; 60_000] });
    let reading = reading(&bad.to_string());
    let alone = least(async || {
        let (alone, answer) = timed(BY_ID, bad.clone()).await;
        let answer = answer.unwrap_err();
        let message = &answer["message"];
        assert_eq!(message, "The argument ids must have at most 20 items.");
        alone
    })
    .await;
    let bound = reading * 50 + Duration::from_millis(250);
    assert!(alone < bound, "{alone:?} of {bound:?}");
    let (calm, _) = timed(TAGS, json!({})).await;
    let longest = least(async || {
        let bads = futures_util::future::join_all((0..4).map(|_| timed(BY_ID, bad.clone())));
        let others = async {
            let mut longest = Duration::ZERO;
            for _ in 0..10 {
                let (took, answer) = timed(TAGS, json!({})).await;
                answer.unwrap();
                longest = longest.max(took);
            }
            longest
        };
        tokio::join!(bads, others).1
    })
    .await;
    let bound = calm * 10 + alone * 4 + Duration::from_millis(250);
    assert!(longest < bound, "{longest:?} of {bound:?}");
}

/// How a message that is wrong is answered.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Told {
    /// By an error of the tool.
    Tool(&'static str),
    /// By an error of the protocol.
    Protocol,
    /// Over stdio not at all.
    Nothing,
}

/// Messages of many bytes, each wrong in its own way.
fn messages() -> Vec<(&'static str, Told, Vec<u8>)> {
    let bytes = |part: &str| part.repeat(LARGE / part.len());
    let list = |item: &str| {
        let items = bytes(&format!("{item},"));
        format!("[{}]", items.trim_end_matches(','))
    };
    let calling = |tool: &str, arguments: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{arguments}}}}}"
        )
    };
    let history =
        |name: &str, value: &str| calling(HISTORY, &format!("{{\"id\":1,\"{name}\":{value}}}"));
    let by_id = |name: &str, value: &str| calling(BY_ID, &format!("{{\"{name}\":{value}}}"));
    let update =
        |name: &str, value: &str| calling(UPDATE, &format!("{{\"id\":1,\"{name}\":{value}}}"));
    let members: Vec<String> = (0..LARGE / 14).map(|n| format!("\"a{n:07}\":1")).collect();
    let members = format!("{{{}}}", members.join(","));
    let doubled = format!("{{{}\"id\":0}}", bytes("\"id\":0,"));
    let lists = format!("{}{}", "[".repeat(LARGE / 2), "]".repeat(LARGE / 2));
    let objects = format!("{}1{}", "{\"a\":".repeat(LARGE / 6), "}".repeat(LARGE / 6));
    let text = format!("\"{}\"", bytes("x"));
    let escaped = format!("\"{}\"", bytes("\\u0001"));
    let digits = bytes("9");
    let invalid = Told::Tool("INVALID_INPUT");
    let mut messages = vec![
        ("ids of 0", invalid, by_id("ids", &list("0"))),
        ("lists in a list", invalid, by_id("ids", &list("[0]"))),
        ("objects in a list", invalid, update("edits", &list("{\"a\":1}"))),
        ("texts in a list", invalid, update("tags", &list("\"\""))),
        ("unknown arguments", invalid, calling(BY_ID, &members)),
        ("unknown arguments of a write", invalid, calling(DELETE, &members)),
        ("one argument again and again", invalid, calling(BY_ID, &doubled)),
        ("members in an argument", Told::Tool("TOO_LARGE"), history("compare", &members)),
        ("a long text for a number", invalid, by_id("id", &text)),
        ("an escaped text for a number", invalid, by_id("id", &escaped)),
        ("a long title", invalid, update("title", &escaped)),
        ("a long name of a section", invalid, update("section", &text)),
        ("a long path", invalid, update("path", &text)),
        ("a long query", invalid, calling(SEARCH, &format!("{{\"query\":{text}}}"))),
        ("a long number", Told::Protocol, by_id("id", &digits)),
        ("a long name", invalid, calling(BY_ID, &format!("{{{text}:1}}"))),
        ("a text for arguments", Told::Protocol, calling(BY_ID, &text)),
        ("a list for arguments", Told::Protocol, calling(BY_ID, &list("0"))),
        ("nested lists", Told::Protocol, by_id("id", &lists)),
        ("nested objects", Told::Protocol, by_id("id", &objects)),
        ("an unknown tool of a long name", Told::Protocol, calling(&bytes("x"), "{}")),
        ("a long method", Told::Protocol, format!("{{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":{text}}}")),
        ("a long address", Told::Protocol, format!("{{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"resources/read\",\"params\":{{\"uri\":{text}}}}}")),
        ("a long id of a task", Told::Protocol, format!("{{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tasks/get\",\"params\":{{\"taskId\":{text}}}}}")),
        ("a long id", Told::Nothing, format!("{{\"jsonrpc\":\"2.0\",\"id\":{text},\"method\":\"ping\"}}")),
        ("a long member beside", Told::Protocol, format!("{{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\",\"x\":{members}}}")),
        ("a long notification", Told::Nothing, format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{members}}}")),
        ("a list of messages", Told::Nothing, list("{}")),
        ("brackets", Told::Nothing, bytes("[")),
        ("braces", Told::Nothing, bytes("{\"a\":")),
        ("quotes", Told::Nothing, bytes("\"")),
        ("spaces", Told::Nothing, bytes(" ")),
        ("zeros", Told::Nothing, bytes("\u{0}")),
    ]
    .into_iter()
    .map(|(name, told, text)| (name, told, text.into_bytes()))
    .collect::<Vec<_>>();
    let mut no_text = by_id("id", &text).into_bytes();
    let middle = no_text.len() / 2;
    no_text[middle] = 0xff;
    messages.push(("no UTF-8", Told::Protocol, no_text));
    messages
}

/// The bytes of memory that a process had at most, and from when on that is counted anew.
pub(crate) struct Memory(u32);

impl Memory {
    pub(crate) const fn of(process: u32) -> Self {
        Self(process)
    }

    pub(crate) fn most(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0)).unwrap();
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = most.unwrap().trim().trim_end_matches(" kB");
        kilobytes.parse::<u64>().unwrap() << 10
    }

    /// What it has now is the most from here on.
    pub(crate) fn forget(&self) {
        fs::write(format!("/proc/{}/clear_refs", self.0), "5").unwrap();
    }
}

fn check_memory(memory: &Memory, idle: u64, name: &str) {
    let grown = memory.most().saturating_sub(idle);
    assert!(grown <= MOST_MEMORY, "{name}: {grown} bytes above idle");
}

/// The settings of a process that may write to a wiki.
fn variables_of(wiki: &DemoWiki, dir: &TempDir) -> [(&'static str, String); 4] {
    [
        ("WIKI_BASE_URL", wiki.address()),
        ("WIKI_API_TOKEN", wiki.keys().admin.clone()),
        ("WIKI_AUDIT_DIR", dir.path().to_str().unwrap().to_owned()),
        ("WIKI_MUTATIONS_ENABLED", "true".to_owned()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn no_bad_message_over_stdio_fills_the_memory() {
    let (wiki, dir) = (sample_wiki().await, TempDir::new().unwrap());
    let variables = variables_of(&wiki, &dir);
    let variables = variables.each_ref().map(|(name, value)| (*name, &**value));
    let mut program = Program::serve(&[], &variables);
    let memory = Memory(program.id());
    program.call(TAGS, &json!({}));
    let idle = memory.most();
    for (name, told, message) in messages() {
        memory.forget();
        program.say_bytes(&message);
        if told != Told::Nothing {
            let answer = program.answer("x");
            let size = answer.to_string().len();
            assert!(size < MOST_ANSWER, "{name}: {size}");
            let code = answer["result"]["_meta"]["error"]["code"].as_str();
            match told {
                Told::Tool(wanted) => assert_eq!(code, Some(wanted), "{name}: {answer}"),
                Told::Protocol | Told::Nothing => {
                    assert!(answer["error"]["code"].is_i64(), "{name}: {answer}");
                }
            }
        }
        let tags = program.call(TAGS, &json!({}));
        assert!(tags["tags"].is_array(), "{name}: {tags}");
        check_memory(&memory, idle, name);
    }
}

/// A server over HTTP in a process of its own.
pub(crate) struct Listening {
    child: Child,
    address: SocketAddr,
}

impl Listening {
    pub(crate) fn start(variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_wikijs-gate"))
            .args(["serve", "--http", "127.0.0.1:0"])
            .env_clear()
            .envs(variables.iter().copied())
            .env("WIKI_LOG_FORMAT", "json")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it ended");
            let told: Map<String, Value> = serde_json::from_str(&line).unwrap();
            if let Some(address) = told["fields"]["address"].as_str() {
                break address.parse().unwrap();
            }
        };
        std::thread::spawn(move || stderr.read_to_end(&mut Vec::new()));
        Self { child, address }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The answer to a message, with its head; nothing if the connection broke off.
    pub(crate) async fn post(&self, caller: &Caller, message: &[u8]) -> String {
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n",
            message.len()
        );
        for (name, value) in speaking(caller).headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut from, mut to) = stream.into_split();
        let request = [head.as_bytes(), b"\r\n", message].concat();
        let sent = tokio::spawn(async move {
            // A server that refuses a body may close the connection before all of it has come.
            let _ = to.write_all(&request).await;
            to
        });
        let mut answer = Vec::new();
        let _ = from.read_to_end(&mut answer).await;
        drop(sent.await.unwrap());
        String::from_utf8(answer).unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_bad_message_over_http_fills_the_memory() {
    let (wiki, dir) = (sample_wiki().await, TempDir::new().unwrap());
    let variables = variables_of(&wiki, &dir);
    let variables = variables.each_ref().map(|(name, value)| (*name, &**value));
    let server = Listening::start(&variables);
    let memory = Memory(server.child.id());
    let good = call(TAGS, json!({})).to_string();
    let caller = Caller::default();
    says(&server.post(&caller, good.as_bytes()).await, " 200 OK");
    let idle = memory.most();
    for (name, told, message) in messages() {
        memory.forget();
        let answer = server.post(&caller, &message).await;
        assert!(answer.len() < MOST_ANSWER, "{name}: {}", answer.len());
        let shown = answer.get(..2_000).unwrap_or(&answer);
        match told {
            Told::Tool(code) => assert!(answer.contains(code), "{name}: {shown}"),
            Told::Protocol | Told::Nothing => {
                assert!(!answer.contains("\"result\""), "{name}: {shown}");
            }
        }
        assert!(
            server
                .post(&caller, good.as_bytes())
                .await
                .contains(" 200 OK"),
            "{name}"
        );
        check_memory(&memory, idle, name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_large_messages_at_once_fill_no_memory_and_others_are_answered_meanwhile() {
    const AT_ONCE: usize = 32;
    let (wiki, dir, names) = (sample_wiki().await, TempDir::new().unwrap(), Names::new());
    let [own, other] = ["own", "other"].map(|name| names.client(name));
    let file = names.path().to_str().unwrap().to_owned();
    let variables = variables_of(&wiki, &dir);
    let mut variables = vec_of(variables.iter().map(|(name, value)| (*name, &**value)));
    variables.push(("WIKI_SERVE_TOKENS_FILE", &file));
    // The small calls come as fast as they are answered.
    variables.push(("WIKI_SERVE_RATE", "1000000"));
    let server = Listening::start(&variables);
    let memory = Memory(server.child.id());
    let good = call(TAGS, json!({})).to_string();
    for caller in [&own, &other] {
        says(&server.post(caller, good.as_bytes()).await, " 200 OK");
    }
    let idle = memory.most();
    memory.forget();
    let kinds = [
        "ids of 0",
        "objects in a list",
        "a long title",
        "members in an argument",
    ];
    let mut messages = messages();
    messages.retain(|(name, ..)| kinds.contains(name));
    assert_eq!(messages.len(), kinds.len());
    let large = (0..AT_ONCE).map(|n| server.post(&other, &messages[n % kinds.len()].2));
    let large = futures_util::future::join_all(large);
    let mut large = std::pin::pin!(large);
    let mut longest = Duration::ZERO;
    let answers = loop {
        let small = async {
            let began = Instant::now();
            let answer = server.post(&own, good.as_bytes()).await;
            assert!(answer.contains(" 200 OK"), "{answer}");
            began.elapsed()
        };
        tokio::select! {
            answers = &mut large => break answers,
            took = small => longest = longest.max(took),
        }
    };
    assert!(longest < Duration::from_secs(3), "{longest:?}");
    let is_read = |answer: &&String| answer.contains(" 200 OK");
    let is_put_off =
        |answer: &&String| answer.contains(" 503 ") && answer.contains("retry-after: ");
    let read = answers.iter().filter(is_read).count();
    let put_off = answers.iter().filter(is_put_off).count();
    assert!(read >= 2, "{read} were read, {put_off} put off");
    assert_eq!(read + put_off, AT_ONCE);
    check_memory(&memory, idle, "all of them");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_large_messages_over_stdio_at_once_fill_no_memory() {
    let (wiki, dir) = (sample_wiki().await, TempDir::new().unwrap());
    let variables = variables_of(&wiki, &dir);
    let variables = variables.each_ref().map(|(name, value)| (*name, &**value));
    let mut program = Program::serve(&[], &variables);
    let memory = Memory(program.id());
    program.call(TAGS, &json!({}));
    let idle = memory.most();
    memory.forget();
    let text = "x".repeat(LARGE);
    for id in 0..16 {
        // The id comes last, as the SDK for TypeScript writes it.
        let params = &call(BY_ID, json!({ "id": text }))["params"];
        program.say(&format!(
            r#"{{"method":"tools/call","params":{params},"jsonrpc":"2.0","id":{id}}}"#
        ));
    }
    for id in 0..16 {
        let answer = program.answer(id);
        let code = answer["result"]["_meta"]["error"]["code"].as_str().unwrap();
        assert!(["INVALID_INPUT", "TIMEOUT"].contains(&code), "{answer}");
    }
    check_memory(&memory, idle, "all of them");
}
