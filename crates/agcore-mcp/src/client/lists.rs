//! Requests about prompts and resources.
#![expect(
    deprecated,
    reason = "subscriptions to resources and log levels are part of the revisions up to 2025-11-25"
)]

use std::collections::BTreeMap;

use rmcp::model::{
    self, ArgumentInfo, ClientRequest, CompleteRequest, CompleteRequestParams, GetPromptRequest,
    GetPromptRequestParams, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, LoggingLevel,
    PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams, Reference, ServerResult, SetLevelRequest,
    SetLevelRequestParams, SubscribeRequest, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequest,
    UnsubscribeRequestParams,
};
use serde_json::Value;
use tokio::time::Instant;

use super::{
    McpClient,
    connection::Connection,
    input::Input,
    list::{Cursors, List, Next, Page, Pages, lenient_page},
    listen::forward,
    remote_tool::JsonObject,
    request::Limits,
};
use crate::{
    convert,
    error::{McpError, McpErrorKind},
    prompt::{Prompt, PromptInfo},
    resource::{ResourceContents, ResourceInfo, ResourceTemplate},
};

impl McpClient {
    /// Returns the prompts of the server, from all pages of its list. Cancel safe.
    ///
    /// # Errors
    /// When the server does not answer in time, or answers with an error. What was read before is kept, with a warning in
    /// the log: a list may be incomplete when a later page fails, or the list does not end.
    pub async fn list_prompts(&self) -> Result<Vec<PromptInfo>, McpError> {
        let connection = self.0.connection().await?;
        if !connection.info.has_prompts {
            return Ok(Vec::new());
        }
        let request = |params| {
            ListPromptsRequest {
                params,
                ..ListPromptsRequest::default()
            }
            .into()
        };
        let page = |result| {
            let (list, next): Page<model::Prompt> = match result {
                ServerResult::ListPromptsResult(page) => (page.prompts.into_iter().map(Ok).collect(), page.next_cursor),
                other => lenient_page(other, "prompts")?,
            };
            Some((
                list.into_iter().map(|entry| entry.map(convert::prompt_info)).collect(),
                next,
            ))
        };
        let list = self.all_pages(&connection, "prompts/list", request, page, |prompt| &prompt.name);
        Ok(list.await?.entries)
    }

    /// Fills in a prompt.
    ///
    /// # Errors
    /// When there is no such prompt, an argument is missing, or the server does not answer in time. Cancel safe.
    pub async fn get_prompt(&self, name: &str, arguments: &BTreeMap<String, String>) -> Result<Prompt, McpError> {
        let connection = self.0.connection().await?;
        let mut params = GetPromptRequestParams::new(name);
        if !arguments.is_empty() {
            let values = arguments
                .iter()
                .map(|(name, value)| (name.clone(), Value::String(value.clone())));
            params = params.with_arguments(values.collect::<JsonObject>());
        }
        let request = |input: Input| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = (input.responses, input.state);
            GetPromptRequest::new(params).into()
        };
        match self.ask_with_input(&connection, "prompts/get", request).await? {
            ServerResult::GetPromptResult(result) => Ok(convert::prompt(result)),
            // A result without any member.
            ServerResult::EmptyResult(_) => Ok(Prompt::default()),
            ServerResult::CustomResult(result) => {
                self.warn_of_form("prompts/get");
                convert::lenient_prompt(result.0)
                    .ok_or_else(|| connection.requests.unexpected("prompts/get", "a prompt"))
            }
            _ => Err(connection.requests.unexpected("prompts/get", "a prompt")),
        }
    }

    /// Returns the resources of the server, from all pages of its list. Cancel safe.
    ///
    /// # Errors
    /// As for [`list_prompts`](Self::list_prompts).
    pub async fn list_resources(&self) -> Result<Vec<ResourceInfo>, McpError> {
        let connection = self.0.connection().await?;
        if !connection.info.has_resources {
            return Ok(Vec::new());
        }
        let request = |params| {
            ListResourcesRequest {
                params,
                ..ListResourcesRequest::default()
            }
            .into()
        };
        let page = |result| {
            let (list, next): Page<model::Resource> = match result {
                ServerResult::ListResourcesResult(page) => {
                    (page.resources.into_iter().map(Ok).collect(), page.next_cursor)
                }
                other => lenient_page(other, "resources")?,
            };
            Some((
                list.into_iter()
                    .map(|entry| entry.map(convert::resource_info))
                    .collect(),
                next,
            ))
        };
        let list = self.all_pages(&connection, "resources/list", request, page, |resource| &resource.uri);
        Ok(list.await?.entries)
    }

    /// Returns the families of resources of the server, from all pages of its list. Cancel safe.
    ///
    /// # Errors
    /// As for [`list_prompts`](Self::list_prompts).
    pub async fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate>, McpError> {
        let connection = self.0.connection().await?;
        if !connection.info.has_resources {
            return Ok(Vec::new());
        }
        let request = |params| {
            ListResourceTemplatesRequest {
                params,
                ..ListResourceTemplatesRequest::default()
            }
            .into()
        };
        let page = |result| {
            let (list, next): Page<model::ResourceTemplate> = match result {
                ServerResult::ListResourceTemplatesResult(page) => {
                    (page.resource_templates.into_iter().map(Ok).collect(), page.next_cursor)
                }
                other => lenient_page(other, "resourceTemplates")?,
            };
            Some((
                list.into_iter()
                    .map(|entry| entry.map(convert::resource_template))
                    .collect(),
                next,
            ))
        };
        let what = "resources/templates/list";
        let list = self.all_pages(&connection, what, request, page, |template| &template.uri_template);
        Ok(list.await?.entries)
    }

    /// Reads a resource, which may have several parts.
    ///
    /// # Errors
    /// When there is no such resource, or the server does not answer in time. Cancel safe.
    pub async fn read_resource(&self, uri: &str) -> Result<Vec<ResourceContents>, McpError> {
        let connection = self.0.connection().await?;
        let params = ReadResourceRequestParams::new(uri);
        let request = |input: Input| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = (input.responses, input.state);
            ReadResourceRequest::new(params).into()
        };
        match self.ask_with_input(&connection, "resources/read", request).await? {
            ServerResult::ReadResourceResult(result) => Ok(result
                .contents
                .into_iter()
                .filter_map(convert::resource_contents)
                .collect()),
            ServerResult::CustomResult(result) => {
                self.warn_of_form("resources/read");
                convert::lenient_contents(result.0, uri)
                    .ok_or_else(|| connection.requests.unexpected("resources/read", "a resource"))
            }
            _ => Err(connection.requests.unexpected("resources/read", "a resource")),
        }
    }

    /// Asks the server to report changes of a resource, as
    /// [`ServerEvent::ResourceUpdated`](crate::ServerEvent::ResourceUpdated).
    ///
    /// # Errors
    /// When the server refuses, or does not answer in time.
    pub async fn subscribe(&self, uri: &str) -> Result<(), McpError> {
        let connection = self.0.connection().await?;
        if connection.info.is_stateless() {
            let filter = SubscriptionFilter::builder().resource_subscriptions([uri]).build();
            let limit = self.0.options.list_timeout;
            let subscription = connection.requests.listen(filter, limit).await?;
            let task = tokio::spawn(forward(subscription, self.0.events.clone()));
            connection.add_subscription(uri, task);
            return Ok(());
        }
        let request = SubscribeRequest::new(SubscribeRequestParams::new(uri));
        self.ask(&connection, "resources/subscribe", request).await.map(|_| ())
    }

    /// Ends a subscription.
    ///
    /// # Errors
    /// When the server refuses, or does not answer in time. Cancel safe.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), McpError> {
        let connection = self.0.connection().await?;
        if connection.info.is_stateless() {
            connection.remove_subscription(uri);
            return Ok(());
        }
        let request = UnsubscribeRequest::new(UnsubscribeRequestParams::new(uri));
        self.ask(&connection, "resources/unsubscribe", request)
            .await
            .map(|_| ())
    }

    /// Asks for values that complete the argument of a prompt. A server without completion has none.
    ///
    /// # Errors
    /// When the server refuses, or does not answer in time. Cancel safe.
    pub async fn complete_prompt(&self, prompt: &str, argument: &str, start: &str) -> Result<Vec<String>, McpError> {
        self.complete(Reference::for_prompt(prompt), argument, start).await
    }

    /// Asks for values that complete the variable of a resource template. A server without completion has none.
    ///
    /// # Errors
    /// As for [`complete_prompt`](Self::complete_prompt).
    pub async fn complete_resource(
        &self,
        template: &str,
        variable: &str,
        start: &str,
    ) -> Result<Vec<String>, McpError> {
        self.complete(Reference::for_resource(template), variable, start).await
    }

    async fn complete(&self, reference: Reference, argument: &str, start: &str) -> Result<Vec<String>, McpError> {
        let connection = self.0.connection().await?;
        if !connection.info.has_completion {
            return Ok(Vec::new());
        }
        let params = CompleteRequestParams::new(reference, ArgumentInfo::new(argument, start));
        match self
            .ask(&connection, "completion/complete", CompleteRequest::new(params))
            .await?
        {
            ServerResult::CompleteResult(result) => Ok(result.completion.values),
            _ => Err(connection.requests.unexpected("completion/complete", "a completion")),
        }
    }

    /// Sets the lowest severity of log messages that the server sends: `debug`, `info`, `notice`, `warning`, `error`,
    /// `critical`, `alert` or `emergency`.
    ///
    /// # Errors
    /// When the name is not one of these, the server refuses, or does not answer in time. Cancel safe.
    pub async fn set_log_level(&self, level: &str) -> Result<(), McpError> {
        let Ok(level) = serde_json::from_value::<LoggingLevel>(level.into()) else {
            let message = format!(
                "{level:?} is not a severity; use debug, info, notice, warning, error, critical, alert or \
                                   emergency"
            );
            return Err(McpError::new(McpErrorKind::Config, message));
        };
        let connection = self.0.connection().await?;
        let request = SetLevelRequest::new(SetLevelRequestParams::new(level));
        self.ask(&connection, "logging/setLevel", request).await.map(|_| ())
    }

    fn warn_of_form(&self, what: &str) {
        tracing::warn!(
            server = self.name(),
            what,
            "an answer has a wrong form; what can be used is kept"
        );
    }

    async fn ask(
        &self,
        connection: &Connection,
        what: &str,
        request: impl Into<ClientRequest>,
    ) -> Result<ServerResult, McpError> {
        let limits = Limits::within(self.0.options.list_timeout);
        connection.requests.send(what, request, limits, &mut |_| {}).await
    }

    async fn ask_with_input(
        &self,
        connection: &Connection,
        what: &str,
        request: impl Fn(Input) -> ClientRequest,
    ) -> Result<ServerResult, McpError> {
        let limits = Limits::within(self.0.options.list_timeout);
        self.send_with_input(connection, what, request, limits, &mut |_| {})
            .await
    }

    /// Reads all pages of a list, within the limits of the client. `key` identifies an entry.
    ///
    /// What was read is kept if the list does not continue. Malformed entries, and why a list may be incomplete, are logged as
    /// well.
    pub(super) async fn all_pages<T>(
        &self,
        connection: &Connection,
        what: &str,
        request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
        page: impl Fn(ServerResult) -> Option<Page<T>>,
        key: impl Fn(&T) -> &str,
    ) -> Result<List<T>, McpError> {
        let options = &self.0.options;
        let deadline = Instant::now() + options.list_timeout;
        let cursors = Cursors::new(connection.info.is_stateless());
        let mut pages = Pages::new(cursors, options.max_list_entries);
        let mut limit = options.list_timeout;
        let mut cursor = None::<String>;
        let reason = loop {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let request = request(Some(params));
            let limits = Limits::within(limit);
            let sent = connection.requests.send(what, request, limits, &mut |_| {}).await;
            let read = sent.and_then(|result| {
                let read = page(result);
                read.ok_or_else(|| connection.requests.unexpected(what, "a list"))
            });
            let read = match read {
                Ok(read) => read,
                Err(error) => break self.end_of_pages(&pages, error)?,
            };
            for problem in read.0.iter().filter_map(|entry| entry.as_ref().err()) {
                tracing::warn!(server = self.name(), what, problem, "an entry of a list is left out");
            }
            match pages.add(read, &key) {
                Next::Page(next) => cursor = Some(next),
                Next::End => return Ok(pages.complete()),
                Next::Stuck(reason) => break reason,
            }
            limit = deadline.saturating_duration_since(Instant::now());
            if limit.is_zero() {
                break self.too_slow(pages.count());
            }
        };
        tracing::warn!(server = self.name(), what, reason, "a list may be incomplete");
        Ok(pages.incomplete(format!("{what} may be incomplete: {reason}"), key))
    }

    /// Returns why a list ends at a page that could not be read, or the error if nothing can be kept.
    fn end_of_pages<T>(&self, pages: &Pages<T>, error: McpError) -> Result<String, McpError> {
        match error.kind() {
            // The connection is closed, or a person has to act.
            McpErrorKind::Closed | McpErrorKind::Unauthorized => Err(error),
            McpErrorKind::Timeout if pages.count() > 0 => Ok(self.too_slow(pages.count())),
            _ if pages.is_empty() => Err(error),
            _ => {
                let page = pages.count() + 1;
                Ok(format!("page {page} cannot be read: {}", error.message()))
            }
        }
    }

    fn too_slow(&self, pages: usize) -> String {
        let limit = self.0.options.list_timeout;
        format!("the server did not send the whole list within {limit:?}; the pages that were read: {pages}")
    }
}
