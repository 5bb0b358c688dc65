//! `wikijs_discard_draft`: discards a draft, or removes one change from it.

use super::prelude::*;
use crate::write::Discarded;

/// The tool.
pub(super) struct DiscardDraft;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Its name, or its id.
    #[garde(custom(rule::required(rule::draft)))]
    draft: String,
    /// Takes out the change of this page alone.
    #[garde(range(min = 1, max = 2_147_483_647))]
    id: Option<i64>,
    /// The same of a page that the draft creates.
    #[garde(custom(rule::optional(rule::new_place)))]
    path: Option<String>,
}

/// Its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    draft: String,
    /// Number of changes that are gone, and of those that are left.
    discarded: i64,
    left: i64,
}

impl Tool for DiscardDraft {
    const NAME: &'static str = "wikijs_discard_draft";
    const DESCRIPTION: &'static str =
        "Drop a draft, or one page's change of it; the wiki is not touched.";
    const ANSWER: &'static str = "How many changes are gone, and left.";
    const KIND: ToolKind = ToolKind::Change;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        let name = input::draft(&input.draft)?;
        let which = match (&input.path, input.id) {
            (Some(_), Some(_)) => return refuse("path", "cannot be combined with id"),
            (Some(path), None) => Discarded::Place(context.new_place(path, None)?),
            (None, Some(id)) => Discarded::Page(id),
            (None, None) => Discarded::All,
        };
        let (discarded, left) = context.desk.discard(&context.caller, name, &which).await?;
        Ok(Output {
            draft: input.draft,
            discarded: count(discarded),
            left: count(left),
        })
    }
}
