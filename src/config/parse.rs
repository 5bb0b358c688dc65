//! Reads single values, strictly, from the layers.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::file::{File, FileSetting, SiteEntries};
use super::setting::{InSite, Setting, SettingKind};
use super::tables::Tables;
use crate::checks::CheckCommand;
use crate::notify::NotifyTo;
use crate::page::Prefix;
use crate::site::SiteName;
use crate::words::joined;

/// An error in a setting that stops the start: one line that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingError {
    /// The setting.
    pub name: &'static str,
    /// The fault, and what is allowed.
    pub fault: String,
    /// The origin of its value.
    pub origin: Origin,
    /// True if nothing is set wrongly, but no layer gives what every wiki needs: its address, its key, a
    /// place for the log.
    pub lacks: bool,
}

impl SettingError {
    pub(super) fn new(name: &'static str, fault: impl Into<String>) -> Self {
        Self {
            name,
            fault: fault.into(),
            origin: Origin::Default,
            lacks: false,
        }
    }

    /// What every wiki needs is set nowhere.
    pub(super) fn lacking(name: &'static str, fault: impl Into<String>) -> Self {
        Self {
            lacks: true,
            ..Self::new(name, fault)
        }
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Origin::File { path, line, .. } = &self.origin {
            write!(f, "{}:{line}: ", path.display())?;
        }
        write!(f, "{} {}", self.origin.name_of(self.name), self.fault)
    }
}

impl std::error::Error for SettingError {}

/// The layer that a value comes from. A later variant wins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The value is not set.
    Default,
    /// A line of the settings file, counted from 1.
    File {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The site whose table holds the value.
        site: Option<SiteName>,
    },
    /// The environment.
    Environment,
    /// The command line.
    Flag,
}

impl Origin {
    /// True if the value is in the table of a site.
    pub(super) const fn is_of_site(&self) -> bool {
        matches!(self, Self::File { site: Some(_), .. })
    }

    /// The setting's name in this layer.
    pub fn name_of(&self, name: &str) -> String {
        let setting = Setting::named(name);
        let other = match self {
            Self::Default | Self::Environment => None,
            Self::File { site, .. } => setting.map(|setting| match site {
                Some(site) => format!("sites.{site}.{}", setting.file_name()),
                None => setting.file_name(),
            }),
            Self::Flag => setting
                .and_then(Setting::flag)
                .map(|flag| format!("--{flag}")),
        };
        other.unwrap_or_else(|| name.to_owned())
    }
}

/// The layers of settings: flags before the environment before a settings file. In tests, a map
/// stands for the environment.
pub struct SettingsSource<'a> {
    pub(super) flags: &'a [(&'static str, String)],
    pub(super) get: &'a dyn Fn(&str) -> Option<OsString>,
    pub(super) file: Option<&'a File>,
    /// The site whose settings these are.
    pub(super) site: Option<&'a SiteEntries>,
}

impl<'a> SettingsSource<'a> {
    /// Settings only from a function in place of the environment.
    pub const fn new(get: &'a dyn Fn(&str) -> Option<OsString>) -> Self {
        Self {
            flags: &[],
            get,
            file: None,
            site: None,
        }
    }

    /// The server's own settings, without those of the site.
    pub(super) const fn of_server(&self) -> Self {
        Self {
            site: None,
            ..*self
        }
    }

    /// The layer that a value comes from.
    pub(super) fn origin(&self, name: &str) -> Origin {
        let in_file = |entry: &FileSetting, site| {
            self.file.map_or(Origin::Default, |file| Origin::File {
                path: file.path.clone(),
                line: entry.line,
                site,
            })
        };
        if let Some((site, entry)) = self.of_site(name) {
            return in_file(entry, Some(site.name.clone()));
        }
        if self.is_sites_alone(name) {
            return Origin::Default;
        }
        if self.flags.iter().any(|(flag, _)| *flag == name) {
            return Origin::Flag;
        }
        if self.variable(name).is_some() {
            return Origin::Environment;
        }
        match self.file.and_then(|file| file.get(name)) {
            Some(entry) => in_file(entry, None),
            None => Origin::Default,
        }
    }

    /// The site's own entry for a setting.
    fn of_site(&self, name: &str) -> Option<(&'a SiteEntries, &'a FileSetting)> {
        let site = self.site?;
        Some((site, site.get(name)?))
    }

    /// True if only the site's own table may set it.
    fn is_sites_alone(&self, name: &str) -> bool {
        let how = Setting::named(name).map(|setting| setting.in_site);
        self.site.is_some() && matches!(how, Some(InSite::Own | InSite::Narrower))
    }

    /// The settings file's entry: the site's own, or the server's if the site may inherit it.
    fn entry(&self, name: &str) -> Option<&'a FileSetting> {
        match self.of_site(name) {
            Some((_, entry)) => Some(entry),
            None if self.is_sites_alone(name) => None,
            None => self.file?.get(name),
        }
    }

    /// Adds the origin of its value to a fault. If a site lacks the value, the origin is its table.
    pub(super) fn placed(&self, fault: SettingError) -> SettingError {
        let origin = match (self.origin(fault.name), self.file, self.site) {
            (Origin::Default, Some(file), Some(site)) if self.is_sites_alone(fault.name) => {
                Origin::File {
                    path: file.path.clone(),
                    line: site.line,
                    site: Some(site.name.clone()),
                }
            }
            (origin, ..) => origin,
        };
        SettingError { origin, ..fault }
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        let is_its = Setting::named(name).is_none_or(Setting::is_in_environment);
        is_its.then(|| (self.get)(name)).flatten()
    }

    /// A value, if it is set at all.
    pub(super) fn text(&self, name: &'static str) -> Result<Option<String>, SettingError> {
        let in_file = || self.entry(name).map(|entry| entry.values.join(","));
        if self.is_sites_alone(name) || self.of_site(name).is_some() {
            return Ok(in_file());
        }
        if let Some((_, value)) = self.flags.iter().find(|(flag, _)| *flag == name) {
            return Ok(Some(value.clone()));
        }
        if let Some(value) = self.variable(name) {
            let text = value.into_string().map(Some);
            return text.map_err(|_| SettingError::new(name, "must be UTF-8 text"));
        }
        Ok(in_file())
    }

    /// The parts of a list or command of the settings file.
    pub(super) fn values(&self, name: &str) -> &'a [String] {
        self.entry(name).map_or(&[], |entry| &entry.values)
    }

    /// The parts of an array in the settings file, if no later layer sets the value. Tells a
    /// command from the other form of a setting that takes either.
    pub(super) fn array(&self, name: &str) -> Option<&'a [String]> {
        let entry = self.entry(name);
        let entry = entry.filter(|entry| entry.is_array && self.rank(name) == 1);
        entry.map(|entry| entry.values.as_slice())
    }

    /// The variables of our own environment that a command gets.
    pub(super) fn passed_on(&self) -> Vec<(&'static str, OsString)> {
        let passed_on = CheckCommand::PASSED_ON.into_iter();
        passed_on
            .filter_map(|name| Some((name, (self.get)(name)?)))
            .collect()
    }

    /// The rules and checks of the settings file; without a file, the built-in rules.
    pub fn tables(&self) -> Tables {
        let tables = self.file.map(|file| file.tables.clone());
        let mut tables = tables.unwrap_or_default();
        for check in &mut tables.checks {
            check.environment = self.passed_on();
        }
        for target in &mut tables.notify {
            if let NotifyTo::Command(command) = &mut target.to {
                command.environment = self.passed_on();
            }
        }
        tables
    }

    /// Of alternative settings, those set in the topmost layer that sets any. Lower layers are
    /// ignored.
    pub(super) fn topmost(&self, names: &[&'static str]) -> Vec<&'static str> {
        let top = names.iter().map(|name| self.rank(name)).max();
        let top = top.filter(|rank| *rank > 0);
        let set = names.iter().filter(|name| Some(self.rank(name)) == top);
        set.copied().collect()
    }

    fn rank(&self, name: &str) -> u8 {
        match self.origin(name) {
            Origin::Default => 0,
            Origin::File { .. } => 1,
            Origin::Environment => 2,
            Origin::Flag => 3,
        }
    }

    /// A value that must not be empty if it is set.
    pub(super) fn filled(&self, name: &'static str) -> Result<Option<String>, SettingError> {
        match self.text(name)? {
            Some(text) if text.trim().is_empty() => Err(SettingError::new(
                name,
                "is set but empty; give it a value or leave it out",
            )),
            Some(text) => Ok(Some(text.trim().to_owned())),
            None => Ok(None),
        }
    }

    /// The same as a file or directory.
    pub(super) fn path(&self, name: &'static str) -> Result<Option<PathBuf>, SettingError> {
        Ok(self.filled(name)?.map(PathBuf::from))
    }

    /// The same as what a function reads of it.
    pub(super) fn parsed<T, F: Into<String>>(
        &self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, F>,
    ) -> Result<Option<T>, SettingError> {
        let read = self.filled(name)?.map(|text| parse(&text)).transpose();
        read.map_err(|fault| SettingError::new(name, fault))
    }

    /// A value that must not be empty, or the setting's default if it is not set.
    pub(super) fn or_default(&self, name: &'static str) -> Result<Option<String>, SettingError> {
        let default = || Setting::named(name).and_then(Setting::default_value);
        Ok(self.filled(name)?.or_else(|| default().map(str::to_owned)))
    }

    /// A value that must be one of its setting's words; `None` if it is not set and has no default.
    pub(super) fn choice(&self, name: &'static str) -> Result<Option<&'static str>, SettingError> {
        self.or_default(name)?
            .map(|text| choose(name, &text))
            .transpose()
    }

    pub(super) fn flag(&self, name: &'static str) -> Result<bool, SettingError> {
        let text = self.or_default(name)?.unwrap_or_default();
        match text.to_lowercase().as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(SettingError::new(name, "must be true or false")),
        }
    }

    /// A number within its setting's range.
    pub(super) fn number(&self, name: &'static str) -> Result<u32, SettingError> {
        let text = self.or_default(name)?.unwrap_or_default();
        let (least, most) = match Setting::named(name).map(|setting| setting.kind) {
            Some(SettingKind::Number(least, most)) => (least, most),
            _ => (0, u32::MAX),
        };
        text.parse()
            .ok()
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| {
                let fault = format!("must be a whole number from {least} to {most}");
                SettingError::new(name, fault)
            })
    }

    pub(super) fn millis(&self, name: &'static str) -> Result<Duration, SettingError> {
        self.number(name).map(|ms| Duration::from_millis(ms.into()))
    }

    pub(super) fn prefixes(&self, name: &'static str) -> Result<Option<Vec<Prefix>>, SettingError> {
        let parse = |part: &str| {
            let prefix = Prefix::parse(part);
            prefix.map_err(|fault| format!("has {:?}, which {fault}", part.trim()))
        };
        self.parsed(name, |text| {
            text.split(',').map(parse).collect::<Result<_, _>>()
        })
    }
}

/// The faults of all readers, each with the origin of its value.
pub(super) struct SettingFaults<'a> {
    pub(super) source: &'a SettingsSource<'a>,
    pub(super) found: Vec<SettingError>,
}

impl<'a> SettingFaults<'a> {
    pub(super) const fn new(source: &'a SettingsSource<'a>) -> Self {
        Self {
            source,
            found: Vec::new(),
        }
    }

    pub(super) fn sift<T>(&mut self, read: Result<T, SettingError>) -> Option<T> {
        let fault = match read {
            Ok(value) => return Some(value),
            Err(fault) => self.source.placed(fault),
        };
        // Several readers need the place of the log.
        if !self.found.contains(&fault) {
            self.found.push(fault);
        }
        None
    }
}

/// One of a setting's words.
pub(super) fn choose(name: &'static str, text: &str) -> Result<&'static str, SettingError> {
    let words: &[&str] = match Setting::named(name).map(|setting| setting.kind) {
        Some(SettingKind::Choice(words)) => words,
        _ => &[],
    };
    words
        .iter()
        .find(|word| **word == text)
        .copied()
        .ok_or_else(|| SettingError::new(name, format!("must be {}", joined(words, "or"))))
}
