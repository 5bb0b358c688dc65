//! The program's own sources, for tests that walk all of them.

use crate::prelude::*;

/// The text of each source by its path below the root, such as `src/page/mod.rs`.
pub(crate) fn sources() -> BTreeMap<String, String> {
    let files = files_ending(&root().join("src"), "rs");
    let named = files.iter().map(|path| {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
        (name.to_owned(), fs::read_to_string(path).unwrap())
    });
    named.collect()
}
