//! The classifier of the wiki's answers.
//!
//! Pure, so that it can be fuzzed: any status with any body becomes data or a [`WikiError`], and no
//! text of the wiki gets into the error.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::attached::comments::COMMENT_PAUSE;
use super::super::error::{HTTP_500, WikiError, WikiResult};
use super::envelope::{Envelope, GraphQlError};

/// One HTTP answer, read to its end.
#[derive(Debug, Clone)]
pub struct RawAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The header `Retry-After`, if it is a number of seconds.
    pub retry_after: Option<Duration>,
    /// True if it says that it is a web page.
    pub is_html: bool,
    /// The body.
    pub body: Vec<u8>,
}

impl RawAnswer {
    /// The fault of the moment that the status tells, if it is one.
    pub(in crate::wiki) fn passing_fault(&self) -> Option<WikiError> {
        match self.status {
            429 => Some(WikiError::RateLimited {
                after: self.retry_after,
            }),
            status @ (408 | 502 | 503 | 504) => Some(WikiError::Unavailable { status }),
            _ => None,
        }
    }

    /// The error that it is in place of a file or a source: classified as for the API.
    pub(in crate::wiki) fn as_error(&self) -> WikiError {
        let status = self.status;
        let error = read_query::<IgnoredAny>(self).err();
        error.unwrap_or(WikiError::NotGraphQl { status })
    }
}

/// The form of nearly every answer: data as expected, and no error.
#[derive(Deserialize)]
struct Good<D> {
    data: D,
    /// Absent or an empty list: an answer with errors is no good one.
    #[serde(default, rename = "errors")]
    _errors: [IgnoredAny; 0],
}

/// The results of a mutation by what they are of and by name, each as in the answer.
type MutationResults<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a RawValue>>;

/// True if every result is there.
fn is_whole(answered: &MutationResults<'_>) -> bool {
    let mut all = answered.values().flat_map(BTreeMap::values).peekable();
    all.peek().is_some() && all.all(|it| it.get().starts_with('{'))
}

/// Reads the answer of one query: its data, or why there is none.
///
/// Errors besides data count (W6): a page with one refused field is not a page.
///
/// # Errors
/// See [`WikiError`].
pub fn read_query<D: DeserializeOwned>(answer: &RawAnswer) -> WikiResult<D> {
    match good::<Good<D>>(answer) {
        Some(good) => Ok(good.data),
        None => data(&envelope(answer)?),
    }
}

/// Reads the answer to a query of the operator's own, of which an internal error names its field.
///
/// # Errors
/// See [`WikiError`].
pub fn read_own_query(answer: &RawAnswer) -> WikiResult<Value> {
    read_query(answer).map_err(|error| match error {
        WikiError::Internal { .. } => {
            failed_field(answer).map_or(error, |field| WikiError::FieldFailed { field })
        }
        error => error,
    })
}

/// The names on the way to the field at which a query failed, joined by dots, if they are names.
fn failed_field(answer: &RawAnswer) -> Option<String> {
    let envelope: Envelope<'_> = serde_json::from_slice(&answer.body).ok()?;
    let error = envelope.error()?;
    let names: Vec<&str> = error.path.iter().filter_map(Value::as_str).collect();
    let is_name = |name: &&str| {
        name.len() <= 100 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let are_names = !names.is_empty() && names.len() <= 12 && names.iter().all(is_name);
    are_names.then(|| names.join("."))
}

/// An answer without errors, parsed in one go; others are classified part by part.
fn good<D: DeserializeOwned>(answer: &RawAnswer) -> Option<D> {
    let parsed = (answer.status == 200).then(|| serde_json::from_slice(&answer.body));
    parsed?.ok()
}

/// Reads the answer to an array of operations: one each, in order (W8).
///
/// # Errors
/// See [`WikiError`]; the error of a single operation is in its place in the list.
pub fn read_batch<D: DeserializeOwned>(
    answer: &RawAnswer,
    count: usize,
) -> WikiResult<Vec<WikiResult<D>>> {
    if let Some(all) = good::<Vec<Good<D>>>(answer).filter(|all| all.len() == count) {
        return Ok(all.into_iter().map(|good| Ok(good.data)).collect());
    }
    let answers = envelopes(answer)?;
    if answers.len() != count {
        return Err(not_a_list());
    }
    Ok(answers.iter().map(data).collect())
}

/// Reads the answer of two operations of different kinds in one request.
///
/// # Errors
/// See [`WikiError`]; the error of a single operation is in its place.
pub fn read_pair<A: DeserializeOwned, B: DeserializeOwned>(
    answer: &RawAnswer,
) -> WikiResult<(WikiResult<A>, WikiResult<B>)> {
    if let Some((first, second)) = good::<(Good<A>, Good<B>)>(answer) {
        return Ok((Ok(first.data), Ok(second.data)));
    }
    let answers = envelopes(answer)?;
    let [first, second] = answers.as_slice() else {
        return Err(not_a_list());
    };
    Ok((data(first), data(second)))
}

/// The answers of several reads in one operation, by name.
#[derive(Deserialize)]
struct NamedAnswers<D> {
    #[serde(default = "Option::default")]
    pages: Option<BTreeMap<String, Option<D>>>,
}

/// Reads the answer of one operation with several reads below `pages`: by name, what each gave or
/// why it failed (W26).
///
/// # Errors
/// Why there is no answer at all; an error of one read is one if the schema lets none be absent.
pub(in crate::wiki) fn read_named<D: DeserializeOwned>(
    answer: &RawAnswer,
    names: &[String],
) -> WikiResult<Vec<WikiResult<D>>> {
    let envelope = envelope(answer)?;
    let first = || envelope.error().map(|error| graphql_error(&error));
    let data: NamedAnswers<D> = match decode(&envelope) {
        Ok(data) => data,
        Err(malformed) => return Err(first().unwrap_or(malformed)),
    };
    let Some(mut pages) = data.pages else {
        return Err(first().unwrap_or_else(not_a_list));
    };
    let mut errors: BTreeMap<String, WikiError> = envelope
        .errors()
        .filter_map(|error| {
            let name = error.path.get(1)?.as_str()?.to_owned();
            Some((name, graphql_error(&error)))
        })
        .collect();
    let read = |name: &String| match (errors.remove(name), pages.remove(name)) {
        (None, Some(Some(page))) => Ok(page),
        (Some(error), _) => Err(error),
        (None, _) => Err(first().unwrap_or(WikiError::NotFound)),
    };
    Ok(names.iter().map(read).collect())
}

fn envelopes(answer: &RawAnswer) -> WikiResult<Vec<Envelope<'_>>> {
    check_status(answer)?;
    let Ok(answers) = serde_json::from_slice::<Vec<Envelope<'_>>>(&answer.body) else {
        // A refusal of the whole request is not an array.
        let whole = envelope(answer)?;
        return Err(match whole.error() {
            Some(error) => graphql_error(&error),
            None => not_a_list(),
        });
    };
    Ok(answers)
}

fn not_a_list() -> WikiError {
    WikiError::malformed("the list of answers")
}

/// Reads the answer of one mutation: its data, even if there are errors too, since only
/// `responseResult.succeeded` means success (W6).
///
/// # Errors
/// See [`WikiError`].
pub fn read_mutation<D: DeserializeOwned>(answer: &RawAnswer) -> WikiResult<D> {
    let envelope = envelope(answer)?;
    let is_answered = serde_json::from_str::<MutationResults<'_>>(envelope.data())
        .is_ok_and(|answered| is_whole(&answered));
    match envelope.error() {
        Some(error) if !is_answered => Err(graphql_error(&error)),
        _ => decode(&envelope),
    }
}

/// The error in the `responseResult` of a failed mutation (W5).
pub fn refusal(code: i64, slug: &str, message: &str) -> WikiError {
    if let Some(known) = coded(code).or_else(|| worded(message)) {
        return known;
    }
    if message.contains("rebuild-tree") {
        WikiError::TreeRebuild
    } else if slug == "ForeignKeyViolationError" && message.contains("localecode") {
        // The text is SQL (W17, W46); only this word of it is looked for.
        WikiError::NoSuchLocale
    } else if message == "Invalid Page Id" {
        WikiError::NotFound
    } else {
        WikiError::Internal { kind: kind(slug) }
    }
}

fn data<D: DeserializeOwned>(envelope: &Envelope<'_>) -> WikiResult<D> {
    match envelope.error() {
        Some(error) => Err(graphql_error(&error)),
        None => decode(envelope),
    }
}

fn decode<D: DeserializeOwned>(envelope: &Envelope<'_>) -> WikiResult<D> {
    let mut data = serde_json::Deserializer::from_str(envelope.data());
    serde_path_to_error::deserialize(&mut data).map_err(|error| WikiError::Malformed {
        at: format!("data.{}", error.path())
            .trim_end_matches('.')
            .to_owned(),
    })
}

fn check_status(answer: &RawAnswer) -> WikiResult<()> {
    match answer.status {
        413 => Err(WikiError::RefusedForSize),
        status @ 300..=399 => Err(WikiError::Redirected { status }),
        _ => answer.passing_fault().map_or(Ok(()), Err),
    }
}

fn envelope(answer: &RawAnswer) -> WikiResult<Envelope<'_>> {
    check_status(answer)?;
    let status = answer.status;
    let parsed = serde_json::from_slice::<Envelope<'_>>(&answer.body).ok();
    match (status, parsed) {
        (200, Some(envelope)) => Ok(envelope),
        (500, Some(envelope)) => Err(envelope
            .error()
            .map_or(WikiError::Unavailable { status }, |error| {
                named_cause(&error)
            })),
        (400, Some(envelope)) if envelope.error().is_some() => Err(WikiError::Misunderstood),
        (500..=599, _) => Err(WikiError::Unavailable { status }),
        (401 | 403, _) => Err(WikiError::TurnedAway { status }),
        (_, _) => Err(WikiError::NotGraphQl { status }),
    }
}

/// The cause that a 500 names (W3), so it is not a passing fault.
fn named_cause(error: &GraphQlError) -> WikiError {
    if error.message.contains("API Key is invalid or was revoked") {
        WikiError::KeyRevoked
    } else if error.message.contains("API is disabled") {
        WikiError::ApiDisabled
    } else {
        WikiError::Internal { kind: HTTP_500 }
    }
}

fn graphql_error(error: &GraphQlError) -> WikiError {
    let code = error
        .extensions
        .pointer("/exception/code")
        .and_then(Value::as_i64);
    if let Some(known) = code.and_then(coded).or_else(|| worded(&error.message)) {
        return known;
    }
    let field = error
        .path
        .get(1)
        .and_then(Value::as_str)
        .unwrap_or_default();
    if error.message == "Forbidden" {
        return WikiError::Forbidden {
            right: match error.path.first().and_then(Value::as_str) {
                Some("comments") => right_for_comments(field, error.path.len() > 2),
                Some("assets") => right_for_assets(field),
                _ => right_for(field, error.path.get(2)),
            },
        };
    }
    // An unknown id makes the history fail with this error (W10).
    if field == "history" && error.message.contains("Cannot read propert") {
        return WikiError::NotFound;
    }
    let word = error.extensions.get("code").and_then(Value::as_str);
    WikiError::Internal {
        kind: kind(word.unwrap_or("Error")),
    }
}

/// The errors that Wiki.js gives a number (W3, W5).
fn coded(code: i64) -> Option<WikiError> {
    Some(match code {
        1019 => WikiError::Guest,
        2002 | 2005 => WikiError::AssetExists,
        2003 | 2006 => WikiError::forbidden("manage:assets"),
        2009 => WikiError::forbidden("write:assets"),
        6002 | 6006 => WikiError::PageExists,
        2004 | 6003 | 8005 => WikiError::NotFound,
        6004 => WikiError::EmptyContent,
        2007 | 2008 | 6005 => WikiError::IllegalPath,
        6007 => WikiError::forbidden("manage:pages"),
        6008 | 6009 | 6011 => WikiError::forbidden("write:pages"),
        6010 => WikiError::forbidden("delete:pages"),
        6012 => WikiError::forbidden("read:history"),
        6013 => WikiError::forbidden("manage:pages or delete:pages"),
        8002 => WikiError::forbidden("write:comments"),
        8003 => WikiError::CommentEmpty,
        8004 => WikiError::forbidden("manage:comments"),
        8006 => WikiError::forbidden("read:comments"),
        _ => return None,
    })
}

/// The same errors by their messages, for a wiki that leaves out their numbers (W29): the start of
/// the message, a later part of it, and the number.
const WORDED: [(&str, &str, i64); 25] = [
    ("You must be authenticated", "", 1019),
    ("Cannot create this page", "already exists", 6002),
    ("This page does not exist", "", 6003),
    ("Page content cannot be empty", "", 6004),
    ("Page path cannot", "illegal characters", 6005),
    ("Destination page path already exists", "", 6006),
    (REFUSAL, "move this page", 6007),
    (REFUSAL, "create this page", 6008),
    (REFUSAL, "update this page", 6009),
    (REFUSAL, "delete this page", 6010),
    (REFUSAL, "restore this page", 6011),
    (REFUSAL, "view the history", 6012),
    (REFUSAL, "view this page", 6013),
    (REFUSAL, "post a comment", 8002),
    ("Comment content is missing", "", 8003),
    (REFUSAL, "manage comments", 8004),
    ("This comment does not exist", "", 8005),
    (REFUSAL, "view comments", 8006),
    ("An asset folder with the same name", "", 2002),
    (REFUSAL, "delete this asset", 2003),
    ("This asset does not exist", "", 2004),
    ("An asset with the same filename", "", 2005),
    (REFUSAL, "rename this asset", 2006),
    ("The new asset filename", "", 2007),
    ("The file extension cannot be changed", "", 2008),
];
const REFUSAL: &str = "You are not authorized to ";

fn worded(message: &str) -> Option<WikiError> {
    // The wiki answers this to a key that has just expired, for every operation that needs a right
    // (W3).
    if message == "Unauthorized" {
        return Some(WikiError::Unauthorized);
    }
    // Only comments have a limit of their own (W31).
    if let Some(rest) = message.strip_prefix("Too many requests, please try again in ") {
        let seconds = rest.split(' ').next().and_then(|text| text.parse().ok());
        let after = seconds.map(Duration::from_secs);
        return Some(WikiError::TooSoon { after });
    }
    if message.starts_with("Your administrator has set a time limit before you can post") {
        // It does not say how long: at most this, unless an administrator set more.
        let after = Some(COMMENT_PAUSE);
        return Some(WikiError::TooSoon { after });
    }
    let (_, _, code) = WORDED.into_iter().find(|(start, further, _)| {
        message
            .strip_prefix(start)
            .is_some_and(|rest| rest.contains(further))
    })?;
    coded(code)
}

/// The right that a refused operation, or a refused field of a page, needs (W1, W2).
fn right_for(operation: &str, field: Option<&Value>) -> &'static str {
    match operation {
        "single" | "singleByPath" => match field.and_then(Value::as_str) {
            None => "manage:pages or delete:pages",
            Some("content") => "read:source",
            Some(_) => "write:pages",
        },
        "conflictLatest" | "checkConflicts" | "create" | "update" => "write:pages",
        "move" => "manage:pages",
        "delete" => "delete:pages",
        "history" | "version" => "read:history",
        _ => "read:pages",
    }
}

/// The right that a refused operation on comments needs, or a refused field of one (W30).
fn right_for_comments(operation: &str, is_of_field: bool) -> &'static str {
    match operation {
        "update" | "delete" => "manage:comments",
        "create" => "write:comments",
        // Of the fields that are asked for, the source alone can be refused.
        _ if is_of_field => "write:comments",
        _ => "read:comments",
    }
}

/// The right that a refused operation on assets needs (W35, W36, W41).
fn right_for_assets(operation: &str) -> &'static str {
    match operation {
        "renameAsset" | "deleteAsset" => "manage:assets",
        "createFolder" => "write:assets",
        _ => "read:assets",
    }
}

/// The kinds of error that have a name: those of JavaScript, of the database and of the GraphQL
/// engine. Other texts of the wiki are not repeated.
const KINDS: [&str; 13] = [
    "Error",
    "error",
    "TypeError",
    "RangeError",
    "ReferenceError",
    "SyntaxError",
    "INTERNAL_SERVER_ERROR",
    "BAD_USER_INPUT",
    "GRAPHQL_PARSE_FAILED",
    "GRAPHQL_VALIDATION_FAILED",
    "UNAUTHENTICATED",
    "FORBIDDEN",
    "PERSISTED_QUERY_NOT_FOUND",
];

fn kind(word: &str) -> &'static str {
    KINDS
        .into_iter()
        .find(|known| *known == word)
        .unwrap_or("another kind")
}

#[cfg(test)]
mod tests;
