//! Medians, percentiles, and numbers in the units of the figures.

use std::time::Duration;

/// The value in the middle.
pub(crate) fn median(values: Vec<f64>) -> f64 {
    percentile(values, 50)
}

/// A time in milliseconds.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Bytes in megabytes.
pub(crate) fn megabytes(bytes: u64) -> f64 {
    whole(bytes) / 1e6
}

/// A count as a number to reckon with.
pub(crate) fn whole(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// The value that so many of a hundred do not exceed.
pub(crate) fn percentile(mut values: Vec<f64>, percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() * percent).div_ceil(100).max(1) - 1;
    *values.get(rank).expect("something was measured")
}
