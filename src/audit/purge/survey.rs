//! Surveys a log: what exists, and how old it is.

use std::collections::HashMap;
use std::time::SystemTime;

use time::macros::format_description;
use time::{Duration, OffsetDateTime, PrimitiveDateTime};

use super::super::documents::proposals;
use super::super::run::reader::{RunFile, for_each_line, runs};
use super::super::{
    AuditLayout, AuditLog, AuditResult, KeptState, Record, Unreadable, kept_states,
};

/// The age by the clock at which a record proves that its time has passed.
const PROVEN: Duration = Duration::DAY;

/// The runs, kept states and proposals that exist.
#[derive(Debug)]
pub(super) struct LogInventory {
    pub(super) now: OffsetDateTime,
    /// The time that has surely passed: that of the newest proven record.
    pub(super) today: Option<OffsetDateTime>,
    pub(super) runs: Vec<Aged>,
    pub(super) pages: HashMap<KeptState, KeptStateInfo>,
    /// The run that recorded the making of each proposal, and when.
    pub(super) makers: HashMap<String, (String, OffsetDateTime)>,
}

/// A run, and its age.
#[derive(Debug)]
pub(super) struct Aged {
    pub(super) run: RunFile,
    pub(super) age: OffsetDateTime,
    /// True if a newer program wrote in it.
    is_newer: bool,
}

/// A kept state.
#[derive(Debug)]
pub(super) struct KeptStateInfo {
    pub(super) length: u64,
    pub(super) modified: SystemTime,
    /// Time of the newest record that names it.
    pub(super) named: Option<OffsetDateTime>,
}

impl Aged {
    pub(super) const fn can_go(&self) -> bool {
        !self.run.is_locked && !self.is_newer
    }
}

impl LogInventory {
    /// Reads all runs; stops early when the log ends.
    pub(super) fn make(log: &AuditLog, now: OffsetDateTime) -> AuditResult<Self> {
        let place = log.place.clone();
        let mut survey = Self {
            now,
            today: None,
            runs: Vec::new(),
            pages: pages(&place)?,
            makers: HashMap::new(),
        };
        for run in runs(&place)? {
            // A purge must not delay the end of the server.
            log.check()?;
            survey.look_at(run)?;
        }
        Ok(survey)
    }

    /// The time before which records are too old; `None` if no record proves the date.
    pub(super) fn oldest(&self, days: u32) -> Option<OffsetDateTime> {
        self.today?.checked_sub(Duration::days(i64::from(days)))
    }

    /// Reads a run for its age, the states that it names and the proposals whose making it records.
    ///
    /// No record counts as older than one above it, nor than the start of an earlier run: an
    /// earlier time means that the clock was set back.
    fn look_at(&mut self, run: RunFile) -> AuditResult<()> {
        let modified = OffsetDateTime::from(run.modified);
        let proven = self.now.checked_sub(PROVEN);
        let mut latest: Option<OffsetDateTime> = None;
        let mut is_newer = false;
        for_each_line(&run, |_, line| match line.and_then(Record::parse) {
            Ok(record) => {
                let time = record.instant();
                if time <= proven {
                    self.today = self.today.max(time);
                }
                let before = record.runs.iter().flatten();
                let before = before.filter_map(|head| begin_of(&head.file));
                latest = latest
                    .max(time)
                    .max(before.filter(|begin| *begin <= self.now).max());
                let time = latest.unwrap_or(modified);
                for state in named_by(&record) {
                    name(&mut self.pages, state, time);
                }
                if proposals::is_making(&record) {
                    let made = record
                        .proposal
                        .map(|id| (id, (run.name().to_owned(), time)));
                    self.makers.extend(made);
                }
            }
            Err(why) => {
                is_newer |= matches!(why, Unreadable::Newer(_));
                for state in any_names(line.unwrap_or_default()) {
                    name(&mut self.pages, state, modified);
                }
            }
        })?;
        self.runs.push(Aged {
            run,
            age: latest.unwrap_or(modified),
            is_newer,
        });
        Ok(())
    }
}

/// Time at which a run began, by its file's name.
fn begin_of(file: &str) -> Option<OffsetDateTime> {
    let form = format_description!("[year][month][day]T[hour][minute][second]Z");
    let (begin, _) = file.split_once('-')?;
    PrimitiveDateTime::parse(begin, form)
        .ok()
        .map(PrimitiveDateTime::assume_utc)
}

/// The kept states on the disk.
fn pages(place: &AuditLayout) -> AuditResult<HashMap<KeptState, KeptStateInfo>> {
    let listed = kept_states::list(&*place.store)?;
    Ok(listed
        .map(|(name, listed)| {
            let info = KeptStateInfo {
                length: listed.length,
                modified: listed.changed,
                named: None,
            };
            (name, info)
        })
        .collect())
}

fn name(pages: &mut HashMap<KeptState, KeptStateInfo>, state: KeptState, time: OffsetDateTime) {
    if let Some(page) = pages.get_mut(&state) {
        page.named = page.named.max(Some(time));
    }
}

pub(in crate::audit) fn named_by(record: &Record) -> impl Iterator<Item = KeptState> + use<> {
    [record.before, record.after, record.found]
        .into_iter()
        .flatten()
}

/// Everything that may be the name of a state in a line that cannot be parsed.
fn any_names(line: &[u8]) -> impl Iterator<Item = KeptState> {
    line.split(|byte| !byte.is_ascii_hexdigit())
        .filter_map(KeptState::of_text)
}
