//! Names of custom tools and of their arguments.

/// The prefix of every custom tool's name; none of ours has it.
pub(super) const PREFIX: &str = "custom_";
/// The form of the name of a custom tool, for people.
pub const NAME_FORM: &str =
    "custom_ and a small letter, then small letters, digits and _, up to 64 characters";
/// The longest name of a tool: clients refuse longer ones.
pub const MOST_NAME: usize = 64;

/// True if a text can be the name of a custom tool.
pub fn is_custom_name(name: &str) -> bool {
    name.len() <= MOST_NAME && name.strip_prefix(PREFIX).is_some_and(is_word)
}

/// True if a text is a word of small letters, digits and `_` that begins with a letter.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && (text.chars()).all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// True if a text can be the name of an argument.
pub(super) fn is_argument(text: &str) -> bool {
    text.len() <= MOST_NAME
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
