//! A mix of reads, searches, previews and writes at a bounded rate over both transports, for
//! minutes: nothing grows from the second tenth of the time to the last, every call is answered,
//! every write is on record, and `audit verify` holds after SIGTERM.

use std::thread::sleep;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::calls;
use crate::client::{Client, at_once};
use crate::figure::{Figure, Unit};
use crate::hosted::{Hosted, call};
use crate::process::Process;
use crate::server::Server;
use crate::stats::{median, megabytes, whole};
use crate::wiki::Wiki;

/// In each, both servers are given some twelve calls.
const TICK: Duration = Duration::from_millis(500);
const READS: usize = 8;
/// How many sessions there are over HTTP, and after how many ticks they give way to others.
const SESSIONS: usize = 4;
const LIFE: usize = 20;
/// What a process that SIGTERM ended says.
const TERMINATED: i32 = 143;
/// How many more there may be at quiet moments: a connection to the wiki is kept or not (its two
/// tasks with it), and threads for what blocks come and go. A leak would make hundreds.
const FEW_DESCRIPTORS: f64 = 4.0;
const FEW_THREADS: f64 = 4.0;
const FEW_TASKS: f64 = 8.0;
const SETTINGS: [(&str, &str); 4] = [
    ("WIKI_MUTATIONS_ENABLED", "true"),
    ("WIKI_MUTATION_DRY_RUN", "false"),
    ("WIKI_CONFIRM", "preview"),
    ("WIKI_LOG", "warn"),
];

/// What a process held at a quiet moment.
#[derive(Clone, Copy)]
struct Sample {
    at: Instant,
    resident: f64,
    descriptors: f64,
    threads: f64,
    /// Not told over standard output.
    tasks: Option<f64>,
}

pub(crate) fn measure(minutes: u32) -> Vec<Figure> {
    let wiki = Wiki::start();
    let (address, key, page) = (wiki.address(), wiki.key(), wiki.page());
    let runtime = at_once();
    let mut piped = Server::start_with(&address, key, &SETTINGS).ready();
    let mut hosted = Hosted::start(&address, key, &SETTINGS);
    let mut sessions = runtime.block_on(hosted.sessions(SESSIONS, ""));
    let (mut of_piped, mut of_hosted) = (Mix::new("piped"), Mix::new("hosted"));
    let (mut piped_held, mut hosted_held) = (Vec::new(), Vec::new());
    let began = Instant::now();
    let time = Duration::from_mins(1) * minutes;
    let mut tick = 0;
    while began.elapsed() < time {
        let next = Instant::now() + TICK;
        piped.pipeline(READS, READS, |id| calls::reading(id, page));
        of_piped.turn(tick, |line| {
            piped.send(&line);
            piped.result()
        });
        if tick % LIFE == 0 {
            runtime.block_on(renew(&hosted, &mut sessions));
        }
        runtime.block_on(read_at_once(&sessions, page));
        let writer = sessions.first().expect("several sessions");
        of_hosted.turn(tick, |line| runtime.block_on(call(writer, line)));
        sleep(next.saturating_duration_since(Instant::now()));
        piped_held.push(sample(&piped.process, None));
        hosted_held.push(sample(&hosted.process, Some(tasks(&runtime, &hosted))));
        tick += 1;
    }
    let writes = |mix: &Mix, process: &mut Process| {
        assert_eq!(process.terminate(), Some(TERMINATED), "{}", mix.name);
        assert_eq!(process.verified(&address), mix.writes, "{}", mix.name);
    };
    writes(&of_piped, &mut piped.process);
    writes(&of_hosted, &mut hosted.process);
    let piped = [
        "soak over stdio: resident memory grew",
        "soak over stdio: descriptors grew",
        "soak over stdio: threads grew",
    ];
    let hosted = [
        "soak over HTTP: resident memory grew",
        "soak over HTTP: descriptors grew",
        "soak over HTTP: threads grew",
    ];
    let mut figures = figures(piped, &piped_held, time);
    figures.extend(self::figures(hosted, &hosted_held, time));
    let (early, late) = ends(&hosted_held, time, |sample| sample.tasks);
    figures.push(count(
        "soak over HTTP: tasks grew",
        least(late) - least(early),
        FEW_TASKS,
    ));
    figures
}

/// Turns of one client that writes: pages of its own alone.
struct Mix {
    name: &'static str,
    /// The page that it changes again and again.
    page: Option<i64>,
    /// How many writes were applied.
    writes: usize,
    id: usize,
}

impl Mix {
    const fn new(name: &'static str) -> Self {
        Self {
            name,
            page: None,
            writes: 0,
            id: 1_000_000,
        }
    }

    /// By turns: a search, a preview that nobody confirms, a change, a page made and deleted.
    fn turn(&mut self, tick: usize, mut ask: impl FnMut(String) -> Value) {
        let Some(page) = self.page else {
            self.page = Some(self.create("page", &mut ask));
            return;
        };
        let change = json!({ "id": page, "content": format!("# As of {tick}\n\nSome text.\n") });
        match tick % 4 {
            0 => {
                let query = json!({ "query": "backup", "in": "content" });
                self.call("wikijs_search_pages", &query, &mut ask);
            }
            1 => {
                self.call("wikijs_update_page", &change, &mut ask);
            }
            2 => {
                self.write("wikijs_update_page", change, &mut ask);
            }
            _ => {
                let id = self.create(&format!("page-{tick}"), &mut ask);
                self.write("wikijs_delete_page", json!({ "id": id }), &mut ask);
            }
        }
    }

    fn create(&mut self, path: &str, ask: &mut impl FnMut(String) -> Value) -> i64 {
        let path = format!("soak/{}/{path}", self.name);
        let page = json!({ "path": path, "title": "Soaked", "content": "# Soaked\n" });
        let made = self.write("wikijs_create_page", page, ask);
        let id = made.pointer("/target/id").and_then(Value::as_i64);
        id.expect("the id of a new page")
    }

    /// A write, confirmed by its preview.
    fn write(
        &mut self,
        tool: &str,
        mut arguments: Value,
        ask: &mut impl FnMut(String) -> Value,
    ) -> Value {
        let mut preview = self.call(tool, &arguments, ask);
        let token = preview.get_mut("confirm").expect("a token").take();
        let members = arguments.as_object_mut().expect("arguments");
        members.insert("confirm".to_owned(), token);
        let written = self.call(tool, &arguments, ask);
        let outcome = written.get("outcome").and_then(Value::as_str);
        assert_eq!(outcome, Some("applied"), "{written}");
        self.writes += 1;
        written
    }

    fn call(
        &mut self,
        tool: &str,
        arguments: &Value,
        ask: &mut impl FnMut(String) -> Value,
    ) -> Value {
        self.id += 1;
        let mut result = ask(calls::call(self.id, tool, arguments));
        let answer = result.get_mut("structuredContent").map(Value::take);
        answer.unwrap_or_else(|| panic!("{}: {tool} was refused: {result}", self.name))
    }
}

/// Ends the sessions, and opens as many.
async fn renew(hosted: &Hosted, sessions: &mut Vec<Client>) {
    for session in sessions.drain(..) {
        session.send(Method::DELETE, String::new()).await;
    }
    *sessions = hosted.sessions(SESSIONS, "").await;
}

/// The reads of a tick, in all sessions at once.
async fn read_at_once(sessions: &[Client], page: i64) {
    let reading: Vec<_> = sessions
        .iter()
        .enumerate()
        .map(|(number, session)| {
            let session = session.clone();
            tokio::spawn(async move {
                for id in (number..READS).step_by(SESSIONS) {
                    let result = call(&session, calls::reading(id, page)).await;
                    assert!(result.get("structuredContent").is_some(), "{result}");
                }
            })
        })
        .collect();
    for session in reading {
        session.await.expect("all reads are answered");
    }
}

fn tasks(runtime: &Runtime, hosted: &Hosted) -> f64 {
    let metric = |name| runtime.block_on(hosted.metric(name));
    assert!(metric("wikijs_gate_calls_in_flight ") < 1.0, "a call hangs");
    metric("wikijs_gate_tasks ")
}

fn sample(process: &Process, tasks: Option<f64>) -> Sample {
    let count = |what| whole(process.count(what).try_into().unwrap_or(u64::MAX));
    Sample {
        at: Instant::now(),
        resident: megabytes(process.memory().resident),
        descriptors: count("fd"),
        threads: count("task"),
        tasks,
    }
}

/// What grew, by these names: memory, descriptors, threads.
fn figures(
    [memory, descriptors, threads]: [&'static str; 3],
    samples: &[Sample],
    time: Duration,
) -> Vec<Figure> {
    let (early, late) = ends(samples, time, |sample| Some(sample.resident));
    let grown = |of: fn(&Sample) -> Option<f64>| {
        let (early, late) = ends(samples, time, of);
        least(late) - least(early)
    };
    vec![
        // What is bounded by its number, as previews that nobody confirms, may fill later.
        Figure::at_most(memory, Unit::Megabytes, median(late) - median(early), 2.0),
        count(
            descriptors,
            grown(|sample| Some(sample.descriptors)),
            FEW_DESCRIPTORS,
        ),
        count(threads, grown(|sample| Some(sample.threads)), FEW_THREADS),
    ]
}

/// The samples of the second tenth of the time, and of the last.
fn ends(
    samples: &[Sample],
    time: Duration,
    of: impl Fn(&Sample) -> Option<f64>,
) -> (Vec<f64>, Vec<f64>) {
    let (first, last) = (samples.first(), samples.last());
    let (first, last) = first.zip(last).expect("samples");
    let early = |sample: &&Sample| {
        let since = sample.at.duration_since(first.at);
        (time / 10..time / 5).contains(&since)
    };
    let late = |sample: &&Sample| last.at.duration_since(sample.at) < time / 10;
    (
        samples.iter().filter(early).filter_map(&of).collect(),
        samples.iter().filter(late).filter_map(&of).collect(),
    )
}

/// What was there all the time, so that what comes and goes does not count.
fn least(values: Vec<f64>) -> f64 {
    values.into_iter().fold(f64::INFINITY, f64::min)
}

fn count(what: &'static str, grown: f64, most: f64) -> Figure {
    Figure::at_most(what, Unit::Pieces, grown, most)
}
