//! Defines leases, which say who may do what now. All names of leases are made here.
//!
//! On the local disk a lease ends with its holder, a killed one's at once; in a database a while after. What the holder had sent may still be
//! under way at the wiki by then, so an open attempt on record counts, not the lease.

use std::borrow::Cow;
use std::fmt::{self, Debug};

use super::{DocumentKind, Fence, StoreResult};

/// The name of a lease.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LeaseName {
    name: Cow<'static, str>,
    scope: LeaseScope,
}

/// The group of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum LeaseScope {
    /// The few of a wiki.
    Wiki,
    /// The few of all wikis together.
    AllWikis,
    /// The many of a wiki: nothing may be left of one that nobody holds.
    Passing,
}

impl LeaseName {
    /// To create, move or delete in a wiki (W19).
    pub const TREE: Self = Self::lasting("tree");
    /// To settle what killed runs left open.
    pub(crate) const RECOVERY: Self = Self::lasting("recovery");
    /// To purge.
    pub(crate) const PURGE: Self = Self::lasting("purge");
    /// To keep a blob, shared, or to remove some, alone.
    pub(crate) const BLOBS: Self = Self::lasting("pages");
    /// To begin a run, which gets the next number.
    pub(crate) const RUNS: Self = Self::lasting("runs");
    /// To begin a draft.
    pub(crate) const DRAFTS: Self = Self::lasting("drafts");
    /// To change what clients remember.
    pub const MEMORIES: Self = Self::lasting("memory");
    /// To give, use or end an approval for several writes.
    pub(crate) const APPROVALS: Self = Self::lasting("approvals");
    /// To make the index of the log, or to add to it.
    pub(crate) const INDEX: Self = Self::lasting("index");
    /// To look at the wiki for its mirror, or to change what that keeps.
    pub(crate) const MIRROR: Self = Self::lasting("mirror");
    /// In files: to record an attempt, shared, or to see that none is under way that no pause stopped, alone.
    pub const PAUSE: Self = Self {
        name: Cow::Borrowed("PAUSED"),
        scope: LeaseScope::AllWikis,
    };

    const fn lasting(name: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            scope: LeaseScope::Wiki,
        }
    }

    /// To update a page.
    pub fn page(id: i64) -> Self {
        Self::passing(id.to_string())
    }

    /// To change a document.
    pub fn document(kind: DocumentKind, name: &str) -> Self {
        Self::passing(format!("{}.{name}", kind.word()))
    }

    /// To get this one next.
    pub(super) fn next(&self) -> Self {
        let scope = match self.scope {
            LeaseScope::AllWikis => LeaseScope::AllWikis,
            LeaseScope::Wiki | LeaseScope::Passing => LeaseScope::Passing,
        };
        Self {
            name: Cow::Owned(format!("{}.next", self.name)),
            scope,
        }
    }

    const fn passing(name: String) -> Self {
        Self {
            name: Cow::Owned(name),
            scope: LeaseScope::Passing,
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.name
    }

    pub(super) const fn scope(&self) -> LeaseScope {
        self.scope
    }
}

/// The mode of a lease: shared with others, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseMode {
    /// Others may hold it, shared too.
    Shared,
    /// Nobody else may hold it. A passing lease is always held alone.
    Alone,
}

/// A lease that is held; given back when dropped, or when the process ends in any way.
#[derive(Debug)]
#[must_use = "the lease is held only as long as this lives"]
pub struct Lease {
    held: Box<dyn HeldAs>,
}

/// The store's part of a lease; dropping it gives the lease back.
pub(super) trait HeldAs: Debug + Send + Sync {
    /// True if nobody else can have the lease now, nor for a while: long enough to send something.
    fn is_sure(&self) -> bool {
        true
    }

    /// As [`Lease::fence`].
    fn fence(&self) -> Fence {
        Fence::default()
    }
}

impl Lease {
    /// Held as long as this lives.
    pub(super) fn new(held: impl HeldAs + 'static) -> Self {
        Self {
            held: Box::new(held),
        }
    }

    /// True if nobody else can have it now, nor for a while. A lease of a database ends by itself while its
    /// holder is stopped or cut off.
    pub fn is_sure(&self) -> bool {
        self.held.is_sure()
    }

    /// What a store refuses a change by that others may make by now.
    pub fn fence(&self) -> Fence {
        self.held.fence()
    }

    /// One of this process alone, which is sure as long as `is_sure` says so.
    pub(super) fn as_long_as(is_sure: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        struct AsLongAs<F>(F);
        impl<F> Debug for AsLongAs<F> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("AsLongAs")
            }
        }
        impl<F: Fn() -> bool + Send + Sync> HeldAs for AsLongAs<F> {
            fn is_sure(&self) -> bool {
                (self.0)()
            }
        }
        Self::new(AsLongAs(is_sure))
    }

    /// One that is sure for so many looks.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn sure_for(looks: usize) -> Self {
        use std::sync::atomic::{AtomicUsize, Ordering};
        #[derive(Debug)]
        struct LooksLeft(AtomicUsize);
        impl HeldAs for LooksLeft {
            fn is_sure(&self) -> bool {
                let less = |left: usize| left.checked_sub(1);
                let looked = self
                    .0
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
                looked.is_ok()
            }
        }
        Self::new(LooksLeft(AtomicUsize::new(looks)))
    }
}

/// Gives leases, at once or not at all.
pub trait Leases {
    /// The lease; `None` while another process, or another holder in this one, has it.
    fn try_lease(&self, name: &LeaseName, mode: LeaseMode) -> StoreResult<Option<Lease>>;

    /// False if nobody holds the lease; true if somebody may. Of the few that last it is always true
    /// once they were held.
    fn may_be_held(&self, name: &LeaseName) -> bool;

    /// Removes what killed processes left of their passing leases.
    fn sweep_leases(&self) -> StoreResult<()>;
}
