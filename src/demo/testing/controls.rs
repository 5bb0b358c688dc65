//! Lets tests do to a wiki what no client can.

use std::ops::Range;
use std::time::Duration;

use time::OffsetDateTime;

use super::reads::ContentRead;
use super::requests::SeenRequest;
use crate::demo::http::View;
use crate::demo::store::Store;
use crate::demo::views::Theme;
use crate::demo::{Access, DemoWiki};

const HOUR: Duration = Duration::from_hours(1);

impl DemoWiki {
    fn block(&self, view: View, blocked: bool) {
        let mut faults = self.shared.testing.faults();
        faults.blocked.retain(|one| *one != view);
        faults.blocked.extend(blocked.then_some(view));
    }

    /// A new key with these permissions (such as `read:pages`) on every path
    /// that begins with `prefix`.
    ///
    /// Pages elsewhere are left out of lists, and refused when asked for.
    pub fn key_with(&self, permissions: &[&str], prefix: &str) -> String {
        self.key_with_each(&[(permissions, prefix)])
    }

    /// A key with all of these: each some permissions on every path that begins with its prefix.
    pub fn key_with_each(&self, grants: &[(&[&str], &str)]) -> String {
        self.shared.keyring().issue(Access::of(grants))
    }

    /// A key for full access whose time is over: a guest's, in effect (W3).
    pub fn expired_key(&self) -> String {
        let ended = OffsetDateTime::now_utc() - HOUR;
        self.shared.keyring().issue_until(Access::full(), ended)
    }

    /// A key for full access whose time is over, in the renewal time, in which the wiki refuses
    /// it: no guest's either (W3).
    pub fn just_expired_key(&self) -> String {
        let token = self.expired_key();
        self.shared.keyring().set_renewable(&token);
        token
    }

    /// A key for full access that ends that much later; a fraction of a second is cut off.
    pub fn key_for(&self, life: Duration) -> String {
        let ends = OffsetDateTime::now_utc() + life;
        self.shared.keyring().issue_until(Access::full(), ends)
    }

    /// Revokes a key.
    pub fn revoke(&self, key: &str) {
        self.shared.keyring().revoke(key);
    }

    /// Puts the clock of the limits for comments forward (W31).
    pub fn later_for_comments(&self, by: Duration) {
        self.shared.testing.faults().comments_ahead += by;
    }

    /// Switches API access off or on. Off, every request with a good key is HTTP 500 (W3).
    pub fn set_api_disabled(&self, disabled: bool) {
        self.shared.testing.faults().api_disabled = disabled;
    }

    /// The latest 10,000 GraphQL operations, oldest first.
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.shared.testing.requests().all()
    }

    /// Forgets the operations seen so far.
    pub fn clear_requests(&self) {
        self.shared.testing.requests().clear();
    }

    /// The requests so far that read the content of pages by the API or as a source, oldest first.
    pub fn content_reads(&self) -> Vec<ContentRead> {
        self.shared.testing.reads.all()
    }

    /// Waits until so many such requests have come.
    pub async fn content_reads_came(&self, wanted: usize) {
        self.shared.testing.reads.came(wanted).await;
    }

    /// Lets every such request take that long.
    pub fn set_content_read_time(&self, time: Duration) {
        let reads = &self.shared.testing.reads;
        *reads.time.lock() = time;
    }

    /// Lets some such requests, counted from 0, wait for their answer until others are held.
    pub fn hold_content_reads(&self, held: Range<usize>) {
        self.shared.testing.reads.held.send_replace(held);
    }

    /// Applies every mutation that much after it came in, and answers then. It
    /// is applied also when its client has gone (W19).
    pub fn set_write_delay(&self, delay: Duration) {
        self.shared.testing.faults().write_delay = delay;
    }

    /// Lets that much time pass within an update, between its fields and its
    /// tags (W19).
    pub fn set_stepwise_updates(&self, delay: Duration) {
        self.shared.testing.faults().tags_delay = delay;
    }

    /// Lets that much time pass within an update, between the version that it keeps and its
    /// fields: several that run at once keep the same version then, as on a real wiki.
    pub fn set_overlapping_updates(&self, delay: Duration) {
        self.shared.testing.faults().overlap = delay;
    }

    /// Lets the rebuild of the tree after a create, move or delete take that
    /// long. The page is written by then, and the tree is empty meanwhile.
    pub fn set_tree_rebuild_time(&self, time: Duration) {
        self.shared.testing.faults().tree_time = time;
    }

    /// Lets all but one of several rebuilds at once fail, as on a large wiki:
    /// their pages are written and their answers say "failed" (W19). It takes
    /// [`set_tree_rebuild_time`](Self::set_tree_rebuild_time) for two to meet.
    pub fn set_tree_rebuild_conflicts(&self, conflicts: bool) {
        self.shared.testing.faults().tree_conflicts = conflicts;
    }

    /// Lets search hits carry the row ids of an index, which are ids of other
    /// pages, as engines other than the default one do (W9).
    pub fn set_search_row_ids(&self, row_ids: bool) {
        self.shared.testing.faults().search_row_ids = row_ids;
    }

    /// Makes the readers' view answer "not found", as behind a gateway that blocks it.
    pub fn set_reader_view_blocked(&self, blocked: bool) {
        self.block(View::Reader, blocked);
    }

    /// Puts styles, and HTML at the end of the head, into every page that readers see, as the
    /// administration's theme does.
    pub fn set_theme(&self, css: &str, head: &str) {
        let (css, head) = (css.to_owned(), head.to_owned());
        self.shared.testing.faults().theme = Theme { css, head };
    }

    /// Lets the view that readers see show the pages as they are now, whatever becomes of them:
    /// its cache is renewed late, or never where rendering fails. `false` lets it be current.
    pub fn set_reader_view_cached(&self, cached: bool) {
        let pages = self.shared.store().pages().cloned().collect();
        self.shared.testing.faults().cached_pages = cached.then_some(pages);
    }

    /// Makes the source view answer "not found" without a body, as behind a gateway that hides it.
    pub fn set_source_view_blocked(&self, blocked: bool) {
        self.block(View::Source, blocked);
    }

    /// Gives a page the path that a page of an old wiki may have, though the wiki makes none there
    /// any more (W28): with dots, spaces, backslashes or double slashes.
    pub fn set_old_path(&self, id: i64, path: &str) {
        self.with_store(|store| {
            if let Some(page) = store.page_mut(id) {
                path.clone_into(&mut page.path);
            }
        });
    }

    /// Lets every editor's view be "not found", as where something before the
    /// wiki lets its API through and little else.
    pub fn set_editor_view_blocked(&self, blocked: bool) {
        self.block(View::Editor, blocked);
    }

    /// Does something to the store once, right before the next editor's view is
    /// answered: between two requests of one read.
    pub fn before_next_editor_view(&self, act: impl FnOnce(&mut Store) + Send + 'static) {
        self.shared.testing.faults().next_editor_view = Some(Box::new(act));
    }

    /// Does something to the store once, right before the next mutation is
    /// applied, whether that one succeeds or not: a second client that was
    /// quicker.
    pub fn before_next_mutation(&self, act: impl FnOnce(&mut Store) + Send + 'static) {
        self.shared.testing.faults().next_mutation = Some(Box::new(act));
    }

    /// Does something to the store once, right before one of the next operations is run: `0`
    /// is the first of them.
    pub fn before_operation(&self, number: usize, act: impl FnOnce(&mut Store) + Send + 'static) {
        self.shared.testing.faults().later = Some((number, Box::new(act)));
    }

    /// Reads or alters the store directly. Requests wait meanwhile.
    pub fn with_store<T>(&self, act: impl FnOnce(&mut Store) -> T) -> T {
        let rebuilding = self.shared.testing.faults().rebuilding > 0;
        let mut store = self.shared.store();
        let result = act(&mut store);
        // A rebuild that is under way will see to the tree itself.
        if !rebuilding {
            store.settle();
        }
        result
    }
}
