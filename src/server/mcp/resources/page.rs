//! Pages as resources.

use rmcp::ErrorData;
use rmcp::model::{
    ListResourcesResult, MetaObject, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};

use super::super::caller::CallerContext;
use super::super::{result, uri};
use super::{or_refused, refused};
use crate::error::{Code, Failure};
use crate::page::{PageReading, escape_hidden};
use crate::server::app::App;
use crate::tools::cursor;
use crate::wiki::ListQuery;
use crate::write::ReadExtent;

/// The template of page addresses.
pub(in crate::server) const TEMPLATE: &str = "wikijs://{locale}/{+path}";
/// Number of pages in a part of the list.
const PART: usize = 20;
/// The most bytes of a page's text that are given.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// The last changed pages, part by part; the first part follows other resources.
pub(super) async fn list_behind(
    mut resources: Vec<Resource>,
    visit: &CallerContext,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let app = &visit.app;
    let mut query = ListQuery::newest_first();
    if let Some(cursor) = cursor {
        let after =
            cursor::open(&app.wiki.settings().base_url, &query, &cursor).ok_or_else(|| {
                ErrorData::invalid_params("the cursor does not belong to this list", None)
            })?;
        query.after = Some(after);
    }
    let part = or_refused(visit, app.wiki.list(&query, PART).await).await?;
    // An address drops `..` segments, so it cannot name such a page.
    let pages = part.pages.iter().filter(|page| !page.path.climbs());
    resources.extend(pages.map(resource));
    let mut listed = ListResourcesResult::with_all_items(resources);
    listed.next_cursor = part
        .next
        .map(|next| cursor::seal(&app.wiki.settings().base_url, &query, next));
    listed.meta = Some(labels(app).await);
    Ok(listed)
}

/// A page in the list; what it is about is in its metadata.
fn resource(page: &PageReading) -> Resource {
    Resource::new(uri::page_uri(&page.locale, &page.path), page.path.as_str())
        .with_mime_type(mime_type(page))
        .with_title(escape_hidden(&page.title))
}

/// The template of every page that the key may read.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(TEMPLATE, "page")
        .with_title("Page")
        .with_description("The text of a page, as it was written.")
}

/// The text of a page.
pub(super) async fn read(
    visit: &CallerContext,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let app = &visit.app;
    let Some((locale, path)) = uri::parse(uri) else {
        let failure = Failure::new(Code::PageNotFound, "This is the address of no page.");
        let failure = failure.hint(format!("A page's address is {TEMPLATE}."));
        return Err(refused(visit, failure).await);
    };
    let page = or_refused(visit, app.wiki.page_by_path(&locale, &path).await).await?;
    let Some(text) = page.content.clone() else {
        let failure = Failure::new(
            Code::PermissionDenied,
            "The key may not read this page's text.",
        );
        return Err(refused(visit, failure.detail("right", "read:source")).await);
    };
    let shown = result::whole_lines(&text, MAX_TEXT_BYTES);
    let sight = ReadExtent::Piece {
        from: 0,
        to: shown.len(),
        of: text.len(),
    };
    app.desk
        .note_read(&visit.session, page.clone(), sight)
        .await;
    let content = ResourceContents::text(shown, uri)
        .with_mime_type(mime_type(&page))
        .with_meta(result::untrusted());
    let mut contents = vec![content];
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
    // The list has the source's content type, a page read in full has its editor.
    match page.content_type.as_deref().or(page.editor.as_deref()) {
        Some("markdown") => "text/markdown",
        Some("html" | "ckeditor" | "code") => "text/html",
        _ => "text/plain",
    }
}

/// The labels for text of the wiki, and the hint for a guest's key.
async fn labels(app: &App) -> MetaObject {
    let mut labels = result::untrusted();
    if let Some(hint) = app.wiki.guests_hint().await {
        labels.0.insert("hint".to_owned(), hint.into());
    }
    labels
}
