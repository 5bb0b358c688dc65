//! Names the place of a wiki's records.

use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::super::{AuditResult, blocking};
use crate::hex;
use crate::store::{MIRROR, Store, StoreHome, StoreResult};

/// The longest name of a wiki that becomes a directory's name as it is.
const MAX_PLAIN: usize = 64;
/// The most characters of any other name that appear in the directory's name.
const MAX_SHOWN: usize = 32;

/// The place of one wiki's records.
#[derive(Debug, Clone)]
pub(in crate::audit) struct AuditLayout {
    pub(in crate::audit) home: StoreHome,
    /// The name of its directory, which its store has as well.
    directory: String,
    /// All that is kept of this wiki, but for the index.
    pub(in crate::audit) store: Arc<dyn Store>,
}

impl AuditLayout {
    /// Touches nothing on the disk.
    pub(in crate::audit) fn new(home: StoreHome, wiki_name: &str) -> Self {
        Self::at(home, directory_name(wiki_name))
    }

    fn at(home: StoreHome, directory: String) -> Self {
        Self {
            store: home.wiki(&directory),
            home,
            directory,
        }
    }

    /// Runs disk work here on a blocking thread; it continues if the caller is gone.
    pub(in crate::audit) async fn on<T, W>(&self, work: W) -> AuditResult<T>
    where
        T: Send + 'static,
        W: FnOnce(&Self) -> AuditResult<T> + Send + 'static,
    {
        let place = self.clone();
        blocking(move || work(&place)).await
    }

    /// The same of another wiki, by the name of its directory.
    pub(in crate::audit) fn beside(&self, directory: &str) -> Self {
        Self::at(self.home.clone(), directory.to_owned())
    }

    /// The store of this wiki's mirror.
    pub(in crate::audit) fn mirror(&self) -> Arc<dyn Store> {
        self.home.wiki(&format!("{}/{MIRROR}", self.directory))
    }

    /// The names of the directories of other wikis with runs, in order.
    pub(in crate::audit) fn others(&self) -> StoreResult<Vec<String>> {
        let mut names = self.home.wikis()?;
        names.retain(|name| *name != self.directory);
        Ok(names)
    }

    /// The name of the directory of this wiki's files.
    pub(in crate::audit) fn name(&self) -> &str {
        &self.directory
    }

    /// The directory of this wiki's files.
    pub(in crate::audit) fn directory(&self) -> PathBuf {
        self.home.directory().join(&self.directory)
    }

    /// Says where lines are; made anew from the runs. It is a file, wherever they are.
    pub(in crate::audit) fn line_index(&self) -> PathBuf {
        self.directory().join("index.sqlite")
    }
}

/// The name of a wiki's directory.
///
/// A name of at most 64 lower-case letters, digits, `-`, `_` and `.`, not beginning with `.`, is
/// taken as it is. Any other becomes the valid ones of its first 32 characters, then `~` and half
/// of its SHA-256. `~` is in no plain name, so two wikis never share a directory, not even on a
/// file system without letter case.
fn directory_name(wiki_name: &str) -> String {
    let is_fit = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_' | '.');
    let is_plain = !wiki_name.is_empty()
        && wiki_name.len() <= MAX_PLAIN
        && !wiki_name.starts_with('.')
        && wiki_name.chars().all(is_fit);
    if is_plain {
        return wiki_name.to_owned();
    }
    let shown: String = wiki_name
        .chars()
        .take(MAX_SHOWN)
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if is_fit(c) && c != '.' { c } else { '_' })
        .collect();
    let digest = Sha256::digest(wiki_name.as_bytes());
    let half: Vec<u8> = digest.iter().copied().take(16).collect();
    format!("{shown}~{}", hex::encode(&half))
}

#[cfg(test)]
mod tests {
    use super::directory_name;
    use std::collections::HashSet;
    use std::path::{Component, Path};

    #[test]
    fn a_plain_name_is_the_directorys_name() {
        for name in ["wiki", "wiki.example.org", "docs_2-de", "a"] {
            assert_eq!(directory_name(name), name);
        }
    }

    #[test]
    fn any_other_name_stays_one_segment_and_its_own() {
        let long = "x".repeat(300);
        let names = [
            "", ".", "..", ".hidden", "Wiki", "wIKI", "a/b", "a_b", "a\\b", "../..", "wiki\0",
            "日本", "wiki ", " wiki", "a~b", "CON", &long,
        ];
        let made: HashSet<String> = names.iter().map(|name| directory_name(name)).collect();
        assert_eq!(made.len(), names.len());
        for name in &made {
            let segments: Vec<_> = Path::new(name).components().collect();
            assert!(
                matches!(segments.as_slice(), [Component::Normal(_)]),
                "{name}"
            );
            assert!(name.len() <= 80, "{name}");
            assert_eq!(name, &name.to_lowercase());
        }
    }

    #[test]
    fn the_form_of_an_unfit_name_is_fixed() {
        assert_eq!(
            directory_name("My Wiki"),
            "my_wiki~b47eb8fb11946cd68996506af88c0b37"
        );
    }
}
