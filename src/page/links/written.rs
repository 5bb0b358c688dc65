//! A link as it stands in a source.

use std::ops::Range;

use super::link::{Carrier, LinkKind};
use super::target::Writing;

/// A link as it stands in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceLink {
    /// Its start in the source: of HTML, that of the tag.
    pub(super) at: usize,
    /// The bytes of its target; none where they cannot be told surely.
    pub(super) range: Option<Range<usize>>,
    /// The escapes that these bytes are written with.
    pub(super) writing: Writing,
    /// The target after decoding.
    pub(super) target: String,
    /// The syntax that carries it.
    pub(super) carrier: Carrier,
    /// Its kind; none of a definition, and of an attribute that only drawings and styles have.
    pub(super) kind: Option<LinkKind>,
    /// Its target stands in a definition.
    pub(super) is_reference: bool,
    /// It stands in `<code>` or `<pre>` of HTML, where it leads readers all the same.
    pub(super) is_in_code: bool,
}

impl SourceLink {
    /// A link or an image of Markdown.
    pub(super) const fn markdown(at: usize, carrier: Carrier, target: String) -> Self {
        let kind = match carrier {
            Carrier::Untouched => LinkKind::Embedded,
            Carrier::Markdown | Carrier::Anchor => LinkKind::Link,
        };
        Self {
            at,
            range: None,
            writing: Writing::Markdown,
            target,
            carrier,
            kind: Some(kind),
            is_reference: false,
            is_in_code: false,
        }
    }

    /// The same, with the bytes of its target only if they really say it.
    pub(super) fn checked(mut self, text: &str) -> Self {
        let raw = self.range.clone().and_then(|range| text.get(range));
        if raw.is_none_or(|raw| self.writing.said(raw) != self.target) {
            self.range = None;
        }
        self
    }
}
