//! Lists the errors of requests to the wiki, and what each means for reads and writes.

use std::time::Duration;

use crate::error::{Code, Failure, sentence};
use crate::render_budget::RenderBudgetExceeded;

/// The kind of an error that comes with HTTP status 500 and a cause that we do not know.
pub(super) const HTTP_500: &str = "HTTP 500";

/// The result of a request to the wiki.
pub type WikiResult<T> = Result<T, WikiError>;

/// The reason that a request got no usable answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WikiError {
    /// 6003, or what Wiki.js says in its place (W5, W10).
    #[error("the wiki has no such page")]
    NotFound,
    /// 6002 or 6006 (W5).
    #[error("there already is a page at that path")]
    PageExists,
    /// 6005: the path has characters that Wiki.js refuses (W16).
    #[error("the wiki refuses this path")]
    IllegalPath,
    /// 6004: no content (W12).
    #[error("the wiki refuses a page without content")]
    EmptyContent,
    /// The key lacks a right, or is silently a guest (W1 to W3).
    #[error("the key may not do this: it needs {right}")]
    Forbidden {
        /// The right that is missing.
        right: &'static str,
    },
    /// 401 or 403 instead of an answer: a gateway before the wiki refuses.
    #[error("a gateway before the wiki refused the request (HTTP status {status})")]
    TurnedAway {
        /// The HTTP status.
        status: u16,
    },
    /// The key was revoked (W3).
    #[error("the wiki says that the key is invalid or was revoked")]
    KeyRevoked,
    /// The key's own date of expiry has passed (W4), and the wiki refuses it, or treats it as a
    /// guest's (W3).
    #[error("the key expired at {at}: the wiki refuses it, or treats it as a guest's")]
    KeyExpired {
        /// The time of expiry, in RFC 3339.
        at: String,
    },
    /// The wiki says `Unauthorized`: in its renewal time it refuses a key that has expired (W3).
    #[error("the wiki refuses this key: it has expired")]
    Unauthorized,
    /// 1019: the wiki does not know the key, and treats whoever has it as a guest (W3).
    #[error("the wiki does not know this key, and treats it as a guest")]
    Guest,
    /// API access is switched off (W3).
    #[error("API access is switched off in the wiki")]
    ApiDisabled,
    /// 429.
    #[error("the wiki asks for fewer requests")]
    RateLimited {
        /// The time that it asks to wait, if it says so.
        after: Option<Duration>,
    },
    /// The wiki takes no further comment yet (W31).
    #[error("the wiki takes no further comment yet")]
    TooSoon {
        /// The time to wait, if it says so.
        after: Option<Duration>,
    },
    /// 8003: a comment without text (W30).
    #[error("the wiki refuses a comment of less than two characters")]
    CommentEmpty,
    /// 2002 or 2005: the name is taken (W36, W41).
    #[error("there already is an asset or a folder of that name")]
    AssetExists,
    /// No folder is at the path in which an asset shall be.
    #[error("the wiki has no such folder")]
    NoFolder,
    /// The wiki has no such locale (W46).
    #[error("the wiki has no such locale")]
    NoSuchLocale,
    /// No answer within the limit.
    #[error("the wiki did not answer within {} ms", after.as_millis())]
    Timeout {
        /// The limit.
        after: Duration,
    },
    /// No connection could be opened, so nothing was sent.
    #[error("no connection to the wiki could be opened")]
    NotConnected,
    /// The server could not show a trusted certificate, so nothing was sent.
    #[error("the wiki's certificate is not trusted: {why}")]
    Untrusted {
        /// The fault of the certificate.
        why: &'static str,
    },
    /// The server ended TLS: it may ask for a certificate, and got none that it takes.
    #[error(
        "what answers in the wiki's place ended TLS: it may ask for a certificate, and got none that it takes"
    )]
    TlsEnded {
        /// True if a request may have gone out before.
        was_sent: bool,
    },
    /// The connection broke before the whole answer was there.
    #[error("the connection to the wiki broke off")]
    Cut,
    /// A 5xx without a cause, or 408.
    #[error("the wiki answered with HTTP status {status}")]
    Unavailable {
        /// The HTTP status.
        status: u16,
    },
    /// HTML or anything else where JSON was due.
    #[error("what answered with HTTP status {status} is not the wiki's API")]
    NotGraphQl {
        /// The HTTP status.
        status: u16,
    },
    /// A redirect, which is never followed: the key must not travel.
    #[error("the wiki's address redirects (HTTP status {status})")]
    Redirected {
        /// The HTTP status.
        status: u16,
    },
    /// The request is over what the wiki takes: 5 MB (W19).
    #[error("the request is larger than the 5 MB that Wiki.js takes")]
    RequestTooLarge,
    /// 413, although the wiki would accept the request: a gateway before it has a lower limit.
    #[error("a gateway before the wiki refuses requests of this size (HTTP status 413)")]
    RefusedForSize,
    /// The answer is over our own limit.
    #[error("the wiki's answer is larger than {limit} bytes")]
    AnswerTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// Too many large pages are compared at this moment: the answer was not read to its end.
    #[error(transparent)]
    NoRoom(RenderBudgetExceeded),
    /// Two writes met while the tree was rebuilt: the page is written, the rest was skipped (W19).
    #[error("the wiki could not rebuild its page tree")]
    TreeRebuild,
    /// Any other error of Wiki.js; its text may be SQL and is never shown (W5).
    #[error("the wiki answered with an internal error ({kind})")]
    Internal {
        /// The kind of error: one of the few that have a name.
        kind: &'static str,
    },
    /// The same, in a query of the operator's own: the wiki cannot tell one of its fields.
    #[error("the wiki fails at the field {field} of this query")]
    FieldFailed {
        /// The names on the way to it, joined by dots.
        field: String,
    },
    /// The wiki refuses the operation itself: another version, or a schema that changed.
    #[error("the wiki does not understand the request; it may be another version of Wiki.js")]
    Misunderstood,
    /// JSON, but not in the form of the schema.
    #[error("the wiki's answer is not in the form of its schema, at {at}")]
    Malformed {
        /// The place in the answer.
        at: String,
    },
}

impl WikiError {
    /// Gives the consequences of each kind for a read and for a write, in one table: the same read may
    /// succeed a moment later; the outcome of a mutation is not known; somebody said no.
    fn meaning(&self) -> (bool, bool, bool) {
        match self {
            Self::NotFound
            | Self::PageExists
            | Self::IllegalPath
            | Self::EmptyContent
            | Self::CommentEmpty
            | Self::AssetExists
            | Self::NoFolder
            | Self::NoSuchLocale
            | Self::TooSoon { .. }
            | Self::Forbidden { .. }
            | Self::KeyRevoked
            | Self::KeyExpired { .. }
            | Self::Unauthorized
            | Self::Guest
            | Self::ApiDisabled
            | Self::RequestTooLarge
            | Self::Misunderstood => (false, false, true),
            Self::TurnedAway { .. } | Self::RefusedForSize => (false, true, true),
            Self::RateLimited { .. } => (true, true, true),
            Self::Timeout { .. } | Self::Cut | Self::Unavailable { .. } => (true, true, false),
            Self::NotConnected => (true, false, false),
            Self::TlsEnded { was_sent } => (true, *was_sent, false),
            Self::NotGraphQl { .. }
            | Self::Redirected { .. }
            | Self::AnswerTooLarge { .. }
            | Self::Malformed { .. } => (false, true, false),
            // It is said of reads alone.
            Self::Internal { kind } => (false, *kind == HTTP_500, false),
            Self::NoRoom(_)
            | Self::Untrusted { .. }
            | Self::TreeRebuild
            | Self::FieldFailed { .. } => (false, false, false),
        }
    }

    /// A refusal for lack of a right.
    pub(super) const fn forbidden(right: &'static str) -> Self {
        Self::Forbidden { right }
    }

    /// An answer or request in another form than the schema's.
    pub(super) fn malformed(at: &str) -> Self {
        Self::Malformed { at: at.to_owned() }
    }

    /// True if the same read may succeed a moment later.
    pub fn is_passing(&self) -> bool {
        self.meaning().0
    }

    /// True if nothing of a request reached the wiki.
    pub(super) const fn was_not_sent(&self) -> bool {
        matches!(
            self,
            Self::NotConnected
                | Self::Untrusted { .. }
                | Self::TlsEnded { was_sent: false }
                | Self::RequestTooLarge
        )
    }

    /// True if this leaves the outcome of a mutation open. Every answer that is not the wiki's own
    /// does: a gateway may have passed the request on before it answered.
    pub(super) fn leaves_open(&self) -> bool {
        self.meaning().1
    }

    /// True if it is a refusal by the wiki or a gateway, not a lost or unreadable answer.
    pub fn is_refusal(&self) -> bool {
        self.meaning().2
    }

    /// True if the wiki answers, but not this key.
    pub const fn is_about_the_key(&self) -> bool {
        matches!(
            self,
            Self::KeyRevoked
                | Self::KeyExpired { .. }
                | Self::Unauthorized
                | Self::Guest
                | Self::ApiDisabled
        )
    }

    /// True if it would prevent reading any other page too.
    pub(crate) fn ends_a_pass(&self) -> bool {
        self.is_passing()
            || matches!(
                self,
                Self::KeyRevoked | Self::KeyExpired { .. } | Self::Unauthorized | Self::ApiDisabled
            )
    }

    /// True if the wiki refused for want of a right.
    pub const fn is_forbidden(&self) -> bool {
        matches!(self, Self::Forbidden { .. })
    }
}

impl From<WikiError> for Failure {
    fn from(error: WikiError) -> Self {
        let message = sentence(&error.to_string());
        let failure = |code| Self::new(code, message.clone());
        match error {
            WikiError::NotFound => failure(Code::PageNotFound),
            WikiError::PageExists => failure(Code::PageExists),
            WikiError::AssetExists => failure(Code::PageExists)
                .hint("Choose another name, or rename or delete what is there; wikijs_upload_asset with replace: true writes over an asset."),
            WikiError::NoFolder => failure(Code::PageNotFound)
                .hint("wikijs_list_assets lists the folders; createFolders: true makes the missing ones, which nothing can remove again."),
            WikiError::NoSuchLocale => failure(Code::InvalidInput)
                .hint("Name a locale that the wiki has; an administrator of the wiki installs others."),
            // Deletions are judged by rules without a locale alone (seen on 2.5.314).
            WikiError::Forbidden { right: "delete:pages" } => failure(Code::PermissionDenied)
                .detail("right", "delete:pages")
                .hint("Give the key's group the right in details.right. If it has it, its page rules may name locales: Wiki.js applies such rules to no deletion, so it takes a rule for all locales. An invalid or expired key counts as a guest."),
            WikiError::Forbidden { right } => {
                failure(Code::PermissionDenied).detail("right", right)
            }
            WikiError::TurnedAway { status } => failure(Code::PermissionDenied)
                .detail("status", status)
                .hint("Tell the user that a gateway or firewall before the wiki refuses this server's requests."),
            WikiError::KeyRevoked | WikiError::Unauthorized | WikiError::Guest => {
                failure(Code::KeyRejected)
            }
            WikiError::KeyExpired { at } => failure(Code::KeyRejected).detail("expiredAt", at),
            WikiError::ApiDisabled => failure(Code::ApiDisabled),
            WikiError::RateLimited { after } | WikiError::TooSoon { after } => failure(Code::RateLimited)
                .detail_if("retryAfterSeconds", after.map(|after| after.as_secs())),
            WikiError::NoRoom(no_room) => no_room.into(),
            WikiError::Timeout { .. } => failure(Code::Timeout),
            WikiError::NotConnected | WikiError::Cut | WikiError::Unavailable { .. } => {
                failure(Code::WikiUnavailable)
            }
            WikiError::Untrusted { .. } => failure(Code::WikiUnavailable)
                .hint("Tell the user: WIKI_CA_FILE names authorities that may sign the wiki's certificate, besides the system's; WIKI_BASE_URL must name the certificate's host."),
            WikiError::TlsEnded { .. } => failure(Code::WikiUnavailable)
                .hint("Tell the user: WIKI_CLIENT_CERT_FILE names a certificate for whoever asks for one, with WIKI_CLIENT_KEY_FILE."),
            WikiError::NotGraphQl { status } => failure(Code::WikiUnavailable)
                .detail("status", status)
                .hint("Tell the user to check WIKI_BASE_URL and WIKI_GRAPHQL_PATH; a login page or a gateway may be in front of the wiki."),
            WikiError::Redirected { status } => failure(Code::WikiUnavailable)
                .detail("status", status)
                .hint("Tell the user to set WIKI_BASE_URL to the address that the wiki redirects to; redirects are not followed, so that the key is not sent elsewhere."),
            WikiError::RequestTooLarge | WikiError::AnswerTooLarge { .. } => failure(Code::TooLarge),
            WikiError::RefusedForSize => failure(Code::TooLarge)
                .hint("Tell the user that a gateway before the wiki limits the size of requests; Wiki.js itself takes 5 MB."),
            WikiError::FieldFailed { .. } => failure(Code::WikiError)
                .hint("Tell the user: without this field in the tool's file, the query may succeed."),
            WikiError::IllegalPath
            | WikiError::CommentEmpty
            | WikiError::EmptyContent
            | WikiError::TreeRebuild
            | WikiError::Internal { .. }
            | WikiError::Misunderstood
            | WikiError::Malformed { .. } => failure(Code::WikiError),
        }
    }
}
