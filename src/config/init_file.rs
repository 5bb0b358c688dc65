//! A new settings file.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use serde_json::json;

use super::file::{File, first};
use super::layers::environment;
use super::{SETTINGS, Setting, SettingKind, Settings, SettingsSource, log_settings};
use crate::private_files;
use crate::site::SiteName;

/// The contents of a new settings file. It may hold a key, so it has no `Debug`.
#[derive(Clone, Default)]
pub struct InitFile {
    /// Names as in the environment, and values in TOML.
    values: Vec<(&'static str, String)>,
}

impl InitFile {
    /// Sets a value, written as in the environment or a flag. A command is split at spaces.
    ///
    /// # Errors
    /// A path is relative, and the current directory is gone.
    pub fn set(&mut self, name: &'static str, value: &str) -> io::Result<()> {
        let texts = |texts: Vec<&str>| json!(texts).to_string();
        let value = match Setting::named(name).map(|setting| setting.kind) {
            Some(SettingKind::Flag | SettingKind::Number(..))
                if value.bytes().all(|b| b.is_ascii_alphanumeric()) =>
            {
                value.to_owned()
            }
            Some(SettingKind::List) => texts(value.split(',').map(str::trim).collect()),
            Some(SettingKind::Command) => texts(value.split_whitespace().collect()),
            // A path is given relative to this directory, but read relative to the file.
            Some(SettingKind::Path | SettingKind::PathOrCommand) => {
                json!(std::path::absolute(value)?).to_string()
            }
            _ => json!(value).to_string(),
        };
        // JSON need not escape this character, but TOML must.
        let value = value.replace('\u{7f}', "\\u007F");
        self.values.push((name, value));
        Ok(())
    }

    /// Takes a setting's value away.
    pub fn unset(&mut self, name: &str) {
        self.values.retain(|(set, _)| *set != name);
    }

    /// True if a setting has a value.
    pub fn has(&self, name: &str) -> bool {
        self.values.iter().any(|(set, _)| *set == name)
    }

    /// The file's text: every setting with its meaning. Settings without a value are commented out.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# Settings of wikijs-gate. The environment (WIKI_…) and flags win over this file.\n\
             # Keep it to yourself: a file that others may write is refused.\n",
        );
        for setting in SETTINGS {
            let name = setting.file_name();
            let meaning = setting.meaning;
            let line = match self.values.iter().find(|(set, _)| *set == setting.name) {
                Some((_, value)) => format!("{name} = {value}"),
                None => format!("# {name} = {}", example(setting)),
            };
            text.push_str(&["\n# ", meaning, "\n", &line, "\n"].concat());
        }
        text
    }

    /// The table of a site with these values.
    pub(super) fn table_of(&self, site: &SiteName) -> String {
        let mut text = format!("[sites.{site}]\n");
        for (name, value) in &self.values {
            let name = Setting::named(name).map_or_else(String::new, Setting::file_name);
            text.push_str(&[&name, " = ", value, "\n"].concat());
        }
        text
    }

    /// Checks the file as a start would read it, without any other layer; returns the settings.
    ///
    /// # Errors
    /// The first fault that would stop the start, without a line: the file is not written yet.
    pub fn check(&self, path: &Path) -> Result<Settings, String> {
        self.read(path).map_err(|fault| {
            let place = format!("{}:", path.display());
            let rest = fault.strip_prefix(&place);
            let rest = rest.and_then(|rest| rest.split_once(": "));
            rest.map_or(fault.clone(), |(_, rest)| rest.to_owned())
        })
    }

    fn read(&self, path: &Path) -> Result<Settings, String> {
        let file = File::parse(path, &self.text()).map_err(|faults| first(&faults))?;
        let home_alone = |name: &str| -> Option<OsString> {
            environment(name).filter(|_| !name.starts_with("WIKI_"))
        };
        let source = SettingsSource {
            file: Some(&file),
            ..SettingsSource::new(&home_alone)
        };
        log_settings(&source, None).map_err(|fault| fault.to_string())?;
        Settings::read(&source).map_err(|fault| fault.to_string())
    }

    /// Writes the file, readable only by its owner, and makes missing directories.
    ///
    /// # Errors
    /// The file cannot be written, or exists and shall not be replaced.
    pub fn write(&self, path: &Path, replace: bool) -> io::Result<()> {
        if let Some(dir) = path.parent() {
            private_files::make_dirs(dir)?;
        }
        let text = self.text();
        if replace {
            let held = private_files::lock_to_replace(path);
            let _held = match held {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                held => Some(held?),
            };
            return private_files::replace(path, text.as_bytes());
        }
        private_files::make_whole(path, text.as_bytes())
    }
}

/// A value that a setting could have.
fn example(setting: &Setting) -> String {
    match (setting.kind, setting.default_value()) {
        (SettingKind::Flag | SettingKind::Number(..), Some(default)) => default.to_owned(),
        (SettingKind::List, Some(default)) => json!([default]).to_string(),
        (_, Some(default)) => json!(default).to_string(),
        (SettingKind::List | SettingKind::Command, None) => "[\"…\"]".to_owned(),
        (_, None) => "\"…\"".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{File, InitFile};
    use crate::config::SETTINGS;

    #[test]
    fn every_example_in_a_new_file_is_of_its_settings_type() {
        let text = InitFile::default().text();
        let example = |line: &str| {
            line.strip_prefix("# ")
                .filter(|line| line.contains(" = "))
                .map(str::to_owned)
        };
        let examples: Vec<String> = text.lines().filter_map(example).collect();
        assert_eq!(examples.len(), SETTINGS.len());
        assert!(File::parse(Path::new("x"), &examples.join("\n")).is_ok());
    }

    #[test]
    fn what_a_draft_is_given_is_what_the_file_says() {
        let value = "a \"quoted\" \\ ä \u{7f}\n text";
        let mut draft = InitFile::default();
        draft.set("WIKI_MUTATION_CONFIRM_TOKEN", value).unwrap();
        let file = File::parse(Path::new("x"), &draft.text());
        let file = file.map_err(|faults| faults[0].clone()).unwrap();
        let entry = file.get("WIKI_MUTATION_CONFIRM_TOKEN").unwrap();
        assert_eq!(entry.values, [value]);
    }

    #[test]
    fn the_old_file_stays_where_the_new_one_cannot_be_written() {
        let dir = tempfile::TempDir::new().unwrap();
        let (path, text) = (dir.path().join("config.toml"), InitFile::default().text());
        std::fs::write(&path, "old").unwrap();
        let taken = dir.path().join("config.toml.new");
        std::fs::create_dir(&taken).unwrap();
        assert!(InitFile::default().write(&path, true).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        std::fs::remove_dir(&taken).unwrap();
        InitFile::default().write(&path, true).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
