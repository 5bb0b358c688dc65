//! The wiki's HTTP side.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::multipart::MultipartRejection;
use axum::extract::{DefaultBodyLimit, Multipart, Path, Request, State};
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::response::IntoResponse as _;
use axum::routing::{any, get, post};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::graphql::{Answer, Operation, WikiSchema, schema};
use super::state::Shared;
use super::testing::SeenRequest;
use super::upload::{Upload, stored};
use crate::demo::{Access, clock, surrogates, views};

/// The largest body that the wiki reads.
const MOST: usize = 5 * 1024 * 1024;
/// The bytes of a larger body that are swallowed, so that the client gets to the answer.
const SWALLOWED: usize = 64 * 1024 * 1024;

const JSON: &str = "application/json; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

/// A page of the wiki that is no answer of its API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// A page in its editor.
    Editor,
    /// A page as readers see it.
    Reader,
    /// The source of a page.
    Source,
}

/// An answer; an error is one that ends the handling early.
type Answered = Result<Response<Body>, Response<Body>>;

#[derive(Clone)]
struct App {
    shared: Arc<Shared>,
    schema: WikiSchema,
}

/// All routes of the wiki.
pub(super) fn router(shared: Arc<Shared>) -> Router {
    let schema = schema(Arc::clone(&shared));
    Router::new()
        .route("/graphql", any(graphql))
        .route("/healthz", get(healthz))
        .route("/d/{locale}/{*path}", get(download_source))
        .route("/e/{locale}/{*path}", get(view_in_editor))
        .route("/{locale}/{*path}", get(view))
        .route("/{locale}", get(at_root).fallback(not_found))
        .route("/u", post(upload).layer(DefaultBodyLimit::max(SWALLOWED)))
        .fallback(not_found)
        .with_state(App { shared, schema })
}

async fn healthz() -> Response<Body> {
    respond(StatusCode::OK, JSON, json!({"ok": true}).to_string())
}

async fn not_found() -> Response<Body> {
    message(StatusCode::NOT_FOUND, "Not Found")
}

/// So does the wiki with a key that has just expired: it never answers.
async fn no_answer() -> Response<Body> {
    std::future::pending().await
}

/// An asset is at a path that is no page's: it has a dot, and another end than a page's (W40).
fn is_of_asset(path: &str) -> bool {
    let of_page = [".md", ".html", ".txt"];
    path.contains('.') && !of_page.iter().any(|end| path.ends_with(end))
}

/// The path that an address means: without dots in a row, without a first part of one character or,
/// then, of a locale's form (W42).
fn meant(address: &str) -> String {
    let mut plain = String::new();
    let mut rest = address;
    while let Some((before, behind)) = rest.split_once("..") {
        plain.push_str(before);
        rest = behind.trim_start_matches('.');
    }
    plain.push_str(rest);
    let parts = plain.split('/');
    let mut parts = parts
        .filter(|part| !matches!(part.trim(), "" | "."))
        .peekable();
    parts.next_if(|first| first.encode_utf16().count() == 1);
    parts.next_if(|first| {
        let letters = |of: &str| of.len() == 2 && of.bytes().all(|b| b.is_ascii_alphabetic());
        match first.split_once('-') {
            Some((language, region)) => letters(language) && letters(region),
            None => letters(first),
        }
    });
    parts.collect::<Vec<_>>().join("/")
}

async fn at_root(State(app): State<App>, Path(name): Path<String>, headers: HeaderMap) -> Answered {
    if is_of_asset(&name) {
        return asset(&app, &name, &headers);
    }
    Err(not_found().await)
}

fn asset(app: &App, address: &str, headers: &HeaderMap) -> Answered {
    const TEXT: &str = "text/plain; charset=utf-8";
    let access = admit(&app.shared, headers).map_err(refused)?;
    let path = &meant(address);
    if !access.may(&["read:assets"], path) {
        return Err(respond(StatusCode::FORBIDDEN, TEXT, "Forbidden"));
    }
    let store = app.shared.store();
    let found = store.asset_at(path);
    let found = found.ok_or_else(|| respond(StatusCode::NOT_FOUND, TEXT, "Not Found"))?;
    let kind = served_as(found.ext());
    Ok(respond(StatusCode::OK, kind, found.data.clone()))
}

/// The type that goes by the end of a name.
fn served_as(ext: &str) -> &'static str {
    match ext {
        ".png" => "image/png",
        ".jpg" | ".jpeg" => "image/jpeg",
        ".gif" => "image/gif",
        ".webp" => "image/webp",
        ".svg" => "image/svg+xml",
        ".pdf" => "application/pdf",
        _ => "application/octet-stream",
    }
}

/// Takes a file (W37). It says `ok` whatever the database says.
async fn upload(
    State(app): State<App>,
    headers: HeaderMap,
    form: Result<Multipart, MultipartRejection>,
) -> Answered {
    let access = admit(&app.shared, &headers).map_err(refused)?;
    let form = form.map_err(|_| failed("Error"))?;
    let read = Upload::read(form).await;
    let is_large = |read: &Upload| read.file.as_ref().is_some_and(|file| file.2.len() > MOST);
    let Some(read) = read.filter(|read| !is_large(read)) else {
        return Err(failed("Error"));
    };
    let refused = |status, message: &str| {
        let told = json!({"succeeded": false, "message": message});
        respond(status, JSON, told.to_string())
    };
    let forbidden = |message| Err(refused(StatusCode::FORBIDDEN, message));
    let missing = |message| refused(StatusCode::BAD_REQUEST, message);
    if !access.has(&["write:assets"]) {
        return forbidden("You are not authorized to upload files.");
    }
    let file = read.file.ok_or_else(|| missing("Missing upload payload."));
    let (name, mime, data) = file?;
    let folder = read
        .folder
        .ok_or_else(|| missing("Missing upload folder metadata."))?;
    let path = app.shared.store().upload_path(folder, &name);
    if !access.may(&["write:assets"], &path) {
        return forbidden("You are not authorized to upload files to this folder.");
    }
    let request = SeenRequest::of_upload(folder, &name);
    let testing = &app.shared.testing;
    let store = || app.shared.store();
    let _under_way = testing.before(request, &headers, store).await;
    let sent = data.len();
    let data = stored(&name, &mime, data);
    let mut store = app.shared.store();
    store.upload(folder, &name, (&mime, sent), data);
    drop(store);
    Ok(respond(StatusCode::OK, HTML, "ok"))
}

async fn download_source(
    State(app): State<App>,
    Path((locale, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Answered {
    let access = admit(&app.shared, &headers).map_err(refused)?;
    if app.shared.testing.is_blocked(View::Source) {
        return Err(StatusCode::NOT_FOUND.into_response());
    }
    if access.has_just_expired {
        return Err(no_answer().await);
    }
    if !access.may(&["read:source"], &path) {
        return Err(StatusCode::FORBIDDEN.into_response());
    }
    let _under_way = app.shared.testing.before_source().await;
    let store = app.shared.store();
    let page = store.page_at(&locale, &path);
    let page = page.ok_or_else(|| StatusCode::NOT_FOUND.into_response())?;
    let (kind, source) = (views::source_type(page), views::source(page));
    Ok(respond(StatusCode::OK, kind, source))
}

async fn view(
    State(app): State<App>,
    Path((locale, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Answered {
    let whole = format!("{locale}/{path}");
    if is_of_asset(&whole) && app.shared.store().page_at(&locale, &path).is_none() {
        return asset(&app, &whole, &headers);
    }
    let access = admit(&app.shared, &headers).map_err(failed)?;
    if access.has_just_expired {
        return Err(failed("Unauthorized"));
    }
    if app.shared.testing.is_blocked(View::Reader) {
        return Err(not_found().await);
    }
    if !access.may(&["read:pages"], &path) {
        return Err(message(StatusCode::FORBIDDEN, "Unauthorized"));
    }
    let theme = app.shared.testing.theme();
    let cached = app.shared.testing.cached_page(&locale, &path);
    let store = app.shared.store();
    let page = cached.as_ref().or_else(|| store.page_at(&locale, &path));
    let page = page.ok_or_else(|| message(StatusCode::NOT_FOUND, "Not Found"))?;
    // A draft is for those who may write it.
    if !page.is_published && !access.may(&["write:pages"], &path) {
        return Err(message(StatusCode::FORBIDDEN, "Unauthorized"));
    }
    let rendered_at = store.rendered_at(page.id).filter(|_| cached.is_none());
    let view = views::reader(page, &store.html(page), rendered_at, &access, &theme);
    Ok(respond(StatusCode::OK, HTML, view))
}

async fn view_in_editor(
    State(app): State<App>,
    Path((locale, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Answered {
    let testing = &app.shared.testing;
    if testing.is_blocked(View::Editor) {
        return Err(not_found().await);
    }
    let access = admit(&app.shared, &headers).map_err(failed)?;
    if access.has_just_expired {
        return Err(no_answer().await);
    }
    let theme = testing.theme();
    let mut store = app.shared.store();
    testing.before_editor_view(&mut store);
    let page = store.page_at(&locale, &path);
    let rights = page.map_or(&["write:pages"][..], |_| views::EDITORS);
    if !access.may(rights, &path) {
        let action = if page.is_some() { "edit" } else { "create" };
        return Err(respond(StatusCode::FORBIDDEN, HTML, views::refusal(action)));
    }
    let now = clock::iso(OffsetDateTime::now_utc());
    let view = match page {
        Some(page) => views::editor(page, &access, &theme),
        None => views::new_page(&locale, &path, &now, &access, &theme),
    };
    Ok(respond(StatusCode::OK, HTML, view))
}

async fn graphql(State(app): State<App>, request: Request) -> Answered {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, SWALLOWED).await.ok();
    let Some(body) = body.filter(|body| body.len() <= MOST) else {
        let message = "request entity too large";
        return Err(refusal(StatusCode::PAYLOAD_TOO_LARGE, message));
    };
    if parts.method != axum::http::Method::POST {
        return Err(message(StatusCode::BAD_REQUEST, "GET query missing."));
    }
    let text = String::from_utf8_lossy(&body);
    let body: Value = if text.is_empty() {
        json!({})
    } else {
        match serde_json::from_str(&surrogates::mend(&text)) {
            Ok(body @ (Value::Object(_) | Value::Array(_))) => body,
            Ok(_) => {
                return Err(refusal(StatusCode::BAD_REQUEST, "Unexpected token in JSON"));
            }
            Err(error) => {
                let message = format!("{error}: this is not valid JSON");
                return Err(refusal(StatusCode::BAD_REQUEST, &message));
            }
        }
    };
    let access = admit(&app.shared, &parts.headers).map_err(refused)?;
    if body == json!({}) {
        return Err(failed("POST body missing."));
    }
    // A write continues after its client has left (W19), so it runs in a task that does not end
    // with the connection.
    let run = tokio::spawn(async move { answer(&app, &parts.headers, access, body).await });
    let Ok((status, body)) = run.await else {
        return Err(refused("The demo wiki failed."));
    };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Ok(respond(status, JSON, body.to_string()))
}

/// Runs one operation, or all of an array, one after another.
async fn answer(app: &App, headers: &HeaderMap, access: Access, body: Value) -> (u16, Value) {
    let Value::Array(operations) = body else {
        let answer = run(app, headers, access, &body).await;
        return (answer.status, answer.body);
    };
    let mut answers = Vec::with_capacity(operations.len());
    for operation in &operations {
        answers.push(run(app, headers, access.clone(), operation).await.body);
    }
    (StatusCode::OK.as_u16(), Value::Array(answers))
}

async fn run(app: &App, headers: &HeaderMap, access: Access, body: &Value) -> Answer {
    let operation = match Operation::parse(body) {
        Ok(operation) => operation,
        Err(answer) => return answer,
    };
    let testing = &app.shared.testing;
    let store = || app.shared.store();
    let _under_way = testing.before(operation.seen, headers, store).await;
    let response = app.schema.execute(operation.request.data(access)).await;
    Answer::from_response(response)
}

/// The rights of the caller, or what is said when they are turned away (W3).
fn admit(shared: &Shared, headers: &HeaderMap) -> Result<Access, &'static str> {
    let token = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "));
    let access = shared.keyring().access(token);
    let has_key = !access
        .as_ref()
        .is_some_and(|it| it.is_guest && !it.has_just_expired);
    if has_key && shared.testing.is_api_disabled() {
        return Err("API is disabled. You must enable it from the Administration Area first.");
    }
    access.ok_or("API Key is invalid or was revoked.")
}

fn refusal(status: StatusCode, message: &str) -> Response<Body> {
    let body = json!({"data": {}, "errors": [{"message": message, "path": []}]});
    respond(status, JSON, body.to_string())
}

/// The answer of the API to a caller who is turned away.
fn refused(message: &str) -> Response<Body> {
    refusal(StatusCode::INTERNAL_SERVER_ERROR, message)
}

/// The answer of a view to a caller who is turned away.
fn failed(text: &str) -> Response<Body> {
    message(StatusCode::INTERNAL_SERVER_ERROR, text)
}

/// A page that says this.
fn message(status: StatusCode, text: &str) -> Response<Body> {
    let page = format!("<!DOCTYPE html><html><body><pre>{text}</pre></body></html>\n");
    respond(status, HTML, page)
}

fn respond(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Body>,
) -> Response<Body> {
    (status, [(header::CONTENT_TYPE, content_type)], body.into()).into_response()
}
