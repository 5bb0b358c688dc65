//! The wiki's HTTP side.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::routing::{any, get, post};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::access::Access;
use super::clock;
use super::download;
use super::editor_view;
use super::graphql::{Answer, Operation, WikiSchema, schema};
use super::keys::Caller;
use super::reader_view;
use super::state::Shared;
use super::surrogates;
use super::testing::SeenRequest;
use super::upload::{Upload, stored};

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
        .route("/u", post(upload))
        .fallback(not_found)
        .with_state(App { shared, schema })
}

async fn healthz() -> Response<Body> {
    respond(StatusCode::OK, JSON, json!({"ok": true}).to_string())
}

async fn not_found() -> Response<Body> {
    respond(StatusCode::NOT_FOUND, HTML, html("Not Found"))
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

async fn at_root(
    State(app): State<App>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response<Body> {
    if is_of_asset(&name) {
        return asset(&app, &name, &headers);
    }
    not_found().await
}

fn asset(app: &App, address: &str, headers: &HeaderMap) -> Response<Body> {
    const TEXT: &str = "text/plain; charset=utf-8";
    let access = match admit(&app.shared, headers) {
        Ok(access) => access,
        Err(message) => return refusal(StatusCode::INTERNAL_SERVER_ERROR, message),
    };
    let path = &meant(address);
    if !access.may(&["read:assets"], path) {
        return respond(StatusCode::FORBIDDEN, TEXT, "Forbidden".to_owned());
    }
    let store = app.shared.store();
    match store.asset_at(path) {
        Some(found) => {
            let kind = served_as(found.ext());
            let mut response = Response::new(Body::from(found.data.clone()));
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
            response
        }
        None => respond(StatusCode::NOT_FOUND, TEXT, "Not Found".to_owned()),
    }
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
async fn upload(State(app): State<App>, headers: HeaderMap, body: Body) -> Response<Body> {
    let access = match admit(&app.shared, &headers) {
        Ok(access) => access,
        Err(message) => return refusal(StatusCode::INTERNAL_SERVER_ERROR, message),
    };
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let body = to_bytes(body, SWALLOWED).await.unwrap_or_default();
    let read = Upload::read(kind, &body);
    let is_large = |read: &Upload| read.file.as_ref().is_some_and(|file| file.2.len() > MOST);
    let Some(read) = read.filter(|read| !is_large(read)) else {
        return respond(StatusCode::INTERNAL_SERVER_ERROR, HTML, html("Error"));
    };
    let refused = |status, message: &str| {
        let told = json!({"succeeded": false, "message": message});
        respond(status, JSON, told.to_string())
    };
    if !access.has(&["write:assets"]) {
        return refused(
            StatusCode::FORBIDDEN,
            "You are not authorized to upload files.",
        );
    }
    let Some((name, mime, data)) = read.file else {
        return refused(StatusCode::BAD_REQUEST, "Missing upload payload.");
    };
    let Some(folder) = read.folder else {
        return refused(StatusCode::BAD_REQUEST, "Missing upload folder metadata.");
    };
    let path = app.shared.store().upload_path(folder, &name);
    if !access.may(&["write:assets"], &path) {
        return refused(
            StatusCode::FORBIDDEN,
            "You are not authorized to upload files to this folder.",
        );
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
    respond(StatusCode::OK, HTML, "ok".to_owned())
}

async fn download_source(
    State(app): State<App>,
    Path((locale, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response<Body> {
    let access = match admit(&app.shared, &headers) {
        Ok(access) => access,
        Err(message) => return refusal(StatusCode::INTERNAL_SERVER_ERROR, message),
    };
    if app.shared.testing.is_blocked(View::Source) {
        return status_only(StatusCode::NOT_FOUND);
    }
    if access.has_just_expired() {
        return no_answer().await;
    }
    if !access.may(&["read:source"], &path) {
        return status_only(StatusCode::FORBIDDEN);
    }
    let _under_way = app.shared.testing.before_source().await;
    match app.shared.store().page_at(&locale, &path) {
        Some(page) => respond(
            StatusCode::OK,
            download::content_type(page),
            download::source(page),
        ),
        None => status_only(StatusCode::NOT_FOUND),
    }
}

async fn view(
    State(app): State<App>,
    Path((locale, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response<Body> {
    let whole = format!("{locale}/{path}");
    if is_of_asset(&whole) && app.shared.store().page_at(&locale, &path).is_none() {
        return asset(&app, &whole, &headers);
    }
    let access = match admit(&app.shared, &headers) {
        Ok(access) => access,
        Err(message) => {
            return respond(StatusCode::INTERNAL_SERVER_ERROR, HTML, html(message));
        }
    };
    if access.has_just_expired() {
        return respond(
            StatusCode::INTERNAL_SERVER_ERROR,
            HTML,
            html("Unauthorized"),
        );
    }
    if app.shared.testing.is_blocked(View::Reader) {
        return not_found().await;
    }
    if !access.may(&["read:pages"], &path) {
        return respond(StatusCode::FORBIDDEN, HTML, html("Unauthorized"));
    }
    let theme = app.shared.testing.theme();
    let cached = app.shared.testing.cached_page(&locale, &path);
    let store = app.shared.store();
    match cached.as_ref().or_else(|| store.page_at(&locale, &path)) {
        // A draft is for those who may write it.
        Some(page) if !page.is_published && !access.may(&["write:pages"], &path) => {
            respond(StatusCode::FORBIDDEN, HTML, html("Unauthorized"))
        }
        Some(page) => respond(
            StatusCode::OK,
            HTML,
            reader_view::of(
                page,
                &store.html(page),
                store.rendered_at(page.id).filter(|_| cached.is_none()),
                &access,
                &theme,
            ),
        ),
        None => respond(StatusCode::NOT_FOUND, HTML, html("Not Found")),
    }
}

async fn view_in_editor(
    State(app): State<App>,
    Path((locale, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response<Body> {
    let testing = &app.shared.testing;
    if testing.is_blocked(View::Editor) {
        return not_found().await;
    }
    let access = match admit(&app.shared, &headers) {
        Ok(access) => access,
        Err(message) => {
            return respond(StatusCode::INTERNAL_SERVER_ERROR, HTML, html(message));
        }
    };
    if access.has_just_expired() {
        return no_answer().await;
    }
    let theme = testing.theme();
    let mut store = app.shared.store();
    testing.before_editor_view(&mut store);
    let page = store.page_at(&locale, &path);
    let rights = page.map_or(&["write:pages"][..], |_| editor_view::RIGHTS);
    if !access.may(rights, &path) {
        let action = if page.is_some() { "edit" } else { "create" };
        return respond(StatusCode::FORBIDDEN, HTML, editor_view::refusal(action));
    }
    let view = match page {
        Some(page) => editor_view::update(page, &access, &theme),
        None => editor_view::create(
            &locale,
            &path,
            &clock::iso(OffsetDateTime::now_utc()),
            &access,
            &theme,
        ),
    };
    respond(StatusCode::OK, HTML, view)
}

async fn graphql(State(app): State<App>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, SWALLOWED).await else {
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, "request entity too large");
    };
    if body.len() > MOST {
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, "request entity too large");
    }
    if parts.method != axum::http::Method::POST {
        return respond(StatusCode::BAD_REQUEST, HTML, html("GET query missing."));
    }
    let text = String::from_utf8_lossy(&body);
    let body: Value = if text.is_empty() {
        json!({})
    } else {
        match serde_json::from_str(&surrogates::mend(&text)) {
            Ok(body @ (Value::Object(_) | Value::Array(_))) => body,
            Ok(_) => return refusal(StatusCode::BAD_REQUEST, "Unexpected token in JSON"),
            Err(error) => {
                let message = format!("{error}: this is not valid JSON");
                return refusal(StatusCode::BAD_REQUEST, &message);
            }
        }
    };
    let access = match admit(&app.shared, &parts.headers) {
        Ok(access) => access,
        Err(message) => return refusal(StatusCode::INTERNAL_SERVER_ERROR, message),
    };
    if body == json!({}) {
        let page = html("POST body missing.");
        return respond(StatusCode::INTERNAL_SERVER_ERROR, HTML, page);
    }
    // A write continues after its client has left (W19), so it runs in a task that does not end
    // with the connection.
    let run = tokio::spawn(async move { answer(&app, &parts.headers, access, body).await });
    let Ok((status, body)) = run.await else {
        return refusal(StatusCode::INTERNAL_SERVER_ERROR, "The demo wiki failed.");
    };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    respond(status, JSON, body.to_string())
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
    let caller = shared.keyring().caller(token);
    if caller != Caller::Guest && shared.testing.is_api_disabled() {
        return Err("API is disabled. You must enable it from the Administration Area first.");
    }
    match caller {
        Caller::Guest => Ok(Access::guest()),
        Caller::Known(access) => Ok(access),
        Caller::JustExpired => Ok(Access::just_expired()),
        Caller::Revoked => Err("API Key is invalid or was revoked."),
    }
}

fn refusal(status: StatusCode, message: &str) -> Response<Body> {
    let body = json!({"data": {}, "errors": [{"message": message, "path": []}]});
    respond(status, JSON, body.to_string())
}

fn html(text: &str) -> String {
    format!("<!DOCTYPE html><html><body><pre>{text}</pre></body></html>\n")
}

fn status_only(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

fn respond(status: StatusCode, content_type: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static(content_type),
    );
    response
}
