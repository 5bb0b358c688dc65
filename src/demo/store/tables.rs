//! The tables of the wiki and direct access to them.

use std::collections::BTreeMap;

use super::PageRow;
use super::rows::{AssetRow, CommentRow, FolderRow, Rendered, TagRow, TreeNode, VersionRow};
use crate::demo::clock::Clock;
use crate::demo::{Fault, WikiError};

/// Everything that the wiki knows.
///
/// A test reaches it through [`DemoWiki::with_store`](crate::demo::DemoWiki::with_store)
/// and acts as a second client would, or as someone at the database: no
/// permission is asked, nothing is checked, no version is kept, no time is
/// changed. The page tree and the table of tags are brought up to date
/// afterwards.
#[derive(Debug, Default)]
pub struct Store {
    pub(super) pages: BTreeMap<i64, PageRow>,
    pub(super) versions: Vec<VersionRow>,
    pub(super) tags: Vec<TagRow>,
    pub(super) tree: Vec<TreeNode>,
    pub(super) clock: Clock,
    /// The times that the view for readers shows instead of the pages' own.
    rendered: BTreeMap<i64, String>,
    /// Pages as they were rendered.
    pub(super) shown: BTreeMap<i64, Rendered>,
    pub(super) comments: BTreeMap<i64, CommentRow>,
    pub(super) last_comment: i64,
    pub(super) assets: BTreeMap<i64, AssetRow>,
    pub(super) folders: BTreeMap<i64, FolderRow>,
    pub(super) last_asset: i64,
    pub(super) last_folder: i64,
    last_page: i64,
    pub(super) last_version: i64,
}

impl Store {
    /// All pages, oldest first.
    pub fn pages(&self) -> impl Iterator<Item = &PageRow> {
        self.pages.values()
    }

    /// The page with this id.
    pub fn page(&self, id: i64) -> Option<&PageRow> {
        self.pages.get(&id)
    }

    /// The page at exactly this place.
    pub fn page_at(&self, locale: &str, path: &str) -> Option<&PageRow> {
        self.pages()
            .find(|page| page.locale == locale && page.path == path)
    }

    /// The page with this id, to be altered.
    pub fn page_mut(&mut self, id: i64) -> Option<&mut PageRow> {
        self.pages.get_mut(&id)
    }

    /// Adds a page and answers its id.
    pub fn add(&mut self, mut page: PageRow) -> i64 {
        if page.id == 0 {
            page.id = self.last_page + 1;
        }
        self.last_page = self.last_page.max(page.id);
        if page.created_at.is_empty() {
            page.created_at = self.clock.now();
        }
        if page.updated_at.is_empty() {
            page.updated_at.clone_from(&page.created_at);
        }
        let id = page.id;
        self.pages.insert(id, page);
        id
    }

    /// The time that the view which readers see tells of a page, if it is not that of its last
    /// write: that of the last update's first step.
    pub(in crate::demo) fn rendered_at(&self, id: i64) -> Option<&str> {
        self.rendered.get(&id).map(String::as_str)
    }

    /// Writes a page once more, as rendering does, after the view was cached as it was.
    pub(in crate::demo) fn render(&mut self, id: i64) {
        let now = self.clock.now();
        if let Some(page) = self.pages.get_mut(&id) {
            let shown = std::mem::replace(&mut page.updated_at, now);
            self.rendered.insert(id, shown);
        }
        self.render_links(id);
    }

    /// Takes a page away and answers it.
    pub fn remove(&mut self, id: i64) -> Option<PageRow> {
        self.shown.remove(&id);
        self.comments.retain(|_, comment| comment.page != id);
        self.pages.remove(&id)
    }

    /// Gives the page the present time as that of its last write, as any
    /// write through the API does.
    pub fn touch(&mut self, id: i64) {
        let now = self.clock.now();
        if let Some(page) = self.pages.get_mut(&id) {
            page.updated_at = now;
            self.rendered.remove(&id);
        }
    }

    /// Brings what follows from the pages up to date: tags and tree.
    pub(in crate::demo) fn settle(&mut self) {
        self.collect_tags();
        self.rebuild_tree();
    }

    /// The page with this id, or the refusal without one.
    pub(in crate::demo) fn existing(&self, id: i64) -> Result<&PageRow, Fault> {
        Ok(self.page(id).ok_or(WikiError::PageNotFound)?)
    }
}

/// Changes that no client can make: those of a test, as somebody at the database.
#[cfg(feature = "testing")]
impl Store {
    /// Changes a page as somebody else's update does: it leaves a version behind.
    pub fn rewrite(&mut self, id: i64, act: impl FnOnce(&mut PageRow)) {
        if self.keep_version(id, "updated").is_ok()
            && let Some(page) = self.pages.get_mut(&id)
        {
            act(page);
            self.touch(id);
        }
    }

    /// The asset with this id, to be altered.
    pub fn asset_mut(&mut self, id: i64) -> Option<&mut AssetRow> {
        self.assets.get_mut(&id)
    }

    /// Removes all folders.
    pub fn remove_folders(&mut self) {
        self.folders.clear();
        self.assets.retain(|_, asset| asset.folder == 0);
    }

    /// The comment with this id, to be altered.
    pub fn comment_mut(&mut self, id: i64) -> Option<&mut CommentRow> {
        self.comments.get_mut(&id)
    }
}
