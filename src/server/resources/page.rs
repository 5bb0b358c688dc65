//! Pages and guides as resources, and what can be typed for a page's locale and path.
//!
//! A page is `wikijs://{locale}/{+path}`; no locale is as long as `guide`, under which our own
//! guides are.

use std::collections::BTreeSet;

use rmcp::ErrorData;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ListResourceTemplatesResult,
    ListResourcesResult, MetaObject, PaginatedRequestParams, ReadResourceResult, Reference,
    Resource, ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};

use super::app::App;
use super::{result, uri};
use crate::error::{Code, Failure};
use crate::gates::SessionId;
use crate::page::{PageReading, escape_hidden};
use crate::tools::cursor;
use crate::wiki::ListQuery;
use crate::write::Sight;

/// What the address of every page looks like.
const TEMPLATE: &str = "wikijs://{locale}/{+path}";
/// How many pages a part of the list has.
const PART: usize = 50;
/// The most bytes of a page's text that are given.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// A guide of ours.
struct Guide {
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    text: &'static str,
}

const GUIDES: [Guide; 3] = [
    Guide {
        uri: "wikijs://guide/markdown",
        name: "guide-markdown",
        title: "Guide: Markdown in Wiki.js",
        text: include_str!("../../docs/guides/markdown.md"),
    },
    Guide {
        uri: "wikijs://guide/permissions",
        name: "guide-permissions",
        title: "Guide: permissions and keys",
        text: include_str!("../../docs/guides/permissions.md"),
    },
    Guide {
        uri: "wikijs://guide/editing",
        name: "guide-editing",
        title: "Guide: safe editing with this server",
        text: include_str!("../../docs/guides/editing.md"),
    },
];

/// The guides, then the pages that were changed last, part by part.
pub(super) async fn list(
    app: &App,
    request: Option<PaginatedRequestParams>,
) -> Result<ListResourcesResult, ErrorData> {
    let mut query = ListQuery::newest_first();
    let mut resources = Vec::new();
    if let Some(cursor) = request.and_then(|request| request.cursor) {
        let after = cursor::open(&query, &cursor)
            .ok_or_else(|| ErrorData::invalid_params("the cursor is none of this list", None))?;
        query.after = Some(after);
    } else {
        resources.extend(GUIDES.map(|guide| {
            Resource::new(guide.uri, guide.name)
                .with_title(guide.title)
                .with_mime_type("text/markdown")
        }));
    }
    let part = match app.wiki.list(&query, PART).await {
        Ok(part) => part,
        Err(error) => return Err(refused(app, error.into()).await),
    };
    // An address drops segments that climb: such a page cannot be named by one.
    let pages = part.pages.into_iter().filter(|page| !page.path.climbs());
    resources.extend(pages.map(resource));
    let mut listed = ListResourcesResult::with_all_items(resources);
    listed.next_cursor = part.next.map(|next| cursor::seal(&query, next));
    listed.meta = Some(labels(app).await);
    Ok(listed)
}

fn resource(page: PageReading) -> Resource {
    let resource = Resource::new(uri::of(&page.locale, &page.path), page.path.as_str())
        .with_mime_type(mime_type(&page))
        .with_title(escape_hidden(&page.title));
    match page
        .description
        .filter(|description| !description.is_empty())
    {
        Some(description) => resource.with_description(escape_hidden(&description)),
        None => resource,
    }
}

/// The one template: every page that the key may read.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(TEMPLATE, "page")
        .with_title("Page")
        .with_description("The text of a page, as it was written.");
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// The text of a page, or a guide; an error names the address.
pub(super) async fn read(
    app: &App,
    session: &SessionId,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let mut read = text_at(app, session, uri).await;
    if let Err(ErrorData {
        data: Some(Value::Object(data)),
        ..
    }) = &mut read
    {
        data.insert("uri".to_owned(), uri.into());
    }
    read
}

async fn text_at(
    app: &App,
    session: &SessionId,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    if let Some(guide) = GUIDES.iter().find(|guide| guide.uri == uri) {
        let text = ResourceContents::text(guide.text, guide.uri).with_mime_type("text/markdown");
        return Ok(ReadResourceResult::new(vec![text]));
    }
    let no_page = || Failure::new(Code::PageNotFound, "This is the address of no page.");
    let Some((locale, path)) = uri::parse(uri) else {
        return Err(refused(
            app,
            no_page().hint(format!("A page's address is {TEMPLATE}.")),
        )
        .await);
    };
    let page = match app.wiki.page_by_path(&locale, &path).await {
        Ok(page) => page,
        Err(error) => return Err(refused(app, error.into()).await),
    };
    let Some(text) = page.content.clone() else {
        let failure = Failure::new(
            Code::PermissionDenied,
            "The key may not read this page's text.",
        );
        return Err(refused(app, failure.detail("right", "read:source")).await);
    };
    let mut contents = vec![];
    let shown = result::whole_lines(&text, MAX_TEXT_BYTES);
    let sight = Sight::Piece {
        from: 0,
        to: shown.len(),
        of: text.len(),
    };
    app.writer.note_read(session, page.clone(), sight);
    let content = ResourceContents::text(shown, uri)
        .with_mime_type(mime_type(&page))
        .with_meta(result::untrusted());
    contents.push(content);
    if shown.len() < text.len() {
        let note = format!(
            "Cut by the server: {} of {} bytes of this page are shown. A tool reads the rest.",
            shown.len(),
            text.len()
        );
        contents.push(ResourceContents::text(note, uri));
    }
    let mut read = ReadResourceResult::new(contents);
    read.meta = Some(labels(app).await);
    Ok(read)
}

fn mime_type(page: &PageReading) -> &'static str {
    // The list says what the source is, a page read whole with which editor it is written.
    match page.content_type.as_deref().or(page.editor.as_deref()) {
        Some("markdown") => "text/markdown",
        Some("html" | "ckeditor" | "code") => "text/html",
        _ => "text/plain",
    }
}

/// The locales that pages have, or the paths of a locale: those that begin as what was typed,
/// then those that hold it.
pub(super) async fn complete(
    app: &App,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    if !matches!(&request.r#ref, Reference::Resource(named) if named.uri == TEMPLATE) {
        return Err(ErrorData::invalid_params(
            format!("only {TEMPLATE} can be completed"),
            None,
        ));
    }
    let all = match app.wiki.pages_lately().await {
        Ok(all) => all,
        Err(error) => return Err(refused(app, error.into()).await),
    };
    let pages = all.pages().iter();
    let values: BTreeSet<&str> = match request.argument.name.as_str() {
        "locale" => pages.map(|page| page.locale.as_str()).collect(),
        "path" => {
            let arguments = request
                .context
                .as_ref()
                .and_then(|given| given.arguments.as_ref());
            let default = app.wiki.settings().default_locale.as_str();
            let locale = arguments
                .and_then(|arguments| arguments.get("locale"))
                .map_or(default, String::as_str);
            pages
                .filter(|page| page.locale.as_str() == locale)
                .map(|page| page.path.as_str())
                .collect()
        }
        _ => {
            return Err(ErrorData::invalid_params(
                "the template's arguments are locale and path",
                None,
            ));
        }
    };
    let typed = request.argument.value.to_lowercase();
    let (mut fitting, mut holding) = (Vec::new(), Vec::new());
    for value in values {
        match value.to_lowercase().find(&typed) {
            Some(0) => fitting.push(value.to_owned()),
            Some(_) => holding.push(value.to_owned()),
            None => {}
        }
    }
    fitting.append(&mut holding);
    let total = fitting.len();
    fitting.truncate(CompletionInfo::MAX_VALUES);
    let has_more = fitting.len() < total;
    CompletionInfo::with_pagination(fitting, u32::try_from(total).ok(), has_more)
        .map(CompleteResult::new)
        .map_err(|error| ErrorData::internal_error(error, None))
}

/// What is said of text of the wiki, and to a key that is a guest's.
async fn labels(app: &App) -> MetaObject {
    let mut labels = result::untrusted();
    if let Some(hint) = app.wiki.guests_hint().await {
        labels.0.insert("hint".to_owned(), hint.into());
    }
    labels
}

/// A failure as an error of the protocol, with the failure itself as its data.
async fn refused(app: &App, failure: Failure) -> ErrorData {
    let failure = app.explained(failure).await;
    let message = failure.message.clone();
    let data = Some(json!({ "error": failure }));
    match failure.code {
        Code::PageNotFound => ErrorData::resource_not_found(message, data),
        _ => ErrorData::internal_error(message, data),
    }
}
