//! Makes the failure for a name that leads to no page: it says whether the place that the name spells
//! out may be written.

use serde_json::json;

use super::context::ToolContext;
use super::double_colon::explain;
use super::input::new_place;
use crate::error::Failure;
use crate::page::Locale;
use crate::wiki::Unresolved;

/// The failure for a name that leads to no page. It says nothing of pages that may not be read.
pub(super) fn no_page(
    context: &ToolContext,
    unresolved: Unresolved,
    text: &str,
    said: Option<&Locale>,
) -> Failure {
    let is_missing = matches!(unresolved, Unresolved::NotFound { .. });
    let mut failure = explain(unresolved.into(), text);
    if is_missing && text.trim().parse::<u32>().is_ok() {
        failure = failure.hint("This is a path here; a number as a page's id goes into the argument id, or to wikijs_get_page_by_id to read the page.");
    }
    let said = said.map(Locale::as_str);
    let Some((locale, path)) = new_place(&context.wiki, text, said)
        .ok()
        .filter(|_| is_missing)
    else {
        return failure;
    };
    let locale = locale.unwrap_or_else(|| context.locale(said));
    let fault = context
        .desk
        .fault_at(&context.caller, &locale, path.as_path());
    let place = json!({
        "locale": locale,
        "path": path.as_path(),
        "mayCreate": fault.is_none(),
        "why": fault.map_or("no page that you may read is there", |fault| fault.as_str()),
    });
    failure.detail("place", place)
}
