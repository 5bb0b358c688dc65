//! Defines the tools that write: each makes a request, and one function takes it through the gates.

use garde::Validate;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::tool::{Explained, TEXT_BYTES, Tool, ToolKind};
use super::write_output::{WRITE_ANSWER, WriteOutput};
use super::{ToolContext, propose};
use crate::error::Result;
use crate::write::WriteRequest;

/// A tool that writes. Its constants are those of [`Tool`].
pub trait WriteTool: Send + Sync + 'static {
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    const KIND: ToolKind = ToolKind::Change;
    const EXPLAINED: Explained = &[];
    const IN_PREVIEW: &'static [&'static str] = &[];
    const TAKES_PAGE_NAME: bool = false;
    const TAKES_FOLDER: bool = false;
    type Input: DeserializeOwned + JsonSchema + Validate<Context = ()> + Send + 'static;

    /// Makes the request of a call.
    fn request(
        context: &ToolContext,
        input: Self::Input,
    ) -> impl Future<Output = Result<RequestedWrite>> + Send;
}

/// A write that a call asks for, with the arguments that all of these tools have.
pub struct RequestedWrite {
    request: WriteRequest,
    confirm: Option<String>,
    note: Option<String>,
    draft: Option<String>,
}

impl RequestedWrite {
    pub(super) const fn new(
        request: WriteRequest,
        confirm: Option<String>,
        note: Option<String>,
    ) -> Self {
        Self {
            request,
            confirm,
            note,
            draft: None,
        }
    }

    /// The same write, to join a draft if one is named.
    pub(super) fn joining(self, draft: Option<String>) -> Self {
        Self { draft, ..self }
    }
}

/// The answer of a tool that writes.
#[derive(Serialize)]
#[serde(transparent)]
pub struct WriteToolAnswer(WriteOutput);

impl<T: WriteTool> Tool for T {
    const NAME: &'static str = <T as WriteTool>::NAME;
    const DESCRIPTION: &'static str = <T as WriteTool>::DESCRIPTION;
    const ANSWER: &'static str = WRITE_ANSWER;
    const KIND: ToolKind = <T as WriteTool>::KIND;
    const EXPLAINED: Explained = <T as WriteTool>::EXPLAINED;
    const IN_PREVIEW: &'static [&'static str] = <T as WriteTool>::IN_PREVIEW;
    const MOST_BYTES: usize = TEXT_BYTES;
    const SHOWS_CHANGES: bool = true;
    const CAN_PROPOSE: bool = true;
    const TAKES_PAGE_NAME: bool = <T as WriteTool>::TAKES_PAGE_NAME;
    const TAKES_FOLDER: bool = <T as WriteTool>::TAKES_FOLDER;
    type Input = <T as WriteTool>::Input;
    type Output = WriteToolAnswer;

    async fn run(context: ToolContext, input: Self::Input) -> Result<WriteToolAnswer> {
        let write = T::request(&context, input).await?;
        if context.caller.proposes && write.draft.is_some() {
            let (desk, failure) = (&context.desk, propose::of_draft());
            return Err(desk.refuse_input(&context.caller, None, failure).await);
        }
        let request = context.joining(write.draft.as_deref(), write.request)?;
        let written = context.write(request, write.note, write.confirm);
        Box::pin(written).await.map(WriteToolAnswer)
    }
}
