//! A line of the log.
//!
//! The members are in the order of [`Record`]; one that does not apply is absent, never null. The
//! records that the log writes for itself (`start`, `closed`) belong to no call. Texts are cut to
//! lengths that no real value reaches: paths and reasons to 1,024 characters, all others to 256.

use std::io;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

use super::super::{
    Actor, ApprovalId, AuditEntry, AuditEvent, CallId, Client, FileHead, KeptState, KeyDigest,
    LineHash, Outcome, RunId,
};
use super::chain;
use super::chain::VERSION;
use crate::change::Operation;
use crate::page::{Date, Field, Locale, PagePath};
use crate::site::SiteName;

/// The longest path and reason, in characters.
const MAX_LONG: usize = 1024;
/// The most warnings of one record.
const MAX_WARNINGS: usize = 50;
/// The longest of any other text, in characters.
const MAX_SHORT: usize = 256;

/// One record as it is on the disk; see [`AuditEntry`] for what the members mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The version of this record: [`VERSION`].
    pub v: u32,
    /// Its number in the run, from 1: the number of its line.
    pub seq: u64,
    /// Time of writing: UTC, in milliseconds.
    pub time: String,
    /// The run that wrote it.
    pub run: RunId,
    /// In a `start` alone: the number of the run, which its file's name has too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The call that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// The kind of event.
    pub event: AuditEvent,
    /// The client that called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
    /// The actor, if not a client: the user of the machine who ran a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<Actor>,
    /// The tool or command that was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The kind of write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// The wiki's name.
    pub wiki: String,
    /// The site of the settings file that it was reached as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// The key of the wiki that the call came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyDigest>,
    /// The page's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// The page's locale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<Locale>,
    /// The page's path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PagePath>,
    /// The path that the page shall get.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_path: Option<PagePath>,
    /// The temporary path at which the page stands in between, if it does not move directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<PagePath>,
    /// The gate that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// The gate's decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The fields that change, in [`Field`]'s order.
    pub fields: Vec<Field>,
    /// The lines of content that are new.
    pub lines_added: u64,
    /// The lines of content that go.
    pub lines_removed: u64,
    /// The kept state before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<KeptState>,
    /// The kept state after, as promised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<KeptState>,
    /// The kept state that was read back, if it is not `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<KeptState>,
    /// The wiki's time of the page as the step left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Date>,
    /// The outcome of an attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The error code that the caller was answered with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The step of the write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The call that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<CallId>,
    /// The other calls that it takes back, if it takes back several writes of one page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_undoes: Vec<CallId>,
    /// The approval that a write spent; of a person's answer, the call that asked, if another did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirms: Option<ApprovalId>,
    /// Scope of that approval, if it was given for more than this write: `page` or `kind`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
    /// The proposal that this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<String>,
    /// The client that made that proposal, if somebody else decides on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposer: Option<Client>,
    /// The set of several changes that it is one of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<CallId>,
    /// The reason for the call, in the caller's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The codes of the checks' warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Only in a `start`: the run of this server that there was no room to go on with, up to its last
    /// whole line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<FileHead>,
    /// Only in a `start`: every other run that was found, by file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<FileHead>>,
    /// Only in a `purge`: every file that is about to be removed, and the earlier removals that are
    /// recorded in one of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<Vec<FileHead>>,
    /// Duration of the call so far, in milliseconds.
    pub ms: u64,
    /// The hash of the line before, [`LineHash::FIRST`] in the first.
    pub prev: LineHash,
    /// The hash of this line's bytes before this member.
    pub hash: LineHash,
}

/// The fields that the log adds to every record.
#[derive(Debug, Clone)]
pub(in crate::audit) struct RecordStamp<'a> {
    pub(in crate::audit) seq: u64,
    pub(in crate::audit) time: OffsetDateTime,
    pub(in crate::audit) run: RunId,
    pub(in crate::audit) wiki: &'a str,
    pub(in crate::audit) site: Option<&'a SiteName>,
    pub(in crate::audit) prev: LineHash,
}

/// The reason a line could not be read as a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// A newer program wrote it; [`chain::verify`] can still check it.
    #[error("a record of the newer form {0}")]
    Newer(u32),
    /// It is none.
    #[error("not a record")]
    NotARecord,
    /// It is longer than any record.
    #[error("longer than any record")]
    TooLong,
    /// The file could not be read on.
    #[error("could not be read: {0}")]
    Io(io::ErrorKind),
}

impl Record {
    /// The event, with the step where the write has several.
    #[must_use]
    pub fn event_and_step(&self) -> String {
        let event = self.event.as_str();
        match &self.step {
            Some(step) => format!("{event} {step}"),
            None => event.to_owned(),
        }
    }

    /// A summary of its event: the outcome, a gate's decision, an error's code.
    #[must_use]
    pub fn says(&self) -> String {
        let gate = self.gate.as_ref().map(|gate| {
            let decision = self.decision.as_deref().unwrap_or_default();
            format!("{gate}: {decision}")
        });
        let parts = [
            self.outcome.map(|outcome| outcome.as_str().to_owned()),
            gate,
            self.code.clone(),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The calls that it takes back.
    #[must_use]
    pub fn undone_calls(&self) -> Vec<CallId> {
        let others = self.also_undoes.iter().copied();
        self.undoes.into_iter().chain(others).collect()
    }

    /// Reads a line, without its end.
    ///
    /// # Errors
    /// If a newer program wrote it, or it is not a record. The hash is not checked here.
    pub fn parse(line: &[u8]) -> Result<Self, Unreadable> {
        #[derive(Deserialize)]
        struct Form {
            v: u32,
        }
        let why = |v| match v {
            Some(v) if v > VERSION => Unreadable::Newer(v),
            _ => Unreadable::NotARecord,
        };
        match serde_json::from_slice::<Self>(line) {
            Ok(record) if record.v > VERSION => Err(why(Some(record.v))),
            Ok(record) => Ok(record),
            // The version is parsed only after a failure, since nearly all of many lines are ours.
            Err(_) => Err(why(serde_json::from_slice(line).ok().map(|Form { v }| v))),
        }
    }

    /// Time of writing, if [`Record::time`] is a time.
    #[must_use]
    pub fn instant(&self) -> Option<OffsetDateTime> {
        OffsetDateTime::parse(&self.time, &Rfc3339).ok()
    }

    /// True if a person rejected a proposal.
    #[must_use]
    pub fn is_rejection(&self) -> bool {
        self.event == AuditEvent::Proposal && self.decision.as_deref() == Some("rejected")
    }

    /// A record of the log itself, without an entry.
    pub(in crate::audit) fn bare(event: AuditEvent, stamp: &RecordStamp<'_>) -> Self {
        Self {
            v: VERSION,
            seq: stamp.seq,
            time: format_time(stamp.time),
            run: stamp.run,
            number: None,
            call: None,
            event,
            client: None,
            actor: None,
            tool: None,
            operation: None,
            wiki: cut(stamp.wiki, MAX_SHORT),
            site: stamp.site.map(SiteName::to_string),
            key: None,
            id: None,
            locale: None,
            path: None,
            new_path: None,
            aside: None,
            gate: None,
            decision: None,
            reason: None,
            fields: Vec::new(),
            lines_added: 0,
            lines_removed: 0,
            before: None,
            after: None,
            found: None,
            updated_at: None,
            outcome: None,
            code: None,
            step: None,
            undoes: None,
            also_undoes: Vec::new(),
            confirms: None,
            standing: None,
            proposal: None,
            proposer: None,
            set: None,
            note: None,
            warnings: Vec::new(),
            follows: None,
            runs: None,
            removed: None,
            ms: 0,
            prev: stamp.prev,
            hash: LineHash::FIRST,
        }
    }

    /// The record of an entry.
    pub(in crate::audit) fn new(entry: &AuditEntry, stamp: &RecordStamp<'_>) -> Self {
        let short = |text: &Option<String>| text.as_deref().map(|text| cut(text, MAX_SHORT));
        let path = |path: &PagePath| PagePath::as_stored(cut(path.as_str(), MAX_LONG));
        let client = |client: &Client| Client {
            name: cut(&client.name, MAX_SHORT),
            version: cut(&client.version, MAX_SHORT),
            id: client.id,
            role: client.role,
            subject: short(&client.subject),
            address: short(&client.address),
            parent: client.parent,
        };
        let actor = |actor: &Actor| actor.map(|text| cut(text, MAX_SHORT));
        let mut fields = entry.fields.clone();
        fields.sort_unstable();
        fields.dedup();
        Self {
            call: Some(entry.call),
            client: entry.client.as_ref().map(client),
            actor: entry.actor.as_ref().map(actor),
            tool: short(&entry.tool),
            operation: entry.operation,
            key: entry.key,
            id: entry.id,
            locale: entry
                .locale
                .as_ref()
                .map(|locale| Locale::as_stored(cut(locale.as_str(), MAX_SHORT))),
            path: entry.path.as_ref().map(path),
            new_path: entry.new_path.as_ref().map(path),
            aside: entry.aside.as_ref().map(path),
            gate: short(&entry.gate),
            decision: short(&entry.decision),
            reason: entry.reason.as_deref().map(|text| cut(text, MAX_LONG)),
            fields,
            lines_added: u64::try_from(entry.lines.added).unwrap_or(u64::MAX),
            lines_removed: u64::try_from(entry.lines.removed).unwrap_or(u64::MAX),
            before: entry.before,
            after: entry.after,
            found: entry.found,
            updated_at: entry.updated_at.clone(),
            outcome: entry.outcome,
            code: short(&entry.code),
            step: short(&entry.step),
            undoes: entry.undoes,
            also_undoes: entry.also_undoes.clone(),
            confirms: entry.confirms,
            standing: short(&entry.standing),
            proposal: short(&entry.proposal),
            proposer: entry.proposer.as_ref().map(client),
            set: entry.set,
            note: entry.note.as_deref().map(|text| cut(text, MAX_LONG)),
            warnings: entry
                .warnings
                .iter()
                .take(MAX_WARNINGS)
                .map(|code| cut(code, MAX_SHORT))
                .collect(),
            removed: (entry.event == AuditEvent::Purge).then(|| entry.removed.clone()),
            ms: entry.ms,
            ..Self::bare(entry.event, stamp)
        }
    }

    /// Sets the hash; returns the hashed line without its end.
    pub(in crate::audit) fn seal(&mut self) -> serde_json::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.truncate(line.len().saturating_sub(chain::TRAILER_LENGTH));
        self.hash = LineHash::new(&line);
        line.extend_from_slice(chain::trailer(self.hash).as_bytes());
        Ok(line)
    }
}

pub(in crate::audit) fn format_time(time: OffsetDateTime) -> String {
    let form =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
    // The format is a constant of ours, so this does not fail.
    time.format(form).unwrap_or_default()
}

fn cut(text: &str, max: usize) -> String {
    if text.chars().nth(max).is_none() {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(max.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests;
