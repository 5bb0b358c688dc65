//! Answers each request with its fixture.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    GetTaskParams, GetTaskResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, RequestStateCodec,
    ResourceContents, Role, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::task_manager::TaskManager;
use serde_json::json;
use tokio::sync::broadcast;

use crate::ask::{self, argument};
use crate::fixtures::Fixtures;
use crate::rounds::{self, Brought, Round};
use crate::tasks;

/// What was changed, for those who listen.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Changed {
    Tools,
    Prompts,
}

/// What all requests share: from 2026-07-28 on each has a handler of its own.
pub(crate) struct Shared {
    fixtures: Fixtures,
    codec: RequestStateCodec,
    changes: broadcast::Sender<Changed>,
    tasks: TaskManager,
}

impl Shared {
    pub(crate) fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let mut key = [0u8; RequestStateCodec::MIN_KEY_LENGTH];
        getrandom::fill(&mut key)?;
        Ok(Self {
            fixtures: Fixtures::read()?,
            codec: RequestStateCodec::try_new(key)?,
            changes: broadcast::Sender::new(8),
            tasks: TaskManager::new(),
        })
    }
}

/// Answers one connection.
#[derive(Clone)]
pub(crate) struct Handler(Arc<Shared>);

impl Handler {
    pub(crate) const fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_logging()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            self.0.fixtures.tools.clone(),
        ))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let mut tools = self.0.fixtures.tools.iter();
        tools.find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Shared {
            fixtures,
            codec,
            changes,
            tasks: manager,
        } = &*self.0;
        let name = request.name.as_ref();
        let arguments = request.arguments.unwrap_or_default();
        if let Some(answer) = fixtures.calls.get(name) {
            return Ok(answer.clone().into());
        }
        if let Some(question) = fixtures.elicitations.get(name) {
            let answer = ask::elicit(&context, &arguments, question.clone()).await;
            return answer.map(Into::into);
        }
        if let Some(all) = fixtures.rounds.get(name) {
            let brought = Brought {
                state: request.request_state,
                responses: request.input_responses.unwrap_or_default(),
                client: context.client_capabilities().unwrap_or_default(),
            };
            return Ok(match rounds::next(codec, name, all, &brought)? {
                Round::Asks(questions) => questions.into(),
                Round::Done(answer) if name == "test_tool_with_task" => {
                    tasks::spawned(manager, |_| async { Ok(ask::text(answer)) })
                }
                Round::Done(answer) => ask::text(answer).into(),
            });
        }
        if let Some(answer) = tasks::call(manager, name, &arguments, &context).await {
            return answer;
        }
        let answer = match name {
            "test_tool_with_logging" | "test_logging_tool" => ask::log(&context).await,
            "test_tool_with_progress" => ask::progress(&context).await,
            "test_sampling" => ask::sample(&context, &arguments).await,
            "test_missing_capability" => {
                ask::needs_sampling(&context).map(|()| ask::text("sampling is there"))
            }
            // Nobody may listen; that is no fault.
            "test_trigger_tool_change" => {
                let _ = changes.send(Changed::Tools);
                Ok(ask::text("said"))
            }
            "test_trigger_prompt_change" => {
                let _ = changes.send(Changed::Prompts);
                Ok(ask::text("said"))
            }
            _ => Err(ErrorData::invalid_params("unknown tool", None)),
        };
        answer.map(Into::into)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut news = self.0.changes.subscribe();
        loop {
            let changed = tokio::select! {
                changed = news.recv() => changed,
                () = context.cancelled() => return Ok(()),
            };
            // The sink refuses what was not asked for.
            let _ = match changed {
                Ok(Changed::Tools) => context.sink().notify_tool_list_changed().await,
                Ok(Changed::Prompts) => context.sink().notify_prompt_list_changed().await,
                Err(_) => return Ok(()),
            };
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = self.0.fixtures.prompts.clone();
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Shared {
            fixtures, codec, ..
        } = &*self.0;
        let name = request.name.as_str();
        let arguments = request.arguments.unwrap_or_default();
        let contents = match name {
            "test_simple_prompt" => {
                vec![ContentBlock::text("This is a simple prompt for testing.")]
            }
            "test_prompt_with_arguments" => vec![ContentBlock::text(format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                argument(&arguments, "arg1")?,
                argument(&arguments, "arg2")?
            ))],
            "test_prompt_with_embedded_resource" => {
                let text = "Embedded resource content for testing.";
                let resource = ResourceContents::text(text, argument(&arguments, "resourceUri")?);
                vec![
                    ContentBlock::resource(resource.with_mime_type("text/plain")),
                    ContentBlock::text("Please process the embedded resource above."),
                ]
            }
            "test_prompt_with_image" => vec![
                ContentBlock::image(fixtures.image.as_str(), "image/png"),
                ContentBlock::text("Please analyze the image above."),
            ],
            _ => {
                let all = fixtures.rounds.get(name);
                let all = all.ok_or_else(|| ErrorData::invalid_params("unknown prompt", None))?;
                let brought = Brought {
                    state: request.request_state,
                    responses: request.input_responses.unwrap_or_default(),
                    client: context.client_capabilities().unwrap_or_default(),
                };
                match rounds::next(codec, name, all, &brought)? {
                    Round::Asks(questions) => return Ok(questions.into()),
                    Round::Done(answer) => vec![ContentBlock::text(answer)],
                }
            }
        };
        let message = |content| PromptMessage::new(Role::User, content);
        Ok(GetPromptResult::new(contents.into_iter().map(message).collect()).into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = self.0.fixtures.resources.clone();
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = self.0.fixtures.templates.clone();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let text = |text: &str| ResourceContents::text(text, uri);
        let template = uri
            .strip_prefix("test://template/")
            .and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, template) {
            ("test://static-text", _) => text("This is the content of the static text resource.")
                .with_mime_type("text/plain"),
            ("test://watched-resource", _) => text("Watched.").with_mime_type("text/plain"),
            ("test://static-binary", _) => {
                ResourceContents::blob(self.0.fixtures.image.as_str(), uri)
                    .with_mime_type("image/png")
            }
            (_, Some(id)) => {
                let data =
                    json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                text(&data.to_string()).with_mime_type("application/json")
            }
            _ => {
                return Err(ErrorData::resource_not_found(
                    "no such resource",
                    Some(json!({ "uri": uri })),
                ));
            }
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.0
            .tasks
            .get_task(&request.task_id)
            .map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let responses = request.input_responses;
        self.0.tasks.update_task(&request.task_id, responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.tasks.cancel_task(&request.task_id)
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(CompleteResult::default())
    }

    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }
}
