//! Characters that show nothing, or turn the direction of what follows.

use std::fmt::Write as _;

use super::super::hidden::HiddenKind::{self, BidirectionalControls, InvisibleCharacters};
use crate::page::is_invisible;

/// The flags that are spelt with characters of their own: of England, Scotland and Wales.
const FLAGS: [&str; 3] = [
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}",
];

/// Last character of the escape that replaces a hidden character.
const ESCAPED: char = '}';

/// The most spaces in a row, of those that browsers do not join, in ordinary text: more push words
/// out of sight.
const MAX_SPACES: usize = 24;

/// Visits the characters of a text, each with how it hides something. Joiners, variation selectors
/// and soft hyphens in their ordinary use hide nothing.
pub(in crate::page) fn each(text: &str, mut visit: impl FnMut(char, Option<HiddenKind>)) {
    for line in text.split_inclusive('\n') {
        // Marks of direction are ordinary in a line with letters from right to left.
        let mut has_rtl = None;
        let (mut before, mut letters, mut spaces, mut flag_end) = ('\n', 0, 0, 0);
        for (at, c) in line.char_indices() {
            let rest = line.get(at..).unwrap_or_default();
            spaces = match c {
                ' ' => spaces,
                c if c.is_whitespace() && !c.is_ascii_whitespace() => spaces + 1,
                _ => 0,
            };
            let is_plain = matches!(c, ' '..='~' | '\n' | '\r' | '\t') || at < flag_end;
            if let Some(flag) = FLAGS
                .iter()
                .find(|flag| !is_plain && rest.starts_with(**flag))
            {
                flag_end = at + flag.len();
            }
            let mut hiding = match rest.chars().nth(1) {
                _ if is_plain => None,
                _ if spaces > MAX_SPACES => Some(InvisibleCharacters),
                next => hides(before, c, next, letters),
            };
            let is_override = matches!(c, '\u{202D}' | '\u{202E}');
            if hiding == Some(BidirectionalControls)
                && !is_override
                && *has_rtl.get_or_insert_with(|| line.chars().any(is_rtl))
            {
                hiding = None;
            }
            visit(c, hiding);
            before = if hiding.is_some() { ESCAPED } else { c };
            // Letters in a row since the last soft hyphen.
            let is_letter = hiding.is_none() && is_visible_letter(c);
            letters = (letters + 1) * usize::from(is_letter);
        }
    }
}

/// The number of characters of a text that hide something so.
pub(in crate::page) fn count(text: &str, wanted: HiddenKind) -> usize {
    let mut count = 0_usize;
    each(text, |_, hiding| {
        count += usize::from(hiding == Some(wanted));
    });
    count
}

/// Classifies a character by its neighbours; `None` if it hides nothing.
fn hides(before: char, c: char, next: Option<char>, letters: usize) -> Option<HiddenKind> {
    let belongs = match c {
        '\u{061C}'
        | '\u{200E}'
        | '\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2066}'..='\u{2069}' => return Some(BidirectionalControls),
        '\u{FE0E}' | '\u{FE0F}' => {
            is_emoji(before) || matches!(before, '#' | '*' | '0'..='9' | '\u{A9}' | '\u{AE}')
        }
        '\u{FE00}' => {
            is_ideograph(before)
                || matches!(before, '\u{1000}'..='\u{109F}' | '\u{2200}'..='\u{2AFF}')
        }
        '\u{FE01}' | '\u{FE02}' | '\u{E0100}'..='\u{E01EF}' => is_ideograph(before),
        '\u{180B}'..='\u{180D}' | '\u{180F}' => matches!(before, '\u{1820}'..='\u{18AA}'),
        '\u{200C}' => joins(before),
        '\u{200D}' => {
            let is_of_emoji = is_emoji(before) || before == '\u{FE0F}';
            joins(before) || is_of_emoji && next.is_some_and(is_emoji)
        }
        '\u{AD}' => letters >= 2 && next.is_some_and(is_visible_letter),
        // Thai, Lao, Burmese and Khmer are written without spaces.
        '\u{200B}' => {
            matches!(before, '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}')
        }
        _ => false,
    };
    let is_hidden = !belongs && (c.is_control() || is_invisible(c));
    is_hidden.then_some(InvisibleCharacters)
}

fn is_visible_letter(c: char) -> bool {
    c.is_alphabetic() && !is_invisible(c)
}

const fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{3007}' | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}' | '\u{FF01}'..='\u{FF5E}')
}

const fn is_emoji(c: char) -> bool {
    matches!(c, '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{2BFF}'
        | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

/// True if a letter's form depends on its neighbours, so that joiners stand behind it: Arabic and
/// its relatives, the scripts of India and beyond.
const fn joins(c: char) -> bool {
    matches!(c, '\u{0600}'..='\u{08FF}' | '\u{0900}'..='\u{0DFF}' | '\u{0F00}'..='\u{109F}'
        | '\u{1780}'..='\u{18AF}' | '\u{1900}'..='\u{1CFF}' | '\u{A800}'..='\u{ABFF}'
        | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' | '\u{11000}'..='\u{11FFF}')
        && !is_invisible(c)
}

const fn is_rtl(c: char) -> bool {
    matches!(c, '\u{0590}'..='\u{061B}' | '\u{061D}'..='\u{08FF}' | '\u{FB1D}'..='\u{FDFF}'
        | '\u{FE70}'..='\u{FEFC}' | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}

/// A text with what is hidden in it escaped (`\u{202e}`).
pub fn escape_hidden(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    each(text, |c, hiding| {
        if hiding.is_some() {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
    });
    shown
}

/// A name that somebody chose, cut to so many characters: its letters and digits that are seen and the
/// signs of `signs`, with a hyphen for each other character.
pub fn plain_name(name: &str, most: usize, signs: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() && !is_invisible(c) || signs.contains(c);
    let name = name.chars().take(most);
    name.map(|c| if is_plain(c) { c } else { '-' }).collect()
}

/// A text in one line, cut to so many characters, with what is hidden in it escaped.
pub fn escaped(text: &str, most: usize) -> String {
    let cut = text.char_indices().nth(most).map(|(at, _)| at);
    let kept = text.get(..cut.unwrap_or(text.len())).unwrap_or_default();
    let mut shown = escape_hidden(&kept.replace(['\n', '\r', '\t'], " "));
    shown.extend(cut.map(|_| '…'));
    shown
}
