//! Compares this machine's clock with the wiki's.

use super::finding::DoctorFinding;
use crate::wiki::Reached;

/// The most seconds by which they may differ.
const MOST: u64 = 5;

pub(super) fn found(reached: Option<&Reached>) -> DoctorFinding {
    let Some(reached) = reached else {
        return DoctorFinding::skipped("because of the address");
    };
    match reached.ahead {
        None => DoctorFinding::skipped("because the wiki's answers have no date"),
        Some(ahead) if ahead.unsigned_abs() <= MOST => {
            DoctorFinding::good("this machine's clock agrees with the wiki's")
        }
        Some(ahead) => DoctorFinding::warning(
            format!(
                "this machine's clock is {} s {} the wiki's",
                ahead.unsigned_abs(),
                if ahead > 0 { "ahead of" } else { "behind" }
            ),
            "Set the wrong one; times in the audit log and what changed since when depend on both.",
        ),
    }
}
