//! All settings of one server.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;
use url::Url;

use super::names::{SETTINGS, nearest};
use super::parse::{SettingError, Source};
use crate::audit::Keep;
use crate::gates::{ConfirmMode, Fallback, Policy, StaticToken};
use crate::index::{IndexMode, IndexSettings, MOST_ON_DISK, MOST_PAGES, Pace};
use crate::page::{Locale, Trash, check_editor};
use crate::tools::Toolset;
use crate::wiki::{ApiKey, RetryLimits, TimeLimits, WikiSettings, is_loopback};

/// All settings of one server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The wiki.
    pub wiki: WikiSettings,
    /// What may be written.
    pub policy: Policy,
    /// The tools that are offered.
    pub toolsets: Vec<Toolset>,
    /// Where the audit log lies.
    pub audit_dir: PathBuf,
    /// How much of it is kept.
    pub keep: Keep,
    /// How content is indexed.
    pub index: IndexSettings,
    /// What is worth knowing about these settings, though it stops nothing.
    pub warnings: Vec<String>,
}

/// Which audit log is read back: no key is needed, since nothing goes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditSettings {
    /// The wiki's name, under which its records lie.
    pub wiki: String,
    /// Where the audit log lies.
    pub dir: PathBuf,
}

/// Where the program's own log goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// How much of it: a level's name.
    pub level: String,
    /// A directory for daily files; stderr without one.
    pub dir: Option<PathBuf>,
}

impl Settings {
    /// Reads the settings from the environment.
    ///
    /// # Errors
    /// The first setting that is missing or bad.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the room that reads the environment"
    )]
    pub fn from_environment() -> Result<Self, SettingError> {
        let mut settings = Self::read(&Source::new(&|name| std::env::var_os(name)))?;
        settings
            .warnings
            .extend(std::env::vars_os().filter_map(|(name, _)| unknown_name(name.to_str()?)));
        Ok(settings)
    }

    /// Reads the settings from a source.
    ///
    /// # Errors
    /// The first setting that is missing or bad.
    pub fn read(source: &Source<'_>) -> Result<Self, SettingError> {
        let base_url = base_url(source)?;
        let key = key(source)?;
        let mut warnings = Vec::new();
        if base_url.scheme() == "http" && !is_loopback(&base_url) {
            warnings.push("WIKI_BASE_URL is plain http: the key travels unprotected".to_owned());
        }
        if !key.is_jwt() {
            warnings.push(
                "the key does not have the form of a Wiki.js key; Wiki.js treats an unknown key as a guest".to_owned(),
            );
        }
        for name in [
            "WIKI_ALLOWED_MUTATION_PATH_PREFIXES",
            "WIKI_DENIED_MUTATION_PATH_PREFIXES",
        ] {
            let doubts = source.prefixes(name)?.unwrap_or_default().into_iter();
            warnings.extend(doubts.filter_map(|prefix| {
                Some(format!(
                    "{name} has {:?}, {}",
                    prefix.to_string(),
                    prefix.doubt()?
                ))
            }));
        }
        if let Some(at) = key.expired_at() {
            warnings.push(format!(
                "the key expired at {at}; Wiki.js treats it as a guest"
            ));
        }
        Ok(Self {
            wiki: WikiSettings {
                name: name_of(&base_url),
                graphql_path: graphql_path(source)?,
                default_locale: default_locale(source)?,
                default_editor: default_editor(source)?,
                time: TimeLimits {
                    read: source.millis("WIKI_HTTP_TIMEOUT_MS", 15_000, 100..=600_000)?,
                    write: source.millis("WIKI_HTTP_WRITE_TIMEOUT_MS", 30_000, 100..=600_000)?,
                },
                retry: RetryLimits {
                    retries: source.number("WIKI_HTTP_MAX_RETRIES", 2, 0..=10)?,
                    total: source.millis("WIKI_HTTP_RETRY_TOTAL_MS", 40_000, 100..=600_000)?,
                    ..RetryLimits::default()
                },
                base_url,
                key,
            },
            policy: policy(source)?,
            toolsets: toolsets(source)?,
            audit_dir: audit_dir(source)?,
            keep: keep(source)?,
            index: index(source)?,
            warnings,
        })
    }
}

impl AuditSettings {
    /// Reads the settings from the environment.
    ///
    /// # Errors
    /// The setting that is missing or bad.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the room that reads the environment"
    )]
    pub fn from_environment() -> Result<Self, SettingError> {
        let source = Source::new(&|name| std::env::var_os(name));
        Ok(Self {
            wiki: name_of(&base_url(&source)?),
            dir: audit_dir(&source)?,
        })
    }
}

/// Where the program's own log goes, from the environment; read before all else, so that
/// everything else can be logged.
///
/// # Errors
/// The setting that is bad.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the room that reads the environment"
)]
pub fn log_settings() -> Result<LogSettings, SettingError> {
    let source = Source::new(&|name| std::env::var_os(name));
    let level = source
        .filled("WIKI_LOG")?
        .map_or("info".to_owned(), |level| level.to_lowercase());
    if !["off", "error", "warn", "info", "debug", "trace"].contains(&level.as_str()) {
        return Err(SettingError::new(
            "WIKI_LOG",
            "must be off, error, warn, info, debug or trace",
        ));
    }
    Ok(LogSettings {
        level,
        dir: source.filled("WIKI_LOG_DIR")?.map(PathBuf::from),
    })
}

/// Whether the user wants no colours (`NO_COLOR`, set to anything).
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the room that reads the environment"
)]
pub fn no_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// A name that looks like a setting of ours and is none; one that is misspelt could leave a
/// gate open that its operator thinks closed.
fn unknown_name(name: &str) -> Option<String> {
    let is_known = SETTINGS.iter().any(|setting| setting.name == name);
    if is_known || !name.starts_with("WIKI_") {
        return None;
    }
    Some(match nearest(name) {
        Some(nearest) => format!("{name} is no setting of this version; did you mean {nearest}?"),
        None => format!("{name} is no setting of this version"),
    })
}

fn base_url(source: &Source<'_>) -> Result<Url, SettingError> {
    const NAME: &str = "WIKI_BASE_URL";
    let allowed = "must be an address such as https://wiki.example.com";
    let text = source
        .filled(NAME)?
        .ok_or_else(|| SettingError::new(NAME, format!("is missing; it {allowed}")))?;
    let url = Url::parse(&text).map_err(|_| SettingError::new(NAME, allowed))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(SettingError::new(NAME, allowed));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(SettingError::new(
            NAME,
            "must not hold a user name or password",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(SettingError::new(
            NAME,
            "must not hold a query or a fragment",
        ));
    }
    Ok(url)
}

/// The wiki's name, under which its records lie: its host, and what else of its address is not
/// the usual. No two addresses share one.
fn name_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url
        .port()
        .map(|port| format!(":{port}"))
        .unwrap_or_default();
    format!("{host}{port}{}", url.path().trim_end_matches('/'))
}

fn key(source: &Source<'_>) -> Result<ApiKey, SettingError> {
    const NAME: &str = "WIKI_API_TOKEN";
    const FILE: &str = "WIKI_API_TOKEN_FILE";
    let text = match (source.filled(NAME)?, source.filled(FILE)?) {
        (Some(_), Some(_)) => {
            return Err(SettingError::new(
                FILE,
                "is set beside WIKI_API_TOKEN; leave one of them out",
            ));
        }
        (Some(key), None) => (NAME, key),
        (None, Some(file)) => {
            let text = std::fs::read_to_string(&file).map_err(|error| {
                SettingError::new(
                    FILE,
                    format!("names a file that cannot be read: {}", error.kind()),
                )
            })?;
            (FILE, text.trim().to_owned())
        }
        (None, None) => {
            return Err(SettingError::new(
                NAME,
                "is missing; it must be an API key of the wiki (or set WIKI_API_TOKEN_FILE)",
            ));
        }
    };
    let (name, key) = text;
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(SettingError::new(
            name,
            "must hold a key: letters, digits and signs without spaces",
        ));
    }
    Ok(ApiKey::new(SecretString::from(key)))
}

fn graphql_path(source: &Source<'_>) -> Result<String, SettingError> {
    const NAME: &str = "WIKI_GRAPHQL_PATH";
    let path = source
        .filled(NAME)?
        .unwrap_or_else(|| "/graphql".to_owned());
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

fn default_locale(source: &Source<'_>) -> Result<Locale, SettingError> {
    const NAME: &str = "WIKI_DEFAULT_LOCALE";
    let code = source.filled(NAME)?.unwrap_or_else(|| "en".to_owned());
    Locale::parse(&code).map_err(|fault| SettingError::new(NAME, fault))
}

fn default_editor(source: &Source<'_>) -> Result<String, SettingError> {
    const NAME: &str = "WIKI_DEFAULT_EDITOR";
    let editor = source
        .filled(NAME)?
        .unwrap_or_else(|| "markdown".to_owned());
    check_editor(&editor).map_err(|fault| SettingError::new(NAME, fault))?;
    Ok(editor)
}

fn policy(source: &Source<'_>) -> Result<Policy, SettingError> {
    Ok(Policy {
        is_enabled: source.flag("WIKI_MUTATIONS_ENABLED", false)?,
        is_dry_run: source.flag("WIKI_MUTATION_DRY_RUN", true)?,
        confirm: confirm(source)?,
        allowed: source.prefixes("WIKI_ALLOWED_MUTATION_PATH_PREFIXES")?,
        denied: source
            .prefixes("WIKI_DENIED_MUTATION_PATH_PREFIXES")?
            .unwrap_or_default(),
        trash: trash(source)?,
    })
}

fn trash(source: &Source<'_>) -> Result<Option<Trash>, SettingError> {
    const NAME: &str = "WIKI_TRASH_PREFIX";
    source
        .filled(NAME)?
        .map(|prefix| Trash::parse(&prefix).map_err(|fault| SettingError::new(NAME, fault)))
        .transpose()
}

fn confirm(source: &Source<'_>) -> Result<ConfirmMode, SettingError> {
    const NAME: &str = "WIKI_CONFIRM";
    const TOKEN: &str = "WIKI_MUTATION_CONFIRM_TOKEN";
    let person = person(source)?;
    let token = source
        .filled(TOKEN)?
        .map(SecretString::from)
        .map(StaticToken::new);
    let mode = match (source.filled(NAME)?.as_deref(), token) {
        (None | Some("token"), Some(token)) => Ok(ConfirmMode::Token(token)),
        (None | Some("preview"), None) => Ok(ConfirmMode::Preview),
        (Some("token"), None) => Err(SettingError::new(
            TOKEN,
            "is missing; WIKI_CONFIRM=token needs it",
        )),
        (Some("person"), None) => return Ok(person),
        (Some(mode @ ("preview" | "person")), Some(_)) => Err(SettingError::new(
            TOKEN,
            format!("is set beside WIKI_CONFIRM={mode}; leave one of them out"),
        )),
        (Some(_), _) => Err(SettingError::new(NAME, "must be token, preview or person")),
    }?;
    match source.filled(FALLBACK)? {
        None => Ok(mode),
        Some(_) => Err(SettingError::new(
            FALLBACK,
            "is set without WIKI_CONFIRM=person; leave it out",
        )),
    }
}

const FALLBACK: &str = "WIKI_CONFIRM_FALLBACK";

/// How a person confirms.
fn person(source: &Source<'_>) -> Result<ConfirmMode, SettingError> {
    let seconds = source.number("WIKI_PERSON_TIMEOUT_S", 50, 5..=600)?;
    Ok(ConfirmMode::Person {
        limit: Duration::from_secs(seconds.into()),
        fallback: match source.filled(FALLBACK)?.as_deref() {
            None | Some("none") => Fallback::None,
            Some("preview") => Fallback::Preview,
            Some(_) => return Err(SettingError::new(FALLBACK, "must be none or preview")),
        },
    })
}

fn toolsets(source: &Source<'_>) -> Result<Vec<Toolset>, SettingError> {
    const NAME: &str = "WIKI_TOOLSETS";
    let text = source
        .filled(NAME)?
        .unwrap_or_else(|| Toolset::Pages.name().to_owned());
    Toolset::parse_list(&text).map_err(|fault| SettingError::new(NAME, fault))
}

fn audit_dir(source: &Source<'_>) -> Result<PathBuf, SettingError> {
    const NAME: &str = "WIKI_AUDIT_DIR";
    if let Some(dir) = source.filled(NAME)? {
        return Ok(PathBuf::from(dir));
    }
    state_dir(source)?
        .map(|state| state.join("audit"))
        .ok_or_else(|| {
            SettingError::new(
                NAME,
                "is missing, and there is no home directory to put the audit log in",
            )
        })
}

/// Our own part of the user's state directory.
fn state_dir(source: &Source<'_>) -> Result<Option<PathBuf>, SettingError> {
    let absolute = |dir: PathBuf| dir.is_absolute().then_some(dir);
    let state = source
        .text("XDG_STATE_HOME")?
        .map(PathBuf::from)
        .and_then(absolute);
    let home = source.text("HOME")?.map(PathBuf::from).and_then(absolute);
    Ok(state
        .or_else(|| home.map(|home| home.join(".local").join("state")))
        .map(|state| state.join("wikijs-mcp")))
}

fn index(source: &Source<'_>) -> Result<IndexSettings, SettingError> {
    const NAME: &str = "WIKI_INDEX";
    const DIR: &str = "WIKI_INDEX_DIR";
    let mode = match source.filled(NAME)?.as_deref() {
        None | Some("memory") => IndexMode::Memory,
        Some("disk") => IndexMode::Disk,
        Some("off") => IndexMode::Off,
        Some(_) => return Err(SettingError::new(NAME, "must be memory, disk or off")),
    };
    let dir = match source.filled(DIR)? {
        Some(dir) => Some(PathBuf::from(dir)),
        None => state_dir(source)?.map(|state| state.join("index")),
    };
    if mode == IndexMode::Disk && dir.is_none() {
        return Err(SettingError::new(
            DIR,
            "is missing, and there is no home directory to put the index in",
        ));
    }
    Ok(IndexSettings {
        mode,
        dir,
        most: if mode == IndexMode::Disk {
            MOST_ON_DISK
        } else {
            MOST_PAGES
        },
        pace: Pace::default(),
    })
}

fn keep(source: &Source<'_>) -> Result<Keep, SettingError> {
    let megabytes = source.number("WIKI_AUDIT_KEEP_MB", 1024, 1..=u32::MAX)?;
    Ok(Keep {
        days: source.number("WIKI_AUDIT_KEEP_DAYS", 365, 1..=36_500)?,
        bytes: u64::from(megabytes) << 20,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::ffi::OsString;

    use std::time::Duration;

    use super::{Settings, unknown_name};
    use crate::config::Source;
    use crate::gates::{ConfirmMode, Fallback};

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
        Settings::read(&Source::new(&get)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_defaults_let_nothing_be_written() {
        let settings = read(&[]).expect("settings");
        assert!(!settings.policy.is_enabled && settings.policy.is_dry_run);
        assert!(matches!(settings.policy.confirm, ConfirmMode::Preview));
        assert_eq!(settings.wiki.name, "wiki.example.com");
        assert_eq!(settings.wiki.time.read, Duration::from_secs(15));
        assert_eq!(
            settings.audit_dir.to_str(),
            Some("/home/somebody/.local/state/wikijs-mcp/audit")
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
                    ("WIKI_MUTATION_CONFIRM_TOKEN", "s"),
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
                "WIKI_CONFIRM_FALLBACK must be none or preview",
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
                &[
                    ("WIKI_CONFIRM", "preview"),
                    ("WIKI_MUTATION_CONFIRM_TOKEN", "s"),
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
            let settings = read(&[&[("WIKI_CONFIRM", "person")], pairs].concat());
            match settings.expect("settings").policy.confirm {
                ConfirmMode::Person { limit, fallback } => (limit.as_secs(), fallback),
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
    }

    #[test]
    fn a_secret_is_never_shown() {
        let error = read(&[("WIKI_API_TOKEN", "very secret")]).expect_err("a space");
        assert!(!error.contains("very"), "{error}");
        let settings = read(&[("WIKI_MUTATION_CONFIRM_TOKEN", "sesame")]).expect("settings");
        let shown = format!("{settings:?}");
        assert!(
            !shown.contains("sesame") && !shown.contains("eyJ"),
            "{shown}"
        );
    }

    #[test]
    fn a_misspelt_name_is_told_with_the_right_one() {
        let told = unknown_name("WIKI_ALLOWED_MUTATION_PATH_PREFIX").expect("a warning");
        assert!(
            told.ends_with("did you mean WIKI_ALLOWED_MUTATION_PATH_PREFIXES?"),
            "{told}"
        );
        assert_eq!(unknown_name("WIKI_BASE_URL"), None);
        assert_eq!(unknown_name("HOME"), None);
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
}
