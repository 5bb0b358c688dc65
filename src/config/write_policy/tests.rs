use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;

use super::{ResolvedPolicy, resolved};
use crate::config::SettingsSource;
use crate::config::file::File;
use crate::config::layers::{CommandLineSettings, Layers};

const TOKEN: (&str, &str) = ("WIKI_MUTATION_CONFIRM_TOKEN", "open sesame, please");
const ON: [(&str, &str); 2] = [
    ("WIKI_MUTATIONS_ENABLED", "true"),
    ("WIKI_MUTATION_DRY_RUN", "false"),
];

/// Resolves variables of the environment.
fn from_environment(pairs: &[(&str, &str)]) -> Result<ResolvedPolicy, String> {
    let map: HashMap<&str, &str> = pairs.iter().copied().collect();
    let get = |name: &str| map.get(name).map(|value| OsString::from(*value));
    let source = SettingsSource::new(&get);
    resolved(&source).map_err(|fault| source.placed(fault).to_string())
}

/// Resolves a settings file and flags for a site.
fn of_file(
    text: &str,
    flags: Vec<(&'static str, String)>,
    site: Option<&str>,
) -> Result<ResolvedPolicy, String> {
    let file = File::parse(Path::new("/c.toml"), text).map_err(|faults| faults[0].clone())?;
    let given = CommandLineSettings {
        site: site.map(|site| site.parse().unwrap()),
        flags,
        ..CommandLineSettings::default()
    };
    let layers = Layers::of_file(file, &given)?;
    layers.write_policy().map_err(|fault| fault.to_string())
}

fn told(resolved: &ResolvedPolicy) -> (&'static str, String) {
    (resolved.writes.as_str(), resolved.set_by.to_string())
}

#[test]
fn the_settings_come_to_one_level_and_name_the_line_that_set_it() {
    let dry = ("WIKI_MUTATION_DRY_RUN", "true");
    let off = ("WIKI_MUTATIONS_ENABLED", "false");
    for (more, level, line) in [
        (&[][..], "preview", "WIKI_CONFIRM (default)"),
        (&[off], "off", "WIKI_MUTATIONS_ENABLED (environment)"),
        (&[dry], "dry_run", "WIKI_MUTATION_DRY_RUN (environment)"),
        (&[off, dry], "off", "WIKI_MUTATIONS_ENABLED (environment)"),
        (
            &[("WIKI_CONFIRM", "review")],
            "review",
            "WIKI_CONFIRM (environment)",
        ),
        (
            &[("WIKI_CONFIRM", "person")],
            "person",
            "WIKI_CONFIRM (environment)",
        ),
        (
            &[("WIKI_CONFIRM", "preview")],
            "preview",
            "WIKI_CONFIRM (environment)",
        ),
        (
            &[TOKEN],
            "token",
            "WIKI_MUTATION_CONFIRM_TOKEN (environment)",
        ),
        (
            &[("WIKI_CONFIRM", "token"), TOKEN],
            "token",
            "WIKI_CONFIRM (environment)",
        ),
        (
            &[dry, TOKEN],
            "dry_run",
            "WIKI_MUTATION_DRY_RUN (environment)",
        ),
    ] {
        let found = from_environment(&[&ON[..], more].concat()).unwrap();
        assert_eq!(told(&found), (level, line.to_owned()), "{more:?}");
        let has_token = more.contains(&TOKEN);
        assert_eq!(found.static_token.is_some(), has_token, "{more:?}");
    }
    let found = from_environment(&[("WIKI_MUTATIONS_ENABLED", "true")]).unwrap();
    let line = "WIKI_MUTATION_DRY_RUN (default)".to_owned();
    assert_eq!(told(&found), ("dry_run", line));
    let line = "WIKI_MUTATIONS_ENABLED (default)".to_owned();
    assert_eq!(told(&from_environment(&[]).unwrap()), ("off", line));
}

#[test]
fn settings_that_contradict_each_other_are_refused_and_both_are_named() {
    let person = ("WIKI_CONFIRM", "person");
    let fallback = ("WIKI_CONFIRM_FALLBACK", "preview");
    for (pairs, both) in [
        (
            &[person, TOKEN][..],
            ["WIKI_MUTATION_CONFIRM_TOKEN", "WIKI_CONFIRM=person"],
        ),
        (
            &[("WIKI_CONFIRM", "review"), TOKEN],
            ["WIKI_MUTATION_CONFIRM_TOKEN", "WIKI_CONFIRM=review"],
        ),
        (
            &[("WIKI_CONFIRM", "preview"), TOKEN],
            ["WIKI_MUTATION_CONFIRM_TOKEN", "WIKI_CONFIRM=preview"],
        ),
        (
            &[("WIKI_CONFIRM", "token")],
            ["WIKI_MUTATION_CONFIRM_TOKEN", "WIKI_CONFIRM=token"],
        ),
        (
            &[fallback],
            ["WIKI_CONFIRM_FALLBACK", "WIKI_CONFIRM=person"],
        ),
        (
            &[("WIKI_CONFIRM", "review"), fallback],
            ["WIKI_CONFIRM_FALLBACK", "WIKI_CONFIRM=person"],
        ),
        (
            &[TOKEN, fallback],
            ["WIKI_CONFIRM_FALLBACK", "WIKI_CONFIRM=person"],
        ),
    ] {
        // Also where the level is decided by another setting.
        for on in [&ON[..], &[]] {
            let fault = from_environment(&[on, pairs].concat()).unwrap_err();
            assert!(both.iter().all(|name| fault.contains(name)), "{fault}");
        }
    }
    assert!(from_environment(&[person, fallback]).is_ok());
}

#[test]
fn what_restricts_further_contradicts_nothing() {
    let read_only = ("WIKI_READ_ONLY", "true");
    let found = from_environment(&[&ON[..], &[read_only]].concat()).unwrap();
    assert_eq!(found.writes.as_str(), "preview");
    let line = found.read_only.unwrap().to_string();
    assert_eq!(line, "WIKI_READ_ONLY (environment)");
    assert!(from_environment(&ON).unwrap().read_only.is_none());
    // A switch that closes everything may stand beside all that it closes.
    let closed = from_environment(&[
        ("WIKI_MUTATIONS_ENABLED", "false"),
        ("WIKI_MUTATION_DRY_RUN", "false"),
        ("WIKI_CONFIRM", "review"),
    ]);
    assert_eq!(closed.unwrap().writes.as_str(), "off");
}

#[test]
fn a_line_is_named_as_it_stands_in_its_layer() {
    let text = "mutations_enabled = true\nmutation_dry_run = false\nconfirm = \"person\"\nconfirm_fallback = \"proposal\"\nread_only = true\n[sites.a]\nbase_url = \"https://a.example\"\n[sites.b]\nbase_url = \"https://b.example\"\nconfirm = \"review\"\n";
    let of = |flags, site| of_file(text, flags, Some(site)).unwrap();
    let inherited = of(Vec::new(), "a");
    assert_eq!(
        told(&inherited),
        ("person", "confirm (settings file)".to_owned())
    );
    assert_eq!(inherited.set_by.for_operator(), "confirm (/c.toml:3)");
    let fallback = inherited.fallback_set_by.for_operator();
    assert_eq!(fallback, "confirm_fallback (/c.toml:4)");
    let read_only = inherited.read_only.unwrap().for_operator();
    assert_eq!(read_only, "read_only (/c.toml:5)");
    let own = of(Vec::new(), "b");
    assert_eq!(
        told(&own),
        ("review", "sites.b.confirm (settings file)".to_owned())
    );
    assert_eq!(own.set_by.for_operator(), "sites.b.confirm (/c.toml:10)");
    let flag = ("WIKI_MUTATION_DRY_RUN", "true".to_owned());
    let dry = of(vec![flag], "b");
    let line = "--mutation-dry-run (command line)".to_owned();
    assert_eq!(told(&dry), ("dry_run", line));
}
