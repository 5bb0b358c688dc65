//! Checks the memories of clients: who shares them, their number, and whether they can be read.

use std::collections::HashSet;

use super::super::print;
use super::finding::DoctorFinding;
use crate::audit::AuditLog;
use crate::memory::{MemoryMode, MemoryStore};

pub(super) async fn found(log: &AuditLog, mode: MemoryMode) -> DoctorFinding {
    let memories = MemoryStore::of(log);
    let all = match memories.all().await {
        Ok(all) => all,
        Err(error) => {
            let seen = format!("{error}: {}", print::path(&memories.dir));
            return DoctorFinding::wrong(seen, error.hint());
        }
    };
    let owners: HashSet<&str> = all.iter().map(|one| one.client.key.as_str()).collect();
    let forgotten = all.iter().filter(|one| one.memory.forgotten.is_some());
    let gone = forgotten.count();
    let whose = match mode {
        MemoryMode::Client => "each client has its own",
        MemoryMode::Site(_) => "all clients of the site share theirs",
    };
    DoctorFinding::good(format!(
        "{whose}; {} of {}, {gone} can be restored",
        print::counted(all.len().saturating_sub(gone), "memory", "memories"),
        print::counted(owners.len(), "owner", "owners")
    ))
}
