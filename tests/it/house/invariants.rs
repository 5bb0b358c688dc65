//! What holds for any text from outside. Each function panics where it does not; the property
//! tests call them with texts that are nearly right, the fuzz targets with any.

use std::time::Duration;

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;
use wikijs_gate::change::Change;
use wikijs_gate::error::{Code, Failure};
use wikijs_gate::gates::Policy;
use wikijs_gate::page::{Locale, NewPath, PagePath, PageReading, PageState, Prefix};
use wikijs_gate::wiki::WikiError;
use wikijs_gate::wiki::transport::classify::{
    RawAnswer, read_batch, read_mutation, read_query, refusal,
};

/// First segments that Wiki.js keeps for itself (W16).
const RESERVED: [&str; 9] = [
    "login", "logout", "register", "verify", "favicons", "fonts", "img", "js", "svg",
];

/// Characters that show nothing or turn the direction: Unicode's `Default_Ignorable_Code_Point`.
fn is_ignorable(c: char) -> bool {
    matches!(u32::from(c),
        0xAD | 0x34F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F
        | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFF8 | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A
        | 0xE0000..=0xE0FFF)
}

/// A path that passes has nothing that Wiki.js refuses or cannot show (W16), and passes again.
pub(crate) fn new_path(text: &str) {
    let Ok(path) = NewPath::parse(text) else {
        return;
    };
    let path = path.as_path().as_str();
    assert_eq!(path, text.trim_matches('/'));
    assert!(!path.is_empty() && path.chars().count() <= 255);
    let is_bad = |c: char| {
        c.is_control() || c.is_whitespace() || ".\\%?#\"<>:*|".contains(c) || is_ignorable(c)
    };
    assert!(!path.contains(is_bad), "{path:?}");
    assert!(path.split('/').all(|segment| !segment.is_empty()));
    let first = path.split('/').next().unwrap().to_lowercase();
    assert!(!RESERVED.contains(&first.as_str()), "{path:?}");
    assert!(first.chars().count() > 1, "{path:?}");
    let is_pair = |text: &str| text.len() == 2 && text.chars().all(|c| c.is_ascii_alphabetic());
    let parts: Vec<&str> = first.split('-').collect();
    assert!(
        parts.len() > 2 || !parts.into_iter().all(is_pair),
        "{path:?}"
    );
    let again = NewPath::parse(path).unwrap();
    assert_eq!(again.as_path().as_str(), path);
    assert!(again.as_path().is_within(again.as_path()));
}

/// A path is within another where its first segments are the other's.
pub(crate) fn within(path: &str, prefix: &str) {
    let (path, prefix) = (PagePath::new(path), PagePath::new(prefix));
    let segments = |path: &PagePath| -> Vec<String> {
        match path.as_str() {
            "" => Vec::new(),
            path => path.split('/').map(str::to_owned).collect(),
        }
    };
    let is_first = segments(&path).starts_with(&segments(&prefix));
    assert_eq!(path.is_within(&prefix), is_first, "{path:?} {prefix:?}");
    let below = PagePath::as_stored(format!("{prefix}/{path}"));
    assert!(below.is_within(&prefix));
}

/// A prefix that was read is whole segments without white space around them, and reads the
/// same again.
pub(crate) fn prefix(text: &str) {
    let Ok(prefix) = Prefix::parse(text) else {
        return;
    };
    let path = prefix.path.as_str();
    assert_eq!(path, path.trim());
    assert!(
        path.split('/')
            .all(|segment| !matches!(segment, "" | "." | ".."))
    );
    assert_eq!(Prefix::parse(&prefix.to_string()), Ok(prefix));
}

/// The gate lets nothing through but what is at or below an allowed prefix to the letter, and
/// at or below no denied one in any spelling.
pub(crate) fn gate(locale: &str, path: &str, allowed: Option<&[Prefix]>, denied: &[Prefix]) {
    let policy = Policy {
        allowed: allowed.map(<[Prefix]>::to_vec),
        denied: denied.to_vec(),
        ..Policy::default()
    };
    let climbs = path.split('/').any(|segment| matches!(segment, "." | ".."));
    let exactly = |prefix: &Prefix| is_below(prefix, locale, path, str::to_owned);
    let is_allowed = allowed.is_none_or(|all| !climbs && all.iter().any(exactly));
    let trimmed = path.trim_matches('/');
    let is_denied = denied.iter().any(|prefix| {
        is_below(prefix, locale, trimmed, lower) || is_below(prefix, locale, trimmed, upper)
    });
    let answer = gates_answer(&policy, &Change::delete(page(locale, path)));
    match answer {
        None => assert!(is_allowed && !is_denied, "{locale} {path:?} {policy:?}"),
        Some(Code::PathDenied) => {
            // Not more than the words themselves: here the two ways of spelling are put together.
            let spell = |text: &str| upper(&lower(text));
            let likest = |prefix: &Prefix| is_below(prefix, locale, trimmed, spell);
            assert!(denied.iter().any(likest), "{locale} {path:?} {policy:?}");
        }
        Some(code) => {
            assert_eq!(code, Code::PathNotAllowed);
            assert!(!is_allowed && !is_denied, "{locale} {path:?} {policy:?}");
        }
    }
    // Neither end of a move may lie where nothing may be written.
    for (from, to) in [("elsewhere", path), (path, "elsewhere")] {
        let change = Change::between(page(locale, from), page(locale, to));
        let moved = gates_answer(&policy, &change);
        assert!(
            answer.is_none() || moved.is_some(),
            "{locale} {path:?} {policy:?}"
        );
    }
}

/// Whether a place is at or below a prefix, segment by segment, once both are spelt alike.
fn is_below(prefix: &Prefix, locale: &str, path: &str, spell: impl Fn(&str) -> String) -> bool {
    let segments = |path: &str| -> Vec<String> { path.split('/').map(&spell).collect() };
    let is_of_locale = prefix.locale.as_ref();
    let is_of_locale = is_of_locale.is_none_or(|own| spell(own.as_str()) == spell(locale));
    is_of_locale && segments(path).starts_with(&segments(prefix.path.as_str()))
}

fn lower(text: &str) -> String {
    let text: String = text.nfc().collect();
    text.to_lowercase().nfc().collect()
}

fn upper(text: &str) -> String {
    let text: String = text.nfc().collect();
    text.to_uppercase().nfc().collect()
}

fn page(locale: &str, path: &str) -> PageState {
    PageState {
        content: "a".to_owned(),
        editor: "markdown".to_owned(),
        is_published: true,
        ..PageReading::bare(
            Some(7),
            Locale::as_stored(locale),
            PagePath::as_stored(path),
            "A".to_owned(),
        )
        .or_blank()
    }
}

/// What the gate says of a change; nothing where it lets it through.
fn gates_answer(policy: &Policy, change: &Change) -> Option<Code> {
    policy.fault_of(change).map(|failure| failure.code)
}

/// What the wiki says and nobody shall read in an error. One word, so that it shows too where
/// only letters and digits are let through.
pub(crate) const MARKER: &str = "ObeyThisMarker";

/// An answer's data as the generated types have it.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read by serde alone")]
struct Data {
    pages: Option<Pages>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read by serde alone")]
struct Pages {
    single: Option<Page>,
    update: Option<Update>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "read by serde alone")]
struct Page {
    id: i64,
    title: String,
    is_published: bool,
    tags: Vec<Option<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "read by serde alone")]
struct Update {
    response_result: Status,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "read by serde alone")]
struct Status {
    succeeded: bool,
    error_code: i64,
    slug: String,
    message: Option<String>,
}

/// Any answer is data or an error, and no word of the wiki's is in the error.
pub(crate) fn answer(status: u16, retry_after: Option<Duration>, body: Vec<u8>) {
    let answer = RawAnswer {
        status,
        retry_after,
        is_html: false,
        body,
    };
    let mut errors = Vec::new();
    errors.extend(read_query::<Data>(&answer).err());
    errors.extend(read_mutation::<Data>(&answer).err());
    for count in 0..3 {
        match read_batch::<Data>(&answer, count) {
            Err(error) => errors.push(error),
            Ok(answers) => {
                assert_eq!(answers.len(), count);
                errors.extend(answers.into_iter().filter_map(Result::err));
            }
        }
    }
    errors.into_iter().for_each(is_silent);
}

/// What a mutation's result says where it did not succeed has no word of the wiki's.
pub(crate) fn refused(code: i64, slug: &str, message: &str) {
    is_silent(refusal(code, slug, message));
}

fn is_silent(error: WikiError) {
    for said in [
        error.to_string(),
        format!("{error:?}"),
        serde_json::to_string(&Failure::from(error)).unwrap(),
    ] {
        assert!(!said.contains(MARKER), "{said}");
    }
}
