//! The typed client of one wiki: transport, retry of reads, operations, what is read and what can
//! go wrong. No other module speaks HTTP to the wiki.
//!
//! What the real server does is cited as facts W1 to W24; its faults (limits of lists, children of
//! the tree, ids of hits, offsets of a history) are corrected here, so that no tool has to know
//! them.

mod all_pages;
pub mod answer;
mod aside;
mod assets;
mod authors;
mod bounds;
mod branches;
mod changes;
mod client;
mod comments;
mod content;
mod custom;
#[doc(hidden)]
pub mod editor_view;
mod envelope;
mod error;
#[doc(hidden)]
pub mod front_matter;
mod gone;
mod history;
mod key;
mod keyed;
mod link_graph;
mod list;
mod many;
mod may_read;
mod mutate;
mod network;
mod operations;
mod page;
mod reach;
#[doc(hidden)]
pub mod rendered;
mod resolve;
mod retry;
mod rights;
mod search;
mod site;
mod standing;
mod strangers;
mod styles;
mod tags;
mod thing;
mod traffic;
mod transport;
mod tree;
mod upload;
mod version;
mod whole;
mod whole_pages;

pub use all_pages::{AllPages, MAX_KEPT};
pub(crate) use aside::aside;
pub use assets::{Asset, AssetFolder};
pub use authors::RIGHT_TO_AUTHOR;
pub use branches::parent as parent_tag;
pub use changes::{Before, ChangedPage, Past};
pub use client::{Wiki, WikiSettings, page_url};
pub use comments::{COMMENT_PAUSE, Comment};
pub use content::{ContentLayer, Contents};
pub use custom::NoSchema;
pub use error::WikiError;
pub(crate) use error::sentence;
pub use gone::{GonePage, SeenPage};
pub use history::{History, HistoryEntry};
pub use key::{ApiKey, KeySetting, in_words};
pub use link_graph::LinksOfPage;
pub use list::{Chosen, ListPart, ListQuery, Position};
pub use mutate::{Sender, Sending, Sent};
pub use network::{Network, Proxy};
pub(crate) use network::{authorities, headers};
pub use operations::{PageOrderBy, PageOrderByDirection, PageTreeMode};
pub use reach::{Reached, TlsFault, Unreachable};
pub use resolve::{NamedPage, Resolved, Unresolved};
pub use retry::RetryLimits;
pub use rights::{Right, Rights};
pub use search::Hit;
pub use site::{SiteLocales, UnknownLocale};
pub use standing::Standing;
pub use tags::{LinkingPage, Links, Tag};
pub use thing::{SeenThing, asset_state};
pub use traffic::Traffic;
pub(crate) use transport::is_loopback;
pub use transport::{MAX_ANSWER_BYTES, MAX_REQUEST_BYTES, TimeLimits, provide_tls};
pub use tree::{MAX_NODES, TreeNode, Walk};
pub use version::{Since, Version};
