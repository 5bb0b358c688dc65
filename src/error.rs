//! Defines [`Failure`], the one form of an error for callers, and holds the policy for errors.
//!
//! - **Rooms without callers** (`page`, `change`, `custom`, `config`, `files`, `audit`, `memory`, `index`,
//!   `wiki`) have enums of their own, one a subject, with `thiserror`: `EditFault`, `SettingError`,
//!   `AuditError`, `WikiError`. They know neither tools nor codes of answers, but for `WikiError`.
//! - **Where a caller answers** (`gates`, `write`, `tools`, `review`, `server`) an error becomes a `Failure`:
//!   by `From` where it means the same for every caller (`WikiError`, `UnknownLocale`, `Unresolved`,
//!   `IndexError`, `RenderBudgetExceeded`), else at the one place that knows what the caller can do about it.
//!   A stopped write is a `Refusal`: the gate, and a `Failure`. The usual result of a room has a name:
//!   [`Result`], `AuditResult`, `StoreResult`, `WikiResult`, `Gated`.
//! - **A caller sees** code, message, hint and details: a tool as structured content, the command line as
//!   `CODE: message` with the hint and an exit code, the review page as a sentence. Message and hint are ours
//!   to the letter; no text of the wiki, SQL, path of the disk or secret gets into them.
//! - **The log gets** what an operator needs beyond that: the cause, in the wiki's own words or with a path,
//!   beside the call's id. The record gets the code and the gate of each refusal of a write.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value, json};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal, $hint:literal;)*) => {
        /// The kind of an error. Programs go by the code; the texts are for people and models.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[doc = $doc])+ $name,)*
        }

        impl Code {
            /// All codes, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The code as it stands in answers and records.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The next thing to do, unless the place of the error knows a better hint.
            pub const fn hint(self) -> &'static str {
                match self { $(Self::$name => $hint,)* }
            }

            /// The meaning of the code, for the documentation.
            pub fn meaning(self) -> String {
                match self { $(Self::$name => [$($doc),+].map(str::trim).join(" "),)* }
            }
        }
    };
}

codes! {
    /// Arguments are unknown, of a wrong type or out of range; `details.fields` names them, of several with a message each (the first twenty), `details.faults` says how many there are if more.
    InvalidInput = "INVALID_INPUT", "Correct the arguments named in details.fields and call again.";
    /// The wiki has no such page, or the key may not see it. For a path, `details.place` says whether a page may be made there (`mayCreate`, `why`).
    PageNotFound = "PAGE_NOT_FOUND", "Check the id or path. Look for the page with wikijs_search_pages or wikijs_list_pages.";
    /// Several pages go by that name; `details.candidates` names them.
    AmbiguousPage = "AMBIGUOUS_PAGE", "Call again with the id, or the path and locale, of one of details.candidates.";
    /// The page has no such part.
    SectionNotFound = "SECTION_NOT_FOUND", "Take a selector from details.headings.";
    /// The page has several parts that the selector could mean; `details.candidates` names them.
    AmbiguousSection = "AMBIGUOUS_SECTION", "Choose one of the selectors in details.candidates.";
    /// The page has no such version.
    VersionNotFound = "VERSION_NOT_FOUND", "Check the versionId. Take one from wikijs_get_page_history of this page.";
    /// The level of this caller is `off`; `details.setBy` names the line that set it.
    MutationsDisabled = "MUTATIONS_DISABLED", "Tell the user: an operator can switch writes on; details.setBy names the line.";
    /// An operator paused all writes; `details.reason` says why, `details.since` since when.
    WritesPaused = "WRITES_PAUSED", "Nothing was sent. Tell the user, and do not try again before they say so: `wikijs-gate resume` lets writes go on.";
    /// The write needs the operator's static token.
    ConfirmRequired = "CONFIRM_REQUIRED", "Ask the user for the confirm token and pass it as confirm.";
    /// The confirm token is not the right one, or the call is not the one that was previewed or left to people; `details.differing` names its arguments that differ.
    ConfirmMismatch = "CONFIRM_MISMATCH", "Pass the right token; for a changed call, ask for a new preview by leaving confirm out.";
    /// The preview's token is unknown to this session, older than ten minutes, used up, or of other settings.
    ConfirmExpired = "CONFIRM_EXPIRED", "Call again with all arguments, without confirm, for a new preview and its token.";
    /// The person who was asked did not say yes, or nobody can be asked; `details.reason` says which.
    ApprovalDenied = "APPROVAL_DENIED", "Nothing was sent. Do not repeat the call unasked; talk to the user first.";
    /// The page, or the place it shall move to, lies outside the allowed prefixes.
    PathNotAllowed = "PATH_NOT_ALLOWED", "Write only below the prefixes in details.allowed; WIKI_ALLOWED_MUTATION_PATH_PREFIXES or this client's grant sets them.";
    /// The page, or the place it shall move to, lies below a denied prefix.
    PathDenied = "PATH_DENIED", "Leave this page alone; WIKI_DENIED_MUTATION_PATH_PREFIXES denies it.";
    /// A rule of the operator denies the write; `details.rule` names it, `details.why` says why it stands.
    RuleDenied = "RULE_DENIED", "Nothing was sent. Do not try it another way; tell the user which rule stopped it, and why.";
    /// No check of this name may be run on this page or draft; `details.allowed` names those that may.
    CommandNotAllowed = "COMMAND_NOT_ALLOWED", "Nothing was run. Take a name from details.allowed; only the operator adds checks, in the settings file.";
    /// What was delegated has ended or is used up, or is more than this client may hand on; `details.reason` says which.
    DelegationDenied = "DELEGATION_DENIED", "Nothing was sent. Go on without it, or tell the user; details.reason says what stands against it.";
    /// The page's text is not as the edit, patch or section says; nothing was sent.
    EditNotApplicable = "EDIT_NOT_APPLICABLE", "Read the page, then make the edit of the text as it is.";
    /// The page was changed since it was read or shown.
    EditConflict = "EDIT_CONFLICT", "Look at details.changes, then repeat the call with all its arguments, without confirm, for a new preview.";
    /// There already is a page at that path, or an asset or a folder of that name.
    PageExists = "PAGE_EXISTS", "Update what is there, or choose another path.";
    /// The key cannot read back all that a write would overwrite.
    FieldUnreadable = "FIELD_UNREADABLE", "Nothing was sent. Give the key the rights in details.rights, or leave the page to somebody who has them.";
    /// The key lacks a right.
    PermissionDenied = "PERMISSION_DENIED", "Give the key's group the right in details.right; if it has it, the key may be invalid or expired, and Wiki.js then treats it as a guest.";
    /// The key is revoked, expired or unknown to the wiki.
    KeyRejected = "KEY_REJECTED", "Tell the user: an administrator of the wiki must make a new API key and set it as WIKI_API_TOKEN.";
    /// API access is switched off in the wiki.
    ApiDisabled = "API_DISABLED", "Tell the user: an administrator can switch it on under Administration, API Access.";
    /// The wiki, or what stands before it, asks for fewer requests; or too many confirm tokens were wrong, and none is looked at for `details.retryAfterSeconds`; or too many large pages are compared at that moment, and nothing was sent.
    RateLimited = "RATE_LIMITED", "Wait, then call again.";
    /// The server was started without the address or the key of a wiki; `details.missing` names the settings.
    NotConfigured = "NOT_CONFIGURED", "Tell the user to set what details.missing names and to start this server again; `wikijs-gate config init` writes a settings file.";
    /// The wiki does not answer, or something else answers in its place.
    WikiUnavailable = "WIKI_UNAVAILABLE", "Call again later; if it lasts, check WIKI_BASE_URL and WIKI_GRAPHQL_PATH.";
    /// Something took longer than its limit.
    Timeout = "TIMEOUT", "Call again later.";
    /// Whether a write happened could not be found out.
    OutcomeUnknown = "OUTCOME_UNKNOWN", "Do not repeat the call. Read the page first to see what became of it.";
    /// A write happened in part.
    PartlyApplied = "PARTLY_APPLIED", "Do not repeat the call. Read the page; details.fields names what did not become as asked.";
    /// A write was refused by the wiki, or could not be sent; it changed nothing.
    NotApplied = "NOT_APPLIED", "Nothing changed. Mend the cause in the message, then call again.";
    /// A request, an answer or a result is larger than its limit.
    TooLarge = "TOO_LARGE", "Ask for less, or split the change.";
    /// The audit log cannot be written, so no write may happen.
    AuditUnavailable = "AUDIT_UNAVAILABLE", "Nothing was sent. Tell the user: the operator must look at WIKI_AUDIT_DIR or the database of WIKI_STORE: is it there, with space and rights?";
    /// There is no such write on record, it changed nothing, or it was taken back already.
    NothingToUndo = "NOTHING_TO_UNDO", "Name another call; the callId of a write is in its answer.";
    /// The proposal was decided already, or its page is not as it was; `details` say what changed.
    ProposalOutdated = "PROPOSAL_OUTDATED", "Nothing was sent. Look at details; what is still wanted can be proposed anew, of the page as it is.";
    /// The wiki answered with an error of its own.
    WikiError = "WIKI_ERROR", "The fault lies in the wiki; its own log says more.";
    /// A fault of this server.
    InternalError = "INTERNAL_ERROR", "This is a bug; please report it with the server's log.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A result that ends in a [`Failure`], unless another error is named.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// An error for whoever called.
///
/// The message is ours to the letter: no text of the wiki, SQL, disk path or secret gets into
/// it. What of the wiki belongs to it stands in the details, as data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// The kind of error.
    pub code: Code,
    /// The message, in one sentence.
    pub message: String,
    /// The next thing to do.
    pub hint: String,
    /// Data that a program needs to go on.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

impl Failure {
    /// A failure with the hint of its code and no details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: code.hint().to_owned(),
            details: Map::new(),
        }
    }

    /// A failure of an argument, by its name.
    pub fn of_argument(argument: &str, message: impl Into<String>) -> Self {
        let fields = json!([{ "path": argument }]);
        Self::new(Code::InvalidInput, message).detail("fields", fields)
    }

    /// The same with another hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The same with one more detail.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// The same with one more detail, if there is one.
    #[must_use]
    pub fn detail_if(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.detail(name, value),
            None => self,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Failure {}

/// A name in Rust as JSON has it.
pub fn camel_case(path: &str) -> String {
    let mut camel = String::with_capacity(path.len());
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        match c {
            '_' => camel.extend(chars.next().map(|c| c.to_ascii_uppercase())),
            c => camel.push(c),
        }
    }
    camel
}

/// A text of ours with a capital first letter.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// Makes a sentence of a lower-case fragment.
pub fn sentence(fragment: &str) -> String {
    format!("{}.", capitalised(fragment))
}
