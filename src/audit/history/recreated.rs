//! Finds what undos created again after it was deleted: under another id.

use std::collections::HashMap;

use super::super::{
    AuditResult, CallId, KeptState, KeyDigest, Outcome, Record, RunFile, WriteReader, runs, scan,
};
use super::call_history::{RecordClock, RecordPosition};
use crate::change::Operation;

/// A page or an asset that a write of ours deleted, and that the undo of this write created again,
/// in whole or in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recreation {
    /// The page's id before.
    pub old: Option<i64>,
    /// The deleted page or asset, as it was kept.
    pub deleted: Option<KeptState>,
    /// The page's id since.
    pub new: Option<i64>,
    /// The recreated page or asset, as it was found; `None` if it is as it was kept before.
    pub found: Option<KeptState>,
    /// True if only a part of it came back, such as a page without its scripts.
    pub is_partial: bool,
    /// The key of the wiki that created it again.
    pub key: Option<KeyDigest>,
}

impl WriteReader {
    /// The pages or assets that undos created again; the newest first.
    ///
    /// # Errors
    /// If the runs cannot be read; an invalid line is skipped.
    pub async fn recreations(&self, of_assets: bool) -> AuditResult<Vec<Recreation>> {
        self.place
            .on(move |place| {
                let runs = runs(place)?;
                let (delete, create) = if of_assets {
                    (Operation::DeleteAsset, Operation::UploadAsset)
                } else {
                    (Operation::Delete, Operation::Create)
                };
                let mut deleted: HashMap<CallId, Record> = HashMap::new();
                applied(&runs, delete, |_, record| {
                    if let Some(call) = record.call {
                        deleted.insert(call, record);
                    }
                })?;
                let mut found: Vec<(RecordPosition, Recreation)> = Vec::new();
                applied(&runs, create, |moment, record| {
                    let undone = record.undone_calls();
                    for deletion in undone.iter().filter_map(|call| deleted.get(call)) {
                        let recreation = Recreation {
                            old: deletion.id,
                            deleted: deletion.before,
                            new: record.id,
                            found: record.found,
                            is_partial: record.outcome == Some(Outcome::PartlyApplied),
                            key: record.key,
                        };
                        found.push((moment, recreation));
                    }
                })?;
                found.sort_by_key(|(moment, _)| std::cmp::Reverse(*moment));
                Ok(found
                    .into_iter()
                    .map(|(_, recreation)| recreation)
                    .collect())
            })
            .await
    }
}

/// Passes the outcomes of all writes of a kind that were applied, in whole or in part, to `each`.
fn applied(
    runs: &[RunFile],
    operation: Operation,
    mut each: impl FnMut(RecordPosition, Record),
) -> AuditResult<()> {
    let wanted = format!("\"operation\":\"{}\"", operation.as_str());
    let mut clock = RecordClock::default();
    scan(runs, &[&wanted], |record, at| {
        let moment = clock.read(at.run_number, at.line, &record);
        if record.took_effect() && record.operation == Some(operation) {
            each(moment, record);
        }
    })?;
    Ok(())
}
