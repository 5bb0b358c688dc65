//! Compares two readings of the settings, and tells which changes a running server can apply.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::file_trust::{FileStamp, stamp_of};
use super::setting::{InSite, Setting, Touches};
use super::tls;
use super::{CommandLineSettings, Layers, SETTINGS, SettingsSource, custom, file_place};
use crate::gates::Policy;

/// The differences between two readings of one wiki's settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsDiff {
    /// The names of the changed settings and tables, as in the settings file.
    pub names: BTreeSet<String>,
    /// True if the requests to the wiki changed, or the limits on reading it.
    pub of_wiki: bool,
    /// True if the limits on writing changed, or the way writes are confirmed.
    pub of_gates: bool,
    /// True if the content index changed.
    pub of_index: bool,
}

/// The state of the files that settings are read from, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamps(Vec<(&'static str, PathBuf, Option<FileStamp>)>);

/// The settings that name a file whose contents are read together with them.
const FILES: [&str; 6] = [
    "WIKI_CA_FILE",
    "WIKI_EXTRA_HEADERS_FILE",
    tls::CLIENT[0],
    tls::CLIENT[1],
    tls::SERVER[0],
    tls::SERVER[1],
];

/// The settings that name a file which can make all settings good or bad by itself.
const WATCHED: [&str; 2] = ["WIKI_API_TOKEN_FILE", "WIKI_AUDIT_SIGNING_KEY"];

impl SettingsDiff {
    /// Adds whether the gates of a new policy differ from those in force, however they came about.
    pub fn add_gates(&mut self, now: &Policy, new: &Policy) {
        if new.has_gates_of(now) {
            return;
        }
        self.of_gates = true;
        self.of_wiki |= now.reads != new.reads;
        if self.names.is_empty() {
            // What no setting explains is put on record all the same.
            self.names.insert("policy".to_owned());
        }
    }

    fn note(&mut self, name: String, touches: Touches) {
        self.names.insert(name);
        self.of_wiki |= matches!(touches, Touches::Wiki | Touches::Reads);
        self.of_gates |= matches!(touches, Touches::Gates | Touches::Reads);
        self.of_index |= touches == Touches::Index;
    }

    /// Adds the settings whose file changed while its name stayed the same.
    pub fn add_files(&mut self, layers: &Layers, before: &Stamps, now: &Stamps) {
        for name in FILES.into_iter().chain([custom::NAME]) {
            let path = layers.source().filled(name).ok().flatten();
            let Some((path, setting)) = path.zip(Setting::named(name)) else {
                continue;
            };
            let of = |stamps: &Stamps| {
                let stamps = stamps.0.iter();
                let own = stamps.filter(|(of, at, _)| *of == name && at.starts_with(&path));
                own.cloned().collect::<Vec<_>>()
            };
            if of(before) != of(now) {
                self.note(setting.file_name(), setting.touches);
            }
        }
    }
}

impl Layers {
    /// The differences of this wiki's settings from an older reading.
    pub fn changes_since(&self, old: &Self) -> SettingsDiff {
        let (new, old) = (self.source(), old.source());
        let mut changes = SettingsDiff::default();
        let differing = SETTINGS
            .iter()
            .filter(|setting| is_changed(setting, &new, &old));
        for setting in differing {
            changes.note(setting.file_name(), setting.touches);
        }
        let (new, old) = (new.tables(), old.tables());
        for (name, differs, touches) in [
            ("rules", new.rules != old.rules, Touches::Gates),
            ("checks", new.checks != old.checks, Touches::Gates),
            ("notify", new.notify != old.notify, Touches::Nothing),
            ("oauth", new.oauth != old.oauth, Touches::Nothing),
        ] {
            if differs {
                changes.note(name.to_owned(), touches);
            }
        }
        changes
    }

    /// One sentence that names the changed settings that need a restart; `None` without any.
    pub fn needs_restart(&self, old: &Self) -> Option<String> {
        let (new, old) = (self.source(), old.source());
        let changed = SETTINGS.iter().filter(|setting| {
            setting.touches == Touches::Restart && is_changed(setting, &new, &old)
        });
        let names: Vec<String> = changed
            .map(|setting| match self.site() {
                Some(site) if new.origin(setting.name).is_of_site() => {
                    format!("sites.{site}.{}", setting.file_name())
                }
                _ => setting.file_name(),
            })
            .collect();
        let (verb, it) = match names.len() {
            0 => return None,
            1 => ("takes", "it"),
            _ => ("take", "them"),
        };
        Some(format!(
            "a change of {} {verb} a restart; put {it} back, or restart the server",
            names.join(", ")
        ))
    }

    /// The state of every file that the wikis' settings are read from.
    pub fn stamps(&self, given: &CommandLineSettings) -> Stamps {
        let mut found: Vec<(&'static str, PathBuf)> = Vec::new();
        for layers in self.every() {
            for name in FILES.into_iter().chain(WATCHED) {
                let source = layers.source();
                if let Ok(Some(path)) = source.filled(name)
                    && source.array(name).is_none()
                {
                    found.push((name, PathBuf::from(path)));
                }
            }
        }
        let mut dirs: Vec<PathBuf> = (self.every().iter())
            .filter_map(|layers| layers.source().filled(custom::NAME).ok().flatten())
            .map(PathBuf::from)
            .collect();
        dirs.sort();
        dirs.dedup();
        let customs = dirs.iter().flat_map(|dir| custom::stamps(dir));
        let customs = customs.map(|(path, stamp)| (custom::NAME, path, stamp));
        let customs: Vec<_> = customs.collect();
        found.extend(file_place(given).map(|file| ("", file)));
        found.sort();
        found.dedup();
        let stamped = found.into_iter().map(|(name, path)| {
            let stamp = std::fs::metadata(&path).ok().as_ref().map(stamp_of);
            (name, path, stamp)
        });
        Stamps(stamped.chain(customs).collect())
    }
}

/// True if two readings differ in a setting, where the value that holds may be merged from the
/// server's and the site's own.
fn is_changed(setting: &Setting, new: &SettingsSource<'_>, old: &SettingsSource<'_>) -> bool {
    let differs = |new: &SettingsSource<'_>, old: &SettingsSource<'_>| {
        let name = setting.name;
        new.text(name).ok() != old.text(name).ok()
            || new.values(name) != old.values(name)
            || new.array(name).is_some() != old.array(name).is_some()
    };
    // A site sees only its own value of what it may narrow; the server's holds for it all the same.
    let is_merged = setting.in_site == InSite::Narrower;
    differs(new, old) || (is_merged && differs(&new.of_server(), &old.of_server()))
}

#[cfg(test)]
mod tests {
    use super::{SettingsDiff, Touches};

    #[test]
    fn what_is_changed_says_what_it_touches() {
        for (touches, expected) in [
            (Touches::Wiki, (true, false, false)),
            (Touches::Reads, (true, true, false)),
            (Touches::Gates, (false, true, false)),
            (Touches::Index, (false, false, true)),
            (Touches::Nothing, (false, false, false)),
        ] {
            let mut changes = SettingsDiff::default();
            changes.note("x".to_owned(), touches);
            let found = (changes.of_wiki, changes.of_gates, changes.of_index);
            assert_eq!(found, expected, "{touches:?}");
        }
    }
}
