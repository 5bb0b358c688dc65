//! Checks that every record is as it was written.
//!
//! Every chain is followed, and held against what others saw of it: each run's first record
//! lists the runs that were there, with length and last hash; heads kept elsewhere do the same.
//! Anchors do so too, and tell how much of the log they prove: what lies behind them could be cut off
//! or rewritten unseen. What is missing must be named by a purge. Runs that are written meanwhile do no harm.
//!
//! Memory holds a word for each run, each kept page that a record names and each file that a purge
//! names, a number for each approval of one run, and the records of each proposal, but no other record.

mod confirmations;
pub(super) mod finding;
pub(super) mod health;
mod numbers;
mod proposals;
mod words;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use self::confirmations::Confirmations;
use super::entry::chain::{self, ChainBreak, ChainLink, Verified};
use super::purge::named_by;
use super::run::clock::{ClockCheck, MOST_CLOCKS};
use super::run::numbers::{counted, number_of};
use super::{
    AnchorReport, AnchorsRead, AuditError, AuditLayout, AuditResult, ClockBack, FileHead,
    KeptState, LineHash, LogFinding, LogUpkeep, Record, RunFile, kept_states, runs, scan,
};

/// Number of bytes of a run read at once.
const CHUNK: usize = 256 * 1024;

/// Evidence from elsewhere to check a log against.
#[derive(Debug, Default)]
pub struct Against {
    /// Heads that were kept elsewhere.
    pub heads: Vec<FileHead>,
    /// Anchors.
    pub anchors: Option<AnchorsRead>,
}

/// A run that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedRun {
    /// Its file.
    pub file: String,
    /// Its chain, or its first line that does not hold.
    pub chain: Result<Verified, ChainBreak>,
    /// True if a living process holds it and may continue it. For an empty file this is unknown.
    pub is_locked: bool,
    /// The run that the same server began when this one could not go on. Its first record names this run
    /// and its last whole record.
    pub followed_by: Option<String>,
}

/// A log that was checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogVerification {
    /// The runs, oldest first.
    pub runs: Vec<CheckedRun>,
    /// Number of kept pages that are what their names say.
    pub pages: u64,
    /// Number of proposals that agree with the log.
    pub proposals: u64,
    /// Number of files that recorded purges removed.
    pub purged: u64,
    /// Number of runs that heads or anchors alone name and that are older than runs which a purge removed: the
    /// record of their own purge may be gone with its run.
    pub older: u64,
    /// Places where the clock went back, which is no error.
    pub clock: Vec<ClockBack>,
    /// The part of it that no anchor covers; nothing without anchors.
    pub anchored: Option<AnchorReport>,
    /// All that is wrong; nothing if all holds.
    pub wrong: Vec<LogFinding>,
}

impl LogUpkeep {
    /// Checks everything, also against heads and anchors that were kept elsewhere. `progress` is told how
    /// many of how many runs and kept pages were looked at. Blocks.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn verify(
        &self,
        against: &Against,
        progress: impl FnMut(usize, usize),
    ) -> AuditResult<LogVerification> {
        let place = self.place.clone();
        // Before the runs: what is begun meanwhile is there then.
        let counted = counted(&*place.store)?;
        let runs = runs(&place)?;
        let mut seen = RunReferences::default();
        for head in &against.heads {
            seen.saw(head.clone(), "the list of heads");
        }
        if let Some(anchors) = &against.anchors {
            seen.anchors(anchors);
        }
        seen.read(&runs)?;
        let mut checking = Checking {
            place,
            seen,
            named: HashSet::new(),
            confirmations: Confirmations::default(),
            checked: LogVerification {
                anchored: against.anchors.as_ref().map(|_| AnchorReport::default()),
                ..LogVerification::default()
            },
            progress,
        };
        if let Some(anchors) = &against.anchors {
            for (file, line, wrong) in &anchors.wrong {
                checking.wrong("anchor", file, format!("{file}, line {line}: {wrong}"));
            }
        }
        checking.runs(&runs)?;
        checking.missing()?;
        checking.numbers(&runs, counted)?;
        checking.pages(runs.len())?;
        checking.proposals()?;
        checking.confirmations()?;
        checking.checked.purged = u64::try_from(checking.seen.purged.len()).unwrap_or(u64::MAX);
        Ok(checking.checked)
    }
}

/// The kind of a run that is missing.
const MISSING_RUN: &str = "missing_run";

/// The lengths at which a run was seen, with its last hash at that length and its first witness.
type Lengths = BTreeMap<u64, Vec<(Option<LineHash>, String)>>;

/// References to runs, found in other records.
#[derive(Debug, Default)]
struct RunReferences {
    /// By file.
    heads: BTreeMap<String, Lengths>,
    /// The files that runs name, whose removal a purge tells as long as the run is there.
    named: HashSet<String>,
    /// The heads of purged files.
    purged: HashMap<String, FileHead>,
    /// Up to which length each run is anchored: by an anchor itself, or by the first record of a
    /// run that is.
    anchored: HashMap<String, u64>,
    /// By each run that could not go on, the run that follows it.
    followed: HashMap<String, String>,
}

impl RunReferences {
    fn saw(&mut self, head: FileHead, witness: &str) {
        let lengths = self.heads.entry(head.file).or_default();
        let hashes = lengths.entry(head.length).or_default();
        if hashes.iter().all(|(hash, _)| *hash != head.hash) {
            hashes.push((head.hash, witness.to_owned()));
        }
    }

    fn anchors(&mut self, read: &AnchorsRead) {
        for head in &read.heads {
            let length = self.anchored.entry(head.file.clone()).or_default();
            *length = head.length.max(*length);
            self.saw(head.clone(), "an anchor");
        }
        for head in &read.removed {
            self.purged.insert(head.file.clone(), head.clone());
        }
    }

    fn read(&mut self, runs: &[RunFile]) -> AuditResult<()> {
        let direct: HashSet<String> = self.anchored.keys().cloned().collect();
        scan(runs, &["\"runs\"", "\"removed\""], |record, at| {
            let run = at.run.name();
            let is_anchored = direct.contains(run);
            if let Some(head) = record.follows {
                self.followed.insert(head.file.clone(), run.to_owned());
                self.saw(head, run);
            }
            for head in record.runs.into_iter().flatten() {
                if is_anchored {
                    let length = self.anchored.entry(head.file.clone()).or_default();
                    *length = head.length.max(*length);
                }
                if !self.named.contains(&head.file) {
                    self.named.insert(head.file.clone());
                }
                self.saw(head, run);
            }
            for head in record.removed.into_iter().flatten() {
                self.purged.insert(head.file.clone(), head);
            }
        })?;
        Ok(())
    }
}

struct Checking<P> {
    place: AuditLayout,
    seen: RunReferences,
    named: HashSet<KeptState>,
    confirmations: Confirmations,
    checked: LogVerification,
    progress: P,
}

impl<P: FnMut(usize, usize)> Checking<P> {
    fn runs(&mut self, runs: &[RunFile]) -> AuditResult<()> {
        for (count, run) in runs.iter().enumerate() {
            (self.progress)(count, runs.len());
            let file = match run.reader(CHUNK) {
                // Purged meanwhile, or reported as missing the next time.
                Err(AuditError::Io(io::ErrorKind::NotFound)) => continue,
                file => file?,
            };
            let mut awaited = self.seen.heads.remove(run.name()).unwrap_or_default();
            let (mut length, named) = (0, &mut self.named);
            let anchored = self.seen.anchored.get(run.name()).copied();
            let anchored = anchored.unwrap_or_default();
            let (mut unproven, mut since) = (0_u64, None::<String>);
            let (mut line, mut clock) = (0_u64, ClockCheck::default());
            let mut rewritten = None;
            let mut is_misnamed = false;
            let confirmations = &mut self.confirmations;
            confirmations.begin_run();
            let chain = chain::follow(file, |link| {
                if length == 0 {
                    is_misnamed = !bears_name(&link, run.name());
                }
                length = link.end;
                line = line.saturating_add(1);
                clock.read(run.name(), line, link.time);
                if link.end > anchored {
                    unproven = unproven.saturating_add(1);
                    since.get_or_insert_with(|| link.time.to_owned());
                }
                named.extend(names(&link));
                confirmations.read(run.name(), line, &link);
                for (hash, witness) in awaited.remove(&link.end).unwrap_or_default() {
                    if hash.is_some_and(|hash| hash != link.hash) {
                        rewritten.get_or_insert((link.end, witness));
                    }
                }
            });
            // A file that was unreadable at that time was seen only with its length.
            awaited.retain(|seen, hashes| {
                *seen > length || hashes.iter().any(|(hash, _)| hash.is_some())
            });
            let name = run.name();
            let wrong = match (chain, rewritten, awaited.pop_last()) {
                (Err(broken), _, _) => {
                    let message = format!("{name}, {broken}");
                    Some(LogFinding::new("broken", name, message))
                }
                (Ok(_), _, _) if is_misnamed => {
                    let message = format!(
                        "{name} is not the file of the run in its first line: a copy, or renamed"
                    );
                    Some(LogFinding::new("misnamed", name, message))
                }
                (Ok(_), Some((at, witness)), _) => Some(LogFinding::rewritten(name, at, &witness)),
                // The remaining lengths are not at the end of a line.
                (Ok(_), None, Some((seen, hashes))) => {
                    let witness = hashes.first().map(|(_, witness)| witness);
                    witness.map(|witness| LogFinding::lost(name, length, seen, witness))
                }
                (Ok(_), None, None) => None,
            };
            self.checked.wrong.extend(wrong);
            self.checked.clock.extend(clock.back);
            self.checked.clock.truncate(MOST_CLOCKS);
            if let Some(all) = &mut self.checked.anchored {
                all.unproven = all.unproven.saturating_add(unproven);
                // An absent time is the least.
                all.since = [all.since.take(), since].into_iter().flatten().min();
            }
            self.checked.runs.push(CheckedRun {
                file: name.to_owned(),
                chain,
                is_locked: run.is_locked && run.length > 0,
                followed_by: self.seen.followed.get(name).cloned(),
            });
        }
        Ok(())
    }

    /// The runs that were seen and do not exist any more.
    fn missing(&mut self) -> AuditResult<()> {
        let left = std::mem::take(&mut self.seen.heads);
        if left.keys().any(|run| !self.seen.purged.contains_key(run)) {
            // A purge may have continued meanwhile, so runs are read again.
            self.seen.read(&runs(&self.place)?)?;
            self.seen.heads.clear();
        }
        let purged = self.seen.purged.keys();
        let last_purged = purged.filter_map(|file| number_of(file)).max();
        for (run, mut lengths) in left {
            let Some((seen, hashes)) = lengths.pop_last() else {
                continue;
            };
            let Some((hash, witness)) = hashes.into_iter().next() else {
                continue;
            };
            let wrong = match self.seen.purged.get(&run) {
                None if !self.seen.named.contains(&run)
                    && number_of(&run).is_some_and(|number| Some(number) < last_purged) =>
                {
                    self.checked.older = self.checked.older.saturating_add(1);
                    None
                }
                None => {
                    let message =
                        format!("{run} is missing: {witness} saw it, and no purge names it");
                    Some(LogFinding::new(MISSING_RUN, &run, message))
                }
                Some(head) if head.length < seen => {
                    Some(LogFinding::lost(&run, head.length, seen, &witness))
                }
                Some(head) if head.length == seen && head.hash != hash => {
                    Some(LogFinding::rewritten(&run, seen, &witness))
                }
                Some(_) => None,
            };
            self.checked.wrong.extend(wrong);
        }
        Ok(())
    }

    fn pages(&mut self, runs_done: usize) -> AuditResult<()> {
        let there = kept_states::list(&*self.place.store)?;
        let there: Vec<KeptState> = there.map(|(name, _)| name).collect();
        let whole = runs_done.saturating_add(there.len());
        for (count, state) in there.iter().enumerate() {
            (self.progress)(runs_done.saturating_add(count), whole);
            self.named.remove(state);
            match kept_states::check(&*self.place.store, *state) {
                Ok(()) => self.checked.pages = self.checked.pages.saturating_add(1),
                // Purged meanwhile.
                Err(AuditError::Missing) => {}
                Err(AuditError::Damaged) => {
                    let what = "was changed: its content does not match its name";
                    self.wrong_page("changed_page", *state, what);
                }
                Err(error) => return Err(error),
            }
        }
        // A process begins its run before it keeps a page.
        if self.checked.runs.is_empty() && !there.is_empty() && runs(&self.place)?.is_empty() {
            let pages = there.len();
            let message =
                format!("no run is there, though pages were kept ({pages}), which only runs do");
            self.wrong("no_runs", "runs", message);
        }
        let purged = |seen: &RunReferences, state: &KeptState| {
            seen.purged.contains_key(&format!("{state}.json.gz"))
        };
        self.named.retain(|state| !purged(&self.seen, state));
        if !self.named.is_empty() {
            self.seen.read(&runs(&self.place)?)?;
            self.named.retain(|state| !purged(&self.seen, state));
        }
        let mut missing: Vec<KeptState> = self.named.drain().collect();
        missing.sort_unstable();
        for state in missing {
            let what = "is missing: a record names it, and no purge does";
            self.wrong_page("missing_page", state, what);
        }
        Ok(())
    }
}

impl<P> Checking<P> {
    fn wrong(&mut self, kind: &'static str, file: &str, message: impl Into<String>) {
        let finding = LogFinding::new(kind, file, message);
        self.checked.wrong.push(finding);
    }

    fn wrong_page(&mut self, kind: &'static str, state: KeptState, what: &str) {
        let message = format!("the kept page {state} {what}");
        self.wrong(kind, &format!("{state}.json.gz"), message);
    }
}

/// True if a file is named after the run in its line. A record of a newer version is not checked.
fn bears_name(link: &ChainLink<'_>, name: &str) -> bool {
    Record::parse(link.line).map_or(true, |record| {
        let stem = name.trim_end_matches(".jsonl");
        stem.ends_with(&format!("-{}", record.run)) && number_of(name) == record.number
    })
}

/// The kept pages that a line names.
fn names(link: &ChainLink<'_>) -> impl Iterator<Item = KeptState> + use<> {
    const WORDS: [&str; 3] = ["\"before\":\"", "\"after\":\"", "\"found\":\""];
    let text = std::str::from_utf8(link.line).unwrap_or_default();
    let names_some = WORDS.iter().any(|word| text.contains(word));
    let record = names_some.then(|| Record::parse(link.line).ok()).flatten();
    record.into_iter().flat_map(|record| named_by(&record))
}
