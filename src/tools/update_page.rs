//! `wikijs_update_page`: fields of a page change, and nothing else.

use garde::Validate;
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::input::{self, rule};
use super::output::Write;
use super::tool::{Kind, Tool};
use crate::change::Edits;
use crate::error::Failure;
use crate::page::Locale;
use crate::write::Plan;

/// The tool.
pub(super) struct UpdatePage;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The operator's token, or a preview's.
    #[garde(skip)]
    confirm: Option<String>,
    #[garde(range(min = 1, max = 2_147_483_647))]
    id: i64,
    /// updatedAt of the page you know; a newer page is a conflict.
    #[garde(custom(rule::optional(rule::date)))]
    if_updated_at: Option<String>,
    /// Moves the page.
    #[garde(custom(rule::optional(rule::new_path)))]
    path: Option<String>,
    /// Moves the page.
    #[garde(custom(rule::optional(rule::locale)))]
    locale: Option<String>,
    #[garde(custom(rule::optional(rule::title)))]
    title: Option<String>,
    /// All of the new source.
    #[garde(custom(rule::optional(rule::content)))]
    content: Option<String>,
    /// "" clears it.
    #[garde(custom(rule::optional(rule::description)))]
    description: Option<String>,
    /// All tags; [] clears them.
    #[garde(
        custom(rule::optional(rule::tags)),
        inner(inner(custom(rule::required(rule::tag))))
    )]
    tags: Option<Vec<String>>,
    #[garde(skip)]
    is_published: Option<bool>,
    /// ISO 8601; "" clears it.
    #[garde(custom(rule::optional(rule::date)))]
    publish_start_date: Option<String>,
    /// ISO 8601; "" clears it.
    #[garde(custom(rule::optional(rule::date)))]
    publish_end_date: Option<String>,
    /// "" clears it.
    #[garde(custom(rule::optional(rule::text)))]
    script_css: Option<String>,
    /// "" clears it.
    #[garde(custom(rule::optional(rule::text)))]
    script_js: Option<String>,
}

impl Tool for UpdatePage {
    const NAME: &'static str = "wikijs_update_page";
    const TITLE: &'static str = "Update page";
    const DESCRIPTION: &'static str = "Change fields of a page, or move it; what is left out stays as it is. Without confirm it may answer with a preview and a confirm token: show it to the user, then call again with id and confirm alone.";
    const KIND: Kind = Kind::Change;
    const EXPLAINED: &'static [(&'static str, &'static str)] = &[
        (
            "editor",
            "cannot be changed: Wiki.js ignores it in an update",
        ),
        (
            "isPrivate",
            "cannot be changed: Wiki.js ignores it in an update",
        ),
    ];
    type Input = Input;
    type Output = Write;

    async fn run(context: Context, input: Input) -> Result<Write, Failure> {
        let plan = Plan::Update {
            id: input.id,
            edits: edits(&input)?.map(Box::new),
            if_updated_at: input::date("ifUpdatedAt", input.if_updated_at.as_deref())?,
        };
        context.write(plan, input.confirm).await.map(Write::from)
    }
}

/// The fields that shall change; nothing where only an id and a token were given.
fn edits(input: &Input) -> Result<Option<Edits>, Failure> {
    let edits = Edits {
        path: input.path.as_deref().map(input::new_path).transpose()?,
        locale: input.locale.clone().map(Locale::as_stored),
        title: input.title.clone(),
        content: input.content.clone(),
        description: input.description.clone(),
        tags: input.tags.clone().map(input::tags).transpose()?,
        is_published: input.is_published,
        publish_start_date: input::date("publishStartDate", input.publish_start_date.as_deref())?,
        publish_end_date: input::date("publishEndDate", input.publish_end_date.as_deref())?,
        script_css: input.script_css.clone(),
        script_js: input.script_js.clone(),
    };
    Ok((!edits.is_empty()).then_some(edits))
}
