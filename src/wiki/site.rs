//! What the site is set to: its locales, its search engine.

use std::time::{Duration, Instant};

use super::client::Wiki;
use super::error::WikiError;
use super::operations::{LocalizationConfig, SearchEngines, localization_config, search_engines};
use crate::page::{LinkedSite, Locale};

/// How long it is believed which locales the site has.
const LIFE: Duration = Duration::from_mins(10);

/// The locales that pages can be in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteLocales {
    /// The site's own.
    pub primary: Locale,
    /// All of them.
    pub all: Vec<Locale>,
    /// Whether the addresses of pages begin with a locale.
    pub has_namespaces: bool,
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
        Ok(Self {
            primary,
            all,
            has_namespaces: config.namespacing,
        })
    }
}

impl Wiki {
    /// Whether pages may be in other locales than the configured one: as the pages show that were
    /// listed in the last minute, or as the site says, which is asked once in ten minutes.
    pub async fn has_other_locales(&self) -> bool {
        let own = &self.settings.default_locale;
        let is_other = |locale: &Locale| locale != own;
        if let Some(kept) = self.kept_pages().await {
            return kept.iter().any(|page| is_other(&page.locale));
        }
        self.locales().await.iter().any(is_other)
    }

    /// The locales of the site, requested once in ten minutes; none if the site does not list them.
    pub async fn locales(&self) -> Vec<Locale> {
        match self.site_locales().await {
            Ok(site) => site.all,
            Err(error) => {
                tracing::debug!(%error, "the locales of the site could not be read");
                Vec::new()
            }
        }
    }

    /// The settings that decide where links lead, except `absoluteLinks`, which the wiki shows only
    /// with manage:system.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn linked_site(&self) -> Result<LinkedSite, WikiError> {
        let site = self.site_locales().await?;
        Ok(LinkedSite {
            address: self.settings.base_url.clone(),
            locale: site.primary,
            has_namespaces: site.has_namespaces,
            relative_from_root: false,
        })
    }

    async fn site_locales(&self) -> Result<SiteLocales, WikiError> {
        let keyed = self.keyed();
        let mut known = keyed.locales.lock().await;
        if let Some((at, locales)) = &*known
            && at.elapsed() < LIFE
        {
            return Ok(locales.clone());
        }
        let data = self
            .query::<LocalizationConfig>(localization_config::Variables)
            .await;
        let site = data.and_then(SiteLocales::of)?;
        *known = Some((Instant::now(), site.clone()));
        Ok(site)
    }

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
