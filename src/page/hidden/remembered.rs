//! Caches what was found hidden in the texts examined last.
//!
//! A page is read more often than it changes, and part by part where it is large: what is hidden
//! in it is found once.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use super::kinds::HiddenText;
use crate::page::markdown::outline::SourceFormat;

/// The most texts that are remembered, by a digest each.
const MOST: usize = 64;

/// The cache for the last texts examined.
pub(super) static LAST: HiddenTextCache = HiddenTextCache(Mutex::new(VecDeque::new()));

/// Hidden text of the texts examined last, the newest first.
pub(super) struct HiddenTextCache(Mutex<VecDeque<(Sha256Digest, Option<HiddenText>)>>);

type Sha256Digest = [u8; 32];

impl HiddenTextCache {
    /// The hidden text of a text, from the cache or else found now by `look`.
    pub(super) fn or_look(
        &self,
        text: &str,
        format: SourceFormat,
        css: &str,
        look: impl FnOnce() -> Option<HiddenText>,
    ) -> Option<HiddenText> {
        // Each piece with its end, so that no two can be taken for others.
        let lead = format!("{format:?} {} {css}", css.len());
        let key: Sha256Digest = Sha256::new_with_prefix(lead)
            .chain_update(text)
            .finalize()
            .into();
        let texts = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = texts().iter().find(|(own, _)| *own == key) {
            return found.clone();
        }
        let found = look();
        let mut texts = texts();
        texts.truncate(MOST - 1);
        texts.push_front((key, found.clone()));
        found
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use super::{HiddenTextCache, MOST};
    use crate::page::markdown::outline::SourceFormat;

    fn empty() -> HiddenTextCache {
        HiddenTextCache(Mutex::new(VecDeque::new()))
    }

    #[test]
    fn what_was_found_is_told_of_the_same_text_format_and_styles_alone() {
        let last = empty();
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
        let last = empty();
        for index in 0..MOST * 2 {
            last.or_look(&index.to_string(), SourceFormat::Html, "", || None);
        }
        assert_eq!(last.0.lock().unwrap().len(), MOST);
    }
}
