//! The chain that holds the records of a run together.
//!
//! The `hash` of a line is the SHA-256 of its bytes before `,"hash"`, its last member; `prev`
//! is the `hash` of the line before. A line that was changed no longer has its hash, and one
//! that was removed, moved or put in no longer fits its neighbours.
//!
//! What a chain cannot prove: that nothing is missing at the end of a run that was not closed
//! (a later run's `start` saw its length), and that nobody who may write the files rewrote all
//! of them, hashes included (heads kept elsewhere show that).

use std::io::{self, BufRead};

use serde::Deserialize;

use super::LineHash;
use super::lines::{Line, next_line};

/// The form of record that is written; a reader must not guess at a newer one.
pub const VERSION: u32 = 1;

/// The length of `,"hash":"…"}`, in bytes.
pub(super) const TRAILER_LENGTH: usize = 75;

/// The end of a line with this hash.
pub(super) fn trailer(hash: LineHash) -> String {
    format!(",\"hash\":\"{hash}\"}}")
}

/// Splits a line, without its end, into what is hashed and the hash; nothing if it does not
/// end in one.
pub(super) fn split(line: &[u8]) -> Option<(&[u8], LineHash)> {
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
    /// How many records there are.
    pub records: u64,
    /// The hash of the last one; [`LineHash::FIRST`] if there is none.
    pub last: LineHash,
    /// How the file ends.
    pub end: End,
}

/// How a file of records ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With `closed`: nothing can be missing behind it.
    Closed,
    /// Without it: the run still lives, or was ended by force, or lines were cut off.
    Open,
    /// In the beginning of the very record that was due, or in zeros: a write that a power cut
    /// or a full disk broke off.
    HalfWritten,
}

/// The first line that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct Broken {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It does not have the hash that it says.
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
    /// The record that was due here stands further down.
    #[error("is out of order: record {due}, which was due here, stands further down")]
    Reordered {
        /// The number of the record that was due.
        due: u64,
    },
    /// A record of this number was there already.
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

/// What a chain needs to know of a record, whatever its form.
#[derive(Deserialize)]
struct Head {
    v: u32,
    seq: u64,
    event: String,
    #[serde(default)]
    time: String,
    prev: LineHash,
}

/// A whole line that holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link<'a> {
    /// The line without its end.
    pub(super) line: &'a [u8],
    /// Where it ends in the file, in bytes, its end included.
    pub(super) end: u64,
    /// Its hash.
    pub(super) hash: LineHash,
    /// When it was written, by its own word.
    pub(super) time: &'a str,
}

/// Follows a chain from its first line to its last, in bounded memory. Records of a newer form
/// are followed too.
///
/// # Errors
/// The first line that was changed, removed, moved or put in.
pub fn verify(reader: impl BufRead) -> Result<Verified, Broken> {
    follow(reader, |_| {})
}

/// Follows a chain, and shows each whole line that holds.
pub(super) fn follow(
    mut reader: impl BufRead,
    mut each: impl FnMut(Link<'_>),
) -> Result<Verified, Broken> {
    let mut buffer = Vec::new();
    let mut end = 0_u64;
    let mut form = VERSION;
    let mut chain = Verified {
        records: 0,
        last: LineHash::FIRST,
        end: End::Open,
    };
    loop {
        let due = chain.records.saturating_add(1);
        let broken = |fault| Broken { line: due, fault };
        let read =
            next_line(&mut reader, &mut buffer).map_err(|error| broken(Fault::Io(error.kind())))?;
        match read {
            Line::End => return Ok(chain),
            Line::TooLong => return Err(broken(Fault::TooLong)),
            Line::Rest if chain.end == End::Open && is_beginning(&buffer, form, due) => {
                chain.end = End::HalfWritten;
                return Ok(chain);
            }
            Line::Whole | Line::Rest => {}
        }
        let (link, hash) = read_link(&buffer).map_err(broken)?;
        if chain.end == End::Closed {
            return Err(broken(Fault::AfterClosed));
        }
        if link.seq > due {
            let fault = look_ahead(reader, &mut buffer, due, link.seq);
            return Err(broken(fault));
        }
        if link.seq < due {
            return Err(broken(Fault::Repeated { seq: link.seq }));
        }
        if link.prev != chain.last {
            return Err(broken(Fault::Unlinked));
        }
        form = link.v;
        chain.records = due;
        chain.last = hash;
        // The end of the line is missing where this is the rest of the file: all the record is
        // there, but its write was broken off all the same.
        chain.end = match read {
            Line::Rest => End::HalfWritten,
            _ if link.event == "closed" => End::Closed,
            _ => End::Open,
        };
        if read == Line::Whole {
            let length = u64::try_from(buffer.len()).unwrap_or(u64::MAX);
            end = end.saturating_add(length).saturating_add(1);
            each(Link {
                line: &buffer,
                end,
                hash,
                time: &link.time,
            });
        }
    }
}

fn read_link(line: &[u8]) -> Result<(Head, LineHash), Fault> {
    let Some((body, hash)) = split(line) else {
        // A record that lost its hash was changed; what was never one is told apart.
        return Err(if line.starts_with(b"{\"v\":") {
            Fault::Changed
        } else {
            Fault::NotARecord
        });
    };
    if LineHash::of(body) != hash {
        return Err(Fault::Changed);
    }
    serde_json::from_slice(line)
        .map(|link| (link, hash))
        .map_err(|_| Fault::NotARecord)
}

/// Tells a record that was moved down from one that is gone.
fn look_ahead(mut reader: impl BufRead, buffer: &mut Vec<u8>, due: u64, found: u64) -> Fault {
    while matches!(next_line(&mut reader, buffer), Ok(Line::Whole | Line::Rest)) {
        if read_link(buffer).is_ok_and(|(link, _)| link.seq == due) {
            return Fault::Reordered { due };
        }
    }
    Fault::Removed {
        first: due,
        last: found.saturating_sub(1),
    }
}

/// Whether the unfinished rest of a file is the beginning of the record that was due, or what a
/// file system leaves where it had made room but not written yet.
fn is_beginning(rest: &[u8], form: u32, due: u64) -> bool {
    let begins = format!("{{\"v\":{form},\"seq\":{due},\"time\":\"");
    let common = rest.len().min(begins.len());
    let is_cut = split(rest).is_none();
    rest.iter().all(|byte| *byte == 0)
        || (is_cut && rest.get(..common) == begins.as_bytes().get(..common))
}

#[cfg(test)]
mod tests;
