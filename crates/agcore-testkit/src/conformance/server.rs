//! [`ServerSubject`]: a client of the mock server put to the test, over real HTTP.

mod acting;
mod reading;

use std::{fmt, sync::Arc};

use agcore_llm::{LlmError, LlmProvider};
use async_trait::async_trait;

use super::{
    behaviour::Behaviour,
    halt::Halt,
    scenario::Scenario,
    skips::Skips,
    stage::{SeenRequest, Sight, Stage},
    subject::Subject,
};
use crate::mock_server::{MockServer, Outcome};

type Connect = Box<dyn Fn(&MockServer) -> Result<Arc<dyn LlmProvider>, LlmError> + Send + Sync>;

/// A provider that speaks to the [mock server](crate::mock_server), put to the test over real HTTP. What the vendor
/// would refuse is refused here, too.
///
/// Refusals carry the codes of OpenAI's API.
pub struct ServerSubject {
    name: String,
    connect: Connect,
    skips: Skips,
}

impl ServerSubject {
    /// The providers that `connect` makes for a server's addresses
    /// ([`base_url`](MockServer::base_url), [`root_url`](MockServer::root_url)), each for one scenario.
    pub fn new<F>(name: impl Into<String>, connect: F) -> Self
    where
        F: Fn(&MockServer) -> Result<Arc<dyn LlmProvider>, LlmError> + Send + Sync + 'static,
    {
        Self {
            name: name.into(),
            connect: Box::new(connect),
            skips: Skips::default(),
        }
    }

    /// Does not ask for a behaviour that the vendor or the layer does not have by design; the reason stands in the grid.
    pub fn with_skip(mut self, behaviour: Behaviour, reason: impl Into<String>) -> Self {
        self.skips.add(behaviour, reason);
        self
    }
}

impl fmt::Debug for ServerSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSubject")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Subject for ServerSubject {
    fn name(&self) -> &str {
        &self.name
    }

    async fn stage(&self, scenario: &Scenario) -> Result<Box<dyn Stage>, Halt> {
        let scenario = scenario.clone();
        let server = MockServer::start(move |request: &_| acting::reply(&scenario, request)).await;
        let server = server.map_err(|error| Halt::Fail(format!("the mock server did not start: {error}")))?;
        let provider = (self.connect)(&server);
        let provider = provider.map_err(|error| Halt::Fail(format!("no provider: {}", error.chain())))?;
        Ok(Box::new(ServerStage { provider, server }))
    }

    fn skips(&self, behaviour: Behaviour) -> Option<String> {
        self.skips.reason(behaviour)
    }
}

/// A server on stage.
struct ServerStage {
    provider: Arc<dyn LlmProvider>,
    server: MockServer,
}

#[async_trait]
impl Stage for ServerStage {
    fn provider(&self) -> &Arc<dyn LlmProvider> {
        &self.provider
    }

    fn requests(&self) -> Option<Vec<SeenRequest>> {
        Some(self.server.requests().iter().map(reading::read).collect())
    }

    async fn arrived(&self, count: usize) -> Sight {
        self.server.wait_for_requests(count).await;
        Sight::Seen
    }

    async fn abandoned(&self, number: usize) -> Sight {
        let outcome = self.server.wait_for_outcome(number).await;
        if outcome != Outcome::Disconnected {
            // The reply was over, so it cannot be left any more.
            std::future::pending::<()>().await;
        }
        Sight::Seen
    }
}
