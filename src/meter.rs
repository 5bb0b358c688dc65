//! Counters, gauges and histograms for the other rooms, written as Prometheus text.

use std::fmt::Write as _;
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

    /// Appends the lines of a histogram of this name.
    pub fn tell(&self, name: &str, text: &mut String) {
        let mut sum = 0;
        // Writing to a string cannot fail.
        for ((bound, _), bucket) in BOUNDS.iter().zip(&self.within) {
            sum += bucket.get();
            let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {sum}");
        }
        sum += self.beyond.get();
        let micros = self.micros.load(Ordering::Relaxed);
        let _ = writeln!(
            text,
            "{name}_bucket{{le=\"+Inf\"}} {sum}\n{name}_sum {}.{:06}\n{name}_count {sum}",
            micros / 1_000_000,
            micros % 1_000_000
        );
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
        let mut text = String::new();
        histogram.tell("x", &mut text);
        for line in [
            "x_bucket{le=\"0.0005\"} 0",
            "x_bucket{le=\"0.001\"} 1",
            "x_bucket{le=\"0.005\"} 2",
            "x_bucket{le=\"1\"} 3",
            "x_bucket{le=\"30\"} 3",
            "x_bucket{le=\"+Inf\"} 4",
            "x_sum 60.704000",
            "x_count 4",
        ] {
            assert!(text.lines().any(|told| told == line), "{line}:\n{text}");
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
