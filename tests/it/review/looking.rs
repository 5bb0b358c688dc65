//! Looking at large sets takes a bounded memory and delays nobody; who finds no room is told so.

use std::cell::Cell;

use crate::http::bad_input::{Listening, Memory};
use crate::http::hosted::call;
use crate::prelude::*;
use crate::review::{Browser, Desk, Page};

/// How many look at once.
const AT_ONCE: usize = 48;
/// The most memory that they take together, in bytes.
const MOST_MEMORY: u64 = 64 << 20;
/// How long they delay others, in a release build.
const MOST_DELAY: Duration = Duration::from_millis(500);
/// The same where the build is slow, and other tests run beside it.
const MOST_DELAY_IN_TESTS: Duration = Duration::from_secs(3);

/// A text of so many lines, each with this word.
fn text(lines: usize, word: &str) -> String {
    let lines: Vec<String> = (0..lines).map(|line| format!("{word} {line}\n")).collect();
    lines.concat()
}

/// How long the same call took at most at a server that is looked at and at one that idles beside it,
/// in turn: the difference is the delay, however busy the machine and the wiki are.
#[derive(Debug, Default)]
struct Longest {
    beside: Duration,
    idle: Duration,
}

impl Longest {
    fn delay(&self) -> Duration {
        self.beside.saturating_sub(self.idle)
    }
}

/// The addresses under which a set is looked at.
fn places(set: &str) -> impl Iterator<Item = String> {
    let parts = [
        "",
        "?from=3",
        "?view=two",
        "/new/0",
        "?from=99999",
        "?view=one",
    ];
    let places = parts.map(|part| format!("/review/sets/{set}{part}"));
    places.into_iter().cycle()
}

/// Shows what was measured, with `--nocapture`.
#[expect(clippy::print_stdout, reason = "a measurement is read by people")]
fn tell(told: &str) {
    println!("{told}");
}

fn is_refused(page: &Page) -> bool {
    if page.status != StatusCode::TOO_MANY_REQUESTS {
        return false;
    }
    assert_eq!(page.headers["retry-after"], "5");
    assert!(page.text.contains("Too much at once"), "{}", page.text);
    true
}

async fn views_at_once(lines: usize, most_delay: Duration) {
    let large = text(lines, "row");
    let desk = Desk::of(&[("docs/large", &large), ("docs/small", "old\n")]).await;
    let content = json!({ "id": id_of(&desk.wiki, "docs/large"), "content": text(lines, "new") });
    let set = desk.propose(UPDATE, content).await;
    let small = desk.edit("docs/small", "old", "new").await;
    let browser = desk.signed_in().await;
    let (idle_program, idle_browser) = desk.beside().await;
    let small = format!("/review/sets/{small}");
    let look = async |browser: &Browser| {
        let began = Instant::now();
        let page = browser.open(&small).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.text);
        began.elapsed()
    };
    for _ in 0..5 {
        look(&browser).await;
        look(&idle_browser).await;
    }
    let memory = Memory::of(desk.program.id());
    memory.forget();
    let idle = memory.most();
    let places: Vec<String> = places(&set).take(AT_ONCE).collect();
    let views = places.iter().map(|place| browser.open(place));
    let is_over = Cell::new(false);
    let views = async {
        let views = futures_util::future::join_all(views).await;
        is_over.set(true);
        views
    };
    let others = async {
        let mut longest = Longest::default();
        while !is_over.get() {
            longest.beside = longest.beside.max(look(&browser).await);
            longest.idle = longest.idle.max(look(&idle_browser).await);
        }
        longest
    };
    let (views, longest) = tokio::join!(views, others);
    let grown = memory.most().saturating_sub(idle);
    let refused = views.iter().filter(|page| is_refused(page)).count();
    let shown = views.iter().filter(|page| page.status == StatusCode::OK);
    let shown = shown.count();
    let told = format!(
        "views of {lines} lines: {grown} bytes above idle, {shown} shown, {refused} refused, others {longest:?}"
    );
    tell(&told);
    assert_eq!(shown + refused, AT_ONCE, "{told}");
    assert!(shown > 0, "{told}");
    assert!(grown <= MOST_MEMORY, "{told}");
    assert!(longest.delay() <= most_delay, "{told}");
    idle_program.kill();
    desk.program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_views_of_a_large_set_take_bounded_memory_and_delay_nobody() {
    views_at_once(30_000, MOST_DELAY_IN_TESTS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute; what it measures is a release build"]
async fn many_views_of_400_000_lines_take_bounded_memory_and_delay_nobody() {
    views_at_once(400_000, MOST_DELAY).await;
}

/// A page that took 90 MB to parse is not parsed to check it, and that is said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_with_a_sign_in_every_line_takes_bounded_memory_and_is_said_to_be_unchecked() {
    const LINES: usize = 150_000;
    let large = "[a](b)\n".repeat(LINES) + "end\n";
    // As many signs as are parsed.
    let most = "[a](b)\n".repeat(24_900) + "end\n";
    let wiki = wiki_of(&[("docs/large", &large), ("docs/most", &most)]).await;
    let dir = TempDir::new().unwrap();
    let [id, most] = ["docs/large", "docs/most"].map(|path| id_of(&wiki, path));
    let address = wiki.address();
    let key = wiki.keys().scripter.clone();
    let measured = tokio::task::spawn_blocking(move || {
        let mut program = Program::serve(&[], &writing(&address, &key, &dir));
        program.call(LIST, &json!({}));
        let memory = Memory::of(program.id());
        memory.forget();
        let before = memory.most();
        let [(parsed, of_parsed), (shown, of_shown)] = [most, id].map(|id| {
            let script = json!({ "oldText": "end", "newText": "<script>x()</script>" });
            let shown = program.call(UPDATE, &json!({ "id": id, "edits": [script] }));
            (shown, memory.most().saturating_sub(before))
        });
        let read = program.call(BY_ID, &json!({ "id": id }));
        let of_read = memory.most().saturating_sub(before);
        program.kill();
        (parsed, shown, read, [of_parsed, of_shown, of_read])
    });
    let (parsed, shown, read, grown) = measured.await.unwrap();
    tell(&format!(
        "{LINES} lines with signs: {grown:?} bytes above idle"
    ));
    let parsed = parsed["warnings"].to_string();
    says(&parsed, "every reader: script.");
    lacks(&parsed, "Not checked");
    let warnings = shown["warnings"].as_array();
    let warnings = warnings.unwrap_or_else(|| panic!("{:.900}", shown.to_string()));
    let codes = "dead_link script_added foreign_resource_added hidden_text_added";
    for code in codes.split(' ') {
        let warning = warnings.iter().find(|warning| warning["code"] == code);
        let warning = warning.unwrap_or_else(|| panic!("{warnings:?}"));
        let message = warning["message"].as_str().unwrap();
        begins(&message, "Not checked: too many signs");
    }
    assert_eq!(read["hiddenText"]["note"], "not checked: too many signs");
    assert!(grown[1] <= MOST_MEMORY, "{grown:?}");
}

/// Calls a tool of a program many times at once, and another call beside them and at an idle program:
/// the answers of the former, and how long the latter took at most.
fn calls_at_once(
    program: &mut Program,
    calls: &[(&'static str, Value)],
    other: &(&'static str, Value),
    (idle, same): &mut (Program, (&'static str, Value)),
) -> (Vec<Value>, Longest) {
    let ids: Vec<u64> = calls
        .iter()
        .map(|(tool, arguments)| program.begin(tool, arguments))
        .collect();
    let mut answers: HashMap<u64, Value> = HashMap::new();
    let mut longest = Longest::default();
    while !ids.iter().all(|id| answers.contains_key(id)) {
        let began = Instant::now();
        let own = program.begin(other.0, &other.1);
        while !answers.contains_key(&own) {
            let message: Value = serde_json::from_str(&program.line()).unwrap();
            let id = message["id"].as_u64();
            answers.extend(id.map(|id| (id, message["result"].clone())));
        }
        assert_ne!(answers[&own]["isError"], true, "{}", answers[&own]);
        longest.beside = longest.beside.max(began.elapsed());
        let began = Instant::now();
        idle.call(same.0, &same.1);
        longest.idle = longest.idle.max(began.elapsed());
    }
    let mut answer = |id| answers.remove(id).unwrap();
    (ids.iter().map(&mut answer).collect(), longest)
}

/// The settings of a program that may write, and looks for nothing by itself.
fn writing<'a>(address: &'a str, key: &'a str, dir: &'a TempDir) -> [(&'static str, &'a str); 5] {
    [
        ("WIKI_BASE_URL", address),
        ("WIKI_API_TOKEN", key),
        ("WIKI_AUDIT_DIR", dir.path().to_str().unwrap()),
        ("WIKI_MUTATIONS_ENABLED", "true"),
        ("WIKI_INDEX", "off"),
    ]
}

/// A server over HTTP whose clients may propose.
fn listening(wiki: &DemoWiki, dir: &TempDir, names: &Names, more: &[(&str, &str)]) -> Listening {
    let (address, tokens) = (wiki.address(), names.path());
    let own = [
        ("WIKI_SERVE_TOKENS_FILE", tokens.to_str().unwrap()),
        ("WIKI_MUTATION_DRY_RUN", "true"),
        ("WIKI_TOOLSETS", "pages,proposals"),
    ];
    let usual = writing(&address, &wiki.keys().scripter, dir);
    Listening::start(&[&usual[..], &own, more].concat())
}

async fn tools_at_once(lines: usize, most_delay: Duration) {
    let large = text(lines, "row");
    let wiki = wiki_of(&[("docs/large", &large), ("docs/small", "old\n")]).await;
    let dirs = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let (large, small) = (id_of(&wiki, "docs/large"), id_of(&wiki, "docs/small"));
    let (address, key) = (wiki.address(), wiki.keys().scripter.clone());
    let measured = tokio::task::spawn_blocking(move || {
        let served = |dir: &TempDir| {
            let more = [
                ("WIKI_MUTATION_DRY_RUN", "true"),
                ("WIKI_TOOLSETS", "pages,drafts,proposals"),
            ];
            let variables = [&writing(&address, &key, dir)[..], &more].concat();
            Program::serve(&[], &variables)
        };
        let [mut program, mut idle] = dirs.each_ref().map(served);
        let content = json!({ "id": large, "content": text(lines, "new") });
        let shown = program.call(UPDATE, &content);
        let set = shown["proposal"]
            .as_str()
            .unwrap_or_else(|| panic!("{shown}"));
        let call_id = shown["previewId"].as_str().unwrap().to_owned();
        let edit =
            |id, old, new| json!({ "id": id, "edits": [{ "oldText": old, "newText": new }] });
        let [other, same] = [&mut program, &mut idle].map(|program| {
            let own = program.call(UPDATE, &edit(small, "old", "new"));
            let other = (GET_PROPOSAL, json!({ "id": own["proposal"] }));
            for _ in 0..5 {
                program.call(other.0, &other.1);
            }
            other
        });
        let kinds = [
            (GET_PROPOSAL, json!({ "id": set })),
            // It builds on what is open.
            (UPDATE, edit(large, "new 7\n", "new 7\nmore\n")),
            (CHANGE_SET, json!({ "id": call_id })),
        ];
        let calls: Vec<_> = kinds.into_iter().cycle().take(AT_ONCE).collect();
        let memory = Memory::of(program.id());
        memory.forget();
        let before = memory.most();
        let mut idle = (idle, same);
        let (answers, longest) = calls_at_once(&mut program, &calls, &other, &mut idle);
        let grown = memory.most().saturating_sub(before);
        idle.0.kill();
        program.kill();
        (answers, longest, grown)
    });
    let (answers, longest, grown) = measured.await.unwrap();
    let mut shown = 0;
    for answer in &answers {
        if answer["isError"] == true {
            let error = &answer["_meta"]["error"];
            assert_eq!(error["code"], "RATE_LIMITED", "{answer}");
        } else {
            shown += 1;
        }
    }
    let told = format!(
        "tools with {lines} lines: {grown} bytes above idle, {shown} of {AT_ONCE} shown, others {longest:?}"
    );
    tell(&told);
    assert!(shown > 0, "{told}");
    assert!(grown <= MOST_MEMORY, "{told}");
    assert!(longest.delay() <= most_delay, "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_that_compare_a_large_page_take_bounded_memory_and_delay_nobody() {
    tools_at_once(20_000, MOST_DELAY_IN_TESTS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute; what it measures is a release build"]
async fn many_calls_that_compare_400_000_lines_take_bounded_memory_and_delay_nobody() {
    tools_at_once(400_000, MOST_DELAY).await;
}

/// The structured answer or the error of a call over HTTP.
fn result_of(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let json = body.find('{').unwrap();
    let json = body.get(json..).unwrap();
    let message = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let message = message.map(Result::unwrap).next().unwrap();
    let result = &message["result"];
    if let Some(content) = result.get("structuredContent") {
        return content.clone();
    }
    let text = result["content"][0]["text"].as_str().unwrap();
    let told: Value = serde_json::from_str(text).unwrap();
    told["error"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_page_that_may_not_be_read_waits_for_no_room() {
    let large = format!("{}\n", "old ".repeat(1_000)).repeat(1_000);
    let wiki = wiki_of(&[("docs/large", &large), ("vault/large", &large)]).await;
    let (dir, names) = (TempDir::new().unwrap(), Names::new());
    let agent = names.client("agent");
    let denied = [("WIKI_DENIED_READ_PATH_PREFIXES", "vault")];
    let server = listening(&wiki, &dir, &names, &denied);
    let update = async |id: i64| {
        let edit = json!({ "id": id, "title": "New" });
        let message = call(UPDATE, edit).to_string();
        result_of(&server.post(&agent, message.as_bytes()).await)
    };
    let [readable, hidden] = ["docs/large", "vault/large"].map(|path| id_of(&wiki, path));
    // How large it is is known from then on.
    let shown = update(readable).await;
    assert!(shown["proposal"].is_string(), "{shown}");
    let before = wiki.content_reads().len();
    wiki.hold_content_reads(before..usize::MAX);
    let rest = async {
        // The first has all the room, and waits for the wiki.
        wiki.content_reads_came(before + 1).await;
        wiki.hold_content_reads(before..before + 1);
        let told = [update(hidden).await, update(hidden + 1_000).await];
        wiki.hold_content_reads(0..0);
        told
    };
    let (first, [hidden, missing]) = tokio::join!(update(readable), rest);
    assert!(first["code"].is_null(), "{first}");
    assert_eq!(missing["code"], "PAGE_NOT_FOUND", "{missing}");
    for part in ["code", "message", "hint"] {
        assert_eq!(hidden[part], missing[part], "{hidden}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_finds_no_room_within_five_seconds_is_told_to_come_again() {
    // Few lines of many bytes: what is large takes little time.
    let lines = |word: &str| format!("{}\n", word.repeat(1_000)).repeat(1_000);
    let old = lines("old ");
    let wiki = wiki_of(&[("docs/large", &old), ("docs/small", "old\n")]).await;
    let (dir, names) = (TempDir::new().unwrap(), Names::new());
    let agent = names.client("agent");
    let server = listening(&wiki, &dir, &names, &[]);
    let tool = async |caller: &Caller, tool: &str, arguments: Value| {
        let message = call(tool, arguments).to_string();
        result_of(&server.post(caller, message.as_bytes()).await)
    };
    let propose = async |path: &str, content: &str| {
        let arguments = json!({ "id": id_of(&wiki, path), "content": content });
        let shown = tool(&agent, UPDATE, arguments).await;
        let set = shown["proposal"].as_str();
        set.unwrap_or_else(|| panic!("{shown}")).to_owned()
    };
    let (large, small) = (
        propose("docs/large", &lines("new ")).await,
        propose("docs/small", "new\n").await,
    );
    let url = format!("http://{}", server.address());
    let made = Command::new(&["token", "new", "anna", "--reviewer", "--url", &url])
        .with("WIKI_SERVE_TOKENS_FILE", names.path().to_str().unwrap())
        .with("WIKI_AUDIT_DIR", dir.path().to_str().unwrap())
        .end()
        .await;
    let (mut browser, path) = Browser::led(made.stdout.trim()).await;
    let signed_in = browser.sign_in(&path).await;
    assert_eq!(signed_in.status, StatusCode::SEE_OTHER, "{}", made.told);

    let small_set = format!("/review/sets/{small}");
    let form_token = browser.open(&small_set).await.hidden("form_token");

    // The first one that looks has all the room, and waits for the wiki.
    let before = wiki.content_reads().len();
    wiki.hold_content_reads(before..usize::MAX);
    let set = format!("/review/sets/{large}");
    let first = browser.open(&set);
    let rest = async {
        wiki.content_reads_came(before + 1).await;
        wiki.hold_content_reads(before..before + 1);
        let began = Instant::now();
        let form = [("form_token", &*form_token), ("decision", "reject")];
        let undo = format!("{set}/undo");
        let (page, after_decision, undone, told) = tokio::join!(
            browser.open(&set),
            browser.send(&set, &form),
            browser.open(&undo),
            tool(&agent, GET_PROPOSAL, json!({ "id": large })),
        );
        let waited = began.elapsed();
        for page in [page, after_decision, undone] {
            assert!(is_refused(&page), "{}: {}", page.status, page.text);
        }
        assert_eq!(told["code"], "RATE_LIMITED", "{told}");
        assert_eq!(told["details"]["retryAfterSeconds"], 5, "{told}");
        assert!(waited >= Duration::from_secs(5), "{waited:?}");
        // What is small is shown meanwhile.
        let page = browser.open(&small_set).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.text);
        let told = tool(&agent, GET_PROPOSAL, json!({ "id": small })).await;
        assert_eq!(told["state"], "open", "{told}");
        wiki.hold_content_reads(0..0);
    };
    let (page, ()) = tokio::join!(first, rest);
    assert_eq!(page.status, StatusCode::OK, "{}", page.text);
    let page = browser.open(&set).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.text);
}

/// A large page that was written, and another in a draft: both are previewed many times at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_previews_of_undos_and_drafts_take_bounded_memory_and_lose_nothing() {
    const LINES: usize = 20_000;
    let (old, new) = (text(LINES, "row"), text(LINES, "new"));
    let pages = [("docs/a", &*old), ("docs/b", &old), ("docs/small", "old\n")];
    let wiki = wiki_of(&pages).await;
    let dirs = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let [a, b, small] = pages.map(|(path, _)| id_of(&wiki, path));
    let (address, key) = (wiki.address(), wiki.keys().scripter.clone());
    let content = new.clone();
    let measured = tokio::task::spawn_blocking(move || {
        let served = |dir: &TempDir| {
            let more = [
                ("WIKI_MUTATION_DRY_RUN", "false"),
                ("WIKI_TOOLSETS", "pages,drafts,undo"),
            ];
            let variables = [&writing(&address, &key, dir)[..], &more].concat();
            Program::serve(&[], &variables)
        };
        let [mut program, mut idle] = dirs.each_ref().map(served);
        let confirmed = |program: &mut Program, tool, mut arguments: Value| {
            let shown = program.call(tool, &arguments);
            arguments["confirm"] = shown["confirm"]["token"]
                .as_str()
                .or(shown["confirm"].as_str())
                .unwrap_or_else(|| panic!("{:.900}", shown.to_string()))
                .into();
            program.call(tool, &arguments)
        };
        let edit = json!({ "id": a, "content": content });
        let written = confirmed(&mut program, UPDATE, edit);
        assert_eq!(written["outcome"], "applied", "{written}");
        let undo = json!({ "callId": written["callId"] });
        let edit = json!({ "id": b, "content": content, "draft": "large" });
        program.call(UPDATE, &edit);
        let submit = json!({ "draft": "large" });
        let other = (BY_ID, json!({ "id": small }));
        for program in [&mut program, &mut idle] {
            program.call(other.0, &other.1);
        }
        let kinds = [(UNDO, undo.clone()), (SUBMIT, submit.clone())];
        let calls: Vec<_> = kinds.into_iter().cycle().take(AT_ONCE).collect();
        let memory = Memory::of(program.id());
        memory.forget();
        let before = memory.most();
        let mut idle = (idle, other.clone());
        let (answers, longest) = calls_at_once(&mut program, &calls, &other, &mut idle);
        let grown = memory.most().saturating_sub(before);
        idle.0.kill();
        // Whatever was refused can be done afterwards.
        for (tool, arguments) in [(SUBMIT, submit), (UNDO, undo)] {
            let done = confirmed(&mut program, tool, arguments);
            assert_eq!(done["outcome"], "applied", "{tool}: {done}");
        }
        program.kill();
        (answers, longest, grown)
    });
    let (answers, longest, grown) = measured.await.unwrap();
    let mut shown = [0; 2];
    for (number, answer) in answers.iter().enumerate() {
        if answer["isError"] == true {
            let error = &answer["_meta"]["error"];
            assert_eq!(error["code"], "RATE_LIMITED", "{answer}");
        } else {
            shown[number % 2] += 1;
        }
    }
    let told =
        format!("{grown} bytes above idle, {shown:?} of {AT_ONCE} shown, others {longest:?}");
    // On a busy machine all of one kind may be told to come back later.
    assert!(shown.iter().sum::<u32>() > 0, "{told}");
    assert!(grown <= MOST_MEMORY, "{told}");
    assert!(longest.delay() <= MOST_DELAY_IN_TESTS, "{told}");
    let content = |id| wiki.with_store(|store| store.page(id).unwrap().content.clone());
    assert!(content(a) == old && content(b) == new, "{told}");
}
