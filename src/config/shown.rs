//! Settings for people: every value and where it comes from, without secrets.

use super::defaults::{REQUIRED, SETTINGS};
use super::setting::{InSite, Setting, SettingKind};
use super::write_policy::{self, ResolvedPolicy};
use super::{Layers, Origin, SettingError, SettingsSource, key_source};

/// Shown in place of a secret.
const HIDDEN: &str = "•••";

/// One setting as it is now.
#[derive(Debug, Clone)]
pub struct SettingView {
    /// The setting.
    pub setting: &'static Setting,
    /// Its value, checked or not; `None` if it is not set and has no default.
    pub value: Option<String>,
    /// In words, what holds without a value.
    pub without: String,
    /// The layer that the value comes from.
    pub origin: Origin,
    /// The server's value, where the site has its own and both hold together.
    pub of_server: Option<String>,
}

impl Layers {
    /// Resolves the settings about writing.
    ///
    /// # Errors
    /// The setting that is bad, or contradicts another one.
    pub fn write_policy(&self) -> Result<ResolvedPolicy, SettingError> {
        let source = self.source();
        write_policy::resolved(&source).map_err(|fault| source.placed(fault))
    }

    /// Every setting as it is now.
    pub fn shown(&self) -> Vec<SettingView> {
        let (source, server) = (self.source(), self.source().of_server());
        let shown = |setting: &'static Setting| {
            let is_gate = source.site.is_some() && setting.in_site == InSite::Narrower;
            let is_own = source.origin(setting.name).is_of_site();
            // A gate that the site does not set is the server's.
            let from = if is_gate && !is_own { &server } else { &source };
            let is_set_twice = is_gate && is_own && server.origin(setting.name) != Origin::Default;
            SettingView {
                setting,
                value: value(from, setting),
                without: self.without(&source, setting),
                origin: from.origin(setting.name),
                of_server: is_set_twice.then(|| value(&server, setting)).flatten(),
            }
        };
        SETTINGS.iter().map(shown).collect()
    }

    /// Says what holds without a value: a required setting is not required where another gives the
    /// key, or where each wiki is a site of its own.
    fn without(&self, source: &SettingsSource<'_>, setting: &Setting) -> String {
        if setting.default != REQUIRED {
            return setting.default.replace('`', "");
        }
        let key = key_source::settings_of_key(source);
        let other = key
            .first()
            .filter(|_| key_source::SETTINGS.contains(&setting.name));
        match other {
            Some(other) => format!(
                "none: {} gives the key",
                source.origin(other).name_of(other)
            ),
            None if self.has_sites_alone() => "none: each site has its own".to_owned(),
            None => REQUIRED.to_owned(),
        }
    }
}

fn value(source: &SettingsSource<'_>, setting: &Setting) -> Option<String> {
    let Ok(text) = source.text(setting.name) else {
        return Some("no UTF-8 text".to_owned());
    };
    let Some(text) = text else {
        return setting.default_value().map(str::to_owned);
    };
    Some(match setting.kind {
        SettingKind::Secret => HIDDEN.to_owned(),
        // A command's arguments may hold a secret.
        SettingKind::Command => match source.values(setting.name) {
            [program] => program.clone(),
            [program, ..] => format!("{program} {HIDDEN}"),
            [] => HIDDEN.to_owned(),
        },
        SettingKind::PathOrCommand if source.array(setting.name).is_some() => {
            let program = source.values(setting.name).first();
            format!("{} {HIDDEN}", program.map_or("", String::as_str))
        }
        // An address may hold one, too. It is refused for that, but must not be shown either.
        _ if text.contains('@') && text.contains("://") => HIDDEN.to_owned(),
        _ => text,
    })
}
