//! The program's own sources, for tests that walk all of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The text of each source by its path below the root, such as `src/page/mod.rs`.
pub(crate) fn sources() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeMap::new();
    let mut dirs: Vec<PathBuf> = vec![root.join("src")];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.insert(name.to_owned(), fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}
