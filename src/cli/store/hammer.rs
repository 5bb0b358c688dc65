//! `wikijs-gate store hammer`: loads a store of its own as servers do, and tells what its disk bears.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::interval;
use tokio_util::sync::CancellationToken;

use super::super::progress::StepProgress;
use super::super::signals::Signals;
use super::{checked, exit, print_broken};
use crate::audit::{
    AuditEntry, AuditError, AuditEvent, AuditLog, AuditResult, CallId, Client, KeptState, Outcome,
    Proposal, ProposalId,
};
use crate::change::Operation;
use crate::cli::prelude::*;
use crate::page::{Date, Field, Locale, PagePath, PageReading};
use crate::store::local::fs;

/// The wiki that the store is of: none has this name.
const WIKI: &str = "hammer.invalid";
/// Number of pages that are written in turn.
const PAGES: u32 = 500;
/// Number of writes that name the same two kept states.
const SAME_STATE: u32 = 40;
/// Every so many writes are of the page that all writers wait for.
const SHARED: u32 = 10;
/// The longest wait for a lease.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// Time between two looks at how far it is.
const LOOK: Duration = Duration::from_millis(200);

/// Arguments of `store hammer`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The events are those of writes: attempt and outcome, synced, and every fifth a refusal, which is not. Needs no\nsettings and no wiki; the store is that of a wiki named hammer.invalid. Ctrl-C ends it and tells what was done.\n\nExamples:\n  wikijs-gate store hammer --dir /var/lib/wikijs-gate/hammer\n  wikijs-gate store hammer --dir hammer --events 1000000 --writers 20 --json"
)]
pub(in crate::cli) struct HammerArgs {
    /// The directory: it must be empty, or is made
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Number of events
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=2_000_000))]
    events: u32,
    /// Number of proposals
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(..=10_000))]
    proposals: u32,
    /// How many write at once, each as a server of its own does
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    writers: u32,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: &HammerArgs) -> CommandResult {
    let dir = &arguments.dir;
    let mut there = fs::entries(dir).map_err(|error| unread(dir, &error))?;
    if there.next().is_some() {
        let dir = print::path(dir);
        let what = format!("{dir} holds something: name a directory that is empty or missing");
        return Err(Exit::usage(what));
    }
    let stop = CancellationToken::new();
    let signals = Signals::listen(stop.clone()).map_err(Exit::failed)?;
    let began = Instant::now();
    let done = load(arguments, &stop).await?;
    let took = began.elapsed();
    let check = checked(&AuditLog::new(dir, WIKI)).await?;
    let bytes = bytes_below(dir).map_err(|error| unread(dir, &error))?;
    let a_second = f64::from(done.events) / took.as_secs_f64().max(f64::EPSILON);
    let figures = [
        ("append with sync", done.appends),
        ("proposal kept", done.proposals),
        ("lease waited for", done.leases),
    ]
    .map(|(what, times)| Figure::new(what, times));
    if arguments.json {
        print::value(&json!({
            "events": done.events,
            "seconds": took.as_secs_f64(),
            "eventsPerSecond": a_second,
            "figures": figures.iter().map(Figure::as_json).collect::<Vec<_>>(),
            "bytes": bytes,
            "whole": check.broken.is_empty(),
            "broken": check.broken,
        }));
    } else {
        let mut table = Table::new("what | how often | median | 99 of 100 below");
        for figure in &figures {
            table.row(figure.row());
        }
        table.print();
        say!(
            "{} events in {:.1} s, {a_second:.0} a second; {} MB in {}, {}",
            done.events,
            took.as_secs_f64(),
            bytes >> 20,
            print::path(dir),
            if check.broken.is_empty() {
                "whole"
            } else {
                "broken"
            },
        );
        print_broken(&check);
    }
    Ok(signals.exit().unwrap_or_else(|| exit(&check)))
}

/// Lets all writers write until they are done, or are to stop.
async fn load(arguments: &HammerArgs, stop: &CancellationToken) -> AuditResult<Done> {
    let count = Arc::new(AtomicUsize::new(0));
    let share = |all: u32, writer: u32| {
        all / arguments.writers + u32::from(writer < all % arguments.writers)
    };
    let mut writers = JoinSet::new();
    for number in 0..arguments.writers {
        let writer = HammerWriter {
            log: AuditLog::new(&arguments.dir, WIKI),
            number,
            events: share(arguments.events, number),
            proposals: share(arguments.proposals, number),
            count: Arc::clone(&count),
            stop: stop.clone(),
            done: Done::default(),
        };
        writers.spawn(writer.run());
    }
    let progress = StepProgress::new();
    let of = usize::try_from(arguments.events).unwrap_or(usize::MAX);
    let mut looks = interval(LOOK);
    let mut all = Done::default();
    loop {
        tokio::select! {
            ended = writers.join_next() => match ended {
                None => return Ok(all),
                Some(ended) => all.add(ended.unwrap_or(Err(AuditError::BrokenOff))?),
            },
            _ = looks.tick() => progress.at(count.load(Ordering::Relaxed), of, "events recorded"),
        }
    }
}

/// The work done, and how long each took, in microseconds.
#[derive(Debug, Default)]
struct Done {
    events: u32,
    appends: Vec<u32>,
    proposals: Vec<u32>,
    leases: Vec<u32>,
}

impl Done {
    fn add(&mut self, other: Self) {
        self.events = self.events.saturating_add(other.events);
        self.appends.extend(other.appends);
        self.proposals.extend(other.proposals);
        self.leases.extend(other.leases);
    }
}

/// One that writes as a server does: its log has a run of its own.
struct HammerWriter {
    log: AuditLog,
    number: u32,
    events: u32,
    proposals: u32,
    count: Arc<AtomicUsize>,
    stop: CancellationToken,
    done: Done,
}

impl HammerWriter {
    async fn run(mut self) -> AuditResult<Done> {
        let mut states = [self.keep(0).await?, self.keep(1).await?];
        let mut writes = 0_u32;
        while self.done.events < self.events && !self.stop.is_cancelled() {
            if writes % SAME_STATE == SAME_STATE - 1 {
                let [_, before] = states;
                states = [before, self.keep(writes).await?];
            }
            match self.events - self.done.events {
                1 => self.refuse(writes).await?,
                left => {
                    self.write(writes, states).await?;
                    if writes % 2 == 1 && left > 2 {
                        self.refuse(writes).await?;
                    }
                }
            }
            if writes < self.proposals {
                self.propose(writes, states).await?;
            }
            writes += 1;
        }
        while writes < self.proposals && !self.stop.is_cancelled() {
            self.propose(writes, states).await?;
            writes += 1;
        }
        self.log.close().await?;
        Ok(self.done)
    }

    /// Keeps a state of a page that nobody kept before.
    async fn keep(&self, number: u32) -> AuditResult<KeptState> {
        let (title, content) = (
            format!("Page {number} of writer {}", self.number),
            "A line of a page as most pages are.\n".repeat(40),
        );
        let (id, locale, path) = place(number);
        let mut page = PageReading::bare(Some(id), locale, path, title).or_blank();
        page.content = content;
        self.log.states.keep(&page).await
    }

    /// Takes the lease of a page, and puts an attempt and its outcome on record.
    async fn write(&mut self, number: u32, [before, after]: [KeptState; 2]) -> AuditResult<()> {
        let number = if number.is_multiple_of(SHARED) {
            0
        } else {
            number
        };
        let asked = Instant::now();
        let lease = self.log.lock_page(place(number).0, LONGEST_WAIT).await?;
        self.done.leases.push(since(asked));
        let attempt = AuditEntry {
            step: Some("update".to_owned()),
            before: Some(before),
            after: Some(after),
            gate: Some("confirm".to_owned()),
            decision: Some("token".to_owned()),
            ..entry(AuditEvent::Attempt, number)?
        };
        let outcome = AuditEntry {
            event: AuditEvent::Outcome,
            gate: None,
            decision: None,
            outcome: Some(Outcome::Applied),
            ..attempt.clone()
        };
        let asked = Instant::now();
        drop(self.log.attempt(attempt, &[]).await?);
        self.done.appends.push(since(asked));
        let asked = Instant::now();
        self.log.record(outcome).await?;
        self.done.appends.push(since(asked));
        drop(lease);
        self.recorded(2);
        Ok(())
    }

    async fn refuse(&mut self, number: u32) -> AuditResult<()> {
        let refusal = AuditEntry {
            gate: Some("paths".to_owned()),
            decision: Some("refused".to_owned()),
            code: Some("PATH_DENIED".to_owned()),
            reason: Some("The page lies below a denied prefix.".to_owned()),
            ..entry(AuditEvent::Refusal, number)?
        };
        self.log.record(refusal).await?;
        self.recorded(1);
        Ok(())
    }

    /// Puts the making of a proposal on record, and keeps its document.
    async fn propose(&mut self, number: u32, [before, after]: [KeptState; 2]) -> AuditResult<()> {
        let (id, locale, path) = place(number);
        let now = Date::now();
        let proposal = json!({
            "v": Proposal::VERSION, "id": ProposalId::new()?, "state": "open", "created": now,
            "call": CallId::new()?, "tool": "wikijs_update_page", "client": client(),
            "session": "hammer", "operation": Operation::Update, "page": id, "locale": locale,
            "path": path, "title": format!("Page {number}"), "fields": [Field::Title],
            "linesAdded": 3, "linesRemoved": 1, "before": before, "after": after,
        });
        let proposal: Proposal =
            serde_json::from_value(proposal).map_err(|_| AuditError::BadProposal)?;
        let asked = Instant::now();
        self.log.record(proposal.making()).await?;
        self.log.proposals.keep(proposal).await?;
        self.done.proposals.push(since(asked));
        Ok(())
    }

    fn recorded(&mut self, events: u32) {
        self.done.events = self.done.events.saturating_add(events);
        let events = usize::try_from(events).unwrap_or_default();
        self.count.fetch_add(events, Ordering::Relaxed);
    }
}

/// The members of every event.
fn entry(event: AuditEvent, number: u32) -> AuditResult<AuditEntry> {
    let (id, locale, path) = place(number);
    Ok(AuditEntry {
        client: Some(client()),
        tool: Some("wikijs_update_page".to_owned()),
        operation: Some(Operation::Update),
        id: Some(id),
        locale: Some(locale),
        path: Some(path),
        fields: vec![Field::Title, Field::Content],
        lines_added: 3,
        lines_removed: 1,
        ..AuditEntry::new(CallId::new()?, event)
    })
}

fn client() -> Client {
    Client {
        name: "hammer".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Client::default()
    }
}

/// The page that a write is of.
fn place(number: u32) -> (i64, Locale, PagePath) {
    let page = number % PAGES;
    let path = format!("docs/part-{}/page-{page}", page % 7);
    (
        i64::from(page),
        Locale::as_stored("en"),
        PagePath::as_stored(&path),
    )
}

fn since(asked: Instant) -> u32 {
    u32::try_from(asked.elapsed().as_micros()).unwrap_or(u32::MAX)
}

/// How often something was done, and how long it took.
struct Figure {
    what: &'static str,
    times: Vec<u32>,
}

impl Figure {
    fn new(what: &'static str, mut times: Vec<u32>) -> Self {
        times.sort_unstable();
        Self { what, times }
    }

    /// The time, in milliseconds, that so many of a hundred took at most; 0 if it was never done.
    fn of_hundred(&self, share: usize) -> f64 {
        let last = self.times.len().saturating_sub(1);
        let at = self.times.get(last.saturating_mul(share) / 100);
        f64::from(at.copied().unwrap_or_default()) / 1_000.0
    }

    fn as_json(&self) -> Value {
        json!({
            "what": self.what,
            "count": self.times.len(),
            "medianMs": self.of_hundred(50),
            "p99Ms": self.of_hundred(99),
        })
    }

    fn row(&self) -> Vec<super::super::table::Cell> {
        vec![
            self.what.into(),
            self.times.len().to_string().into(),
            format!("{:.2} ms", self.of_hundred(50)).into(),
            format!("{:.2} ms", self.of_hundred(99)).into(),
        ]
    }
}

/// The bytes of all files below a directory.
fn bytes_below(dir: &Path) -> io::Result<u64> {
    let mut bytes = 0_u64;
    for entry in fs::entries(dir)? {
        let entry = entry?;
        let found = entry.metadata()?;
        let more = if found.is_dir() {
            bytes_below(&entry.path())?
        } else {
            found.len()
        };
        bytes = bytes.saturating_add(more);
    }
    Ok(bytes)
}

fn unread(dir: &Path, error: &io::Error) -> CommandError {
    Exit::failed(format!("{} cannot be read: {error}", print::path(dir)))
}
