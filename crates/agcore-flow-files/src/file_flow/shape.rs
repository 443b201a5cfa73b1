//! [`Shape`]: a flow without the type of its state.

use agcore_chat::StopCheck;
use agcore_flow::{Checkpoints, Flow, FlowError, FlowEvent, FlowOutcome, FlowState, Picture, SavedRun};
use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::request::{FlowRequest, FlowResult};
use crate::{graph_flow::GraphState, planner_flow::PlannerState, router::RouterState, staged::StagedState};

/// A function that is called with each event.
type Observer = Box<dyn Fn(&FlowEvent) + Send + Sync>;

/// A run that is about to begin or to continue.
pub(super) struct Drive {
    pub(super) request: Option<FlowRequest>,
    pub(super) saved: Option<SavedRun>,
    pub(super) checkpoints: Option<Checkpoints>,
    pub(super) token: CancellationToken,
    pub(super) stop_check: Option<StopCheck>,
    pub(super) observer: Option<Observer>,
    pub(super) answers: Vec<(String, Value)>,
}

/// A flow without the type of its state.
#[async_trait]
pub(super) trait Shape: Send + Sync {
    fn name(&self) -> &str;
    fn picture(&self) -> Picture;
    async fn run(&self, drive: Drive) -> Result<FlowResult, FlowError>;
}

/// A flow with its state.
pub(super) struct Shaped<S>(pub(super) Flow<S>);

/// A state that begins with a request and contains an answer, so that its flow can be served like that of a file.
///
/// ```
/// use agcore_chat::SystemClock;
/// use agcore_flow::{FlowBuilder, Step};
/// use agcore_flow_files::{FileFlow, FlowRequest, RequestState};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Serialize, Deserialize)]
/// struct Greeting {
///     name: String,
///     text: Option<String>,
/// }
///
/// impl RequestState for Greeting {
///     fn begin(request: FlowRequest) -> Self {
///         Self { name: request.request, text: None }
///     }
///
///     fn answer(&self) -> Option<String> {
///         self.text.clone()
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let flow = FlowBuilder::new("greeting", SystemClock::new())
///     .with_node("greet", |mut state: Greeting, _| async move {
///         state.text = Some(format!("Good day, {}.", state.name));
///         Ok(Step::new(state).end())
///     })
///     .with_edge("greet", agcore_flow::END)
///     .build()?;
/// let result = FileFlow::from(flow).start(FlowRequest::new("Ada")).await?;
/// assert_eq!(result.answer.as_deref(), Some("Good day, Ada."));
/// # Ok::<(), agcore_flow::FlowError>(())
/// # }).unwrap();
/// ```
pub trait RequestState: FlowState {
    /// Returns the state with which a run begins.
    fn begin(request: FlowRequest) -> Self;

    /// Returns the answer, once there is one.
    fn answer(&self) -> Option<String>;
}

impl Drive {
    pub(super) fn new(request: Option<FlowRequest>) -> Self {
        Self {
            request,
            saved: None,
            checkpoints: None,
            token: CancellationToken::new(),
            stop_check: None,
            observer: None,
            answers: Vec::new(),
        }
    }
}

#[async_trait]
impl<S: RequestState> Shape for Shaped<S> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn picture(&self) -> Picture {
        self.0.picture()
    }

    async fn run(&self, drive: Drive) -> Result<FlowResult, FlowError> {
        let flow = &self.0;
        let mut run = match (drive.request, drive.checkpoints, drive.saved) {
            (Some(request), Some(checkpoints), _) => flow.resume_or_run(checkpoints, S::begin(request)),
            (Some(request), None, _) => flow.run(S::begin(request)),
            (None, Some(checkpoints), _) => flow.resume(checkpoints),
            (None, None, Some(saved)) => flow.resume(saved),
            (None, None, None) => return Err(FlowError::invalid_input("the run has no request to begin with")),
        };
        if let Some(observer) = drive.observer {
            run = run.with_observer(observer);
        }
        if let Some(check) = drive.stop_check {
            run = run.with_stop_check(check);
        }
        for (interrupt, answer) in drive.answers {
            run = run.with_answer(interrupt, answer);
        }
        match run.with_token(drive.token).await? {
            FlowOutcome::Finished(state) => {
                let answer = state.answer();
                Ok(FlowResult::finished(
                    answer,
                    serde_json::to_value(state).map_err(not_json)?,
                ))
            }
            FlowOutcome::Suspended(suspension) => Ok(FlowResult::suspended(suspension.interrupts, suspension.saved)),
            _ => Err(FlowError::invalid_input(
                "the run ended in a way that flows of files do not know; use one version of agcore-flow and agcore-flow-files",
            )),
        }
    }
}

/// Returns the error of a state that has no JSON form, for example because the keys of a map are not texts.
#[cold]
fn not_json(error: serde_json::Error) -> FlowError {
    FlowError::invalid_input("the state has no JSON form; use texts as keys of maps").with_source(error)
}

impl RequestState for StagedState {
    fn begin(request: FlowRequest) -> Self {
        let mut state = Self::new(request.request);
        state.variables = request.variables;
        state
    }

    fn answer(&self) -> Option<String> {
        self.answer().map(str::to_owned)
    }
}

impl RequestState for RouterState {
    fn begin(request: FlowRequest) -> Self {
        let mut state = Self::new(request.request);
        state.variables = request.variables;
        state.conversation = request.conversation;
        state.job = request.job;
        state
    }

    fn answer(&self) -> Option<String> {
        self.text()
    }
}

impl RequestState for PlannerState {
    fn begin(request: FlowRequest) -> Self {
        let mut state = Self::new(request.request);
        state.variables = request.variables;
        state.conversation = request.conversation;
        state.user = request.user;
        state.runtime.origin_files = request.files;
        state.runtime.chat_history = request.messages;
        state.runtime.output_style = request.output_style;
        state.runtime.output_structure = request.output_structure;
        state
    }

    fn answer(&self) -> Option<String> {
        self.answer()
    }
}

impl RequestState for GraphState {
    fn begin(request: FlowRequest) -> Self {
        let mut state = Self::new(request.request);
        state.variables = request.variables;
        state
    }

    fn answer(&self) -> Option<String> {
        let answer = self.answer()?;
        Some(answer.as_str().map_or_else(|| answer.to_string(), str::to_owned))
    }
}
