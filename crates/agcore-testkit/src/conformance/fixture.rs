//! [`Fixture`]: a provider connected to a server that plays a scenario.

use std::sync::Arc;

use agcore_chat::ChatRequest;
use agcore_llm::LlmProvider;
use async_trait::async_trait;

/// A provider connected to a server that plays a scenario and reports what it observes. Dropping it stops both.
///
/// The methods other than [`provider`](Self::provider) are optional. If the server cannot observe something, the checks
/// that depend on it are skipped.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// Returns the provider under test.
    fn provider(&self) -> &Arc<dyn LlmProvider>;

    /// Returns the requests received so far, in order, or `None` if the server does not record them.
    fn requests(&self) -> Option<Vec<ReceivedRequest>> {
        None
    }

    /// Waits until at least `count` requests have arrived.
    async fn wait_for_requests(&self, count: usize) -> Observation {
        let _ = count;
        Observation::Unsupported
    }

    /// Waits until the client has abandoned request `number` (starting at 0) before its reply was complete.
    async fn wait_for_disconnect(&self, number: usize) -> Observation {
        let _ = number;
        Observation::Unsupported
    }
}

/// The result of waiting for an event on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observation {
    /// The event has occurred.
    Observed,
    /// The server cannot observe such events.
    Unsupported,
}

/// A request as received by the server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct ReceivedRequest {
    /// The parts that the server parses: the model, the messages with calls and call ids, and the tools.
    pub request: Arc<ChatRequest>,
    /// The bytes of the body, if the request was sent as bytes.
    pub body: Option<Vec<u8>>,
}

impl ReceivedRequest {
    /// Creates a request that was not sent as bytes.
    pub fn new(request: impl Into<Arc<ChatRequest>>) -> Self {
        Self {
            request: request.into(),
            body: None,
        }
    }

    /// Sets the bytes of the body.
    pub fn with_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }
}
