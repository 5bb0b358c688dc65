//! Lists the errors of the demo wiki, in the server's own codes (W5).

use thiserror::Error;

/// A refusal of the wiki with a code of its own; its name is the `slug` of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum WikiError {
    /// Nobody is logged in (W3).
    #[error("You must be authenticated to access this resource.")]
    AuthRequired,
    /// Such a folder is there.
    #[error("An asset folder with the same name already exists.")]
    AssetFolderExists,
    /// The key may not delete it.
    #[error("You are not authorized to delete this asset.")]
    AssetDeleteForbidden,
    /// No such asset.
    #[error("This asset does not exist or is invalid.")]
    AssetInvalid,
    /// The name is taken.
    #[error("An asset with the same filename in the same folder already exists.")]
    AssetRenameCollision,
    /// The key may not rename it.
    #[error("You are not authorized to rename this asset.")]
    AssetRenameForbidden,
    /// No name before the extension.
    #[error("The new asset filename is invalid.")]
    AssetRenameInvalid,
    /// Another extension.
    #[error("The file extension cannot be changed on an existing asset.")]
    AssetRenameInvalidExt,
    /// The key may not write it under its new name.
    #[error("You are not authorized to rename this asset to the requested name.")]
    AssetRenameTargetForbidden,
    /// The path is taken.
    #[error("Cannot create this page because an entry already exists at the same path.")]
    PageDuplicateCreate,
    /// No such page.
    #[error("This page does not exist.")]
    PageNotFound,
    /// No content, or nothing but white space.
    #[error("Page content cannot be empty.")]
    PageEmptyContent,
    /// A path with characters that the wiki refuses.
    #[error("Page path cannot contains illegal characters.")]
    PageIllegalPath,
    /// The destination of a move is taken.
    #[error("Destination page path already exists.")]
    PagePathCollision,
    /// The key may not move it.
    #[error("You are not authorized to move this page.")]
    PageMoveForbidden,
    /// The key may not write it.
    #[error("You are not authorized to update this page.")]
    PageUpdateForbidden,
    /// Also what a create without the right answers.
    #[error("You are not authorized to delete this page.")]
    PageDeleteForbidden,
    /// The key may not restore it.
    #[error("You are not authorized to restore this page version.")]
    PageRestoreForbidden,
    /// The key may not see its history.
    #[error("You are not authorized to view the history of this page.")]
    PageHistoryForbidden,
    /// The key may not see it as a whole (W1).
    #[error("You are not authorized to view this page.")]
    PageViewForbidden,
    /// The key may not write comments there.
    #[error("You are not authorized to post a comment on this page.")]
    CommentPostForbidden,
    /// A comment of less than two characters.
    #[error("Comment content is missing or too short.")]
    CommentContentMissing,
    /// The key may not change or delete comments there.
    #[error("You are not authorized to manage comments on this page.")]
    CommentManageForbidden,
    /// No such comment.
    #[error("This comment does not exist.")]
    CommentNotFound,
    /// The key may not read comments there.
    #[error("You are not authorized to view comments for this page.")]
    CommentViewForbidden,
}

impl WikiError {
    /// The number in `errorCode` and `exception.code`.
    pub(super) fn code(self) -> i32 {
        match self {
            Self::AuthRequired => 1019,
            Self::AssetFolderExists => 2002,
            Self::AssetDeleteForbidden => 2003,
            Self::AssetInvalid => 2004,
            Self::AssetRenameCollision => 2005,
            Self::AssetRenameForbidden => 2006,
            Self::AssetRenameInvalid => 2007,
            Self::AssetRenameInvalidExt => 2008,
            Self::AssetRenameTargetForbidden => 2009,
            Self::PageDuplicateCreate => 6002,
            Self::PageNotFound => 6003,
            Self::PageEmptyContent => 6004,
            Self::PageIllegalPath => 6005,
            Self::PagePathCollision => 6006,
            Self::PageMoveForbidden => 6007,
            Self::PageUpdateForbidden => 6009,
            Self::PageDeleteForbidden => 6010,
            Self::PageRestoreForbidden => 6011,
            Self::PageHistoryForbidden => 6012,
            Self::PageViewForbidden => 6013,
            Self::CommentPostForbidden => 8002,
            Self::CommentContentMissing => 8003,
            Self::CommentManageForbidden => 8004,
            Self::CommentNotFound => 8005,
            Self::CommentViewForbidden => 8006,
        }
    }
}

/// Any failure of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// A refusal with a code.
    Wiki(WikiError),
    /// Too many requests of one kind; the seconds until the next (W31).
    Limited(u64),
    /// An exception of the server's language, of its libraries or of its database (code 1).
    Internal {
        /// The exception's class.
        slug: &'static str,
        /// Its text; that of the database holds the whole statement.
        message: String,
    },
}

impl Fault {
    /// An exception of the server's language: a field was read of nothing.
    pub(super) fn type_error(nothing: &str, field: &str) -> Self {
        Self::Internal {
            slug: "TypeError",
            message: format!("Cannot read properties of {nothing} (reading '{field}')"),
        }
    }

    /// An `Error` with no class of its own.
    pub(super) fn error(message: impl Into<String>) -> Self {
        Self::Internal {
            slug: "Error",
            message: message.into(),
        }
    }

    /// The refusal of a key with none of the permissions that a field asks for, before the
    /// operation begins.
    pub(super) fn forbidden() -> Self {
        Self::error("Forbidden")
    }

    /// `errorCode` of a mutation's answer.
    pub(super) fn code(&self) -> i32 {
        match self {
            Self::Wiki(error) => error.code(),
            Self::Limited(_) | Self::Internal { .. } => 1,
        }
    }

    /// `slug` of a mutation's answer.
    pub(super) fn slug(&self) -> String {
        match self {
            Self::Wiki(error) => format!("{error:?}"),
            Self::Limited(_) => "Error".to_owned(),
            Self::Internal { slug, .. } => (*slug).to_owned(),
        }
    }

    /// The text that the wiki sends.
    pub(super) fn message(&self) -> String {
        match self {
            Self::Wiki(error) => error.to_string(),
            Self::Limited(seconds) => {
                format!("Too many requests, please try again in {seconds} seconds.")
            }
            Self::Internal { message, .. } => message.clone(),
        }
    }
}

impl From<WikiError> for Fault {
    fn from(error: WikiError) -> Self {
        Self::Wiki(error)
    }
}
