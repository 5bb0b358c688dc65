//! The kept state of a page as it was at a time.

use std::collections::VecDeque;

use super::super::{AuditResult, KeptState, KeyDigest, WriteReader, kept_states, runs, scan};
use crate::page::{Date, PageState};

/// The most of a page's newest kept states that are searched.
const MAX_LOOKED_AT: usize = 100;

/// A page as a write found it, and the key of that write, if recorded.
pub type PriorState = (PageState, Option<KeyDigest>);

impl WriteReader {
    /// The page with this date as a write of ours found it, and the key of that write. Searches the
    /// newest hundred states of the page.
    ///
    /// A field whose loss was accepted is empty in it, like a field that was empty.
    ///
    /// # Errors
    /// If the runs cannot be read. A purged or damaged state is skipped.
    pub async fn state_at(&self, id: i64, time: &Date) -> AuditResult<Option<PriorState>> {
        let time = time.clone();
        self.place
            .on(move |place| {
                let mut names: VecDeque<(KeptState, Option<KeyDigest>)> = VecDeque::new();
                scan(&runs(place)?, &[&format!("\"id\":{id},")], |record, _| {
                    let Some(name) = record.before.filter(|_| record.id == Some(id)) else {
                        return;
                    };
                    // The steps of a write have consecutive states.
                    let it = (name, record.key);
                    if names.back() != Some(&it) {
                        names.push_back(it);
                    }
                    if names.len() > MAX_LOOKED_AT {
                        names.pop_front();
                    }
                })?;
                let states = names.into_iter().rev().filter_map(|(name, key)| {
                    Some((kept_states::kept(&*place.store, name).ok()?, key))
                });
                let is_it = |(state, _): &PriorState| {
                    let at = state.updated_at.as_ref();
                    at.is_some_and(|at| at.same(&time))
                };
                Ok({ states }.find(is_it))
            })
            .await
    }
}
