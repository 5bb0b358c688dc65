//! Writes and refusals over time, in steps that suit the span: hours, days, weeks, months or years.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use maud::{Markup, html};
use time::{Date, Month, OffsetDateTime, UtcOffset};

use super::super::markup::counted;
use crate::audit::{CallHistory, CallOutcome};
use crate::words::words;

/// The most hours that are told apart; of more only the days are.
const MOST_HOURS: usize = 4_096;
/// The most bars of a chart.
const MOST_BARS: usize = 62;
/// The size of the drawing.
const WIDTH: usize = 960;
const HEIGHT: usize = 132;
/// The height of the bars.
const ROOM: usize = 100;
/// Seconds of an hour and of a day.
const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

/// Writes and refusals.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct BarCounts {
    writes: usize,
    refusals: usize,
}

/// Calls, counted by the hour or, over a long time, by the day.
#[derive(Debug, Default)]
pub(super) struct Chart {
    /// By the second at which the hour or day begins.
    counts: BTreeMap<i64, BarCounts>,
    is_by_day: bool,
}

words! {
    /// The time span of a bar.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum ChartInterval: as_str {
        Hour = "hour",
        Day = "day",
        Week = "week",
        Month = "month",
        Year = "year",
    }
}

/// One bar.
#[derive(Debug, PartialEq, Eq)]
struct Bar {
    name: String,
    counts: BarCounts,
}

impl AddAssign for BarCounts {
    fn add_assign(&mut self, more: Self) {
        self.writes = self.writes.saturating_add(more.writes);
        self.refusals = self.refusals.saturating_add(more.refusals);
    }
}

impl Chart {
    /// Counts a call in.
    pub(super) fn count(&mut self, call: &CallHistory) {
        let is_set = call.is_set() && call.outcome.is_some();
        let ending = call.ending;
        let writes = usize::from(ending.is_write() && !is_set);
        let refusals = usize::from(ending == CallOutcome::Refused);
        if let Some(began) = call.began {
            self.add(began.unix_timestamp(), BarCounts { writes, refusals });
        }
    }

    fn add(&mut self, second: i64, more: BarCounts) {
        let step = if self.is_by_day { DAY } else { HOUR };
        let begin = second.div_euclid(step) * step;
        *self.counts.entry(begin).or_default() += more;
        if !self.is_by_day && self.counts.len() > MOST_HOURS {
            self.is_by_day = true;
            for (second, counts) in std::mem::take(&mut self.counts) {
                self.add(second, counts);
            }
        }
    }

    fn step(&self) -> Option<ChartInterval> {
        let (first, _) = self.counts.first_key_value()?;
        let (last, _) = self.counts.last_key_value()?;
        let days = (last - first) / DAY;
        Some(match days {
            0..2 if !self.is_by_day => ChartInterval::Hour,
            0..62 => ChartInterval::Day,
            62..366 => ChartInterval::Week,
            366..1_830 => ChartInterval::Month,
            _ => ChartInterval::Year,
        })
    }

    /// The bars from the first to the last, those of which nothing is known included.
    fn bars(&self) -> Vec<Bar> {
        let (Some(step), Some((last, _))) = (self.step(), self.counts.last_key_value()) else {
            return Vec::new();
        };
        let mut told: BTreeMap<i64, BarCounts> = BTreeMap::new();
        for (second, counts) in &self.counts {
            let Some(begin) = begin(*second, step) else {
                continue;
            };
            *told.entry(begin).or_default() += *counts;
        }
        let mut bars = Vec::new();
        let mut at = told.first_key_value().map(|(first, _)| *first);
        while let Some(second) = at.filter(|second| second <= last && bars.len() < MOST_BARS) {
            bars.push(Bar {
                name: name(second, step),
                counts: told.get(&second).copied().unwrap_or_default(),
            });
            at = next(second, step);
        }
        bars
    }

    /// The drawing, which needs no script and no colour to be read.
    pub(super) fn drawing(&self) -> Markup {
        let Some(step) = self.step().map(ChartInterval::as_str) else {
            return html! {};
        };
        let bars = self.bars();
        let most = bars
            .iter()
            .map(|bar| bar.counts.writes + bar.counts.refusals);
        let most = most.max().unwrap_or(0).max(1);
        let slot = WIDTH / bars.len().max(8);
        let width = (slot * 7 / 10).clamp(3, 40);
        let every = bars.len().div_ceil(8).max(1);
        html! {
            figure.chart {
                figcaption {
                    "Writes and refusals by " (step)
                    span.key.write { "writes" } span.key.refused { "refusals" }
                    span.quiet { "at most " (most) }
                }
                svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img"
                    aria-label=(format!("Writes and refusals by {step}")) {
                    line.ground x1="0" x2=(WIDTH) y1=(ROOM) y2=(ROOM) {}
                    @for (at, bar) in bars.iter().enumerate() {
                        @let BarCounts { writes, refusals } = bar.counts;
                        @let (low, high) = (height(writes, most), height(refusals, most));
                        g {
                            title {
                                (bar.name) ": " (counted(writes, "write", "writes")) ", "
                                (counted(refusals, "refusal", "refusals"))
                            }
                            rect.hit x=(at * slot) y="0" width=(slot) height=(ROOM) {}
                            @if low > 0 {
                                rect.write x=(at * slot + (slot - width) / 2) width=(width)
                                    y=(ROOM - low) height=(low) {}
                            }
                            @if high > 0 {
                                rect.refused x=(at * slot + (slot - width) / 2) width=(width)
                                    y=(ROOM.saturating_sub(low + high)) height=(high) {}
                            }
                        }
                        @if at % every == 0 {
                            text.odd[at / every % 2 == 1] x=(at * slot) y=(ROOM + 8) { (bar.name) }
                        }
                    }
                }
            }
        }
    }
}

/// The height of a bar: 0 without calls, else enough to be seen.
fn height(count: usize, most: usize) -> usize {
    if count == 0 {
        0
    } else {
        (count.saturating_mul(ROOM - 4) / most).max(2)
    }
}

fn at(second: i64) -> Option<OffsetDateTime> {
    let time = OffsetDateTime::from_unix_timestamp(second).ok()?;
    Some(time.to_offset(UtcOffset::UTC))
}

/// The second at which the bar of a time begins.
fn begin(second: i64, step: ChartInterval) -> Option<i64> {
    let date = at(second)?.date();
    let of = |date: Date| date.midnight().assume_utc().unix_timestamp();
    Some(match step {
        ChartInterval::Hour => second.div_euclid(HOUR) * HOUR,
        ChartInterval::Day => of(date),
        ChartInterval::Week => {
            let back = i64::from(date.weekday().number_days_from_monday());
            of(date) - back * DAY
        }
        ChartInterval::Month => of(date.replace_day(1).ok()?),
        ChartInterval::Year => of(Date::from_calendar_date(date.year(), Month::January, 1).ok()?),
    })
}

/// The second at which the next bar begins.
fn next(second: i64, step: ChartInterval) -> Option<i64> {
    match step {
        ChartInterval::Hour => second.checked_add(HOUR),
        ChartInterval::Day => second.checked_add(DAY),
        ChartInterval::Week => second.checked_add(7 * DAY),
        // Into the next one, then back to where that begins.
        ChartInterval::Month => begin(second.checked_add(31 * DAY)?, step),
        ChartInterval::Year => begin(second.checked_add(366 * DAY)?, step),
    }
}

fn name(second: i64, step: ChartInterval) -> String {
    let Some(time) = at(second) else {
        return String::new();
    };
    let (date, hour) = (time.date(), time.hour());
    match step {
        ChartInterval::Hour => format!(
            "{:02}-{:02} {hour:02}:00",
            u8::from(date.month()),
            date.day()
        ),
        ChartInterval::Day | ChartInterval::Week => date.to_string(),
        ChartInterval::Month => format!("{}-{:02}", date.year(), u8::from(date.month())),
        ChartInterval::Year => date.year().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::{BarCounts, Chart, ChartInterval, DAY, HOUR, MOST_BARS};

    fn chart(hours: impl Iterator<Item = i64>) -> Chart {
        let mut chart = Chart::default();
        let begin = datetime!(2030-01-31 22:30 UTC).unix_timestamp();
        let one = BarCounts {
            writes: 1,
            refusals: 0,
        };
        hours.for_each(|hour| chart.add(begin + hour * HOUR, one));
        chart
    }

    #[test]
    fn the_steps_suit_the_span() {
        for (last, step, first) in [
            (5, ChartInterval::Hour, "01-31 22:00"),
            (24 * 20, ChartInterval::Day, "2030-01-31"),
            (24 * 200, ChartInterval::Week, "2030-01-28"),
            (24 * 500, ChartInterval::Month, "2030-01"),
            (24 * 4_000, ChartInterval::Year, "2030"),
        ] {
            let chart = chart([0, 1, last].into_iter());
            assert_eq!(chart.step(), Some(step));
            let bars = chart.bars();
            assert_eq!(bars[0].name, first);
            assert!(bars.len() <= MOST_BARS, "{}", bars.len());
            let writes: usize = bars.iter().map(|bar| bar.counts.writes).sum();
            assert_eq!(writes, 3, "{step:?}");
        }
        assert_eq!(Chart::default().bars(), []);
        assert_eq!(Chart::default().drawing().into_string(), "");
    }

    #[test]
    fn many_hours_are_counted_by_the_day_and_none_is_lost() {
        let chart = chart(0..10_000);
        assert!(chart.is_by_day);
        assert!(chart.counts.keys().all(|second| second % DAY == 0));
        let writes: usize = chart.bars().iter().map(|bar| bar.counts.writes).sum();
        assert_eq!(writes, 10_000);
    }
}
