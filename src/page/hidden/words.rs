//! Words of a language, as far as they can be told from code, classes and addresses.

use std::collections::HashSet;
use std::sync::LazyLock;

/// A list of words that is looked through for every word of a page.
pub(super) type WordSet = LazyLock<HashSet<&'static str>>;

/// Words that authors leave in a page for browsers and for each other: what has no others leads no
/// model astray.
static COMMON: WordSet = LazyLock::new(|| words(include_str!("lists/common_words.txt")));

/// The words of a list, apart by white space.
pub(super) fn words(list: &str) -> HashSet<&str> {
    list.split_ascii_whitespace().collect()
}

/// True if a list of words, apart by spaces, has this one.
pub(super) fn has_one(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// A text with one space between its words, in lower case.
pub(super) fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// True if a text has a letter or a digit.
pub(super) fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// True if a text says something to a model: it has a word that is not a common one.
pub(super) fn speaks(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphabetic());
    words.any(|word| weight(word) > 0 && !COMMON.contains(&*word.to_ascii_lowercase()))
}

/// True if a text is unusually long for one that shows beside something or in its place.
pub(super) fn is_long(text: &str, most_words: usize, most_chars: usize) -> bool {
    let words = || text.split_whitespace().map(weight).sum::<usize>();
    text.len() > most_words && (words() > most_words || text.chars().count() > most_chars)
}

/// Length of the longest run of words with nothing else between them: a sentence has many, a list
/// of classes, a path or a setting few.
pub(super) fn longest_run(text: &str) -> usize {
    let is_mark = |c: char| ".,;:!?'\"()[]’‘“”«»…–—、。".contains(c);
    let is_of_word = |c: char| c.is_alphabetic() || "'’、。，".contains(c);
    let (mut run, mut longest) = (0, 0);
    for word in text.split_whitespace() {
        let is_plain = word.trim_matches(is_mark).chars().all(is_of_word);
        run = (run + weight(word).max(1)) * usize::from(is_plain);
        longest = longest.max(run);
    }
    longest
}

/// Number of words that a piece counts for: one if it has two letters. Where no spaces are written,
/// two characters count as one.
fn weight(piece: &str) -> usize {
    let is_unspaced = |c: &char| {
        matches!(c, '\u{0E00}'..='\u{0EFF}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}'
            | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
    };
    let letters = || piece.chars().filter(|c| c.is_alphabetic());
    let signs = letters().filter(is_unspaced).count();
    let letters = letters().count() - signs;
    usize::from(letters > 1) + signs.div_ceil(2)
}
