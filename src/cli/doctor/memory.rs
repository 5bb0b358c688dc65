//! Checks the memories of clients: who shares them, their size, and whether the store can be used.

use super::super::print;
use super::finding::DoctorFinding;
use crate::audit::AuditLog;
use crate::gates::{Policy, WritePolicy};
use crate::memory::{MOST, MOST_BYTES, MemoryMode, MemoryStore, Timestamp, Usage};

/// The share of an owner's room, in percent, from which it is told.
const NEARLY: usize = 90;

pub(super) async fn found(log: &AuditLog, mode: MemoryMode, policy: &Policy) -> Vec<DoctorFinding> {
    let memories = MemoryStore::of(log);
    let looked = memories.look(|rows| {
        let mut all = Vec::new();
        let mut latest = Timestamp::default();
        for owner in rows.owners()? {
            let own = rows.of_owner(&owner.key)?.into_iter();
            let latest_of = own.map(|one| one.used.max(one.changed));
            latest = latest_of.fold(latest, Timestamp::max);
            let usage = rows.usage(&owner.key)?;
            all.push((owner, usage));
        }
        Ok((all, latest > rows.now.plus_days(1)))
    });
    let file = print::path(memories.file());
    let (owners, is_ahead) = match looked.await {
        Ok(found) => found.unwrap_or_default(),
        Err(error) => {
            let seen = format!("{error}: {file}");
            return vec![DoctorFinding::wrong(seen, error.hint())];
        }
    };
    let entries: usize = owners.iter().map(|(_, usage)| usage.entries).sum();
    let gone: usize = owners.iter().map(|(_, usage)| usage.gone).sum();
    let whose = match mode {
        MemoryMode::Client => "each client has its own",
        MemoryMode::Site => "all clients of the site share theirs",
        MemoryMode::Off => "nothing is remembered",
    };
    let mut found = vec![DoctorFinding::good(format!(
        "{whose}; {entries} memories of {} owners, {gone} can be restored",
        owners.len()
    ))];
    if matches!(policy.writes(), WritePolicy::Off) {
        found.push(DoctorFinding::warning(
            "writes are off, so clients recall and remember nothing new",
            "Set WIKI_MUTATIONS_ENABLED=true if they shall remember; a dry run is enough.",
        ));
    }
    for (owner, usage) in &owners {
        if is_nearly_full(*usage) {
            let seen = format!(
                "{} has {} memories of {} bytes; {MOST} and {MOST_BYTES} are the most",
                print::harmless(&owner.name),
                usage.entries,
                usage.bytes
            );
            found.push(DoctorFinding::warning(
                seen,
                "`wikijs-gate memory list` shows which are needed no more; `memory forget` takes them away.",
            ));
        }
    }
    if is_ahead {
        found.push(DoctorFinding::warning(
            "something was remembered at a time that is yet to come; the next change puts it right",
            "Check the clock of this machine.",
        ));
    }
    found
}

fn is_nearly_full(usage: Usage) -> bool {
    let is_most = |part: usize, all: usize| part.saturating_mul(100) >= all.saturating_mul(NEARLY);
    is_most(usage.entries, MOST) || is_most(usage.bytes, MOST_BYTES)
}

#[cfg(test)]
mod tests {
    use super::{Usage, is_nearly_full};

    #[test]
    fn a_store_is_nearly_full_by_number_or_by_bytes() {
        let usage = |entries, bytes| Usage {
            entries,
            bytes,
            ..Usage::default()
        };
        assert!(!is_nearly_full(usage(899, 3 << 20)));
        assert!(is_nearly_full(usage(900, 0)));
        assert!(is_nearly_full(usage(0, 4 << 20)));
    }
}
