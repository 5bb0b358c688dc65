//! Links, tags and places of the whole wiki.

pub(super) mod link_graph;
pub(super) mod tag_branches;
pub(super) mod tags;
