//! The page tree: a table of its own, rebuilt as a whole (W8, W19).
//!
//! A path has one node. Where a page and a folder share a path, the node is a
//! folder that has the page's id and title. The ids begin at 1 with every
//! rebuild, so an id that a client remembers may name another node later.

use std::collections::HashMap;

use super::Store;
use super::rows::TreeNode;
use crate::demo::Access;
use crate::demo::path::last_segment;

/// The part of the tree that is requested.
#[derive(Debug, Default)]
pub(in crate::demo) struct TreeQuery {
    pub(in crate::demo) locale: String,
    /// Gives what lies beside this path.
    pub(in crate::demo) path: Option<String>,
    /// Gives what lies under this node; wins over the path.
    pub(in crate::demo) parent: Option<i64>,
    pub(in crate::demo) folders_only: bool,
    pub(in crate::demo) with_ancestors: bool,
}

impl Store {
    /// The nodes beside a path or under a node, folders first, then by title.
    pub(in crate::demo) fn tree(&self, query: &TreeQuery, access: &Access) -> Vec<TreeNode> {
        let path = query.path.as_deref().filter(|path| !path.is_empty());
        let (parent, ancestors) = match (query.parent.filter(|id| *id > 0), path) {
            (Some(parent), _) => (Some(parent), Vec::new()),
            (None, None) => (None, Vec::new()),
            (None, Some(path)) => {
                let here = |node: &&TreeNode| node.locale == query.locale && node.path == path;
                let Some(node) = self.tree.iter().find(here) else {
                    return Vec::new();
                };
                (node.parent, node.ancestors.clone())
            }
        };
        let wanted = |node: &&TreeNode| {
            let related =
                node.parent == parent || (query.with_ancestors && ancestors.contains(&node.id));
            related
                && node.locale == query.locale
                && (node.is_folder || !query.folders_only)
                && access.may(&["read:pages"], &node.path)
        };
        let mut nodes: Vec<TreeNode> = self.tree.iter().filter(wanted).cloned().collect();
        nodes.sort_by(|a, b| (!a.is_folder, &a.title).cmp(&(!b.is_folder, &b.title)));
        nodes
    }

    /// Makes the tree anew from the pages.
    pub(in crate::demo) fn rebuild_tree(&mut self) {
        let mut pages: Vec<_> = self.pages.values().collect();
        pages.sort_by(|a, b| (&a.locale, &a.path).cmp(&(&b.locale, &b.path)));
        let mut nodes: Vec<TreeNode> = Vec::new();
        let mut places = HashMap::new();
        for page in pages {
            let mut ancestors = Vec::new();
            let ends = page.path.match_indices('/').map(|(at, _)| at);
            for (depth, end) in (1..).zip(ends.chain([page.path.len()])) {
                let path = page.path.get(..end).unwrap_or_default();
                let place = *places.entry((&page.locale, path)).or_insert(nodes.len());
                if place == nodes.len() {
                    nodes.push(TreeNode {
                        id: i64::try_from(place).unwrap_or_default() + 1,
                        locale: page.locale.clone(),
                        path: path.to_owned(),
                        depth,
                        title: last_segment(path).to_owned(),
                        is_private: false,
                        is_folder: false,
                        private_ns: None,
                        page_id: None,
                        parent: ancestors.last().copied(),
                        ancestors: ancestors.clone(),
                    });
                }
                let Some(node) = nodes.get_mut(place) else {
                    continue;
                };
                if end < page.path.len() {
                    node.is_folder = true;
                } else {
                    node.page_id = Some(page.id);
                    node.title.clone_from(&page.title);
                    node.is_private = page.is_private;
                }
                ancestors.push(node.id);
            }
        }
        self.tree = nodes;
    }

    /// Empties the tree, as it is while it is being rebuilt.
    pub(in crate::demo) fn fell_tree(&mut self) {
        self.tree.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::TreeQuery;
    use crate::demo::access::Access;
    use crate::demo::store::{PageRow, Store};

    fn store(paths: &[&str]) -> Store {
        let mut store = Store::default();
        for path in paths {
            store.add(PageRow {
                path: (*path).to_owned(),
                title: format!("Page {path}"),
                ..PageRow::default()
            });
        }
        store.settle();
        store
    }

    fn paths(store: &Store, query: TreeQuery) -> Vec<String> {
        let query = TreeQuery {
            locale: "en".to_owned(),
            ..query
        };
        let nodes = store.tree(&query, &Access::full());
        nodes.into_iter().map(|node| node.path).collect()
    }

    #[test]
    fn a_path_gives_what_lies_beside_it() {
        let store = store(&["home", "docs/one", "docs/deep/two"]);
        assert_eq!(paths(&store, TreeQuery::default()), ["docs", "home"]);
        let beside = TreeQuery {
            path: Some("docs/one".to_owned()),
            ..TreeQuery::default()
        };
        assert_eq!(paths(&store, beside), ["docs/deep", "docs/one"]);
        let nowhere = TreeQuery {
            path: Some("nowhere".to_owned()),
            ..TreeQuery::default()
        };
        assert!(paths(&store, nowhere).is_empty());
    }

    #[test]
    fn a_page_that_is_a_folder_too_is_one_node() {
        let store = store(&["docs", "docs/one"]);
        let query = TreeQuery {
            locale: "en".to_owned(),
            ..TreeQuery::default()
        };
        let nodes = store.tree(&query, &Access::full());
        let [docs] = nodes.as_slice() else {
            panic!("one node at the root, not {nodes:?}");
        };
        assert!(docs.is_folder);
        assert_eq!(docs.title, "Page docs");
        assert_eq!(
            docs.page_id,
            store.page_at("en", "docs").map(|page| page.id)
        );
        let under = TreeQuery {
            parent: Some(docs.id),
            ..TreeQuery::default()
        };
        assert_eq!(paths(&store, under), ["docs/one"]);
    }

    #[test]
    fn a_key_sees_only_what_its_prefix_allows() {
        let store = store(&["blog/a", "docs/one"]);
        let query = TreeQuery {
            locale: "en".to_owned(),
            ..TreeQuery::default()
        };
        let nodes = store.tree(&query, &Access::new(&["read:pages"], "docs"));
        assert_eq!(nodes.len(), 1);
    }
}
