//! The links that moves and deletions touch.

pub(super) mod comments_lost;
pub(super) mod linkers;
pub(super) mod missing_targets;
pub(super) mod new_place;
pub(super) mod wiki_links;
