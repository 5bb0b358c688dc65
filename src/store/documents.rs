//! Defines documents, which are replaced whole.

use super::{Listed, StoreError};
use crate::words::words;

words! {
    /// The kinds of documents.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum DocumentKind: word {
        /// Proposals, by their ids.
        Proposal = "proposal",
        /// Drafts, by owner, name and id.
        Draft = "draft",
        /// The pause of all wikis; it has one name.
        Pause = "pause",
        /// Why heads cannot be anchored; it has one name.
        AnchorFault = "anchor-fault",
        /// What one client remembers, by the digest of its name. Nobody else may be able to change it.
        Memories = "memories",
        /// A person's yes for several writes, by its id. Nobody else may be able to change it.
        Approval = "approval",
        /// A link to the review page or a session there, by the digest of its secret. Nobody else may be able to
        /// change it.
        SignIn = "sign-in",
        /// A client that another one made for a task, by the digest of its token. Nobody else may be able to
        /// change it.
        Delegate = "delegate",
        /// A server over HTTP that takes delegates, by a name of its own; it counts while its lease is held.
        /// Nobody else may be able to change it.
        Server = "server",
        /// The last use of a client, by the client's id: the time of the document, which is empty.
        LastUse = "last-use",
        /// A preview that waits to be confirmed, by its set and the digest of its token. It may be lost, and only
        /// remote stores have any. Nobody else may be able to change it.
        Preview = "preview",
        /// A session of an older client over HTTP, by the digest of its id. It may be lost, and only remote
        /// stores have any.
        McpSession = "mcp-session",
        /// A page as a session of a client over HTTP last saw it, its last writes, or its last proposal for a
        /// page, by the digest of its id. It may be lost, and only remote stores have any.
        SessionRead = "session-read",
        /// Pages that a mirror knows, many in one; its names are the mirror's.
        Mirror = "mirror",
    }
}

impl DocumentKind {
    /// The kinds of which there are many documents beside a wiki's record.
    pub(super) const BESIDE_RECORD: [Self; 4] =
        [Self::Proposal, Self::Draft, Self::Memories, Self::Approval];

    /// The most bytes of one; more cannot be ours.
    pub const fn most_bytes(self) -> u64 {
        match self {
            // Titles and paths of 1,200 changes at most.
            Self::Proposal => 4 << 20,
            Self::Draft | Self::Memories | Self::Mirror => 32 << 20,
            Self::Preview => 64 << 20,
            Self::Pause
            | Self::AnchorFault
            | Self::Approval
            | Self::LastUse
            | Self::SessionRead => 16 << 10,
            // Groups, a refresh token, and what a session has seen.
            Self::SignIn | Self::McpSession | Self::Delegate | Self::Server => 128 << 10,
        }
    }
}

/// The holder and the number by which a database knows a lease: it takes a change under the lease only while the
/// holder has it. All zeros stand for no lease, and for one that ends with its process alone.
#[cfg_attr(
    not(feature = "postgres"),
    expect(dead_code, reason = "a database alone looks at it")
)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Fence {
    pub(super) holder: i64,
    pub(super) number: i64,
}

/// Small texts that are replaced whole. Whoever changes one that others may change holds a lease, and names
/// it: that of the document ([`super::LeaseName::document`]), or the one of its kind (`MEMORIES`,
/// `APPROVALS`, `MIRROR`; `DRAFTS` to begin one).
pub trait Documents {
    /// A document; `None` if there is none of this name, [`StoreError::Unfit`] if it cannot be ours.
    fn document(&self, kind: DocumentKind, name: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Writes a document, whole and synced: whoever reads it sees it before or after. Whoever writes looks
    /// at [`DocumentKind::most_bytes`], beyond which none is read. Nothing is
    /// written, and [`StoreError::Overtaken`] says so, if others may have the lease of the fence.
    fn write_held(
        &self,
        fence: Fence,
        document: (DocumentKind, &str),
        bytes: &[u8],
    ) -> Result<(), StoreError>;

    /// Removes one, synced, under the same condition; false if there was none.
    fn remove_held(&self, fence: Fence, kind: DocumentKind, name: &str)
    -> Result<bool, StoreError>;

    /// Writes one that nobody else changes, or that only its last text counts of.
    fn write_document(
        &self,
        kind: DocumentKind,
        name: &str,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        self.write_held(Fence::default(), (kind, name), bytes)
    }

    /// Removes one under no lease.
    fn remove_document(&self, kind: DocumentKind, name: &str) -> Result<bool, StoreError> {
        self.remove_held(Fence::default(), kind, name)
    }

    /// All documents of a kind, in no order.
    fn documents(&self, kind: DocumentKind) -> Result<Vec<Listed>, StoreError>;
}
