//! Words of a language, as far as they can be distinguished from code, classes and addresses.

/// True if a text has a letter or a digit.
pub(super) fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Number of words: pieces with two letters. Where no spaces are written, two characters count as
/// one.
pub(super) fn words(text: &str) -> usize {
    text.split_whitespace().map(weight).sum()
}

/// Length of the longest run of words with nothing else between them: a sentence has many, a list
/// of classes, a path or a setting few.
pub(super) fn longest_run(text: &str) -> usize {
    let (mut run, mut longest) = (0, 0);
    for word in text.split_whitespace() {
        run = if is_plain(word) {
            run + weight(word).max(1)
        } else {
            0
        };
        longest = longest.max(run);
    }
    longest
}

fn weight(word: &str) -> usize {
    let (mut letters, mut signs) = (0_usize, 0_usize);
    for c in word.chars() {
        if is_unspaced(c) {
            signs += 1;
        } else if c.is_alphabetic() {
            letters += 1;
        }
    }
    usize::from(letters > 1) + signs.div_ceil(2)
}

/// True if a piece is a word, punctuation around it included.
fn is_plain(word: &str) -> bool {
    let word = word.trim_matches(|c: char| ".,;:!?'\"()[]’‘“”«»…–—、。".contains(c));
    let is_of_word = |c: char| c.is_alphabetic() || matches!(c, '\'' | '’' | '、' | '。' | '，');
    word.chars().all(is_of_word)
}

/// True if a character is of a script without spaces between words.
const fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0EFF}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// True if an address holds more words than usual.
pub(super) fn is_wordy_address(address: &str) -> bool {
    const MOST: usize = 12;
    // So many words take a letter and a sign each.
    if address.len() < 2 * MOST {
        return false;
    }
    let spaced = address.replace("%20", " ").replace('+', " ");
    longest_run(&spaced) > MOST
}

/// True if a text is unusually long for one that shows beside a link or an image, or in its place.
pub(super) fn is_long_title(text: &str) -> bool {
    words(text) > 12 || text.chars().count() > 120
}

/// The same for descriptions of images, which may be longer.
pub(super) fn is_long_description(text: &str) -> bool {
    words(text) > 40 || text.chars().count() > 300
}
