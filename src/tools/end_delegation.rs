//! `wikijs_end_delegation`: ends a delegate, and hands over what it remembered.

use super::prelude::*;
use crate::write::EndedDelegate;

/// The tool.
pub(super) struct EndDelegation;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// Its name.
    #[garde(length(min = 1, max = 160))]
    delegate: String,
}

impl Tool for EndDelegation {
    const NAME: &'static str = "wikijs_end_delegation";
    const DESCRIPTION: &'static str =
        "End a delegate of yours; its token counts for nothing then, and its memories are yours.";
    const ANSWER: &'static str =
        "Its changes and how many memories you got; its open sets wait on.";
    const KIND: ToolKind = ToolKind::Aside;
    type Input = Input;
    type Output = EndedDelegate;

    async fn run(context: ToolContext, input: Input) -> Result<EndedDelegate> {
        let family = context.caller.maker()?;
        family.end(&context.desk, &input.delegate).await
    }
}
