//! Tests the messages about faulty sites of a settings file.

use std::path::Path;

use crate::config::file::File;
use crate::config::layers::{CommandLineSettings, Layers};
use crate::config::{Origin, Settings};
use crate::page::testing::But as _;

const A: &str = "[sites.a]\nbase_url = \"https://a.example\"\napi_token = \"key\"\n";
const B: &str = "[sites.b]\nbase_url = \"https://b.example\"\napi_token = \"key\"\n";
const SERVER: &str = "audit_dir = \"/audit\"\nindex = \"off\"\n";

fn file(text: &str) -> Result<File, Vec<String>> {
    File::parse(Path::new("/c.toml"), text)
        .map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

fn layers(text: &str, given: &CommandLineSettings) -> Result<Layers, String> {
    let file = file(text).map_err(|faults| faults.join("\n"))?;
    Layers::of_file(file, given)
}

/// The sites that a server of this file has, or all faults.
fn every(text: &str) -> Result<Vec<Settings>, Vec<String>> {
    let layers = layers(&format!("{SERVER}{text}"), &CommandLineSettings::default()).unwrap();
    Settings::load_every(&layers).map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

fn of_site(site: &str) -> CommandLineSettings {
    CommandLineSettings::default().but(|given| given.site = Some(site.parse().unwrap()))
}

#[test]
fn each_site_has_a_key_and_an_address_of_its_own() {
    let names = |text: &str| {
        let all = every(text).unwrap();
        let names = all.iter().map(|settings| settings.wiki.name.clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&format!("{A}{B}")), ["a.example", "b.example"]);
    let first = "base_url = \"https://c.example\"\napi_token = \"key\"\n";
    let names = names(&format!("{first}{A}{B}"));
    assert_eq!(names, ["c.example", "a.example", "b.example"]);
    // The key of the wiki without a table opens no site.
    let without = "[sites.b]\nbase_url = \"https://b.example\"\n";
    assert_eq!(
        every(&format!("{first}{A}{without}")).unwrap_err(),
        [
            "/c.toml:8: sites.b.api_token is missing; a site's key is never inherited, so give it its own (or api_token_file, or token_command)"
        ]
    );
    assert_eq!(
        every(&format!("{first}[sites.b]\napi_token = \"key\"\n")).unwrap_err(),
        [
            "/c.toml:5: sites.b.base_url is missing; it must be an address such as https://wiki.example.com"
        ]
    );
}

#[test]
fn two_sites_at_one_address_are_refused_by_name() {
    for same in ["https://a.example/", "https://A.example:443"] {
        let twice = format!("{A}[sites.b]\nbase_url = \"{same}\"\napi_token = \"other\"\n");
        let expected = [
            "/c.toml:7: sites.b.base_url is the address of sites.a, too; one wiki is one site, with one key and one record",
        ];
        assert_eq!(every(&twice).unwrap_err(), expected);
    }
    let first = "base_url = \"https://a.example\"\napi_token = \"key\"\n";
    let faults = every(&format!("{first}{A}")).unwrap_err();
    assert!(
        faults[0].contains("is the address of base_url, too"),
        "{faults:?}"
    );
}

#[test]
fn all_faults_of_all_sites_are_told_and_what_is_the_servers_once() {
    let text = format!(
        "confirm_fallback = \"x\"\nserve_rate = 0\n{A}mutations_enabled = true\n{B}default_locale = \"x y\"\n"
    );
    let faults = every(&text).unwrap_err();
    let of = |word: &str| faults.iter().filter(|fault| fault.contains(word)).count();
    assert_eq!(of("sites.b.default_locale"), 1, "{faults:?}");
    let mut once = faults.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), faults.len(), "{faults:?}");
}

#[test]
fn a_warning_names_its_site() {
    let plain = "[sites.b]\nbase_url = \"http://b.example\"\napi_token = \"key\"\n";
    let all = every(&format!("{A}{plain}")).unwrap();
    let warnings = all.iter().flat_map(|settings| &settings.warnings);
    let plain: Vec<&String> = warnings
        .filter(|text| text.contains("plain http"))
        .collect();
    assert_eq!(
        plain,
        ["site b: WIKI_BASE_URL is plain http: the key travels unprotected"]
    );
}

#[test]
fn what_is_no_table_of_a_site_is_refused_with_its_line() {
    for (text, fault) in [
        (
            "sites = 1\n",
            "/c.toml:1: sites must be tables such as [sites.docs]",
        ),
        (
            "[sites]\na = 1\n",
            "/c.toml:2: a site must be a table such as [sites.docs]",
        ),
        (
            "[sites.Docs]\n",
            "/c.toml:1: a site's name is 1 to 32 small letters, digits and hyphens, and does not begin with a hyphen",
        ),
        (
            "[sites.\"../x\"]\n",
            "/c.toml:1: a site's name is 1 to 32 small letters, digits and hyphens, and does not begin with a hyphen",
        ),
        (
            "default_site = \"b\"\n[sites.a]\n",
            "/c.toml:1: default_site must be the name of one of the sites, in quotes",
        ),
        (
            "default_site = 1\n[sites.a]\n",
            "/c.toml:1: default_site must be the name of one of the sites, in quotes",
        ),
    ] {
        assert_eq!(file(text).map(|_| ()).unwrap_err(), [fault], "{text}");
    }
    let many: Vec<String> = (0..51).map(|at| format!("[sites.s{at}]")).collect();
    let many = many.join("\n");
    let faults = file(&many).map(|_| ()).unwrap_err();
    assert_eq!(faults, ["/c.toml:1: there are more than 50 sites"]);
}

#[test]
fn where_no_site_is_named_it_is_the_only_or_the_default_one() {
    let site = |text: &str| {
        let layers = layers(text, &CommandLineSettings::default()).unwrap();
        layers.site().map(ToString::to_string)
    };
    assert_eq!(site(A).as_deref(), Some("a"));
    assert_eq!(site(&format!("{A}{B}")), None);
    assert_eq!(
        site(&format!("default_site = \"b\"\n{A}{B}")).as_deref(),
        Some("b")
    );
    assert_eq!(
        site(&format!("base_url = \"https://c.example\"\n{A}")),
        None
    );
    let fault = layers("index = \"off\"\n", &of_site("a")).unwrap_err();
    assert_eq!(
        fault,
        "there is no site a; the settings file has no [sites.NAME]"
    );
}

/// Without `--site`, too: a flag that changes nothing must not look as if it did.
#[test]
fn a_flag_is_not_lost_at_the_site_that_is_meant() {
    let given = |name: &'static str| {
        CommandLineSettings::default().but(|given| given.flags = vec![(name, "x".to_owned())])
    };
    let file = given("WIKI_API_TOKEN_FILE");
    for (text, site) in [
        (A.to_owned(), "a"),
        (format!("default_site = \"b\"\n{A}{B}"), "b"),
    ] {
        assert_eq!(
            layers(&text, &file).unwrap_err(),
            format!(
                "--api-token-file: the site {site} has its own in the settings file; leave the flag out"
            )
        );
    }
    assert_eq!(
        layers(&format!("{A}{B}"), &file).unwrap_err(),
        "--api-token-file: each site has its own in the settings file; leave the flag out"
    );
    assert!(layers(A, &given("WIKI_DEFAULT_LOCALE")).is_ok());
    // An address on the command line means the wiki without a table.
    let layers = layers(A, &given("WIKI_BASE_URL")).unwrap();
    assert_eq!(layers.site(), None);
}

#[test]
fn what_is_shown_of_a_site_is_what_holds_there() {
    let text = format!(
        "base_url = \"https://c.example\"\nca_file = \"/ca.pem\"\nmutations_enabled = true\ndenied_mutation_path_prefixes = [\"hr\"]\ndefault_locale = \"de\"\n{A}confirm = \"review\"\ndenied_mutation_path_prefixes = [\"x\"]\n"
    );
    let layers = layers(&text, &of_site("a")).unwrap();
    let all = layers.shown();
    let of = |name: &str| {
        let shown = all.iter().find(|shown| shown.setting.name == name).unwrap();
        let (line, site) = match &shown.origin {
            Origin::File { line, site, .. } => (*line, site.as_ref().map(ToString::to_string)),
            _ => (0, None),
        };
        let value = shown.value.clone().unwrap_or_default();
        (value, line, site, shown.of_server.clone())
    };
    let own = |value: &str, line| (value.to_owned(), line, Some("a".to_owned()), None);
    let servers = |value: &str, line| (value.to_owned(), line, None, None);
    assert_eq!(of("WIKI_BASE_URL"), own("https://a.example", 7));
    assert_eq!(of("WIKI_CONFIRM"), own("review", 9));
    // Never inherited; a gate and a default are.
    assert_eq!(of("WIKI_CA_FILE"), servers("", 0));
    assert_eq!(of("WIKI_MUTATIONS_ENABLED"), servers("true", 3));
    assert_eq!(of("WIKI_DEFAULT_LOCALE"), servers("de", 5));
    let (value, line, site, of_server) = of("WIKI_DENIED_MUTATION_PATH_PREFIXES");
    assert_eq!(value, "x");
    assert_eq!(line, 10);
    assert_eq!(site.as_deref(), Some("a"));
    assert_eq!(of_server.as_deref(), Some("hr"));
}
