//! A link as it stands in a source.

use std::ops::Range;

use super::super::target::Writing;
use crate::page::Carrier;

/// A link as it stands in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceLink {
    /// Its start in the source.
    pub(super) at: usize,
    /// The bytes of its target; none where they cannot be told surely.
    pub(super) range: Option<Range<usize>>,
    /// The escapes that these bytes are written with.
    pub(super) writing: Writing,
    /// The target after decoding.
    pub(super) target: String,
    /// The syntax that carries it.
    pub(super) carrier: Carrier,
    /// It stands in `<code>` or `<pre>` of HTML, where it leads readers all the same.
    pub(super) is_in_code: bool,
}

impl SourceLink {
    /// A link, with the bytes of its target if they really say it.
    pub(super) fn checked(
        text: &str,
        at: usize,
        range: Option<Range<usize>>,
        writing: Writing,
        carrier: Carrier,
        target: String,
    ) -> Self {
        let says = |range: &Range<usize>| {
            text.get(range.clone())
                .is_some_and(|raw| writing.said(raw) == target)
        };
        Self {
            at,
            range: range.filter(says),
            writing,
            target,
            carrier,
            is_in_code: false,
        }
    }
}
