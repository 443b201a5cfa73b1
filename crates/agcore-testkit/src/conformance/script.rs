//! [`ScriptSubject`]: a scripted provider, or layers around one, put to the test.

mod door;

use std::{fmt, sync::Arc};

use agcore_chat::{ChatResponse, Fault, FaultKind};
use agcore_llm::{LlmError, LlmProvider};
use async_trait::async_trait;

use super::{
    answer::Answer,
    behaviour::Behaviour,
    halt::Halt,
    scenario::Scenario,
    skips::Skips,
    stage::{SeenRequest, Sight, Stage},
    subject::Subject,
};
use crate::scripted::{ScriptStep, ScriptedProvider};

use self::door::{Door, Visits};

/// More calls than any scenario makes, retries included.
const STEPS: usize = 32;

type Layer = Box<dyn Fn(Arc<dyn LlmProvider>) -> Arc<dyn LlmProvider> + Send + Sync>;

/// A [`ScriptedProvider`], or layers around one, put to the test: for layers, as no server is needed. What breaks on
/// the road is played as the error that a transport would report.
///
/// ```
/// use agcore_testkit::conformance::{Behaviour, ScriptSubject, Suite};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let mine = ScriptSubject::new("my layer").with_layer(|inner| inner /* your layer around it */);
/// let grid = Suite::new().with_behaviours([Behaviour::PlainText]).run(&mine).await;
/// grid.assert_passed();
/// # });
/// ```
pub struct ScriptSubject {
    name: String,
    layer: Layer,
    skips: Skips,
}

impl ScriptSubject {
    /// The scripted provider alone.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            layer: Box::new(|provider| provider),
            skips: script_skips(),
        }
    }

    /// Wraps every provider, outside of what was wrapped before.
    pub fn with_layer<F>(mut self, layer: F) -> Self
    where
        F: Fn(Arc<dyn LlmProvider>) -> Arc<dyn LlmProvider> + Send + Sync + 'static,
    {
        let inner = self.layer;
        self.layer = Box::new(move |provider| layer(inner(provider)));
        self
    }

    /// Does not ask for a behaviour that the vendor or the layer does not have by design; the reason stands in the grid.
    pub fn with_skip(mut self, behaviour: Behaviour, reason: impl Into<String>) -> Self {
        self.skips.add(behaviour, reason);
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

    async fn stage(&self, scenario: &Scenario) -> Result<Box<dyn Stage>, Halt> {
        let script = ScriptedProvider::new((0..STEPS).map(|_| step(scenario)));
        let visits = Visits::default();
        let door = Door::new(script.clone(), visits.clone());
        let provider = (self.layer)(Arc::new(door));
        Ok(Box::new(ScriptStage {
            provider,
            script,
            visits,
        }))
    }

    fn skips(&self, behaviour: Behaviour) -> Option<String> {
        self.skips.reason(behaviour)
    }
}

/// What a script cannot show.
fn script_skips() -> Skips {
    let mut skips = Skips::default();
    for deadline in [
        Behaviour::NoTimeLeft,
        Behaviour::DeadlineWaiting,
        Behaviour::DeadlineMidway,
    ] {
        skips.add(deadline, "a script keeps no deadline");
    }
    skips.add(
        Behaviour::ConfiguredModel,
        "a script keeps requests as they were made, without the configured model",
    );
    skips
}

/// The step that plays a scenario.
fn step(scenario: &Scenario) -> ScriptStep {
    let road = |kind, message: &str| LlmError::from(Fault::new(kind, message.to_owned()).with_retryable(true));
    match scenario {
        Scenario::Answer(answer) => ScriptStep::response(answer.response()),
        Scenario::Echo => ScriptStep::made(|request| {
            let last = request.messages.last();
            ChatResponse::from_text(last.map(|message| message.text().into_owned()).unwrap_or_default())
        }),
        Scenario::Refuse(fault) => ScriptStep::error(fault.clone().into()),
        Scenario::FailAfter { text, fault } => said(text).then_error(fault.clone().into()),
        Scenario::CutAfter { text } => {
            said(text).then_error(road(FaultKind::Truncated, "the reply ended in the middle"))
        }
        Scenario::HangUp => ScriptStep::error(road(FaultKind::Connection, "the connection closed without a reply")),
        Scenario::Garble { text } => {
            let fault = Fault::new(FaultKind::Malformed, "the reply is not of the expected form");
            said(text).then_error(fault.into())
        }
        Scenario::Stall => ScriptStep::hang(),
        Scenario::StallAfter { text } => said(text).then_hang(),
    }
}

fn said(text: &str) -> ScriptStep {
    ScriptStep::response(Answer::text(text).response())
}

/// A script on stage.
struct ScriptStage {
    provider: Arc<dyn LlmProvider>,
    script: ScriptedProvider,
    visits: Visits,
}

#[async_trait]
impl Stage for ScriptStage {
    fn provider(&self) -> &Arc<dyn LlmProvider> {
        &self.provider
    }

    fn requests(&self) -> Option<Vec<SeenRequest>> {
        Some(self.script.requests().into_iter().map(SeenRequest::new).collect())
    }

    async fn arrived(&self, count: usize) -> Sight {
        self.visits.arrived(count).await;
        Sight::Seen
    }

    async fn abandoned(&self, number: usize) -> Sight {
        self.visits.left(number).await;
        Sight::Seen
    }
}
