//! Measures what is shipped and read as a whole: the binaries of both builds, the README, the code.

use std::fs;
use std::path::Path;

use crate::code_lines::code_lines;
use crate::figure::{Figure, Unit};
use crate::process::BINARY;
use crate::stats::{megabytes, whole};

/// Measures the packaged build and, where it is given, the README's.
pub(crate) fn measure(readme: Option<&Path>) -> Vec<Figure> {
    const ROOT: &str = env!("CARGO_MANIFEST_DIR");
    let binary = |what, path: &Path, most| {
        Figure::at_most(what, Unit::Megabytes, megabytes(bytes(path)), most)
    };
    let mut figures = vec![binary("release binary, stripped", Path::new(BINARY), 30.0)];
    if let Some(readme) = readme {
        figures.push(binary(
            "README's build: release binary, stripped",
            readme,
            44.0,
        ));
    }
    let page = bytes(&Path::new(ROOT).join("README.md"));
    let lines = code_lines(&Path::new(ROOT).join("src"));
    figures.extend([
        Figure::at_most("README.md", Unit::Bytes, whole(page), 8_000.0),
        Figure::at_most("code lines of src", Unit::Pieces, whole(lines), 82_000.0),
    ]);
    figures
}

fn bytes(path: &Path) -> u64 {
    fs::metadata(path).expect("the file is there").len()
}
