//! Finds what is hidden in a text of any format.
//!
//! A page is read more often than it changes, and part by part where it is large: what is hidden in
//! it is found once, and remembered.

use std::collections::VecDeque;

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

use super::super::{HiddenKind, HiddenText, SourceFormat, has_too_many_signs};
use super::sheet::HidingStyles;
use super::{asciidoc, elements, markdown};
use crate::page::markdown::html_block::HtmlBlock;
use crate::page::model::characters::each;

/// The most texts that are remembered, by a digest each.
const MOST: usize = 64;

/// The cache for the last texts examined.
static LAST: HiddenTextCache = HiddenTextCache(Mutex::new(VecDeque::new()));

/// Hidden text of the texts examined last, the newest first.
struct HiddenTextCache(Mutex<VecDeque<([u8; 32], Option<HiddenText>)>>);

impl HiddenTextCache {
    /// The hidden text of a text, from the cache or else found now by `look`.
    fn or_look(
        &self,
        text: &str,
        format: SourceFormat,
        css: &str,
        look: impl FnOnce() -> Option<HiddenText>,
    ) -> Option<HiddenText> {
        // Each piece with its end, so that no two can be taken for others.
        let lead = format!("{format:?} {} {css}", css.len());
        let digest = Sha256::new_with_prefix(lead).chain_update(text);
        let key: [u8; 32] = digest.finalize().into();
        let texts = || self.0.lock();
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

impl HiddenText {
    /// Finds what is hidden in a text, if anything. `css` is the page's own style sheet, if known.
    pub fn of(text: &str, format: SourceFormat, css: Option<&str>) -> Option<Self> {
        let css = css.unwrap_or_default();
        LAST.or_look(text, format, css, || {
            let hidden = look(text, format, css);
            (hidden != Self::default()).then_some(hidden)
        })
    }

    /// Finds what is hidden in the plain text of some HTML: characters by the lines of the plain
    /// text, and the number of other kinds in the HTML, which has no lines there.
    pub fn of_plain(plain: &str, html: &str, css: Option<&str>) -> Option<Self> {
        let mut hidden = Self::of(html, SourceFormat::Html, css).unwrap_or_default();
        hidden.found.retain(|kind, found| {
            found.lines.clear();
            *kind > HiddenKind::BidirectionalControls
        });
        let of_plain = Self::of(plain, SourceFormat::Other, None).unwrap_or_default();
        hidden.found.extend(of_plain.found);
        (hidden != Self::default()).then_some(hidden)
    }
}

fn look(text: &str, format: SourceFormat, css: &str) -> HiddenText {
    let mut hidden = HiddenText::default();
    let is_plain = |byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    if !text.bytes().all(is_plain) {
        // A mark of the byte order is no part of the text.
        characters(text.strip_prefix('\u{FEFF}').unwrap_or(text), &mut hidden);
    }
    let mut sheet = HidingStyles::default();
    sheet.add(css);
    let may_hide = match format {
        SourceFormat::Html => text.contains(['<', '&']),
        SourceFormat::Markdown => markdown::may_hide(text, &sheet),
        SourceFormat::AsciiDoc => true,
        SourceFormat::Other => false,
    };
    hidden.is_unchecked = may_hide && has_too_many_signs(text, format);
    match format {
        _ if !may_hide || hidden.is_unchecked => {}
        SourceFormat::Markdown => markdown::walk(text, sheet, &mut hidden),
        SourceFormat::AsciiDoc => asciidoc::walk(text, &mut hidden),
        _ => {
            let mut html = HtmlBlock::default();
            html.push(text, 0..text.len());
            elements::walk(&html, text, None, sheet, &mut hidden);
        }
    }
    hidden
}

fn characters(text: &str, hidden: &mut HiddenText) {
    let mut line = 1;
    each(text, |c, hiding| {
        if let Some(hiding) = hiding {
            hidden.add(hiding, line, true);
        }
        line += usize::from(c == '\n');
    });
}

#[cfg(test)]
mod tests;
