//! Every reader of a setting, by the values it refuses.

use std::collections::HashMap;
use std::ffi::OsString;
use std::time::Duration;

use super::Settings;
use crate::config::{SETTINGS, SettingKind, SettingsSource};
use crate::gates::{Fallback, WritePolicy};

fn read(pairs: &[(&str, &str)]) -> Result<Settings, String> {
    let mut map: HashMap<&str, &str> = [
        ("WIKI_BASE_URL", "https://wiki.example.com"),
        (
            "WIKI_API_TOKEN",
            "e30.eyJhcGkiOjEsImV4cCI6MzI1MDM2ODAwMDB9.sig",
        ),
        ("HOME", "/home/somebody"),
    ]
    .into_iter()
    .chain(pairs.iter().copied())
    .collect();
    map.retain(|_, value| *value != "-");
    let get = |name: &str| map.get(name).map(|value| OsString::from(*value));
    Settings::read(&SettingsSource::new(&get)).map_err(|error| error.to_string())
}

#[test]
fn the_defaults_let_nothing_be_written() {
    let settings = read(&[]).expect("settings");
    assert_eq!(settings.policy.writes.as_str(), "off");
    let line = settings.policy.set_by.to_string();
    assert_eq!(line, "WIKI_MUTATIONS_ENABLED (default)");
    assert_eq!(settings.wiki.name, "wiki.example.com");
    assert_eq!(settings.wiki.time.read, Duration::from_secs(15));
    assert_eq!(
        settings.store.directory().to_str(),
        Some("/home/somebody/.local/state/wikijs-gate/audit")
    );
    assert_eq!((settings.keep.days, settings.keep.bytes), (365, 1 << 30));
    assert_eq!(settings.warnings, Vec::<String>::new());
}

#[test]
fn a_bad_value_stops_the_start_in_one_line_that_names_it() {
    for (pairs, start) in [
        (&[("WIKI_BASE_URL", "-")][..], "WIKI_BASE_URL is missing"),
        (
            &[("WIKI_BASE_URL", "wiki")],
            "WIKI_BASE_URL must be an address",
        ),
        (
            &[("WIKI_BASE_URL", "ftp://x")],
            "WIKI_BASE_URL must be an address",
        ),
        (
            &[("WIKI_BASE_URL", "https://a:b@x")],
            "WIKI_BASE_URL must not hold a user",
        ),
        (&[("WIKI_API_TOKEN", "-")], "WIKI_API_TOKEN is missing"),
        (
            &[("WIKI_API_TOKEN", "a b")],
            "WIKI_API_TOKEN must hold a key",
        ),
        (
            &[("WIKI_API_TOKEN_FILE", "x")],
            "WIKI_API_TOKEN_FILE is set beside",
        ),
        (
            &[("WIKI_MUTATIONS_ENABLED", "yes")],
            "WIKI_MUTATIONS_ENABLED must be true or false",
        ),
        (
            &[("WIKI_MUTATION_DRY_RUN", "")],
            "WIKI_MUTATION_DRY_RUN is set but empty",
        ),
        (
            &[("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "")],
            "WIKI_ALLOWED_MUTATION_PATH_PREFIXES is set but empty",
        ),
        (
            &[("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs,")],
            "WIKI_ALLOWED_MUTATION_PATH_PREFIXES has \"\"",
        ),
        (
            &[("WIKI_DENIED_MUTATION_PATH_PREFIXES", "a/../b")],
            "WIKI_DENIED_MUTATION_PATH_PREFIXES has",
        ),
        (
            &[("WIKI_HTTP_MAX_RETRIES", "-1")],
            "WIKI_HTTP_MAX_RETRIES must be a whole number from 0 to 10",
        ),
        (
            &[("WIKI_HTTP_TIMEOUT_MS", "soon")],
            "WIKI_HTTP_TIMEOUT_MS must be a whole number",
        ),
        (
            &[("WIKI_DEFAULT_LOCALE", "english")],
            "WIKI_DEFAULT_LOCALE must be a locale code",
        ),
        (
            &[("WIKI_DEFAULT_EDITOR", "html")],
            "WIKI_DEFAULT_EDITOR must be",
        ),
        (
            &[("WIKI_GRAPHQL_PATH", "graphql")],
            "WIKI_GRAPHQL_PATH must be a path",
        ),
        (&[("HOME", "-")], "WIKI_AUDIT_DIR is missing"),
        (&[("WIKI_INDEX", "on")], "WIKI_INDEX must be memory"),
        (
            &[
                ("WIKI_INDEX", "disk"),
                ("WIKI_AUDIT_DIR", "/audit"),
                ("HOME", "-"),
            ],
            "WIKI_INDEX_DIR is missing",
        ),
        (
            &[("WIKI_AUDIT_KEEP_DAYS", "0")],
            "WIKI_AUDIT_KEEP_DAYS must be a whole number from 1 to 36500",
        ),
        (
            &[("WIKI_AUDIT_KEEP_MB", "0")],
            "WIKI_AUDIT_KEEP_MB must be a whole number from 1",
        ),
    ] {
        let error = read(pairs).expect_err(start);
        assert!(error.starts_with(start), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn a_way_to_confirm_that_cannot_hold_stops_the_start() {
    for (pairs, start) in [
        (
            &[("WIKI_CONFIRM", "me")][..],
            "WIKI_CONFIRM must be token, preview",
        ),
        (
            &[
                ("WIKI_CONFIRM", "person"),
                ("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please"),
            ],
            "WIKI_MUTATION_CONFIRM_TOKEN is set beside WIKI_CONFIRM=person",
        ),
        (
            &[("WIKI_CONFIRM_FALLBACK", "preview")],
            "WIKI_CONFIRM_FALLBACK is set without WIKI_CONFIRM=person",
        ),
        (
            &[
                ("WIKI_CONFIRM", "person"),
                ("WIKI_CONFIRM_FALLBACK", "token"),
            ],
            "WIKI_CONFIRM_FALLBACK must be none, preview or proposal",
        ),
        (
            &[("WIKI_PERSON_TIMEOUT_S", "4")],
            "WIKI_PERSON_TIMEOUT_S must be a whole number from 5 to 600",
        ),
        (
            &[("WIKI_CONFIRM", "token")],
            "WIKI_MUTATION_CONFIRM_TOKEN is missing",
        ),
        (
            &[("WIKI_MUTATION_CONFIRM_TOKEN", "fifteen letters")],
            "WIKI_MUTATION_CONFIRM_TOKEN must have at least 16 characters",
        ),
        (
            &[
                ("WIKI_CONFIRM", "preview"),
                ("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please"),
            ],
            "WIKI_MUTATION_CONFIRM_TOKEN is set beside",
        ),
    ] {
        let error = read(pairs).expect_err(start);
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
fn a_person_has_fifty_seconds_and_nothing_holds_in_their_place() {
    let mode = |pairs: &[_]| {
        let on = [
            ("WIKI_MUTATIONS_ENABLED", "true"),
            ("WIKI_MUTATION_DRY_RUN", "false"),
            ("WIKI_CONFIRM", "person"),
        ];
        let settings = read(&[&on[..], pairs].concat());
        match settings.expect("settings").policy.writes {
            WritePolicy::Person { limit, fallback } => (limit.as_secs(), fallback),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(mode(&[]), (50, Fallback::None));
    assert_eq!(
        mode(&[
            ("WIKI_PERSON_TIMEOUT_S", "600"),
            ("WIKI_CONFIRM_FALLBACK", "preview")
        ]),
        (600, Fallback::Preview)
    );
    let mode = mode(&[("WIKI_CONFIRM_FALLBACK", "proposal")]);
    assert_eq!(mode, (50, Fallback::Proposal));
}

#[test]
fn a_secret_is_never_shown() {
    let error = read(&[("WIKI_API_TOKEN", "very secret")]).expect_err("a space");
    assert!(!error.contains("very"), "{error}");
    let settings =
        read(&[("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please")]).expect("settings");
    let shown = format!("{settings:?}");
    assert!(!shown.contains("open-sesame-please"), "{shown}");
    assert!(!shown.contains("eyJ"), "{shown}");
}

#[test]
fn plain_http_and_odd_keys_are_warned_of() {
    let settings = read(&[
        ("WIKI_BASE_URL", "http://wiki.lan"),
        ("WIKI_API_TOKEN", "abc"),
    ]);
    assert_eq!(settings.expect("settings").warnings.len(), 2);
    let local = read(&[("WIKI_BASE_URL", "http://127.0.0.1:3000")]).expect("settings");
    assert_eq!(local.warnings.len(), 0);
    assert_eq!(local.wiki.name, "127.0.0.1:3000");
}

#[test]
fn a_key_file_that_others_may_read_is_warned_of() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), "e30.eyJhcGkiOjEsImV4cCI6MzI1MDM2ODAwMDB9.sig").expect("written");
    let path = file.path().to_str().expect("UTF-8");
    let warnings = |mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(path, mode).expect("a mode");
        read(&[("WIKI_API_TOKEN", "-"), ("WIKI_API_TOKEN_FILE", path)])
            .expect("settings")
            .warnings
    };
    assert_eq!(warnings(0o600), Vec::<String>::new());
    let expected = [
        "the file that WIKI_API_TOKEN_FILE names may be read by others than its owner; take that away with chmod 600",
    ];
    assert_eq!(warnings(0o644), expected);
}

/// Defaults are only in the table, so each must be valid for its setting.
#[test]
fn every_setting_takes_its_own_default() {
    for setting in SETTINGS {
        let default = setting.default_value();
        match (setting.kind, default) {
            (SettingKind::Number(least, most), default) => {
                let number: u32 = default.and_then(|it| it.parse().ok()).expect(setting.name);
                assert!((least..=most).contains(&number), "{}", setting.name);
            }
            (SettingKind::Flag, default) => {
                assert!(
                    matches!(default, Some("true" | "false")),
                    "{}",
                    setting.name
                );
            }
            (SettingKind::Choice(words), Some(word)) => {
                assert!(words.contains(&word), "{}", setting.name);
            }
            (SettingKind::Choice(_), None) => {
                let follows = ["WIKI_CONFIRM", "WIKI_SERVE_CLIENTS"];
                assert!(follows.contains(&setting.name), "{}", setting.name);
            }
            (
                SettingKind::Text
                | SettingKind::Secret
                | SettingKind::Path
                | SettingKind::List
                | SettingKind::Command
                | SettingKind::PathOrCommand,
                _,
            ) => {}
        }
    }
}
