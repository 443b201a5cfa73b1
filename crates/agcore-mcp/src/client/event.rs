//! [`ServerEvent`]: what a server reports on its own initiative.

use serde_json::Value;
use tokio::sync::broadcast;

/// An event that a server reports on its own initiative.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// The list of tools changed.
    ToolsChanged,
    /// The list of resources changed.
    ResourcesChanged,
    /// The list of prompts changed.
    PromptsChanged,
    /// A resource changed that the client subscribed to.
    ResourceUpdated {
        /// The URI of the resource.
        uri: String,
    },
    /// A log message.
    Log {
        /// The severity: `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.
        level: &'static str,
        /// The part of the server that logs.
        logger: Option<String>,
        /// The message.
        data: Value,
    },
    /// The connection was restarted. Subscriptions have to be made again.
    Reconnected,
}

/// The events of a server, from the moment of [`McpClient::events`](crate::McpClient::events).
#[derive(Debug)]
pub struct ServerEvents(broadcast::Receiver<ServerEvent>);

impl ServerEvents {
    /// Waits for the next event. Returns `None` after the client was dropped.
    ///
    /// If events arrive faster than they are read, the oldest are dropped. Cancel safe.
    pub async fn next(&mut self) -> Option<ServerEvent> {
        loop {
            match self.0.recv().await {
                Ok(event) => return Some(event),
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    tracing::debug!(missed, "events of an MCP server were dropped");
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// Waits for an event that matters, and drops the events that wait behind it. Events that were missed matter.
    /// Returns `false` after the client was dropped.
    pub(crate) async fn wait_for(&mut self, matters: fn(&ServerEvent) -> bool) -> bool {
        loop {
            match self.0.recv().await {
                Ok(event) if !matters(&event) => {}
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => break,
                Err(broadcast::error::RecvError::Closed) => return false,
            }
        }
        self.0 = self.0.resubscribe();
        true
    }
}

/// The number of events that wait for a reader.
const WAITING: usize = 256;

/// The sender of a client's events.
#[derive(Debug, Clone)]
pub(crate) struct EventSender(broadcast::Sender<ServerEvent>);

impl EventSender {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(WAITING))
    }

    pub(crate) fn subscribe(&self) -> ServerEvents {
        ServerEvents(self.0.subscribe())
    }

    /// Sends an event. Not an error if there is no reader.
    pub(crate) fn send(&self, event: ServerEvent) {
        let _ = self.0.send(event);
    }
}
