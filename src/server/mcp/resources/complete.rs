//! Completion of a page's locale and path; none of a prompt's arguments.

use std::collections::BTreeSet;

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::super::caller::CallerContext;
use super::{TEMPLATE, or_refused};

/// The locales that pages have, or the paths of a locale.
pub(in crate::server) async fn complete(
    visit: &CallerContext,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let typed = &request.argument.value;
    match &request.r#ref {
        Reference::Prompt(_) => return values(typed, std::iter::empty()),
        Reference::Resource(named) if named.uri == TEMPLATE => visit.may_read_resources()?,
        _ => return Err(invalid(format!("only {TEMPLATE} can be completed"))),
    }
    match request.argument.name.as_str() {
        "locale" => {
            let all = or_refused(visit, visit.app.wiki.pages_lately().await).await?;
            let locales = all.iter().map(|page| page.locale.as_str());
            values(typed, locales)
        }
        "path" => {
            let arguments = request
                .context
                .as_ref()
                .and_then(|given| given.arguments.as_ref());
            let locale = arguments.and_then(|arguments| arguments.get("locale"));
            paths(visit, locale.map(String::as_str), typed).await
        }
        _ => Err(invalid("the template's arguments are locale and path")),
    }
}

/// The paths of a locale, or of the configured one.
async fn paths(
    visit: &CallerContext,
    locale: Option<&str>,
    typed: &str,
) -> Result<CompleteResult, ErrorData> {
    let all = or_refused(visit, visit.app.wiki.pages_lately().await).await?;
    let locale = locale.unwrap_or(visit.app.wiki.settings().default_locale.as_str());
    let pages = all.iter();
    let of_locale = pages.filter(|page| page.locale.as_str() == locale);
    values(typed, of_locale.map(|page| page.path.as_str()))
}

/// The values that begin with the typed text, then those that contain it.
fn values<'a>(
    typed: &str,
    values: impl Iterator<Item = &'a str>,
) -> Result<CompleteResult, ErrorData> {
    let values: BTreeSet<&str> = values.collect();
    let typed = typed.to_lowercase();
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

fn invalid(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}
