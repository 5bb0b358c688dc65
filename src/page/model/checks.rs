//! Checks of new values. Values taken over from the existing page are not checked.
//!
//! Each function answers one sentence about what is wrong, without the value's name.

use std::collections::HashSet;

/// The longest title, description or tag that the database stores, in characters (W16, W17).
const MAX_TEXT_CHARS: usize = 255;

/// A text of any kind: no NUL, which is an SQL error (W17). A lone surrogate cannot
/// get this far: no Rust string holds one.
///
/// # Errors
/// One sentence about what is wrong.
pub fn check_text(text: &str) -> Result<(), String> {
    if text.contains('\0') {
        return Err("must not contain the character NUL".to_owned());
    }
    Ok(())
}

fn check_short(text: &str) -> Result<(), String> {
    check_text(text)?;
    if text.chars().count() > MAX_TEXT_CHARS {
        return Err(format!("must have at most {MAX_TEXT_CHARS} characters"));
    }
    Ok(())
}

/// A title: 1 to 255 characters, not blank (W16, W17).
///
/// # Errors
/// One sentence about what is wrong.
pub fn check_title(title: &str) -> Result<(), String> {
    if title.trim().is_empty() {
        return Err("must not be blank".to_owned());
    }
    check_short(title)
}

/// A description, which may be empty: at most 255 characters (W17).
///
/// # Errors
/// One sentence about what is wrong.
pub fn check_description(description: &str) -> Result<(), String> {
    check_short(description)
}

/// A body: not blank, which Wiki.js refuses as 6004.
///
/// # Errors
/// One sentence about what is wrong.
pub fn check_content(content: &str) -> Result<(), String> {
    if content.trim().is_empty() {
        return Err("must not be blank: Wiki.js refuses a page without content".to_owned());
    }
    check_text(content)
}

/// The text of a comment: two units of UTF-16 or more without the white space around it, which
/// Wiki.js cuts off (W30).
///
/// # Errors
/// One sentence about what is wrong.
pub fn check_comment(content: &str) -> Result<(), String> {
    if trimmed_comment(content).encode_utf16().nth(1).is_none() {
        return Err(
            "must have two characters or more: Wiki.js refuses a shorter comment".to_owned(),
        );
    }
    check_text(content)
}

/// A comment's text as Wiki.js stores it: without white space around it, as JavaScript has it.
pub fn trimmed_comment(content: &str) -> &str {
    content.trim_matches(|c: char| c == '\u{feff}' || c.is_whitespace() && c != '\u{85}')
}

/// A tag as Wiki.js stores it (W17): trimmed, lower case, without commas, 1 to 255 characters.
///
/// # Errors
/// One sentence about what is wrong.
pub fn check_tag(tag: &str) -> Result<String, String> {
    // The wiki trims as JavaScript does, the byte order mark too.
    let tag = tag
        .trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
        .to_lowercase();
    if tag.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    if tag.is_empty() {
        return Err("must not be blank".to_owned());
    }
    if tag.contains(',') {
        return Err("must not contain a comma: give each tag as an item of its own".to_owned());
    }
    check_short(&tag)?;
    Ok(tag)
}

/// Tags in the form in which the wiki stores them, each once; those that a page has already (`own`) stay
/// as they are.
///
/// # Errors
/// One sentence about the first that is wrong.
pub fn stored_tags(tags: Vec<String>, own: &[String]) -> Result<Vec<String>, String> {
    let own: HashSet<&String> = own.iter().collect();
    let (mut stored, mut known) = (Vec::with_capacity(tags.len()), HashSet::new());
    for tag in tags {
        let tag = if own.contains(&tag) {
            tag
        } else {
            check_tag(&tag)?
        };
        if known.insert(tag.clone()) {
            stored.push(tag);
        }
    }
    Ok(stored)
}

/// A tag without a leading `#`, which is only a way to write it; signs alone stay.
pub fn bare_tag(tag: &str) -> &str {
    match tag.trim_start_matches('#').trim() {
        "" => tag,
        bare => bare,
    }
}

/// The editors that every Wiki.js knows; another is an SQL error (W17).
pub const EDITORS: [&str; 7] = [
    "markdown", "ckeditor", "code", "asciidoc", "wysiwyg", "api", "redirect",
];

/// An editor.
///
/// # Errors
/// One sentence about what is wrong.
pub fn check_editor(editor: &str) -> Result<(), String> {
    if EDITORS.contains(&editor) {
        Ok(())
    } else {
        Err(format!("must be one of {}", EDITORS.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::{check_content, check_description, check_tag, check_title};

    #[test]
    fn limits_are_counted_in_characters() {
        let long = "ä".repeat(255);
        assert!(check_title(&long).is_ok());
        assert!(check_description(&long).is_ok());
        assert!(check_tag(&long).is_ok());
        let longer = "ä".repeat(256);
        assert!(check_title(&longer).is_err());
        assert!(check_description(&longer).is_err());
        assert!(check_tag(&longer).is_err());
    }

    #[test]
    fn blank_values_are_refused_where_the_wiki_needs_one() {
        assert!(check_title(" \t").is_err());
        assert!(check_content("\n\n").is_err());
        assert!(check_tag("  ").is_err());
        assert!(check_description("").is_ok());
    }

    #[test]
    fn a_tag_is_made_as_the_wiki_stores_it() {
        assert_eq!(check_tag(" Mixed Case ").as_deref(), Ok("mixed case"));
        assert!(check_tag("a,b").is_err());
    }
}
