//! Splits a text into words to compare, without accents and case. Chinese, Japanese and Korean are
//! split into characters, since they have no spaces between words, or different ones.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::compose;

/// The longest word in characters; longer runs are not indexed.
const MAX_CHARS: usize = 64;

/// A word, or one character of a script without words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WordToken {
    /// Its bytes in the text.
    pub(super) range: Range<usize>,
    /// The form in which it is compared.
    pub(super) text: String,
    /// True if it is a character of a script without words.
    pub(super) is_cjk: bool,
}

/// All tokens of a text, in order.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = WordToken> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = chars.find(|(_, c)| is_part(*c))?;
        let mut end = start + first.len_utf8();
        let mut folded = String::new();
        fold(first, &mut folded);
        let is_cjk = is_cjk(first);
        while let Some((at, c)) = chars.peek().copied() {
            if is_cjk {
                // A separate sound mark belongs to the character before it.
                let Some(whole) = voiced(&folded, c) else {
                    break;
                };
                folded = whole.into();
            } else {
                if !is_part(c) || self::is_cjk(c) {
                    break;
                }
                fold(c, &mut folded);
            }
            chars.next();
            end = at + c.len_utf8();
        }
        if let Some((cut, _)) = folded.char_indices().nth(MAX_CHARS) {
            folded.truncate(cut);
        }
        Some(WordToken {
            range: start..end,
            text: folded,
            is_cjk,
        })
    })
    .filter(|token| !token.text.is_empty())
}

/// The index columns of a text: its words, and its runs of CJK as overlapping pairs.
///
/// The last character of a run follows its pairs alone. So each character begins a token, and pairs
/// of two runs are never adjacent.
pub fn columns(text: &str) -> (String, String) {
    let (mut words, mut pairs) = (String::new(), String::new());
    let mut open: Option<WordToken> = None;
    let mut close = |open: Option<WordToken>, next: Option<&WordToken>| {
        let Some(open) = open else { return };
        pairs.push_str(&open.text);
        if let Some(next) = next.filter(|next| next.is_cjk && next.range.start == open.range.end) {
            pairs.push_str(&next.text);
        }
        pairs.push(' ');
    };
    for token in tokens(text) {
        close(open.take(), Some(&token));
        if token.is_cjk {
            open = Some(token);
        } else {
            words.push_str(&token.text);
            words.push(' ');
        }
    }
    close(open, None);
    (words, pairs)
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c)
}

/// Marks that are left out: those over, under or in a letter that is complete without them. (Other
/// marks are vowels.)
const fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036F}' | '\u{0591}'..='\u{05C7}' | '\u{0610}'..='\u{061A}'
        | '\u{064B}'..='\u{065F}' | '\u{0670}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}' | '\u{FE00}'..='\u{FE0F}' | '\u{FE20}'..='\u{FE2F}')
}

/// Han, kana and Hangul, and their forms for old printers.
const fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11FF}' | '\u{2E80}'..='\u{2FDF}' | '\u{3005}'..='\u{3007}'
        | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}' | '\u{303B}'
        | '\u{3041}'..='\u{3096}' | '\u{309D}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}'
        | '\u{30FC}'..='\u{30FF}' | '\u{3105}'..='\u{312F}' | '\u{3131}'..='\u{318E}'
        | '\u{31A0}'..='\u{31BF}' | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}' | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9D}' | '\u{FFA0}'..='\u{FFDC}'
        | '\u{1B000}'..='\u{1B16F}' | '\u{20000}'..='\u{323AF}')
}

/// A kana with the sound mark that follows it, as one character.
fn voiced(folded: &str, mark: char) -> Option<char> {
    let mark = match mark {
        '\u{3099}' | '\u{FF9E}' => '\u{3099}',
        '\u{309A}' | '\u{FF9F}' => '\u{309A}',
        _ => return None,
    };
    compose(folded.chars().next()?, mark)
}

fn fold(c: char, into: &mut String) {
    if c.is_ascii() {
        into.push(c.to_ascii_lowercase());
    } else if is_cjk(c) {
        into.extend(std::iter::once(c).nfkc());
    } else {
        let plain = std::iter::once(c).nfkd().flat_map(char::to_lowercase);
        // Some letter forms also decompose into a space or a sign.
        into.extend(plain.nfkd().filter(|c| is_part(*c) && !is_accent(*c)));
    }
}

#[cfg(test)]
mod tests {
    use super::{columns, tokens};

    fn words(text: &str) -> Vec<String> {
        tokens(text).map(|token| token.text).collect()
    }

    #[test]
    fn words_have_neither_accents_nor_case() {
        assert_eq!(
            words("Crème BRÛLÉE, e\u{301}te\u{301}; İstanbul ＡＢＣ"),
            ["creme", "brulee", "ete", "istanbul", "abc"]
        );
        assert_eq!(words("db_down v2.4"), ["db", "down", "v2", "4"]);
        // A separate accent of old Arabic print is not a word.
        assert_eq!(words("a \u{FE72} b ½"), ["a", "b", "12"]);
    }

    #[test]
    fn a_token_knows_where_it_stands() {
        let text = "a – Été";
        let last = tokens(text).last().expect("a token");
        assert_eq!(text.get(last.range), Some("Été"));
    }

    #[test]
    fn runs_of_cjk_become_overlapping_pairs() {
        assert_eq!(
            columns("每周会议 in 東京"),
            ("in ".to_owned(), "每周 周会 会议 议 東京 京 ".to_owned())
        );
        assert_eq!(columns("会").1, "会 ");
        assert_eq!(columns("회의록").1, "회의 의록 록 ");
    }

    #[test]
    fn kana_are_one_however_they_are_written() {
        let one = columns("ガイド").1;
        assert_eq!(one, "ガイ イド ド ");
        assert_eq!(columns("ｶﾞｲﾄﾞ").1, one);
        assert_eq!(columns("カ\u{3099}イト\u{3099}").1, one);
        assert_ne!(columns("カイト").1, one);
    }
}
