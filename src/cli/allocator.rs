//! The allocator of glibc, so that a server gives memory back: it begins once more, with two
//! settings that only the environment of a beginning program can carry.
//!
//! By itself, glibc holds what large texts took: once one was freed, equally large ones come from a
//! heap of each thread, which keeps its holes. 48 looks at a large set, of which 13 MB are in use at
//! once, left 100 MB resident that way.

use std::os::unix::process::CommandExt as _;

use crate::config::was_given;

/// Setting: from this size on, in bytes, freed memory goes back to the system at once.
const LARGE: &str = "MALLOC_MMAP_THRESHOLD_";
/// Setting: the number of heaps that all threads share.
const HEAPS: &str = "MALLOC_ARENA_MAX";
/// Settings by which the user chose otherwise; with one of them set, the allocator is left alone.
const OTHERS: [&str; 2] = ["GLIBC_TUNABLES", "MALLOC_TRIM_THRESHOLD_"];
/// Says that it began once more. The system takes the settings from a program with rights of its
/// own, which must not begin for ever.
const BEGAN: &str = "MCP_BEGAN_ONCE_MORE";

/// Begins once more with the settings and one heap for each of the `threads` that do the work, as the same
/// process; where that does not work, the program goes on without them.
pub(super) fn give_back_soon(threads: usize) {
    let mut known = [LARGE, HEAPS, BEGAN].into_iter().chain(OTHERS);
    if known.any(was_given) {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let mut given = std::env::args_os();
    let mut again = std::process::Command::new(program);
    if let Some(name) = given.next() {
        again.arg0(name);
    }
    // It returns only if it failed.
    let _ = again
        .args(given)
        .env(LARGE, "65536")
        .env(HEAPS, threads.to_string())
        .env(BEGAN, "1")
        .exec();
}
