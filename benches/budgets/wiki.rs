//! The embedded wiki, on a thread of its own.

use tokio::runtime::{Builder, Runtime};
use wikijs_gate::demo::{DemoOptions, DemoWiki, PageRow};

/// A running embedded wiki, and the page that is read in it.
pub(crate) struct Wiki {
    demo: DemoWiki,
    _runtime: Runtime,
}

impl Wiki {
    pub(crate) fn start() -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a thread");
        let demo = runtime.block_on(DemoWiki::start(DemoOptions::default()));
        Self {
            demo: demo.expect("the embedded wiki starts"),
            _runtime: runtime,
        }
    }

    pub(crate) fn address(&self) -> String {
        self.demo.address()
    }

    /// A key that can read all of a page.
    pub(crate) fn key(&self) -> &str {
        &self.demo.keys().editor
    }

    /// Gives the page another content.
    pub(crate) fn write(&self, content: &str) {
        let page = self.page();
        self.demo.with_store(|store| {
            content.clone_into(&mut store.page_mut(page).expect("the page").content);
        });
    }

    /// What was asked of it since [`forget_requests`](Self::forget_requests): of each operation
    /// the fields that it names.
    pub(crate) fn requests(&self) -> Vec<Vec<String>> {
        let seen = self.demo.requests().into_iter();
        seen.map(|request| request.fields).collect()
    }

    /// Counts requests anew.
    pub(crate) fn forget_requests(&self) {
        self.demo.clear_requests();
    }

    /// A key that may do everything.
    pub(crate) fn admin(&self) -> &str {
        &self.demo.keys().admin
    }

    /// Adds pages: their ids.
    pub(crate) fn add(&self, pages: impl Iterator<Item = PageRow>) -> Vec<i64> {
        self.demo.with_store(|store| {
            let paths: Vec<String> = pages
                .map(|page| {
                    let path = page.path.clone();
                    store.add(page);
                    path
                })
                .collect();
            let id = |path: &String| store.page_at("en", path).expect("the page").id;
            paths.iter().map(id).collect()
        })
    }

    /// The id of the page.
    pub(crate) fn page(&self) -> i64 {
        self.demo.with_store(|store| {
            store
                .page_at("en", "docs/install/linux")
                .expect("the page")
                .id
        })
    }
}
