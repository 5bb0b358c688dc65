//! What the site is set to: its locales, its search engine.

use super::client::Wiki;
use super::error::WikiError;
use super::operations::{SearchEngines, localization_config, search_engines};
use crate::page::Locale;

/// The locales that pages can be in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteLocales {
    /// The site's own.
    pub primary: Locale,
    /// All of them.
    pub all: Vec<Locale>,
}

impl SiteLocales {
    /// Reads the answer; a site without namespaces has one locale alone.
    pub(super) fn of(data: localization_config::ResponseData) -> Result<Self, WikiError> {
        let config = data.localization.and_then(|site| site.config);
        let config = config.ok_or_else(|| WikiError::Malformed {
            at: "data.localization".to_owned(),
        })?;
        let primary = Locale::as_stored(config.locale);
        let others = config.namespaces.into_iter().flatten();
        let mut all: Vec<Locale> = others
            .filter(|_| config.namespacing)
            .map(Locale::as_stored)
            .collect();
        if !all.contains(&primary) {
            all.insert(0, primary.clone());
        }
        Ok(Self { primary, all })
    }
}

impl Wiki {
    /// The key of the search engine that is on, if one is.
    ///
    /// # Errors
    /// [`WikiError::Forbidden`] for every key without manage:system: measured on 2.5.314.
    pub async fn search_engine(&self) -> Result<Option<String>, WikiError> {
        let data = self
            .query::<SearchEngines>(search_engines::Variables)
            .await?;
        let engines = data.search.and_then(|search| search.search_engines);
        let mut engines = engines.into_iter().flatten().flatten();
        Ok(engines
            .find(|engine| engine.is_enabled)
            .map(|engine| engine.key))
    }
}
