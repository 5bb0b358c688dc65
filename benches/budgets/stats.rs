//! Medians, and numbers in the units of the figures.

use std::time::Duration;

/// The value in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    *values
        .get(values.len() / 2)
        .expect("something was measured")
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
