//! [`Stage`]: a provider on a server that plays a scenario, and what the server saw.

use std::sync::Arc;

use agcore_chat::ChatRequest;
use agcore_llm::LlmProvider;
use async_trait::async_trait;

/// A provider on a server that plays a scenario, and what the server saw. Dropping it ends both.
///
/// A server that cannot tell what it saw says so, and what depends on it is skipped by name.
#[async_trait]
pub trait Stage: Send + Sync {
    /// The provider under test.
    fn provider(&self) -> &Arc<dyn LlmProvider>;

    /// The requests that arrived so far, in order; `None` when the server cannot tell.
    fn requests(&self) -> Option<Vec<SeenRequest>> {
        None
    }

    /// Waits until so many requests have arrived.
    async fn arrived(&self, count: usize) -> Sight {
        let _ = count;
        Sight::Blind
    }

    /// Waits until the client has left request `number` (from 0) before its answer was over.
    async fn abandoned(&self, number: usize) -> Sight {
        let _ = number;
        Sight::Blind
    }
}

/// Whether a server can tell what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// It has come to pass.
    Seen,
    /// The server cannot tell.
    Blind,
}

/// A request as the server read it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SeenRequest {
    /// What it says, as far as the server reads it: model, messages with calls and call ids, tools.
    pub request: Arc<ChatRequest>,
    /// Its body as it came, where it had one.
    pub body: Option<Vec<u8>>,
}

impl SeenRequest {
    /// A request that had no body of bytes.
    pub fn new(request: impl Into<Arc<ChatRequest>>) -> Self {
        Self {
            request: request.into(),
            body: None,
        }
    }

    /// Adds the body.
    pub fn with_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }
}
