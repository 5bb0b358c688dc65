//! Asks the wiki whether the key may read what is or was at a place, even if no page is there any
//! more.
//!
//! Measured on 2.5.314, with keys of every kind: `GET /d/{locale}/{path}` looks at the right
//! read:source at that path before it looks for a page, and refuses with 403, page or not. Where
//! there is none it is 404 with nothing in it. `GET /e/{locale}/{path}` opens the editor of a new
//! page to a key with write:pages there, with 200, and refuses others with 403. Neither shows a
//! rule based on tags once the page is gone.

use crate::page::{Locale, PagePath};
use crate::wiki::{Wiki, WikiError, WikiResult};

/// A path at which hardly a page is: a key that is limited to some paths is refused there.
const NOWHERE: &str = "wikijs-gate/no-page";
/// Number of listed pages tried to learn whether `/d/…` reaches the wiki.
const MOST_TRIED: usize = 3;

impl Wiki {
    /// Checks whether the key may read the text of what is or was at a place. If it cannot be
    /// determined, the answer is no.
    ///
    /// # Errors
    /// If the wiki cannot be asked.
    pub async fn may_read(&self, locale: &Locale, path: &PagePath) -> WikiResult<bool> {
        if let Some(expired) = self.expired() {
            return Err(expired);
        }
        if !self.scope().admits_place(locale, path) {
            return Ok(false);
        }
        // A key's own claims count only if the wiki knows the key (W4).
        if self.key().is_full_access && self.is_guest().await == Some(false) {
            return Ok(true);
        }
        if !path.is_its_own_address() || !locale.begins_addresses() {
            return Ok(false);
        }
        match self.source(locale, path).await {
            Ok(_) => return Ok(true),
            Err(WikiError::NotFound) if self.serves_sources().await? => return Ok(true),
            Err(error) => answered(error)?,
        }
        match self.editor_opens(locale, path).await {
            Ok(opens) => Ok(opens),
            Err(error) => answered(error).map(|()| false),
        }
    }

    /// Checks whether `/d/…` reaches the wiki: something before it that hides this view answers 404
    /// as well, wherever one looks.
    async fn serves_sources(&self) -> WikiResult<bool> {
        let nowhere = PagePath::as_stored(NOWHERE);
        let locale = &self.settings.default_locale;
        match self.source(locale, &nowhere).await {
            Err(WikiError::Forbidden { .. }) => return Ok(true),
            Ok(_) => {}
            Err(error) => answered(error)?,
        }
        let pages = self.pages_lately().await?;
        for page in pages.iter().take(MOST_TRIED) {
            match self.source(&page.locale, &page.path).await {
                Ok(_) | Err(WikiError::Forbidden { .. }) => return Ok(true),
                Err(error) => answered(error)?,
            }
        }
        Ok(false)
    }
}

/// A refusal, or an answer that reveals nothing about the key's rights, is not an error here.
fn answered(error: WikiError) -> WikiResult<()> {
    if error.ends_a_pass() {
        Err(error)
    } else {
        Ok(())
    }
}
