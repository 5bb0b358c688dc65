//! Remembers, recalls and forgets for callers. An entry about a page follows that page: where the
//! page may not be read, it is as if the entry were not there.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::json;

use crate::audit::{AuditEntry, CallId, ClientId, MemoryId};
use crate::error::{Code, Failure, Result, sentence};
use crate::gates::{Gate, Refusal, WritePolicy, paused};
use crate::memory::{
    AuditNote, KEPT_DAYS, Memories, Memory, MemoryError, MemoryMode, MemoryOwner, MemoryPage,
    MemoryType, Ranked, Timestamp, digest, ranked,
};
use crate::page::{PagePlace, secrets};

use super::source::present;
use crate::write::{Caller, EntryBuilder, WriteContext};

/// The number of memories that an error about a full store names.
const WEAKEST: usize = 5;
/// The characters of each text that it shows.
const BEGINNING: usize = 60;
/// The most bytes of texts in one answer; at least one memory is in it.
const MOST_TEXT: usize = 64 * 1024;

/// Time for which it is believed that nothing came back of a page.
const GONE: Duration = Duration::from_mins(1);

/// Pages that are gone and of which nothing came back, with the time of the first look: neither the wiki nor
/// the record is asked for them at each recall.
#[derive(Debug, Default)]
pub(super) struct GonePages(Mutex<Option<(Instant, HashSet<i64>)>>);

impl GonePages {
    /// Takes these pages out of some.
    fn leave_out<T>(&self, of: &mut HashMap<i64, T>) {
        let mut known = self.0.lock();
        let lasts = |(at, _): &(Instant, _)| at.elapsed() < GONE;
        *known = known.take().filter(lasts);
        if let Some((_, known)) = &*known {
            of.retain(|id, _| !known.contains(id));
        }
    }

    fn note(&self, ids: impl Iterator<Item = i64>) {
        let mut known = self.0.lock();
        let (_, known) = known.get_or_insert_with(|| (Instant::now(), HashSet::new()));
        known.extend(ids);
    }

    /// After a write, which may have been an undo.
    pub(super) fn forget(&self) {
        *self.0.lock() = None;
    }
}

/// A request to remember.
#[derive(Debug, Clone, Default)]
pub struct ToRemember {
    /// The text.
    pub content: String,
    /// Its kind; a new one is a fact, a changed one stays what it is.
    pub kind: Option<MemoryType>,
    /// Its importance; a new one is 5, a changed one stays as it is.
    pub importance: Option<u8>,
    /// The page that it is about.
    pub page: Option<i64>,
    /// The memory to change.
    pub id: Option<MemoryId>,
    /// The memory that this one takes the place of.
    pub supersedes: Option<MemoryId>,
}

/// The result of remembering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RememberResult {
    /// Its id.
    pub id: MemoryId,
    /// `remembered`, `changed` or `unchanged`.
    pub state: &'static str,
}

/// A request to recall.
#[derive(Debug, Clone, Default)]
pub struct ToRecall {
    /// Words that it has.
    pub query: Option<String>,
    /// Its kind.
    pub kind: Option<MemoryType>,
    /// The page that it is about.
    pub page: Option<i64>,
    /// At most so many.
    pub limit: usize,
}

/// The recalled memories.
#[derive(Debug, Clone, Default)]
pub struct RecallResult {
    /// The memories, the most useful first, each with its page where that is now.
    pub memories: Vec<Ranked>,
    /// The number of further memories.
    pub not_shown: usize,
}

impl WriteContext {
    /// The sharing mode of memories.
    pub fn memory_mode(&self) -> MemoryMode {
        self.house.memory_mode.read().clone()
    }

    /// Sets the sharing mode of memories from now on.
    pub fn remember_by(&self, mode: MemoryMode) {
        *self.house.memory_mode.write() = mode;
    }

    /// Remembers something, or changes what is remembered.
    ///
    /// # Errors
    /// That this caller may not write; that it is a secret; that there is no such page or memory;
    /// that there is no room; `AUDIT_UNAVAILABLE`.
    pub async fn remember(&self, caller: &Caller, what: ToRemember) -> Result<RememberResult> {
        let record = self.record_of(caller)?;
        self.admit(caller, &record).await?;
        let (memories, owner) = (&self.house.memories, self.owner_of(caller));
        if let Some(names) = self.secrets_in(&what.content) {
            let refusal = Refusal::at(Gate::Rules, secret_failure(&names));
            self.record_refusal(&record, &refusal).await;
            return Err(refusal.failure);
        }
        let page = match what.page {
            Some(id) => Some(self.page_of(id).await?),
            None => None,
        };
        let mut named = Vec::new();
        named.extend(what.id.map(|id| ("id", id)));
        named.extend(what.supersedes.map(|id| ("supersedes", id)));
        self.own(&owner, &named).await?;
        let argument = what.id.map_or("supersedes", |_| "id");
        let record = record.memory(page.as_ref());
        let (of, author) = (owner.clone(), caller.client.shown().to_owned());
        let new = MemoryId::new()?;
        let done = memories.change(record, move |memories| {
            remembered(memories, &of, &what, page, (new, &author))
        });
        match done.await {
            Ok(done) => Ok(done),
            Err(MemoryError::Full) => {
                let weakest = self.weakest(&owner).await;
                Err(failure(&MemoryError::Full, argument).detail("weakest", weakest))
            }
            Err(error) => Err(failure(&error, argument)),
        }
    }

    /// Recalls what fits, and notes that it was used if this caller may remember.
    ///
    /// # Errors
    /// If the store cannot be read; what the wiki says of pages.
    pub async fn recall(&self, caller: &Caller, what: ToRecall) -> Result<RecallResult> {
        let (memories, owner) = (&self.house.memories, self.owner_of(caller));
        let mut all = self.own_memories(&owner, "query").await?;
        all.retain(|one| {
            let page = one.page.as_ref().map(|page| page.id);
            what.kind.is_none_or(|kind| one.kind == kind)
                && what.page.is_none_or(|id| page == Some(id))
        });
        let mut found = ranked(all, what.query.as_deref(), Timestamp::now());
        let of_all = found.len();
        found.truncate(what.limit);
        let mut bytes = 0_usize;
        let fitting = found.iter().take_while(|one| {
            bytes = bytes.saturating_add(one.memory.content.len());
            bytes <= MOST_TEXT
        });
        let fitting = fitting.count().max(1);
        found.truncate(fitting);
        let read = found.iter().map(|one| {
            let Memory {
                id, changed, page, ..
            } = &one.memory;
            (*id, (*changed, page.clone()))
        });
        let read: HashMap<MemoryId, (Timestamp, Option<MemoryPage>)> = read.collect();
        if !read.is_empty() && self.refusal_of(caller).is_none() {
            let record = self.record_of(caller)?.memory(None);
            let used = memories.change(record, move |memories| {
                let now = memories.now;
                for one in memories.of(&owner)? {
                    if let Some((changed, page)) = read.get(&one.id) {
                        (one.used, one.uses) = (now, one.uses.saturating_add(1));
                        if one.changed == *changed {
                            one.page.clone_from(page);
                        }
                    }
                }
                Ok(((), None))
            });
            if let Err(error) = used.await {
                tracing::warn!(%error, "that memories were recalled could not be noted");
            }
        }
        Ok(RecallResult {
            not_shown: of_all.saturating_sub(found.len()),
            memories: found,
        })
    }

    /// Forgets something; until the date that is returned an operator can restore it.
    ///
    /// # Errors
    /// That this caller may not write; that there is no such memory; `AUDIT_UNAVAILABLE`.
    pub async fn forget(&self, caller: &Caller, id: MemoryId) -> Result<Timestamp> {
        const ARGUMENT: &str = "id";
        let record = self.record_of(caller)?;
        self.admit(caller, &record).await?;
        let (memories, owner) = (&self.house.memories, self.owner_of(caller));
        let known = self.own(&owner, &[(ARGUMENT, id)]).await?;
        let page = known.first().and_then(|known| known.page.as_ref());
        let record = record.memory(page);
        let done = memories.change(record, move |memories| {
            let now = memories.now;
            let memory = memories.own(&owner, id)?;
            memory.end(now, None);
            let note = AuditNote {
                decision: "forgotten",
                reason: note_of(memory),
            };
            Ok((now.plus_days(KEPT_DAYS), Some(note)))
        });
        done.await.map_err(|error| failure(&error, ARGUMENT))
    }

    /// Gives a maker what its delegate remembered, on record as one change; returns how many
    /// memories it had room for. Done again, it finds nothing to give.
    ///
    /// # Errors
    /// The store's; `AUDIT_UNAVAILABLE`.
    pub async fn hand_over(
        &self,
        record: AuditEntry,
        (delegate, maker): ((ClientId, &str), (ClientId, &str)),
    ) -> Result<usize> {
        let owner = |(id, name)| owner_of_client(id, name);
        let (from, to) = (owner(delegate), owner(maker));
        let memories = &self.house.memories;
        let failed = |error: MemoryError| failure(&error, "delegate");
        if memories.of_owner(&from).await.map_err(failed)?.is_empty() {
            return Ok(0);
        }
        let done = memories.change(record, move |memories| memories.hand_over(&from, &to));
        done.await.map_err(failed)
    }

    pub(super) fn record_of(&self, caller: &Caller) -> Result<EntryBuilder> {
        let call = CallId::current_or_new()?;
        Ok(EntryBuilder::open(call, caller, self.past.key()))
    }

    /// The owner of a caller's memories.
    pub(super) fn owner_of(&self, caller: &Caller) -> MemoryOwner {
        match self.memory_mode() {
            MemoryMode::Client => owner_of(caller),
            MemoryMode::Site(_) => MemoryOwner::site(),
        }
    }

    /// The reason why a caller may not remember or forget, if it may not: it may not if it may not
    /// write.
    pub fn refusal_of(&self, caller: &Caller) -> Option<Failure> {
        let policy = self.policy_for(caller);
        if matches!(policy.writes, WritePolicy::Off) {
            let message = "A client that may not write does not remember or forget.";
            return Some(policy.refuse(Code::MutationsDisabled, message));
        }
        policy.pauses.look().map(|pause| paused(&pause))
    }

    /// Refuses a caller who may not remember or forget.
    pub(super) async fn admit(&self, caller: &Caller, record: &EntryBuilder) -> Result<()> {
        let Some(failure) = self.refusal_of(caller) else {
            return Ok(());
        };
        let refusal = Refusal::at(Gate::Enabled, failure);
        self.record_refusal(record, &refusal).await;
        Err(refusal.failure)
    }

    /// The kinds of secrets in a text, if there are any.
    fn secrets_in(&self, text: &str) -> Option<Vec<&'static str>> {
        let key = self.wiki.key();
        let found = secrets(text, &self.policy.secrets_beside(key.expose()));
        let mut names: Vec<&str> = found.iter().map(|one| one.kind.name).collect();
        names.dedup();
        (!names.is_empty()).then_some(names)
    }

    /// The page with this id, if it may be read.
    async fn page_of(&self, id: i64) -> Result<MemoryPage> {
        let places = self.wiki.places_of(&HashSet::from([id])).await?;
        if let Some((id, (locale, path))) = places.into_iter().next() {
            return Ok(MemoryPage { id, locale, path });
        }
        // Another server may just have made it.
        let page = self.wiki.page_by_id(id).await?;
        let (locale, path) = (page.locale, page.path);
        Ok(MemoryPage { id, locale, path })
    }

    /// The memories of an owner that are not forgotten and that it may know of: about no page, or
    /// about one that may be read, each with the place where that is now.
    async fn own_memories(&self, owner: &MemoryOwner, argument: &str) -> Result<Vec<Memory>> {
        let read = self.house.memories.of_owner(owner).await;
        let mut all = read.map_err(|error| failure(&error, argument))?;
        all.retain(|one| one.forgotten.is_none());
        if let Err(error) = self.follow(&mut all, owner).await {
            tracing::debug!(%error, "whether pages came back that memories are about is not known");
        }
        self.hide(&mut all, |one| &mut one.page).await?;
        Ok(all)
    }

    /// Lets what is about pages that were deleted be about what came back of them, under other ids: by the
    /// record what undos made of them, else what stands where they were known last.
    async fn follow(&self, all: &mut [Memory], owner: &MemoryOwner) -> Result<()> {
        let mut about: Vec<(Timestamp, &MemoryPage)> = { all.iter() }
            .filter_map(|one| Some((one.used, one.page.as_ref()?)))
            .collect();
        about.sort_by_key(|(used, _)| *used);
        let last = about.into_iter().map(|(noted, page)| {
            let MemoryPage { id, locale, path } = page.clone();
            (id, (noted, (locale, path)))
        });
        let mut last: HashMap<i64, (Timestamp, PagePlace)> = last.collect();
        self.house.gone.leave_out(&mut last);
        let ids: HashSet<i64> = last.keys().copied().collect();
        let gone = self.wiki.pages_gone(&ids).await?;
        last.retain(|id, _| gone.contains(id));
        if last.is_empty() {
            return Ok(());
        }
        let mut later = present::came_back(&self.past, &gone).await?;
        // What all clients share, some may not read that stands at a place of old.
        if *owner == MemoryOwner::site() {
            last.clear();
        }
        last.retain(|id, _| !later.contains_key(id));
        for (id, (noted, place)) in &mut last {
            if let Some(on_record) = self.past.last_place(*id, noted.instant()).await? {
                *place = on_record;
            }
        }
        let places = last.values().map(|(_, place)| place.clone()).collect();
        let here = self.wiki.ids_at(&places).await?;
        later.extend({ last.iter() }.filter_map(|(id, (_, place))| Some((*id, *here.get(place)?))));
        for page in all.iter_mut().filter_map(|one| one.page.as_mut()) {
            if let Some(id) = later.get(&page.id) {
                page.id = *id;
            }
        }
        let nowhere = gone.into_iter().filter(|id| !later.contains_key(id));
        self.house.gone.note(nowhere);
        Ok(())
    }

    /// Leaves out what is about a page that may not be read; each other page is given its place.
    pub(super) async fn hide<T>(
        &self,
        all: &mut Vec<T>,
        page: impl Fn(&mut T) -> &mut Option<MemoryPage>,
    ) -> Result<()> {
        let ids = all
            .iter_mut()
            .filter_map(|one| Some(page(one).as_ref()?.id));
        let ids: HashSet<i64> = ids.collect();
        if ids.is_empty() {
            return Ok(());
        }
        let places = self.wiki.places_of(&ids).await?;
        all.retain_mut(|one| {
            let Some(page) = page(one) else { return true };
            let place = places.get(&page.id).cloned();
            place.is_some_and(|place| {
                (page.locale, page.path) = place;
                true
            })
        });
        Ok(())
    }

    /// The memories of an owner that arguments name by their ids, if it may know of each. They are read
    /// once.
    async fn own(
        &self,
        owner: &MemoryOwner,
        named: &[(&'static str, MemoryId)],
    ) -> Result<Vec<Memory>> {
        let Some((argument, _)) = named.first() else {
            return Ok(Vec::new());
        };
        let all = self.own_memories(owner, argument).await?;
        let found = named.iter().map(|(argument, id)| {
            let one = all.iter().find(|one| one.id == *id).cloned();
            one.ok_or_else(|| failure(&MemoryError::NoSuch, argument))
        });
        found.collect()
    }

    /// The memories with the least health, for a caller whose store is full.
    async fn weakest(&self, owner: &MemoryOwner) -> serde_json::Value {
        let all = self
            .own_memories(owner, "content")
            .await
            .unwrap_or_default();
        let ranked = ranked(all, None, Timestamp::now());
        let weakest = ranked.iter().rev().take(WEAKEST).map(|one| {
            json!({ "id": one.memory.id, "health": one.health, "begins": beginning(&one.memory) })
        });
        weakest.collect()
    }
}

/// The begin of a memory's text.
pub(super) fn beginning(memory: &Memory) -> String {
    memory.content.chars().take(BEGINNING).collect()
}

/// The owner of a caller's memories: a named client, by its id; else, over HTTP, the name that it
/// gives itself, and over stdio that name and the user of the machine.
fn owner_of(caller: &Caller) -> MemoryOwner {
    let client = &caller.client;
    let key = match (client.id, &client.subject) {
        (Some(id), _) => {
            let own = client.own_key().map(|key| format!("/{key}"));
            format!("{}{}", owner_of_client(id, "").key, own.unwrap_or_default())
        }
        (None, Some(subject)) => subject.clone(),
        (None, None) if client.address.is_some() => format!("http/{}", client.name),
        (None, None) => {
            let user = rustix::process::getuid().as_raw();
            format!("user:{user}/{}", client.name)
        }
    };
    let name = match client.shown() {
        "" => "(none)",
        name => name,
    };
    MemoryOwner::client(&key, name)
}

/// A named client whose calls go with the site's key.
fn owner_of_client(id: ClientId, name: &str) -> MemoryOwner {
    MemoryOwner::client(&format!("client:{id}"), name)
}

/// Remembers something within one change, or changes what is remembered.
fn remembered(
    memories: &mut Memories,
    of: &MemoryOwner,
    what: &ToRemember,
    page: Option<MemoryPage>,
    (new, author): (MemoryId, &str),
) -> Result<(RememberResult, Option<AuditNote>), MemoryError> {
    let now = memories.now;
    let old = if let Some(id) = what.id {
        Some(memories.own(of, id)?.clone())
    } else {
        // A repeated call changes what the first one made.
        let all = memories.of(of)?.iter();
        let mut same = all.filter(|one| is_repeated(one, &what.content, page.as_ref()));
        same.next().cloned()
    };
    let made = made(what, page, old.as_ref(), (new, author, now));
    let id = made.id;
    let superseded = what.supersedes.filter(|superseded| *superseded != id);
    let state = match &old {
        Some(old) if is_same(old, &made) && superseded.is_none() => {
            let state = "unchanged";
            return Ok((RememberResult { id, state }, None));
        }
        Some(_) => "changed",
        None => "remembered",
    };
    let mut reason = note_of(&made);
    if let Some(superseded) = superseded {
        let _ = write!(reason, ", supersedes {superseded}");
        memories.own(of, superseded)?.end(now, Some(id));
    }
    let all = memories.of(of)?;
    all.retain(|one| one.id != id);
    // The text before stays for restoring.
    if let Some(mut before) = old.filter(|old| old.content != made.content) {
        before.id = new;
        before.end(now, Some(id));
        all.push(before);
    }
    all.push(made);
    let decision = state;
    let note = AuditNote { decision, reason };
    Ok((RememberResult { id, state }, Some(note)))
}

/// The memory as it shall be.
fn made(
    what: &ToRemember,
    page: Option<MemoryPage>,
    old: Option<&Memory>,
    (new, author, now): (MemoryId, &str, Timestamp),
) -> Memory {
    let kind = what.kind.or(old.map(|old| old.kind)).unwrap_or_default();
    let importance = what.importance.or(old.map(|old| old.importance));
    Memory {
        id: old.map_or(new, |old| old.id),
        content: what.content.clone(),
        kind,
        importance: importance.unwrap_or(5),
        page: page.or_else(|| old.and_then(|old| old.page.clone())),
        author: MemoryOwner::client("", author).name,
        created: old.map_or(now, |old| old.created),
        changed: old.map_or(now, |old| now.after(old.changed)),
        used: now,
        uses: old.map_or(0, |old| old.uses),
        forgotten: None,
        superseded_by: None,
        exchanged: old.and_then(|old| old.exchanged),
    }
}

/// True if two memories say the same.
fn is_same(one: &Memory, other: &Memory) -> bool {
    let page = |memory: &Memory| memory.page.as_ref().map(|page| page.id);
    one.content == other.content
        && one.kind == other.kind
        && page(one) == page(other)
        && one.importance == other.importance
}

/// True if a text about a page is remembered already.
fn is_repeated(one: &Memory, content: &str, page: Option<&MemoryPage>) -> bool {
    let about = one.page.as_ref().map(|page| page.id);
    one.forgotten.is_none() && one.content == content && about == page.map(|page| page.id)
}

/// A memory for the record: never its text.
fn note_of(memory: &Memory) -> String {
    let (kind, sha) = (memory.kind.as_str(), digest(&memory.content));
    format!("memory {}, {kind}, sha256 {sha}", memory.id)
}

fn secret_failure(names: &[&str]) -> Failure {
    let message = format!(
        "The content looks like a secret and is not remembered: {}.",
        names.join(", ")
    );
    Failure::of_argument("content", message)
        .hint("Remember where it is kept, not the secret itself.")
        .detail("check", "secret_added")
}

/// The failure for a caller, about one of its arguments.
pub(super) fn failure(error: &MemoryError, argument: &str) -> Failure {
    let told = sentence(&error.to_string());
    let code = match error {
        MemoryError::Audit(error) => return error.clone().into(),
        MemoryError::NoSuch => {
            return Failure::of_argument(argument, told)
                .hint("wikijs_recall shows the ids of those there are.");
        }
        MemoryError::Full => {
            return Failure::new(Code::TooLarge, told).hint(
                "Forget with wikijs_forget what is needed no more, such as details.weakest, or put several into one with supersedes. What people should know belongs into a page.",
            );
        }
        MemoryError::BadLine { .. } => return Failure::of_argument(argument, told),
        MemoryError::TooManyOwners => Code::TooLarge,
        MemoryError::Peer(_) => Code::NotApplied,
        MemoryError::NotOurs(_)
        | MemoryError::Damaged(_)
        | MemoryError::Io(_)
        | MemoryError::BrokenOff => Code::AuditUnavailable,
    };
    let hint = sentence(error.hint());
    Failure::new(code, told).hint(format!("Tell the user: {hint}"))
}
