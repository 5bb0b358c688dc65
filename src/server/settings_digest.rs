//! Digests the settings that all replicas of a server must share: sites, policies with their rules, tools, who
//! shares memories, and whether the store is a database.

use super::site::{Site, Sites};
use crate::audit::{KeyDigest, LineHash};
use crate::config::Settings;
use crate::gates::Policy;
use crate::memory::MemoryMode;
use crate::site::SiteName;
use crate::tools::{ToolSelection, Toolset, tools_of};

/// The length of the digest as it is shown, in characters.
const SHOWN: usize = 16;

/// A site, the name of its wiki on record, who shares memories, and whether servers share the store. One that
/// keeps its state by itself shares no lock and no record with the others.
type SharedSite<'a> = (Option<&'a SiteName>, &'a str, MemoryMode, bool);

/// The part of one site.
fn of_site(
    (site, wiki, memory, is_shared): SharedSite<'_>,
    policy: &Policy,
    surface: &ToolSelection,
) -> String {
    // A key may be renewed on one replica after another.
    let policy = policy.digest(site, KeyDigest::new(&[0; 32]));
    let tools = tools_of(&Toolset::ALL).filter(|name| surface.has(name));
    let tools: Vec<&str> = tools.collect();
    format!("{site:?} {wiki:?} {policy} {tools:?} {memory:?} {is_shared}\n")
}

fn shown(mut sites: Vec<String>) -> String {
    // The order of tables in a file means nothing.
    sites.sort();
    let digest = LineHash::new(sites.concat().as_bytes()).to_string();
    digest.chars().take(SHOWN).collect()
}

/// The digest of a server that starts with these settings of all its sites.
pub fn settings_digest(sites: &[Settings]) -> String {
    let of_each = sites.iter().map(|one| {
        let (site, is_shared) = (one.site.as_ref(), one.store.is_remote());
        let shared = (site, &*one.wiki.name, one.memory.clone(), is_shared);
        of_site(shared, &one.policy, &one.surface)
    });
    shown(of_each.collect())
}

impl Site {
    /// The digest of all that bounds a caller here: the policy with its rules, the tools on offer, what may be
    /// read, and the key.
    pub(super) fn bounds(&self) -> String {
        let app = self.app();
        let registry = app.registry();
        let key = app.wiki.key().digest_on_record();
        let policy = app.desk.policy().digest(self.name(), key);
        let tools: Vec<&str> = registry.definitions().map(|tool| tool.name).collect();
        let wiki = app.desk.audit().wiki();
        let all = format!("{wiki:?} {policy} {tools:?} {:?}", app.wiki.scope());
        LineHash::new(all.as_bytes()).to_string()
    }
}

impl Sites {
    /// The digest of the settings in force: replicas of one server have the same.
    pub fn settings_digest(&self) -> String {
        let all = self.all();
        let of_each = all.iter().map(|site| {
            let app = site.app();
            let (log, memory) = (app.desk.audit(), app.desk.memory_mode());
            let shared = (site.name(), log.wiki(), memory, log.home().is_remote());
            of_site(shared, app.desk.policy(), &app.own_tools.surface)
        });
        shown(of_each.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::of_site;
    use crate::gates::Policy;
    use crate::memory::MemoryMode;
    use crate::store::Store as _;
    use crate::store::local::LocalStore;
    use crate::tools::ToolSelection;

    #[test]
    fn a_server_that_keeps_its_state_by_itself_has_another_digest() {
        let dir = tempfile::tempdir().unwrap();
        let local = || LocalStore::new(dir.path(), "");
        let digest = |store: LocalStore| {
            let shared = (None, "docs", MemoryMode::Client, store.is_remote());
            of_site(shared, &Policy::default(), &ToolSelection::default())
        };
        assert_eq!(digest(local()), digest(local()));
        assert_ne!(digest(local()), digest(local().remote().unwrap()));
    }
}
