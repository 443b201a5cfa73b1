//! [`Handler`]: the requests of one client.
#![expect(
    deprecated,
    reason = "logging and resources/subscribe are part of the revisions up to 2025-11-25"
)]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
        GetPromptRequestParams, GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        Reference, ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
        Tool, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use tracing::Instrument;

use super::{
    call,
    changes::{self, Subscribed},
    peer::{LogLevel, McpPeer},
    request_state::{Binding, Sealer},
    rounds::{self, Round, Rounds, Sent},
    settings::Settings,
    source::{PromptSource, ResourceSource},
    span,
};
use crate::{convert, error::error_data, prompt::PromptInfo};

/// The number of tools on a page.
const PAGE: usize = 500;

/// Handles the requests of one client.
pub(crate) struct Handler {
    settings: Arc<Settings>,
    sealer: Arc<Sealer>,
    log_level: Arc<LogLevel>,
    subscribed: Subscribed,
    /// Whether the client has closed its stream, which is never known over HTTP.
    ended: CancellationToken,
    /// Notifies the client of changes. Ends with the connection.
    notifier: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl Handler {
    pub(crate) fn new(settings: Arc<Settings>) -> Self {
        Self {
            sealer: Arc::new(settings.sealer()),
            settings,
            log_level: Arc::default(),
            subscribed: Arc::default(),
            ended: CancellationToken::new(),
            notifier: Mutex::default(),
        }
    }

    /// Sets the token that is cancelled when the client has closed its stream.
    pub(crate) fn with_end(mut self, ended: CancellationToken) -> Self {
        self.ended = ended;
        self
    }

    fn prompts(&self) -> Result<&dyn PromptSource, ErrorData> {
        let none = || ErrorData::invalid_params("this server has no prompts", None);
        self.settings.prompts.as_deref().ok_or_else(none)
    }

    fn resources(&self) -> Result<&dyn ResourceSource, ErrorData> {
        let none = || ErrorData::invalid_params("this server has no resources", None);
        self.settings.resources.as_deref().ok_or_else(none)
    }

    async fn prompt(&self, name: &str) -> Result<PromptInfo, ErrorData> {
        let known = self.prompts()?.list().await.map_err(error_data)?;
        let found = known.into_iter().find(|prompt| prompt.name == name);
        found.ok_or_else(|| unknown_prompt(name))
    }

    /// Fills in a prompt.
    async fn fill_in(
        &self,
        params: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let name = &params.name;
        let info = self.prompt(name).await?;
        let mut arguments = BTreeMap::new();
        for (argument, value) in params.arguments.unwrap_or_default() {
            let Value::String(value) = value else {
                let message = format!("the argument {argument:?} of the prompt {name:?} is not a string");
                return Err(ErrorData::invalid_params(message, None));
            };
            arguments.insert(argument, value);
        }
        let missing = info
            .arguments
            .iter()
            .find(|known| known.is_required && !arguments.contains_key(&known.name));
        if let Some(missing) = missing {
            let message = format!("the prompt {name:?} needs the argument {:?}", missing.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let binding = || Binding::new("prompts/get", name, json!(arguments).to_string());
        let sent = Sent {
            responses: params.input_responses,
            state: params.request_state,
        };
        let rounds = Rounds::open(&self.sealer, &context, binding, sent)?;
        let client = McpPeer::new(context, &self.log_level, rounds.clone());
        let work = self.prompts()?.get(name, &arguments, &client);
        match rounds::run(rounds.as_deref(), work).await? {
            Round::Ask(questions) => Ok(GetPromptResponse::InputRequired(questions)),
            Round::Done(prompt) => match prompt.map_err(error_data)? {
                Some(prompt) => Ok(GetPromptResponse::Complete(convert::sent_prompt(prompt))),
                None => Err(unknown_prompt(name)),
            },
        }
    }

    /// Reads a resource.
    async fn read(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let sent = Sent {
            responses: params.input_responses,
            state: params.request_state,
        };
        let binding = || Binding::new("resources/read", &params.uri, "null");
        let rounds = Rounds::open(&self.sealer, &context, binding, sent)?;
        let client = McpPeer::new(context, &self.log_level, rounds.clone());
        let work = self.resources()?.read(&params.uri, &client);
        let contents = match rounds::run(rounds.as_deref(), work).await? {
            Round::Ask(questions) => return Ok(ReadResourceResponse::InputRequired(questions)),
            Round::Done(contents) => contents.map_err(error_data)?,
        };
        match contents {
            Some(contents) => {
                let contents = contents.into_iter().map(convert::sent_contents).collect();
                Ok(ReadResourceResponse::Complete(ReadResourceResult::new(contents)))
            }
            None => {
                let data = json!({"uri": params.uri});
                Err(ErrorData::resource_not_found("there is no such resource", Some(data)))
            }
        }
    }
}

fn unknown_prompt(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no prompt named {name:?}"), None)
}

// The library moves the futures of these methods many times, and each is as large as the largest. So the large ones are boxed.
impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let settings = &self.settings;
        let mut capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        if settings.prompts.is_some() {
            capabilities.prompts = Some(rmcp::model::PromptsCapability::default());
            capabilities.completions = Some(serde_json::Map::new());
        }
        if settings.resources.is_some() {
            let mut resources = rmcp::model::ResourcesCapability::default();
            resources.subscribe = Some(true);
            capabilities.resources = Some(resources);
        }
        let config = ServerConfig::new(capabilities).with_server_info(settings.identity.implementation());
        match &settings.instructions {
            Some(instructions) => config.with_instructions(instructions.clone()),
            None => config,
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let task = changes::notify(Arc::clone(&self.settings), context.peer, Arc::clone(&self.subscribed));
        let task = AbortOnDropHandle::new(tokio::spawn(task));
        *self.notifier.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    async fn list_tools(
        &self,
        params: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let offer = self.settings.offer();
        // The cursor is the last name of the page before, so that a change in between does no harm.
        let after = params.and_then(|params| params.cursor);
        let tools = offer.tools();
        let start = after.map_or(0, |after| tools.partition_point(|tool| *tool.name <= *after));
        let page = &tools[start..tools.len().min(start + PAGE)];
        let mut result = ListToolsResult::with_all_items(page.to_vec());
        if start + page.len() < tools.len() {
            result.next_cursor = page.last().map(|tool| tool.name.to_string());
        }
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.settings.offer().tool(name).cloned()
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let span = span::request("tools/call", &context);
        if !span.is_disabled() && self.settings.offer().tool(&params.name).is_some() {
            span::calls(&span, &params.name);
        }
        let work = call::run(&self.settings, &self.sealer, &self.log_level, params, context);
        let result = Box::pin(work.instrument(span.clone())).await;
        match &result {
            Err(error) => span::failed(&span, error),
            Ok(CallToolResponse::Complete(done)) if done.is_error == Some(true) => span::tool_failed(&span),
            Ok(_) => {}
        }
        result
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = self.prompts()?.list().await.map_err(error_data)?;
        Ok(ListPromptsResult::with_all_items(
            prompts.into_iter().map(convert::sent_prompt_info).collect(),
        ))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let span = span::request("prompts/get", &context);
        let result = Box::pin(self.fill_in(params, context).instrument(span.clone())).await;
        result.inspect_err(|error| span::failed(&span, error))
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let Reference::Prompt(prompt) = &params.r#ref else {
            return Ok(CompleteResult::default());
        };
        let known = Box::pin(self.prompt(&prompt.name)).await?;
        let source = self.prompts()?;
        let values = source
            .complete(&known.name, &params.argument.name, &params.argument.value)
            .await;
        let mut values = values.map_err(error_data)?;
        let total = u32::try_from(values.len()).ok();
        values.truncate(CompletionInfo::MAX_VALUES);
        let has_more = total.is_some_and(|total| total as usize > values.len());
        let info = CompletionInfo::with_pagination(values, total, has_more);
        info.map(CompleteResult::new)
            .map_err(|error| ErrorData::internal_error(error, None))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = self.resources()?.list().await.map_err(error_data)?;
        Ok(ListResourcesResult::with_all_items(
            resources.into_iter().map(convert::sent_resource).collect(),
        ))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = self.resources()?.templates().await.map_err(error_data)?;
        let templates = templates.into_iter().map(convert::sent_template).collect();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let span = span::request("resources/read", &context);
        let result = Box::pin(self.read(params, context).instrument(span.clone())).await;
        result.inspect_err(|error| span::failed(&span, error))
    }

    async fn subscribe(&self, params: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.resources()?;
        self.subscribed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(params.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&params.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let listening = Box::pin(changes::listen(&self.settings, &subscription));
        tokio::select! {
            () = listening => {}
            () = self.ended.cancelled() => {}
        }
        Ok(())
    }

    async fn set_level(&self, params: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.log_level.set(params.level);
        Ok(())
    }
}
