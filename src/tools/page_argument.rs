//! Reads the argument `page` of every tool that takes a page's id: a name in place of the id.

use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::context::ToolContext;
use super::double_colon::explain;
use super::input::{invalid_argument, rule};
use crate::error::Failure;
use crate::wiki::Unresolved;

/// The argument.
const PAGE: &str = "page";
/// The argument that it stands for.
pub(super) const ID: &str = "id";
/// The most bytes of a name: more than any title or address has.
const MOST_BYTES: usize = 4_096;
const MEANING: &str = "In place of id: path, title, address, [[link]].";

/// Adds the argument to a schema, beside the id.
pub(super) fn add_to(schema: &mut Map<String, Value>) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let page = json!({ "type": "string", "description": MEANING });
        properties.insert(PAGE.to_owned(), page);
    }
}

/// Puts the id of the page in place of its name, if a call has one.
///
/// # Errors
/// `INVALID_INPUT`; `PAGE_NOT_FOUND` with the nearest pages, `AMBIGUOUS_PAGE` with the candidates;
/// what the wiki says.
pub(super) async fn resolve(
    context: &ToolContext,
    mut arguments: Arguments,
) -> Result<Arguments, Failure> {
    let Some(named) = arguments.members_mut().shift_remove(PAGE) else {
        return Ok(arguments);
    };
    if arguments.has(ID) {
        return Err(invalid_argument(PAGE, "cannot be combined with id"));
    }
    let id = match named {
        // Whoever has the id may say it here, too.
        Value::Number(id) => Value::Number(id),
        Value::String(name) => page_of(context, &name).await?.into(),
        _ => {
            let fault = "must be a path, a title, an address or a [[link]]";
            return Err(invalid_argument(PAGE, fault));
        }
    };
    arguments.members_mut().insert(ID.to_owned(), id);
    Ok(arguments)
}

/// Lets a call that names a page pass where nothing is looked up.
pub(super) fn stand_in(arguments: &mut Arguments) {
    if !arguments.has(ID) && arguments.members_mut().shift_remove(PAGE).is_some() {
        arguments.members_mut().insert(ID.to_owned(), 1.into());
    }
}

async fn page_of(context: &ToolContext, name: &str) -> Result<i64, Failure> {
    if name.trim().is_empty() || name.len() > MOST_BYTES {
        let fault = format!("must have 1 to {MOST_BYTES} bytes");
        return Err(invalid_argument(PAGE, fault));
    }
    rule::text(name).map_err(|fault| invalid_argument(PAGE, fault))?;
    let found = match context.wiki.resolve(name, None).await {
        Ok(found) => found,
        Err(Unresolved::Elsewhere(fault)) => return Err(invalid_argument(PAGE, fault)),
        Err(unresolved) => return Err(explain(unresolved.into(), name)),
    };
    if found.section.is_some() {
        let fault = "names a section; page takes the page alone";
        return Err(invalid_argument(PAGE, fault));
    }
    let unknown = || invalid_argument(PAGE, "names a page whose id this key cannot read");
    found.page.id.ok_or_else(unknown)
}
