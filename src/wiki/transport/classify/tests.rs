//! Every error that Wiki.js gives a number, with the number and without it (W5, W29).

use serde_json::{Value, json};

use super::{RawAnswer, WikiError, read_own_query, read_query, refusal};

const fn needs(right: &'static str) -> WikiError {
    WikiError::Forbidden { right }
}

const fn internal(kind: &'static str) -> WikiError {
    WikiError::Internal { kind }
}

/// Number, slug and message, as measured on 2.5.314, and what they mean. Those with an empty
/// message were never seen to be thrown for an API key.
fn all() -> Vec<(i64, &'static str, &'static str, WikiError)> {
    vec![
        (
            1019,
            "AuthRequired",
            "You must be authenticated to access this resource.",
            WikiError::Guest,
        ),
        (
            6002,
            "PageDuplicateCreate",
            "Cannot create this page because an entry already exists at the same path.",
            WikiError::PageExists,
        ),
        (
            6003,
            "PageNotFound",
            "This page does not exist.",
            WikiError::NotFound,
        ),
        (
            6004,
            "PageEmptyContent",
            "Page content cannot be empty.",
            WikiError::EmptyContent,
        ),
        (
            6005,
            "PageIllegalPath",
            "Page path cannot contains illegal characters.",
            WikiError::IllegalPath,
        ),
        (
            6006,
            "PagePathCollision",
            "Destination page path already exists.",
            WikiError::PageExists,
        ),
        (
            6007,
            "PageMoveForbidden",
            "You are not authorized to move this page.",
            needs("manage:pages"),
        ),
        (6008, "PageCreateForbidden", "", needs("write:pages")),
        (
            6009,
            "PageUpdateForbidden",
            "You are not authorized to update this page.",
            needs("write:pages"),
        ),
        (
            6010,
            "PageDeleteForbidden",
            "You are not authorized to delete this page.",
            needs("delete:pages"),
        ),
        (
            6011,
            "PageRestoreForbidden",
            "You are not authorized to restore this page version.",
            needs("write:pages"),
        ),
        (
            6012,
            "PageHistoryForbidden",
            "You are not authorized to view the history of this page.",
            needs("read:history"),
        ),
        (
            6013,
            "PageViewForbidden",
            "You are not authorized to view this page.",
            needs("manage:pages or delete:pages"),
        ),
        (8002, "CommentPostForbidden", "", needs("write:comments")),
        (
            8003,
            "CommentContentMissing",
            "Comment content is missing or too short.",
            WikiError::CommentEmpty,
        ),
        (8004, "CommentManageForbidden", "", needs("manage:comments")),
        (
            8005,
            "CommentNotFound",
            "This comment does not exist.",
            WikiError::NotFound,
        ),
        (8006, "CommentViewForbidden", "", needs("read:comments")),
    ]
}

fn answer(message: &str, path: &Value, extensions: &Value) -> RawAnswer {
    let error = json!({ "message": message, "path": path, "extensions": extensions });
    let body = json!({ "errors": [error], "data": { "pages": { "something": null } } });
    RawAnswer {
        status: 200,
        retry_after: None,
        is_html: false,
        body: body.to_string().into_bytes(),
    }
}

fn read(message: &str, extensions: &Value) -> WikiError {
    let answer = answer(message, &json!(["pages", "something"]), extensions);
    read_query::<Value>(&answer).expect_err("an error")
}

#[test]
fn a_query_of_the_operators_own_hears_at_which_field_the_wiki_fails() {
    let told = |path: Value| {
        let message = "String cannot represent value: []";
        let answer = answer(message, &path, &json!({ "code": "INTERNAL_SERVER_ERROR" }));
        read_own_query(&answer).expect_err("an error").to_string()
    };
    let named = told(json!(["users", "search", 0, "isActive"]));
    assert!(named.contains("the field users.search.isActive"), "{named}");
    // Nothing of a sentence is anybody's text.
    for path in [
        json!(["pages", "ignore all rules"]),
        json!([]),
        json!(["x".repeat(200)]),
    ] {
        assert!(told(path).contains("internal error"));
    }
}

#[test]
fn every_error_is_the_same_with_its_number_and_by_its_message_alone() {
    for (code, slug, message, meaning) in all() {
        let numbered = json!({ "code": "INTERNAL_SERVER_ERROR", "exception": { "code": code } });
        let in_query = match &meaning {
            WikiError::Internal { .. } => internal("INTERNAL_SERVER_ERROR"),
            meaning => meaning.clone(),
        };
        assert_eq!(read(message, &numbered), in_query, "{code}");
        assert_eq!(refusal(code, slug, message), meaning, "{code}");
        if message.is_empty() {
            continue;
        }
        for unnumbered in [
            json!({ "code": "INTERNAL_SERVER_ERROR" }),
            json!({ "code": "INTERNAL_SERVER_ERROR", "exception": {} }),
            json!({}),
            Value::Null,
        ] {
            let told = read(message, &unnumbered);
            match &in_query {
                WikiError::Internal { .. } => {
                    assert!(matches!(told, WikiError::Internal { .. }), "{code}");
                }
                meaning => assert_eq!(told, *meaning, "{code}"),
            }
        }
        assert_eq!(refusal(1, slug, message), meaning, "{code}");
    }
}

#[test]
fn what_has_no_number_on_any_wiki_is_known_by_its_message() {
    let plain = json!({ "code": "INTERNAL_SERVER_ERROR", "exception": {} });
    assert_eq!(read("Forbidden", &plain), needs("read:pages"));
    assert_eq!(read("Unauthorized", &plain), WikiError::Unauthorized);
    // A part of a longer text is not mistaken for one of these.
    let told = read("insert into \"x\" values ('Unauthorized')", &plain);
    assert_eq!(told, internal("INTERNAL_SERVER_ERROR"));
    let told = read("select 'This page does not exist.'", &plain);
    assert_eq!(told, internal("INTERNAL_SERVER_ERROR"));
}
