//! Takes over memories of another machine: by id, the newest wins.

use serde::Serialize;

use super::entry::Memory;
use super::error::MemoryError;
use super::line::MemoryLine;
use super::owner::MemoryOwner;
use super::store::Memories;
use crate::page::secrets;

/// Memories to take over, each with its owner.
#[derive(Debug, Clone, Default)]
pub struct MemoryImport {
    all: Vec<(MemoryOwner, Memory)>,
    /// The number of those about pages of another wiki, which are left out.
    pub of_other_wiki: usize,
}

/// The result of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Memories that were not there.
    pub added: usize,
    /// Memories that were there in an older state.
    pub updated: usize,
    /// Memories that were there in this state or a newer one.
    pub kept: usize,
}

impl MemoryImport {
    /// Reads lines; blank ones count for nothing. With `into`, all become this owner's.
    ///
    /// # Errors
    /// [`MemoryError::BadLine`], the first one.
    pub fn read(text: &str, wiki: &str, into: Option<&MemoryOwner>) -> Result<Self, MemoryError> {
        let mut import = Self::default();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let line = match MemoryLine::read(line) {
                Ok(line) if secrets(&line.memory.content, &[]).is_empty() => Ok(line),
                Ok(_) => Err("has a secret in it (secret_added)".to_owned()),
                Err(why) => Err(why),
            };
            let line = line.map_err(|why| MemoryError::BadLine {
                line: number.saturating_add(1),
                why,
            })?;
            // Ids of pages mean nothing in another wiki.
            if line.wiki != wiki && line.memory.page.is_some() {
                import.of_other_wiki = import.of_other_wiki.saturating_add(1);
                continue;
            }
            let owner = into.cloned().unwrap_or(line.client);
            import.all.push((owner, line.memory));
        }
        Ok(import)
    }

    /// Takes over what is newer than what is there, by id.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn apply(self, memories: &mut Memories) -> Result<Imported, MemoryError> {
        let mut done = Imported::default();
        for (owner, memory) in self.all {
            let all = memories.of(&owner)?;
            let count = match all.iter_mut().find(|there| there.id == memory.id) {
                Some(there) if there.changed >= memory.changed => &mut done.kept,
                Some(there) => {
                    *there = memory;
                    &mut done.updated
                }
                None => {
                    all.push(memory);
                    &mut done.added
                }
            };
            *count = count.saturating_add(1);
        }
        Ok(done)
    }
}
