//! The kept state of a page as it was at a time.

use std::collections::VecDeque;

use super::log::blocking;
use super::place::Place;
use super::reader::{runs, scan};
use super::{AuditError, AuditLog, KeptState, kept};
use crate::page::{Date, PageState};

/// How many of the newest kept states of a page are looked through.
const MAX_LOOKED_AT: usize = 100;

impl AuditLog {
    /// The page as a write of ours found it, if it was last written at that time; looked for
    /// among the newest hundred states of the page.
    ///
    /// A field whose loss was accepted is empty in it, as it is where there was nothing.
    ///
    /// # Errors
    /// If the runs cannot be read. A state that is purged or damaged is none.
    pub async fn found_at(&self, id: i64, time: &Date) -> Result<Option<PageState>, AuditError> {
        let (place, time) = (self.place(), time.clone());
        blocking(move || found_at(&place, id, &time)).await
    }
}

fn found_at(place: &Place, id: i64, time: &Date) -> Result<Option<PageState>, AuditError> {
    let mut names: VecDeque<KeptState> = VecDeque::new();
    scan(&runs(place)?, &[&format!("\"id\":{id},")], |told| {
        let Ok(record) = told.record else { return };
        let Some(name) = record.before.filter(|_| record.id == Some(id)) else {
            return;
        };
        // The steps of a write have their states one after another.
        if names.back() != Some(&name) {
            names.push_back(name);
        }
        if names.len() > MAX_LOOKED_AT {
            names.pop_front();
        }
    })?;
    let states = names
        .into_iter()
        .rev()
        .filter_map(|name| kept::kept(place, name).ok());
    let is_it = |state: &PageState| state.updated_at.as_ref().is_some_and(|at| at.same(time));
    Ok({ states }.find(is_it))
}
