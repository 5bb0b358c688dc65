//! Writes the man pages of every command into a directory, for packages:
//! `cargo run --example man_pages -- DIR`.

use std::env::args_os;
use std::path::PathBuf;
use std::{fs, io};

fn main() -> io::Result<()> {
    let missing = || io::Error::new(io::ErrorKind::InvalidInput, "name a directory");
    let dir = args_os().nth(1).map(PathBuf::from).ok_or_else(missing)?;
    fs::create_dir_all(&dir)?;
    clap_mangen::generate_to(wikijs_gate::cli::definition(), dir)
}
