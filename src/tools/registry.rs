//! All tools by name, with their types erased.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::{Map, Value};

use super::any_tool::{AnyTool, ToolFuture, broke_off};
use super::confirm_args::Completed;
use super::delegate::Delegate;
use super::end_delegation::EndDelegation;
use super::output::written;
use super::what_became::what_became;
use super::{
    Arguments, Tool, ToolContext, ToolKind, Toolset, detail, page_argument, propose, schema,
};
use crate::error::{Result, capitalised};
use crate::gates::Asked;

pub(super) type ToolFn = Box<dyn Fn(ToolContext, Arguments) -> ToolFuture + Send + Sync>;

/// A tool as a client sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// Its name.
    pub name: &'static str,
    /// Its display name.
    pub title: String,
    /// The advice on when to use it.
    pub description: Cow<'static, str>,
    /// Its effect on the wiki: reading or changing.
    pub kind: ToolKind,
    /// The most bytes of its answer, as text and as structured content together.
    pub most_bytes: usize,
    /// True if its answer may have an [image](IMAGE).
    pub shows_image: bool,
    /// The schema of its arguments.
    pub input: Map<String, Value>,
    /// The schema of its answer.
    pub output: Map<String, Value>,
    /// Its description if the tool that documents its arguments is not offered.
    pub(super) alone: Option<Alone>,
    /// Its origin, if it is an operator's own.
    pub custom: Option<OfCustom>,
}

/// The origin and the audience of a custom tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfCustom {
    /// The file that says it.
    pub file: String,
    /// The tool of ours that it calls, if it is a recipe.
    pub calls: Option<&'static str>,
    /// True if it is only for callers who may read every page.
    pub is_for_open_reads: bool,
}

/// A tool with its own full description.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Alone {
    /// The tool that normally documents its arguments.
    pub(super) without: &'static str,
    pub(super) definition: Arc<ToolDefinition>,
}

impl ToolDefinition {
    /// True if it can change the wiki.
    pub const fn can_write(&self) -> bool {
        self.kind.writes()
    }
}

/// True if a tool makes or ends delegates. No delegate or unnamed client has such a tool.
pub fn is_of_delegation(tool: &ToolDefinition) -> bool {
    [Delegate::NAME, EndDelegation::NAME].contains(&tool.name)
}

pub(super) type ArgumentCheck = Box<dyn Fn(Arguments) -> Result<()> + Send + Sync>;

const fn known<T: Tool>(toolset: Toolset) -> AnyTool {
    AnyTool::of::<T>(toolset)
}

/// Every tool, in the order in which they are listed.
pub(super) const TOOLS: &[AnyTool] = &[
    known::<super::search_pages::SearchPages>(Toolset::Pages),
    known::<super::list_pages::ListPages>(Toolset::Pages),
    known::<super::get_page_by_path::GetPageByPath>(Toolset::Pages),
    known::<super::get_page_by_id::GetPageById>(Toolset::Pages),
    known::<super::get_page_tree::GetPageTree>(Toolset::Pages),
    known::<super::get_page_history::GetPageHistory>(Toolset::Pages),
    known::<super::list_tags::ListTags>(Toolset::Pages),
    known::<super::create_page::CreatePage>(Toolset::Pages),
    known::<super::update_page::UpdatePage>(Toolset::Pages),
    known::<super::delete_page::DeletePage>(Toolset::Pages),
    known::<super::undo_write::UndoWrite>(Toolset::Undo),
    known::<super::list_bin::ListBin>(Toolset::Undo),
    known::<super::restore_page::RestorePage>(Toolset::Undo),
    known::<super::list_proposals::ListProposals>(Toolset::Proposals),
    known::<super::get_proposal::GetProposal>(Toolset::Proposals),
    known::<super::withdraw_proposal::WithdrawProposal>(Toolset::Proposals),
    known::<super::bulk_update_pages::BulkUpdatePages>(Toolset::Drafts),
    known::<super::get_change_set::GetChangeSet>(Toolset::Drafts),
    known::<super::submit_draft::SubmitDraft>(Toolset::Drafts),
    known::<super::discard_draft::DiscardDraft>(Toolset::Drafts),
    known::<super::remember::Remember>(Toolset::Memory),
    known::<super::recall::Recall>(Toolset::Memory),
    known::<super::forget::Forget>(Toolset::Memory),
    known::<super::list_comments::ListComments>(Toolset::Comments),
    known::<super::add_comment::AddComment>(Toolset::Comments),
    known::<super::update_comment::UpdateComment>(Toolset::Comments),
    known::<super::delete_comment::DeleteComment>(Toolset::Comments),
    known::<super::list_assets::ListAssets>(Toolset::Assets),
    known::<super::get_asset::GetAsset>(Toolset::Assets),
    known::<super::upload_asset::UploadAsset>(Toolset::Assets),
    known::<super::rename_asset::RenameAsset>(Toolset::Assets),
    known::<super::delete_asset::DeleteAsset>(Toolset::Assets),
    known::<Delegate>(Toolset::Delegate),
    known::<EndDelegation>(Toolset::Delegate),
    known::<super::run_check::RunCheck>(Toolset::Checks),
    known::<super::list_sites::ListSites>(Toolset::Sites),
    known::<super::site_status::StatusOfSite>(Toolset::Sites),
    known::<super::sync_site::SyncSite>(Toolset::Sites),
];

/// The member of an answer that goes out as an image.
pub const IMAGE: &str = "image";

/// The argument that names a draft; present only if drafts can be submitted.
const DRAFT: &str = "draft";

struct RegisteredTool {
    definition: ToolDefinition,
    check: ArgumentCheck,
    call: ToolFn,
}

/// Two tools have the same name: the server does not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two tools are named {0}")]
pub struct DuplicateTool(&'static str);

/// The tools that a server offers, in a fixed order.
#[derive(Default)]
pub struct Registry {
    entries: Vec<RegisteredTool>,
    /// True if tools take the argument [`DRAFT`].
    takes_drafts: bool,
}

impl Registry {
    /// No tools yet.
    pub(super) const fn empty(takes_drafts: bool) -> Self {
        Self {
            entries: Vec::new(),
            takes_drafts,
        }
    }

    /// One tool alone, with the arguments that this registry gives it.
    pub(super) fn of_one(&self, tool: AnyTool) -> Result<Self, DuplicateTool> {
        let mut registry = Self::empty(self.takes_drafts);
        registry.add_any(tool)?;
        Ok(registry)
    }

    /// Appends a tool; no two have the same name.
    pub(super) fn push(
        &mut self,
        definition: ToolDefinition,
        check: ArgumentCheck,
        call: ToolFn,
    ) -> Result<(), DuplicateTool> {
        if self.find(definition.name).is_some() {
            return Err(DuplicateTool(definition.name));
        }
        self.entries.push(RegisteredTool {
            definition,
            check,
            call,
        });
        Ok(())
    }

    /// Appends a tool.
    ///
    /// # Errors
    /// [`DuplicateTool`].
    pub fn add<T: Tool>(&mut self, toolset: Toolset) -> Result<(), DuplicateTool> {
        self.add_any(AnyTool::of::<T>(toolset))
    }

    pub(super) fn add_any(&mut self, tool: AnyTool) -> Result<(), DuplicateTool> {
        let mut schema = (tool.schema)();
        if !self.takes_drafts {
            schema::without_member(&mut schema, DRAFT);
        }
        if tool.beside.detail {
            detail::add_to(&mut schema);
        }
        if tool.beside.propose {
            propose::add_to(&mut schema);
        }
        if tool.takes_page_name {
            page_argument::add_to(&mut schema);
        }
        if tool.takes_folder {
            page_argument::add_folder_to(&mut schema);
        }
        let schema = Arc::new(schema);
        let of_check = Arc::clone(&schema);
        let described = |description: &'static str, answer, is_brief| ToolDefinition {
            name: tool.name,
            title: capitalised(&tool.name.trim_start_matches("wikijs_").replace('_', " ")),
            description: description.into(),
            kind: tool.kind,
            most_bytes: tool.most_bytes,
            shows_image: tool.shows_image,
            input: schema::shown(&schema, &tool.optional(), is_brief),
            output: schema::of_answer(answer),
            alone: None,
            custom: None,
        };
        let alone = tool.described_by.map(|by| Alone {
            without: by.tool,
            definition: Arc::new(described(by.alone.0, by.alone.1, false)),
        });
        let definition = ToolDefinition {
            alone,
            ..described(tool.description, tool.answer, tool.described_by.is_some())
        };
        let call: ToolFn = Box::new(move |context, arguments| {
            Box::pin(answer(tool, Arc::clone(&schema), context, arguments))
        });
        let check: ArgumentCheck = Box::new(move |mut arguments| {
            tool.beside.drop_from(&mut arguments);
            if tool.takes_page_name {
                page_argument::insert_placeholder_id(&mut arguments);
            }
            if tool.takes_folder {
                page_argument::resolve_folder(&mut arguments)?;
            }
            (tool.read)(&of_check, arguments).map(drop)
        });
        self.push(definition, check, call)
    }

    /// All tools as clients see them.
    pub fn definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.entries.iter().map(|entry| &entry.definition)
    }

    /// One tool as clients see it.
    pub fn find(&self, name: &str) -> Option<&ToolDefinition> {
        Some(&self.entry(name)?.definition)
    }

    fn entry(&self, name: &str) -> Option<&RegisteredTool> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.definition.name == name)
    }

    /// Checks if a tool would take these arguments; `None` if there is no such tool.
    pub fn check(&self, name: &str, arguments: Map<String, Value>) -> Option<Result<()>> {
        Some((self.entry(name)?.check)(arguments.into()))
    }

    /// Calls a tool; `None` if there is no such tool.
    pub fn call(
        &self,
        name: &str,
        context: ToolContext,
        arguments: impl Into<Arguments>,
    ) -> Option<ToolFuture> {
        Some((self.entry(name)?.call)(context, arguments.into()))
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.definitions().map(|definition| definition.name))
            .finish()
    }
}

/// Works to the end: without this, a panic would leave the call unanswered.
async fn unbroken<R>(work: impl Future<Output = Result<R>>) -> Result<R> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.unwrap_or_else(|_| Err(broke_off()))
}

/// Answers a call: its arguments are completed, read and checked, and a panic is an answer, too.
async fn answer(
    tool: AnyTool,
    schema: Arc<Map<String, Value>>,
    mut context: ToolContext,
    mut arguments: Arguments,
) -> Result<Value> {
    let caller = &mut context.caller;
    (tool.beside).take(&mut arguments, &mut caller.extent, &mut caller.proposes);
    let token = arguments.members.get("confirm").and_then(Value::as_str);
    let token = token.filter(|_| tool.kind.writes()).map(str::to_owned);
    // Failed write calls are recorded too.
    let refused = async |context: &ToolContext, failure| {
        if tool.kind.writes() {
            let (desk, token) = (&context.desk, token.as_deref());
            return desk.refuse_input(&context.caller, token, failure).await;
        }
        failure
    };
    let unnamed = if tool.takes_page_name {
        unbroken(page_argument::resolve(&context, tool.kind, &mut arguments)).await
    } else if tool.takes_folder {
        page_argument::resolve_folder(&mut arguments)
    } else {
        Ok(())
    };
    let is_recipe = context.caller.asked.is_some();
    if tool.kind.writes() && !is_recipe {
        let asked = Asked::new(tool.name, arguments.members.clone());
        context.caller.asked = Some(asked);
    }
    if let Some(token) = &token {
        let fetched = context.desk.fetch_preview(&context.caller, token);
        if let Err(failure) = Box::pin(fetched).await {
            return Err(refused(&context, failure).await);
        }
    }
    if tool.kind.writes()
        && let Some(left) = what_became(&context, &arguments).await?
    {
        return written(left);
    }
    let unnamed = unnamed.map_err(|failure| {
        // The write that the token was for may have changed the name.
        let of_token = |token: &String| context.desk.asked(&context.caller, token).err();
        token.as_ref().and_then(of_token).unwrap_or(failure)
    });
    let required = schema.get("required").cloned();
    let begun = if context.caller.proposes {
        propose::unconfirmed(&arguments).and(unnamed)
    } else {
        unnamed
    };
    let read = async |context: &mut ToolContext| {
        begun?;
        let mut call = Completed::new(&tool, context, required.as_ref(), arguments)?;
        // A rule may leave to people only now what a preview showed.
        if let Some(shown) = call.shown.take().filter(|_| !is_recipe) {
            context.caller.asked = Some(shown);
        }
        match tool
            .read_call(schema, std::mem::take(&mut call.arguments))
            .await
        {
            Ok(run) => Ok((run, call)),
            Err(failure) => Err(call.unread(failure)),
        }
    };
    let (run, mut call) = match read(&mut context).await {
        Ok(read) => read,
        Err(failure) => return Err(refused(&context, failure).await),
    };
    let of_call = call.asked.take();
    let of_call = of_call.map(|asked| (context.desk.clone(), context.caller.clone(), asked));
    let extent = context.caller.extent;
    let output = unbroken(run(context)).await;
    let output = output.map_err(|failure| {
        let failure = call.refused(required.as_ref(), failure);
        if tool.beside.detail {
            detail::bounded(failure, extent)
        } else {
            failure
        }
    })?;
    let token = output.get("confirm").and_then(Value::as_str);
    if let (Some((desk, caller, asked)), Some(token)) = (of_call, token) {
        desk.keep_asked(&caller, token, asked).await;
    }
    Ok(output)
}
