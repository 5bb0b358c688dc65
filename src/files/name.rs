//! The name of a page's file: `<locale>/<path>`, without its ending.
//!
//! Every place has one name, and the name gives the place back. Characters that would mislead a
//! file system, Git or a coding agent are written as their bytes in UTF-8 after `%`, as in
//! addresses: `%2E` is a dot.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization as _;

use crate::page::{Locale, PagePath, PagePlace, percent_decoded_whole, push_coded};

/// The end of a directory's name whose segment continues in the next name.
const GOES_ON: &str = "%+";
/// The most bytes of a name: file systems take 255, and an ending follows.
const MAX_BYTES: usize = 180;
/// Names that coding agents read as instructions, in any letter case.
const READ_BY_AGENTS: [&str; 14] = [
    "agent",
    "agents",
    "claude",
    "codex",
    "conventions",
    "copilot-instructions",
    "crush",
    "gemini",
    "goose",
    "llms",
    "opencode",
    "qwen",
    "skill",
    "warp",
];
/// Names that Windows keeps for devices, in any letter case.
const DEVICES: [&str; 6] = ["aux", "con", "conin$", "conout$", "nul", "prn"];

/// The usual name of a place. [`Names::give`] gives another one if a file system could confuse this
/// name with another page's.
pub(super) fn encode(place: &PagePlace) -> String {
    let names = segments(place).into_iter().map(|part| segment(&part));
    names.collect::<Vec<_>>().join("/")
}

/// The place that a name stands for; `None` if no page has such a name.
pub(super) fn decode(name: &str) -> Option<PagePlace> {
    let (locale, rest) = name.split_once('/')?;
    let mut path = String::with_capacity(rest.len());
    let (mut whole, mut goes_on) = (String::new(), false);
    for (at, part) in rest.split('/').enumerate() {
        if at > 0 && !goes_on {
            path.push('/');
        }
        let cut = part.strip_suffix(GOES_ON);
        goes_on = cut.is_some();
        whole.push_str(cut.unwrap_or(part));
        // A cut may separate the escaped bytes of one character.
        if !goes_on {
            path.push_str(&unescaped(&std::mem::take(&mut whole))?);
        }
    }
    let place = (
        Locale::as_stored(unescaped(locale)?),
        PagePath::as_stored(path),
    );
    let is_its_own = |spelled: String| spelled == name;
    (!goes_on && (is_its_own(encode(&place)) || is_escaped_form(name, &place))).then_some(place)
}

/// True if a name is the name of a place with some segments escaped whole, as [`Names::give`] makes
/// it.
fn is_escaped_form(name: &str, place: &PagePlace) -> bool {
    let plain = segments(place);
    let mut rest = name;
    for part in plain {
        let found = [segment(&part), escaped_whole(&part)]
            .into_iter()
            .find_map(|form| {
                let rest = rest.strip_prefix(form.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then_some(rest)
            });
        let Some(left) = found else { return false };
        rest = left.strip_prefix('/').unwrap_or(left);
    }
    rest.is_empty()
}

fn segments(place: &PagePlace) -> Vec<String> {
    let path = place.1.as_str().split('/').map(str::to_owned);
    std::iter::once(place.0.as_str().to_owned())
        .chain(path)
        .collect()
}

/// The names of all pages of a folder. No two are the same, even to a file system that ignores
/// letter case and Unicode forms.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The spelling of each directory or file, by its folded name.
    taken: HashMap<String, String>,
}

impl Names {
    /// Notes the name that a page already has.
    pub(super) fn keep(&mut self, name: &str) {
        let mut whole = String::with_capacity(name.len());
        for part in name.split('/') {
            if !whole.is_empty() {
                whole.push('/');
            }
            whole.push_str(part);
            let folded = folded(&whole);
            self.taken.entry(folded).or_insert_with(|| whole.clone());
        }
    }

    /// Gives a page its name.
    pub(super) fn give(&mut self, place: &PagePlace) -> String {
        let mut name = String::new();
        for part in segments(place) {
            let plain = joined(&name, &segment(&part));
            name = if self.is_free(&plain) {
                plain
            } else {
                joined(&name, &escaped_whole(&part))
            };
            self.keep(&name);
        }
        name
    }

    /// True if no other spelling of the name is taken.
    fn is_free(&self, name: &str) -> bool {
        let taken = self.taken.get(&folded(name));
        taken.is_none_or(|spelled| spelled == name)
    }
}

fn joined(name: &str, part: &str) -> String {
    if name.is_empty() {
        part.to_owned()
    } else {
        format!("{name}/{part}")
    }
}

/// A name as a file system sees it that ignores letter case and Unicode forms.
pub(super) fn folded(name: &str) -> String {
    name.nfkc().flat_map(char::to_lowercase).nfkc().collect()
}

/// One segment as a name; a long one as several names, each ending in [`GOES_ON`] but the last.
fn segment(part: &str) -> String {
    if part.is_empty() {
        // No page that can be made has an empty segment.
        return "%".to_owned();
    }
    let mut name = String::with_capacity(part.len());
    let first_too = is_misread(part);
    for (at, sign) in part.char_indices() {
        if first_too && at == 0 || is_unfit(sign) {
            push_coded(&mut name, sign);
        } else {
            name.push(sign);
        }
    }
    in_parts(&name)
}

fn escaped_whole(part: &str) -> String {
    if part.is_empty() {
        return segment(part);
    }
    let mut name = String::with_capacity(part.len() * 3);
    part.chars().for_each(|sign| push_coded(&mut name, sign));
    in_parts(&name)
}

/// Cuts a long name into several, but never within an escape.
fn in_parts(name: &str) -> String {
    let mut parts = String::with_capacity(name.len());
    let mut bytes = 0;
    let mut rest = name.chars().peekable();
    while let Some(sign) = rest.next() {
        let mut unit = sign.to_string();
        if sign == '%' {
            unit.extend(rest.by_ref().take(2));
        }
        if bytes + unit.len() > MAX_BYTES {
            parts.push_str(GOES_ON);
            parts.push('/');
            bytes = 0;
        }
        bytes += unit.len();
        parts.push_str(&unit);
    }
    parts
}

/// True if some file system, Git or a shell's display could misread a character.
fn is_unfit(sign: char) -> bool {
    sign.is_control()
        || matches!(
            sign,
            '%' | '.' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | ' '
        )
        || is_invisible(sign)
}

/// True if a character has no width, so that some file systems ignore it, or turns the direction of
/// the text.
fn is_invisible(sign: char) -> bool {
    matches!(
        sign,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// True if some program or system gives a file or directory of this name a meaning of its own.
fn is_misread(part: &str) -> bool {
    let lower = folded(part);
    let stem = lower.split('.').next().unwrap_or_default();
    let is_numbered = |name: &str| {
        let number = stem.strip_prefix(name);
        number.is_some_and(|number| number.chars().count() == 1)
    };
    let is_short_name = lower
        .split_once('~')
        .is_some_and(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
    DEVICES.contains(&stem)
        || is_numbered("com")
        || is_numbered("lpt")
        || is_short_name
        || READ_BY_AGENTS.contains(&stem)
        || lower.ends_with("-instructions")
        || lower == "node_modules"
}

/// A name with its escapes decoded; `None` if an escape is broken.
fn unescaped(name: &str) -> Option<String> {
    if name == "%" {
        return Some(String::new());
    }
    percent_decoded_whole(name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::{Names, decode, encode, folded};
    use crate::page::{Locale, PagePath, PagePlace};

    fn place(path: &str) -> PagePlace {
        (Locale::as_stored("en"), PagePath::as_stored(path))
    }

    #[test]
    fn plain_paths_are_names_as_they_are() {
        for path in [
            "home",
            "docs/install/linux",
            "über/größe",
            "文档/安装",
            "a-b_c/d1",
        ] {
            assert_eq!(encode(&place(path)), format!("en/{path}"));
        }
    }

    #[test]
    fn what_would_be_taken_for_something_else_is_escaped() {
        for (path, name) in [
            ("docs/.git/config", "en/docs/%2Egit/config"),
            (".wikijs/x", "en/%2Ewikijs/x"),
            ("../../etc/passwd", "en/%2E%2E/%2E%2E/etc/passwd"),
            ("docs/./a", "en/docs/%2E/a"),
            ("docs/CLAUDE", "en/docs/%43LAUDE"),
            ("docs/agents", "en/docs/%61gents"),
            ("Gemini/x", "en/%47emini/x"),
            ("copilot-instructions", "en/%63opilot-instructions"),
            ("docs/con", "en/docs/%63on"),
            ("docs/LPT1", "en/docs/%4CPT1"),
            ("git~1/x", "en/%67it~1/x"),
            ("a\u{200c}b", "en/a%E2%80%8Cb"),
            ("100%", "en/100%25"),
            ("a b", "en/a%20b"),
            ("a//b", "en/a/%/b"),
            ("", "en/%"),
        ] {
            assert_eq!(encode(&place(path)), name);
            assert_eq!(decode(name), Some(place(path)), "{name}");
        }
    }

    #[test]
    fn names_that_no_page_has_are_no_places() {
        for name in [
            "en/docs/CLAUDE",
            "en/.git/config",
            "en/docs/%63LAUDE%",
            "en/a%zz",
            "en/%C3",
            "en/a b",
            "en/docs/../x",
            "readme",
            "en/abc%+",
            "en/%6a",
            "/etc/passwd",
            "en//a",
            "en/a/",
        ] {
            assert_eq!(decode(name), None, "{name}");
        }
    }

    #[test]
    fn pages_that_differ_in_case_or_form_get_names_that_differ_to_every_file_system() {
        let paths = [
            "Docs/a",
            "docs/b",
            "docs/a",
            "DOCS/A",
            "caf\u{e9}",
            "cafe\u{301}",
        ];
        let mut names = Names::default();
        let given: Vec<String> = paths.map(|path| names.give(&place(path))).into();
        assert_eq!(given[0], "en/Docs/a");
        assert_eq!(given[1], "en/%64%6F%63%73/b");
        let distinct: HashSet<String> = given.iter().map(|name| folded(name)).collect();
        assert_eq!(distinct.len(), paths.len(), "{given:?}");
        for (path, name) in paths.iter().zip(&given) {
            assert_eq!(decode(name), Some(place(path)), "{name}");
        }
    }

    proptest! {
        #[test]
        fn every_place_has_one_name_that_gives_it_back(path in "\\PC{1,40}(/\\PC{0,300}){0,3}") {
            let place = place(&path);
            let name = encode(&place);
            prop_assert_eq!(decode(&name), Some(place.clone()));
            prop_assert!(name.split('/').all(|part| part.len() <= 200 && !part.starts_with('.')));
            prop_assert!(!name.contains("//") && !name.starts_with('/'));
            prop_assert_eq!(Names::default().give(&place), name);
        }

        #[test]
        fn any_text_is_read_without_a_panic(name in "\\PC*") {
            let _ = decode(&name);
        }
    }
}
