//! Learns the key's rights at a page.
//!
//! Measured on 2.5.314: the view that readers see tells its reader's exact rights at that page,
//! page rules included, in the attribute `effective-permissions` of its element `<page …>`, in
//! base64. Attributes are escaped, so nothing of a page can look like it. Where the view is
//! blocked, or the page is a draft that the key may not write, harmless reads tell some of them.
//!
//! At a place without a page the editor's view tells them (W43): it opens with the rights in the
//! same attribute, or is refused for want of write:pages. What a key may do with assets no view
//! tells (W44).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::operations::generated::{
    PageAuthor, PageLatestAuthor, page_author, page_latest_author,
};
use super::super::pages::rendered::element;
use crate::page::{Locale, PagePath, PageReading};
use crate::wiki::{Wiki, WikiError, WikiResult};
use crate::words::{separated, words};

words! {
    /// A right that the tools have a use for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Right: name {
        /// Pages are seen at all.
        ReadPages = "read:pages",
        /// Their text is read.
        ReadSource = "read:source",
        /// Their history is read.
        ReadHistory = "read:history",
        /// They are written.
        WritePages = "write:pages",
        /// They are moved.
        ManagePages = "manage:pages",
        /// They are deleted.
        DeletePages = "delete:pages",
        /// Their styles are written.
        WriteStyles = "write:styles",
        /// Their scripts are written.
        WriteScripts = "write:scripts",
        /// Their comments are seen.
        ReadComments = "read:comments",
        /// Comments are written.
        WriteComments = "write:comments",
        /// All comments are changed and deleted.
        ManageComments = "manage:comments",
        /// Files beside the pages are seen.
        ReadAssets = "read:assets",
        /// They are uploaded.
        WriteAssets = "write:assets",
        /// They are renamed and deleted.
        ManageAssets = "manage:assets",
    }
}

impl Right {
    /// All that are about comments (W30 to W32).
    pub const OF_COMMENTS: [Self; 3] = [
        Self::ReadComments,
        Self::WriteComments,
        Self::ManageComments,
    ];

    /// All that are about assets (W35 to W41).
    pub const OF_ASSETS: [Self; 3] = [Self::ReadAssets, Self::WriteAssets, Self::ManageAssets];

    /// All that are about a page's own styles and scripts.
    pub const OF_CODE: [Self; 2] = [Self::WriteStyles, Self::WriteScripts];

    /// All that are about pages.
    pub const ALL: [Self; 8] = [
        Self::ReadPages,
        Self::ReadSource,
        Self::ReadHistory,
        Self::WritePages,
        Self::ManagePages,
        Self::DeletePages,
        Self::WriteStyles,
        Self::WriteScripts,
    ];

    /// Its name in the view's data, if it is told there.
    const fn place(self) -> Option<&'static str> {
        Some(match self {
            Self::ReadPages => "/pages/read",
            Self::ReadSource => "/source/read",
            Self::ReadHistory => "/history/read",
            Self::WritePages => "/pages/write",
            Self::ManagePages => "/pages/manage",
            Self::DeletePages => "/pages/delete",
            Self::WriteStyles => "/pages/style",
            Self::WriteScripts => "/pages/script",
            Self::ReadComments => "/comments/read",
            Self::WriteComments => "/comments/write",
            Self::ManageComments => "/comments/manage",
            Self::ReadAssets | Self::WriteAssets | Self::ManageAssets => return None,
        })
    }
}

/// The rights of a key at a page, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageRights(BTreeMap<Right, bool>);

impl PageRights {
    /// Rights that are had or not; all others are unknown.
    pub fn new(known: impl IntoIterator<Item = (Right, bool)>) -> Self {
        Self(known.into_iter().collect())
    }

    /// All rights of a key with full access (W4).
    fn full() -> Self {
        let all = Right::ALL.into_iter();
        let all = all.chain(Right::OF_COMMENTS).chain(Right::OF_ASSETS);
        Self::new(all.map(|right| (right, true)))
    }

    /// True if the key has a right; `None` if unknown.
    pub fn has(&self, right: Right) -> Option<bool> {
        self.0.get(&right).copied()
    }

    /// Reads a reader's view, if it is this page's.
    fn from_view(html: &str, id: Option<i64>) -> Option<Self> {
        let (attributes, _) = element(html, id)?;
        let (_, told) = attributes.split_once(" effective-permissions=\"")?;
        Self::from_attribute(told.split('"').next()?)
    }

    /// Reads the attribute in which a view tells its reader's rights.
    pub(in crate::wiki) fn from_attribute(told: &str) -> Option<Self> {
        let told = STANDARD.decode(told).ok()?;
        let told: Value = serde_json::from_slice(&told).ok()?;
        let all = Right::ALL.into_iter().chain(Right::OF_COMMENTS);
        let known = all.filter_map(|right| Some((right, told.pointer(right.place()?)?.as_bool()?)));
        Some(Self::new(known))
    }
}

impl Wiki {
    /// The rights of the key at a page that it may see. Nothing is written to find them out.
    ///
    /// # Errors
    /// If the wiki cannot be asked at all; a refusal is no error.
    pub async fn rights(&self, page: &PageReading) -> WikiResult<PageRights> {
        match self.read_in_view(page, PageRights::from_view).await {
            Err(WikiError::Forbidden { .. }) => self.rights_by_path(page).await,
            told => told,
        }
    }

    /// The same in words for people: `reads, writes`.
    ///
    /// # Errors
    /// As for [`Self::rights`].
    pub async fn rights_in_words(&self, page: Option<&PageReading>) -> WikiResult<String> {
        let Some(page) = page else {
            return Ok("sees no page".to_owned());
        };
        let rights = self.rights(page).await?;
        let may = [
            (Right::ReadPages, "reads"),
            (Right::WritePages, "writes"),
            (Right::DeletePages, "deletes"),
        ];
        let may = may
            .into_iter()
            .filter(|(right, _)| rights.has(*right) == Some(true));
        Ok(separated(may.map(|(_, word)| word), ", "))
    }

    /// The rights of a key with full access; `None` for all others, and where the wiki does not
    /// know the key, so that its own claims count for nothing (W4).
    pub async fn full_rights(&self) -> Option<PageRights> {
        let is_full = self.key().is_full_access && self.is_guest().await == Some(false);
        is_full.then(PageRights::full)
    }

    /// The rights of the key at a page by the rules that its mutations go by: of paths alone, while
    /// a view also applies rules of tags. Harmless reads tell some of them.
    ///
    /// # Errors
    /// If the wiki cannot be asked at all; a refusal is no error.
    pub async fn rights_by_path(&self, page: &PageReading) -> WikiResult<PageRights> {
        let mut known = vec![(Right::ReadPages, true)];
        if let Some(may) = allowed(&self.source(&page.locale, &page.path).await)? {
            known.push((Right::ReadSource, may));
        }
        let Some(id) = page.id else {
            return Ok(PageRights::new(known));
        };
        if let Some(may) = allowed(&self.history(id, 0, 1).await)? {
            known.push((Right::ReadHistory, may));
        }
        // It needs one of two rights (W1). Its fields need write:pages anywhere (W2), so a refusal
        // that names that right tells nothing of this page.
        let whole = page_author::Variables { id };
        if let Err(WikiError::Forbidden { right }) = self.query::<PageAuthor>(whole).await
            && right != Right::WritePages.name()
        {
            known.extend([(Right::ManagePages, false), (Right::DeletePages, false)]);
        }
        // This one looks at write:pages at the page, as an update does.
        let latest = page_latest_author::Variables { id };
        if let Some(may) = allowed(&self.query::<PageLatestAuthor>(latest).await)? {
            known.push((Right::WritePages, may));
        }
        Ok(PageRights::new(known))
    }

    /// The same, and which styles and scripts the readers' view denies to the key. No read tells
    /// them by paths alone, and an update keeps the old ones in silence (W24), so the view's no
    /// counts. Its yes may come from a rule of tags, and tells nothing (W47).
    ///
    /// # Errors
    /// If the wiki cannot be asked at all; a refusal is no error.
    pub async fn rights_to_code(&self, page: &PageReading) -> WikiResult<PageRights> {
        let mut rights = self.rights_by_path(page).await?;
        let in_view = match self.read_in_view(page, PageRights::from_view).await {
            Err(error) if error.ends_a_pass() => return Err(error),
            told => told.unwrap_or_default(),
        };
        let denied = Right::OF_CODE.into_iter();
        let denied = denied.filter(|right| in_view.has(*right) == Some(false));
        rights.0.extend(denied.map(|right| (right, false)));
        Ok(rights)
    }

    /// The rights of the key at a place where no page is (W43); unknown ones where the view is
    /// blocked, or the place has no address.
    ///
    /// # Errors
    /// If the wiki cannot be asked at all; a refusal is no error.
    pub async fn rights_at(&self, locale: &Locale, path: &PagePath) -> WikiResult<PageRights> {
        if !path.is_its_own_address() || !locale.begins_addresses() {
            return Ok(PageRights::default());
        }
        match self.editor_rights(locale, path).await {
            Ok(told) => Ok(told.unwrap_or_default()),
            Err(error) if error.ends_a_pass() => Err(error),
            Err(_) => Ok(PageRights::default()),
        }
    }

    /// The same, with whether the key sees assets anywhere (W35). Only a write would tell whether it
    /// may write them.
    ///
    /// # Errors
    /// If the wiki cannot be asked at all; a refusal is no error.
    pub async fn with_assets(&self, mut rights: PageRights) -> WikiResult<PageRights> {
        if let Some(may) = allowed(&self.folders_in(0).await)? {
            rights.0.insert(Right::ReadAssets, may);
        }
        Ok(rights)
    }
}

/// The permission that a read shows; `None` if a gateway before the wiki refused, or the answer has
/// another cause.
fn allowed<T>(answer: &WikiResult<T>) -> WikiResult<Option<bool>> {
    match answer {
        Ok(_) => Ok(Some(true)),
        Err(WikiError::Forbidden { .. }) => Ok(Some(false)),
        Err(error) if error.ends_a_pass() => Err(error.clone()),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::{PageRights, Right};

    fn view(told: &str, before: &str) -> String {
        let told = STANDARD.encode(told);
        format!(
            "<body><div id=\"root\"><page{before} :page-id=\"7\" effective-permissions=\"{told}\" x><template slot=\"contents\"><div></div></template></page></body>"
        )
    }

    #[test]
    fn what_the_view_tells_is_read_and_the_rest_stays_unknown() {
        let html = view(r#"{"pages":{"read":true,"write":false}}"#, " ");
        let known = [(Right::ReadPages, true), (Right::WritePages, false)];
        assert_eq!(
            PageRights::from_view(&html, Some(7)),
            Some(PageRights::new(known))
        );
        assert_eq!(PageRights::from_view(&html, Some(8)), None);
        assert_eq!(PageRights::from_view("<page >", None), None);
        assert_eq!(PageRights::from_view(&view("no JSON", " "), Some(7)), None);
    }

    #[test]
    fn a_title_cannot_forge_it() {
        let title = " title=\" effective-permissions=&quot;e30=&quot;\"";
        let html = view(r#"{"pages":{"read":true}}"#, title);
        let known = [(Right::ReadPages, true)];
        assert_eq!(
            PageRights::from_view(&html, Some(7)),
            Some(PageRights::new(known))
        );
    }
}
