//! Hands an ended delegate's memories to its maker, or keeps them restorable for a time.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::super::context::WriteContext;
use super::super::memories::{failure, owner_of_client};
use crate::audit::{AuditEntry, ClientId, MemoryId};
use crate::error::Failure;
use crate::memory::{AuditNote, Memory, MemoryError, MemoryOwner, MemoryRows, digest};

/// From which importance on a memory goes to the maker if nothing is said.
const IMPORTANT: u8 = 7;

/// The memories that go to the maker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Handed {
    /// Those of importance 7 and more.
    #[default]
    Important,
    /// All of them.
    All,
    /// None of them.
    None,
}

/// The handling of a delegate's memories after its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Handover {
    /// The memories that go to the maker.
    pub handed: Handed,
    /// True if the rest is removed for good, instead of being restorable for 30 days.
    pub purge: bool,
}

impl Handover {
    /// True if nothing was said.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    const fn hands_on(self, memory: &Memory) -> bool {
        match self.handed {
            Handed::Important => memory.importance >= IMPORTANT,
            Handed::All => true,
            Handed::None => false,
        }
    }
}

/// The giver and the receiver: their ids, and the names to show.
#[derive(Debug, Clone)]
pub struct HandoverTargets {
    /// The delegate.
    pub delegate: (ClientId, String),
    /// Its maker.
    pub maker: (ClientId, String),
}

/// The state of a delegate's memories after its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HandedOver {
    /// Those of its maker that it said last.
    pub handed: Vec<MemoryId>,
    /// The number of its own memories that can be restored.
    pub restorable: usize,
}

impl HandoverTargets {
    fn owners(&self) -> (MemoryOwner, MemoryOwner) {
        let owner = |(id, name): &(ClientId, String)| owner_of_client(*id, name);
        (owner(&self.delegate), owner(&self.maker))
    }
}

impl WriteContext {
    /// Gives a maker what its delegate remembered, on record as one change. Done again, it finds
    /// nothing to give; what would be too much for the maker can be restored.
    ///
    /// # Errors
    /// The store's; `AUDIT_UNAVAILABLE`.
    pub async fn hand_over(
        &self,
        record: AuditEntry,
        heirs: &HandoverTargets,
        legacy: Handover,
    ) -> Result<(), Failure> {
        let (from, to) = heirs.owners();
        let memories = self.house.memories();
        let key = from.key.clone();
        let own = memories.look(move |rows| rows.of_owner(&key)).await;
        let own = own.map_err(|error| failure(&error, "delegate"))?;
        let is_due = |one: &Memory| legacy.purge || one.gone.is_none();
        if !own.unwrap_or_default().iter().any(is_due) {
            return Ok(());
        }
        let done = memories.change(&self.audit, record, move |rows| {
            let deed = settle(rows, (&from, &to), legacy)?;
            rows.sweep()?;
            Ok(((), deed))
        });
        done.await.map_err(|error| failure(&error, "delegate"))
    }

    /// The state of a delegate's memories after its end, as far as its maker may know.
    ///
    /// # Errors
    /// The store's; what the wiki says of pages.
    pub async fn inherited(&self, heirs: &HandoverTargets) -> Result<HandedOver, Failure> {
        let (from, to) = heirs.owners();
        let (theirs, own) = (to.key, from.key);
        let memories = self.house.memories();
        let look = memories.look(move |rows| Ok((rows.of_owner(&theirs)?, rows.of_owner(&own)?)));
        let read = look.await.map_err(|error| failure(&error, "delegate"))?;
        let (mut theirs, mut own) = read.unwrap_or_default();
        theirs.retain(|one| one.gone.is_none() && one.author == from.name);
        own.retain(|one| one.gone.is_some());
        let handed = self.visible(theirs).await?;
        Ok(HandedOver {
            handed: handed.iter().map(|one| one.id).collect(),
            restorable: self.visible(own).await?.len(),
        })
    }
}

/// Does it within one change; none is needed where there is nothing to do.
fn settle(
    rows: &MemoryRows<'_>,
    (from, to): (&MemoryOwner, &MemoryOwner),
    legacy: Handover,
) -> Result<Option<AuditNote>, MemoryError> {
    let (mut handed, mut rest) = (Vec::new(), Vec::new());
    for memory in rows.of_owner(&from.key)? {
        let sha = digest(&memory.content);
        if memory.gone.is_none() && legacy.hands_on(&memory) {
            let changed = rows.now.max(memory.changed.next());
            let theirs = Memory {
                changed,
                ..memory.clone()
            };
            rows.put(to, &theirs)?;
            match rows.check_room(&to.key) {
                // What the maker forgot has nothing to do with it.
                Ok(()) | Err(MemoryError::ForgotTooMuch) => {
                    handed.push(sha);
                    continue;
                }
                Err(MemoryError::Full) => rows.put(from, &memory)?,
                Err(error) => return Err(error),
            }
        }
        if legacy.purge {
            rows.remove(memory.id)?;
        } else if memory.gone.is_none() {
            rows.put(from, &memory.gone_at(rows.now, None))?;
        } else {
            continue;
        }
        rest.push(sha);
    }
    if handed.is_empty() && rest.is_empty() {
        return Ok(None);
    }
    let mut reason = String::new();
    let became = if legacy.purge { "removed" } else { "forgotten" };
    for (what, all) in [(format!("to {}", to.key), &handed), (became.into(), &rest)] {
        if !all.is_empty() {
            let comma = if reason.is_empty() { "" } else { ", " };
            let (count, sha) = (all.len(), digest(&all.concat()));
            // Writing to a text cannot fail.
            let _ = write!(
                reason,
                "{comma}{count} {what}, sha256 of their digests {sha}"
            );
        }
    }
    Ok(Some(AuditNote {
        decision: "handed_over",
        reason: format!("memories of {}: {reason}", from.key),
    }))
}
