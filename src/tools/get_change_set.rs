//! `wikijs_get_change_set`: how far a set of changes is.

use garde::Validate;
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::input;
use super::output::{WRITE_ANSWER, Written};
use super::tool::{Kind, Tool};
use crate::error::Failure;
use crate::write::Answer;

/// The tool.
pub(super) struct GetChangeSet;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// callId of the call that sent it.
    #[garde(length(chars, min = 16, max = 16))]
    id: String,
}

impl Tool for GetChangeSet {
    const NAME: &'static str = "wikijs_get_change_set";
    const TITLE: &'static str = "Get change set";
    const DESCRIPTION: &'static str = "How far a set of changes is that this client sent, by its callId: ask again while its outcome is applying.";
    const ANSWER: &'static str = WRITE_ANSWER;
    const KIND: Kind = Kind::Read;
    type Input = Input;
    type Output = Written;

    async fn run(context: Context, input: Input) -> Result<Written, Failure> {
        let id = input.id.parse();
        let id =
            id.map_err(|_| input::invalid_argument("id", "must be a callId of 16 hex characters"))?;
        let set = context.desk.change_set(&context.caller, id).await?;
        set.map(|set| Written::from(Answer::Set(Box::new(set))))
            .ok_or_else(|| {
                input::invalid_argument("id", "is no set of this client of which anything was sent")
                    .hint("wikijs-mcp audit list shows the operator all that is on record.")
            })
    }
}
