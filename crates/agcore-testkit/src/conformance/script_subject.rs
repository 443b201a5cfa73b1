//! [`ScriptSubject`]: tests a scripted provider, or layers around one.

mod call_log;

use std::{fmt, sync::Arc};

use agcore_chat::{ChatResponse, Fault, FaultKind};
use agcore_llm::{LlmError, LlmProvider};
use async_trait::async_trait;

use super::{
    answer::Answer,
    behavior::Behavior,
    check_error::CheckError,
    fixture::{Fixture, Observation, ReceivedRequest},
    scenario::Scenario,
    subject::{Skips, Subject},
};
use crate::scripted::{ScriptStep, ScriptedProvider};

use self::call_log::{CallLog, LoggingProvider};

/// More calls than any check makes, including retries.
const STEPS: usize = 32;

type Layer = Box<dyn Fn(Arc<dyn LlmProvider>) -> Arc<dyn LlmProvider> + Send + Sync>;

/// A test subject for layers: a [`ScriptedProvider`] wrapped in the layers under test, without a server. Network
/// failures are simulated as the errors that a transport would report.
///
/// ```
/// use agcore_testkit::conformance::{Behavior, ScriptSubject, Suite};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let subject = ScriptSubject::new("my layer").with_layer(|inner| inner /* wrap `inner` in your layer */);
/// let grid = Suite::new().with_behaviors([Behavior::PlainText]).run(&subject).await;
/// grid.assert_passed();
/// # });
/// ```
#[must_use]
pub struct ScriptSubject {
    name: String,
    layer: Layer,
    skips: Skips,
}

impl ScriptSubject {
    /// Creates a subject that consists of the scripted provider alone.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            layer: Box::new(|provider| provider),
            skips: script_skips(),
        }
    }

    /// Wraps the provider in a layer, outside of the layers added before.
    pub fn with_layer<F>(mut self, layer: F) -> Self
    where
        F: Fn(Arc<dyn LlmProvider>) -> Arc<dyn LlmProvider> + Send + Sync + 'static,
    {
        let inner = self.layer;
        self.layer = Box::new(move |provider| layer(inner(provider)));
        self
    }

    /// Skips a behavior that the layer lacks by design. The grid reports the reason.
    pub fn with_skip(mut self, behavior: Behavior, reason: impl Into<String>) -> Self {
        self.skips.add(behavior, reason);
        self
    }
}

impl fmt::Debug for ScriptSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptSubject")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Subject for ScriptSubject {
    fn name(&self) -> &str {
        &self.name
    }

    async fn set_up(&self, scenario: &Scenario) -> Result<Box<dyn Fixture>, CheckError> {
        let script = ScriptedProvider::new((0..STEPS).map(|_| step(scenario)));
        let log = CallLog::default();
        let logged = LoggingProvider::new(script.clone(), log.clone());
        let provider = (self.layer)(Arc::new(logged));
        Ok(Box::new(ScriptFixture { provider, script, log }))
    }

    fn skip_reason(&self, behavior: Behavior) -> Option<String> {
        self.skips.reason(behavior)
    }
}

/// Returns the behaviors that a script cannot show.
fn script_skips() -> Skips {
    let mut skips = Skips::default();
    for deadline in [
        Behavior::NoTimeLeft,
        Behavior::DeadlineWaiting,
        Behavior::DeadlineMidway,
    ] {
        skips.add(deadline, "a script does not enforce deadlines");
    }
    skips.add(
        Behavior::ConfiguredModel,
        "a script records requests unchanged, without the configured model",
    );
    skips
}

/// Creates the step that plays a scenario.
fn step(scenario: &Scenario) -> ScriptStep {
    let network_error = |kind, message: &str| LlmError::from(Fault::new(kind, message.to_owned()).with_retryable(true));
    match scenario {
        Scenario::Answer(answer) => ScriptStep::response(answer.response()),
        Scenario::Echo => ScriptStep::from_fn(|request| {
            let last = request.messages.last();
            ChatResponse::from_text(last.map(|message| message.text().into_owned()).unwrap_or_default())
        }),
        Scenario::Refuse(fault) => ScriptStep::error(fault.clone().into()),
        Scenario::FailAfter { text, fault } => text_step(text).then_error(fault.clone().into()),
        Scenario::CutAfter { text } => text_step(text).then_error(network_error(
            FaultKind::Truncated,
            "the connection closed in the middle of the reply",
        )),
        Scenario::HangUp => ScriptStep::error(network_error(
            FaultKind::Connection,
            "the connection closed without a reply",
        )),
        Scenario::Garble { text } => {
            let fault = Fault::new(FaultKind::Malformed, "the reply does not have the expected format");
            text_step(text).then_error(fault.into())
        }
        Scenario::Stall => ScriptStep::hang(),
        Scenario::StallAfter { text } => text_step(text).then_hang(),
    }
}

fn text_step(text: &str) -> ScriptStep {
    ScriptStep::response(Answer::text(text).response())
}

/// A layered provider that plays a script.
struct ScriptFixture {
    provider: Arc<dyn LlmProvider>,
    script: ScriptedProvider,
    log: CallLog,
}

#[async_trait]
impl Fixture for ScriptFixture {
    fn provider(&self) -> &Arc<dyn LlmProvider> {
        &self.provider
    }

    fn requests(&self) -> Option<Vec<ReceivedRequest>> {
        Some(self.script.requests().into_iter().map(ReceivedRequest::new).collect())
    }

    async fn wait_for_requests(&self, count: usize) -> Observation {
        self.log.wait_for_started(count).await;
        Observation::Observed
    }

    async fn wait_for_disconnect(&self, number: usize) -> Observation {
        self.log.wait_for_abandoned(number).await;
        Observation::Observed
    }
}
