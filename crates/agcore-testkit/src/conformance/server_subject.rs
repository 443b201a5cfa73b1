//! [`ServerSubject`]: tests a provider over real HTTP, against the mock server.

mod received_request;
mod scenario_reply;

use std::{fmt, sync::Arc};

use agcore_llm::{LlmError, LlmProvider};
use async_trait::async_trait;

use super::{
    behavior::Behavior,
    check_error::CheckError,
    fixture::{Fixture, Observation, ReceivedRequest},
    scenario::Scenario,
    subject::{Skips, Subject},
};
use crate::mock_server::{MockServer, Outcome};

type Connect = Box<dyn Fn(&MockServer) -> Result<Arc<dyn LlmProvider>, LlmError> + Send + Sync>;

/// A test subject for providers that use one of the APIs of the [mock server](crate::mock_server). The provider is
/// tested over real HTTP, and the server rejects what the vendor would reject.
///
/// Error responses use the error codes of OpenAI's API.
///
/// ```
/// use agcore_llm::ProviderConfig;
/// use agcore_testkit::conformance::{Behavior, ServerSubject, Suite};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let subject = ServerSubject::new("my provider", |server| {
///     ProviderConfig::parse("openai:mock-model")?.with_base_url(server.base_url()).build()
/// });
/// let suite = Suite::new().with_behaviors([Behavior::PlainText, Behavior::DroppedMidway]);
/// suite.run(&subject).await.assert_passed();
/// # });
/// ```
#[must_use]
pub struct ServerSubject {
    name: String,
    connect: Connect,
    skips: Skips,
}

impl ServerSubject {
    /// Creates a subject. For each check, `connect` creates a provider that uses the address of the given server
    /// ([`base_url`](MockServer::base_url) or [`root_url`](MockServer::root_url)).
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

    /// Skips a behavior that the vendor lacks by design. The grid reports the reason.
    pub fn with_skip(mut self, behavior: Behavior, reason: impl Into<String>) -> Self {
        self.skips.add(behavior, reason);
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

    async fn set_up(&self, scenario: &Scenario) -> Result<Box<dyn Fixture>, CheckError> {
        let scenario = scenario.clone();
        let server = MockServer::start(move |request: &_| scenario_reply::scenario_reply(&scenario, request)).await;
        let server = server.map_err(|error| CheckError::Fail(format!("cannot start the mock server: {error}")))?;
        let provider = (self.connect)(&server);
        let provider =
            provider.map_err(|error| CheckError::Fail(format!("cannot create the provider: {}", error.chain())))?;
        Ok(Box::new(ServerFixture { provider, server }))
    }

    fn skip_reason(&self, behavior: Behavior) -> Option<String> {
        self.skips.reason(behavior)
    }
}

/// A provider connected to a mock server.
struct ServerFixture {
    provider: Arc<dyn LlmProvider>,
    server: MockServer,
}

#[async_trait]
impl Fixture for ServerFixture {
    fn provider(&self) -> &Arc<dyn LlmProvider> {
        &self.provider
    }

    fn requests(&self) -> Option<Vec<ReceivedRequest>> {
        let requests = self.server.requests();
        Some(requests.iter().map(received_request::received_request).collect())
    }

    async fn wait_for_requests(&self, count: usize) -> Observation {
        self.server.wait_for_requests(count).await;
        Observation::Observed
    }

    async fn wait_for_disconnect(&self, number: usize) -> Observation {
        let outcome = self.server.wait_for_outcome(number).await;
        if outcome != Outcome::Disconnected {
            // The reply has ended already, so the client can no longer abandon it.
            std::future::pending::<()>().await;
        }
        Observation::Observed
    }
}
