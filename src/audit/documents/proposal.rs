//! A proposal: a change that was shown and not sent, kept for a person to apply or reject.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::super::entry::members::RecordStamp;
use super::super::{
    Actor, ArgumentDigest, AuditEntry, AuditEvent, CallId, Client, KeptState, KeyDigest,
    ProposalId, Record,
};
use crate::change::{Operation, Risk, Warning};
use crate::page::{Date, Field, LineCounts, Locale, Note, PagePath};

/// The most links left that a proposal names.
pub const MAX_LINKS_LEFT: usize = 100;
/// The longest reason for a rejection, in characters.
pub const MAX_WHY: usize = 500;

/// The contents of a proposal's file; the members are in this order.
///
/// It holds one change or a set: its own members are the first change, `others` the rest. The page
/// before and after is in the kept states. All but titles, sentences of warnings, links left, digests of arguments, session and
/// times is also in the records of its making, so changing only the file changes nothing that is applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// The version of the file.
    pub v: u32,
    /// Its name.
    pub id: ProposalId,
    /// Its state: open, or decided and how.
    #[serde(flatten)]
    pub state: ProposalState,
    /// Time at which it was made: UTC, in milliseconds.
    pub created: Date,
    /// The call that it was made by.
    pub call: CallId,
    /// The tool that was called.
    pub tool: String,
    /// The digest of each argument of that call, but for `confirm` and `note`; empty if no tool was
    /// called with arguments.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub arguments: BTreeMap<String, ArgumentDigest>,
    /// The client that proposed it.
    pub client: Client,
    /// The person who proposed it by a command of their own, as the record of its making has it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub actor: Option<Actor>,
    /// The key of the wiki that it was made with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<KeyDigest>,
    /// Its session, as a word that tells sessions apart without revealing them.
    pub session: String,
    /// Its first change.
    #[serde(flatten)]
    pub first: ProposedChange,
    /// The reason for it, in the proposer's own words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<Note>,
    /// True if it was asked for as a list, even of a single change.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_list: bool,
    /// The codes of the warnings of checks about all its changes, as it was made.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
    /// The warnings of those who made its changes, which nothing finds again later: of an undo, what
    /// it takes along.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub said: Vec<SaidWhenMade>,
    /// The other changes of a set, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub others: Vec<ProposedChange>,
    /// The first of the links to moved pages that the set does not mend.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub links_left: Vec<LinkLeftOpen>,
    /// Number of further such links.
    #[serde(skip_serializing_if = "is_none_left", default)]
    pub links_left_not_kept: usize,
    /// True if somebody has begun to apply it: the log says how far that came.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_begun: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_none_left(count: &usize) -> bool {
    *count == 0
}

/// A warning about a proposal when it was made, in words of our own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaidWhenMade {
    /// The number of the change that it is about, from 0; `None` if it is about all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub change: Option<usize>,
    /// The warning.
    #[serde(flatten)]
    pub warning: Warning,
}

/// A link that a proposed set does not mend: its place, and why. Its text belongs to the page and
/// is not kept here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkLeftOpen {
    /// The page that holds it.
    pub page: i64,
    /// Its locale.
    pub locale: Locale,
    /// Its path.
    pub path: PagePath,
    /// The link's line; `None` if the page could not be read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<usize>,
    /// The reason, as a fragment.
    pub why: String,
}

/// One change of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposedChange {
    /// The kind of write.
    pub operation: Operation,
    /// The page's id; `None` for a page that does not exist yet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub page: Option<i64>,
    /// The page's locale, or where it shall be created.
    pub locale: Locale,
    /// The page's path, or where it shall be created.
    pub path: PagePath,
    /// The path that the page shall get, where it shall get another.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub new_path: Option<PagePath>,
    /// The page's title.
    pub title: String,
    /// The date of the page from which the proposal was made.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub updated_at: Option<Date>,
    /// The fields that change.
    pub fields: Vec<Field>,
    /// The lines of content that are new.
    pub lines_added: usize,
    /// The lines of content that go.
    pub lines_removed: usize,
    /// The fields whose old values could not be read, and whose loss was accepted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub lost: Vec<Field>,
    /// The call that it takes back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undoes: Option<CallId>,
    /// The kept state before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<KeptState>,
    /// The kept state after.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<KeptState>,
    /// Number of links it mends, if it does nothing else and was not asked for itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub links_mended: Option<usize>,
    /// The temporary path by which its page moves, if it does not move directly.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub aside: Option<PagePath>,
    /// True if its page is written once more after its move, only to be rendered there.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub renders_anew: bool,
}

/// The state of a proposal: open, or decided and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "state",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum ProposalState {
    /// Nobody has decided yet.
    Open,
    /// It was written, or the page was already as proposed.
    Applied {
        /// Time of the decision.
        decided: Date,
        /// The call that wrote it.
        applied_by: CallId,
        /// The changes that were left out, by their numbers from 0.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        left_out: Vec<usize>,
    },
    /// A person said no.
    Rejected {
        /// Time of the decision.
        decided: Date,
        /// The reason, in the operator's words.
        reason: String,
    },
    /// The same session proposed something else for the same page.
    Replaced {
        /// Time of the replacement.
        decided: Date,
        /// The later proposal.
        replaced_by: ProposalId,
    },
    /// Its own client took it back.
    Withdrawn {
        /// Time of the withdrawal.
        decided: Date,
        /// The name of the client that did.
        withdrawn_by: String,
    },
}

impl ProposalState {
    /// The word for it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Applied { .. } => "applied",
            Self::Rejected { .. } => "rejected",
            Self::Replaced { .. } => "replaced",
            Self::Withdrawn { .. } => "withdrawn",
        }
    }

    /// Time of the decision; `None` while it is open.
    pub const fn decided(&self) -> Option<&Date> {
        match self {
            Self::Open => None,
            Self::Applied { decided, .. }
            | Self::Rejected { decided, .. }
            | Self::Replaced { decided, .. }
            | Self::Withdrawn { decided, .. } => Some(decided),
        }
    }

    /// The changes of a set that were left out, by their numbers from 0.
    pub fn left_out(&self) -> &[usize] {
        match self {
            Self::Applied { left_out, .. } => left_out,
            Self::Open | Self::Rejected { .. } | Self::Replaced { .. } | Self::Withdrawn { .. } => {
                &[]
            }
        }
    }
}

impl Proposal {
    /// The version of the format of its file; a reader must not guess at a newer one.
    pub const VERSION: u32 = 1;

    /// All its changes, in order.
    pub fn changes(&self) -> impl Iterator<Item = &ProposedChange> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Its changes that were not left out, in order, each with its number from 0.
    pub fn changes_kept_in(&self) -> impl Iterator<Item = (usize, &ProposedChange)> {
        let out = self.state.left_out();
        { self.changes().enumerate() }.filter(|(number, _)| !out.contains(number))
    }

    /// The changes that a person left out, in order, each with its number from 0.
    pub fn changes_left_out(&self) -> impl Iterator<Item = (usize, &ProposedChange)> {
        let out = self.state.left_out();
        { self.changes().enumerate() }.filter(|(number, _)| out.contains(number))
    }

    /// Its risks, as far as they were known when it was made.
    pub fn risks(&self) -> BTreeSet<Risk> {
        let changes = self.changes().map(|one| (one.operation, &*one.fields));
        Risk::classify(changes, self.warnings.iter().map(String::as_str))
    }

    /// The kept states that it needs.
    pub(in crate::audit) fn states(&self) -> impl Iterator<Item = &KeptState> {
        self.changes()
            .flat_map(|one| one.before.iter().chain(&one.after))
    }

    /// True if nobody has decided on it yet.
    pub fn is_open(&self) -> bool {
        self.state == ProposalState::Open
    }

    /// The record's text for an accepted loss; `None` without one.
    pub fn loss(lost: &[Field]) -> Option<String> {
        let lost: Vec<&str> = lost.iter().map(|field| field.name()).collect();
        (!lost.is_empty()).then(|| format!("loss accepted: {}", lost.join(", ")))
    }

    /// The members that differ from the records of its making: the proposal's own record and those
    /// of a set's other changes. Empty for an unchanged file. A text that was cut in the record is
    /// compared as far as the record has it.
    pub fn differs_from(&self, made: &Record, others: &[Record]) -> Vec<&'static str> {
        let mut members = differing(&self.making(), made);
        if self.is_list != made.set.is_some() {
            members.push("isList");
        }
        let is_same = |(own, made): (&ProposedChange, &Record)| {
            differing(&self.making_of(own), made).is_empty()
        };
        if self.others.len() != others.len() || !self.others.iter().zip(others).all(is_same) {
            members.push("others");
        }
        members
    }

    /// The entry of its making.
    pub fn making(&self) -> AuditEntry {
        self.making_of(&self.first)
    }

    /// The entry of the making of one of its changes.
    fn making_of(&self, one: &ProposedChange) -> AuditEntry {
        let mut entry = AuditEntry {
            decision: Some("made".to_owned()),
            proposal: Some(self.id.to_string()),
            client: Some(self.client.clone()),
            tool: Some(self.tool.clone()),
            key: self.key,
            operation: Some(one.operation),
            id: one.page,
            locale: Some(one.locale.clone()),
            path: Some(one.path.clone()),
            new_path: one.new_path.clone(),
            aside: one.aside.clone(),
            reason: Self::loss(&one.lost),
            fields: one.fields.clone(),
            before: one.before,
            after: one.after,
            undoes: one.undoes,
            note: self.note.clone().map(String::from),
            warnings: self.warnings.clone(),
            ..AuditEntry::new(self.call, AuditEvent::Proposal)
        };
        entry.set_lines(LineCounts {
            added: one.lines_added,
            removed: one.lines_removed,
        });
        entry
    }

    /// The same proposal with proposer and page from the record of its making.
    pub(in crate::audit) fn by(mut self, made: &Record) -> Self {
        self.actor.clone_from(&made.actor);
        if differing(&self.making(), made).is_empty() {
            return self;
        }
        tracing::warn!(proposal = %self.id, "audit: the file of a proposal is not as its record says");
        self.client = made.client.clone().unwrap_or_default();
        self.key = made.key;
        self.first.operation = made.operation.unwrap_or(self.first.operation);
        self.first.page = made.id;
        self.first.locale = made.locale.clone().unwrap_or(self.first.locale);
        self.first.path = made.path.clone().unwrap_or(self.first.path);
        self.first.new_path.clone_from(&made.new_path);
        self.warnings.clone_from(&made.warnings);
        self.first.aside.clone_from(&made.aside);
        self
    }

    /// The time of its last event.
    pub(in crate::audit) fn age(&self) -> Option<OffsetDateTime> {
        self.state.decided().unwrap_or(&self.created).instant()
    }
}

/// The members in which an entry differs from a record.
fn differing(own: &AuditEntry, made: &Record) -> Vec<&'static str> {
    let stamp = RecordStamp {
        seq: made.seq,
        time: OffsetDateTime::UNIX_EPOCH,
        run: made.run,
        wiki: &made.wiki,
        site: None,
        prev: made.prev,
    };
    let own = Record::new(own, &stamp);
    [
        ("call", own.call == made.call),
        ("tool", own.tool == made.tool),
        ("client", own.client == made.client),
        ("key", own.key == made.key),
        ("operation", own.operation == made.operation),
        ("page", own.id == made.id),
        ("locale", own.locale == made.locale),
        ("path", own.path == made.path),
        ("newPath", own.new_path == made.new_path),
        ("aside", own.aside == made.aside),
        ("fields", own.fields == made.fields),
        ("linesAdded", own.lines_added == made.lines_added),
        ("linesRemoved", own.lines_removed == made.lines_removed),
        ("lost", own.reason == made.reason),
        ("undoes", own.undoes == made.undoes),
        ("note", own.note == made.note),
        ("warnings", own.warnings == made.warnings),
        ("before", own.before == made.before),
        ("after", own.after == made.after),
    ]
    .into_iter()
    .filter_map(|(name, is_same)| (!is_same).then_some(name))
    .collect()
}
