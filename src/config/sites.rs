//! The sites of a settings file: `[sites.NAME]`, and `default_site`.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::tables::TableFault;
use crate::site::SiteName;

/// The most sites of one file.
const MOST: usize = 50;

/// A site's name, its place, and its members.
type SiteTable<'a, 'b> = (
    SiteName,
    Range<usize>,
    Vec<(&'a Spanned<Cow<'b, str>>, &'a Spanned<DeValue<'b>>)>,
);

/// Reads the sites of a settings file, the site to use if none is named, and all faults.
pub(super) fn read<'a, 'b>(
    table: &'a DeTable<'b>,
) -> (Vec<SiteTable<'a, 'b>>, Option<SiteName>, Vec<TableFault>) {
    let mut faults: Vec<TableFault> = Vec::new();
    let mut sites: Vec<SiteTable<'a, 'b>> = Vec::new();
    let mut wrong =
        |key: &Spanned<Cow<'_, str>>, fault: String| faults.push((Some(key.span()), fault));
    let of = |name: &str| table.iter().find(|(key, _)| key.get_ref() == name);
    if let Some((key, value)) = of("sites") {
        match value.get_ref().as_table() {
            None => wrong(key, "sites must be tables such as [sites.docs]".to_owned()),
            Some(tables) if tables.len() > MOST => {
                wrong(key, format!("there are more than {MOST} sites"));
            }
            Some(tables) => {
                for (key, value) in tables {
                    match (key.get_ref().parse(), value.get_ref().as_table()) {
                        (Ok(name), Some(members)) => {
                            sites.push((name, key.span(), members.iter().collect()));
                        }
                        (Err(fault), _) => wrong(key, fault),
                        (Ok(_), None) => {
                            let fault = "a site must be a table such as [sites.docs]";
                            wrong(key, fault.to_owned());
                        }
                    }
                }
                sites.sort_by_key(|(_, span, _)| span.start);
            }
        }
    }
    let default = of("default_site").and_then(|(key, value)| {
        let found = value.get_ref().as_str().and_then(|text| {
            let named = sites.iter().find(|(name, ..)| name.as_str() == text);
            named.map(|(name, ..)| name.clone())
        });
        if found.is_none() {
            let fault = "default_site must be the name of one of the sites, in quotes";
            wrong(key, fault.to_owned());
        }
        found
    });
    (sites, default, faults)
}

#[cfg(test)]
mod tests {
    mod faults;

    use std::path::Path;

    use crate::config::Settings;
    use crate::config::file::File;
    use crate::config::layers::{CommandLineSettings, Layers};
    use crate::memory::MemoryMode;

    /// The settings of the site `a` with these lines, below these lines of the server.
    fn site_settings(server: &str, site: &str) -> Result<Settings, String> {
        let own = "base_url = \"https://a.example\"\napi_token = \"key\"\n";
        let text =
            format!("audit_dir = \"/audit\"\nindex = \"off\"\n{server}\n[sites.a]\n{own}{site}\n");
        let file = File::parse(Path::new("/c.toml"), &text);
        let file = file.map_err(|faults| faults[0].clone())?;
        let given = CommandLineSettings {
            site: Some("a".parse().unwrap()),
            ..CommandLineSettings::default()
        };
        let layers = Layers::of_file(file, &given)?;
        Settings::load(&layers).map_err(|faults| faults[0].to_string())
    }

    const ON: &str = "mutations_enabled = true\nmutation_dry_run = false\n";

    #[test]
    fn a_site_inherits_gates_and_makes_them_narrower() {
        let site =
            |more: &str, own: &str| site_settings(&format!("{ON}{more}"), own).unwrap().policy;
        let level = |own: &str| {
            let policy = site("", own);
            (policy.writes.as_str(), policy.set_by.to_string())
        };
        let (off, dry) = ("mutations_enabled = false", "mutation_dry_run = true");
        assert_eq!(level(""), ("preview", "WIKI_CONFIRM (default)".to_owned()));
        let line = "sites.a.mutations_enabled (settings file)".to_owned();
        assert_eq!(level(off), ("off", line));
        let line = "sites.a.mutation_dry_run (settings file)".to_owned();
        assert_eq!(level(dry), ("dry_run", line));
        let allowed = |more: &str, own: &str| {
            let allowed = site(more, own).allowed;
            allowed.map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let of_server = "allowed_mutation_path_prefixes = [\"docs\", \"blog\"]\n";
        let own = "allowed_mutation_path_prefixes = [\"docs/x\", \"hr\"]";
        assert_eq!(allowed("", ""), None);
        assert_eq!(allowed(of_server, "").unwrap(), ["docs", "blog"]);
        assert_eq!(allowed("", own).unwrap(), ["docs/x", "hr"]);
        assert_eq!(allowed(of_server, own).unwrap(), ["docs/x"]);
        let both = site(
            "denied_mutation_path_prefixes = [\"a\"]\n",
            "denied_mutation_path_prefixes = [\"b\"]",
        );
        assert_eq!(both.denied.len(), 2);
        let reads = site(
            "allowed_read_path_prefixes = [\"docs\"]\n",
            "denied_read_tags = [\"secret\"]",
        );
        assert_eq!(reads.reads.rules().count(), 2);
    }

    #[test]
    fn a_site_confirms_as_strictly_or_more_strictly() {
        let confirms = |server: &str, own: &str| {
            let settings = site_settings(&format!("{ON}{server}"), own)?;
            Ok::<_, String>(settings.policy.writes.as_str())
        };
        let words = ["preview", "person", "review"];
        for (place, server) in words.iter().enumerate() {
            let server = format!("confirm = \"{server}\"\n");
            assert_eq!(confirms(&server, ""), Ok(words[place]));
            for (other, own) in words.iter().enumerate() {
                let found = confirms(&server, &format!("confirm = \"{own}\""));
                assert_eq!(found.is_ok(), other >= place, "{server}{own}: {found:?}");
            }
        }
        let token = "mutation_confirm_token = \"open sesame, please\"";
        let never = confirms(&format!("{token}\n"), "").unwrap_err();
        assert!(never.contains("sites.a.mutation_confirm_token is missing; the server's static token is never inherited"), "{never}");
        assert_eq!(confirms(&format!("{token}\n"), token), Ok("token"));
        assert_eq!(confirms("", token), Ok("token"));
        assert_eq!(
            confirms(&format!("{token}\n"), "confirm = \"review\""),
            Ok("review")
        );
        assert!(confirms(&format!("{token}\n"), "confirm = \"person\"").is_err());
        let fallback = "confirm = \"person\"\nconfirm_fallback = \"preview\"";
        assert!(confirms("confirm = \"person\"\n", fallback).is_err());
    }

    #[test]
    fn a_site_offers_the_servers_tools_or_fewer() {
        let offers =
            |server: &str, own: &str| site_settings(server, own).map(|settings| settings.surface);
        let (all, fewer) = (
            "toolsets = [\"pages\", \"undo\"]\n",
            "toolsets = [\"pages\"]",
        );
        assert!(
            offers(all, "")
                .unwrap()
                .beyond(&offers(all, fewer).unwrap())
                .is_some()
        );
        let fault = offers("", "toolsets = [\"undo\"]").unwrap_err();
        assert!(fault.contains("sites.a.toolsets has wikijs_"), "{fault}");
        assert!(!offers(all, "read_only = true").unwrap().writes());
        assert!(!offers("read_only = true\n", "").unwrap().writes());
    }

    #[test]
    fn a_site_says_who_shares_its_memories() {
        let mode = |server: &str, own: &str| site_settings(server, own).unwrap().memory;
        let site = "memory = \"site\"\n";
        assert!(matches!(mode("", ""), MemoryMode::Client));
        assert!(matches!(mode(site, ""), MemoryMode::Site(None)));
        assert!(matches!(mode("", site), MemoryMode::Site(None)));
    }

    #[test]
    fn a_peer_is_a_sites_own_and_its_address_is_safe_and_holds_no_secret() {
        let mode = |server: &str, own: &str| {
            let settings = site_settings(server, own);
            settings.map(|settings| format!("{:?}", settings.memory))
        };
        let site = "memory = \"site\"\n";
        let peer = |address: &str| format!("memory_peer = {address:?}\n");
        for address in [
            "https://b.example/mcp/docs",
            "http://127.0.0.1:8765/mcp",
            "http://[::1]/mcp",
        ] {
            let found = mode(site, &peer(address)).unwrap();
            assert!(found.contains("Some(MemoryPeer"), "{found}");
            assert_eq!(
                mode(&format!("{site}{}", peer(address)), "").unwrap(),
                "Site(None)"
            );
        }
        for address in [
            "http://b.example/mcp",
            "https://ada:sesame@b.example/mcp",
            "https://sesame@b.example/mcp",
            "https://b.example/mcp?token=sesame",
            "https://b.example/mcp#sesame",
            "ftp://b.example/sesame",
            "sesame",
        ] {
            let told = mode(site, &peer(address)).unwrap_err();
            assert!(
                told.contains("sites.a.memory_peer must be the address"),
                "{told}"
            );
            assert!(!told.contains("sesame"), "{told}");
        }
        let told = mode("", &peer("https://b.example/mcp")).unwrap_err();
        assert!(
            told.contains("sites.a.memory_peer needs memory = "),
            "{told}"
        );
        let both = "memory_peer_token_file = \"x\"\nmemory_peer_token_command = [\"true\"]\n";
        let told = mode(site, both).unwrap_err();
        assert!(
            told.contains("is set beside sites.a.memory_peer_token_file"),
            "{told}"
        );
    }

    #[test]
    fn an_embeddings_endpoint_is_a_sites_own_and_its_address_holds_no_secret() {
        let read = |server: &str, own: &str| {
            let settings = site_settings(server, own)?;
            Ok::<_, String>((
                settings.index.embeddings.is_some(),
                settings.warnings.concat(),
            ))
        };
        let model = "embeddings_model = \"m\"\n";
        let at = |address: &str| format!("embeddings_url = {address:?}\n{model}");
        for (address, is_plain) in [
            ("https://b.example/v1/embeddings", false),
            ("http://127.0.0.1:8080/v1/embeddings", false),
            ("http://b.example/v1/embeddings", true),
        ] {
            let (is_set, warnings) = read("", &at(address)).unwrap();
            assert!(is_set, "{address}");
            assert_eq!(
                warnings.contains("WIKI_EMBEDDINGS_URL is plain http"),
                is_plain
            );
            // No site sends its text to the server's endpoint.
            assert!(!read(&at(address), "").unwrap().0);
        }
        let off = format!("index = \"off\"\n{}", at("https://b.example/v1"));
        let warnings = read("", &off).unwrap().1;
        assert!(warnings.contains("WIKI_INDEX is off"), "{warnings}");
        for address in [
            "https://ada:sesame@b.example/v1",
            "https://b.example/v1?key=sesame",
            "https://b.example/v1#sesame",
            "ftp://b.example/sesame",
            "sesame",
        ] {
            let told = read("", &at(address)).unwrap_err();
            assert!(
                told.contains("sites.a.embeddings_url must be an address"),
                "{told}"
            );
            assert!(!told.contains("sesame"), "{told}");
        }
        let without = "embeddings_url = \"https://b.example/v1\"\n";
        let told = read("", without).unwrap_err();
        assert!(told.contains("embeddings_model is missing"), "{told}");
        let both = "embeddings_key_file = \"x\"\nembeddings_key_command = [\"true\"]\n";
        let told = read("", both).unwrap_err();
        assert!(
            told.contains("is set beside sites.a.embeddings_key_file"),
            "{told}"
        );
    }

    #[test]
    fn what_is_the_servers_alone_or_opens_another_wiki_is_no_sites() {
        let other = "base_url = \"https://other.example\"\napi_token = \"other\"\ngraphql_path = \"/other\"";
        let settings = site_settings(other, "").unwrap();
        assert_eq!(settings.wiki.name, "a.example");
        assert_eq!(settings.wiki.graphql_path, "/graphql");
        assert_eq!(settings.site.unwrap().as_str(), "a");
        for (own, fault) in [
            (
                "serve_rate = 5",
                "/c.toml:7: serve_rate holds for the whole server",
            ),
            (
                "audit_dir = \"x\"",
                "/c.toml:7: audit_dir holds for the whole server",
            ),
            (
                "log = \"debug\"",
                "/c.toml:7: log holds for the whole server",
            ),
            ("nonsense = 1", "/c.toml:7: \"nonsense\" is no setting"),
            ("confirm = \"maybe\"", "/c.toml:7: sites.a.confirm must be"),
        ] {
            let found = site_settings("", own).unwrap_err();
            assert!(found.starts_with(fault), "{found}");
        }
        assert_eq!(
            site_settings("default_locale = \"de\"", "")
                .unwrap()
                .wiki
                .default_locale
                .as_str(),
            "de"
        );
        let own = site_settings("default_locale = \"de\"", "default_locale = \"fr\"").unwrap();
        assert_eq!(own.wiki.default_locale.as_str(), "fr");
    }

    #[test]
    fn a_flag_says_nothing_that_is_a_sites_own() {
        let text = "[sites.a]\nbase_url = \"https://a.example\"\n[sites.b]\nbase_url = \"https://b.example\"\n";
        let file = || {
            File::parse(Path::new("/c.toml"), text)
                .map_err(|_| ())
                .unwrap()
        };
        let given = |site: &str, flags: Vec<(&'static str, String)>| CommandLineSettings {
            site: Some(site.parse().unwrap()),
            flags,
            ..CommandLineSettings::default()
        };
        let address = vec![("WIKI_BASE_URL", "https://c.example".to_owned())];
        let fault = Layers::of_file(file(), &given("a", address)).unwrap_err();
        assert_eq!(
            fault,
            "--base-url: the site a has its own in the settings file; leave the flag out"
        );
        let fault = Layers::of_file(file(), &given("c", Vec::new())).unwrap_err();
        assert_eq!(fault, "there is no site c; there are a, b");
        let layers = Layers::of_file(file(), &CommandLineSettings::default()).unwrap();
        let fault = Settings::load(&layers).unwrap_err()[0].to_string();
        assert_eq!(
            fault,
            "WIKI_BASE_URL is missing; name a site with --site: there are a, b"
        );
    }
}
