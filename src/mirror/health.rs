//! Tells how much a mirror keeps and how old its last look is, and checks that all states of its pages are kept.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::known::KnownPages;
use crate::audit::{AuditError, AuditResult, KeptState, kept_states};
use crate::mirror::{Mirror, MirrorTime};
use crate::store::{Store, on};

impl Mirror {
    /// Its extent in words, and the time at which the last look began, if there was one.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn extent(&self) -> AuditResult<(String, Option<MirrorTime>)> {
        let known = self.known().await?;
        let gone = known.iter().filter(|page| page.gone.is_some()).count();
        let states = known.iter().flat_map(|page| &page.states);
        let kept: HashMap<KeptState, u64> = states.map(|seen| (seen.state, seen.bytes)).collect();
        let told = format!(
            "{} pages, {gone} of them gone, in {} states of {} MB",
            known.len(),
            kept.len(),
            kept.values().sum::<u64>() >> 20
        );
        Ok((told, known.look.map(|look| look.at)))
    }
}

/// Reads all states that the mirror in a store names; a sentence for each page of which some are missing
/// or damaged.
///
/// # Errors
/// If the store cannot be read.
pub async fn check(store: &Arc<dyn Store>) -> AuditResult<Vec<String>> {
    on(store, |store| {
        let known = KnownPages::load(store)?;
        let (mut whole, mut broken) = (HashSet::new(), Vec::new());
        for page in known.iter() {
            let mut lost = 0_usize;
            for seen in &page.states {
                if whole.contains(&seen.state) {
                    continue;
                }
                match kept_states::kept(store, seen.state) {
                    Ok(_) => drop(whole.insert(seen.state)),
                    Err(AuditError::Missing | AuditError::Damaged | AuditError::TooLarge) => {
                        lost += 1;
                    }
                    Err(error) => return Err(error),
                }
            }
            if lost > 0 {
                let (id, of, locale) = (page.id, page.states.len(), &page.place.locale);
                let path = page.place.path.as_str();
                broken.push(format!(
                    "mirror: of page {id} ({locale}:{path}) {lost} of {of} states are missing or damaged"
                ));
            }
        }
        Ok(broken)
    })
    .await
}
