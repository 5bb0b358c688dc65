//! Reading single values, strictly.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::page::Prefix;

/// Why a setting stops the start: one line that names it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} {fault}")]
pub struct SettingError {
    /// The setting.
    pub name: &'static str,
    /// What is wrong with it, and what is allowed.
    pub fault: String,
}

impl SettingError {
    pub(super) fn new(name: &'static str, fault: impl Into<String>) -> Self {
        Self {
            name,
            fault: fault.into(),
        }
    }
}

/// Where settings come from: the environment, or a map in tests.
pub struct Source<'a> {
    get: &'a dyn Fn(&str) -> Option<OsString>,
}

impl<'a> Source<'a> {
    /// Settings from a function.
    #[must_use]
    pub const fn new(get: &'a dyn Fn(&str) -> Option<OsString>) -> Self {
        Self { get }
    }

    /// A value, if it is set at all.
    pub(super) fn text(&self, name: &'static str) -> Result<Option<String>, SettingError> {
        (self.get)(name)
            .map(|value| {
                value
                    .into_string()
                    .map_err(|_| SettingError::new(name, "must be UTF-8 text"))
            })
            .transpose()
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

    pub(super) fn flag(&self, name: &'static str, default: bool) -> Result<bool, SettingError> {
        match self
            .filled(name)?
            .map(|text| text.to_lowercase())
            .as_deref()
        {
            None => Ok(default),
            Some("true" | "1") => Ok(true),
            Some("false" | "0") => Ok(false),
            Some(_) => Err(SettingError::new(name, "must be true or false")),
        }
    }

    pub(super) fn number(
        &self,
        name: &'static str,
        default: u32,
        range: RangeInclusive<u32>,
    ) -> Result<u32, SettingError> {
        let Some(text) = self.filled(name)? else {
            return Ok(default);
        };
        text.parse()
            .ok()
            .filter(|number| range.contains(number))
            .ok_or_else(|| {
                SettingError::new(
                    name,
                    format!(
                        "must be a whole number from {} to {}",
                        range.start(),
                        range.end()
                    ),
                )
            })
    }

    pub(super) fn millis(
        &self,
        name: &'static str,
        default: u32,
        range: RangeInclusive<u32>,
    ) -> Result<Duration, SettingError> {
        self.number(name, default, range)
            .map(|ms| Duration::from_millis(ms.into()))
    }

    pub(super) fn prefixes(&self, name: &'static str) -> Result<Option<Vec<Prefix>>, SettingError> {
        let Some(text) = self.filled(name)? else {
            return Ok(None);
        };
        text.split(',')
            .map(|part| {
                Prefix::parse(part).map_err(|fault| {
                    SettingError::new(name, format!("has {:?}, which {fault}", part.trim()))
                })
            })
            .collect::<Result<_, _>>()
            .map(Some)
    }
}
