//! Resolves the argument `page`, a page's name, to the `id` that a tool takes, and `folder` with a
//! title to the `path` of a new page.

use serde_json::{Map, Value, json};

use super::input::{invalid_argument, refuse, rule};
use super::no_page::no_page;
use super::{Arguments, ToolContext, ToolKind};
use crate::error::{Code, Result};
use crate::page::{MAX_PATH_CHARS, NewPath};
use crate::wiki::Unresolved;

/// The argument.
pub(super) const PAGE: &str = "page";
/// The argument that it stands for.
pub(super) const ID: &str = "id";
/// The argument that names the folder of a new page.
const FOLDER: &str = "folder";
/// The argument that a folder and a title stand for.
pub(super) const PATH: &str = "path";
/// The most bytes of a name: more than any title or address has.
const MOST_BYTES: usize = 4_096;
/// The argument that names the page that others link to.
pub(super) const LINKS_TO: &str = "linksTo";
/// The argument that names the page from which a new one is made.
pub(super) const FROM_PAGE: &str = "fromPage";
const MEANING: &str = "In place of id: path, title, address, [[link]].";

/// Adds the argument to a schema, beside the id.
pub(super) fn add_to(schema: &mut Map<String, Value>) {
    add(schema, ID, (PAGE, MEANING));
}

/// Adds the argument `folder` to a schema, beside the path.
pub(super) fn add_folder_to(schema: &mut Map<String, Value>) {
    add(
        schema,
        PATH,
        (FOLDER, "In place of path: the title makes the rest."),
    );
}

fn add(schema: &mut Map<String, Value>, beside: &str, (name, meaning): (&str, &str)) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let argument = json!({ "type": "string", "description": meaning });
        let after = properties.keys().position(|name| name == beside);
        let at = after.map_or(0, |at| at.saturating_add(1));
        properties.shift_insert(at, name.to_owned(), argument);
    }
}

/// Puts the path of a new page in place of its folder, if a call names one.
///
/// # Errors
/// `INVALID_INPUT`.
pub(super) fn resolve_folder(arguments: &mut Arguments) -> Result<()> {
    let text = |name| arguments.members.get(name).and_then(Value::as_str);
    let Some(folder) = text(FOLDER) else {
        return Ok(());
    };
    if arguments.has(PATH) {
        return refuse(FOLDER, "cannot be combined with path");
    }
    let title = text("title").ok_or_else(|| invalid_argument(FOLDER, "needs title"))?;
    let path = NewPath::of_title(folder, title).ok_or_else(|| {
        invalid_argument(
            "title",
            "has no letter or digit that a path could have; name path",
        )
    })?;
    if path.chars().count() > MAX_PATH_CHARS {
        return refuse(
            "title",
            "gives a path of more than 255 characters in this folder; name path",
        );
    }
    arguments.members.shift_remove(FOLDER);
    arguments.members.insert(PATH.to_owned(), path.into());
    Ok(())
}

/// Puts the id of the page in place of its name, if a call has one.
///
/// # Errors
/// `INVALID_INPUT`; `PAGE_NOT_FOUND` with the nearest pages, `AMBIGUOUS_PAGE` with the candidates;
/// what the wiki says.
pub(super) async fn resolve(
    context: &ToolContext,
    kind: ToolKind,
    arguments: &mut Arguments,
) -> Result<()> {
    // What is no text is refused with the faults of all other arguments.
    let name = arguments.members.get(PAGE).and_then(Value::as_str);
    let Some(name) = name.map(str::to_owned) else {
        return Ok(());
    };
    if arguments.has(ID) {
        return refuse(PAGE, "cannot be combined with id");
    }
    // From here on the call is about this name or about nothing.
    arguments.members.shift_remove(PAGE);
    if kind.writes() && context.desk.takes_static_token(&context.caller) {
        let fault = "is not taken where the operator's token confirms, since no preview shows which page is meant; give its id";
        return refuse(PAGE, fault);
    }
    let id = Box::pin(page_of(context, PAGE, &name)).await;
    let id = id.map_err(|failure| match failure.code {
        Code::PageNotFound if arguments.has("draft") => failure.hint("Check the name. A page that a draft creates can be named once it is submitted: to change it before, create it again with the same path and draft, which replaces it there."),
        _ => failure,
    })?;
    arguments.members.insert(ID.to_owned(), id.into());
    Ok(())
}

/// Puts a placeholder in place of `page`, to check arguments without asking the wiki.
pub(super) fn insert_placeholder_id(arguments: &mut Arguments) {
    let is_named = arguments.members.get(PAGE).is_some_and(Value::is_string);
    if is_named && !arguments.has(ID) {
        arguments.members.shift_remove(PAGE);
        arguments.members.insert(ID.to_owned(), 1.into());
    }
}

/// The id of the page that `linksTo` names, as in [`by_name_or_id`].
pub(super) async fn links_to(context: &ToolContext, said: Option<&str>) -> Result<Option<i64>> {
    by_name_or_id(context, LINKS_TO, said).await
}

/// The id of the page that an argument names, if it is given: a number is an id, else it is a name as
/// in `page`.
///
/// # Errors
/// As for [`resolve`].
pub(super) async fn by_name_or_id(
    context: &ToolContext,
    argument: &str,
    said: Option<&str>,
) -> Result<Option<i64>> {
    let Some(name) = said else {
        return Ok(None);
    };
    match name.parse() {
        Ok(id @ 1..=2_147_483_647) => Ok(Some(id)),
        _ => Box::pin(page_of(context, argument, name)).await.map(Some),
    }
}

async fn page_of(context: &ToolContext, argument: &str, name: &str) -> Result<i64> {
    if name.trim().is_empty() || name.len() > MOST_BYTES {
        return refuse(argument, format!("must have 1 to {MOST_BYTES} bytes"));
    }
    rule::text(name).map_err(|fault| invalid_argument(argument, fault))?;
    let found = match context.wiki.resolve(name, None).await {
        Ok(found) => found,
        Err(Unresolved::Elsewhere(fault)) => return refuse(argument, fault),
        Err(unresolved) => return Err(no_page(context, unresolved, name, None).await),
    };
    if found.section.is_some() {
        let fault = format!("names a section; {argument} takes the page alone");
        return refuse(argument, fault);
    }
    let unknown = || invalid_argument(argument, "names a page whose id this key cannot read");
    found.page.id.ok_or_else(unknown)
}
