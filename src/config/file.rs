//! The settings file: TOML, one table, the settings' names in lower case without `WIKI_`.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file_trust::{is_open_to_others, read_trusted_text};
use super::setting::{InSite, Setting, SettingKind};
use super::tables::{self, TABLES, Tables};
use super::{SETTINGS, sites};
use crate::nearest::{did_you_mean, nearest};
use crate::site::SiteName;

/// The largest settings file, in bytes.
const MOST: u64 = 1 << 20;

/// The contents of a settings file.
#[derive(Clone)]
pub(super) struct File {
    pub(super) path: PathBuf,
    entries: Vec<FileSetting>,
    /// Its sites, in the order of the file.
    pub(super) sites: Vec<SiteEntries>,
    /// The site to use if none is named.
    pub(super) default_site: Option<SiteName>,
    /// Its rules and checks.
    pub(super) tables: Tables,
    /// A warning about the file.
    pub(super) warning: Option<String>,
}

/// One setting of the file. It may hold a key, and so has no `Debug`.
#[derive(Clone)]
pub(super) struct FileSetting {
    name: &'static str,
    /// The value, or the parts of a list or command.
    pub(super) values: Vec<String>,
    /// True if the file gives the value as an array.
    pub(super) is_array: bool,
    pub(super) line: usize,
}

/// The settings of one site in a settings file.
#[derive(Clone)]
pub(super) struct SiteEntries {
    pub(super) name: SiteName,
    entries: Vec<FileSetting>,
    pub(super) line: usize,
}

impl SiteEntries {
    /// The entry for a setting.
    pub(super) fn get(&self, name: &str) -> Option<&FileSetting> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

/// The first of some faults, in a line.
pub(super) fn first(faults: &[impl ToString]) -> String {
    faults.first().map_or_else(String::new, ToString::to_string)
}

impl File {
    /// Reads a file; `None` if it does not exist and was not asked for.
    ///
    /// # Errors
    /// Every fault that is found without knowing the other layers.
    pub(super) fn read(path: &Path, is_asked_for: bool) -> Result<Option<Self>, Vec<String>> {
        let read = Self::read_in_part(path, is_asked_for)?;
        read.map(without_faults).transpose()
    }

    /// Reads as much of a file as can be understood, and what is wrong with the rest.
    ///
    /// # Errors
    /// Why nothing of it can be understood or trusted.
    pub(super) fn read_in_part(
        path: &Path,
        is_asked_for: bool,
    ) -> Result<Option<(Self, Vec<String>)>, Vec<String>> {
        let whole = |fault: String| vec![format!("the settings file {} {fault}", path.display())];
        let is_missing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
        if !is_asked_for && std::fs::metadata(path).is_err_and(is_missing) {
            return Ok(None);
        }
        let (text, metadata) = read_trusted_text(path, MOST).map_err(whole)?;
        if u64::try_from(text.len()).is_ok_and(|size| size >= MOST) {
            // The part that was not read could close a gate.
            return Err(whole("is too large".to_owned()));
        }
        let (mut file, faults) = Self::parse_in_part(path, &text)?;
        let of_sites = file.sites.iter().flat_map(|site| &site.entries);
        let holds_secret = file.entries.iter().chain(of_sites).any(|entry| {
            Setting::named(entry.name).is_some_and(|setting| setting.kind == SettingKind::Secret)
        });
        if holds_secret && is_open_to_others(&metadata) {
            file.warning = Some(format!(
                "the settings file {} holds a key or token and may be read by others than its owner; take that away with chmod 600",
                path.display()
            ));
        }
        Ok(Some((file, faults)))
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// Every fault that is found without knowing the other layers.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, Vec<String>> {
        without_faults(Self::parse_in_part(path, text)?)
    }

    fn parse_in_part(path: &Path, text: &str) -> Result<(Self, Vec<String>), Vec<String>> {
        let fault_at = |span: Option<Range<usize>>, fault: String| {
            let line = line_of(text, span.map_or(0, |span| span.start));
            format!("{}:{line}: {fault}", path.display())
        };
        // The parser's own display would show the line, and with it a key.
        let table = DeTable::parse(text).map_err(|error| {
            vec![fault_at(
                error.span(),
                format!("no TOML: {}", error.message()),
            )]
        })?;
        let mut entries = Vec::new();
        let (tables, found) = tables::read(table.get_ref(), path);
        let found = found.into_iter().map(|(at, fault)| fault_at(at, fault));
        let mut faults: Vec<String> = found.collect();
        let mut sift =
            |key: &Spanned<_>, value, entries: &mut Vec<FileSetting>, in_site| match entry(
                text, key, value, path, in_site,
            ) {
                Ok(entry) => entries.push(entry),
                Err(fault) => faults.push(fault_at(Some(key.span()), fault)),
            };
        for (key, value) in table.get_ref() {
            if !TABLES.contains(&&**key.get_ref()) {
                sift(key, value, &mut entries, false);
            }
        }
        let mut sites = Vec::new();
        let (found, default_site, more) = sites::read(table.get_ref());
        for (name, span, members) in found {
            let mut own = Vec::new();
            for (key, value) in members {
                sift(key, value, &mut own, true);
            }
            sites.push(SiteEntries {
                name,
                entries: own,
                line: line_of(text, span.start),
            });
        }
        faults.extend(more.into_iter().map(|(at, fault)| fault_at(at, fault)));
        let file = Self {
            path: path.to_owned(),
            entries,
            sites,
            default_site,
            tables,
            warning: None,
        };
        Ok((file, faults))
    }

    /// The entry for a setting.
    pub(super) fn get(&self, name: &str) -> Option<&FileSetting> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The entries of a site.
    pub(super) fn site(&self, name: &SiteName) -> Option<&SiteEntries> {
        self.sites.iter().find(|site| site.name == *name)
    }
}

fn without_faults((file, faults): (File, Vec<String>)) -> Result<File, Vec<String>> {
    if faults.is_empty() {
        Ok(file)
    } else {
        Err(faults)
    }
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("File").field(&self.path).finish()
    }
}

fn line_of(text: &str, at: usize) -> usize {
    let before = text.bytes().take(at);
    before
        .filter(|byte| *byte == b'\n')
        .count()
        .saturating_add(1)
}

/// One member of the file, or of a site in it.
fn entry(
    text: &str,
    key: &Spanned<Cow<'_, str>>,
    value: &Spanned<DeValue<'_>>,
    file: &Path,
    in_site: bool,
) -> Result<FileSetting, String> {
    let line = line_of(text, key.span().start);
    let key = &**key.get_ref();
    let Some(setting) = SETTINGS.iter().find(|setting| setting.file_name() == key) else {
        let tables = TABLES.into_iter().map(str::to_owned);
        let names = SETTINGS.iter().map(Setting::file_name).chain(tables);
        let near = nearest(key, names, 0.7);
        return Err(format!("{key:?} is no setting{}", did_you_mean(near)));
    };
    if in_site && setting.in_site == InSite::Server {
        return Err(format!(
            "{key} holds for the whole server; it stands before the tables of sites"
        ));
    }
    let mut values =
        values(setting.kind, value.get_ref()).map_err(|fault| format!("{key} {fault}"))?;
    let is_array = value.get_ref().is_array();
    let is_path = |first: &str| match setting.kind {
        SettingKind::Path => !first.trim().is_empty(),
        SettingKind::PathOrCommand if !is_array => !first.trim().is_empty(),
        SettingKind::Command | SettingKind::PathOrCommand => first.contains('/'),
        _ => false,
    };
    // Relative paths start at the file's directory, never at the one in which a client starts us.
    if let Some(first) = values.first_mut().filter(|first| is_path(first)) {
        let dir = file.parent().unwrap_or(Path::new(""));
        *first = dir.join(&*first).to_string_lossy().into_owned();
    }
    Ok(FileSetting {
        name: setting.name,
        values,
        is_array,
        line,
    })
}

fn values(kind: SettingKind, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let texts = |items: &toml::de::DeArray<'_>| -> Option<Vec<String>> {
        let items = items.iter().map(|item| item.get_ref().as_str());
        items.map(|item| item.map(str::to_owned)).collect()
    };
    let found = match (kind, value) {
        (SettingKind::Flag, DeValue::Boolean(is)) => Some(vec![is.to_string()]),
        (SettingKind::Number(..), DeValue::Integer(number)) => {
            i64::from_str_radix(number.as_str(), number.radix())
                .ok()
                .map(|number| vec![number.to_string()])
        }
        (SettingKind::List, DeValue::Array(items)) => {
            texts(items).filter(|texts| !texts.iter().any(|text| text.contains(',')))
        }
        (SettingKind::Command | SettingKind::PathOrCommand, DeValue::Array(items)) => {
            texts(items).filter(|texts| texts.first().is_some_and(|program| !program.is_empty()))
        }
        (
            SettingKind::Text
            | SettingKind::Secret
            | SettingKind::Path
            | SettingKind::PathOrCommand
            | SettingKind::Choice(_)
            | SettingKind::List,
            DeValue::String(text),
        ) => Some(vec![text.to_string()]),
        _ => None,
    };
    found.ok_or_else(|| match kind {
        SettingKind::Flag => "must be true or false, without quotes".to_owned(),
        SettingKind::Number(least, most) => {
            format!("must be a whole number from {least} to {most}, without quotes")
        }
        SettingKind::List => "must be an array of texts without commas, or one text".to_owned(),
        SettingKind::Command => {
            "must be a program and its arguments, such as [\"pass\", \"wiki\"]".to_owned()
        }
        SettingKind::PathOrCommand => {
            "must be a file in quotes, or a program and its arguments, such as [\"logger\", \"-t\", \"wiki\"]".to_owned()
        }
        SettingKind::Text | SettingKind::Secret | SettingKind::Path | SettingKind::Choice(_) => {
            "must be a text in quotes".to_owned()
        }
    })
}
