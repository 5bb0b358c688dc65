//! Tells how much a mirror keeps and how old its last look is, and checks that all states of its pages are kept.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::bin::Mirror;
use super::known::KnownPages;
use super::pages::MirrorTime;
use crate::audit::{AuditError, KeptState, kept_states};
use crate::store::{Store, on};

/// The extent of a mirror.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MirrorExtent {
    /// Number of pages.
    pub pages: usize,
    /// Number of those that are gone.
    pub gone: usize,
    /// Number of states, each counted once.
    pub states: usize,
    /// The bytes of these, as they are kept.
    pub bytes: u64,
    /// The time at which the last look began, if there was one.
    pub looked: Option<MirrorTime>,
}

impl Mirror {
    /// Its extent.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn extent(&self) -> Result<MirrorExtent, AuditError> {
        let known = self.known().await?;
        let mut bytes: HashMap<KeptState, u64> = HashMap::new();
        let mut extent = MirrorExtent {
            pages: known.len(),
            looked: known.look.as_ref().map(|look| look.at),
            ..MirrorExtent::default()
        };
        for page in known.iter() {
            extent.gone += usize::from(page.gone.is_some());
            bytes.extend(page.states.iter().map(|seen| (seen.state, seen.bytes)));
        }
        extent.states = bytes.len();
        extent.bytes = bytes.into_values().sum();
        Ok(extent)
    }
}

/// Reads all states that the mirror in a store names; a sentence for each page of which some are missing
/// or damaged.
///
/// # Errors
/// If the store cannot be read.
pub(crate) async fn check(store: &Arc<dyn Store>) -> Result<Vec<String>, AuditError> {
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
                let (id, of) = (page.id, page.states.len());
                let place = format!("{}:{}", page.locale, page.path.as_str());
                broken.push(format!(
                    "mirror: of page {id} ({place}) {lost} of {of} states are missing or damaged"
                ));
            }
        }
        Ok(broken)
    })
    .await
}
