//! The size of the release binary, which the profile strips.

use std::fs;

use crate::figure::{Figure, Unit};
use crate::process::BINARY;
use crate::stats::megabytes;

pub(crate) fn measure() -> Vec<Figure> {
    let binary = fs::metadata(BINARY).expect("the binary is there");
    vec![Figure::at_most(
        "release binary, stripped",
        Unit::Megabytes,
        megabytes(binary.len()),
        26.0,
    )]
}
