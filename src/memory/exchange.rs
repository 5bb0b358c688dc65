//! Takes over memories of another machine: by id, the newest wins.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::store::{KEPT_DAYS, MOST, Memories};
use super::{Memory, MemoryError, MemoryLine, MemoryOwner, Timestamp};
use crate::audit::MemoryId;
use crate::page::secrets;

/// The bytes of lines in one message; at least one line is in it.
const MOST_LINES: usize = 64 << 10;

/// Number of forgotten memories from which on none comes that was never kept here: the rest of the room is
/// for what is forgotten here.
const MOST_BROUGHT: usize = MOST / 2;

/// The time of the last change of each memory.
pub type MemoryStates = BTreeMap<MemoryId, Timestamp>;

/// A message to a peer server.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeMessage {
    /// The states that the sender has.
    pub have: MemoryStates,
    /// Lines that the peer asked for, as `memory export` writes them.
    pub lines: String,
}

/// The answer to such a message.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExchangeReply {
    /// Lines of what the sender lacks or has in an older state; more may follow.
    pub lines: String,
    /// What it asks for.
    pub wanted: BTreeSet<MemoryId>,
    /// What was changed on both sides, of the lines that it got.
    pub conflicts: Vec<MemoryId>,
}

/// Memories to take over, each with its owner.
#[derive(Debug, Clone, Default)]
pub struct MemoryImport {
    /// The memories.
    pub all: Vec<(MemoryOwner, Memory)>,
    /// All states that were read.
    pub states: MemoryStates,
    /// The number of those about pages of another wiki, which are left out.
    pub of_other_wiki: usize,
}

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Memories that were not there.
    pub added: usize,
    /// Memories that were there in an older state.
    pub updated: usize,
    /// Memories that were there in this state or a newer one.
    pub kept: usize,
    /// Memories that were changed on both sides: the older text lies for restoring.
    pub conflicts: Vec<MemoryId>,
    /// Memories that were left out, since there is no room for more that lies for restoring; the command
    /// counts those about pages of another wiki, too.
    #[serde(rename = "leftOut")]
    pub left_out: usize,
}

impl MemoryImport {
    /// Reads lines; blank ones count for nothing. With `into`, all become this owner's.
    ///
    /// # Errors
    /// [`MemoryError::BadLine`], the first one.
    pub fn read(text: &str, wiki: &str, into: Option<&MemoryOwner>) -> Result<Self, MemoryError> {
        let mut import = Self::default();
        let latest = Timestamp::now().plus_minutes(5);
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let line = match MemoryLine::read(line) {
                Ok(line) if !secrets(&line.memory.content, &[]).is_empty() => Err(format!(
                    "(memory {}) has a secret in it (secret_added)",
                    line.memory.id
                )),
                // Such a state would win over all that is said until then.
                Ok(line) if line.memory.latest() > latest => Err(format!(
                    "(memory {}) is of a time that is yet to come; set the clocks",
                    line.memory.id
                )),
                read => read,
            };
            let line = line.map_err(|why| MemoryError::BadLine {
                line: number.saturating_add(1),
                why,
            })?;
            import.states.insert(line.memory.id, line.memory.changed);
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

    /// Takes over what is newer than what is there, by id. What was changed here and there since
    /// both had the same is a conflict: the newer state is kept, and the other text beside it. Nothing that
    /// could be restored before is pushed out: what has no room beside it is left out.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn apply(self, memories: &mut Memories) -> Result<Imported, MemoryError> {
        let mut done = Imported::default();
        let now = memories.now;
        for (owner, mut new) in self.all {
            let (id, changed) = (new.id, new.changed);
            new.exchanged = Some(changed);
            let all = memories.of(&owner)?;
            if !has_room(all, &new, now) {
                done.left_out = done.left_out.saturating_add(1);
                continue;
            }
            let Some(there) = all.iter_mut().find(|there| there.id == id) else {
                all.push(new);
                done.added = done.added.saturating_add(1);
                continue;
            };
            let is_conflict = there.is_in_conflict(&new);
            let count = if changed > there.changed {
                std::mem::swap(there, &mut new);
                &mut done.updated
            } else {
                &mut done.kept
            };
            *count = count.saturating_add(1);
            if is_conflict || changed == there.changed {
                there.exchanged = Some(changed);
            }
            if is_conflict {
                done.conflicts.push(id);
                if new.content != there.content {
                    (new.id, new.exchanged) = (MemoryId::new()?, None);
                    new.end(now, Some(id));
                    all.push(new);
                }
            }
        }
        Ok(done)
    }
}

/// True if what a line puts among the memories that can be restored pushes none of them out.
fn has_room(all: &[Memory], new: &Memory, now: Timestamp) -> bool {
    let there = all.iter().find(|one| one.id == new.id);
    let is_newer = there.is_some_and(|there| new.changed > there.changed);
    let comes = match there {
        None => usize::from(new.forgotten.is_some()),
        Some(there) => {
            let ends = is_newer && there.forgotten.is_none() && new.forgotten.is_some();
            let is_kept_beside = there.is_in_conflict(new) && there.content != new.content;
            usize::from(ends) + usize::from(is_kept_beside)
        }
    };
    let since = now.plus_days(-KEPT_DAYS);
    let can_return = |one: &&Memory| one.forgotten.is_some_and(|at| at >= since);
    let most = if is_newer { MOST } else { MOST_BROUGHT };
    comes == 0 || all.iter().filter(can_return).count() + comes <= most
}

impl Memories {
    /// Leaves one of an owner's memories with the same text about the same page; returns how many
    /// were ended. It is the one that every server would leave.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn join_same(&mut self, owner: &MemoryOwner) -> Result<usize, MemoryError> {
        let now = self.now;
        let of = |one: &Memory| (one.content.clone(), one.page.as_ref().map(|page| page.id));
        let mut first: HashMap<_, MemoryId> = HashMap::new();
        let all = self.of(owner)?;
        for one in all.iter().filter(|one| one.forgotten.is_none()) {
            let least = first.entry(of(one)).or_insert(one.id);
            *least = one.id.min(*least);
        }
        let mut joined = 0_usize;
        for one in all.iter_mut().filter(|one| one.forgotten.is_none()) {
            let kept = first.get(&of(one)).filter(|kept| **kept != one.id);
            if let Some(kept) = kept {
                one.end(now, Some(*kept));
                joined = joined.saturating_add(1);
            }
        }
        Ok(joined)
    }

    /// Notes the states that a peer has, too.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn note_exchanged(
        &mut self,
        owner: &MemoryOwner,
        states: &MemoryStates,
    ) -> Result<(), MemoryError> {
        let is_same = |one: &&mut Memory| states.get(&one.id) == Some(&one.changed);
        for one in self.of(owner)?.iter_mut().filter(is_same) {
            one.exchanged = Some(one.changed);
        }
        Ok(())
    }
}

/// Lines of memories, as many as one message holds.
///
/// # Errors
/// If one cannot be written.
pub fn lines_of<'a>(
    wiki: &str,
    all: impl Iterator<Item = &'a Memory>,
) -> Result<(String, Vec<MemoryId>), MemoryError> {
    let (mut lines, mut ids) = (String::new(), Vec::new());
    for memory in all {
        let line = MemoryLine::of(wiki, MemoryOwner::site(), memory.clone());
        let line = serde_json::to_string(&line).map_err(std::io::Error::from)?;
        if !ids.is_empty() && lines.len().saturating_add(line.len()) > MOST_LINES {
            break;
        }
        lines.push_str(&line);
        lines.push('\n');
        ids.push(memory.id);
    }
    Ok((lines, ids))
}
