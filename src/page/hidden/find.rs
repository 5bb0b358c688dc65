//! Finds what is hidden in a text of any format.

use super::kinds::{HiddenKind, HiddenText};
use super::remembered::LAST;
use super::sheet::HidingStyles;
use super::{asciidoc, elements, markdown};
use crate::page::markdown::outline::SourceFormat;
use crate::page::markdown::signs::has_too_many_signs;
use crate::page::model::characters::each;
use crate::page::select::position::lines_of;

impl HiddenText {
    /// Finds what is hidden in a text, if anything. `css` is the page's own style sheet, if known.
    #[must_use]
    pub fn of(text: &str, format: SourceFormat, css: Option<&str>) -> Option<Self> {
        let css = css.unwrap_or_default();
        LAST.or_look(text, format, css, || {
            let hidden = look(text, format, css);
            (hidden != Self::default()).then_some(hidden)
        })
    }

    /// Finds what is hidden in the plain text of some HTML: characters by the lines of the plain
    /// text, and the number of other kinds in the HTML, which has no lines there.
    #[must_use]
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
        _ => elements::walk(text, None, sheet, &mut hidden, &mut lines_of(text)),
    }
    hidden
}

fn characters(text: &str, hidden: &mut HiddenText) {
    let mut line = 1;
    each(text, |c, hiding| {
        if let Some(hiding) = hiding {
            hidden.add(hiding.into(), line, true);
        }
        line += usize::from(c == '\n');
    });
}

#[cfg(test)]
mod tests;
