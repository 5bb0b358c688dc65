//! Reads the network settings: proxy, certificates, extra headers.

use std::fs::Metadata;
use std::path::Path;

use url::Url;

use super::file_trust::{read_trusted, readable_by_others};
use super::parse::{SettingError, SettingsSource};
use crate::wiki::{Network, Proxy, authorities, headers, is_loopback};

/// The most bytes read of a file: four times as many as all authorities of a system take.
const MOST: u64 = 1 << 20;

/// Reads the network settings for the wiki at this address, if it has one.
///
/// # Errors
/// The setting that is bad, or that names a bad file.
pub(super) fn network(
    source: &SettingsSource<'_>,
    wiki: Option<&Url>,
    warnings: &mut Vec<String>,
) -> Result<Network, SettingError> {
    const AUTHORITIES: &str = "WIKI_CA_FILE";
    const HEADERS: &str = "WIKI_EXTRA_HEADERS_FILE";
    let mut network = Network {
        proxy: proxy(source, wiki)?,
        ..Network::default()
    };
    if let Some(path) = source.filled(AUTHORITIES)? {
        let (pem, _) = read(AUTHORITIES, &path)?;
        network.authorities =
            authorities(&pem).map_err(|fault| SettingError::new(AUTHORITIES, fault))?;
    }
    if let Some(path) = source.filled(HEADERS)? {
        let (text, metadata) = read(HEADERS, &path)?;
        let text = String::from_utf8(text)
            .map_err(|_| SettingError::new(HEADERS, "names a file that is not UTF-8 text"))?;
        network.headers = headers(&text).map_err(|fault| SettingError::new(HEADERS, fault))?;
        warnings.extend(readable_by_others(HEADERS, &metadata));
    }
    Ok(network)
}

/// The proxy from our setting, else from the environment for the wiki's scheme. The environment's
/// proxy is not used for a wiki on this machine.
fn proxy(source: &SettingsSource<'_>, wiki: Option<&Url>) -> Result<Option<Proxy>, SettingError> {
    const NAME: &str = "WIKI_PROXY";
    let (name, text, except) = if let Some(text) = source.filled(NAME)? {
        (NAME, text, None)
    } else {
        let Some(wiki) = wiki.filter(|wiki| !is_loopback(wiki)) else {
            return Ok(None);
        };
        let names = match wiki.scheme() {
            "https" => ["HTTPS_PROXY", "https_proxy"],
            _ => ["HTTP_PROXY", "http_proxy"],
        };
        let Some((name, text)) = first(source, names)? else {
            return Ok(None);
        };
        let except = first(source, ["NO_PROXY", "no_proxy"])?.map(|(_, text)| text);
        (name, text, except)
    };
    Proxy::parse(&text, except)
        .map(Some)
        .map_err(|fault| SettingError::new(name, fault))
}

/// The first of these foreign variables that is set. An empty variable counts as unset.
fn first(
    source: &SettingsSource<'_>,
    names: [&'static str; 2],
) -> Result<Option<(&'static str, String)>, SettingError> {
    for name in names {
        let text = source.text(name)?.unwrap_or_default();
        if !text.trim().is_empty() {
            return Ok(Some((name, text.trim().to_owned())));
        }
    }
    Ok(None)
}

/// A file's bytes and metadata. A file that others may write is refused: they could send the key
/// elsewhere.
pub(super) fn read(name: &'static str, path: &str) -> Result<(Vec<u8>, Metadata), SettingError> {
    let (bytes, metadata) = read_trusted(Path::new(path), MOST + 1)
        .map_err(|fault| SettingError::new(name, format!("names a file that {fault}")))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MOST) {
        return Err(SettingError::new(name, "names a file of more than 1 MB"));
    }
    Ok((bytes, metadata))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::ffi::OsString;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use url::Url;

    use super::network;
    use crate::config::SettingsSource;
    use crate::wiki::Network;

    fn read(wiki: &str, pairs: &[(&str, &str)]) -> Result<(Network, Vec<String>), String> {
        let map: HashMap<&str, &str> = pairs.iter().copied().collect();
        let get = |name: &str| map.get(name).map(OsString::from);
        let wiki = Url::parse(wiki).expect("an address");
        let mut warnings = Vec::new();
        network(&SettingsSource::new(&get), Some(&wiki), &mut warnings)
            .map(|network| (network, warnings))
            .map_err(|error| error.to_string())
    }

    fn proxy(wiki: &str, pairs: &[(&str, &str)]) -> Option<String> {
        let (network, _) = read(wiki, pairs).expect("a network");
        network.proxy.map(|proxy| proxy.to_string())
    }

    #[test]
    fn a_proxy_of_the_environment_is_the_one_for_the_wikis_scheme_and_ours_wins() {
        let all = [
            ("HTTPS_PROXY", "http://tls:1"),
            ("http_proxy", "plain:2"),
            ("NO_PROXY", "example.org"),
        ];
        assert_eq!(proxy("https://w", &all).as_deref(), Some("http://tls:1"));
        assert_eq!(proxy("http://w", &all).as_deref(), Some("http://plain:2"));
        for here in ["http://127.0.0.1:3000", "http://[::1]", "https://localhost"] {
            assert_eq!(proxy(here, &all), None, "{here}");
        }
        let ours = [&all[..], &[("WIKI_PROXY", "http://ours:3")]].concat();
        for wiki in ["https://w", "http://127.0.0.1:3000"] {
            assert_eq!(proxy(wiki, &ours).as_deref(), Some("http://ours:3"));
        }
        assert_eq!(proxy("https://w", &[("HTTPS_PROXY", " ")]), None);
        assert_eq!(proxy("https://w", &[("ALL_PROXY", "http://all:4")]), None);
    }

    #[test]
    fn a_bad_proxy_stops_the_start_under_its_name_and_shows_nothing_of_itself() {
        for name in ["WIKI_PROXY", "https_proxy"] {
            let error = read("https://w", &[(name, "socks5://u:sesame@p")]).expect_err("socks");
            assert!(
                error.starts_with(name) && !error.contains("sesame"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_file_that_others_may_write_is_refused_and_one_that_they_may_read_warned_of() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("headers");
        fs::write(&path, "X-Pass: sesame\n").expect("a file");
        let path = path.to_str().expect("UTF-8");
        let given = |mode| {
            fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
            read("https://w", &[("WIKI_EXTRA_HEADERS_FILE", path)])
        };
        assert_eq!(given(0o600).expect("private").1, Vec::<String>::new());
        assert_eq!(given(0o644).expect("open").1.len(), 1);
        for mode in [0o620, 0o602] {
            let error = given(mode).expect_err("writable");
            assert!(error.contains("may be written by others"), "{error}");
        }
    }

    #[test]
    fn a_file_that_is_none_stops_the_start() {
        for name in ["WIKI_CA_FILE", "WIKI_EXTRA_HEADERS_FILE"] {
            for file in ["/nowhere", "/"] {
                let error = read("https://w", &[(name, file)]).expect_err(file);
                assert!(error.starts_with(name), "{error}");
            }
        }
    }
}
