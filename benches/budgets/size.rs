//! The size of the release binary, which the profile strips.

use std::fs;

use crate::figure::{Budget, Figure, Unit};
use crate::process::BINARY;
use crate::stats::megabytes;

pub(crate) fn measure() -> Vec<Figure> {
    let binary = fs::metadata(BINARY).expect("the binary is there");
    vec![Figure {
        what: "release binary, stripped",
        unit: Unit::Megabytes,
        measured: megabytes(binary.len()),
        budget: Budget::AtMost(24.0),
        wiki: None,
    }]
}
