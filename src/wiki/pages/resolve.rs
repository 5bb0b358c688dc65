//! Resolves a page reference: path, title or last path segment.

use serde::Serialize;
use serde_json::json;

use super::super::{AllPages, Wiki, WikiError};
use crate::error::{Code, Failure, sentence};
use crate::nearest::{most_alike, name_likeness};
use crate::page::{Interpretation, Locale, PagePath, PageReading, Reference, escaped};

/// The most candidates that are named.
const MAX_CANDIDATES: usize = 20;
/// The most pages of a like name that are named.
const MAX_NEAREST: usize = 5;
/// Minimum likeness of a name.
const LIKENESS: f64 = 0.8;
/// The ways in which a name may be a title or a last segment, which come first.
const TITLES: usize = 3;

/// A page that a reference names.
#[derive(Debug, Clone)]
pub struct ResolvedPage {
    /// The page, as far as the key can read it.
    pub page: PageReading,
    /// The section that the reference names.
    pub section: Option<String>,
}

/// A page by its names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedPage {
    /// Its id.
    pub id: i64,
    /// Its locale.
    pub locale: Locale,
    /// Its path.
    pub path: PagePath,
    /// Its title, with what is hidden in it escaped.
    pub title: String,
}

/// The reason that a reference names no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// There is none.
    #[error("the wiki has no such page")]
    NotFound {
        /// Pages of a like name, the most alike first.
        nearest: Vec<NamedPage>,
    },
    /// There are several.
    #[error("{count} pages go by that name")]
    Ambiguous {
        /// The first of them.
        candidates: Vec<NamedPage>,
        /// Number of pages that go by the name.
        count: usize,
    },
    /// It is no reference to a page of this wiki.
    #[error("the reference {0}")]
    Elsewhere(&'static str),
    /// The wiki could not be asked.
    #[error(transparent)]
    Wiki(#[from] WikiError),
}

impl From<Unresolved> for Failure {
    fn from(unresolved: Unresolved) -> Self {
        let message = sentence(&unresolved.to_string());
        match unresolved {
            Unresolved::NotFound { nearest } => {
                let nearest = (!nearest.is_empty()).then(|| json!(nearest));
                Self::new(Code::PageNotFound, message).detail_if("nearest", nearest)
            }
            Unresolved::Ambiguous { candidates, count } => {
                let left = count.saturating_sub(candidates.len());
                Self::new(Code::AmbiguousPage, message)
                    .detail("candidates", json!(candidates))
                    .detail_if("notShown", (left > 0).then_some(left))
            }
            Unresolved::Elsewhere(fault) => {
                Self::of_argument("path", format!("The argument path {fault}."))
            }
            Unresolved::Wiki(error) => error.into(),
        }
    }
}

impl NamedPage {
    fn new(page: &PageReading) -> Option<Self> {
        Some(Self {
            id: page.id?,
            locale: page.locale.clone(),
            path: page.path.clone(),
            title: escaped(&page.title, 200),
        })
    }
}

impl Wiki {
    /// Reads the page that a reference names; see [`Reference`] for its forms.
    ///
    /// A path that is there wins, in the caller's locale unless the reference names one; then
    /// an exact title; then a title without regard to case; then the last segment of a path.
    /// Of titles and segments, only those in the locale that was said count; where none was,
    /// those in the configured one before all others. Titles come from a list of all pages that
    /// is kept for a minute; an absence is believed only from a list just read. After
    /// [`Self::by_path`] only a path counts.
    ///
    /// # Errors
    /// See [`Unresolved`].
    pub async fn resolve(
        &self,
        text: &str,
        said: Option<&Locale>,
    ) -> Result<ResolvedPage, Unresolved> {
        let reference =
            Reference::parse(text, &self.settings.base_url).map_err(Unresolved::Elsewhere)?;
        let here = said.unwrap_or(&self.settings.default_locale);
        for way in &reference.interpretations {
            for (locale, path) in &way.places {
                if path.as_str().is_empty() {
                    continue;
                }
                match self
                    .page_by_path(locale.as_ref().unwrap_or(here), path)
                    .await
                {
                    Ok(page) => {
                        let section = way.section.clone();
                        return Ok(ResolvedPage { page, section });
                    }
                    Err(WikiError::NotFound) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        if self.is_by_path {
            let nearest = Vec::new();
            return Err(Unresolved::NotFound { nearest });
        }
        let mut kept = self.kept_pages().await;
        loop {
            let is_fresh = kept.is_none();
            let pages = match kept.take() {
                Some(pages) => pages,
                None => self.pages_now().await?,
            };
            match pages.named(&reference, said, here) {
                Ok((id, section)) => match self.page_by_id(id).await {
                    Ok(page) => return Ok(ResolvedPage { page, section }),
                    // It is gone since the list was read.
                    Err(WikiError::NotFound) if !is_fresh => {}
                    Err(error) => return Err(error.into()),
                },
                Err(Unresolved::NotFound { .. }) if !is_fresh => {}
                Err(unresolved) => return Err(unresolved),
            }
        }
    }
}

impl AllPages {
    /// The one page with a name of the reference, and the section it names.
    fn named(
        &self,
        reference: &Reference,
        said: Option<&Locale>,
        here: &Locale,
    ) -> Result<(i64, Option<String>), Unresolved> {
        let levels: [fn(&PageReading, &str, &str) -> bool; 5] = [
            |page, name, _| page.title.trim() == name,
            |page, _, lower| page.title.trim().to_lowercase() == lower,
            |page, name, _| page.path.last_segment() == name.trim_matches('/'),
            // `operations/backup` of `en/docs/operations/backup`
            |page, _, lower| lower.contains('/') && page.path.ends_with(lower.trim_matches('/')),
            // `operations/How we back up`, which stands below `docs/operations`
            |page, _, lower| {
                lower.rsplit_once('/').is_some_and(|(folder, title)| {
                    page.title.trim().to_lowercase() == title.trim()
                        && page.path.folder().ends_with(folder.trim_matches('/'))
                })
            },
        ];
        let named = |way: &Interpretation| Some((way.name.clone()?, way.section.clone()));
        let ways: Vec<_> = reference.interpretations.iter().filter_map(named).collect();
        for (level, is_it) in levels.into_iter().enumerate() {
            for (name, section) in &ways {
                let lower = name.to_lowercase();
                let is_said = |page: &&PageReading| match said {
                    Some(said) => page.locale == *said,
                    // The path of a page is not looked for in other locales than the caller's.
                    None => level < TITLES || page.locale == *here,
                };
                let all = self.iter().filter(is_said);
                let all: Vec<&PageReading> = all.filter(|page| is_it(page, name, &lower)).collect();
                let own = all.iter().filter(|page| page.locale == *here);
                let own: Vec<&PageReading> = own.copied().collect();
                let found = if own.is_empty() { all } else { own };
                match found.as_slice() {
                    [] => {}
                    [one] => {
                        let found = one.id.map(|id| (id, section.clone()));
                        return found.ok_or(Unresolved::NotFound {
                            nearest: Vec::new(),
                        });
                    }
                    several => {
                        let mut several = several.to_vec();
                        several.sort_by_key(|page| page.id);
                        let shown = several.iter().take(MAX_CANDIDATES);
                        return Err(Unresolved::Ambiguous {
                            candidates: shown.filter_map(|page| NamedPage::new(page)).collect(),
                            count: several.len(),
                        });
                    }
                }
            }
        }
        let nearest = ways.first().map(|(name, _)| self.nearest(name));
        Err(Unresolved::NotFound {
            nearest: nearest.unwrap_or_default(),
        })
    }

    fn nearest(&self, name: &str) -> Vec<NamedPage> {
        let name = name.trim_matches('/');
        let likeness = |page: &&PageReading| {
            let path = &page.path;
            let names = [page.title.as_str(), path.as_str(), path.last_segment()];
            names
                .map(|other| name_likeness(name, other))
                .into_iter()
                .fold(0.0, f64::max)
        };
        most_alike(self.iter(), MAX_NEAREST, LIKENESS, likeness)
            .into_iter()
            .filter_map(NamedPage::new)
            .collect()
    }
}
