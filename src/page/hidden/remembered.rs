//! Caches what was found hidden in the texts examined last.
//!
//! A page is read more often than it changes, and part by part where it is large: what is hidden
//! in it is found once.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

use super::found::HiddenText;
use crate::page::markdown::outline::SourceFormat;

/// The most texts that are remembered, by a digest each.
const MOST: usize = 64;

type ScanCacheKey = [u8; 32];

/// The cache for the last texts examined.
pub(super) static LAST: HiddenTextCache = HiddenTextCache::new();

/// Hidden text of the texts examined last, the newest first.
pub(super) struct HiddenTextCache(Mutex<VecDeque<(ScanCacheKey, Option<HiddenText>)>>);

impl HiddenTextCache {
    const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    /// The hidden text of a text, from the cache or else found now by `look`.
    pub(super) fn or_look(
        &self,
        text: &str,
        format: SourceFormat,
        css: &str,
        look: impl FnOnce() -> Option<HiddenText>,
    ) -> Option<HiddenText> {
        let key = key_of(text, format, css);
        let of_this = |(own, _): &&(ScanCacheKey, _)| *own == key;
        if let Some((_, found)) = self.texts().iter().find(of_this) {
            return found.clone();
        }
        let found = look();
        let mut texts = self.texts();
        texts.truncate(MOST - 1);
        texts.push_front((key, found.clone()));
        found
    }

    fn texts(&self) -> MutexGuard<'_, VecDeque<(ScanCacheKey, Option<HiddenText>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key_of(text: &str, format: SourceFormat, css: &str) -> ScanCacheKey {
    let format: &[u8] = match format {
        SourceFormat::Markdown => b"markdown",
        SourceFormat::Html => b"html",
        SourceFormat::AsciiDoc => b"asciidoc",
        SourceFormat::Other => b"other",
    };
    let mut digest = Sha256::new();
    // Each piece with its end, so that no two can be taken for others.
    digest.update(format);
    digest.update([0]);
    digest.update(css.len().to_le_bytes());
    digest.update(css);
    digest.update(text);
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::{HiddenTextCache, MOST};
    use crate::page::markdown::outline::SourceFormat;

    #[test]
    fn what_was_found_is_told_of_the_same_text_format_and_styles_alone() {
        let last = HiddenTextCache::new();
        let text = "read once <!-- and again -->";
        let looks = |text, format, css| {
            let mut looks = false;
            last.or_look(text, format, css, || {
                looks = true;
                None
            });
            looks
        };
        assert!(looks(text, SourceFormat::Markdown, ""));
        assert!(!looks(text, SourceFormat::Markdown, ""));
        assert!(looks(
            "read once <!-- and again --",
            SourceFormat::Markdown,
            ""
        ));
        assert!(looks(text, SourceFormat::Other, ""));
        assert!(looks(text, SourceFormat::Markdown, "p { display: none }"));
        assert!(!looks(text, SourceFormat::Markdown, ""));
    }

    #[test]
    fn no_more_than_so_many_texts_are_remembered() {
        let last = HiddenTextCache::new();
        for index in 0..MOST * 2 {
            last.or_look(&index.to_string(), SourceFormat::Html, "", || None);
        }
        assert_eq!(last.texts().len(), MOST);
    }
}
