//! A locale: the language that a page is filed under.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The code of a locale, such as `en` or `pt-br`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Locale(String);

impl Locale {
    /// A locale as the wiki names it, taken as it is.
    pub fn as_stored(code: impl Into<String>) -> Self {
        Self(code.into())
    }

    /// A locale that somebody typed: two or three letters, then groups of letters or digits
    /// behind hyphens. The wiki answers an unknown one with an SQL error (W17).
    ///
    /// # Errors
    /// One sentence about what is wrong.
    pub fn parse(code: &str) -> Result<Self, String> {
        let mut groups = code.split('-');
        let language = groups.next().unwrap_or_default();
        let well_formed = (2..=3).contains(&language.len())
            && language.bytes().all(|b| b.is_ascii_alphabetic())
            && groups.all(|group| {
                (2..=8).contains(&group.len()) && group.bytes().all(|b| b.is_ascii_alphanumeric())
            });
        if well_formed && code.len() <= 20 {
            Ok(Self(code.to_owned()))
        } else {
            Err("must be a locale code such as \"en\" or \"pt-br\"".to_owned())
        }
    }

    /// True if the wiki takes it for a locale at the beginning of an address (W16).
    pub fn begins_addresses(&self) -> bool {
        is_locale_like(&self.0)
    }

    /// The code.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Two letters, or two letters, a hyphen and two letters: what Wiki.js takes for a
/// locale at the beginning of an address (W16).
pub(in crate::page) fn is_locale_like(segment: &str) -> bool {
    let letters = |s: &str| s.bytes().all(|b| b.is_ascii_alphabetic());
    match segment.split_once('-') {
        None => segment.len() == 2 && letters(segment),
        Some((language, region)) => {
            language.len() == 2 && letters(language) && region.len() == 2 && letters(region)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Locale;

    #[test]
    fn usual_codes_pass_and_the_rest_does_not() {
        for good in ["en", "de", "pt-br", "zh-tw", "sr-latn", "fil"] {
            assert!(Locale::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "", "e", "english", "en_US", "en/", "e1", "en-", "../en", "日本",
        ] {
            assert!(Locale::parse(bad).is_err(), "{bad}");
        }
    }
}
