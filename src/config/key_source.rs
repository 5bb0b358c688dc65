//! Finds the wiki's API key, and reads a new one while the server runs.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;

use super::file::{File, first};
use super::file_trust::{FileStamp, readable_by_others, stamp_of, why_unread};
use super::{Origin, SettingError, SettingsSource, token_command};
use crate::private_files::open_at_once;
use crate::site::SiteName;
use crate::wiki::{ApiKey, KeySetting};

const NAME: &str = KeySetting::Token.name();
const FILE: &str = KeySetting::File.name();
const COMMAND: &str = KeySetting::Command.name();

/// The settings that give the key; of those in one layer, one alone may be set.
pub(super) const SETTINGS: [&str; 3] = [NAME, FILE, COMMAND];

/// The largest file of a key, in bytes.
const MOST: u64 = 64 << 10;

/// The source of the wiki's API key.
#[derive(Debug, Clone)]
pub struct KeySource {
    setting: KeySetting,
    /// The setting's name in the layer that sets it.
    name: String,
    place: KeyLocation,
    /// The least time between two checks of the key's file.
    pub apart: Duration,
}

/// The least time between two checks of a key's file.
const APART: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
enum KeyLocation {
    /// The environment, or a source that can be read only once.
    Fixed,
    /// A file that holds the key alone.
    File(PathBuf),
    /// The settings file itself, and the site whose table holds the key.
    Settings(PathBuf, Option<SiteName>),
    /// The output of a command.
    Command(Vec<String>),
}

impl KeySource {
    /// The setting's name in the layer that sets it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Advice on where to put a new key, and if that needs a restart.
    pub fn advice(&self) -> String {
        let name = &self.name;
        let place = match self.place {
            KeyLocation::Fixed => {
                return format!("{}, and restart the server", KeySetting::Token.place(name));
            }
            KeyLocation::File(_) => KeySetting::File.place(name),
            KeyLocation::Settings(..) => format!("put it into the settings file as {name}"),
            KeyLocation::Command(_) => KeySetting::Command.place(name),
        };
        format!("{place}; it is taken without a restart")
    }

    /// True if the source can give another key later.
    pub fn can_change(&self) -> bool {
        !matches!(self.place, KeyLocation::Fixed)
    }

    /// True if reading the key runs a command.
    pub(crate) fn is_command(&self) -> bool {
        matches!(self.place, KeyLocation::Command(_))
    }

    /// The state of the source's file, if there is one.
    pub(crate) fn stamp(&self) -> Option<FileStamp> {
        let (KeyLocation::File(path) | KeyLocation::Settings(path, _)) = &self.place else {
            return None;
        };
        fs::metadata(path).ok().as_ref().map(stamp_of)
    }

    /// Reads the current key; `None` if the source cannot change. Blocks for as long as a key's
    /// command may take.
    ///
    /// # Errors
    /// One line that names the setting and holds no part of the key.
    pub(crate) fn read(&self) -> Option<Result<ApiKey, String>> {
        let told = |fault: SettingError| format!("{} {}", self.name, fault.fault);
        let text = match &self.place {
            KeyLocation::Fixed => return None,
            KeyLocation::File(path) => read_file(path).map(|(text, _)| text).map_err(told),
            KeyLocation::Settings(path, site) => from_settings(path, site.as_ref()),
            KeyLocation::Command(command) => token_command::run(command, token_command::LIMIT)
                .map_err(|fault| format!("{} {fault}", self.name)),
        };
        Some(text.and_then(|text| parse(self.setting, text).map_err(told)))
    }
}

/// The settings that give the key: those set in the topmost layer that sets any.
pub(super) fn settings_of_key(source: &SettingsSource<'_>) -> Vec<&'static str> {
    source.topmost(&SETTINGS)
}

/// The key and its source; adds warnings about the key's file to `warnings`.
pub(super) fn key(
    source: &SettingsSource<'_>,
    warnings: &mut Vec<String>,
) -> Result<(ApiKey, KeySource), SettingError> {
    let set = settings_of_key(source);
    let texts: Vec<_> = set
        .iter()
        .map(|name| Ok((*name, source.filled(name)?)))
        .collect::<Result<_, _>>()?;
    let (setting, key, place) = match &*texts {
        [(NAME, Some(key))] => {
            let place = match source.origin(NAME) {
                Origin::File { path, site, .. } => KeyLocation::Settings(path, site),
                Origin::Default | Origin::Environment | Origin::Flag => KeyLocation::Fixed,
            };
            (KeySetting::Token, key.clone(), place)
        }
        [(FILE, Some(path))] => {
            let path = PathBuf::from(path);
            let (text, metadata) = read_file(&path)?;
            warnings.extend(readable_by_others(FILE, &metadata));
            // A pipe can be read only once.
            let place = if metadata.is_file() {
                KeyLocation::File(path)
            } else {
                KeyLocation::Fixed
            };
            (KeySetting::File, text, place)
        }
        [(COMMAND, _)] => {
            let command = source.values(COMMAND);
            let key = token_command::run(command, token_command::LIMIT)
                .map_err(|fault| SettingError::new(COMMAND, fault))?;
            (
                KeySetting::Command,
                key,
                KeyLocation::Command(command.to_vec()),
            )
        }
        [(first, _), (second, _), ..] => {
            let first = source.origin(first).name_of(first);
            let fault = format!("is set beside {first}; leave one of them out");
            return Err(SettingError::new(second, fault));
        }
        _ => {
            return Err(if source.site.is_some() {
                SettingError::new(
                    NAME,
                    "is missing; a site's key is never inherited, so give it its own (or api_token_file, or token_command)",
                )
            } else {
                SettingError::lacking(
                    NAME,
                    "is missing; it must be an API key of the wiki (or set WIKI_API_TOKEN_FILE)",
                )
            });
        }
    };
    let source = KeySource {
        setting,
        name: source.origin(setting.name()).name_of(setting.name()),
        place,
        apart: APART,
    };
    Ok((parse(setting, key)?, source))
}

fn parse(setting: KeySetting, key: String) -> Result<ApiKey, SettingError> {
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(SettingError::new(
            setting.name(),
            "must hold a key: letters, digits and signs without spaces",
        ));
    }
    Ok(ApiKey::new(SecretString::from(key)).of_setting(setting))
}

fn read_file(path: &Path) -> Result<(String, fs::Metadata), SettingError> {
    let unreadable = |error: std::io::Error| {
        // The message leaves the name out: somebody may have set the key itself instead of a file.
        let why = why_unread(error.kind());
        SettingError::new(FILE, format!("names a file that cannot be read: {why}"))
    };
    let file = open_at_once(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    let mut text = String::new();
    file.take(MOST)
        .read_to_string(&mut text)
        .map_err(unreadable)?;
    Ok((text.trim().to_owned(), metadata))
}

fn from_settings(path: &Path, site: Option<&SiteName>) -> Result<String, String> {
    let file = File::read(path, true).map_err(|faults| first(&faults))?;
    let entry = file.as_ref().and_then(|file| match site {
        Some(site) => file.site(site)?.get(NAME),
        None => file.get(NAME),
    });
    let text = entry.and_then(|entry| entry.values.first());
    Ok(text.map_or("", String::as_str).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::ffi::OsString;
    use std::fs;

    use super::{KeySource, key};
    use crate::config::SettingsSource;

    fn source_of(pairs: &[(&str, &str)]) -> KeySource {
        let map: HashMap<&str, &str> = pairs.iter().copied().collect();
        let get = |name: &str| map.get(name).map(OsString::from);
        key(&SettingsSource::new(&get), &mut Vec::new())
            .expect("a key")
            .1
    }

    #[test]
    fn a_key_of_the_environment_stays_and_one_of_a_file_is_read_again() {
        let fixed = source_of(&[("WIKI_API_TOKEN", "abc")]);
        assert!(!fixed.can_change() && fixed.read().is_none());
        assert_eq!(
            fixed.advice(),
            "set it as WIKI_API_TOKEN, and restart the server"
        );
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("key");
        fs::write(&path, "abc\n").expect("a file");
        let file = source_of(&[("WIKI_API_TOKEN_FILE", path.to_str().expect("UTF-8"))]);
        assert!(file.can_change() && !file.is_command());
        let before = file.stamp();
        fs::write(&path, "another-key\n").expect("a file");
        assert!(file.stamp() != before);
        assert!(file.read().expect("a file").is_ok());
        for (text, fault) in [
            ("", "WIKI_API_TOKEN_FILE must hold a key"),
            ("two sesame", "WIKI_API_TOKEN_FILE must hold a key"),
        ] {
            fs::write(&path, text).expect("a file");
            let told = file.read().expect("a file").expect_err("no key");
            assert!(
                told.starts_with(fault) && !told.contains("sesame"),
                "{told}"
            );
        }
        fs::remove_file(&path).expect("a file");
        let told = file.read().expect("a file").expect_err("no file");
        assert!(
            told.starts_with("WIKI_API_TOKEN_FILE names a file"),
            "{told}"
        );
    }
}
