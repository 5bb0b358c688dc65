//! Puts the result of a check into words.

use super::super::entry::chain::RunFileEnd;
use super::{Against, CheckedRun, LogVerification};
use crate::words::counted;

impl LogVerification {
    /// Number of records that hold.
    pub fn records(&self) -> u64 {
        let chains = self.runs.iter().filter_map(|run| run.chain.as_ref().ok());
        chains.map(|chain| chain.records).sum()
    }

    /// Sentences on what the given heads and anchors cannot prove.
    pub fn unproven(&self, against: &Against) -> Vec<String> {
        let mut told = Vec::new();
        match (&self.anchored, &against.anchors) {
        (Some(anchored), Some(read)) => {
            if let Some(since) = &anchored.since {
                told.push(format!(
                    "{} since {since} after the last anchor could have been cut off or rewritten",
                    counted(anchored.unproven, "record", "records"),
                ));
            }
            if !read.is_checked {
                told.push(
                    "no signature of the anchors was checked (--key): whoever may write their file as well could have rewritten both".to_owned(),
                );
            }
        }
        _ if against.heads.is_empty() => told.push(
            "without anchors (--anchors) or heads (--head) kept elsewhere nothing shows whether the newest records were cut off, or all was rewritten with its hashes".to_owned(),
        ),
        _ => told.push("what came after the heads of --head was taken could have been cut off or rewritten".to_owned()),
    }
        if self.older > 0 {
            told.push(format!(
                "{} that heads or anchors name {} older than what the purges on record removed: the record of that purge is gone with its run",
                counted(self.older, "run", "runs"),
                if self.older == 1 { "is" } else { "are" },
            ));
        }
        told
    }
}

impl CheckedRun {
    /// A sentence on what is unknown about a run's end.
    pub fn open_end(&self) -> Option<String> {
        let chain = self.chain.as_ref().ok()?;
        if let Some(next) = &self.followed_by {
            let half = match chain.end {
                RunFileEnd::HalfWritten => "ends in a half-written record: ",
                RunFileEnd::Closed | RunFileEnd::Open => "",
            };
            return Some(format!(
                "{half}there was no room for more, or the database was away; {next} goes on from its last whole record"
            ));
        }
        let says = match chain.end {
            RunFileEnd::Closed => return None,
            // Nothing is in it that could tell.
            RunFileEnd::Open if chain.records == 0 && !self.is_locked => {
                "is empty: its server is just beginning, or was ended by force before it wrote"
            }
            _ if self.is_locked => "is being written",
            RunFileEnd::Open => {
                "was not closed: it was ended by force, or its last lines were cut off; a later run or a head kept elsewhere can tell"
            }
            RunFileEnd::HalfWritten => {
                "ends in a half-written record: a power cut or a full disk broke it off"
            }
        };
        Some(says.to_owned())
    }
}
