//! What was found in the texts examined last.
//!
//! A page is read more often than it changes, and part by part where it is large: what is hidden
//! in it is found once.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

use super::found::HiddenText;
use crate::page::markdown::outline::Format;

/// How many texts are remembered, by a digest each.
const MOST: usize = 64;

type Key = [u8; 32];

/// What was found in the last texts.
pub(super) static LAST: Remembered = Remembered::new();

/// What was found in some texts, the last one first.
pub(super) struct Remembered(Mutex<VecDeque<(Key, Option<HiddenText>)>>);

impl Remembered {
    const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    /// What is hidden in a text, as it was found before, or found now by `look`.
    pub(super) fn or_look(
        &self,
        text: &str,
        format: Format,
        css: &str,
        look: impl FnOnce() -> Option<HiddenText>,
    ) -> Option<HiddenText> {
        let key = key_of(text, format, css);
        let of_this = |(own, _): &&(Key, _)| *own == key;
        if let Some((_, found)) = self.texts().iter().find(of_this) {
            return found.clone();
        }
        let found = look();
        let mut texts = self.texts();
        texts.truncate(MOST - 1);
        texts.push_front((key, found.clone()));
        found
    }

    fn texts(&self) -> MutexGuard<'_, VecDeque<(Key, Option<HiddenText>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key_of(text: &str, format: Format, css: &str) -> Key {
    let format: &[u8] = match format {
        Format::Markdown => b"markdown",
        Format::Html => b"html",
        Format::AsciiDoc => b"asciidoc",
        Format::Other => b"other",
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
    use super::{MOST, Remembered};
    use crate::page::markdown::outline::Format;

    #[test]
    fn what_was_found_is_told_of_the_same_text_format_and_styles_alone() {
        let last = Remembered::new();
        let text = "read once <!-- and again -->";
        let looks = |text, format, css| {
            let mut looks = false;
            last.or_look(text, format, css, || {
                looks = true;
                None
            });
            looks
        };
        assert!(looks(text, Format::Markdown, ""));
        assert!(!looks(text, Format::Markdown, ""));
        assert!(looks("read once <!-- and again --", Format::Markdown, ""));
        assert!(looks(text, Format::Other, ""));
        assert!(looks(text, Format::Markdown, "p { display: none }"));
        assert!(!looks(text, Format::Markdown, ""));
    }

    #[test]
    fn no_more_than_so_many_texts_are_remembered() {
        let last = Remembered::new();
        for index in 0..MOST * 2 {
            last.or_look(&index.to_string(), Format::Html, "", || None);
        }
        assert_eq!(last.texts().len(), MOST);
    }
}
