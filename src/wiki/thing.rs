//! What belongs to a page and is no field of it, as it is now.

use super::client::Wiki;
use super::comments::Comment;
use super::error::WikiError;
use crate::page::{CommentOf, Date, PageReading, PageState, Thing};

/// A thing of a page, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenThing {
    /// Its state.
    pub state: PageState,
    /// When it came to be.
    pub created_at: Option<Date>,
    /// Who made it.
    pub author: Option<String>,
    /// Whether it goes by the id that was looked for, and was not only found to be the same.
    pub is_known: bool,
    /// Whether its content could be read.
    pub is_readable: bool,
    /// Whether the wiki may store new content of it in another form.
    pub is_reworked: bool,
}

impl Wiki {
    /// The address at which a person sees what a state is of.
    #[must_use]
    pub fn url_of(&self, state: &PageState) -> String {
        match &state.thing {
            // A comment is seen at its page.
            Some(Thing::Comment(_)) | None => self.page_url(&state.locale, &state.path),
        }
    }

    /// Looks up what a state is of: by its id, or by the id of what was just added, or else as the
    /// newest one that came since the state was made and is the same.
    ///
    /// # Errors
    /// [`WikiError::NotFound`] if it is gone, or its page is, or may not be read.
    pub async fn thing_now(
        &self,
        state: &PageState,
        added: Option<i64>,
    ) -> Result<SeenThing, WikiError> {
        let (Some(page), Some(thing)) = (state.id, &state.thing) else {
            return Err(WikiError::NotFound);
        };
        let page = self.page_by_id(page).await?;
        match thing {
            Thing::Comment(of) => {
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

    /// What is to be added to a page, at that page's place as it is now.
    ///
    /// # Errors
    /// [`WikiError::NotFound`] if the page is gone, or may not be read.
    pub async fn thing_to_add(&self, state: PageState) -> Result<PageState, WikiError> {
        let (Some(page), Some(thing)) = (state.id, &state.thing) else {
            return Err(WikiError::NotFound);
        };
        let page = self.page_by_id(page).await?;
        match thing {
            Thing::Comment(of) => {
                let comments = self.comments(&page).await?;
                let newest = comments.iter().map(|comment| comment.id).max();
                let of = CommentOf {
                    newest,
                    ..of.clone()
                };
                Ok(PageState {
                    content: state.content,
                    ..comment_state(&page, None, &of)
                })
            }
        }
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
        thing: Some(Thing::Comment(match comment {
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
