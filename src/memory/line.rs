//! Memories as lines of JSON: as they lie on the disk, and as they are exported.

use serde::{Deserialize, Serialize};

use super::{Memory, MemoryOwner, check_content};

/// The version of a line.
const VERSION: u32 = 1;

/// A memory with its owner, as a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemoryLine {
    v: u32,
    /// The wiki that it is of.
    pub(super) wiki: String,
    /// Its owner.
    pub client: MemoryOwner,
    /// The memory.
    pub memory: Memory,
}

impl MemoryLine {
    /// A memory of a wiki.
    pub fn of(wiki: &str, client: MemoryOwner, memory: Memory) -> Self {
        Self {
            v: VERSION,
            wiki: wiki.to_owned(),
            client,
            memory,
        }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// Its fault, as the end of a sentence. It repeats nothing of the line.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let line: Self = serde_json::from_str(text).map_err(|error| {
            let at = error.column();
            format!("is no memory as `memory export` writes it (column {at})")
        })?;
        if line.v != VERSION {
            return Err(format!("is of version {}, which is not known", line.v));
        }
        let MemoryOwner { key, name } = &line.client;
        if !MemoryOwner::is_fit(key) || !MemoryOwner::is_fit(name) {
            return Err("has a client that is empty, too long or not plain".to_owned());
        }
        check_content(&line.memory.content).map_err(|why| format!("has a content that {why}"))?;
        if !(1..=10).contains(&line.memory.importance) {
            return Err("has an importance that is not 1 to 10".to_owned());
        }
        Ok(line)
    }
}
