//! What holds for any text from outside: paths, prefixes, the gate of paths, the wiki's answers.
//! What must hold is in `invariants`, which the fuzz targets share.

use proptest::prelude::*;
use wikijs_gate::page::Prefix;

use wikijs_gate::audit::entry::chain;

use crate::house::invariants::{self, MARKER};
use crate::house::texts;
use crate::prelude::*;

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

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn a_path_that_may_come_to_be_has_nothing_that_the_wiki_refuses_or_cannot_show(
        text in path_like()
    ) {
        invariants::new_path(&text);
    }

    #[test]
    fn a_path_is_within_another_where_its_first_segments_are_the_others(
        path in path_like(), prefix in path_like()
    ) {
        invariants::within(&path, &prefix);
    }

    #[test]
    fn a_prefix_that_was_read_is_whole_segments_and_reads_the_same_again(
        text in path_like(), locale in locale_like(), has_locale in any::<bool>()
    ) {
        invariants::prefix(&if has_locale { format!("{locale}:{text}") } else { text });
    }

    #[test]
    fn no_spelling_of_a_place_passes_the_gate_of_paths(
        path in path_like(), locale in locale_like(),
        allowed in prop::option::of(prefixes()), denied in prop::option::of(prefixes()),
    ) {
        let denied = denied.unwrap_or_default();
        invariants::gate(&locale, &path, allowed.as_deref(), &denied);
    }
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

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn any_answer_is_data_or_an_error_without_the_wikis_words(
        status in status(), body in body(), wait in prop::option::of(any::<u64>())
    ) {
        invariants::answer(status, wait.map(Duration::from_secs), body);
    }

    #[test]
    fn any_refusal_is_an_error_without_the_wikis_words(
        code in prop_oneof![any::<i64>(), 5_990i64..6_020], slug in text(), message in text()
    ) {
        invariants::refused(code, &slug, &message);
    }
}

/// Pieces of which pages, patches and styles are made.
fn page_like() -> impl Strategy<Value = String> {
    let pieces = [
        "# A\n",
        "## B\n",
        "## B\n",
        "text",
        "\n",
        "\n\n",
        "\r\n",
        "---\n",
        "===\n",
        "- a\n",
        "> q\n",
        "```\n",
        "<h1>",
        "</h1>",
        "<h2 id=\"x\">",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "<p hidden>",
        "<a b=\"",
        "<style>p{display:none}</style>",
        "<b style='color:#fff;left:-9em'>",
        "&#8203;",
        "[^a]",
        "[^a]: b\n",
        "[b]: /c 'd'\n",
        "*[A]: b\n",
        "```mermaid\n%% a\n",
        "// a\n",
        "++++\n",
        "&lt;",
        "{.tabset}",
        "| a | b |\n|---|---|\n",
        "$$\n",
        "[a](/en/b)",
        "![i](x.png)",
        "\u{200b}",
        "\u{202e}",
        "ä",
        "日本",
        "@@ -1,2 +1 @@\n",
        "-text\n",
        "+text\n",
        " text\n",
        "\\ No newline at end of file\n",
        "a{b:c}",
        "/*",
        "*/",
        "\"",
        "'",
        ";",
        "<page ",
        "<editor ",
        "title: T\n",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24)
        .prop_map(|pieces| pieces.concat())
}

/// Pieces of which selectors, references and cursors are made.
fn name_like() -> impl Strategy<Value = String> {
    let pieces = [
        "A",
        "B",
        "/",
        "#",
        "##",
        "[[",
        "]]",
        "|",
        "heading:",
        "block:",
        "lines:",
        "1",
        "-",
        "..",
        "%2F",
        "https://wiki.example/",
        "https://",
        "docs/",
        "en/",
        "wikijs://en/",
        "\\",
        "\"",
        " ",
        "ä",
        "\0",
        ":",
        "[2]",
    ];
    prop_oneof![
        3 => prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..7)
            .prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn any_page_has_an_outline_of_itself(text in page_like()) {
        texts::outline(&text);
        texts::views(&text);
    }

    #[test]
    fn any_selector_names_a_part_or_none(selector in name_like(), text in page_like()) {
        texts::selector(&selector, &text);
    }

    #[test]
    fn any_difference_leads_from_one_text_to_the_other(
        before in page_like(), after in page_like(), patch in page_like()
    ) {
        texts::patch(&before, &after, &patch);
        texts::css(&before, &after);
    }

    #[test]
    fn any_reference_means_something_or_is_refused(text in name_like()) {
        texts::reference(&text);
        texts::cursor(&text);
    }

    #[test]
    fn any_arguments_are_taken_or_told_as_what_they_are(value in tree()) {
        if let Value::Object(arguments) = value {
            texts::arguments(&texts::registry(), &arguments);
        }
    }

    #[test]
    fn a_log_that_was_changed_is_not_believed(at in 0usize..2_000, byte in any::<u8>()) {
        let mut log = texts::log();
        assert!(chain::verify(&log[..]).is_ok());
        let at = at % log.len();
        log[at] = byte;
        texts::chain(&log);
    }
}
