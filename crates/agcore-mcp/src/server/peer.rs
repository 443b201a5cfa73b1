//! [`McpPeer`]: the client that sent a request.
#![expect(
    deprecated,
    reason = "logging, sampling and roots are part of the revisions up to 2025-11-25"
)]

mod log_level;
mod form;
mod answers;

use std::{fmt, sync::Arc};

use rmcp::{
    RoleServer,
    model::{
        ClientCapabilities, CreateMessageRequest, CreateMessageResult, ElicitRequest, ElicitRequestParams,
        ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode, FormElicitationCapability, InputRequest,
        ListRootsRequest, ListRootsResult, LoggingLevel, LoggingMessageNotificationParam, RootsCapabilities,
        SamplingCapability,
    },
    service::{RequestContext, ServiceError},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(super) use self::log_level::LogLevel;
use super::rounds::Rounds;
use crate::{
    ask::{ElicitationAnswer, SampleAnswer, SampleRequest},
    convert,
    error::{McpError, McpErrorKind, quote},
};

/// The client that sent a request: it shows log messages, and answers questions.
///
/// Tools find it in their context, with [`ToolContext::extension`](agcore_tools::ToolContext::extension). Prompts and
/// resources get it as an argument.
///
/// # Questions
///
/// A question has a key, which must be unique within the call: the answer is found by it. Check first whether the client
/// can be asked, or return the error: the client then learns what it lacks.
///
/// Clients with a session (the revisions up to 2025-11-25) are asked while the call waits. Without a session (2026-07-28),
/// the call ends with the question, and the client repeats the call with the answer: **the tool runs again from its start**,
/// and the question then returns at once. So a tool should ask before it changes anything, and must ask the same
/// questions when it gets the same answers. Questions that are asked at the same time, such as with `tokio::join!`, need
/// one repetition only. A tool that asks one question after another needs
/// [`McpServer::with_state_key`](crate::McpServer::with_state_key).
///
/// ```
/// use agcore_mcp::{ElicitationAnswer, McpPeer};
/// use agcore_tools::{NoArguments, ToolContext, ToolError, typed};
/// use serde_json::json;
///
/// let tool = typed("clean", "Cleans up.", |_: NoArguments, context: ToolContext| async move {
///     if let Some(client) = context.extension::<McpPeer>() {
///         let schema = json!({"type": "object", "properties": {"deep": {"type": "boolean"}}});
///         // The time in which a person thinks does not count towards the timeout of the call.
///         let question = client.elicit("deep", "Also remove the caches?", schema);
///         let ElicitationAnswer::Accept(answer) = context.wait_for_person(question).await? else {
///             return Err(ToolError::failed("the person did not answer"));
///         };
///         client.log("info", None, format!("deep: {}", answer["deep"])).await;
///     }
///     Ok("clean")
/// });
/// # let _ = tool;
/// ```
#[derive(Clone)]
pub struct McpPeer {
    request: RequestContext<RoleServer>,
    /// The level of the session, if there is one.
    level: Arc<LogLevel>,
    /// The questions and answers of a request without a session.
    rounds: Option<Arc<Rounds>>,
}

impl McpPeer {
    /// Creates the client of a request; `level` is that of its session.
    pub(super) fn new(request: RequestContext<RoleServer>, level: &Arc<LogLevel>, rounds: Option<Arc<Rounds>>) -> Self {
        Self {
            request,
            level: Arc::clone(level),
            rounds,
        }
    }

    /// Returns the request that the client made.
    pub(super) fn request(&self) -> &RequestContext<RoleServer> {
        &self.request
    }

    /// Sends a log message, if the client wants messages of this severity: `debug`, `info`, `notice`, `warning`, `error`,
    /// `critical`, `alert` or `emergency`. The client may show it to anyone, so it must not contain secrets.
    ///
    /// A message that cannot be sent is dropped, as is one with another severity. Cancel safe.
    pub async fn log(&self, level: &str, logger: Option<&str>, data: impl Into<Value>) {
        let Ok(level) = serde_json::from_value::<LoggingLevel>(level.into()) else {
            return tracing::warn!(level, "a log message for an MCP client has an unknown severity");
        };
        if !self.wants(level) {
            return;
        }
        let mut message = LoggingMessageNotificationParam::new(level, data.into());
        message.logger = logger.map(str::to_owned);
        if let Err(error) = self.request.peer.notify_logging_message(message).await {
            tracing::debug!(%error, "a log message for an MCP client is dropped");
        }
    }

    /// Returns whether the client wants log messages of a severity.
    fn wants(&self, level: LoggingLevel) -> bool {
        match self.rounds {
            // Without a session, a request has to name a level to get messages.
            Some(_) => LogLevel::of_request(self.request.meta.log_level()).includes(level),
            None => self.level.includes(level),
        }
    }

    /// Returns whether the client shows questions to a person, as forms.
    pub fn can_elicit(&self) -> bool {
        let elicitation = self.capabilities().elicitation;
        // A client that names no mode has forms only.
        elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
    }

    /// Returns whether the client asks its model for a server.
    pub fn can_sample(&self) -> bool {
        self.capabilities().sampling.is_some()
    }

    /// Returns whether the client names the folders that a server may use.
    pub fn can_list_roots(&self) -> bool {
        self.capabilities().roots.is_some()
    }

    /// Read from the request when they are needed, because few calls ask.
    fn capabilities(&self) -> ClientCapabilities {
        self.request.client_capabilities().unwrap_or_default()
    }

    /// Asks the person behind the client for input, in the form of a JSON Schema of an object whose members are scalars or
    /// choices. An accepted answer has the required members, and their types.
    ///
    /// # Errors
    /// When the client does not show questions, refuses, answers in another form, or the connection ends.
    ///
    /// Cancel safe: the question is withdrawn.
    pub async fn elicit(
        &self,
        key: &str,
        message: impl Into<String>,
        schema: Value,
    ) -> Result<ElicitationAnswer, McpError> {
        if !self.can_elicit() {
            let mut lacking = ClientCapabilities::default();
            lacking.elicitation = Some(ElicitationCapability::new().with_form(FormElicitationCapability::default()));
            return Err(missing("show questions of a server (elicitation)", &lacking));
        }
        let requested_schema = serde_json::from_value(schema.clone()).map_err(|error| {
            let message = format!("the question {key:?} has a schema that cannot be sent: {error}");
            McpError::new(McpErrorKind::Config, message)
        })?;
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: message.into(),
            requested_schema,
        };
        let request = InputRequest::Elicitation(ElicitRequest::new(params));
        self.ask(key, request, |result: ElicitResult| match result.action {
            ElicitationAction::Accept => {
                form::check(&schema, result.content.unwrap_or_else(|| json!({}))).map(ElicitationAnswer::Accept)
            }
            ElicitationAction::Decline => Ok(ElicitationAnswer::Decline),
            _ => Ok(ElicitationAnswer::Cancel),
        })
        .await
    }

    /// Asks the model of the client. The client may show the request to a person, change it, or refuse.
    ///
    /// # Errors
    /// When the client has no model for servers, refuses, or the connection ends.
    ///
    /// Cancel safe: the request is withdrawn.
    pub async fn sample(&self, key: &str, request: SampleRequest) -> Result<SampleAnswer, McpError> {
        if !self.can_sample() {
            let mut lacking = ClientCapabilities::default();
            lacking.sampling = Some(SamplingCapability::default());
            return Err(missing("ask a model for a server (sampling)", &lacking));
        }
        let params = convert::sample_params(request).map_err(|reason| {
            let message = format!("the request {key:?} to the model of the client cannot be sent: {reason}");
            McpError::new(McpErrorKind::Config, message)
        })?;
        let request = InputRequest::CreateMessage(CreateMessageRequest::new(params));
        self.ask(key, request, |result: CreateMessageResult| {
            Ok(convert::sample_answer(result))
        })
        .await
    }

    /// Asks for the folders that the server may use, as URIs such as `file:///projects/site`. They come from the client:
    /// a server that opens files needs rules of its own.
    ///
    /// # Errors
    /// When the client names no folders, refuses, or the connection ends.
    ///
    /// Cancel safe: the request is withdrawn.
    pub async fn roots(&self, key: &str) -> Result<Vec<String>, McpError> {
        if !self.can_list_roots() {
            let mut lacking = ClientCapabilities::default();
            lacking.roots = Some(RootsCapabilities::default());
            return Err(missing("name folders (roots)", &lacking));
        }
        let request = InputRequest::ListRoots(ListRootsRequest::default());
        self.ask(key, request, |result: ListRootsResult| {
            Ok(result.roots.into_iter().map(|root| root.uri).collect())
        })
        .await
    }

    /// Asks a question, in the way of the revision that the client speaks.
    async fn ask<R: DeserializeOwned, T>(
        &self,
        key: &str,
        request: InputRequest,
        convert: impl FnOnce(R) -> Result<T, String>,
    ) -> Result<T, McpError> {
        let read = |answer: Value| {
            let result = R::deserialize(answer).map_err(|error| quote(&error.to_string()))?;
            convert(result)
        };
        let Some(rounds) = &self.rounds else {
            // Large, and rarely used.
            let answer = Box::pin(self.send(request)).await?;
            return read(answer).map_err(|reason| {
                let message = format!("the answer of the MCP client to the question {key:?} cannot be used: {reason}");
                McpError::new(McpErrorKind::Protocol, message)
            });
        };
        Ok(rounds.ask(key, request, read).await)
    }

    /// Sends a request to a client with a session.
    async fn send(&self, request: InputRequest) -> Result<Value, McpError> {
        let peer = &self.request.peer;
        let result = match request {
            InputRequest::Elicitation(request) => {
                peer.create_elicitation(request.params).await.map(serde_json::to_value)
            }
            InputRequest::CreateMessage(request) => peer.create_message(request.params).await.map(serde_json::to_value),
            _ => peer.list_roots().await.map(serde_json::to_value),
        };
        let failed = |kind, reason: &dyn fmt::Display| {
            let reason = quote(&reason.to_string());
            McpError::new(kind, format!("the MCP client did not answer a question: {reason}"))
        };
        match result {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(failed(McpErrorKind::Protocol, &error)),
            Err(ServiceError::McpError(error)) => Err(failed(McpErrorKind::Unsupported, &error.message)),
            Err(error) => Err(failed(McpErrorKind::Closed, &error).with_source(error)),
        }
    }
}

impl fmt::Debug for McpPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpPeer")
            .field("can_elicit", &self.can_elicit())
            .field("can_sample", &self.can_sample())
            .field("can_list_roots", &self.can_list_roots())
            .finish_non_exhaustive()
    }
}

/// Returns the error for a client that cannot be asked.
fn missing(what: &str, lacking: &ClientCapabilities) -> McpError {
    let message = format!("the MCP client does not {what}, which this request needs");
    let data = json!({"requiredCapabilities": lacking});
    McpError::new(McpErrorKind::Unsupported, message)
        .with_response(ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY.0, data)
}
