//! Lists the errors of the demo wiki, in the server's own codes (W5).

macro_rules! wiki_errors {
    ($($(#[$doc:meta])* $code:literal $name:ident $message:literal;)*) => {
        /// A refusal of the wiki with a code of its own; its name is the `slug` of the answer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum WikiError {
            $($(#[$doc])* $name,)*
        }

        impl WikiError {
            /// The number in `errorCode` and `exception.code`, and the text.
            pub(super) const fn told(self) -> (i32, &'static str) {
                match self {
                    $(Self::$name => ($code, $message),)*
                }
            }
        }
    };
}

wiki_errors! {
    /// Nobody is logged in (W3).
    1019 AuthRequired "You must be authenticated to access this resource.";
    2002 AssetFolderExists "An asset folder with the same name already exists.";
    2003 AssetDeleteForbidden "You are not authorized to delete this asset.";
    2004 AssetInvalid "This asset does not exist or is invalid.";
    2005 AssetRenameCollision "An asset with the same filename in the same folder already exists.";
    2006 AssetRenameForbidden "You are not authorized to rename this asset.";
    /// No name before the extension.
    2007 AssetRenameInvalid "The new asset filename is invalid.";
    /// Another extension.
    2008 AssetRenameInvalidExt "The file extension cannot be changed on an existing asset.";
    2009 AssetRenameTargetForbidden "You are not authorized to rename this asset to the requested name.";
    6002 PageDuplicateCreate "Cannot create this page because an entry already exists at the same path.";
    6003 PageNotFound "This page does not exist.";
    /// No content, or nothing but white space.
    6004 PageEmptyContent "Page content cannot be empty.";
    /// A path with characters that the wiki refuses.
    6005 PageIllegalPath "Page path cannot contains illegal characters.";
    6006 PagePathCollision "Destination page path already exists.";
    6007 PageMoveForbidden "You are not authorized to move this page.";
    6009 PageUpdateForbidden "You are not authorized to update this page.";
    /// Also what a create without the right answers.
    6010 PageDeleteForbidden "You are not authorized to delete this page.";
    6011 PageRestoreForbidden "You are not authorized to restore this page version.";
    6012 PageHistoryForbidden "You are not authorized to view the history of this page.";
    /// The key may not see it as a whole (W1).
    6013 PageViewForbidden "You are not authorized to view this page.";
    8002 CommentPostForbidden "You are not authorized to post a comment on this page.";
    /// A comment of less than two characters.
    8003 CommentContentMissing "Comment content is missing or too short.";
    8004 CommentManageForbidden "You are not authorized to manage comments on this page.";
    8005 CommentNotFound "This comment does not exist.";
    8006 CommentViewForbidden "You are not authorized to view comments for this page.";
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

    /// `errorCode` and `slug` of a mutation's answer, and the text that the wiki sends.
    pub(super) fn told(&self) -> (i32, String, String) {
        match self {
            Self::Wiki(error) => {
                let (code, message) = error.told();
                (code, format!("{error:?}"), message.to_owned())
            }
            Self::Limited(seconds) => {
                let message = format!("Too many requests, please try again in {seconds} seconds.");
                (1, "Error".to_owned(), message)
            }
            Self::Internal { slug, message } => (1, (*slug).to_owned(), message.clone()),
        }
    }
}

impl From<WikiError> for Fault {
    fn from(error: WikiError) -> Self {
        Self::Wiki(error)
    }
}
