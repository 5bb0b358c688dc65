//! The wiki's address and key, and the defaults of calls.

use url::Url;

use super::layers::known;
use super::parse::{SettingError, SettingsSource};
use crate::page::{Locale, check_editor};
use crate::wiki::{RetryLimits, TimeLimits};

const ADDRESS: &str = "WIKI_BASE_URL";
const ALLOWED_ADDRESS: &str = "must be an address such as https://wiki.example.com";

pub(super) fn base_url(source: &SettingsSource<'_>) -> Result<Url, SettingError> {
    let text = source.filled(ADDRESS)?.ok_or_else(|| {
        let sites = source.file.map_or(&[][..], |file| &file.sites);
        match (source.site, sites) {
            (None, [_, ..]) => SettingError::new(
                ADDRESS,
                format!("is missing; name a site with --site: {}", known(sites)),
            ),
            (Some(_), _) => SettingError::new(ADDRESS, format!("is missing; it {ALLOWED_ADDRESS}")),
            (None, []) => SettingError::lacking(
                ADDRESS,
                format!(
                    "is missing; it {ALLOWED_ADDRESS} (`wikijs-gate config init` writes a settings file)"
                ),
            ),
        }
    })?;
    parse_base_url(&text)
}

/// The wiki's address, as a setting or a person gives it.
///
/// # Errors
/// What is wrong with it.
pub fn parse_base_url(text: &str) -> Result<Url, SettingError> {
    let url = Url::parse(text).map_err(|_| SettingError::new(ADDRESS, ALLOWED_ADDRESS))?;
    let fault = if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        ALLOWED_ADDRESS
    } else if !url.username().is_empty() || url.password().is_some() {
        "must not hold a user name or password"
    } else if url.query().is_some() || url.fragment().is_some() {
        "must not hold a query or a fragment"
    } else {
        return Ok(url);
    };
    Err(SettingError::new(ADDRESS, fault))
}

/// The name under which the wiki's records are kept: its host, then its port and path unless they
/// are the usual ones. Addresses that differ in their scheme alone share a name: they are one wiki.
pub(super) fn name_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url
        .port()
        .map(|port| format!(":{port}"))
        .unwrap_or_default();
    format!("{host}{port}{}", url.path().trim_end_matches('/'))
}

pub(super) fn graphql_path(source: &SettingsSource<'_>) -> Result<String, SettingError> {
    const NAME: &str = "WIKI_GRAPHQL_PATH";
    let path = source.or_default(NAME)?.unwrap_or_default();
    let is_plain = path.starts_with('/')
        && !path.contains("//")
        && path
            .split('/')
            .all(|segment| !matches!(segment, "." | ".."))
        && path
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#' | b'\\'));
    if is_plain {
        Ok(path)
    } else {
        Err(SettingError::new(NAME, "must be a path such as /graphql"))
    }
}

pub(super) fn default_locale(source: &SettingsSource<'_>) -> Result<Locale, SettingError> {
    const NAME: &str = "WIKI_DEFAULT_LOCALE";
    let code = source.or_default(NAME)?.unwrap_or_default();
    Locale::parse(&code).map_err(|fault| SettingError::new(NAME, fault))
}

pub(super) fn default_editor(source: &SettingsSource<'_>) -> Result<String, SettingError> {
    const NAME: &str = "WIKI_DEFAULT_EDITOR";
    let editor = source.or_default(NAME)?.unwrap_or_default();
    check_editor(&editor).map_err(|fault| SettingError::new(NAME, fault))?;
    Ok(editor)
}

pub(super) fn time(source: &SettingsSource<'_>) -> Result<TimeLimits, SettingError> {
    Ok(TimeLimits {
        read: source.millis("WIKI_HTTP_TIMEOUT_MS")?,
        write: source.millis("WIKI_HTTP_WRITE_TIMEOUT_MS")?,
    })
}

pub(super) fn retry(source: &SettingsSource<'_>) -> Result<RetryLimits, SettingError> {
    let retries = source.number("WIKI_HTTP_MAX_RETRIES")?;
    let total = source.millis("WIKI_HTTP_RETRY_TOTAL_MS")?;
    Ok(RetryLimits::new(retries, total))
}
