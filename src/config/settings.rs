//! All settings of one server.

use std::path::PathBuf;

use url::Url;

use super::key_source::{self, KeySource};
use super::layers::{Layers, with_misspelt};
use super::parse::{SettingError, SettingFaults, SettingsSource, choose};
use super::{ServeSettings, anchors, connection, custom, network, policy, storage, tls};
use crate::audit::{AnchorSettings, Keep, StoreHome};
use crate::custom::Customs;
use crate::gates::Policy;
use crate::index::IndexSettings;
use crate::memory::MemoryMode;
use crate::mirror::MirrorSettings;
use crate::notify::NotifyTarget;
use crate::page::{Prefix, ReadRule};
use crate::site::SiteName;
use crate::tools::ToolSelection;
use crate::watch::WatchPace;
use crate::wiki::{Network, WikiSettings, is_loopback};

/// The indentation of JSON in answers: spaces per level, or 0 for one line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Indent(pub usize);

/// All settings of one server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The site of these settings; `None` for the wiki without a site table.
    pub site: Option<SiteName>,
    /// The wiki.
    pub wiki: WikiSettings,
    /// The source of its key.
    pub key_source: KeySource,
    /// The policy for writes.
    pub policy: Policy,
    /// The tools that are offered.
    pub surface: ToolSelection,
    /// The operator's own tools.
    pub customs: Customs,
    /// The place of the state of all wikis.
    pub store: StoreHome,
    /// The retention of the audit log.
    pub keep: Keep,
    /// The memory mode: which clients share memories.
    pub memory: MemoryMode,
    /// The settings of the audit log's anchors.
    pub anchors: Option<AnchorSettings>,
    /// The targets notified when something waits for people or went wrong.
    pub notify: Vec<NotifyTarget>,
    /// The settings of the content index.
    pub index: IndexSettings,
    /// The settings of the mirror, if it is on.
    pub mirror: Option<MirrorSettings>,
    /// The indentation of JSON in answers.
    pub indent: Indent,
    /// The pace at which pages are watched for subscribers.
    pub watch: WatchPace,
    /// The settings of the server over HTTP.
    pub serve: ServeSettings,
    /// Warnings about these settings.
    pub warnings: Vec<String>,
}

/// The settings for reading back an audit log: no key is needed, since nothing is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditSettings {
    /// The name under which the wiki's records are kept.
    pub wiki: String,
    /// The place of the state of all wikis.
    pub store: StoreHome,
    /// The wiki's address.
    pub base_url: Url,
}

/// The settings of the program's own log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// The name of the least level that is logged.
    pub level: &'static str,
    /// A directory for daily files; stderr without one.
    pub dir: Option<PathBuf>,
    /// True if each line is JSON.
    pub is_json: bool,
}

impl Settings {
    /// Reads the settings from all layers.
    ///
    /// # Errors
    /// Every setting that is missing or bad.
    pub fn load(layers: &Layers) -> Result<Self, Vec<SettingError>> {
        let mut settings = Self::read_all(&layers.source())
            .map_err(|faults| faults.into_iter().map(with_misspelt).collect::<Vec<_>>())?;
        settings.warnings.extend(layers.warnings());
        Ok(settings)
    }

    /// Reads the settings of every wiki, for a server of all wikis, or of one.
    ///
    /// # Errors
    /// Every setting that is missing or bad.
    pub fn load_these(layers: &Layers, of_all: bool) -> Result<Vec<Self>, Vec<SettingError>> {
        if of_all {
            Self::load_every(layers)
        } else {
            Self::load(layers).map(|settings| vec![settings])
        }
    }

    /// Reads the settings of every wiki, for a server of all wikis.
    ///
    /// # Errors
    /// Every setting that is missing or bad for any wiki, and two wikis at one address.
    pub fn load_every(layers: &Layers) -> Result<Vec<Self>, Vec<SettingError>> {
        let every = layers.every();
        if every.is_empty() {
            return Self::load(layers).map(|settings| vec![settings]);
        }
        let mut all: Vec<Self> = Vec::new();
        let mut faults = Vec::new();
        for layers in &every {
            match Self::read_all(&layers.source()) {
                Ok(settings) => {
                    let same = all.iter().find(|one| one.wiki.name == settings.wiki.name);
                    if let Some(same) = same {
                        let other = same.site.as_ref();
                        let other = other
                            .map_or_else(|| "base_url".to_owned(), |site| format!("sites.{site}"));
                        let fault = format!(
                            "is the address of {other}, too; one wiki is one site, with one key and one record"
                        );
                        let fault = SettingError::new("WIKI_BASE_URL", fault);
                        faults.push(layers.source().placed(fault));
                    }
                    all.push(settings);
                }
                Err(found) => faults.extend(found),
            }
        }
        if !faults.is_empty() {
            // What is the server's is wrong for each of its sites, and said once.
            let mut once: Vec<SettingError> = Vec::new();
            for fault in faults {
                if !once.contains(&fault) {
                    once.push(fault);
                }
            }
            return Err(once);
        }
        if let Some(first) = all.first_mut() {
            first.warnings.extend(layers.warnings());
        }
        Ok(all)
    }

    /// The name under which the records of these layers' wiki are kept.
    pub(super) fn wiki_name(layers: &Layers) -> Result<String, SettingError> {
        connection::base_url(&layers.source()).map(|url| connection::name_of(&url))
    }

    /// Reads the settings from a source.
    ///
    /// # Errors
    /// The first setting that is missing or bad.
    pub fn read(source: &SettingsSource<'_>) -> Result<Self, SettingError> {
        Self::read_all(source).map_err(|mut faults| faults.swap_remove(0))
    }

    fn read_all(source: &SettingsSource<'_>) -> Result<Self, Vec<SettingError>> {
        let mut faults = SettingFaults::new(source);
        let mut more = Vec::new();
        let base_url = faults.sift(connection::base_url(source));
        let key = faults.sift(key_source::key(source, &mut more));
        let graphql_path = faults.sift(connection::graphql_path(source));
        let default_locale = faults.sift(connection::default_locale(source));
        let default_editor = faults.sift(connection::default_editor(source));
        let time = faults.sift(connection::time(source));
        let retry = faults.sift(connection::retry(source));
        let policy = faults.sift(policy::policy(source));
        let surface = faults.sift(policy::surface(source));
        let customs = faults.sift(custom::customs(source, surface.as_ref()));
        let store = faults.sift(storage::store(source));
        more.extend((store.as_ref()).and_then(|store| storage::warning(source, store)));
        let keep = faults.sift(storage::keep(source));
        let memory = faults.sift(storage::memory(source));
        let anchors = faults.sift(anchors::anchors(source));
        let index = faults.sift(storage::index(source, &mut more));
        let mirror = faults.sift(storage::mirror(source));
        let indent = faults.sift(source.number("WIKI_JSON_INDENT"));
        let serve = ServeSettings::gather(&mut faults);
        let network = faults.sift(network::network(source, base_url.as_ref(), &mut more));
        let certificate = faults.sift(tls::client(source));
        more.extend(tls::warnings(source));
        let (key, key_source) = key.unzip();
        let reads = policy.as_ref().map(|policy| policy.reads.clone());
        let wiki = (|| {
            let base_url = base_url?;
            Some(WikiSettings {
                name: connection::name_of(&base_url),
                graphql_path: graphql_path?,
                default_locale: default_locale?,
                default_editor: default_editor?,
                time: time?,
                retry: retry?,
                network: Box::new(Network {
                    certificate: certificate?,
                    ..network?
                }),
                reads: reads?,
                base_url,
                key: key?,
            })
        })();
        let settings = (|| {
            let (wiki, policy) = (wiki?, policy?);
            let (anchors, store) = (anchors?, store?);
            let inside = anchors.as_ref();
            let inside = inside.and_then(|it| anchors::warning(it, store.directory()));
            more.extend(inside);
            let mut warnings = [
                warnings(&wiki, &policy),
                idle(&policy, source.tables().oauth.is_some()),
                more,
            ]
            .concat();
            let site = source.site.map(|site| site.name.clone());
            if let Some(site) = &site {
                for warning in &mut warnings {
                    *warning = format!("site {site}: {warning}");
                }
            }
            Some(Self {
                site,
                warnings,
                wiki,
                key_source: key_source?,
                policy,
                surface: surface?,
                customs: customs?,
                store,
                keep: keep?,
                memory: memory?,
                anchors,
                notify: source.tables().notify,
                index: index?,
                mirror: mirror?,
                indent: Indent(usize::try_from(indent?).unwrap_or_default()),
                watch: WatchPace::default(),
                serve: serve?,
            })
        })();
        settings.ok_or(faults.found)
    }
}

/// A warning for each rule that can match no change, and for each path of a rule that probably matches no
/// page.
fn idle(policy: &Policy, signs_in: bool) -> Vec<String> {
    let allowed = policy.allowed.as_deref();
    let mut warnings = Vec::new();
    for rule in policy.rules.rules() {
        let name = &rule.name;
        let of_people = rule.names_people() && !signs_in;
        let of_people = of_people.then(|| "nobody signs in without [oauth]".to_owned());
        let why = of_people.or_else(|| rule.matches_nothing(allowed, &policy.denied));
        warnings.extend(why.map(|why| format!("the rule {name:?} can match nothing: {why}")));
        let doubts = rule.doubts();
        warnings.extend(
            doubts
                .map(|(path, why)| format!("the rule {name:?} has {:?}, {why}", path.to_string())),
        );
    }
    warnings
}

fn warnings(wiki: &WikiSettings, policy: &Policy) -> Vec<String> {
    let mut warnings = Vec::new();
    if wiki.base_url.scheme() == "http" && !is_loopback(&wiki.base_url) {
        warnings.push("WIKI_BASE_URL is plain http: the key travels unprotected".to_owned());
    }
    if !wiki.key.is_jwt {
        warnings.push(
            "the key does not have the form of a Wiki.js key; Wiki.js treats an unknown key as a guest".to_owned(),
        );
    }
    let reads = policy.reads.rules().next();
    for (name, prefixes) in [
        (
            "WIKI_ALLOWED_MUTATION_PATH_PREFIXES",
            policy.allowed.as_deref().unwrap_or_default(),
        ),
        ("WIKI_DENIED_MUTATION_PATH_PREFIXES", &policy.denied),
        (
            "WIKI_ALLOWED_READ_PATH_PREFIXES",
            reads.and_then(ReadRule::allowed).unwrap_or_default(),
        ),
        (
            "WIKI_DENIED_READ_PATH_PREFIXES",
            reads.map(ReadRule::denied).unwrap_or_default(),
        ),
    ] {
        warnings.extend(prefixes.iter().filter_map(|prefix| {
            Some(format!(
                "{name} has {:?}, {}",
                prefix.to_string(),
                prefix.doubt()?
            ))
        }));
    }
    if let Some(at) = wiki.key.expired_at() {
        warnings.push(format!(
            "the key expired at {at}; Wiki.js treats it as a guest"
        ));
    }
    warnings
}

impl AuditSettings {
    /// Reads the settings from a source.
    ///
    /// # Errors
    /// The setting that is missing or bad.
    pub fn read(source: &SettingsSource<'_>) -> Result<Self, SettingError> {
        let read = || {
            let base_url = connection::base_url(source)?;
            Ok(Self {
                wiki: connection::name_of(&base_url),
                store: storage::store(source)?,
                base_url,
            })
        };
        read().map_err(|fault| source.placed(fault))
    }
}

/// The place of the state of all wikis; needs no address or key.
///
/// # Errors
/// The setting that is bad.
pub fn store_home(source: &SettingsSource<'_>) -> Result<StoreHome, SettingError> {
    storage::store(source).map_err(|fault| source.placed(fault))
}

/// The place elsewhere where heads of the record are kept, if there is one; needs no address or key.
///
/// # Errors
/// The setting that is bad.
pub fn audit_anchors(source: &SettingsSource<'_>) -> Result<Option<AnchorSettings>, SettingError> {
    anchors::anchors(source).map_err(|fault| source.placed(fault))
}

/// The tools offered; needs no address or key.
///
/// # Errors
/// The setting that is bad.
pub fn offered(source: &SettingsSource<'_>) -> Result<ToolSelection, SettingError> {
    policy::surface(source).map_err(|fault| source.placed(fault))
}

/// The operator's own tools, as far as they need no wiki; needs no address or key.
///
/// # Errors
/// The setting that is bad.
pub fn custom_tools(
    source: &SettingsSource<'_>,
    surface: &ToolSelection,
) -> Result<Customs, SettingError> {
    custom::customs(source, Some(surface)).map_err(|fault| source.placed(fault))
}

/// The directory of the operator's own tools, if there is one.
///
/// # Errors
/// The setting that is bad.
pub fn custom_tools_dir(source: &SettingsSource<'_>) -> Result<Option<PathBuf>, SettingError> {
    source
        .path(custom::NAME)
        .map_err(|fault| source.placed(fault))
}

/// The prefixes to which writes are limited, if they are.
///
/// # Errors
/// The setting that is bad.
pub fn allowed_prefixes(source: &SettingsSource<'_>) -> Result<Option<Vec<Prefix>>, SettingError> {
    policy::allowed(source).map_err(|fault| source.placed(fault))
}

/// The settings of the program's own log, read first so that everything else can be logged. Without
/// a level, `usual` holds, or else the setting's default.
///
/// # Errors
/// The setting that is bad.
pub fn log_settings(
    source: &SettingsSource<'_>,
    usual: Option<&'static str>,
) -> Result<LogSettings, SettingError> {
    const LEVEL: &str = "WIKI_LOG";
    let read = || {
        Ok(LogSettings {
            level: match source.filled(LEVEL)? {
                Some(level) => choose(LEVEL, &level.to_lowercase())?,
                None => match usual {
                    Some(usual) => usual,
                    None => source.choice(LEVEL)?.unwrap_or_default(),
                },
            },
            dir: source.path("WIKI_LOG_DIR")?,
            is_json: source.choice("WIKI_LOG_FORMAT")? == Some("json"),
        })
    };
    read().map_err(|fault| source.placed(fault))
}

#[cfg(test)]
mod tests;
