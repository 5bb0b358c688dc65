//! Names of custom tools and of their arguments.

/// What the name of every custom tool begins with; none of ours does.
pub(super) const PREFIX: &str = "custom_";
/// The longest name: clients refuse longer ones.
const MOST: usize = 64;

/// Whether a text can be the name of a custom tool.
#[must_use]
pub fn is_custom_name(name: &str) -> bool {
    name.len() <= MOST && name.strip_prefix(PREFIX).is_some_and(is_word)
}

/// Whether a text is a word of small letters, digits and `_` that begins with a letter.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && (text.chars()).all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Whether a text can be the name of an argument.
pub(super) fn is_argument(text: &str) -> bool {
    text.len() <= MOST
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
