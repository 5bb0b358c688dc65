//! Memories as lines of JSON, to bring two machines or sites into line: by id, the newest wins.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::MOST;
use super::entry::{Memory, MemoryEnd, MemoryPage, MemoryType, check_content};
use super::error::{BadLine, MemoryError};
use super::moment::Timestamp;
use super::owner::MemoryOwner;
use super::rows::MemoryRows;
use crate::audit::MemoryId;
use crate::page::secrets;

/// The most lines of one import.
pub const MOST_LINES: usize = 20 * MOST;
/// The version of a line.
const VERSION: u32 = 1;
/// The longest name of a page's place.
const MAX_PLACE: usize = 1_024;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExportedMemory {
    v: u32,
    id: MemoryId,
    /// The wiki that it was exported from.
    wiki: String,
    /// The owner's key.
    client: String,
    /// The owner's name.
    name: String,
    #[serde(rename = "type")]
    kind: MemoryType,
    importance: u8,
    content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    page: Option<MemoryPage>,
    author: String,
    created: String,
    changed: String,
    used: String,
    uses: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    forgotten: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    superseded_by: Option<MemoryId>,
}

/// A memory as a line, without its end.
///
/// # Errors
/// A text that cannot be written as JSON: there is none.
pub fn export_line(wiki: &str, owner: &MemoryOwner, memory: &Memory) -> serde_json::Result<String> {
    serde_json::to_string(&ExportedMemory {
        v: VERSION,
        id: memory.id,
        wiki: wiki.to_owned(),
        client: owner.key.clone(),
        name: owner.name.clone(),
        kind: memory.kind,
        importance: memory.importance,
        content: memory.content.clone(),
        page: memory.page.clone(),
        author: memory.author.clone(),
        created: memory.created.date(),
        changed: memory.changed.date(),
        used: memory.used.date(),
        uses: memory.uses,
        forgotten: memory.gone.map(|gone| gone.at.date()),
        superseded_by: memory.gone.and_then(|gone| gone.by),
    })
}

/// Memories to take over, each with its line.
#[derive(Debug, Clone, Default)]
pub struct MemoryImport {
    all: Vec<(usize, MemoryOwner, Memory)>,
    elsewhere: usize,
}

/// The result of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// Memories that were not there.
    pub added: usize,
    /// Memories that were there in an older state.
    pub updated: usize,
    /// Memories that were there in this state or a newer one.
    pub kept: usize,
    /// Memories about pages of another wiki, which were left out.
    pub of_other_wiki: usize,
}

impl MemoryImport {
    /// Reads lines; blank ones count for nothing. With `into`, all become this owner's.
    ///
    /// # Errors
    /// All lines that are none.
    pub fn read(
        text: &str,
        wiki: &str,
        into: Option<&MemoryOwner>,
        now: Timestamp,
    ) -> Result<Self, Vec<BadLine>> {
        let mut import = Self::default();
        let mut bad = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let number = number.saturating_add(1);
            if number > MOST_LINES {
                let why = format!("is more than the {MOST_LINES} lines of one import");
                bad.push(BadLine { line: number, why });
                break;
            }
            if line.trim().is_empty() {
                continue;
            }
            match read(line, now) {
                Ok((from, owner, memory)) => {
                    // Ids of pages mean nothing in another wiki.
                    if from != wiki && memory.page.is_some() {
                        import.elsewhere = import.elsewhere.saturating_add(1);
                        continue;
                    }
                    let owner = into.cloned().unwrap_or(owner);
                    import.all.push((number, owner, memory));
                }
                Err(why) => bad.push(BadLine { line: number, why }),
            }
        }
        if bad.is_empty() { Ok(import) } else { Err(bad) }
    }

    /// Takes over what is newer than what is there.
    ///
    /// # Errors
    /// Lines with the id of another owner's memory; an owner for whom there is no room.
    pub fn apply(&self, rows: &MemoryRows<'_>) -> Result<Imported, MemoryError> {
        let mut done = Imported {
            of_other_wiki: self.elsewhere,
            ..Imported::default()
        };
        let mut bad = Vec::new();
        let mut owners = BTreeSet::new();
        let mut newest: BTreeMap<MemoryId, &(usize, MemoryOwner, Memory)> = BTreeMap::new();
        for one in &self.all {
            let (_, _, memory) = one;
            let known = newest.entry(memory.id).or_insert(one);
            if memory.touched() > known.2.touched() {
                *known = one;
            }
        }
        for (line, owner, memory) in newest.into_values() {
            match rows.find(memory.id)? {
                Some((of, _)) if of.key != owner.key => bad.push(BadLine {
                    line: *line,
                    why: format!("is a memory of {} here", of.name),
                }),
                Some((_, there)) if there.touched() >= memory.touched() => {
                    done.kept = done.kept.saturating_add(1);
                }
                Some((_, there)) => {
                    let merged = Memory {
                        used: there.used.max(memory.used),
                        uses: there.uses.max(memory.uses),
                        ..memory.clone()
                    };
                    rows.put(owner, &merged)?;
                    done.updated = done.updated.saturating_add(1);
                    owners.insert(&owner.key);
                }
                None => {
                    rows.put(owner, memory)?;
                    done.added = done.added.saturating_add(1);
                    owners.insert(&owner.key);
                }
            }
        }
        if !bad.is_empty() {
            bad.sort_by_key(|bad| bad.line);
            return Err(MemoryError::BadLines(bad));
        }
        for owner in owners {
            rows.check_room(owner)?;
        }
        Ok(done)
    }
}

fn read(line: &str, now: Timestamp) -> Result<(String, MemoryOwner, Memory), String> {
    let line: ExportedMemory = serde_json::from_str(line).map_err(|error| {
        // What was read may be anything; only our own words are shown.
        let at = error.column();
        format!("is no memory as `memory export` writes it (column {at})")
    })?;
    if line.v != VERSION {
        return Err(format!("is of version {}, which is not known", line.v));
    }
    if !MemoryOwner::is_fit(&line.client) || !MemoryOwner::is_fit(&line.name) {
        return Err("has a client or a name that is empty, too long or not plain".to_owned());
    }
    if !line.author.is_empty() && !MemoryOwner::is_fit(&line.author) {
        return Err("has an author who is too long or not plain".to_owned());
    }
    check_content(&line.content).map_err(|why| format!("has a content that {why}"))?;
    if let Some(secret) = secrets(&line.content, &[]).first() {
        return Err(format!(
            "has a secret in it (secret_added): {}",
            secret.kind.name
        ));
    }
    if !(1..=10).contains(&line.importance) {
        return Err("has an importance that is not 1 to 10".to_owned());
    }
    if line.page.as_ref().is_some_and(|page| {
        page.id < 1
            || page.locale.as_str().len() > MAX_PLACE
            || page.path.as_str().len() > MAX_PLACE
    }) {
        return Err("names no page".to_owned());
    }
    let latest = now.plus_days(1);
    let time = |name: &str, text: &str| match Timestamp::read(text) {
        Some(at) if at <= latest => Ok(at),
        Some(_) => Err(format!("has a time in the future ({name})")),
        None => Err(format!("has no time ({name})")),
    };
    let forgotten = line.forgotten.as_deref();
    let gone = forgotten.map(|text| time("forgotten", text)).transpose()?;
    let memory = Memory {
        id: line.id,
        content: line.content,
        kind: line.kind,
        importance: line.importance,
        page: line.page,
        author: line.author,
        created: time("created", &line.created)?,
        changed: time("changed", &line.changed)?,
        used: time("used", &line.used)?,
        uses: line.uses.min(1_000_000),
        gone: gone.map(|at| MemoryEnd {
            at,
            by: line.superseded_by,
        }),
    };
    let owner = MemoryOwner {
        key: line.client,
        name: line.name,
    };
    Ok((line.wiki, owner, memory))
}
