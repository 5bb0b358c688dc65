//! The real binary as a process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
#[cfg(target_os = "linux")]
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{JoinHandle, spawn};

use crate::prelude::*;

/// A key that must not show anywhere.
const PLANTED: &str = "e30.eyJhcGkiOjF9.plantedkeyplantedkey";
/// Far more than anything here may take.
const PATIENCE: Duration = Duration::from_mins(2);
/// What "without delay" means, on a busy machine too: much less than whatever could be waited for, such as a read of the
/// wiki (15 s), calls under way (20 s) or a person (50 s).
const PROMPT: Duration = Duration::from_secs(5);

/// A process that is killed with its owner, since not all commands end with their stdin.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running program.
pub(crate) struct Program {
    child: KilledOnDrop,
    stdin: Option<Box<dyn Write + Send>>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
    said: Vec<String>,
    count: u64,
}

/// How a program ended.
pub(crate) struct End {
    pub(crate) code: Option<i32>,
    pub(crate) took: Duration,
    stdout: Vec<String>,
    pub(crate) stderr: Vec<String>,
}

fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

fn command(arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wikijs-gate"));
    command
        .args(arguments)
        .env_clear()
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

impl Program {
    pub(crate) fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = command(arguments, variables).spawn().unwrap();
        let stdin = child
            .stdin
            .take()
            .map(|stdin| -> Box<dyn Write + Send> { Box::new(stdin) });
        Self::with(child, stdin)
    }

    fn with(mut child: Child, stdin: Option<Box<dyn Write + Send>>) -> Self {
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        Self {
            stdout: lines(stdout),
            stderr: lines(stderr),
            child: KilledOnDrop(child),
            stdin,
            said: Vec::new(),
            count: 0,
        }
    }

    /// A server that has shaken hands.
    pub(crate) fn serve(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut program = Self::start(arguments, variables);
        program.shake_hands();
        program
    }

    /// A server of a wiki by a key, with the log in a directory, whose clients may write, confirmed
    /// by previews.
    pub(crate) fn writing(address: &str, key: &str, dir: &Path, more: &[(&str, &str)]) -> Self {
        let own = [
            ("WIKI_BASE_URL", address),
            ("WIKI_API_TOKEN", key),
            ("WIKI_AUDIT_DIR", dir.to_str().unwrap()),
            ("WIKI_MUTATIONS_ENABLED", "true"),
            ("WIKI_MUTATION_DRY_RUN", "false"),
        ];
        Self::serve(&[], &[&own, more].concat())
    }

    /// A server over HTTP that takes connections, and the port that it listens at.
    pub(crate) fn listening(arguments: &[&str], variables: &[(&str, &str)]) -> (Self, u16) {
        let variables = [variables, &[("WIKI_LOG", "info")]].concat();
        let mut program = Self::start(arguments, &variables);
        let told = program.logged("serving MCP over HTTP").pop().unwrap();
        let (_, address) = told.rsplit_once("address=").expect(&told);
        let address: SocketAddr = address.trim().parse().expect(&told);
        (program, address.port())
    }

    pub(crate) fn shake_hands(&mut self) {
        self.shake_hands_as("process-test", &json!({ "elicitation": {} }));
    }

    /// Begins as a client of this name that can do this.
    pub(crate) fn shake_hands_as(&mut self, name: &str, capabilities: &Value) {
        let answer = self.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": { "name": name, "version": "1" },
            }),
        );
        assert_eq!(answer["result"]["serverInfo"]["name"], "wikijs-gate");
        self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    fn write(&mut self, message: &Value) {
        self.say(&message.to_string());
    }

    /// Says a line, whatever it is.
    pub(crate) fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
    }

    /// Says a line that may be no text.
    pub(crate) fn say_bytes(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    /// The id of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.0.id()
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.count += 1;
        let id = self.count;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The next line that it prints.
    pub(crate) fn line(&mut self) -> String {
        let line = self.stdout.recv_timeout(PATIENCE).unwrap();
        self.said.push(line.clone());
        line
    }

    pub(crate) fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        loop {
            let message: Value = serde_json::from_str(&self.line()).unwrap();
            if message["id"] == id {
                return message;
            }
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    pub(crate) fn begin(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.send(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        )
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.begin(tool, arguments);
        let answer = self.answer(id)["result"].clone();
        match answer.get("structuredContent") {
            Some(content) => content.clone(),
            None => answer["_meta"]["error"].clone(),
        }
    }

    /// Calls a tool: its whole answer, or its whole error.
    pub(crate) fn full(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.begin(tool, arguments);
        let answer = self.answer(id)["result"].clone();
        let text: Value =
            serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
        text.get("error").unwrap_or(&text).clone()
    }

    /// The most memory that it had, resident, in bytes.
    pub(crate) fn most_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.0.id())).unwrap();
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = most.unwrap().trim().strip_suffix(" kB").unwrap();
        kilobytes.parse::<u64>().unwrap() << 10
    }

    /// Closes its stdin and waits for the end.
    pub(crate) fn stopped(mut self) -> End {
        self.close_stdin();
        self.end()
    }

    /// Waits for a line on stderr with these words, and gives it with all before it.
    pub(crate) fn logged(&mut self, words: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.stderr.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|error| panic!("{error}, no {words:?} in {lines:?}"));
            let is_it = line.contains(words);
            lines.push(line);
            if is_it {
                return lines;
            }
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.0.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for so long, whatever it says meanwhile.
    pub(crate) fn waits(&self, time: Duration) {
        let until = Instant::now() + time;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            if self.stdout.recv_timeout(left).is_err() {
                return;
            }
        }
    }

    /// Ends it as nothing can be prepared for, and waits until it is gone.
    pub(crate) fn kill(self) {
        drop(self);
    }

    fn close_stdin(&mut self) {
        drop(self.stdin.take());
    }

    /// Waits for the end, counted from now on.
    fn end(mut self) -> End {
        let began = Instant::now();
        let (sender, ended) = channel();
        let waiting: JoinHandle<()> = spawn(move || {
            sender.send(self.child.0.wait().unwrap()).unwrap();
            // Held until here, so that a closed stdin is not what ends it.
            drop(self.stdin);
        });
        let status = ended.recv_timeout(PATIENCE).expect("it did not end");
        let took = began.elapsed();
        waiting.join().unwrap();
        self.said.extend(self.stdout.iter());
        let end = End {
            code: status.code(),
            took,
            stdout: self.said,
            stderr: self.stderr.iter().collect(),
        };
        for line in end.stdout.iter().chain(&end.stderr) {
            assert!(!line.contains("plantedkey"), "{line}");
        }
        end
    }
}

impl End {
    /// Every line of stdout is a message of the protocol.
    fn spoke_only_the_protocol(&self) {
        for line in &self.stdout {
            let message: Value = serde_json::from_str(line).unwrap();
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
        }
    }
}

/// Something in a wiki's place that takes connections and never answers.
struct Silent {
    address: String,
    taken: Receiver<TcpStream>,
}

impl Silent {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (sender, taken) = channel();
        spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if sender.send(stream).is_err() {
                    break;
                }
            }
        });
        Self { address, taken }
    }

    /// Waits until a request is under way.
    fn asked(&self) -> TcpStream {
        let mut stream = self.taken.recv_timeout(PATIENCE).unwrap();
        let mut first = [0; 1];
        stream.read_exact(&mut first).unwrap();
        stream
    }
}

/// No file below a directory holds a secret.
fn holds_nothing_of(dir: &Path, secret: &str) {
    for file in files_below(dir) {
        let bytes = fs::read(&file).unwrap();
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if file.extension().is_some_and(|extension| extension == "gz") {
            text.clear();
            flate2::read::GzDecoder::new(&bytes[..])
                .read_to_string(&mut text)
                .unwrap();
        }
        assert!(!text.contains(secret), "{}", file.display());
    }
}

#[test]
fn stdout_holds_nothing_but_the_protocol_and_a_closed_stdin_ends_with_0() {
    let dir = TempDir::new().unwrap();
    let home = dir.path().to_str().unwrap();
    let mut program = Program::serve(
        &[],
        &[
            ("WIKI_BASE_URL", "http://127.0.0.1:9"),
            ("WIKI_API_TOKEN", PLANTED),
            ("WIKI_LOG", "trace"),
            ("WIKI_HTTP_MAX_RETRIES", "0"),
            ("HOME", home),
        ],
    );
    let listed = program.request("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 10);
    let error = program.call(TAGS, &json!({}));
    assert_eq!(error["code"], "WIKI_UNAVAILABLE");
    writeln!(program.stdin.as_mut().unwrap(), "no message at all").unwrap();
    assert_eq!(program.request("ping", &json!({}))["result"], json!({}));
    program.close_stdin();
    let end = program.end();
    assert_eq!(end.code, Some(0));
    assert!(end.took < PROMPT, "{:?}", end.took);
    end.spoke_only_the_protocol();
    // It only read: nothing was made.
    assert_eq!(files_below(dir.path()), Vec::<PathBuf>::new());
}

#[test]
fn answers_are_still_given_to_a_client_that_closed_stdin_behind_its_last_request() {
    let mut program = Program::serve(&["serve", "--demo"], &[]);
    let id = program.begin(TAGS, &json!({}));
    program.close_stdin();
    assert!(program.answer(id)["result"]["structuredContent"]["tags"].is_array());
    assert_eq!(program.end().code, Some(0));
}

#[test]
fn the_demo_wiki_is_served_with_the_tools_that_are_named() {
    let mut program = Program::serve(&["serve", "--demo"], &[("WIKI_TOOLSETS", "memory")]);
    let listed = program.request("tools/list", &json!({}));
    says(&listed["result"]["tools"].to_string(), "wikijs_recall");
    lacks(&listed["result"]["tools"].to_string(), "wikijs_update_page");
}

/// Needs util-linux's `script`, which gives a command a terminal.
#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_it_says_that_it_waits_and_elsewhere_it_does_not() {
    const WAITS: &str = "waiting for an MCP client on standard input";
    let dir = TempDir::new().unwrap();
    let serve = |mut command: Command| {
        let command = command.env_clear().stdin(Stdio::null());
        let command = command.envs([
            ("WIKI_BASE_URL", "http://127.0.0.1:9"),
            ("WIKI_API_TOKEN", PLANTED),
            ("WIKI_AUDIT_DIR", dir.path().to_str().unwrap()),
            ("PATH", "/usr/bin:/bin"),
        ]);
        let ended = command.output().ok()?;
        let said = [ended.stdout, ended.stderr].concat();
        Some(String::from_utf8(said).unwrap().matches(WAITS).count())
    };
    let own = env!("CARGO_BIN_EXE_wikijs-gate");
    assert_eq!(serve(Command::new(own)), Some(0));
    let mut script = Command::new("script");
    script.args(["-qec", own, "/dev/null"]);
    // Skipped where there is none.
    assert_eq!(serve(script).unwrap_or(1), 1);
}

#[test]
fn a_missing_or_bad_setting_stops_the_start_in_one_line() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "plantedkey plantedkey").unwrap();
    let file = file.to_str().unwrap();
    let good = [
        ("WIKI_BASE_URL", "http://127.0.0.1:9"),
        ("WIKI_API_TOKEN", PLANTED),
        ("HOME", "/nonexistent"),
    ];
    let stops = |name: &str, value: Option<&str>, wanted: &str| {
        let mut variables = vec_of(good.into_iter().filter(|(variable, _)| *variable != name));
        variables.extend(value.map(|value| (name, value)));
        let end = Program::start(&[], &variables).end();
        assert_eq!(end.code, Some(2), "{wanted}: {:?}", end.stderr);
        assert_eq!(end.stdout, Vec::<String>::new());
        assert_eq!(end.stderr.len(), 1, "{:?}", end.stderr);
        begins(&end.stderr[0], &format!("error: {wanted}"));
        assert!(!end.stderr[0].contains("plantedkey"), "{:?}", end.stderr);
    };
    for (name, value, wanted) in [
        ("WIKI_BASE_URL", "wiki", "must be"),
        ("WIKI_BASE_URL", "http://u:plantedkey@w", "must not hold"),
        ("WIKI_API_TOKEN", "a plantedkey", "must hold a key"),
        ("WIKI_API_TOKEN", "plantedkey\u{e4}", "must hold a key"),
        ("WIKI_API_TOKEN_FILE", file, "is set beside"),
        ("WIKI_MUTATIONS_ENABLED", "yes", "must be"),
        ("WIKI_MUTATION_DRY_RUN", "", "is set but empty"),
        ("WIKI_CONFIRM", "nobody", "must be"),
        ("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "a,\nb,,", "has"),
        ("WIKI_HTTP_TIMEOUT_MS", "1s", "must be"),
        ("WIKI_LOG", "loud", "must be"),
        ("WIKI_LOG_DIR", file, "must be a directory"),
    ] {
        stops(name, Some(value), &format!("{name} {wanted}"));
    }
    stops("HOME", None, "WIKI_AUDIT_DIR is missing");
}

/// The answer to `tools/list` of a server on these settings, which is then called.
fn tools_without_a_wiki(variables: &[(&str, &str)], missing: &Value) -> Value {
    let mut program = Program::start(&[], variables);
    let told = program.request(
        "initialize",
        &json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "registry", "version": "1" },
        }),
    );
    assert_eq!(told["result"]["serverInfo"]["name"], "wikijs-gate");
    program.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let listed = program.request("tools/list", &json!({}))["result"]["tools"].clone();
    let error = program.full(LIST, &json!({}));
    assert_eq!(error["code"], "NOT_CONFIGURED", "{error}");
    assert_eq!(error["details"]["missing"], *missing, "{error}");
    for name in missing.as_array().unwrap() {
        let name = name.as_str().unwrap();
        for text in [&told["result"]["instructions"], &error["message"]] {
            assert!(text.as_str().unwrap().contains(name), "{text}");
        }
    }
    let unknown = program.request("tools/call", &json!({ "name": "wikijs_nothing" }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let end = program.stopped();
    assert_eq!(end.code, Some(0), "{:?}", end.stderr);
    end.spoke_only_the_protocol();
    listed
}

#[test]
fn without_a_wiki_a_client_sees_the_tools_and_each_call_says_what_to_set() {
    let home = TempDir::new().unwrap();
    let path = home.path().to_str().unwrap();
    let (address, key) = (
        ("WIKI_BASE_URL", "http://127.0.0.1:9"),
        ("WIKI_API_TOKEN", PLANTED),
    );
    for more in [
        &[][..],
        &[("WIKI_READ_ONLY", "true")],
        &[("WIKI_TOOLSETS", "pages")],
    ] {
        let variables = [&[("HOME", path)], more].concat();
        let both = json!(["WIKI_BASE_URL", "WIKI_API_TOKEN"]);
        let listed = tools_without_a_wiki(&variables, &both);
        let mut set = Program::serve(&[], &[&variables[..], &[address, key]].concat());
        let of_set = set.request("tools/list", &json!({}))["result"]["tools"].clone();
        set.kill();
        assert!(listed.as_array().unwrap().len() > 3);
        assert_eq!(listed, of_set);
    }
    // A registry may give it no home either.
    let all = json!(["WIKI_BASE_URL", "WIKI_API_TOKEN", "WIKI_AUDIT_DIR"]);
    assert!(!tools_without_a_wiki(&[], &all)[0].is_null());
    let other = TempDir::new().unwrap();
    let of_other = ("HOME", other.path().to_str().unwrap());
    tools_without_a_wiki(&[of_other, address], &json!(["WIKI_API_TOKEN"]));
    // It opened no log and made no directory.
    assert!(files_below(other.path()).is_empty());
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
}

#[test]
fn a_server_without_a_wiki_asks_for_a_restart_once_its_settings_are_written() {
    let dir = TempDir::new().unwrap();
    let home = ("HOME", dir.path().to_str().unwrap());
    let mut program = Program::serve(&[], &[home]);
    let before = program.full(LIST, &json!({}));
    assert!(before["details"]["missing"].is_array(), "{before}");
    let mut init = vec!["config", "init", "--untested", "--key-stdin"];
    init.extend(["--base-url", "http://127.0.0.1:9"]);
    let init = crate::command::Command::new(&init).with("HOME", home.1);
    init.stdin(PLANTED).run().good();
    let after = program.full(LIST, &json!({}));
    assert_eq!(after["code"], "NOT_CONFIGURED", "{after}");
    assert_eq!(after["details"], Value::Null, "{after}");
    let hint = after["hint"].as_str().unwrap();
    says(&hint, "reconnecting");
    lacks(&hint, "config init");
    assert_eq!(program.stopped().code, Some(0));
}

/// The program ends before it serves, and says this first.
fn is_refused(arguments: &[&str], variables: &[(&str, &str)], wanted: &str) {
    let end = Program::start(arguments, variables).end();
    assert_eq!(end.code, Some(2), "{wanted}: {:?}", end.stderr);
    assert_eq!(end.stdout, Vec::<String>::new());
    assert!(end.stderr[0].contains(wanted), "{wanted}: {:?}", end.stderr);
}

#[test]
fn only_a_client_on_stdin_is_served_without_a_wiki_and_only_if_nothing_is_set_wrongly() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("config.toml");
    let sites = "[sites.a]\nbase_url = \"https://a.example\"\n[sites.b]\nbase_url = \"https://b.example\"\n";
    fs::write(&file, sites).unwrap();
    let file = file.to_str().unwrap();
    let home = ("HOME", "/nonexistent");
    let address = "http://127.0.0.1:9";
    for (arguments, variables, wanted) in json_rows::<(Vec<&str>, BTreeMap<&str, &str>, &str)>(
        &json!([
            [["tool", "call", LIST], {},
             "WIKI_BASE_URL is missing; it must be an address such as https://wiki.example.com (`wikijs-gate config init`"],
            [["tool", "call", LIST], { "WIKI_BASE_URL": address }, "WIKI_API_TOKEN is missing"],
            [["serve", "--http", "127.0.0.1:0"], {}, "WIKI_BASE_URL is missing"],
            [["serve"], { "WIKI_SERVE_ADDRESS": "127.0.0.1:0" }, "WIKI_BASE_URL is missing"],
            [[], { "WIKI_BASE_URL": "wiki" }, "WIKI_BASE_URL must be"],
            [[], { "WIKI_BASE_URL": "" }, "WIKI_BASE_URL is set but empty"],
            [[], { "WIKI_API_TOKEN": PLANTED }, "WIKI_BASE_URL is missing; it must be an address"],
            [[], { "WIKI_API_TOKEN": PLANTED, "WIKI_BASEURL": address },
             "settings file); WIKI_BASEURL is no setting of this version; did you mean WIKI_BASE_URL?"],
            [[], { "WIKI_BASE_URI": address }, "WIKI_BASE_URI is no setting of this version; did you mean WIKI_BASE_URL?"],
            [["config", "check"], { "WIKI_API_TOKEN": PLANTED, "WIKI_BASEURL": address },
             "WIKI_BASEURL is no setting of this version; did you mean WIKI_BASE_URL?"],
            [[], { "WIKI_API_TOKEN": PLANTED, "WIKI_BASE_URL": "wiki.example.com" }, "WIKI_BASE_URL must be an address"],
            [[], { "WIKI_BASE_URL": address, "WIKI_API_TOKEN_FILE": "/nowhere" }, "WIKI_API_TOKEN_FILE names"],
            [[], { "WIKI_CONFIRM": "nobody" }, "WIKI_CONFIRM must be"],
            [[], { "WIKI_CA_FILE": "/nowhere" }, "WIKI_CA_FILE names"],
            [[], { "WIKI_CONFIG": file }, "WIKI_BASE_URL is missing; name a site with --site: there are a, b"],
            [["--site", "a"], { "WIKI_CONFIG": file }, "sites.a.api_token is missing"],
        ]),
    ) {
        let variables: Vec<_> = variables.into_iter().chain([home]).collect();
        is_refused(&arguments, &variables, wanted);
    }
    let doctor = Program::start(&["doctor"], &[home]).end();
    assert_eq!(doctor.code, Some(5));
    says(&doctor.stdout.concat(), "WIKI_BASE_URL is missing");
}

#[test]
fn a_signal_or_a_closed_stdin_ends_a_server_at_once_though_a_read_is_under_way() {
    let dir = TempDir::new().unwrap();
    for (how, code) in [("-TERM", 143), ("-INT", 130), ("", 0)] {
        for is_reading in [false, true] {
            let wiki = Silent::start();
            let mut program = Program::serve(
                &["serve"],
                &[
                    ("WIKI_BASE_URL", &wiki.address),
                    ("WIKI_API_TOKEN", PLANTED),
                    ("HOME", dir.path().to_str().unwrap()),
                ],
            );
            let asked = is_reading.then(|| {
                program.begin(BY_ID, &json!({ "id": 1 }));
                program.begin(LIST, &json!({}));
                wiki.asked()
            });
            match how {
                "" => program.close_stdin(),
                signal => program.signal(signal),
            }
            let end = program.end();
            assert_eq!(end.code, Some(code), "{how} {is_reading}");
            assert!(end.took < PROMPT, "{how} {is_reading}: {:?}", end.took);
            end.spoke_only_the_protocol();
            drop(asked);
        }
    }
}

#[test]
fn a_closed_stdin_before_the_handshake_ends_it_too() {
    let settings = [
        ("WIKI_BASE_URL", "http://127.0.0.1:9"),
        ("WIKI_API_TOKEN", PLANTED),
        ("HOME", "/nonexistent"),
    ];
    let mut program = Program::start(&[], &settings);
    program.close_stdin();
    let end = program.end();
    assert_eq!((end.code, end.stdout.len()), (Some(0), 0));
    assert!(end.took < PROMPT, "{:?}", end.took);
}

#[test]
fn a_stdin_that_is_a_socket_serves_and_ends_like_any_other() {
    for (how, code) in [("-TERM", 143), ("", 0)] {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut command = command(&["serve", "--demo"], &[]);
        let child = command.stdin(Stdio::from(OwnedFd::from(theirs)));
        let child = child.spawn().unwrap();
        // The command holds the other end open otherwise.
        drop(command);
        let mut program = Program::with(child, Some(Box::new(ours)));
        program.shake_hands();
        let tags = program.call(TAGS, &json!({}));
        assert!(tags["tags"].as_array().unwrap().len() > 10);
        match how {
            "" => program.close_stdin(),
            signal => program.signal(signal),
        }
        let end = program.end();
        assert_eq!(end.code, Some(code));
        assert!(end.took < PROMPT, "{:?}", end.took);
        end.spoke_only_the_protocol();
    }
}

/// A server of a demo wiki, with a write that has reached the wiki and is not applied yet.
async fn writing(wiki: &DemoWiki, dir: &Path, delay: Duration) -> (Program, u64) {
    let address = wiki.address();
    let mut program = Program::writing(&address, &wiki.keys().scripter, dir, &[]);
    let id = id_of(wiki, "releases/2-4");
    let arguments = json!({ "id": id, "title": "Written" });
    let preview = program.call(UPDATE, &arguments);
    wiki.set_write_delay(delay);
    let arguments = json!({ "id": id, "confirm": preview["confirm"] });
    let call = program.begin(UPDATE, &arguments);
    let began = Instant::now();
    while !wiki
        .requests()
        .iter()
        .any(|seen| seen.kind == OperationKind::Mutation)
    {
        assert!(began.elapsed() < PATIENCE, "the write did not go out");
        tokio::task::yield_now().await;
    }
    (program, call)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_under_way_is_settled_and_recorded_before_the_end() {
    for (how, code) in [("-TERM", 143), ("-INT", 130), ("", 0)] {
        let wiki = sample_wiki().await;
        let dir = TempDir::new().unwrap();
        let (mut program, _) = writing(&wiki, dir.path(), Duration::from_secs(1)).await;
        match how {
            "" => program.close_stdin(),
            signal => program.signal(signal),
        }
        let end = program.end();
        assert_eq!(end.code, Some(code), "{how}");
        end.spoke_only_the_protocol();
        let records = records(dir.path());
        let expected = ["preview", "attempt update", "outcome update applied"];
        assert_eq!(told(&records), expected, "{how}");
        assert_eq!(records.last().unwrap().event, AuditEvent::Closed);
        let title =
            wiki.with_store(|store| store.page_at("en", "releases/2-4").unwrap().title.clone());
        assert_eq!(title, "Written");
        holds_nothing_of(dir.path(), &wiki.keys().scripter);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_ends_at_once_though_a_person_is_being_asked() {
    for (how, code) in [("-TERM", 143), ("-INT", 130), ("", 0)] {
        let wiki = sample_wiki().await;
        let dir = TempDir::new().unwrap();
        let mut program = Program::writing(
            &wiki.address(),
            &wiki.keys().scripter,
            dir.path(),
            &[("WIKI_CONFIRM", "person")],
        );
        let id = id_of(&wiki, "releases/2-4");
        let call = json!({ "id": id, "title": "Written" });
        program.begin(UPDATE, &call);
        assert!(program.line().contains("elicitation/create"));
        assert_eq!(program.request("ping", &json!({}))["result"], json!({}));
        match how {
            "" => program.close_stdin(),
            signal => program.signal(signal),
        }
        let end = program.end();
        assert_eq!(end.code, Some(code), "{how}");
        assert!(end.took < PROMPT, "{how}: {:?}", end.took);
        let records = records(dir.path());
        assert_eq!(told(&records), ["approval"], "{how}");
        assert_eq!(records.last().unwrap().event, AuditEvent::Closed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_after_a_closed_stdin_still_lets_the_write_be_settled() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let (mut program, call) = writing(&wiki, dir.path(), Duration::from_secs(2)).await;
    program.close_stdin();
    // The call is let go before the write is settled, and does not say that it failed.
    let answer = program.answer(call);
    says(&answer["error"]["message"], "continues and is recorded");
    program.signal("-TERM");
    assert_eq!(program.end().code, Some(143));
    let expected = ["preview", "attempt update", "outcome update applied"];
    assert_eq!(told(&records(dir.path())), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_at_once_and_leaves_the_attempt_open_on_record() {
    let wiki = sample_wiki().await;
    let dir = TempDir::new().unwrap();
    let (program, _) = writing(&wiki, dir.path(), Duration::from_secs(20)).await;
    program.signal("-TERM");
    while !program
        .stderr
        .recv_timeout(PATIENCE)
        .unwrap()
        .contains("ending on a signal")
    {}
    program.signal("-INT");
    let end = program.end();
    assert_eq!(end.code, Some(130));
    assert!(end.took < PROMPT, "{:?}", end.took);
    assert_eq!(told(&records(dir.path())), ["preview", "attempt update"]);
}

#[test]
fn a_log_directory_gets_a_file_of_the_day_and_nothing_of_the_key() {
    let dir = TempDir::new().unwrap();
    let logs = dir.path().join("logs");
    let wiki = Silent::start();
    let mut program = Program::serve(
        &[],
        &[
            ("WIKI_BASE_URL", &wiki.address),
            ("WIKI_API_TOKEN", PLANTED),
            ("WIKI_LOG", "trace"),
            ("WIKI_LOG_DIR", logs.to_str().unwrap()),
            ("WIKI_HTTP_TIMEOUT_MS", "200"),
            ("WIKI_HTTP_MAX_RETRIES", "1"),
            ("HOME", dir.path().to_str().unwrap()),
        ],
    );
    let error = program.call(TAGS, &json!({}));
    assert_eq!(error["code"], "TIMEOUT");
    program.signal("-TERM");
    let end = program.end();
    assert_eq!(end.stderr, Vec::<String>::new());
    let [file] = &files_below(&logs)[..] else {
        panic!("not one file");
    };
    let name = file.file_name().unwrap().to_str().unwrap();
    let digits = name.strip_prefix("wikijs-gate.").unwrap();
    let digits = digits.strip_suffix(".log").unwrap();
    assert_eq!(
        digits.split('-').map(str::len).collect::<Vec<_>>(),
        [4, 2, 2],
        "{name}"
    );
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains("a read is tried again"), "{text}");
    assert!(text.contains("ending on a signal"), "{text}");
    holds_nothing_of(dir.path(), "plantedkey");
}

#[test]
fn the_demo_wiki_alone_prints_its_address_and_keys_and_serves() {
    for flag in [None, Some("--empty")] {
        let mut arguments = vec!["demo", "--wiki", "127.0.0.1:0"];
        arguments.extend(flag);
        let mut wiki = Program::start(&arguments, &[]);
        let line: Value = serde_json::from_str(&wiki.line()).unwrap();
        let address = line["address"].as_str().unwrap();
        let keys: Vec<&String> = line["keys"].as_object().unwrap().keys().collect();
        let expected = [
            "admin", "editor", "scripter", "writer", "readonly", "reader", "revoked",
        ];
        assert_eq!(keys, expected);
        assert_eq!(line.as_object().unwrap().len(), 2);
        let mut server = Program::serve(
            &[],
            &[
                ("WIKI_BASE_URL", address),
                ("WIKI_API_TOKEN", line["keys"]["reader"].as_str().unwrap()),
                ("HOME", "/nonexistent"),
            ],
        );
        let answer = server.call(LIST, &json!({ "limit": 100, "locale": "*" }));
        match flag {
            None => assert!(answer["pages"].as_array().unwrap().len() > 20),
            Some(_) => assert_eq!(answer, json!({ "pages": [] })),
        }
        server.close_stdin();
        assert_eq!(server.end().code, Some(0));
        wiki.signal("-TERM");
        let end = wiki.end();
        assert_eq!(end.code, Some(143));
        assert_eq!(end.stdout.len(), 1);
        assert_eq!(end.stderr.len(), 0);
        assert!(end.took < PROMPT, "{:?}", end.took);
    }
    let end = Program::start(&["demo", "--wiki", "0.0.0.0:0"], &[]).end();
    assert_eq!((end.code, end.stderr.len()), (Some(2), 1));
}

/// Settings of a real wiki, which a demo must not look at.
fn of_a_real_wiki(address: &str) -> [(&str, &str); 7] {
    [
        ("WIKI_BASE_URL", address),
        ("WIKI_API_TOKEN", PLANTED),
        ("WIKI_MUTATIONS_ENABLED", "false"),
        ("WIKI_CONFIRM", "token"),
        ("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please"),
        ("WIKI_AUDIT_DIR", "/nonexistent/audit"),
        ("WIKI_DENIED_MUTATION_PATH_PREFIXES", "releases"),
    ]
}

#[test]
fn serving_the_demo_ignores_the_settings_of_a_real_wiki_and_leaves_nothing_behind() {
    for how in ["-TERM", ""] {
        let real = Silent::start();
        let temp = TempDir::new().unwrap();
        let mut variables = of_a_real_wiki(&real.address).to_vec();
        variables.push(("TMPDIR", temp.path().to_str().unwrap()));
        let mut program = Program::serve(&["serve", "--demo"], &variables);
        let arguments = json!({ "path": "releases/2-4" });
        let page = program.call(BY_PATH, &arguments);
        assert_eq!(page["title"], "Release 2.4");
        let mut arguments = json!({ "id": page["id"], "title": "Two four" });
        let preview = program.call(UPDATE, &arguments);
        assert_eq!(preview["preview"], true);
        arguments["confirm"] = preview["confirm"].clone();
        let applied = program.call(UPDATE, &arguments);
        assert_eq!(applied["outcome"], "applied");
        assert!(!files_below(temp.path()).is_empty());
        match how {
            "" => program.close_stdin(),
            signal => program.signal(signal),
        }
        let end = program.end();
        assert!(end.took < PROMPT, "{:?}", end.took);
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
        assert!(real.taken.try_recv().is_err(), "the real wiki was asked");
    }
}

#[test]
fn the_demo_tells_its_story_and_leaves_nothing_behind() {
    let real = Silent::start();
    let temp = TempDir::new().unwrap();
    let mut variables = of_a_real_wiki(&real.address).to_vec();
    variables.push(("TMPDIR", temp.path().to_str().unwrap()));
    let end = Program::start(&["demo"], &variables).end();
    assert_eq!(end.code, Some(0), "{:?}", end.stderr);
    assert_eq!(end.stderr, Vec::<String>::new());
    assert!(end.took < Duration::from_secs(15), "{:?}", end.took);
    let steps: Vec<&String> = end
        .stdout
        .iter()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    let expected = [
        "1. An agent looks for a page",
        "2. It reads the page, with everything that an update could lose",
        "3. It tries to change the page, but writing is off by default",
        "4. The operator allows writes below releases/, each confirmed; the call answers with a preview",
        "5. It tries to delete a page outside of what is allowed",
        "6. The change is confirmed with the preview's token, sent once, and read back",
        "7. Nothing else changed: a plain Wiki.js update would have wiped tags, dates, styles and script",
        "8. What the audit log says: every refusal, the preview, the attempt before it was sent, its outcome",
        "9. The page is deleted; Wiki.js forgets it with its history, the audit log does not",
        "10. The deletion is taken back",
    ];
    assert_eq!(steps, expected);
    let text = end.stdout.join("\n");
    for part in [
        "refused: MUTATIONS_DISABLED.",
        "refused: PATH_NOT_ALLOWED.",
        "applied: changed [\"content\"]",
        "attempt  update  releases/2-4",
        "outcome  update  releases/2-4        applied",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(
        !text.contains('\u{1b}'),
        "colour where there is no terminal"
    );
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    assert!(real.taken.try_recv().is_err(), "the real wiki was asked");
}

#[test]
fn an_interrupted_demo_leaves_nothing_behind() {
    let temp = TempDir::new().unwrap();
    let mut program = Program::start(&["demo"], &[("TMPDIR", temp.path().to_str().unwrap())]);
    // It has begun: its directory is there.
    assert!(program.line().starts_with("An embedded Wiki.js"));
    program.signal("-INT");
    let end = program.end();
    assert_eq!(end.code, Some(130));
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
}

#[test]
fn it_says_its_version() {
    let end = Program::start(&["--version"], &[]).end();
    let expected = [format!("wikijs-gate {}", env!("CARGO_PKG_VERSION"))];
    assert_eq!(end.stdout, expected);
}

#[test]
fn a_wrong_command_line_ends_with_2_and_prints_nothing_on_stdout() {
    for arguments in [
        &["nothing"][..],
        &["--nothing"],
        &["demo", "--wiki", "here"],
        &["demo", "--empty"],
    ] {
        let end = Program::start(arguments, &[]).end();
        assert_eq!((end.code, end.stdout.len()), (Some(2), 0), "{arguments:?}");
        assert!(end.stderr[0].starts_with("error: "), "{:?}", end.stderr);
    }
}

#[test]
fn files_of_the_log_are_their_owners_alone_whatever_the_mask() {
    let dir = TempDir::new().unwrap();
    let logs = dir.path().join("logs");
    let shell = "umask 000; exec \"$0\" tool list";
    let ended = Command::new("sh")
        .args(["-c", shell, env!("CARGO_BIN_EXE_wikijs-gate")])
        .env_clear()
        .env("WIKI_LOG_DIR", &logs)
        .output()
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let [file] = &files_below(&logs)[..] else {
        panic!("not one file");
    };
    for (path, mode) in [(&logs, 0o700), (file, 0o600)] {
        let found = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{}", path.display());
    }
}

#[test]
fn commands_that_write_nothing_make_no_file_of_the_log_either() {
    let dir = TempDir::new().unwrap();
    for arguments in [&["doctor"][..], &["config", "check"]] {
        let ended = Command::new(env!("CARGO_BIN_EXE_wikijs-gate"))
            .args(arguments)
            .env_clear()
            .env("HOME", dir.path())
            .env("WIKI_BASE_URL", "http://127.0.0.1:9")
            .env("WIKI_API_TOKEN", PLANTED)
            .env("WIKI_LOG_DIR", dir.path().join("logs"))
            .output()
            .unwrap();
        assert!(!ended.stdout.is_empty(), "{ended:?}");
        let made: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
        assert!(made.is_empty(), "{arguments:?}: {made:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_crashes_leaves_no_core() {
    let dir = TempDir::new().unwrap();
    let shell = "ulimit -S -c $(ulimit -H -c); exec \"$0\" serve";
    let mut child = Command::new("sh")
        .args(["-c", shell, env!("CARGO_BIN_EXE_wikijs-gate")])
        .env_clear()
        .env("WIKI_BASE_URL", "http://127.0.0.1:9")
        .env("WIKI_API_TOKEN", PLANTED)
        .env("HOME", dir.path())
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child
        .stdin
        .take()
        .map(|stdin| -> Box<dyn Write + Send> { Box::new(stdin) });
    let mut program = Program::with(child, stdin);
    program.shake_hands();
    let limits = fs::read_to_string(format!("/proc/{}/limits", program.id())).unwrap();
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"));
    let core: Vec<&str> = core.unwrap().split_whitespace().collect();
    assert_eq!(core[4..6], ["0", "0"], "{limits}");
    program.signal("-ABRT");
    let ended = program.child.0.wait().unwrap();
    assert!(!ended.core_dumped(), "{ended:?}");
}

#[test]
fn a_directory_that_others_may_write_stops_the_start() {
    let dir = TempDir::new().unwrap();
    let audit = dir.path().join("audit");
    let settings = [
        ("WIKI_BASE_URL", "http://127.0.0.1:9"),
        ("WIKI_API_TOKEN", PLANTED),
        ("WIKI_AUDIT_DIR", audit.to_str().unwrap()),
    ];
    fs::create_dir(&audit).unwrap();
    for mode in [0o777, 0o770, 0o702, 0o1777] {
        fs::set_permissions(&audit, fs::Permissions::from_mode(mode)).unwrap();
        for arguments in [&["serve"][..], &["undo", "last"], &["tool", "call", TAGS]] {
            let end = Program::start(arguments, &settings).end();
            assert_eq!(end.code, Some(2), "{mode:o} {:?}", end.stderr);
            let expected = [format!(
                "error: WIKI_AUDIT_DIR: others than its owner may write {0}; take that away with chmod go-w {0}",
                audit.display()
            )];
            assert_eq!(end.stderr, expected);
        }
        let end = Program::start(&["doctor"], &settings).end();
        let told = end.stdout.join("\n");
        says(&told, "audit     wrong    others than the owner may write");
        says(&told, &format!("Run: chmod go-w {}", audit.display()));
    }
    fs::set_permissions(&audit, fs::Permissions::from_mode(0o755)).unwrap();
    Program::serve(&["serve"], &settings).kill();
}
