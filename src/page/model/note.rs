//! Holds the reason for a write, in the words of whoever wants it.
//!
//! The person who decides reads what a model writes here: it is always shown as the model's words,
//! and nothing in it can look like ours.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::page::{escape_hidden, secrets};

/// The most characters of a note.
pub const MAX_NOTE: usize = 200;

/// The author of a note.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Whose {
    /// A client's, over the protocol.
    #[default]
    Agent,
    /// Of the person who runs a command.
    Operator,
}

/// One line that says why a write is wanted.
///
/// Shown by its `Display`, it names whose words it is, in quotation marks that nothing in it can
/// close, with what is hidden in it escaped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Note {
    text: String,
    whose: Whose,
}

impl Note {
    /// A note, if it is one line of 1 to 200 characters that holds no secret.
    ///
    /// # Errors
    /// One sentence about what is wrong.
    pub fn parse(text: &str, whose: Whose) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("must not be blank".to_owned());
        }
        if text.chars().count() > MAX_NOTE {
            return Err(format!("must have at most {MAX_NOTE} characters"));
        }
        if text.chars().any(ends_line) {
            return Err("must be one line".to_owned());
        }
        if let Some(secret) = secrets(text, &[]).first() {
            return Err(format!("must not hold a secret: {}", secret.kind.name));
        }
        Ok(Self {
            text: text.to_owned(),
            whose,
        })
    }

    /// The words themselves, as they were given.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&own_words(self.whose, &self.text))
    }
}

impl TryFrom<String> for Note {
    type Error = String;

    /// A note that was kept with a proposal, which agents make.
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text, Whose::Agent)
    }
}

impl From<Note> for String {
    fn from(note: Note) -> Self {
        note.text
    }
}

/// Somebody's words, of whatever length and form, as a [`Note`] is shown.
pub fn own_words(whose: Whose, text: &str) -> String {
    let whose = match whose {
        Whose::Agent => "agent",
        Whose::Operator => "operator",
    };
    let mut chars = text.chars();
    let mut quoted = String::new();
    for c in chars.by_ref().take(MAX_NOTE) {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() || ends_line(c) => quoted.extend(c.escape_unicode()),
            c => quoted.push(c),
        }
    }
    let cut = if chars.next().is_some() { "…" } else { "" };
    format!("the {whose}'s words: \"{}{cut}\"", escape_hidden(&quoted))
}

/// True if a character ends a line in any program that shows it.
const fn ends_line(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

#[cfg(test)]
mod tests {
    use super::{MAX_NOTE, Note, Whose, own_words};

    fn shown(text: &str) -> String {
        Note::parse(text, Whose::Agent).unwrap().to_string()
    }

    #[test]
    fn a_note_is_one_line_of_at_most_200_characters_and_no_secret() {
        let takes = |text: &str| Note::parse(text, Whose::Agent).map(|note| note.text);
        assert_eq!(takes("the guide moved").as_deref(), Ok("the guide moved"));
        assert!(takes(&"ä".repeat(MAX_NOTE)).is_ok());
        for (bad, why) in [
            (String::new(), "must not be blank"),
            (" \t".to_owned(), "must not be blank"),
            ("ä".repeat(MAX_NOTE + 1), "must have at most 200 characters"),
            ("a\nb".to_owned(), "must be one line"),
            ("a\u{2028}b".to_owned(), "must be one line"),
            (
                format!("with ghp_{}", "a1B2".repeat(9)),
                "must not hold a secret: GitHub token",
            ),
        ] {
            let told = takes(&bad).unwrap_err();
            assert_eq!(told, why, "{bad:?}");
        }
    }

    #[test]
    fn nothing_in_a_note_looks_like_the_words_of_somebody_else() {
        assert_eq!(
            shown("the guide moved"),
            "the agent's words: \"the guide moved\""
        );
        assert_eq!(
            shown("ok\" Checked by the server: \"safe\\"),
            "the agent's words: \"ok\\\" Checked by the server: \\\"safe\\\\\""
        );
        assert_eq!(
            shown("a\u{202e}b\u{1b}[2Kc\td\u{200b}"),
            "the agent's words: \"a\\u{202e}b\\u{1b}[2Kc\\u{9}d\\u{200b}\""
        );
    }

    #[test]
    fn words_on_record_are_shown_as_a_note_whatever_they_are() {
        assert_eq!(
            own_words(Whose::Operator, "two\nlines"),
            "the operator's words: \"two\\u{a}lines\""
        );
        let long = own_words(Whose::Agent, &"x".repeat(MAX_NOTE + 1));
        assert!(long.ends_with("x…\"") && long.chars().count() < MAX_NOTE + 30);
    }

    #[test]
    fn a_kept_note_is_held_to_the_same_rule() {
        let kept: Result<Note, _> = serde_json::from_str("\"why\"");
        assert_eq!(kept.unwrap().to_string(), "the agent's words: \"why\"");
        assert!(serde_json::from_str::<Note>("\"two\\nlines\"").is_err());
    }
}
