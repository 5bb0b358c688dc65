//! Finds places where a clock went back: the order of records is proven, their times are not.

use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use super::numbers::number_of;
use super::reader::RunFile;

/// Two times of a clock that are nearer are not worth a word.
const SLACK: Duration = Duration::seconds(2);
/// The most places that are told where the clock went back.
pub(in crate::audit) const MOST_CLOCKS: usize = 1_000;

/// A place where the clock had gone back: times below are no proof of anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockBack {
    /// The run's file.
    pub run: String,
    /// The line whose time is earlier than what was there before.
    pub line: u64,
    /// Its time.
    pub time: String,
    /// The time before.
    pub before: String,
}

/// The times of a run's records.
#[derive(Debug, Default)]
pub(in crate::audit) struct ClockCheck {
    last: Option<String>,
    pub(in crate::audit) back: Vec<ClockBack>,
}

impl ClockCheck {
    pub(in crate::audit) fn read(&mut self, run: &str, line: u64, time: &str) {
        // All times have one form, in which they sort as texts.
        if let Some(last) = self.last.as_deref().filter(|last| time < *last)
            && is_back(last, time)
            && self.back.len() < MOST_CLOCKS
        {
            self.back.push(ClockBack {
                run: run.to_owned(),
                line,
                time: time.to_owned(),
                before: last.to_owned(),
            });
        }
        self.last = Some(time.to_owned());
    }
}

/// Finds runs that follow each other by their numbers, but not by their times.
pub(in crate::audit) fn between(runs: &[RunFile]) -> Vec<ClockBack> {
    let numbered = runs.iter().filter_map(|run| {
        let begin = run.name().split_once('-')?.0;
        Some((number_of(run.name())?, run.name(), begin))
    });
    let mut numbered: Vec<_> = numbered.collect();
    numbered.sort_unstable();
    let pairs = numbered.iter().zip(numbered.iter().skip(1));
    let back = pairs.filter(|((.., before), (.., time))| time < before);
    back.take(MOST_CLOCKS)
        .map(|((.., before), (_, run, time))| ClockBack {
            run: (*run).to_owned(),
            line: 1,
            time: (*time).to_owned(),
            before: (*before).to_owned(),
        })
        .collect()
}

fn is_back(before: &str, time: &str) -> bool {
    let read = |time| OffsetDateTime::parse(time, &Rfc3339).ok();
    let times = read(before).zip(read(time));
    times.is_some_and(|(before, time)| before - time > SLACK)
}
