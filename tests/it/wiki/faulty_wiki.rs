//! A misbehaving server in the wiki's place: raw HTTP/1.1 that stands before an embedded wiki,
//! passes on what it is asked, and does to mutations or reads what a test scripts.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Mutex;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::prelude::*;

const MUTATIONS: [&str; 10] = [
    "PageCreate",
    "PageUpdate",
    "PageMove",
    "PageDelete",
    "CommentCreate",
    "CommentUpdate",
    "CommentDelete",
    "AssetFolderCreate",
    "AssetRename",
    "AssetDelete",
];

/// Whether, and when, the wiki gets a request that is answered with a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Not at all.
    Never,
    /// Before the answer.
    Before,
    /// Twice before the answer, which is that to the second: a proxy that tried again.
    Twice,
    /// After the answer, when two reads have come in since: applied late (W19).
    Meanwhile,
    /// When the test says so, with [`FaultyWiki::let_late_ones_through`].
    Afterwards,
}

/// What the client is answered.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// What the wiki says.
    Wiki,
    /// What the wiki says, when the test says so.
    WikiHeld,
    /// The connection is closed.
    Cut,
    /// The connection is closed in the middle of the answer.
    CutInside,
    /// The connection is reset.
    Reset,
    /// Nothing, for as long as the client waits.
    Silence,
    /// A byte every now and then, without end.
    Drip,
    /// What is not HTTP.
    Garbage,
    /// Something else.
    Say(String, Vec<u8>),
    /// Forty megabytes.
    Huge,
}

/// What is done to a request.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) reach: Reach,
    pub(crate) reply: Reply,
}

/// A request that came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) is_mutation: bool,
    /// How many attempts were on record then, in the audit directory that is watched.
    pub(crate) attempts: usize,
}

#[derive(Debug, Default)]
struct Script {
    mutations: Option<(usize, Fault)>,
    mutation: Option<(usize, Fault)>,
    reads: VecDeque<(usize, Fault)>,
    reads_after_mutation: Option<Fault>,
    close_at: Option<usize>,
    request: Option<(usize, Fault)>,
}

#[derive(Debug)]
struct State {
    wiki: Option<SocketAddr>,
    address: SocketAddr,
    script: Mutex<Script>,
    seen: Mutex<Vec<Arrival>>,
    watched: Mutex<Option<PathBuf>>,
    arrivals: watch::Sender<usize>,
    mutations: watch::Sender<usize>,
    late: CancellationToken,
    tasks: TaskTracker,
    close: CancellationToken,
    closed: CancellationToken,
    gone: CancellationToken,
}

/// The server. Dropping it closes its port and all connections.
#[derive(Debug)]
pub(crate) struct FaultyWiki {
    state: Arc<State>,
}

impl Reply {
    /// A status with a body that says what it is.
    pub(crate) fn say(status: u16, content_type: &str, body: &str) -> Self {
        let head = format!("HTTP/1.1 {status} Told\r\ncontent-type: {content_type}\r\n");
        Self::Say(head, body.as_bytes().to_vec())
    }

    /// The same with one more header.
    pub(crate) fn header(self, name: &str, value: &str) -> Self {
        match self {
            Self::Say(head, body) => Self::Say(format!("{head}{name}: {value}\r\n"), body),
            other => other,
        }
    }
}

impl Fault {
    pub(crate) const fn new(reach: Reach, reply: Reply) -> Self {
        Self { reach, reply }
    }
}

impl FaultyWiki {
    /// Stands before a wiki.
    pub(crate) async fn before(wiki: &DemoWiki) -> Self {
        let address = wiki.address();
        let address = address.strip_prefix("http://").unwrap().parse().unwrap();
        Self::start(Some(address)).await
    }

    /// Has no wiki behind it: whoever comes here should not have.
    pub(crate) async fn alone() -> Self {
        Self::start(None).await
    }

    async fn start(wiki: Option<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let state = Arc::new(State {
            wiki,
            address: listener.local_addr().unwrap(),
            script: Mutex::default(),
            seen: Mutex::default(),
            watched: Mutex::default(),
            arrivals: watch::channel(0).0,
            mutations: watch::channel(0).0,
            late: CancellationToken::new(),
            tasks: TaskTracker::new(),
            close: CancellationToken::new(),
            closed: CancellationToken::new(),
            gone: CancellationToken::new(),
        });
        tokio::spawn(accept(Arc::clone(&state), listener));
        Self { state }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.state.address)
    }

    /// Counts the attempts below this audit directory whenever a request arrives.
    pub(crate) fn watch(&self, audit: &Path) {
        *self.state.watched.lock().unwrap() = Some(audit.to_owned());
    }

    /// Does this to every mutation from now on.
    pub(crate) fn on_mutations(&self, fault: Fault) {
        self.on_mutations_after(0, fault);
    }

    /// Lets so many mutations pass, and does this to every later one.
    pub(crate) fn on_mutations_after(&self, passing: usize, fault: Fault) {
        self.script(|script| script.mutations = Some((passing, fault)));
    }

    /// Does this to one mutation alone, by its number from 0 among those to come.
    pub(crate) fn on_mutation_number(&self, number: usize, fault: Fault) {
        self.script(|script| script.mutation = Some((number, fault)));
    }

    /// Does this to the next so many reads.
    pub(crate) fn on_reads(&self, count: usize, fault: Fault) {
        self.script(|script| script.reads = [(count, fault)].into());
    }

    /// Then does this to so many reads more.
    pub(crate) fn then_on_reads(&self, count: usize, fault: Fault) {
        self.script(|script| script.reads.push_back((count, fault)));
    }

    /// Does this to every read that comes in after a mutation.
    pub(crate) fn on_reads_after_mutation(&self, fault: Fault) {
        self.script(|script| script.reads_after_mutation = Some(fault));
    }

    /// Does this to the request after so many more, whatever it asks for.
    pub(crate) fn on_request_after(&self, more: usize, fault: Fault) {
        let index = self.state.seen.lock().unwrap().len() + more;
        self.script(|script| script.request = Some((index, fault)));
    }

    /// Is a good wiki again.
    pub(crate) fn recovers(&self) {
        self.script(|script| *script = Script::default());
    }

    /// Closes the port before the answer to the request after so many more.
    pub(crate) fn close_at(&self, more: usize) {
        self.script(|script| script.close_at = Some(more));
    }

    /// Lets through what was held back, and waits until the wiki has answered all of it.
    pub(crate) async fn let_late_ones_through(&self) {
        self.state.late.cancel();
        self.state.tasks.close();
        self.state.tasks.wait().await;
    }

    /// Waits until so many mutations have come in.
    pub(crate) async fn mutations_arrive(&self, count: usize) {
        let mut mutations = self.state.mutations.subscribe();
        mutations.wait_for(|seen| *seen >= count).await.unwrap();
    }

    /// Waits until so many requests have come in.
    pub(crate) async fn requests_arrive(&self, count: usize) {
        let mut arrivals = self.state.arrivals.subscribe();
        arrivals.wait_for(|seen| *seen >= count).await.unwrap();
    }

    /// All requests that came in.
    pub(crate) fn seen(&self) -> Vec<Arrival> {
        self.state.seen.lock().unwrap().clone()
    }

    /// The mutations that came in.
    pub(crate) fn mutations(&self) -> Vec<Arrival> {
        let mut seen = self.seen();
        seen.retain(|arrival| arrival.is_mutation);
        seen
    }

    fn script(&self, write: impl FnOnce(&mut Script)) {
        write(&mut self.state.script.lock().unwrap());
    }
}

impl Drop for FaultyWiki {
    fn drop(&mut self) {
        self.state.close.cancel();
        self.state.gone.cancel();
    }
}

async fn accept(state: Arc<State>, listener: TcpListener) {
    loop {
        tokio::select! {
            () = state.close.cancelled() => break,
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { break };
                let state = Arc::clone(&state);
                tokio::spawn(async move {
                    tokio::select! {
                        () = state.close.cancelled() => {}
                        // What a client breaks off is over.
                        _ended = serve(&state, stream) => {}
                    }
                });
            }
        }
    }
    drop(listener);
    // The port stays taken, so that no other test gets it, but nobody answers there.
    let holder = TcpSocket::new_v4().unwrap();
    holder.set_reuseaddr(true).unwrap();
    let _is_held = holder.bind(state.address).is_ok();
    state.closed.cancel();
    state.gone.cancelled().await;
}

struct Request {
    bytes: Vec<u8>,
    is_mutation: bool,
}

/// Reads one message: its head, and as much more as its head says.
async fn message(stream: &mut TcpStream) -> std::io::Result<Option<(Vec<u8>, usize)>> {
    let mut bytes = Vec::new();
    loop {
        let head = bytes.windows(4).position(|end| end == b"\r\n\r\n");
        if let Some(head) = head.map(|at| at + 4) {
            let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
            let length = text
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"))
                .map_or(0, |length| length.trim().parse().unwrap());
            let read = bytes.len();
            bytes.resize(head + length, 0);
            stream.read_exact(&mut bytes[read..]).await?;
            return Ok(Some((bytes, head)));
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
}

async fn serve(state: &Arc<State>, mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    while let Some((bytes, head)) = message(&mut stream).await? {
        let body: Value = serde_json::from_slice(&bytes[head..]).unwrap_or_default();
        let operation = body["operationName"].as_str().unwrap_or_default();
        let is_mutation = MUTATIONS.contains(&operation) || bytes.starts_with(b"POST /u ");
        let request = Request { bytes, is_mutation };
        // Whoever waits for late ones also waits until this one is known to be one.
        let arriving = state.tasks.token();
        let (fault, closes) = arrive(state, &request);
        if closes {
            let answer = forward(state, &request).await?;
            let text = String::from_utf8_lossy(&answer).into_owned();
            let answer = text.replacen("\r\n", "\r\nconnection: close\r\n", 1);
            let (state, mut stream) = (Arc::clone(state), stream);
            tokio::spawn(async move {
                state.close.cancel();
                state.closed.cancelled().await;
                stream.write_all(answer.as_bytes()).await
            });
            return Ok(());
        }
        let Some(fault) = fault else {
            let answer = forward(state, &request).await?;
            stream.write_all(&answer).await?;
            continue;
        };
        if !misbehave(state, &mut stream, request, fault, arriving).await? {
            break;
        }
    }
    Ok(())
}

/// Notes a request down, and says what is to be done to it.
fn arrive(state: &State, request: &Request) -> (Option<Fault>, bool) {
    let is_mutation = request.is_mutation;
    let watched = state.watched.lock().unwrap();
    let attempts = watched.as_deref().map_or(0, attempts_on_record);
    drop(watched);
    let has_written = *state.mutations.borrow() > 0;
    let mut seen = state.seen.lock().unwrap();
    let index = seen.len();
    seen.push(Arrival {
        is_mutation,
        attempts,
    });
    drop(seen);
    // Whoever waits for the request and then scripts what comes next changes nothing for this one.
    let mut script = state.script.lock().unwrap();
    state.arrivals.send_modify(|count| *count += 1);
    if is_mutation {
        state.mutations.send_modify(|count| *count += 1);
    }
    let closes = script.close_at == Some(0);
    script.close_at = script.close_at.and_then(|more| more.checked_sub(1));
    if let Some((_, fault)) = script.request.as_ref().filter(|(at, _)| *at == index) {
        return (Some(fault.clone()), closes);
    }
    if is_mutation {
        match &mut script.mutation {
            Some((0, _)) => return (script.mutation.take().map(|(_, fault)| fault), closes),
            Some((more, _)) => *more -= 1,
            None => {}
        }
        let fault = match &mut script.mutations {
            Some((passing, _)) if *passing > 0 => {
                *passing -= 1;
                None
            }
            other => other.as_ref().map(|(_, fault)| fault.clone()),
        };
        return (fault, closes);
    }
    if has_written && let Some(fault) = &script.reads_after_mutation {
        return (Some(fault.clone()), closes);
    }
    let fault = script.reads.front_mut().map(|(left, fault)| {
        *left -= 1;
        fault.clone()
    });
    if script.reads.front().is_some_and(|(left, _)| *left == 0) {
        script.reads.pop_front();
    }
    (fault, closes)
}

/// The attempts in whole lines of all runs below an audit directory.
pub(crate) fn attempts_on_record(dir: &Path) -> usize {
    let lines = |path: PathBuf| -> usize {
        let text = fs::read_to_string(path).unwrap();
        text.split_inclusive('\n')
            .filter(|line| line.ends_with('\n') && line.contains(r#""event":"attempt""#))
            .count()
    };
    runs(dir).into_iter().map(lines).sum()
}

async fn misbehave(
    state: &Arc<State>,
    stream: &mut TcpStream,
    request: Request,
    fault: Fault,
    arriving: TaskTrackerToken,
) -> std::io::Result<bool> {
    let answer = match fault.reach {
        Reach::Before => Some(forward(state, &request).await?),
        Reach::Twice => {
            forward(state, &request).await?;
            Some(forward(state, &request).await?)
        }
        Reach::Never => None,
        Reach::Meanwhile | Reach::Afterwards => {
            let mut arrivals = state.arrivals.subscribe();
            let now = *arrivals.borrow();
            let (late_state, reach) = (Arc::clone(state), fault.reach);
            state.tasks.spawn(async move {
                if reach == Reach::Meanwhile {
                    let _seen = arrivals.wait_for(|seen| *seen >= now + 2).await;
                } else {
                    late_state.late.cancelled().await;
                }
                forward(&late_state, &request).await.unwrap();
            });
            None
        }
    };
    drop(arriving);
    match fault.reply {
        Reply::Wiki => stream.write_all(&answer.unwrap()).await?,
        Reply::WikiHeld => {
            state.late.cancelled().await;
            stream.write_all(&answer.unwrap()).await?;
        }
        Reply::Cut => return Ok(false),
        Reply::CutInside => {
            let answer = answer.unwrap_or_else(|| {
                b"HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{\"data\":{\"pages\":{\"create\""
                    .to_vec()
            });
            stream.write_all(&answer[..answer.len() - 10]).await?;
            return Ok(false);
        }
        Reply::Reset => {
            stream.set_zero_linger()?;
            return Ok(false);
        }
        Reply::Garbage => {
            stream
                .write_all(&[0x16, 0x03, 0, 0xff, b'\n', b'\r', 0])
                .await?;
            return Ok(false);
        }
        Reply::Drip => {
            let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n{";
            stream.write_all(head).await?;
            let mut beat = tokio::time::interval(Duration::from_millis(20));
            // Until the client has enough of it.
            loop {
                beat.tick().await;
                stream.write_all(b" ").await?;
            }
        }
        Reply::Silence => {
            // Until the client has enough of it.
            let mut nothing = [0];
            return stream.read(&mut nothing).await.map(|_| false);
        }
        Reply::Say(head, body) => {
            let head = format!("{head}content-length: {}\r\n\r\n", body.len());
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(&body).await?;
        }
        Reply::Huge => {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", 40 << 20);
            stream.write_all(head.as_bytes()).await?;
            let part = vec![b'x'; 1 << 20];
            for _ in 0..40 {
                stream.write_all(&part).await?;
            }
        }
    }
    Ok(true)
}

/// The wiki's answer to a request.
async fn forward(state: &State, request: &Request) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(state.wiki.unwrap()).await?;
    stream.write_all(&request.bytes).await?;
    let (answer, _) = message(&mut stream).await?.unwrap();
    Ok(answer)
}
