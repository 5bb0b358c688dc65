//! Digests the settings that all replicas of a server must share: sites, policies with their rules, tools.

use super::site::Sites;
use crate::audit::{KeyDigest, LineHash};
use crate::config::Settings;
use crate::gates::Policy;
use crate::site::SiteName;
use crate::tools::{ToolSelection, Toolset, tools_of};

/// The length of the digest as it is shown, in characters.
const SHOWN: usize = 16;

/// The part of one site.
fn of_site(
    (site, wiki): (Option<&SiteName>, &str),
    policy: &Policy,
    surface: &ToolSelection,
) -> String {
    // A key may be renewed on one replica after another.
    let policy = policy.digest(site, KeyDigest::new(&[0; 32]));
    let tools = tools_of(&Toolset::ALL).filter(|name| surface.has(name));
    let tools: Vec<&str> = tools.collect();
    format!("{site:?} {wiki:?} {policy} {tools:?}\n")
}

fn shown(mut sites: Vec<String>) -> String {
    // The order of tables in a file means nothing.
    sites.sort();
    let digest = LineHash::new(sites.concat().as_bytes()).to_string();
    digest.chars().take(SHOWN).collect()
}

/// The digest of a server that starts with these settings of all its sites.
#[must_use]
pub fn settings_digest(sites: &[Settings]) -> String {
    let of_each = sites.iter().map(|one| {
        let place = (one.site.as_ref(), &*one.wiki.name);
        of_site(place, &one.policy, &one.surface)
    });
    shown(of_each.collect())
}

impl Sites {
    /// The digest of the settings in force: replicas of one server have the same.
    #[must_use]
    pub fn settings_digest(&self) -> String {
        let all = self.all();
        let of_each = all.iter().map(|site| {
            let app = site.app();
            let place = (site.name(), app.desk.audit().wiki_name());
            of_site(place, app.desk.policy(), app.own_tools.surface())
        });
        shown(of_each.collect())
    }
}
