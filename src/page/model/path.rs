//! The place of a page: existing paths, new paths, and prefixes.

use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use super::super::Locale;
use super::locale::is_locale_like;

/// The longest path that the wiki stores, in characters (W16).
pub const MAX_PATH_CHARS: usize = 255;

/// First segments that the web interface keeps for itself (W16).
pub(in crate::page) const RESERVED: [&str; 9] = [
    "login", "logout", "register", "verify", "favicons", "fonts", "img", "js", "svg",
];

/// An existing path, or one that somebody named: only the slashes around it are removed.
///
/// Pages at bad paths must be readable and movable, so nothing else is checked here. The path of a
/// new page is a [`NewPath`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[must_use]
pub struct PagePath(String);

impl PagePath {
    /// The path that somebody named, without the slashes around it.
    pub fn new(path: &str) -> Self {
        Self(path.trim_matches('/').to_owned())
    }

    /// The path as the wiki has it, to the letter.
    pub fn as_stored(path: impl Into<String>) -> Self {
        Self(path.into())
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last segment: the page's name within its folder.
    pub fn last_segment(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The path of the folder that it lies in; empty at the root.
    pub fn folder(&self) -> Self {
        let folder = self.0.rsplit_once('/').map_or("", |(folder, _)| folder);
        Self(folder.to_owned())
    }

    /// The paths of all folders that it lies in, the outermost first.
    pub fn folders(&self) -> impl DoubleEndedIterator<Item = &str> {
        let ends = self.0.match_indices('/').map(|(end, _)| end);
        ends.filter_map(|end| self.0.get(..end))
    }

    /// The path of something in this folder, whose name is as the wiki has it.
    pub fn holding(&self, name: &str) -> Self {
        if self.0.is_empty() {
            return Self(name.to_owned());
        }
        Self(format!("{}/{name}", self.0))
    }

    /// True if this path is `suffix` itself or ends with it, segment by segment; letter case does
    /// not count.
    pub fn ends_with(&self, suffix: &str) -> bool {
        let (path, suffix) = (self.0.to_lowercase(), suffix.to_lowercase());
        path.strip_suffix(&suffix)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    }

    /// True if it has segments that other programs might take for "here" or "up".
    pub fn climbs(&self) -> bool {
        let mut segments = self.0.split('/');
        segments.any(|segment| matches!(segment, "." | ".."))
    }

    /// True if an address of one of the wiki's views names exactly this path. Measured on 2.5.314:
    /// the views drop some characters, empty segments, `..`, and what follows the last dot of the
    /// last segment.
    pub fn is_its_own_address(&self) -> bool {
        let is_dropped = |c: char| c.is_control() || c == '\\' || is_dropped_by_views(c);
        let is_segment =
            |segment: &str| !matches!(segment.trim(), "" | ".") && !segment.contains("..");
        self.0.trim() == self.0
            && !self.0.chars().any(is_dropped)
            && self.0.split('/').all(is_segment)
            && !self.last_segment().contains('.')
    }

    /// True if the wiki creates pages at this path or moves them there. Old wikis have pages at
    /// other paths (W28), which can be read, deleted or moved away, but not restored there.
    pub fn can_be_made(&self) -> bool {
        let is_refused = |part: &str| self.0.contains(part);
        // One slash at each end is cut, which would be another path.
        !([".", " ", "\\", "//"].into_iter().any(is_refused)
            || self.0.starts_with('/')
            || self.0.ends_with('/')
            || self.0.chars().count() > MAX_PATH_CHARS)
    }

    /// True if this path is `prefix` itself or below it, segment by segment.
    pub fn is_within(&self, prefix: &Self) -> bool {
        let rest = self.0.strip_prefix(&prefix.0);
        prefix.0.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for PagePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A valid path for a new page: checked against everything that Wiki.js accepts but cannot show
/// (W16).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPath(PagePath);

impl NewPath {
    /// Checks the path of a new page; the slashes around it are removed.
    ///
    /// # Errors
    /// One sentence about what is wrong.
    pub fn parse(path: &str) -> Result<Self, String> {
        let path = PagePath::new(path);
        let text = path.as_str();
        let fault = |message: &str| Err(message.to_owned());
        if text.is_empty() {
            return fault("must not be empty");
        }
        if text.chars().count() > MAX_PATH_CHARS {
            return fault("must have at most 255 characters");
        }
        if let Some(bad) = text.chars().find(|c| is_unfit(*c)) {
            return Err(format!(
                "must not contain {}: Wiki.js refuses it or cannot show the page",
                describe(bad)
            ));
        }
        if text.contains("//") {
            return fault("must not contain a double slash");
        }
        let first = text.split('/').next().unwrap_or_default();
        let lower = first.to_lowercase();
        if RESERVED.contains(&lower.as_str()) {
            return Err(format!(
                "must not begin with \"{first}\", which Wiki.js keeps for itself"
            ));
        }
        if first.chars().count() == 1 {
            return fault("must not begin with a segment of one character: Wiki.js cannot show it");
        }
        if is_locale_like(&lower) {
            return Err(format!(
                "must not begin with \"{first}\", which Wiki.js takes for a locale; \
                 say it in the argument locale"
            ));
        }
        Ok(Self(path))
    }

    /// The path that a page of this title gets in a folder: small letters and digits, with `-` for
    /// all between them; `None` if the title has neither. It is still to be checked.
    pub fn of_title(folder: &str, title: &str) -> Option<String> {
        let lower = title.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let name = words.join("-");
        (!name.is_empty()).then(|| PagePath::new(folder).holding(&name).0)
    }

    /// The checked path.
    pub const fn as_path(&self) -> &PagePath {
        &self.0
    }

    /// The checked path, to be kept.
    pub fn into_path(self) -> PagePath {
        self.0
    }
}

/// Signs that the wiki's views drop from an address: a page with one in its path is stored, and its
/// address is that of another page (W55).
const fn is_dropped_by_views(c: char) -> bool {
    matches!(c, '"' | '|' | '<' | '>' | ':' | '*' | '?')
}

fn is_unfit(c: char) -> bool {
    matches!(c, '.' | '\\' | '%' | '#')
        || is_dropped_by_views(c)
        || c.is_whitespace()
        || c.is_control()
        || is_invisible(c)
}

/// Characters that show nothing, break a line where none is to be seen, or turn the direction of
/// what follows: two paths that look the same must be the same.
pub const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
}

fn describe(c: char) -> String {
    match c {
        '.' => "a dot".to_owned(),
        ' ' => "a space".to_owned(),
        '\\' => "a backslash".to_owned(),
        '"' => "a quotation mark".to_owned(),
        c if c.is_control() || c.is_whitespace() || is_invisible(c) => {
            format!("the character U+{:04X}", u32::from(c))
        }
        c => format!("\"{c}\""),
    }
}

/// A part of the wiki, named by the beginning of its paths: whole segments, in one locale or
/// in all (`docs`, `de:docs`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    /// The one locale it holds for; all if there is none.
    pub locale: Option<Locale>,
    /// The path at and below which it holds.
    pub path: PagePath,
}

impl Prefix {
    /// Reads `docs`, `/docs/` or `de:docs`.
    ///
    /// # Errors
    /// One sentence about what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (locale, path) = match text.split_once(':') {
            Some((locale, path)) => (Some(Locale::parse(locale)?), path),
            None => (None, text),
        };
        // No path has white space around it: a prefix with some would silently match nothing.
        let path = PagePath::new(path.trim_matches(|c: char| c == '/' || c.is_whitespace()));
        if path.as_str().is_empty() {
            return Err("must name a path, such as \"docs\" or \"de:docs\"".to_owned());
        }
        if path.climbs() || path.as_str().split('/').any(str::is_empty) {
            return Err(
                "must be made of whole segments, without \"//\", \".\" or \"..\"".to_owned(),
            );
        }
        Ok(Self { locale, path })
    }

    /// Reads the prefix of a search or list: as [`Prefix::parse`], and `de/docs` or `/de/docs`,
    /// since no path that readers can see begins with a locale (W16).
    ///
    /// # Errors
    /// One sentence about what is wrong.
    pub fn sought(text: &str) -> Result<Self, String> {
        match text.trim().trim_start_matches('/').split_once('/') {
            Some((locale, path)) if is_locale_like(&locale.to_lowercase()) => {
                Self::parse(&format!("{locale}:{path}"))
            }
            _ => Self::parse(text),
        }
    }

    /// The reason that it probably matches no page, if any: a gate that its operator believes
    /// closed must not silently be open.
    pub fn doubt(&self) -> Option<&'static str> {
        let path = self.path.as_str();
        let first = path.split('/').next().unwrap_or_default();
        if is_locale_like(&first.to_lowercase()) {
            return Some(
                "which begins like a locale; write a locale before a colon, as in en:docs",
            );
        }
        path.chars().any(is_unfit).then_some(
            "which has signs that no usual path has; prefixes are whole segments without wildcards",
        )
    }

    /// The intersection of both prefixes, if there is one.
    pub fn and(&self, other: &Self) -> Option<Self> {
        let locale = match (&self.locale, &other.locale) {
            (Some(own), Some(other)) if own != other => return None,
            (own, other) => own.as_ref().or(other.as_ref()),
        };
        let path = match (&self.path, &other.path) {
            (own, other) if own.is_within(other) => own,
            (own, other) if other.is_within(own) => other,
            _ => return None,
        };
        Some(Self {
            locale: locale.cloned(),
            path: path.clone(),
        })
    }

    /// True if another prefix lies within this one.
    pub fn covers(&self, other: &Self) -> bool {
        self.and(other).as_ref() == Some(other)
    }

    /// True if each of these prefixes is covered by one of the others.
    pub fn all_covered(prefixes: &[Self], by: &[Self]) -> bool {
        let is_covered = |prefix: &Self| by.iter().any(|one| one.covers(prefix));
        prefixes.iter().all(is_covered)
    }

    /// True if these allowed prefixes leave out something that the others allow; `None` allows all.
    pub fn allow_less(own: Option<&[Self]>, other: Option<&[Self]>) -> bool {
        match (own, other) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(own), Some(other)) => !Self::all_covered(other, own),
        }
    }

    /// True if a page at this place lies within, compared exactly.
    pub fn holds(&self, locale: &Locale, path: &PagePath) -> bool {
        self.locale.as_ref().is_none_or(|own| own == locale) && path.is_within(&self.path)
    }

    /// True if it is a place below a folder.
    pub fn is_below(&self, folder: &PagePath) -> bool {
        self.path.is_within(folder)
    }

    /// The prefix as places are compared with it that [`fold_place`] made.
    #[must_use]
    pub fn folded(&self) -> Self {
        let locale = self.locale.as_ref();
        Self {
            locale: locale.map(|locale| Locale::as_stored(fold(locale.as_str()))),
            path: PagePath::new(&fold(self.path.as_str())),
        }
    }
}

/// A place without regard to case and Unicode form, to be compared with folded prefixes.
pub fn fold_place(locale: &Locale, path: &PagePath) -> (Locale, PagePath) {
    let locale = Locale::as_stored(fold(locale.as_str()));
    (locale, PagePath::new(&fold(path.as_str())))
}

/// A text without regard to case and Unicode form.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_uppercase();
    }
    // Some letters have two forms in lower case and one in upper case (final sigma, long s),
    // some the other way round. Both can leave NFC, so it is made last once more.
    text.nfc()
        .collect::<String>()
        .to_lowercase()
        .to_uppercase()
        .nfc()
        .collect()
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.locale {
            Some(locale) => write!(f, "{locale}:{}", self.path),
            None => write!(f, "{}", self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NewPath;

    #[test]
    fn a_new_path_has_no_sign_that_the_wiki_drops_from_an_address() {
        for path in [
            "a-b",
            "docs/a&b=1",
            "docs/o'q",
            "docs/[[l]]",
            "docs/\u{1f600}",
        ] {
            let path = NewPath::parse(path).expect(path);
            assert!(path.as_path().is_its_own_address(), "{path:?}");
        }
        for sign in ['"', '|', '<', '>', ':', '*', '?', '.', '%', '#', ' ', '\\'] {
            let fault = NewPath::parse(&format!("docs/a{sign}b")).expect_err("a fault");
            assert!(fault.contains("cannot show the page"), "{sign}: {fault}");
        }
    }
}
