//! The hash chain of a run's records.
//!
//! The `hash` of a line is the SHA-256 of its bytes before `,"hash"`, its last member; `prev` is
//! the `hash` of the line before. A changed line no longer has its hash; a line that was removed,
//! moved or inserted no longer fits its neighbours.
//!
//! A chain alone cannot prove that nothing is missing at the end of a run that was not closed; the
//! `start` of a later run does, since it holds the length. Nor can it prove that nobody with write
//! access rewrote all files, hashes included; heads kept elsewhere do.

use std::io::{self, BufRead};

use serde::Deserialize;

use super::super::LineHash;
use super::super::run::lines::{LineStatus, next_line};
use crate::words::words;

/// The version of the record format; a reader must not guess at a newer one.
pub const VERSION: u32 = 1;

/// The length of `,"hash":"…"}`, in bytes.
pub(in crate::audit) const TRAILER_LENGTH: usize = 75;

/// The end of a line with this hash.
pub(in crate::audit) fn trailer(hash: LineHash) -> String {
    format!(",\"hash\":\"{hash}\"}}")
}

/// Splits a line, without its end, into the hashed bytes and the hash; `None` if it does not end in
/// a hash.
pub(in crate::audit) fn split(line: &[u8]) -> Option<(&[u8], LineHash)> {
    let (body, end) = line.split_at_checked(line.len().checked_sub(TRAILER_LENGTH)?)?;
    let hash = std::str::from_utf8(end)
        .ok()?
        .strip_prefix(",\"hash\":\"")?
        .strip_suffix("\"}")?;
    Some((body, hash.parse().ok()?))
}

/// A chain that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// Number of records.
    pub records: u64,
    /// The hash of the last one; [`LineHash::FIRST`] if there is none.
    pub last: LineHash,
    /// The way the file ends.
    pub end: RunFileEnd,
}

words! {
    /// The way a file of records ends.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RunFileEnd: as_str {
        /// With `closed`: nothing can be missing after it.
        Closed = "closed",
        /// Without `closed`: the run is still active, or was killed, or lines were cut off.
        Open = "open",
        /// With the beginning of the next record, or with zeros: a power cut or a full disk broke off a
        /// write.
        HalfWritten = "half_written",
    }
}

/// The first line that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct ChainBreak {
    /// The line, from 1.
    pub line: u64,
    /// The fault in it.
    pub fault: ChainFault,
}

/// A fault in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChainFault {
    /// Its hash is wrong.
    #[error("was changed: it does not have its hash")]
    Changed,
    /// It is no record at all.
    #[error("is no record")]
    NotARecord,
    /// Records before it are nowhere in the file.
    #[error("records {first} to {last} are missing before it")]
    Removed {
        /// The number of the first that is missing.
        first: u64,
        /// The number of the last that is missing.
        last: u64,
    },
    /// The record expected here is further down.
    #[error("is out of order: record {due}, which was due here, stands further down")]
    Reordered {
        /// The number of the record that was due.
        due: u64,
    },
    /// There was already a record of this number.
    #[error("is record {seq} once more: a line was repeated, moved or put in")]
    Repeated {
        /// The number of the record.
        seq: u64,
    },
    /// It does not follow the line before it, although the numbers do.
    #[error("does not follow the line before it: one of the two was replaced")]
    Unlinked,
    /// The run was closed before it.
    #[error("follows the end of the run")]
    AfterClosed,
    /// It is longer than any record.
    #[error("is longer than any record")]
    TooLong,
    /// The file could not be read on.
    #[error("could not be read: {0}")]
    Io(io::ErrorKind),
}

/// The members of a record that the chain needs, in any version.
#[derive(Deserialize)]
struct RecordHead {
    v: u32,
    seq: u64,
    event: String,
    #[serde(default)]
    time: String,
    prev: LineHash,
}

/// A whole line that holds.
#[derive(Debug, Clone, Copy)]
pub(in crate::audit) struct ChainLink<'a> {
    /// The line without its end.
    pub(in crate::audit) line: &'a [u8],
    /// The offset in the file after its line end, in bytes.
    pub(in crate::audit) end: u64,
    /// Its hash.
    pub(in crate::audit) hash: LineHash,
    /// Time of writing, by its own word.
    pub(in crate::audit) time: &'a str,
}

/// Checks a chain from its first line to its last, in bounded memory, also with records of a newer
/// version.
///
/// # Errors
/// The first line that was changed, removed, moved or inserted.
pub fn verify(reader: impl BufRead) -> Result<Verified, ChainBreak> {
    follow(reader, |_| {})
}

/// Checks a chain, and passes each valid line on.
pub(in crate::audit) fn follow(
    mut reader: impl BufRead,
    mut each: impl FnMut(ChainLink<'_>),
) -> Result<Verified, ChainBreak> {
    let mut buffer = Vec::new();
    let mut end = 0_u64;
    let mut form = VERSION;
    let mut chain = Verified {
        records: 0,
        last: LineHash::FIRST,
        end: RunFileEnd::Open,
    };
    loop {
        let due = chain.records.saturating_add(1);
        let broken = |fault| ChainBreak { line: due, fault };
        let read = next_line(&mut reader, &mut buffer)
            .map_err(|error| broken(ChainFault::Io(error.kind())))?;
        match read {
            LineStatus::End => return Ok(chain),
            LineStatus::TooLong => return Err(broken(ChainFault::TooLong)),
            LineStatus::Rest
                if chain.end == RunFileEnd::Open && is_beginning(&buffer, form, due) =>
            {
                chain.end = RunFileEnd::HalfWritten;
                return Ok(chain);
            }
            LineStatus::Whole | LineStatus::Rest => {}
        }
        let (link, hash) = read_link(&buffer).map_err(broken)?;
        if chain.end == RunFileEnd::Closed {
            return Err(broken(ChainFault::AfterClosed));
        }
        if link.seq > due {
            let fault = look_ahead(reader, &mut buffer, due, link.seq);
            return Err(broken(fault));
        }
        if link.seq < due {
            return Err(broken(ChainFault::Repeated { seq: link.seq }));
        }
        if link.prev != chain.last {
            return Err(broken(ChainFault::Unlinked));
        }
        form = link.v;
        chain.records = due;
        chain.last = hash;
        // At the end of the file the line end may be missing: the record is complete, but its write
        // was broken off.
        chain.end = match read {
            LineStatus::Rest => RunFileEnd::HalfWritten,
            _ if link.event == "closed" => RunFileEnd::Closed,
            _ => RunFileEnd::Open,
        };
        if read == LineStatus::Whole {
            let length = u64::try_from(buffer.len()).unwrap_or(u64::MAX);
            end = end.saturating_add(length).saturating_add(1);
            each(ChainLink {
                line: &buffer,
                end,
                hash,
                time: &link.time,
            });
        }
    }
}

fn read_link(line: &[u8]) -> Result<(RecordHead, LineHash), ChainFault> {
    let Some((body, hash)) = split(line) else {
        // A record without its hash was changed; text that was never a record is another fault.
        return Err(if line.starts_with(b"{\"v\":") {
            ChainFault::Changed
        } else {
            ChainFault::NotARecord
        });
    };
    if LineHash::new(body) != hash {
        return Err(ChainFault::Changed);
    }
    serde_json::from_slice(line)
        .map(|link| (link, hash))
        .map_err(|_| ChainFault::NotARecord)
}

/// Distinguishes a record that was moved down from a missing one.
fn look_ahead(mut reader: impl BufRead, buffer: &mut Vec<u8>, due: u64, found: u64) -> ChainFault {
    while matches!(
        next_line(&mut reader, buffer),
        Ok(LineStatus::Whole | LineStatus::Rest)
    ) {
        if read_link(buffer).is_ok_and(|(link, _)| link.seq == due) {
            return ChainFault::Reordered { due };
        }
    }
    ChainFault::Removed {
        first: due,
        last: found.saturating_sub(1),
    }
}

/// True if the unfinished rest of a file is the beginning of the next record, or the zeros of space
/// that the file system allocated but did not write.
fn is_beginning(rest: &[u8], form: u32, due: u64) -> bool {
    let begins = format!("{{\"v\":{form},\"seq\":{due},\"time\":\"");
    let common = rest.len().min(begins.len());
    let is_cut = split(rest).is_none();
    rest.iter().all(|byte| *byte == 0)
        || (is_cut && rest.get(..common) == begins.as_bytes().get(..common))
}

#[cfg(test)]
mod tests;
