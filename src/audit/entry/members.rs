//! Declares the members of a record, once for what a caller gives ([`AuditEntry`]) and for what stands
//! on the disk ([`Record`]).
//!
//! A new member is one line in the list at the end: its name, its type, the bound of its length, and
//! `shown` if every door shows its text as it is (`audit show`, its JSON and CSV, the review page).

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::super::{
    Actor, ApprovalId, AuditEvent, CallId, Client, FileHead, KeptState, KeyDigest, LineHash,
    Outcome, RunId,
};
use super::bounds::{
    MAX_SHORT, actor, client, codes, cut, fields, locale, long, path, short, whole,
};
use super::chain::VERSION;
use crate::change::Operation;
use crate::page::{Date, Field, Locale, PagePath};
use crate::site::SiteName;
use crate::trace::TraceId;

/// A member of the record that every door shows as it is.
#[derive(Debug, Clone, Copy)]
pub struct ShownMember {
    /// Its name, in the words of the command line.
    pub name: &'static str,
    /// Its meaning, as its comment has it.
    pub meaning: &'static str,
    /// Its text in a record that has it.
    pub shown: fn(&Record) -> Option<String>,
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

/// Makes both types out of one list: who called, then what the call was about.
macro_rules! members {
    (
        who { $( #[doc = $who_doc:literal] $who:ident: $who_type:ty = $who_bound:path
            $(, absent if $who_absent:literal)?; )* }
        what { $( #[doc = $doc:literal] $what:ident: $type:ty = $bound:path
            $(, absent if $absent:literal)? $(=> $shown:ident)?; )* }
    ) => {
        /// One event as a caller gives it; the log adds number, time, run, wiki and chain.
        ///
        /// There is no member for the content of a page, a key or a token, and none of these may be put
        /// into a text. Unreasonably long texts are cut (see [`super::record`]).
        ///
        /// ```
        /// use wikijs_gate_core::audit::{CallId, AuditEntry, AuditEvent};
        ///
        /// let entry = AuditEntry {
        ///     tool: Some("wikijs_delete_page".to_owned()),
        ///     id: Some(7),
        ///     gate: Some("enabled".to_owned()),
        ///     ..AuditEntry::new(CallId::new()?, AuditEvent::Refusal)
        /// };
        /// # Ok::<(), wikijs_gate_core::audit::AuditError>(())
        /// ```
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct AuditEntry {
            /// The call that this belongs to; an outcome has its attempt's call, even in a later run.
            pub call: CallId,
            /// The kind of event.
            pub event: AuditEvent,
            $( #[doc = $who_doc] pub $who: $who_type, )*
            $( #[doc = $doc] pub $what: $type, )*
            /// The files that a purge is about to remove, and those whose removal it repeats.
            pub removed: Vec<FileHead>,
            /// Duration of the call so far, in milliseconds.
            pub ms: u64,
        }

        impl AuditEntry {
            /// An entry with only its call and event, and the trace of the current call.
            pub fn new(call: CallId, event: AuditEvent) -> Self {
                let entry = Self {
                    call,
                    event,
                    $( $who: Default::default(), )*
                    $( $what: Default::default(), )*
                    removed: Vec::new(),
                    ms: 0,
                };
                Self {
                    trace: TraceId::current(),
                    ..entry
                }
            }

            /// The members of a record as its call gave them, but for `removed`.
            pub fn given(call: CallId, record: Record) -> Self {
                Self {
                    $( $who: record.$who, )*
                    $( $what: record.$what, )*
                    ms: record.ms,
                    ..Self::new(call, record.event)
                }
            }
        }

        /// One record as it is on the disk.
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
            $( #[doc = $who_doc]
            $( #[serde(default, skip_serializing_if = $who_absent)] )?
            pub $who: $who_type, )*
            /// The wiki's name.
            pub wiki: String,
            /// The site of the settings file that it was reached as.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub site: Option<String>,
            $( #[doc = $doc]
            $( #[serde(default, skip_serializing_if = $absent)] )?
            pub $what: $type, )*
            /// Only in a `start`: the run of this server that there was no room to go on with, up to its last
            /// whole line.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub follows: Option<FileHead>,
            /// Only in a `start`: every other run that was found, by file name.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub runs: Option<Vec<FileHead>>,
            /// Only in a `purge`: every file that is about to be removed, and of the earlier removals that are
            /// recorded in one of these those that a staying run needs explained.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub removed: Option<Vec<FileHead>>,
            /// Duration of the call so far, in milliseconds.
            pub ms: u64,
            /// The hash of the previous line; 64 zeros in the first.
            pub prev: LineHash,
            /// The hash of this line's bytes before this member.
            pub hash: LineHash,
        }

        impl Record {
            /// The members that every door shows as they are.
            pub const SHOWN: &[ShownMember] = &[
                $($( ShownMember {
                    name: stringify!($what),
                    meaning: $doc.trim_ascii(),
                    $shown: |record| record.$what.as_ref().map(ToString::to_string),
                }, )?)*
            ];

            /// A record of the log itself, without an entry.
            pub(in crate::audit) fn bare(event: AuditEvent, stamp: &RecordStamp<'_>) -> Self {
                Self {
                    v: VERSION,
                    seq: stamp.seq,
                    time: Date::from_instant(stamp.time).unwrap_or_default().into(),
                    run: stamp.run,
                    number: None,
                    call: None,
                    event,
                    $( $who: Default::default(), )*
                    wiki: cut(stamp.wiki, MAX_SHORT),
                    site: stamp.site.map(SiteName::to_string),
                    $( $what: Default::default(), )*
                    follows: None,
                    runs: None,
                    removed: None,
                    ms: 0,
                    prev: stamp.prev,
                    hash: LineHash::FIRST,
                }
            }

            /// The record of an entry, its texts cut to their bounds.
            pub(in crate::audit) fn new(entry: &AuditEntry, stamp: &RecordStamp<'_>) -> Self {
                Self {
                    call: Some(entry.call),
                    $( $who: $who_bound(&entry.$who), )*
                    $( $what: $bound(&entry.$what), )*
                    removed: (entry.event == AuditEvent::Purge).then(|| entry.removed.clone()),
                    ms: entry.ms,
                    ..Self::bare(entry.event, stamp)
                }
            }
        }
    };
}

members! {
    who {
        /// The client that called.
        client: Option<Client> = client, absent if "Option::is_none";
        /// The actor, if not a client: the user of the machine who ran a command.
        actor: Option<Actor> = actor, absent if "Option::is_none";
        /// The tool or command that was called.
        tool: Option<String> = short, absent if "Option::is_none";
        /// The kind of write.
        operation: Option<Operation> = whole, absent if "Option::is_none";
    }
    what {
        /// The key of the wiki that the call came with.
        key: Option<KeyDigest> = whole, absent if "Option::is_none";
        /// The page's id.
        id: Option<i64> = whole, absent if "Option::is_none";
        /// The page's locale.
        locale: Option<Locale> = locale, absent if "Option::is_none";
        /// The page's path.
        path: Option<PagePath> = path, absent if "Option::is_none";
        /// The path that the page shall get.
        new_path: Option<PagePath> = path, absent if "Option::is_none";
        /// The temporary path at which the page stands in between, if it does not move directly.
        aside: Option<PagePath> = path, absent if "Option::is_none" => shown;
        /// The gate that decided.
        gate: Option<String> = short, absent if "Option::is_none";
        /// The gate's decision.
        decision: Option<String> = short, absent if "Option::is_none";
        /// The reason.
        reason: Option<String> = long, absent if "Option::is_none";
        /// The fields that change, in the order of a kept state's.
        fields: Vec<Field> = fields;
        /// The lines of content that are new.
        lines_added: u64 = whole;
        /// The lines of content that go.
        lines_removed: u64 = whole;
        /// The kept state before.
        before: Option<KeptState> = whole, absent if "Option::is_none";
        /// The kept state after, as promised.
        after: Option<KeptState> = whole, absent if "Option::is_none";
        /// The kept state that was read back, if it is not `after`.
        found: Option<KeptState> = whole, absent if "Option::is_none";
        /// The wiki's time of the page as the step left it.
        updated_at: Option<Date> = whole, absent if "Option::is_none";
        /// The outcome of an attempt.
        outcome: Option<Outcome> = whole, absent if "Option::is_none";
        /// The error code that the caller was answered with.
        code: Option<String> = short, absent if "Option::is_none";
        /// The step of the write.
        step: Option<String> = short, absent if "Option::is_none";
        /// The call that this one takes back.
        undoes: Option<CallId> = whole, absent if "Option::is_none";
        /// The other calls that it takes back, if it takes back several writes of one page.
        also_undoes: Vec<CallId> = whole, absent if "Vec::is_empty";
        /// The approval that a write spent; of a person's answer, the call that asked, if another did.
        confirms: Option<ApprovalId> = whole, absent if "Option::is_none";
        /// Scope of that approval, if it was given for more than this write: `page` or `kind`.
        standing: Option<String> = short, absent if "Option::is_none" => shown;
        /// The proposal that this belongs to.
        proposal: Option<String> = short, absent if "Option::is_none";
        /// The client that made that proposal, if somebody else decides on it.
        proposer: Option<Client> = client, absent if "Option::is_none";
        /// The set of several changes that it is one of.
        set: Option<CallId> = whole, absent if "Option::is_none";
        /// The trace that the call belongs to, by its W3C id.
        trace: Option<TraceId> = whole, absent if "Option::is_none" => shown;
        /// The reason for the call, in the caller's own words.
        note: Option<String> = long, absent if "Option::is_none";
        /// The codes of the checks' warnings.
        warnings: Vec<String> = codes, absent if "Vec::is_empty";
    }
}
