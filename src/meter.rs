//! Counters, gauges and histograms for the other rooms, written as Prometheus text.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts one more.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The present count.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that rises and falls.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// Counts one more until the returned value is dropped.
    #[must_use]
    pub fn enter(&self) -> Entered<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Entered(self)
    }

    /// The present number.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One item that a [`Gauge`] counts, until it is dropped.
#[derive(Debug)]
pub struct Entered<'a>(&'a Gauge);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The upper bounds of the buckets: as they are shown, in seconds, and in microseconds.
const BOUNDS: [(&str, u64); 14] = [
    ("0.0005", 500),
    ("0.001", 1_000),
    ("0.0025", 2_500),
    ("0.005", 5_000),
    ("0.01", 10_000),
    ("0.025", 25_000),
    ("0.05", 50_000),
    ("0.1", 100_000),
    ("0.25", 250_000),
    ("0.5", 500_000),
    ("1", 1_000_000),
    ("2.5", 2_500_000),
    ("5", 5_000_000),
    ("30", 30_000_000),
];

/// Durations, counted in buckets.
#[derive(Debug, Default)]
pub struct Histogram {
    /// The count for each bound, without the counts of lower bounds.
    within: [Counter; BOUNDS.len()],
    beyond: Counter,
    micros: AtomicU64,
}

impl Histogram {
    /// Counts one duration.
    pub fn took(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let buckets = BOUNDS.iter().zip(&self.within);
        buckets
            .filter(|((_, bound), _)| micros <= *bound)
            .map(|(_, bucket)| bucket)
            .next()
            .unwrap_or(&self.beyond)
            .add();
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// The lines that tell it: what ends its name, the label, and the number.
    pub fn lines(&self) -> Vec<(&'static str, String, String)> {
        let mut sum = 0;
        let within = BOUNDS.iter().zip(&self.within);
        let within = within.map(|((bound, _), bucket)| (*bound, bucket));
        let buckets = within.chain([("+Inf", &self.beyond)]);
        let buckets = buckets.map(|(bound, bucket)| {
            sum += bucket.get();
            ("_bucket", format!("le=\"{bound}\""), sum.to_string())
        });
        let mut lines: Vec<_> = buckets.collect();
        let micros = self.micros.load(Ordering::Relaxed);
        let seconds = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
        lines.push(("_sum", String::new(), seconds));
        lines.push(("_count", String::new(), sum.to_string()));
        lines
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Gauge, Histogram};

    #[test]
    fn buckets_hold_all_below_them_and_the_sum_is_exact() {
        let histogram = Histogram::default();
        for millis in [1, 3, 700, 60_000] {
            histogram.took(Duration::from_millis(millis));
        }
        let lines = histogram.lines();
        let lines: Vec<_> = { lines.iter() }
            .map(|(end, label, number)| format!("{end} {label} {number}"))
            .collect();
        for line in [
            "_bucket le=\"0.0005\" 0",
            "_bucket le=\"0.001\" 1",
            "_bucket le=\"0.005\" 2",
            "_bucket le=\"1\" 3",
            "_bucket le=\"30\" 3",
            "_bucket le=\"+Inf\" 4",
            "_sum  60.704000",
            "_count  4",
        ] {
            assert!(lines.iter().any(|told| told == line), "{line}:\n{lines:?}");
        }
    }

    #[test]
    fn a_gauge_goes_down_again() {
        let gauge = Gauge::default();
        let entered = gauge.enter();
        assert_eq!(gauge.get(), 1);
        drop(entered);
        assert_eq!(gauge.get(), 0);
    }
}
