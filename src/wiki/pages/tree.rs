//! The page tree made right (W8): true children, and the id of the page at a path.

use std::collections::HashSet;
use std::time::Duration;

use super::super::operations::generated::{PageTree, PageTreeMode, page_tree};
use super::super::rights::readable_pages::ReadBounds;
use crate::page::{Locale, NewPath, PagePath, PagePlace};
use crate::render_budget::uncounted;
use crate::wiki::{Wiki, WikiError, WikiResult};

/// The most nodes that one walk gives.
pub const MAX_NODES: usize = 1_000;
/// The most nodes that one walk reads, to count those that are not given.
const MAX_READ: usize = 20_000;
/// The most operations in one request.
const MAX_BATCH: usize = 50;
/// Time to wait before an absence is believed: longer than the tree was seen to be empty while it
/// is rebuilt (W8).
const REBUILD: Duration = Duration::from_millis(400);

/// A node of the tree: a folder, a page, or both at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeNode {
    /// The node's own id, which is no page's and changes when the tree is rebuilt.
    node: i64,
    /// Its locale.
    pub locale: Locale,
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
    /// The node as far as it may be read: a hidden page becomes a mere folder, and a folder without
    /// readable pages disappears.
    fn seen(self, sights: Option<&ReadBounds>) -> Option<Self> {
        let Some(sights) = sights else {
            return Some(self);
        };
        let place = (self.locale.clone(), self.path.clone());
        let is_folder = self.is_folder && sights.has_folder(&place);
        if self.page_id.is_some() && sights.has_page(&place) {
            return Some(Self { is_folder, ..self });
        }
        is_folder.then(|| Self {
            title: self.path.last_segment().to_owned(),
            is_private: false,
            page_id: None,
            is_folder,
            ..self
        })
    }
}

/// The result of a walk through the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeListing {
    /// The nodes, parents before their children.
    pub nodes: Vec<TreeNode>,
    /// Number of nodes beyond [`MAX_NODES`]; of a very large tree, at least so many.
    pub not_shown: usize,
}

impl Wiki {
    /// The nodes below a path (below the root without one), down to `depth` levels.
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
        let path = path.filter(|path| !path.as_str().is_empty());
        let sights = self.sights().await?;
        let sights = sights.as_ref();
        let mut levels = self.levels(locale, path, depth, sights, true).await?;
        if levels.is_none() {
            tokio::time::sleep(REBUILD).await;
            levels = self.levels(locale, path, depth, sights, false).await?;
        }
        let mut levels = levels.ok_or(WikiError::NotFound)?;
        levels.retain(|node| match mode {
            PageTreeMode::All => true,
            PageTreeMode::Folders => node.is_folder,
            PageTreeMode::Pages => node.page_id.is_some(),
        });
        let not_shown = levels.len().saturating_sub(MAX_NODES);
        levels.truncate(MAX_NODES);
        Ok(TreeListing {
            nodes: levels,
            not_shown,
        })
    }

    /// The nodes below a path, in one attempt; `None` if nothing is at the path.
    ///
    /// With `doubting` also nothing where a rebuild may have come between: where a folder has
    /// no children, or those of another, since nodes are numbered anew.
    async fn levels(
        &self,
        locale: &Locale,
        path: Option<&PagePath>,
        depth: u32,
        sights: Option<&ReadBounds>,
        doubting: bool,
    ) -> WikiResult<Option<Vec<TreeNode>>> {
        let mut parents: Vec<TreeNode> = Vec::new();
        if let Some(path) = path {
            let top = self.node_at_once(locale, path).await?;
            match top.and_then(|top| top.seen(sights)) {
                None => return Ok(None),
                Some(top) if !top.is_folder => return Ok(Some(Vec::new())),
                Some(top) => parents.push(top),
            }
        }
        let mut levels: Vec<TreeNode> = Vec::new();
        for _ in 0..depth {
            let ids: Vec<Option<i64>> = match &parents[..] {
                [] => vec![None],
                parents => parents.iter().map(|parent| Some(parent.node)).collect(),
            };
            let level = self.children(locale, &ids).await?;
            let level = level.into_iter().filter_map(|node| node.seen(sights));
            let mut level: Vec<TreeNode> = level.collect();
            let paths: HashSet<&str> = parents.iter().map(|parent| parent.path.as_str()).collect();
            let found = level.len();
            level.retain(|node| {
                let above = node.path.as_str().rsplit_once('/').map(|(above, _)| above);
                paths.is_empty() || above.is_some_and(|above| paths.contains(above))
            });
            if doubting && (level.is_empty() || level.len() < found) {
                return Ok(None);
            }
            parents = level
                .iter()
                .filter(|node| node.is_folder)
                .cloned()
                .collect();
            levels.extend(level);
            if parents.is_empty() || levels.len() > MAX_READ {
                break;
            }
        }
        Ok(Some(levels))
    }

    /// The pages at a path, in whatever letter case: the one that is there to the letter, and
    /// others that a person would take for it. Nothing stands beside a path that does not
    /// exist (W8), so the way there is walked from the root.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn pages_at(&self, locale: &Locale, path: &PagePath) -> WikiResult<Vec<TreeNode>> {
        let sights = self.sights().await?;
        let wanted = path.as_str().to_lowercase();
        let mut parents = vec![None];
        let mut level = Vec::new();
        for depth in 1..=wanted.split('/').count() {
            let way: Vec<&str> = wanted.split('/').take(depth).collect();
            let way = way.join("/");
            level = self.children(locale, &parents).await?;
            level.retain(|node| node.path.as_str().to_lowercase() == way);
            parents = level.iter().map(|node| Some(node.node)).collect();
        }
        let level = level.into_iter();
        let level = level.filter_map(|node| node.seen(sights.as_ref()));
        Ok(level.filter(|node| node.page_id.is_some()).collect())
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

    async fn children(
        &self,
        locale: &Locale,
        parents: &[Option<i64>],
    ) -> WikiResult<Vec<TreeNode>> {
        let mut level = Vec::new();
        for parents in parents.chunks(MAX_BATCH) {
            let asked = parents.iter().map(|parent| page_tree::Variables {
                path: None,
                parent: *parent,
                mode: PageTreeMode::All,
                locale: locale.as_str().to_owned(),
            });
            for children in self.batch::<PageTree>(asked.collect()).await? {
                level.extend(nodes(children?));
            }
            if level.len() > MAX_READ {
                break;
            }
        }
        Ok(level)
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
            node: node.id,
            locale: Locale::as_stored(node.locale),
            path: PagePath::as_stored(node.path),
            title: node.title,
            is_folder: node.is_folder,
            is_private: node.is_private,
            page_id: node.page_id,
        })
        .collect()
}
