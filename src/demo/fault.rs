//! Lists the errors of the demo wiki, in the server's own codes (W5).

use super::sql::SqlFault;

/// A refusal of the wiki with a code of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WikiError {
    /// 1019: nobody is logged in (W3).
    AuthRequired,
    /// 2002: such a folder is there.
    AssetFolderExists,
    /// 2003: the key may not delete it.
    AssetDeleteForbidden,
    /// 2004: no such asset.
    AssetInvalid,
    /// 2005: the name is taken.
    AssetRenameCollision,
    /// 2006: the key may not rename it.
    AssetRenameForbidden,
    /// 2007: no name before the extension.
    AssetRenameInvalid,
    /// 2008: another extension.
    AssetRenameInvalidExt,
    /// 2009: the key may not write it under its new name.
    AssetRenameTargetForbidden,
    /// 6002: the path is taken.
    DuplicateCreate,
    /// 6003: no such page.
    NotFound,
    /// 6004: no content, or nothing but white space.
    EmptyContent,
    /// 6005: a path with characters that the wiki refuses.
    IllegalPath,
    /// 6006: the destination of a move is taken.
    PathCollision,
    /// 6007: the key may not move it.
    MoveForbidden,
    /// 6009: the key may not write it.
    UpdateForbidden,
    /// 6010: also what a create without the right answers.
    DeleteForbidden,
    /// 6011: the key may not restore it.
    RestoreForbidden,
    /// 6012: the key may not see its history.
    HistoryForbidden,
    /// 6013: the key may not see it as a whole (W1).
    ViewForbidden,
    /// 8002: the key may not write comments there.
    CommentPostForbidden,
    /// 8003: a comment of less than two characters.
    CommentContentMissing,
    /// 8004: the key may not change or delete comments there.
    CommentManageForbidden,
    /// 8005: no such comment.
    CommentNotFound,
    /// 8006: the key may not read comments there.
    CommentViewForbidden,
}

impl WikiError {
    /// The number in `errorCode` and `exception.code`.
    pub(super) fn code(self) -> i32 {
        self.parts().0
    }

    /// The name in `slug`.
    pub(super) fn slug(self) -> &'static str {
        self.parts().1
    }

    /// The sentence for people.
    pub(super) fn message(self) -> &'static str {
        self.parts().2
    }

    #[expect(clippy::too_many_lines, reason = "a table")]
    fn parts(self) -> (i32, &'static str, &'static str) {
        match self {
            Self::AuthRequired => (
                1019,
                "AuthRequired",
                "You must be authenticated to access this resource.",
            ),
            Self::AssetFolderExists => (
                2002,
                "AssetFolderExists",
                "An asset folder with the same name already exists.",
            ),
            Self::AssetDeleteForbidden => (
                2003,
                "AssetDeleteForbidden",
                "You are not authorized to delete this asset.",
            ),
            Self::AssetInvalid => (
                2004,
                "AssetInvalid",
                "This asset does not exist or is invalid.",
            ),
            Self::AssetRenameCollision => (
                2005,
                "AssetRenameCollision",
                "An asset with the same filename in the same folder already exists.",
            ),
            Self::AssetRenameForbidden => (
                2006,
                "AssetRenameForbidden",
                "You are not authorized to rename this asset.",
            ),
            Self::AssetRenameInvalid => (
                2007,
                "AssetRenameInvalid",
                "The new asset filename is invalid.",
            ),
            Self::AssetRenameInvalidExt => (
                2008,
                "AssetRenameInvalidExt",
                "The file extension cannot be changed on an existing asset.",
            ),
            Self::AssetRenameTargetForbidden => (
                2009,
                "AssetRenameTargetForbidden",
                "You are not authorized to rename this asset to the requested name.",
            ),
            Self::DuplicateCreate => (
                6002,
                "PageDuplicateCreate",
                "Cannot create this page because an entry already exists at the same path.",
            ),
            Self::NotFound => (6003, "PageNotFound", "This page does not exist."),
            Self::EmptyContent => (6004, "PageEmptyContent", "Page content cannot be empty."),
            Self::IllegalPath => (
                6005,
                "PageIllegalPath",
                "Page path cannot contains illegal characters.",
            ),
            Self::PathCollision => (
                6006,
                "PagePathCollision",
                "Destination page path already exists.",
            ),
            Self::MoveForbidden => (
                6007,
                "PageMoveForbidden",
                "You are not authorized to move this page.",
            ),
            Self::UpdateForbidden => (
                6009,
                "PageUpdateForbidden",
                "You are not authorized to update this page.",
            ),
            Self::DeleteForbidden => (
                6010,
                "PageDeleteForbidden",
                "You are not authorized to delete this page.",
            ),
            Self::RestoreForbidden => (
                6011,
                "PageRestoreForbidden",
                "You are not authorized to restore this page version.",
            ),
            Self::HistoryForbidden => (
                6012,
                "PageHistoryForbidden",
                "You are not authorized to view the history of this page.",
            ),
            Self::ViewForbidden => (
                6013,
                "PageViewForbidden",
                "You are not authorized to view this page.",
            ),
            Self::CommentPostForbidden => (
                8002,
                "CommentPostForbidden",
                "You are not authorized to post a comment on this page.",
            ),
            Self::CommentContentMissing => (
                8003,
                "CommentContentMissing",
                "Comment content is missing or too short.",
            ),
            Self::CommentManageForbidden => (
                8004,
                "CommentManageForbidden",
                "You are not authorized to manage comments on this page.",
            ),
            Self::CommentNotFound => (8005, "CommentNotFound", "This comment does not exist."),
            Self::CommentViewForbidden => (
                8006,
                "CommentViewForbidden",
                "You are not authorized to view comments for this page.",
            ),
        }
    }
}

/// Any failure of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The key has none of the permissions that the field asks for: refused
    /// before the operation begins, with no code.
    Forbidden,
    /// The key expired within the renewal time: every field that asks for a permission is refused
    /// so, with no code (W3).
    Unauthorized,
    /// A refusal with a code.
    Wiki(WikiError),
    /// Too many requests of one kind; the seconds until the next (W31).
    Limited(u64),
    /// An exception of the server's language or of its libraries (code 1).
    Internal {
        /// The exception's class.
        slug: &'static str,
        /// Its text.
        message: String,
    },
    /// A failure of the database, whose text holds the whole statement (code 1).
    Sql(SqlFault),
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

    /// `errorCode` of a mutation's answer.
    pub(super) fn code(&self) -> i32 {
        match self {
            Self::Wiki(error) => error.code(),
            Self::Forbidden
            | Self::Unauthorized
            | Self::Limited(_)
            | Self::Internal { .. }
            | Self::Sql(_) => 1,
        }
    }

    /// `slug` of a mutation's answer.
    pub(super) fn slug(&self) -> &'static str {
        match self {
            Self::Forbidden | Self::Unauthorized | Self::Limited(_) => "Error",
            Self::Wiki(error) => error.slug(),
            Self::Internal { slug, .. } => slug,
            Self::Sql(sql) => sql.slug(),
        }
    }

    /// The text that the wiki sends.
    pub(super) fn message(&self) -> String {
        match self {
            Self::Forbidden => "Forbidden".to_owned(),
            Self::Unauthorized => "Unauthorized".to_owned(),
            Self::Wiki(error) => error.message().to_owned(),
            Self::Limited(seconds) => {
                format!("Too many requests, please try again in {seconds} seconds.")
            }
            Self::Internal { message, .. } => message.clone(),
            Self::Sql(sql) => sql.message(),
        }
    }
}

impl From<WikiError> for Fault {
    fn from(error: WikiError) -> Self {
        Self::Wiki(error)
    }
}

impl From<SqlFault> for Fault {
    fn from(fault: SqlFault) -> Self {
        Self::Sql(fault)
    }
}
