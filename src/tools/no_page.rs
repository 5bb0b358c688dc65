//! Says where a name or a path leads to no page: a failure, which says whether the place that the name spells
//! out may be written, or a hint.

use serde_json::json;

use super::context::ToolContext;
use crate::error::{Failure, Result};
use crate::page::{Locale, PagePath, escaped};
use crate::wiki::{ListQuery, Right, Unresolved, Wiki};

/// The hint if nothing is found because of the path, not the words or filters.
const NOWHERE: &str = "No page that the key may see is at or below this path in this locale: check path and locale (/en/docs names both) with wikijs_get_page_tree or wikijs_search_pages.";

/// The failure for a name that leads to no page. It says nothing of pages that may not be read.
pub(super) async fn no_page(
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
    let place = context.new_place(text, said.map(Locale::as_str));
    let Some((locale, path)) = place.ok().filter(|_| is_missing) else {
        return failure;
    };
    let fault = context.desk.fault_at(&context.caller, &locale, &path);
    let why = match fault {
        Some(fault) => Some(fault.as_str().to_owned()),
        None => match context.wiki.unknown_locale(&locale).await {
            Some(unknown) => Some(Failure::from(unknown).message),
            None => lacking(&context.wiki, &locale, &path).await,
        },
    };
    let place = json!({
        "locale": locale,
        "path": path,
        "mayCreate": why.is_none(),
        "why": why.as_deref().unwrap_or("no page that you may read is there"),
    });
    failure.detail("place", place)
}

/// The hint if no page at all is at or below a path.
pub(super) async fn nowhere(
    wiki: &Wiki,
    locale: Option<&Locale>,
    path: &PagePath,
) -> Result<Option<&'static str>> {
    let all = ListQuery {
        locale: locale.cloned(),
        path: Some(path.clone()),
        ..ListQuery::default()
    };
    let is_empty = wiki.list(&all, 1).await?.pages.is_empty();
    Ok(is_empty.then_some(NOWHERE))
}

/// Says that the key lacks the right to make a page at a place, if the wiki tells so.
async fn lacking(wiki: &Wiki, locale: &Locale, path: &PagePath) -> Option<String> {
    if wiki.key().is_full_access {
        return None;
    }
    let told = wiki.rights_at(locale, path).await.ok()?;
    let lacks = told.has(Right::WritePages) == Some(false);
    lacks.then(|| format!("this key lacks {} there", Right::WritePages.name()))
}

/// The same failure; if `text` has `::`, with a hint on how to name a page and its section.
fn explain(failure: Failure, text: &str) -> Failure {
    match hint(text) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn hint(text: &str) -> Option<String> {
    let (page, last) = text.trim().rsplit_once("::")?;
    let page = page.replace("::", "/");
    Some(format!(
        "Name a section as path#section ({0}#{1}), a page below another one as {0}/{1}.",
        escaped(&page, 200),
        escaped(last, 200)
    ))
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn a_double_colon_is_explained_with_the_names_that_were_meant() {
        assert_eq!(
            hint("docs::install::Linux").as_deref(),
            Some(
                "Name a section as path#section (docs/install#Linux), a page below another one as docs/install/Linux."
            )
        );
        assert_eq!(hint("docs/install#Linux"), None);
    }
}
