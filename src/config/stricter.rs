//! Finds gates that a settings file closes although it cannot be taken over.

use std::collections::BTreeSet;

use super::policy::{of_server, policy, surface, surface_of};
use super::{Layers, SettingsSource};
use crate::gates::{Policy, PolicyLevel};
use crate::tools::ToolSelection;

/// The name under which tools that are left out are told.
const TOOLS: &str = "the tools on offer";

impl Layers {
    /// The gates of these layers that are surely stricter than the ones in force, by the names of
    /// their settings.
    ///
    /// Where the site's own values do not fit the server's, so that it has no policy, the server's
    /// values still bound it.
    pub fn stricter_gates(&self, now: (&Policy, &ToolSelection)) -> Vec<&'static str> {
        let site = self.source();
        let server = site.of_server();
        let mut found = BTreeSet::new();
        match policy(&site) {
            Ok(new) => found.extend(new.stricter_than(now.0)),
            Err(_) => found.extend(bounds(&site, &server, now.0)),
        }
        let new = surface(&site).or_else(|_| surface_of(&server, None));
        if new.is_ok_and(|new| new.writes_less_than(now.1)) {
            found.insert(TOOLS);
        }
        found.into_iter().collect()
    }
}

/// The gates that the values close, where they make no whole policy.
fn bounds(
    site: &SettingsSource<'_>,
    server: &SettingsSource<'_>,
    now: &Policy,
) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    if let Ok(bound) = of_server(server) {
        found.extend(bound.stricter_than(now));
    }
    let says = |name, wanted| {
        let said = |source: &SettingsSource<'_>| {
            let is_set = matches!(source.filled(name), Ok(Some(_)));
            is_set && source.flag(name) == Ok(wanted)
        };
        said(site) || said(server)
    };
    let level = now.writes.level();
    if level < PolicyLevel::Off && says("WIKI_MUTATIONS_ENABLED", false) {
        found.insert("mutations_enabled");
    }
    if level < PolicyLevel::DryRun && says("WIKI_MUTATION_DRY_RUN", true) {
        found.insert("mutation_dry_run");
    }
    found
}
