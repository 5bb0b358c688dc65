//! Models the settings of the index: its place, its size and its pace.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::{EmbeddingsEndpoint, IndexLoad};
use crate::wiki::{ApiKey, WikiSettings};

/// The most pages of an index.
pub const MOST_PAGES: usize = 100_000;
/// The most bytes of all callers' indexes together. Their lists of pages, and pages that are read
/// but not yet stored, take as much again.
pub const CALLERS_BYTES: u64 = 32 * 1024 * 1024;

/// The ending of the name of an index on the disk.
pub(super) const ENDING: &str = ".db";
/// The digits of the digest in it, in hexadecimal.
pub(super) const DIGEST_CHARS: usize = 32;

/// The place of the index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IndexMode {
    /// As long as the server runs: in a file without a name, which keeps the server's own memory
    /// small.
    #[default]
    Memory,
    /// In a file that the next start uses again.
    Disk,
    /// Nowhere: there is no index.
    Off,
}

/// The load that the index puts on the wiki, and the time that searches wait.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// The share of its time that the wiki is kept busy.
    pub load: IndexLoad,
    /// The most concurrent requests if each reads one page and no call waits.
    pub at_once: usize,
    /// The longest time that a search waits for the pages it needs, and the first search for the
    /// whole index.
    pub patience: Duration,
    /// The greatest age of the index's view of the wiki in a search.
    pub fresh: Duration,
}

impl Pace {
    /// The usual pace, with this load.
    pub const fn new(load: IndexLoad) -> Self {
        Self {
            load,
            at_once: 4,
            patience: Duration::from_secs(10),
            fresh: Duration::from_secs(10),
        }
    }
}

/// The settings of the index.
#[derive(Debug, Clone)]
pub struct IndexSettings {
    /// The place.
    pub mode: IndexMode,
    /// The directory of indexes on the disk, if one is known.
    pub dir: Option<PathBuf>,
    /// The most pages; the last changed ones are indexed.
    pub most: usize,
    /// The most bytes of all callers' indexes together.
    pub callers_bytes: u64,
    /// The pace.
    pub pace: Pace,
    /// The endpoint that makes vectors of sections, if one is set.
    pub embeddings: Option<Arc<EmbeddingsEndpoint>>,
}

impl IndexSettings {
    /// The file for the index of a wiki and key; it may not exist. Its name holds a digest of both,
    /// so that it does not reveal the key and no key reads another's index.
    pub fn file(&self, wiki: &WikiSettings, key: &ApiKey) -> Option<PathBuf> {
        let dir = self.dir.as_deref()?;
        let mut digest = Sha256::new();
        digest.update(key.digest());
        digest.update(&wiki.name);
        // A narrower grant has its own index; without bounds nothing is added.
        digest.update(wiki.reads.fingerprint());
        let digest = digest.finalize();
        let name = digest
            .first_chunk()
            .map_or(0, |half| u128::from_be_bytes(*half));
        let host = wiki.base_url.host_str().unwrap_or_default();
        let port = wiki.base_url.port();
        let port = port.map_or_else(String::new, |port| format!("+{port}"));
        let host: String = host
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
            .take(64)
            .collect();
        Some(dir.join(format!("{host}{port}~{name:0DIGEST_CHARS$x}{ENDING}")))
    }
}
