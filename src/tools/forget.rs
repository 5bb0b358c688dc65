//! `wikijs_forget`: takes a memory away; an operator can restore it for 30 days.

use super::prelude::*;

/// The tool.
pub(super) struct Forget;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// As `wikijs_recall` has it.
    #[garde(custom(rule::required(rule::memory_id)))]
    id: String,
}

/// Its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    id: String,
    restorable_until: String,
}

impl Tool for Forget {
    const NAME: &'static str = "wikijs_forget";
    const DESCRIPTION: &'static str =
        "Take away something remembered that holds no more; an operator can restore it.";
    const ANSWER: &'static str = "Until when.";
    const KIND: ToolKind = ToolKind::Change;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        let id = input::required_memory_id("id", &input.id)?;
        let until = context.desk.forget(&context.caller, id).await?;
        Ok(Output {
            id: id.to_string(),
            restorable_until: until.date(),
        })
    }
}
