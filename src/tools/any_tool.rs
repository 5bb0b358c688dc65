//! A tool without its types, so that what all tools share is compiled once.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::output::written;
use super::{
    Arguments, DescribedBy, Tool, ToolContext, ToolKind, Toolset, detail, input, page_argument,
    propose, schema,
};
use crate::blocking;
use crate::error::{Code, Failure, Result};
use crate::write::Extent;

pub(super) type ToolFuture = Pin<Box<dyn Future<Output = Result<Value>> + Send>>;

/// A call whose arguments are read.
pub(super) type ReadCall = Box<dyn FnOnce(ToolContext) -> ToolFuture + Send>;

/// A tool without its types: its toolset, the constants of [`Tool`], and what depends on the types.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnyTool {
    pub(super) name: &'static str,
    pub(super) toolset: Toolset,
    pub(super) description: &'static str,
    pub(super) answer: &'static str,
    pub(super) kind: ToolKind,
    pub(super) described_by: Option<DescribedBy>,
    pub(super) in_preview: &'static [&'static str],
    pub(super) most_bytes: usize,
    pub(super) shows_image: bool,
    pub(super) takes_page_name: bool,
    pub(super) takes_folder: bool,
    pub(super) beside: Beside,
    /// Makes the schema of its arguments.
    pub(super) schema: fn() -> Map<String, Value>,
    /// Reads arguments by their schema.
    pub(super) read: fn(&Map<String, Value>, Arguments) -> Result<ReadCall>,
}

/// The arguments that a tool takes beside its own, which are no part of what is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beside {
    pub(super) detail: bool,
    pub(super) propose: bool,
}

impl Beside {
    /// Takes them from a call.
    pub(super) fn take(self, from: &mut Arguments, extent: &mut Extent, proposes: &mut bool) {
        if self.detail {
            detail::take_argument(from, extent);
        }
        if self.propose {
            propose::take(from, proposes);
        }
    }

    /// Takes them from a call that is only checked.
    pub(super) fn drop_from(self, arguments: &mut Arguments) {
        self.take(arguments, &mut Extent::default(), &mut false);
    }
}

fn read<T: Tool>(schema: &Map<String, Value>, arguments: Arguments) -> Result<ReadCall> {
    let input = input::parse::<T::Input>(schema, T::EXPLAINED, arguments)?;
    Ok(Box::new(|context| {
        Box::pin(async { written(T::run(context, input).await?) })
    }))
}

impl AnyTool {
    pub(super) const fn of<T: Tool>(toolset: Toolset) -> Self {
        Self {
            name: T::NAME,
            toolset,
            description: T::DESCRIPTION,
            answer: T::ANSWER,
            kind: T::KIND,
            described_by: T::DESCRIBED_BY,
            in_preview: T::IN_PREVIEW,
            most_bytes: T::MOST_BYTES,
            shows_image: T::SHOWS_IMAGE,
            takes_page_name: T::TAKES_PAGE_NAME,
            takes_folder: T::TAKES_FOLDER,
            beside: Beside {
                detail: T::SHOWS_CHANGES,
                propose: T::CAN_PROPOSE,
            },
            schema: schema::of_input::<T::Input>,
            read: read::<T>,
        }
    }

    /// Arguments that are required in the end, and that a call need not give: what a preview's token
    /// replaces, and what another argument names.
    pub(super) fn optional(&self) -> Vec<&'static str> {
        let id = self.takes_page_name.then_some(page_argument::ID);
        let path = self.takes_folder.then_some(page_argument::PATH);
        id.into_iter()
            .chain(path)
            .chain(self.in_preview.iter().copied())
            .collect()
    }

    /// Reads a call; a large one on a blocking thread, so that other calls need not wait.
    pub(super) async fn read_call(
        &self,
        schema: Arc<Map<String, Value>>,
        arguments: Arguments,
    ) -> Result<ReadCall> {
        let read = self.read;
        if !arguments.is_large {
            return read(&schema, arguments);
        }
        let read = blocking::run(move || read(&schema, arguments)).await;
        read.unwrap_or_else(|| Err(broke_off()))
    }
}

pub(super) fn broke_off() -> Failure {
    Failure::new(Code::InternalError, "The tool broke off.")
}
