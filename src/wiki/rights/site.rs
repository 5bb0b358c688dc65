//! Reads the site's settings: its locales, its search engine.

use std::time::{Duration, Instant};

use super::super::operations::generated::{
    LocalizationConfig, SearchEngines, localization_config, search_engines,
};
use crate::error::Failure;
use crate::page::{LinkedSite, Locale, PageReading, escaped};
use crate::wiki::{Wiki, WikiError, WikiResult};
use crate::words::first_of;

/// Lifetime of the cached locales of the site.
const LIFE: Duration = Duration::from_mins(10);
/// The most locales that a message names.
const MOST_LOCALES: usize = 50;

/// The locales that pages can be in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteLocales {
    /// The site's own.
    pub primary: Locale,
    /// All of them.
    pub all: Vec<Locale>,
    /// Those that are installed: pages can be made in each of them, even where addresses have no
    /// locale.
    pub installed: Vec<Locale>,
    /// True if the addresses of pages begin with a locale.
    pub has_namespaces: bool,
}

impl SiteLocales {
    /// Reads the answer; a site without namespaces has one locale alone.
    pub(in crate::wiki) fn new(data: localization_config::ResponseData) -> WikiResult<Self> {
        let malformed = || WikiError::malformed("data.localization");
        let site = data.localization.ok_or_else(malformed)?;
        let config = site.config.ok_or_else(malformed)?;
        let known = site.locales.into_iter().flatten().flatten();
        let installed = known.filter(|locale| locale.is_installed);
        let mut installed: Vec<Locale> = installed
            .map(|locale| Locale::as_stored(locale.code))
            .collect();
        let primary = Locale::as_stored(config.locale);
        let others = config.namespaces.into_iter().flatten();
        let mut all: Vec<Locale> = others
            .filter(|_| config.namespacing)
            .map(Locale::as_stored)
            .collect();
        if !all.contains(&primary) {
            all.insert(0, primary.clone());
        }
        installed.sort();
        // A wiki that lists none tells at least those of its addresses.
        if installed.is_empty() {
            installed.clone_from(&all);
        }
        Ok(Self {
            primary,
            all,
            installed,
            has_namespaces: config.namespacing,
        })
    }
}

/// A locale that the wiki has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLocale {
    locale: Locale,
    /// Those that it has.
    known: Vec<Locale>,
    /// It is the configured default, so that the call itself need not have named it.
    is_default: bool,
}

impl From<UnknownLocale> for Failure {
    fn from(unknown: UnknownLocale) -> Self {
        let shown = |locale: &Locale| escaped(locale.as_str(), 20);
        let known: Vec<String> = unknown.known.iter().map(shown).collect();
        let message = format!(
            "The wiki has no locale {}; it has: {}.",
            shown(&unknown.locale),
            first_of(&known, MOST_LOCALES)
        );
        let failure = Self::of_argument("locale", message).detail("locales", known);
        if unknown.is_default {
            failure.hint("Name one of details.locales as locale. It is the default of this server: tell the user that WIKI_DEFAULT_LOCALE must be one of them.")
        } else {
            failure.hint("Name one of details.locales as locale.")
        }
    }
}

impl Wiki {
    /// A locale as one that the wiki has not; `None` if it has it, or does not tell its locales.
    pub async fn unknown_locale(&self, locale: &Locale) -> Option<UnknownLocale> {
        let is_it = |page: &PageReading| page.locale == *locale;
        // Where a page is, the locale is.
        if let Some(kept) = self.kept_pages().await
            && kept.iter().any(is_it)
        {
            return None;
        }
        let has = |site: &SiteLocales| site.installed.contains(locale);
        if self.site_locales().await.is_ok_and(|site| has(&site)) {
            return None;
        }
        // It may have been installed since they were read.
        *self.keyed().locales.lock().await = None;
        let site = self.told_locales().await?;
        (!has(&site)).then(|| UnknownLocale {
            locale: locale.clone(),
            known: site.installed,
            is_default: *locale == self.settings.default_locale,
        })
    }

    /// True if pages may be in other locales than the configured one: as the pages show that were
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
        let site = self.told_locales().await;
        site.map_or_else(Vec::new, |site| site.all)
    }

    async fn told_locales(&self) -> Option<SiteLocales> {
        let site = self.site_locales().await.inspect_err(|error| {
            tracing::debug!(%error, "the locales of the site could not be read");
        });
        site.ok()
    }

    /// The settings that decide where links lead, except `absoluteLinks`, which the wiki shows only
    /// with manage:system.
    ///
    /// # Errors
    /// See [`WikiError`].
    pub async fn linked_site(&self) -> WikiResult<LinkedSite> {
        let site = self.site_locales().await?;
        Ok(LinkedSite {
            address: self.settings.base_url.clone(),
            locale: site.primary,
            has_namespaces: site.has_namespaces,
            relative_from_root: false,
        })
    }

    async fn site_locales(&self) -> WikiResult<SiteLocales> {
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
        let site = data.and_then(SiteLocales::new)?;
        *known = Some((Instant::now(), site.clone()));
        Ok(site)
    }

    /// The key of the search engine that is on, if one is.
    ///
    /// # Errors
    /// [`WikiError::Forbidden`] for every key without manage:system: measured on 2.5.314.
    pub async fn search_engine(&self) -> WikiResult<Option<String>> {
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

#[cfg(test)]
mod tests {
    use super::UnknownLocale;
    use crate::error::Failure;
    use crate::page::Locale;

    #[test]
    fn locales_of_the_wiki_steer_no_terminal_from_a_message() {
        let mut known = vec![Locale::as_stored("de\u{1b}[31m\n\u{202e}".to_owned())];
        known.extend((0..99).map(|number| Locale::as_stored(format!("x{number}"))));
        let failure = Failure::from(UnknownLocale {
            locale: Locale::as_stored("en".to_owned()),
            known,
            is_default: false,
        });
        let message = failure.message;
        assert!(
            message
                .starts_with(r"The wiki has no locale en; it has: de\u{1b}[31m \u{202e}, x0, x1,"),
            "{message}"
        );
        assert!(message.ends_with("x48 and 50 more."), "{message}");
    }
}
