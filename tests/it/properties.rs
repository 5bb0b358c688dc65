//! What holds for any text from outside: paths, prefixes, the gate of paths, the wiki's answers.

use std::time::Duration;

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization;
use wikijs_mcp::change::Change;
use wikijs_mcp::error::{Code, Failure};
use wikijs_mcp::gates::{Policy, enabled, paths};
use wikijs_mcp::page::{Date, Locale, NewPath, PagePath, PageState, Prefix};
use wikijs_mcp::wiki::WikiError;
use wikijs_mcp::wiki::answer::{RawAnswer, read_batch, read_mutation, read_query, refusal};

/// Pieces of which paths are made that are nearly right.
const PIECES: [&str; 46] = [
    "docs",
    "Docs",
    "DOCS",
    "doc",
    "docs-old",
    "d\u{43E}cs",
    "docs\u{200B}",
    "doc\u{17F}",
    "secret",
    "SECRET",
    "Secret",
    "caf\u{e9}",
    "cafe\u{301}",
    "CAF\u{c9}",
    "stra\u{df}e",
    "STRASSE",
    "\u{3bf}\u{3b4}\u{3bf}\u{3c3}",
    "\u{39f}\u{394}\u{39f}\u{3a3}",
    "\u{3bf}\u{3b4}\u{3bf}\u{3c2}",
    "\u{212A}ey",
    "key",
    "/",
    "/",
    "/",
    "/",
    "//",
    ".",
    "..",
    "%2F",
    "%2e%2e",
    "\\",
    " ",
    "\0",
    "\u{2044}",
    "\u{FF0F}",
    "fr",
    "pt-br",
    "login",
    "a",
    "x",
    "\u{1D400}",
    "\u{202E}",
    "\u{1BCA0}",
    "\u{FE0F}",
    "?",
    "#",
];

/// Prefixes as an operator writes them.
const PREFIXES: [&str; 12] = [
    "docs",
    "/docs/",
    "de:docs",
    "docs/secret",
    "DE:docs/secret",
    "caf\u{e9}",
    "cafe\u{301}",
    "stra\u{df}e",
    "\u{39f}\u{394}\u{39f}\u{3a3}",
    "key",
    "secret",
    "docs/caf\u{e9}",
];

fn path_like() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::collection::vec(prop::sample::select(&PIECES[..]), 0..7)
            .prop_map(|pieces| pieces.concat()),
        2 => prop::collection::vec(prop::sample::select(&PIECES[..]), 0..5)
            .prop_map(|pieces| pieces.join("/")),
        1 => any::<String>(),
        1 => "[a-z/]{0,300}",
    ]
}

fn locale_like() -> impl Strategy<Value = String> {
    prop::sample::select(&["en", "de", "DE", "De", "pt-br", "", "de/", "d\u{435}"][..])
        .prop_map(str::to_owned)
}

fn prefixes() -> impl Strategy<Value = Vec<Prefix>> {
    let prefix = prop::sample::select(&PREFIXES[..]);
    let prefix = prefix.prop_map(|text| Prefix::parse(text).unwrap());
    prop::collection::vec(prefix, 1..3)
}

/// Whether a place is at or below a prefix, segment by segment, once both are spelt alike.
fn is_below(prefix: &Prefix, locale: &str, path: &str, spell: impl Fn(&str) -> String) -> bool {
    let segments = |path: &str| -> Vec<String> { path.split('/').map(&spell).collect() };
    let is_of_locale = prefix
        .locale
        .as_ref()
        .is_none_or(|own| spell(own.as_str()) == spell(locale));
    is_of_locale && segments(path).starts_with(&segments(prefix.path.as_str()))
}

fn lower(text: &str) -> String {
    text.nfc()
        .collect::<String>()
        .to_lowercase()
        .nfc()
        .collect()
}

fn upper(text: &str) -> String {
    text.nfc()
        .collect::<String>()
        .to_uppercase()
        .nfc()
        .collect()
}

fn page(locale: &str, path: &str) -> PageState {
    PageState {
        id: Some(7),
        locale: Locale::as_stored(locale),
        path: PagePath::as_stored(path),
        title: "A".to_owned(),
        description: String::new(),
        content: "a".to_owned(),
        editor: "markdown".to_owned(),
        tags: Vec::new(),
        is_published: true,
        is_private: false,
        publish_start_date: Date::Unset,
        publish_end_date: Date::Unset,
        script_css: String::new(),
        script_js: String::new(),
        updated_at: None,
    }
}

/// What the gate says of a change; nothing where it lets it through.
fn gate(policy: &Policy, change: Change) -> Option<Code> {
    let enabled = enabled(policy, None).unwrap();
    paths(enabled, policy, change)
        .err()
        .map(|refusal| refusal.failure.code)
}

/// Characters that show nothing or turn the direction: Unicode's `Default_Ignorable_Code_Point`.
fn is_ignorable(c: char) -> bool {
    matches!(u32::from(c),
        0xAD | 0x34F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F
        | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFF8 | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A
        | 0xE0000..=0xE0FFF)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn a_path_that_may_come_to_be_has_nothing_that_the_wiki_refuses_or_cannot_show(
        text in path_like()
    ) {
        let Ok(path) = NewPath::parse(&text) else { return Ok(()) };
        let path = path.as_path().as_str();
        prop_assert_eq!(path, text.trim_matches('/'));
        prop_assert!(!path.is_empty() && path.chars().count() <= 255);
        let is_bad = |c: char| {
            c.is_control() || c.is_whitespace() || ".\\%?#".contains(c) || is_ignorable(c)
        };
        prop_assert!(!path.contains(is_bad), "{path:?}");
        prop_assert!(path.split('/').all(|segment| !segment.is_empty()));
        let first = path.split('/').next().unwrap().to_lowercase();
        let reserved = ["login", "logout", "register", "verify", "favicons", "fonts", "img", "js", "svg"];
        prop_assert!(!reserved.contains(&first.as_str()));
        prop_assert!(first.chars().count() > 1);
        let is_pair = |text: &str| text.len() == 2 && text.chars().all(|c| c.is_ascii_alphabetic());
        prop_assert!(!first.split('-').all(is_pair) || first.split('-').count() > 2);
        // What passed once passes again, unchanged.
        let again = NewPath::parse(path).unwrap();
        prop_assert_eq!(again.as_path().as_str(), path);
        // And it can be a prefix of itself.
        prop_assert!(again.as_path().is_within(again.as_path()));
    }

    #[test]
    fn a_path_is_within_another_where_its_first_segments_are_the_others(
        path in path_like(), prefix in path_like()
    ) {
        let path = PagePath::of(&path);
        let prefix = PagePath::of(&prefix);
        let segments = |path: &PagePath| -> Vec<String> {
            let path = path.as_str();
            let all = path.split('/').map(str::to_owned).collect();
            if path.is_empty() { Vec::new() } else { all }
        };
        prop_assert_eq!(path.is_within(&prefix), segments(&path).starts_with(&segments(&prefix)));
        let below = PagePath::as_stored(format!("{prefix}/{path}"));
        prop_assert!(below.is_within(&prefix));
    }

    #[test]
    fn a_prefix_that_was_read_is_whole_segments_and_reads_the_same_again(
        text in path_like(), locale in locale_like(), has_locale in any::<bool>()
    ) {
        let text = if has_locale { format!("{locale}:{text}") } else { text };
        let Ok(prefix) = Prefix::parse(&text) else { return Ok(()) };
        prop_assert!(!prefix.path.as_str().is_empty());
        prop_assert!(prefix.path.as_str().split('/').all(|s| !matches!(s, "" | "." | "..")));
        prop_assert_eq!(Prefix::parse(&prefix.to_string()), Ok(prefix));
    }

    #[test]
    fn no_spelling_of_a_place_passes_the_gate_of_paths(
        path in path_like(), locale in locale_like(),
        allowed in prop::option::of(prefixes()), denied in prop::option::of(prefixes()),
    ) {
        let policy = Policy {
            is_enabled: true,
            allowed: allowed.clone(),
            denied: denied.clone().unwrap_or_default(),
            ..Policy::default()
        };
        let exactly = |prefix: &Prefix| is_below(prefix, &locale, &path, str::to_owned);
        let climbs = path.split('/').any(|segment| segment == "." || segment == "..");
        let is_allowed = allowed.as_ref().is_none_or(|all| !climbs && all.iter().any(exactly));
        let alike = |prefix: &Prefix| {
            [&path[..], path.trim_matches('/')].into_iter().any(|path| {
                is_below(prefix, &locale, path, lower) || is_below(prefix, &locale, path, upper)
            })
        };
        let is_denied = policy.denied.iter().any(alike);
        let answer = gate(&policy, Change::delete(page(&locale, &path)));
        match answer {
            None => prop_assert!(is_allowed && !is_denied),
            Some(Code::PathDenied) => {
                let likest = |prefix: &Prefix| {
                    let path = path.trim_matches('/');
                    is_below(prefix, &locale, path, |text| upper(&lower(text)))
                };
                prop_assert!(policy.denied.iter().any(likest));
            }
            Some(code) => {
                prop_assert_eq!(code, Code::PathNotAllowed);
                prop_assert!(!is_allowed && !is_denied);
            }
        }
        // Neither end of a move may lie where the page may not be written.
        for (from, to) in [("elsewhere", &path[..]), (&path[..], "elsewhere")] {
            let change = Change::between(page(&locale, from), page(&locale, to));
            if answer.is_some() {
                prop_assert!(gate(&policy, change).is_some());
            } else if allowed.is_some() {
                prop_assert_eq!(gate(&policy, change), Some(Code::PathNotAllowed));
            }
        }
    }
}

/// What the wiki says and nobody shall read in an error. One word, so that it shows too where
/// only letters and digits are let through.
const MARKER: &str = "ObeyThisMarker";

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
    kind: Option<Word>,
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

#[derive(Debug, Deserialize)]
enum Word {
    Known,
}

fn text() -> impl Strategy<Value = String> {
    let words = [
        "Forbidden",
        "API is disabled",
        "API Key is invalid or was revoked.",
        "rebuild-tree",
        "Cannot read property",
        "INTERNAL_SERVER_ERROR",
        "GRAPHQL_VALIDATION_FAILED",
        "Invalid Page Id",
        "single",
        "history",
        "content",
        "pages",
        "Error",
    ];
    prop_oneof![
        Just(MARKER.to_owned()),
        prop::sample::select(words.to_vec()).prop_map(str::to_owned),
        prop::sample::select(words.to_vec()).prop_map(|word| format!("{word} {MARKER}")),
    ]
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (5_990i64..6_020).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ]
}

fn name() -> impl Strategy<Value = String> {
    let names = [
        "data",
        "errors",
        "pages",
        "single",
        "update",
        "id",
        "title",
        "isPublished",
        "tags",
        "kind",
        "responseResult",
        "succeeded",
        "errorCode",
        "slug",
        "message",
        "path",
        "extensions",
        "code",
        "exception",
        MARKER,
    ];
    prop::sample::select(names.to_vec()).prop_map(str::to_owned)
}

fn tree() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn envelope() -> impl Strategy<Value = Value> {
    let error = (text(), tree(), tree(), leaf()).prop_map(|(message, path, extensions, code)| {
        let path = match path {
            Value::Array(path) => Value::Array(path),
            other => json!(["pages", other]),
        };
        json!({ "message": message, "path": path,
            "extensions": { "code": code, "exception": { "code": code, "x": extensions } } })
    });
    let result =
        (any::<bool>(), leaf(), text(), text()).prop_map(|(succeeded, code, slug, message)| {
            json!({ "pages": { "update": { "kind": slug, "responseResult": {
            "succeeded": succeeded, "errorCode": code, "slug": slug, "message": message } } } })
        });
    let data = prop_oneof![
        tree(),
        result,
        tree().prop_map(|page| json!({ "pages": { "single": page } }))
    ];
    (data, prop::collection::vec(error, 0..3))
        .prop_map(|(data, errors)| json!({ "data": data, "errors": errors }))
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        2 => prop::collection::vec(any::<u8>(), 0..200),
        4 => tree().prop_map(|value| value.to_string().into_bytes()),
        6 => envelope().prop_map(|value| value.to_string().into_bytes()),
        2 => prop::collection::vec(envelope(), 0..3)
            .prop_map(|values| Value::from(values).to_string().into_bytes()),
        1 => (envelope(), 0usize..200).prop_map(|(value, cut)| {
            let mut bytes = value.to_string().into_bytes();
            bytes.truncate(cut);
            bytes
        }),
        1 => (100usize..2_000).prop_map(|depth| "[".repeat(depth).into_bytes()),
    ]
}

fn status() -> impl Strategy<Value = u16> {
    let usual = [
        200, 200, 200, 200, 201, 301, 400, 401, 403, 404, 408, 413, 429, 500, 500, 502, 503, 504,
    ];
    prop_oneof![prop::sample::select(usual.to_vec()), any::<u16>()]
}

/// Nothing that the wiki said is in what is said of it.
fn is_silent(error: WikiError) -> Result<(), TestCaseError> {
    for said in [
        error.to_string(),
        format!("{error:?}"),
        serde_json::to_string(&Failure::from(error)).unwrap(),
    ] {
        prop_assert!(!said.contains(MARKER), "{said}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn any_answer_is_data_or_an_error_without_the_wikis_words(
        status in status(), body in body(), wait in prop::option::of(any::<u64>())
    ) {
        let retry_after = wait.map(Duration::from_secs);
        let answer = RawAnswer { status, retry_after, body };
        if let Err(error) = read_query::<Data>(&answer) {
            is_silent(error)?;
        }
        if let Err(error) = read_mutation::<Data>(&answer) {
            is_silent(error)?;
        }
        match read_batch::<Data>(&answer, 1) {
            Err(error) => is_silent(error)?,
            Ok(answers) => {
                prop_assert_eq!(answers.len(), 1);
                for error in answers.into_iter().filter_map(Result::err) {
                    is_silent(error)?;
                }
            }
        }
    }

    #[test]
    fn any_refusal_is_an_error_without_the_wikis_words(
        code in prop_oneof![any::<i64>(), 5_990i64..6_020], slug in text(), message in text()
    ) {
        is_silent(refusal(code, &slug, &message))?;
    }
}
