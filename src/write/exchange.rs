//! Exchanges what a site remembers with a peer server, both ways: by id, the newest wins.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::audit::{AuditEntry, MemoryId};
use crate::error::{Code, Failure, Result};
use crate::memory::{
    AuditNote, ExchangeMessage, ExchangeReply, Imported, Memory, MemoryError, MemoryImport,
    MemoryMode, MemoryOwner, MemoryPeer, MemoryStates, Timestamp, digest, lines_of, purge,
};

use super::memories::{beginning, failure};
use crate::write::{Caller, WriteContext};

/// The longest time for an exchange.
const LONGEST: Duration = Duration::from_secs(50);
/// The most messages of one; a peer with all that an owner may have takes half of them.
const MOST_MESSAGES: usize = 200;
/// The most states that a peer tells; an owner has a fifth of them at most.
const MOST_STATES: usize = 10_000;
/// The most characters of a name, so that no author's name pushes out the name of the other side.
const MOST_OF_NAME: usize = 35;
/// The argument and the member of answers.
const MEMORIES: &str = "memories";

/// What one side of an exchange says of a message's lines.
struct Said<'a> {
    lines: &'a str,
    /// The name of the other side.
    from: &'a str,
    /// The states that the other side has, too.
    states: MemoryStates,
    /// True if the same text is left once; one side alone does that.
    joins: bool,
}

/// An exchange as far as it has come.
#[derive(Default)]
struct Exchanged {
    /// What the peer asked for last.
    wanted: BTreeSet<MemoryId>,
    sent: BTreeSet<(MemoryId, Timestamp)>,
    /// All states that the peer told.
    seen: MemoryStates,
    conflicts: BTreeSet<MemoryId>,
    added: usize,
    updated: usize,
    left_out: usize,
}

impl Exchanged {
    /// True if a memory is asked for, and was not sent as it is.
    fn is_due(&self, one: &Memory) -> bool {
        self.wanted.contains(&one.id) && !self.sent.contains(&(one.id, one.changed))
    }

    /// The end of it, with what is there now.
    fn told(&self, own: &[Memory]) -> Value {
        let conflicts = own.iter().filter(|one| self.conflicts.contains(&one.id));
        let conflicts = conflicts.map(|one| json!({ "id": one.id, "begins": beginning(one) }));
        let refused = own.iter().filter(|one| self.wanted.contains(&one.id));
        json!({
            "added": self.added,
            "updated": self.updated,
            "sent": self.sent.len(),
            "leftOut": self.left_out.saturating_add(refused.count()),
            "conflicts": conflicts.collect::<Value>(),
        })
    }
}

impl WriteContext {
    /// The server with which the site's memories are exchanged, if one is set.
    pub fn memory_peer(&self) -> Option<Arc<MemoryPeer>> {
        match self.memory_mode() {
            MemoryMode::Site(peer) => peer,
            MemoryMode::Client => None,
        }
    }

    /// Exchanges memories with a peer, as far as the caller may know of them.
    ///
    /// # Errors
    /// That the peer does not answer, or not in time; what stands against its lines or the store.
    /// What was exchanged until then stays, and a later call goes on.
    pub async fn exchange(&self, caller: &Caller, peer: &MemoryPeer) -> Result<Value> {
        let exchanged = timeout(LONGEST, Box::pin(self.messages(caller, peer))).await;
        exchanged.unwrap_or_else(|_| {
            let message = "The exchange of memories took too long; what was exchanged stays.";
            Err(Failure::new(Code::Timeout, message))
        })
    }

    async fn messages(&self, caller: &Caller, peer: &MemoryPeer) -> Result<Value> {
        let owner = self.owner_of(caller);
        let record = self.record_of(caller)?.memory(None);
        let mut so_far = Exchanged::default();
        let mut own = self.exchanged(&owner).await?;
        for _ in 0..MOST_MESSAGES {
            let message = self.message(peer, (&record, &owner), &own, &mut so_far);
            let is_new = message.await?;
            own = self.exchanged(&owner).await?;
            if !is_new && !own.iter().any(|one| so_far.is_due(one)) {
                return Ok(so_far.told(&own));
            }
        }
        let error = MemoryError::Peer("it did not come to an end".to_owned());
        Err(failure(&error, MEMORIES))
    }

    /// Sends one message of what is there and takes over its answer; true if that tells anything new.
    async fn message(
        &self,
        peer: &MemoryPeer,
        (record, owner): (&AuditEntry, &MemoryOwner),
        own: &[Memory],
        so_far: &mut Exchanged,
    ) -> Result<bool> {
        let mut have = so_far.seen.clone();
        have.extend(own.iter().map(|one| (one.id, one.changed)));
        let (lines, ids) = self.lines(own.iter().filter(|one| so_far.is_due(one)))?;
        let states = ids.into_iter().filter_map(|id| Some((id, *have.get(&id)?)));
        so_far.sent.extend(states);
        let message = ExchangeMessage { have, lines };
        let asked = Box::pin(peer.ask(&self.wiki.settings().network, &message)).await;
        let reply = asked.map_err(|error| failure(&error, MEMORIES))?;
        let mut states = message.have;
        states.retain(|id, _| !reply.wanted.contains(id));
        let said = Said {
            lines: &reply.lines,
            from: peer.host(),
            states,
            joins: true,
        };
        let (done, states, left_out) = self.take(record.clone(), owner, said).await?;
        if so_far.seen.len().saturating_add(states.len()) > MOST_STATES {
            let error = MemoryError::Peer("it has more than anybody remembers".to_owned());
            return Err(failure(&error, MEMORIES));
        }
        let is_new = |(id, at): (&MemoryId, &Timestamp)| so_far.seen.get(id) != Some(at);
        let is_new = states.iter().any(is_new);
        so_far.left_out = so_far
            .left_out
            .saturating_add(if is_new { left_out } else { 0 });
        so_far.seen.extend(states);
        so_far.added = so_far.added.saturating_add(done.added);
        so_far.updated = so_far.updated.saturating_add(done.updated);
        let conflicts = done.conflicts.into_iter().chain(reply.conflicts);
        so_far.conflicts.extend(conflicts);
        so_far.wanted = reply.wanted;
        Ok(is_new)
    }

    /// Answers the message of a peer that this caller is.
    ///
    /// # Errors
    /// That the caller may not write; what stands against its lines or the store.
    pub async fn answer_peer(
        &self,
        caller: &Caller,
        message: ExchangeMessage,
    ) -> Result<ExchangeReply> {
        let record = self.record_of(caller)?;
        self.admit(caller, &record).await?;
        let owner = self.owner_of(caller);
        let ExchangeMessage { have, lines } = message;
        let said = Said {
            lines: &lines,
            from: caller.client.shown(),
            states: have.clone(),
            joins: false,
        };
        let (done, ..) = self.take(record.memory(None), &owner, said).await?;
        let own = self.exchanged(&owner).await?;
        let newer =
            { own.iter() }.filter(|one| have.get(&one.id).is_none_or(|at| *at < one.changed));
        let (lines, _) = self.lines(newer)?;
        let own: MemoryStates = own.iter().map(|one| (one.id, one.changed)).collect();
        let lacking = have
            .iter()
            .filter(|(id, at)| own.get(id).is_none_or(|own| own < at));
        Ok(ExchangeReply {
            lines,
            wanted: lacking.map(|(id, _)| *id).collect(),
            conflicts: done.conflicts,
        })
    }

    /// What an owner shows to a peer: forgotten ones, too, as long as they can be restored.
    async fn exchanged(&self, owner: &MemoryOwner) -> Result<Vec<Memory>> {
        let read = self.house.memories.of_owner(owner).await;
        let mut all = read.map_err(|error| failure(&error, MEMORIES))?;
        purge(&mut all, Timestamp::now());
        self.hide(&mut all, |one| &mut one.page).await?;
        Ok(all)
    }

    fn lines<'a>(&self, all: impl Iterator<Item = &'a Memory>) -> Result<(String, Vec<MemoryId>)> {
        lines_of(self.audit.wiki(), all).map_err(|error| failure(&error, MEMORIES))
    }

    /// Takes over the lines of a message, on record as one change. Returns what became of them, the
    /// states that they have, and how many are about pages that may not be read here or have no room.
    async fn take(
        &self,
        record: AuditEntry,
        owner: &MemoryOwner,
        said: Said<'_>,
    ) -> Result<(Imported, MemoryStates, usize)> {
        let failed = |error: MemoryError| failure(&error, MEMORIES);
        let import = MemoryImport::read(said.lines, self.audit.wiki(), Some(owner));
        let mut import = import.map_err(|error| match error {
            MemoryError::BadLine { line, why } if said.joins => failed(MemoryError::Peer(format!(
                "line {line} of its answer {why}"
            ))),
            error => failed(error),
        })?;
        let states = std::mem::take(&mut import.states);
        self.hide(&mut import.all, |(_, one)| &mut one.page).await?;
        let left_out = states.len().saturating_sub(import.all.len());
        for (_, one) in &mut import.all {
            // The other side vouches for the name.
            let author = one.author.split(" via ").next().unwrap_or_default();
            let author: String = author.trim().chars().take(MOST_OF_NAME).collect();
            let from: String = said.from.chars().take(MOST_OF_NAME).collect();
            one.author = MemoryOwner::client("", &format!("{author} via {from}")).name;
        }
        // A memory that this caller may not know of is not its to change.
        let known = self.exchanged(owner).await?;
        let known: BTreeSet<MemoryId> = known.iter().map(|one| one.id).collect();
        let sha = digest(said.lines);
        let (owner, joins, mut same) = (owner.clone(), said.joins, said.states);
        let done = self.house.memories.change(record, move |memories| {
            let own = memories.of(&owner)?.iter().map(|one| one.id);
            let hidden: BTreeSet<MemoryId> = own.filter(|id| !known.contains(id)).collect();
            import.all.retain(|(_, one)| !hidden.contains(&one.id));
            same.retain(|id, _| !hidden.contains(id));
            let done = import.apply(memories)?;
            let joined = if joins { memories.join_same(&owner)? } else { 0 };
            memories.note_exchanged(&owner, &same)?;
            let count = done.added + done.updated + done.conflicts.len() + joined;
            let note = (count > 0).then(|| AuditNote {
                decision: "exchanged",
                reason: format!(
                    "{} memories added, {} updated, {} in conflict, {joined} the same, sha256 of the lines {sha}",
                    done.added, done.updated, done.conflicts.len()
                ),
            });
            Ok((done, note))
        });
        let done = done.await.map_err(failed)?;
        let left_out = left_out.saturating_add(done.left_out);
        Ok((done, states, left_out))
    }
}
