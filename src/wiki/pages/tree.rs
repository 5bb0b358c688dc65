//! The page tree made right (W8, W56): what lies below a path, and the id of the page at a path.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::operations::generated::{PageTree, PageTreeMode, page_tree};
use crate::page::{Locale, NewPath, PagePath, PagePlace, PageReading};
use crate::render_budget::uncounted;
use crate::wiki::{Wiki, WikiError, WikiResult};

/// The most nodes that one walk gives.
pub const MAX_NODES: usize = 1_000;
/// Time to wait before an absence is believed: longer than the tree was seen to be empty while it
/// is rebuilt (W8).
const REBUILD: Duration = Duration::from_millis(400);

/// A node of the tree: a folder, a page, or both at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeNode {
    /// Its path.
    pub path: PagePath,
    /// Its title: the page's, or the folder's last segment.
    pub title: String,
    /// True if there is something below it.
    pub is_folder: bool,
    /// True if the page is private.
    pub is_private: bool,
    /// The page's id, if a page is there.
    pub page_id: Option<i64>,
}

impl TreeNode {
    fn folder(path: &str) -> Self {
        let path = PagePath::as_stored(path);
        Self {
            title: path.last_segment().to_owned(),
            path,
            is_folder: true,
            is_private: false,
            page_id: None,
        }
    }
}

/// The nodes below a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeListing {
    /// The nodes, parents before their children.
    pub nodes: Vec<TreeNode>,
    /// Number of nodes beyond [`MAX_NODES`].
    pub not_shown: usize,
}

impl Wiki {
    /// The nodes below a path (below the root without one), down to `depth` levels. They are made
    /// from the list of pages: the wiki's own tree leaves out a folder whose path a key may not
    /// read, though it may read every page below (W56).
    ///
    /// # Errors
    /// [`WikiError::NotFound`] if nothing is at the path.
    pub async fn tree(
        &self,
        locale: &Locale,
        path: Option<&PagePath>,
        mode: PageTreeMode,
        depth: u32,
    ) -> WikiResult<TreeListing> {
        let pages = self.pages_as_of(Instant::now()).await?;
        let pages = pages.iter().filter(|page| page.locale == *locale);
        let top = path.map_or("", PagePath::as_str);
        let mut nodes = below(pages, top, depth).ok_or(WikiError::NotFound)?;
        nodes.retain(|node| match mode {
            PageTreeMode::All => true,
            PageTreeMode::Folders => node.is_folder,
            PageTreeMode::Pages => node.page_id.is_some(),
        });
        let not_shown = nodes.len().saturating_sub(MAX_NODES);
        nodes.truncate(MAX_NODES);
        Ok(TreeListing { nodes, not_shown })
    }

    /// The pages at a path, in whatever letter case: the one that is there to the letter, and
    /// others that a person would take for it. They come from the list of pages, for the same
    /// reason as the tree.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn pages_at(
        &self,
        locale: &Locale,
        path: &PagePath,
    ) -> WikiResult<Vec<Arc<PageReading>>> {
        let wanted = path.as_str().to_lowercase();
        let is_at = |page: &&Arc<PageReading>| {
            page.locale == *locale && page.path.as_str().to_lowercase() == wanted
        };
        let pages = self.pages_as_of(Instant::now()).await?;
        let listed: Vec<Arc<PageReading>> = pages.pages.iter().filter(is_at).cloned().collect();
        if listed.is_empty() {
            return Ok(listed);
        }
        // The list may still have a page that was deleted in the last minute.
        let places = listed.iter();
        let places: Vec<PagePlace> = places
            .map(|page| (page.locale.clone(), page.path.clone()))
            .collect();
        let ids = self.page_ids(&places).await?;
        let there = listed.into_iter().zip(ids);
        let there = there.filter(|(page, id)| page.id == *id);
        Ok(there.map(|(page, _)| page).collect())
    }

    /// A free path similar to a taken one: `docs/x-2`, `docs/x-3` and so on. `None` if it could not
    /// be determined. One request.
    pub async fn free_path(&self, locale: &Locale, taken: &PagePath) -> Option<PagePath> {
        let level = uncounted(self.query::<PageTree>(beside(locale, taken)));
        let level = level.await.ok()?;
        let there: HashSet<String> = nodes(level)
            .into_iter()
            .map(|node| node.path.as_str().to_lowercase())
            .collect();
        // The tree may be partial while it is rebuilt (W8).
        if !there.contains(&taken.as_str().to_lowercase()) {
            return None;
        }
        (2..=there.len() + 2)
            .map(|number| format!("{taken}-{number}"))
            .find(|path| !there.contains(&path.to_lowercase()))
            .filter(|path| NewPath::parse(path).is_ok())
            .map(PagePath::as_stored)
    }

    /// The node of the page at a path, if there is one. An absence is believed only when seen
    /// twice (W8).
    pub(in crate::wiki) async fn page_node(
        &self,
        locale: &Locale,
        path: &PagePath,
    ) -> WikiResult<Option<TreeNode>> {
        let mut node = self.node_at_once(locale, path).await?;
        if node.is_none() {
            tokio::time::sleep(REBUILD).await;
            node = self.node_at_once(locale, path).await?;
        }
        Ok(node.filter(|node| node.page_id.is_some()))
    }

    /// The ids of the pages at several places, all in one request; once more for those that
    /// are not found, since the tree may be empty while it is rebuilt (W8).
    pub(in crate::wiki) async fn page_ids(
        &self,
        places: &[PagePlace],
    ) -> WikiResult<Vec<Option<i64>>> {
        let mut ids = self.page_ids_once(places).await?;
        if ids.iter().any(Option::is_none) {
            tokio::time::sleep(REBUILD).await;
            let again = self.page_ids_once(places).await?;
            for (id, again) in ids.iter_mut().zip(again) {
                *id = id.or(again);
            }
        }
        Ok(ids)
    }

    async fn page_ids_once(&self, places: &[PagePlace]) -> WikiResult<Vec<Option<i64>>> {
        let asked = places.iter().map(|(locale, path)| beside(locale, path));
        let levels = self.batch::<PageTree>(asked.collect()).await?;
        Ok(places
            .iter()
            .zip(levels)
            .map(|((_, path), level)| {
                let level = level.map(nodes).unwrap_or_default();
                level.into_iter().find(|node| node.path == *path)?.page_id
            })
            .collect())
    }

    async fn node_at_once(&self, locale: &Locale, path: &PagePath) -> WikiResult<Option<TreeNode>> {
        let level = uncounted(self.query::<PageTree>(beside(locale, path)));
        let level = nodes(level.await?);
        Ok(level.into_iter().find(|node| node.path == *path))
    }
}

/// The level of a path: what the wiki gives for `path` (W8).
pub(in crate::wiki) fn beside(locale: &Locale, path: &PagePath) -> page_tree::Variables {
    page_tree::Variables {
        path: Some(path.as_str().to_owned()),
        parent: None,
        // PAGES fails on 2.5.314 (W8): everything is asked for and filtered here.
        mode: PageTreeMode::All,
        locale: locale.as_str().to_owned(),
    }
}

pub(in crate::wiki) fn nodes(data: page_tree::ResponseData) -> Vec<TreeNode> {
    data.pages
        .and_then(|pages| pages.tree)
        .into_iter()
        .flatten()
        .flatten()
        .map(|node| TreeNode {
            path: PagePath::as_stored(node.path),
            title: node.title,
            is_folder: node.is_folder,
            is_private: node.is_private,
            page_id: node.page_id,
        })
        .collect()
}

/// The nodes below a path that pages make, down to `depth` levels: folders first on each, then by
/// title. `None` if nothing is at the path.
fn below<'a>(
    pages: impl Iterator<Item = &'a PageReading>,
    top: &str,
    depth: u32,
) -> Option<Vec<TreeNode>> {
    let mut is_there = top.is_empty();
    let mut nodes: HashMap<&str, TreeNode> = HashMap::new();
    for page in pages {
        let path = page.path.as_str();
        let is_below = top.is_empty() || page.path.folders().any(|folder| folder == top);
        is_there |= is_below || path == top;
        if !is_below {
            continue;
        }
        let folders = page.path.folders();
        for folder in folders.filter(|folder| folder.len() > top.len()) {
            let node = nodes.entry(folder);
            node.or_insert_with(|| TreeNode::folder(folder)).is_folder = true;
        }
        let is_folder = nodes.contains_key(path);
        let node = TreeNode {
            path: page.path.clone(),
            title: page.title.clone(),
            is_folder,
            is_private: page.is_private.unwrap_or_default(),
            page_id: page.id,
        };
        nodes.insert(path, node);
    }
    let mut children: HashMap<PagePath, Vec<TreeNode>> = HashMap::new();
    for node in nodes.into_values() {
        children.entry(node.path.folder()).or_default().push(node);
    }
    let mut levels: Vec<TreeNode> = Vec::new();
    let mut folders = vec![PagePath::as_stored(top)];
    for _ in 0..depth {
        let level = folders.iter().filter_map(|folder| children.remove(folder));
        let level: Vec<TreeNode> = level
            .flat_map(|mut here| {
                here.sort_by(|a, b| (!a.is_folder, &a.title).cmp(&(!b.is_folder, &b.title)));
                here
            })
            .collect();
        let deeper = level.iter().filter(|node| node.is_folder);
        folders = deeper.map(|node| node.path.clone()).collect();
        levels.extend(level);
    }
    is_there.then_some(levels)
}
