//! [`Handler`]: answers to what a server sends on its own initiative.
#![expect(
    deprecated,
    reason = "logging, sampling and roots are part of the revisions up to 2025-11-25"
)]

use std::sync::Arc;

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
        ListRootsResult, LoggingLevel, LoggingMessageNotificationParam, ProtocolVersion,
        ResourceUpdatedNotificationParam,
    },
    service::{NotificationContext, RequestContext},
};

use super::{
    answer::Answerer,
    event::{EventSender, ServerEvent},
    options::ClientOptions,
};
use crate::identity::Identity;

/// Handles the requests and notifications of a server.
#[derive(Debug, Clone)]
pub(crate) struct Handler {
    identity: Identity,
    answerer: Answerer,
    events: EventSender,
}

impl Handler {
    pub(crate) fn new(server: &Arc<str>, options: &ClientOptions, events: EventSender) -> Self {
        Self {
            identity: options.identity.clone(),
            answerer: Answerer::new(server, &options.answers),
            events,
        }
    }

    /// Returns what answers the requests of the server.
    pub(crate) fn answerer(&self) -> &Answerer {
        &self.answerer
    }

    /// Returns the sender of the client's events.
    pub(crate) fn events(&self) -> &EventSender {
        &self.events
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        // The newest revision of the library has no handshake, so it must not be offered in one.
        ClientConfig::new(self.answerer.capabilities(), self.identity.implementation())
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.answerer.sample(params).await
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.answerer.elicit(params).await
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        self.answerer.roots()
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.events.send(ServerEvent::ToolsChanged);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.events.send(ServerEvent::ResourcesChanged);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.events.send(ServerEvent::PromptsChanged);
    }

    async fn on_resource_updated(&self, params: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.events.send(ServerEvent::ResourceUpdated { uri: params.uri });
    }

    async fn on_logging_message(&self, params: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        self.events.send(ServerEvent::Log {
            level: level_name(params.level),
            logger: params.logger,
            data: params.data,
        });
    }
}

/// Returns the name of a severity in the protocol.
fn level_name(level: LoggingLevel) -> &'static str {
    match level {
        LoggingLevel::Debug => "debug",
        LoggingLevel::Info => "info",
        LoggingLevel::Notice => "notice",
        LoggingLevel::Warning => "warning",
        LoggingLevel::Error => "error",
        LoggingLevel::Critical => "critical",
        LoggingLevel::Alert => "alert",
        LoggingLevel::Emergency => "emergency",
    }
}
