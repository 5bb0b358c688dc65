//! Resources: our own, and every page of the wiki.
//!
//! A page is `wikijs://{locale}/{+path}`, a set of changes `wikijs://change-sets/{id}`; no locale is as
//! long as `guide`, `status` or `change-sets`. A resource
//! of our own is one file and one line in the list below.

mod change_set;
mod complete;
mod guides;
mod page;
mod status;

use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, ReadResourceResult,
    Resource, ResourceContents,
};
use serde_json::{Value, json};

use super::caller::CallerContext;
use super::result::KEPT_MS;
use crate::error::{Code, Failure};
use crate::tools::SessionTools;
use crate::write::Caller;

pub(in crate::server) use complete::complete;
pub(in crate::server) use page::TEMPLATE;
pub(in crate::server) use status::status_of;

/// Our own resources, in the order in which they are listed.
const OWN: &[BuiltInResource] = &[
    guides::MARKDOWN,
    guides::PERMISSIONS,
    guides::EDITING,
    status::STATUS,
];

/// A resource of our own.
struct BuiltInResource {
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    mime_type: &'static str,
    /// `None` for the status, which is made for each reader.
    text: Option<&'static str>,
    /// The tool that it explains, if it is about one.
    about: Option<&'static str>,
}

impl BuiltInResource {
    /// True if it is useful to a session with these tools.
    fn serves(&self, offered: &SessionTools) -> bool {
        self.about.is_none_or(|tool| offered.has(tool))
    }
}

/// The caller that reads a resource.
#[derive(Debug)]
pub(in crate::server) struct ResourceReader<'a> {
    pub(in crate::server) visit: &'a CallerContext,
    pub(in crate::server) caller: Caller,
    /// True if the client can ask a person.
    pub(in crate::server) can_ask: bool,
}

/// Our own resources, then the pages that were changed last, part by part, if the session may
/// read pages.
pub(in crate::server) async fn list(
    visit: &CallerContext,
    request: Option<PaginatedRequestParams>,
) -> Result<ListResourcesResult, ErrorData> {
    let cursor = request.and_then(|request| request.cursor);
    let offered = visit.offered();
    let is_told = |own: &&BuiltInResource| cursor.is_none() && own.serves(&offered);
    let own = OWN.iter().filter(is_told).map(|own| {
        Resource::new(own.uri, own.name)
            .with_title(own.title)
            .with_mime_type(own.mime_type)
    });
    let own = own.collect();
    if visit.may_read_resources().is_err() {
        return Ok(ListResourcesResult::with_all_items(own));
    }
    page::list_behind(own, visit, cursor).await
}

/// The templates: every page that the key may read, and the client's own sets.
pub(in crate::server) fn templates(visit: &CallerContext) -> ListResourceTemplatesResult {
    let pages = visit.may_read_resources().is_ok().then(page::template);
    let sets = change_set::is_offered(&visit.offered()).then(change_set::template);
    let templates = pages.into_iter().chain(sets).collect();
    ListResourceTemplatesResult::with_all_items(templates).with_ttl_ms(KEPT_MS)
}

/// The text of a resource; an error names its address.
pub(in crate::server) async fn read(
    reader: &ResourceReader<'_>,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let mut read = text_at(reader, uri).await;
    if let Err(ErrorData {
        data: Some(Value::Object(data)),
        ..
    }) = &mut read
    {
        data.insert("uri".to_owned(), uri.into());
    }
    read
}

async fn text_at(reader: &ResourceReader<'_>, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let offered = reader.visit.offered();
    let is_meant = |own: &&BuiltInResource| own.uri == uri && own.serves(&offered);
    if let Some(id) = change_set::id_of(uri).filter(|_| change_set::is_offered(&offered)) {
        return change_set::read(reader, uri, id).await;
    }
    let Some(own) = OWN.iter().find(is_meant) else {
        reader.visit.may_read_resources()?;
        return page::read(reader.visit, uri).await;
    };
    let (text, kept) = if let Some(text) = own.text {
        (offered.markdown(text), KEPT_MS)
    } else {
        let status = Box::pin(status_of(reader)).await;
        (or_refused(reader.visit, status).await?.to_string(), 0)
    };
    let text = ResourceContents::text(text, own.uri).with_mime_type(own.mime_type);
    Ok(ReadResourceResult::new(vec![text]).with_ttl_ms(kept))
}

/// A failure as an error of the protocol, with the failure itself as its data.
pub(in crate::server) async fn refused(visit: &CallerContext, failure: Failure) -> ErrorData {
    let failure = visit.app.explained(failure).await;
    let failure = visit.offered().failure(failure);
    let message = failure.message.clone();
    let data = Some(json!({ "error": failure }));
    match failure.code {
        Code::PageNotFound => ErrorData::resource_not_found(message, data),
        _ => ErrorData::internal_error(message, data),
    }
}

/// The same of what may have failed.
async fn or_refused<T>(
    visit: &CallerContext,
    done: Result<T, impl Into<Failure>>,
) -> Result<T, ErrorData> {
    match done {
        Ok(done) => Ok(done),
        Err(failure) => Err(refused(visit, failure.into()).await),
    }
}
