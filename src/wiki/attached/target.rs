//! Reads the current state of a comment or an asset.

use super::super::{Asset, Comment, Wiki, WikiError, WikiResult};
use crate::page::{
    AssetOf, Attached, Blob, CommentOf, Date, Locale, PagePath, PageReading, PageState, extension,
};

/// A thing of a page, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenThing {
    /// Its state.
    pub state: PageState,
    /// The time at which it was created.
    pub created_at: Option<Date>,
    /// Its author.
    pub author: Option<String>,
    /// True if it was found by its id, not only as one that is the same.
    pub is_known: bool,
    /// True if its content could be read.
    pub is_readable: bool,
    /// True if the wiki may store new content of it in another form.
    pub is_reworked: bool,
}

impl Wiki {
    /// The address at which a person sees what a state is of.
    pub fn url_of(&self, state: &PageState) -> String {
        match &state.thing {
            // A comment is seen at its page.
            Some(Attached::Asset(_)) => self.asset_url(&state.path),
            Some(Attached::Comment(_)) | None => self.page_url(&state.locale, &state.path),
        }
    }

    /// Looks up what a state is of: by its id, or by the id of what was just added, or else as the
    /// newest one that came since the state was made and is the same.
    ///
    /// # Errors
    /// [`WikiError::NotFound`] if it is gone, or its page is, or may not be read.
    pub async fn thing_now(&self, state: &PageState, added: Option<i64>) -> WikiResult<SeenThing> {
        match state.thing.as_ref().ok_or(WikiError::NotFound)? {
            Attached::Asset(of) => self.asset_now(state, of, added).await,
            Attached::Comment(of) => {
                let page = state.id.ok_or(WikiError::NotFound)?;
                let page = self.page_by_id(page).await?;
                let comments = self.comments(&page).await?;
                let known = of.id.or(added);
                let is_it = |comment: &&Comment| match known {
                    Some(id) => comment.id == id,
                    None => {
                        Some(comment.id) > of.newest
                            && comment.content.as_ref() == Some(&state.content)
                    }
                };
                let comment = comments.iter().rev().find(is_it);
                let comment = comment.ok_or(WikiError::NotFound)?;
                Ok(SeenThing {
                    state: comment_state(&page, Some(comment), of),
                    created_at: Some(comment.created_at.clone()),
                    author: Some(comment.author_name.clone()),
                    is_known: known.is_some(),
                    is_readable: comment.content.is_some(),
                    is_reworked: false,
                })
            }
        }
    }

    /// An asset is found by its id in the list of its folder, wherever it was renamed to, or else by
    /// its path.
    async fn asset_now(
        &self,
        state: &PageState,
        of: &AssetOf,
        added: Option<i64>,
    ) -> WikiResult<SeenThing> {
        let folder = state.path.folder();
        let known = of.id.or(added);
        let found = match (of.folder, known) {
            (Some(id), _) => {
                let assets = self.all_assets_in(id, &folder).await?;
                let is_it = |asset: &Asset| match known {
                    Some(id) => asset.id == id,
                    None => asset.path == state.path,
                };
                assets.into_iter().rev().find(is_it)
            }
            (None, _) => match self.asset(&state.path).await {
                Ok(asset) => Some(asset).filter(|asset| known.is_none_or(|id| id == asset.id)),
                Err(WikiError::NotFound) => None,
                Err(error) => return Err(error),
            },
        };
        let found = found.filter(|asset| self.admits_asset(&asset.path));
        let asset = found.ok_or(WikiError::NotFound)?;
        let bytes = self.asset_bytes(&asset.path).await?;
        let is_readable = bytes.is_some();
        Ok(SeenThing {
            state: self.asset_state(&asset, bytes.unwrap_or_default()),
            created_at: Some(asset.created_at.clone()),
            author: None,
            is_known: known.is_some(),
            is_readable,
            // Scripts and handlers are taken out of it (W40).
            is_reworked: extension(&asset.path) == "svg",
        })
    }

    fn asset_state(&self, asset: &Asset, bytes: Blob) -> PageState {
        let of = AssetOf {
            id: Some(asset.id),
            folder: Some(asset.folder),
            makes: Vec::new(),
            mime: asset.mime.clone(),
            bytes,
        };
        PageState {
            updated_at: Some(asset.updated_at.clone()),
            ..asset_state(self.locale_of_assets().clone(), asset.path.clone(), of)
        }
    }

    /// An asset that is to come, in its folder as that is now: one that is not there is made only
    /// if it was asked for.
    async fn asset_to_add(&self, state: PageState, of: AssetOf) -> WikiResult<PageState> {
        if !self.admits_asset(&state.path) {
            return Err(WikiError::NoFolder);
        }
        let (folder, missing) = self.missing_folders(&state.path.folder()).await?;
        if missing.iter().any(|folder| !of.makes.contains(folder)) {
            return Err(WikiError::NoFolder);
        }
        if let Some(id) = folder {
            let there = self.all_assets_in(id, &state.path.folder()).await?;
            if there.iter().any(|asset| asset.path == state.path) {
                return Err(WikiError::AssetExists);
            }
        }
        let of = AssetOf {
            folder,
            makes: missing,
            ..of
        };
        Ok(asset_state(self.locale_of_assets().clone(), state.path, of))
    }

    /// The state of a comment or asset to be added, with its page's place as it is now.
    ///
    /// # Errors
    /// [`WikiError::NotFound`] if the page is gone, or may not be read.
    pub async fn thing_to_add(&self, state: PageState) -> WikiResult<PageState> {
        match state.thing.clone().ok_or(WikiError::NotFound)? {
            Attached::Asset(of) => self.asset_to_add(state, of).await,
            Attached::Comment(of) => {
                let page = state.id.ok_or(WikiError::NotFound)?;
                let page = self.page_by_id(page).await?;
                let comments = self.comments(&page).await?;
                let newest = comments.iter().map(|comment| comment.id).max();
                let of = CommentOf { newest, ..of };
                Ok(PageState {
                    content: state.content,
                    ..comment_state(&page, None, &of)
                })
            }
        }
    }
}

/// The state of an asset: its content says what its bytes are.
pub fn asset_state(locale: Locale, path: PagePath, of: AssetOf) -> PageState {
    let name = path.last_segment().to_owned();
    PageState {
        content: of.bytes.described(&of.mime),
        thing: Some(Attached::Asset(of)),
        ..PageReading::bare(None, locale, path, name).or_blank()
    }
}

/// The state of a comment: its page's place, title and tags, and its own text.
fn comment_state(page: &PageReading, comment: Option<&Comment>, of: &CommentOf) -> PageState {
    let bare = PageReading::bare(
        page.id,
        page.locale.clone(),
        page.path.clone(),
        page.title.clone(),
    );
    let content = comment.and_then(|comment| comment.content.clone());
    PageState {
        content: content.unwrap_or_default(),
        editor: "markdown".to_owned(),
        tags: page.tags.clone().unwrap_or_default(),
        updated_at: comment.map(|comment| comment.updated_at.clone()),
        thing: Some(Attached::Comment(match comment {
            Some(comment) => CommentOf {
                id: Some(comment.id),
                author: Some(comment.author_name.clone()),
                created_at: Some(comment.created_at.clone()),
                ..of.clone()
            },
            None => of.clone(),
        })),
        ..bare.or_blank()
    }
}
