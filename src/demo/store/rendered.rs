//! Models a rendered page.

use crate::demo::anchors::Anchored;

/// A page as it was rendered.
#[derive(Debug)]
pub(super) struct Rendered {
    /// The source that was rendered: a page that a test altered is rendered anew.
    pub(super) content: String,
    pub(super) editor: String,
    pub(super) made: Anchored,
}
