//! The kept states of pages, so that every write can be taken back.
//!
//! A state is kept as gzip of its JSON, named by the SHA-256 of that JSON: equal states share a
//! file, and a changed file is detected.

use std::io::{self, Read as _, Write as _};
use std::time::SystemTime;

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

use super::super::{AuditError, AuditResult, KeptState};
use crate::page::PageState;
use crate::store::{Lease, Listed, Store, StoreError};

/// The largest JSON of a state, in bytes; twice the largest answer that is accepted from a wiki. A
/// larger state is not kept, so that every kept state can be read, and a file that unpacks to more
/// was not written by this program.
const MAX_STATE: usize = 64 * 1024 * 1024;

/// Number of bytes at the end of gzip that tell the length of what is packed.
const LENGTH_AT_END: u32 = 4;

/// Keeps a state: completely on the disk before this returns. Gives its name, and its length as it is
/// kept. `_held` shares the lease of blobs, so that no purge removes the state between our finding and
/// our renewing it.
pub fn keep(store: &dyn Store, state: &PageState, _held: &Lease) -> AuditResult<(KeptState, u64)> {
    let json = serde_json::to_vec(state).map_err(|_| AuditError::BrokenOff)?;
    if json.len() > MAX_STATE {
        return Err(AuditError::TooLarge);
    }
    let name = KeptState::new(&json);
    let file = name.to_string();
    // A state that cannot be renewed is written again.
    match read(store, name) {
        Ok((found, length)) if found == json && store.renew_blob(&file) == Ok(true) => {
            return Ok((name, length));
        }
        Ok(_) | Err(AuditError::Missing) => {}
        Err(_) => tracing::warn!(state = %name, "audit: a damaged kept state is replaced"),
    }
    let packed = pack(&json).map_err(|error| AuditError::Io(error.kind()))?;
    let length = store.put_blob(&file, &packed)?;
    Ok((name, length))
}

/// Unpacked size of a kept state in bytes, as its end says; 0 if there is none. Reading it back
/// never takes more.
pub(in crate::audit) fn size(store: &dyn Store, name: KeptState) -> usize {
    let end = store.end_of_blob(&name.to_string(), LENGTH_AT_END);
    end.ok()
        .flatten()
        .map_or(0, |end| said_size(&end).unwrap_or(0))
}

/// The length of what is packed: the last four bytes of gzip.
fn said_size(packed: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(*packed.last_chunk()?);
    Some(usize::try_from(length).unwrap_or(usize::MAX))
}

/// Checks a kept state against the hash in its name.
pub(in crate::audit) fn check(store: &dyn Store, name: KeptState) -> AuditResult<()> {
    unpacked(store, name).map(drop)
}

/// Reads a kept state back.
pub fn kept(store: &dyn Store, name: KeptState) -> AuditResult<PageState> {
    serde_json::from_slice(&unpacked(store, name)?).map_err(|_| AuditError::Damaged)
}

/// The JSON of a state, which is what its name says.
fn unpacked(store: &dyn Store, name: KeptState) -> AuditResult<Vec<u8>> {
    let (json, _) = read(store, name)?;
    if KeptState::new(&json) == name {
        Ok(json)
    } else {
        Err(AuditError::Damaged)
    }
}

/// Removes a state, unless it was kept again since then. `_held` has the lease of blobs alone.
pub fn remove(
    store: &dyn Store,
    name: KeptState,
    not_since: SystemTime,
    _held: &Lease,
) -> AuditResult<bool> {
    Ok(store.remove_blob(&name.to_string(), not_since)?)
}

/// The kept states that there are; what has other names is ignored.
pub fn list(store: &dyn Store) -> AuditResult<impl Iterator<Item = (KeptState, Listed)> + use<>> {
    let all = store.blobs()?.into_iter();
    Ok(all.filter_map(|listed| Some((KeptState::of_text(listed.name.as_bytes())?, listed))))
}

fn pack(json: &[u8]) -> io::Result<Vec<u8>> {
    // A write waits for this: better compression takes ten times as long for a third less.
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(json)?;
    packer.finish()
}

/// Unpacks a kept state; gives the length of what is kept, too.
fn read(store: &dyn Store, name: KeptState) -> AuditResult<(Vec<u8>, u64)> {
    let most = u64::try_from(MAX_STATE).unwrap_or(u64::MAX);
    let packed = match store.blob(&name.to_string(), most) {
        Err(StoreError::Unfit(_)) => return Err(AuditError::Damaged),
        packed => packed?.ok_or(AuditError::Missing)?,
    };
    let length = u64::try_from(packed.len()).unwrap_or(u64::MAX);
    Ok((unpack(&packed).ok_or(AuditError::Damaged)?, length))
}

/// `None` for anything but one whole gzip of as many bytes as its end says.
fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let said = said_size(packed).filter(|said| *said <= MAX_STATE)?;
    let mut json = Vec::with_capacity(said);
    let limit = u64::try_from(said).unwrap_or(u64::MAX);
    let mut unpacker = GzDecoder::new(packed);
    let read = unpacker
        .by_ref()
        .take(limit.saturating_add(1))
        .read_to_end(&mut json);
    // The name proves what is packed; nothing of ours stands behind it.
    let is_whole = read.is_ok() && json.len() <= said && unpacker.into_inner().is_empty();
    is_whole.then_some(json)
}

#[cfg(test)]
mod tests;
