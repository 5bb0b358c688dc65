//! The typed client of one wiki: transport, retry of reads, operations, what is read and what can
//! go wrong. No other module speaks HTTP to the wiki.
//!
//! What the real server does is cited as facts W1 to W24; its faults (limits of lists, children of
//! the tree, ids of hits, offsets of a history) are corrected here, so that no tool has to know
//! them.

mod attached;
mod client;
mod error;
mod links;
mod operations;
pub mod pages;
mod rights;
pub mod transport;

pub use attached::assets::{Asset, AssetFolder};
pub use attached::comments::{COMMENT_PAUSE, Comment};
pub use attached::target::{SeenThing, asset_state};
pub use client::{Wiki, WikiSettings, page_url};
pub use error::{WikiError, WikiResult};
pub use links::link_graph::LinksOfPage;
pub use links::tag_branches::parent as parent_tag;
pub use links::tags::{LinkingPage, PageLinkLists, TagUsage};
pub use operations::custom::NoSchema;
pub use operations::generated::{PageOrderBy, PageOrderByDirection, PageTreeMode};
pub use operations::mutate::{MutationOutcome, Sender, Sending};
pub use pages::all_pages::AllPages;
pub use pages::all_pages::a_moment_ago;
pub use pages::authors::RIGHT_TO_AUTHOR;
pub use pages::changes::{Before, ChangedPage, PageWrites};
pub use pages::content::{ContentLayer, Contents};
pub use pages::history::{History, HistoryEntry};
pub use pages::kept_list::MAX_KEPT;
pub use pages::list::{Chosen, ListPart, ListQuery, Position};
pub use pages::resolve::{NamedPage, ResolvedPage, Unresolved};
pub use pages::search::EngineHit;
pub use pages::seen_pages::SeenPage;
pub use pages::tree::{MAX_NODES, TreeListing, TreeNode};
pub use pages::version::{Since, Version};
pub use rights::key::{ApiKey, KeySetting, in_words};
pub use rights::key_state::KeyStatus;
pub use rights::pages::{PageRights, Right};
pub use rights::site::{SiteLocales, UnknownLocale};
pub use transport::fetch::fetch;
pub use transport::network::{ClientCertificate, Network, Proxy};
pub use transport::network::{authorities, header_lines, headers};
pub use transport::offload::aside;
pub use transport::reach::{Reached, TlsFault, Unreachable};
pub use transport::retry::RetryLimits;
pub use transport::traffic::Traffic;
pub use transport::{MAX_ANSWER_BYTES, MAX_REQUEST_BYTES, TimeLimits, provide_tls};
pub use transport::{http_client, is_loopback, is_plain_place, is_safe, is_safe_place};
