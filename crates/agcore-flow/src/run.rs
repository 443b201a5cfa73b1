//! [`FlowRun`]: a run that is configured first, then awaited.

mod ledger;
pub(crate) mod outcome;
mod opened;
mod span;
mod attempts;
mod driver;

use std::{fmt, pin::Pin, sync::Arc};

use agcore_chat::StopCheck;
use agcore_trace::CancelGuard;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use self::{
    ledger::{Observer, Sink},
    opened::{Opened, Start},
    outcome::FlowOutcome,
};
use crate::{
    checkpoints::{Checkpoints, Restored, document::FORMAT, writer::Writer},
    context::NodeContext,
    error::{FlowError, FlowErrorKind},
    event::FlowEvent,
    flow::Flow,
    node::FlowState,
    progress::Progress,
    resume::{Resume, SavedRun},
    stop::Stop,
};

/// A run of a flow, to be awaited. Created by [`Flow::run`] and [`Flow::resume`].
///
/// It owns what it needs, so it can be moved to a task. Nothing happens before it is awaited. Dropping the future stops the run;
/// one with checkpoints can be resumed.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{Actor, SystemClock};
/// use agcore_flow::{Checkpoints, END, FlowBuilder, Step};
/// use agcore_session::InMemorySessionStore;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let flow = FlowBuilder::new("publish", SystemClock::new())
///     .with_node("review", |text: String, context: agcore_flow::NodeContext| async move {
///         let name: String = context.ask("reviewer", "Who has read it?").await?;
///         Ok(Step::new(format!("{text}, read by {name}")))
///     })
///     .with_edge("review", END)
///     .build()?;
///
/// let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
/// let checkpoints = Checkpoints::create(store, &Actor::default(), "session-1", "run-1").await?;
/// let outcome = flow.run("a poem".to_owned()).with_checkpoints(checkpoints.clone()).await?;
/// let question = outcome.interrupts()[0].id.clone();
///
/// // Later, or in another process.
/// let outcome = flow.resume(checkpoints).with_answer(question, "Ada").await?;
/// assert_eq!(outcome.into_state()?, "a poem, read by Ada");
/// # Ok::<(), agcore_flow::FlowError>(())
/// # }).unwrap();
/// ```
#[must_use = "a run does nothing until it is awaited"]
pub struct FlowRun<S> {
    flow: Flow<S>,
    start: Start<S>,
    token: CancellationToken,
    stop_check: Option<StopCheck>,
    checkpoints: Option<Checkpoints>,
    observer: Option<Observer>,
    answers: Vec<(String, Value)>,
    parent: Option<NodeContext>,
}

impl<S: FlowState> FlowRun<S> {
    fn new(flow: Flow<S>, start: Start<S>) -> Self {
        Self {
            flow,
            start,
            token: CancellationToken::new(),
            stop_check: None,
            checkpoints: None,
            observer: None,
            answers: Vec::new(),
            parent: None,
        }
    }

    /// Saves the run after each node.
    pub fn with_checkpoints(mut self, checkpoints: Checkpoints) -> Self {
        self.checkpoints = Some(checkpoints);
        self
    }

    /// Cancels the run when `token` is cancelled: its nodes are dropped.
    pub fn with_token(mut self, token: CancellationToken) -> Self {
        self.token = token.child_token();
        self
    }

    /// Asks a check before each attempt of a node whether it may begin. If it may not, the run ends as if it was cancelled. Nodes
    /// that call models or tools pass the check on, by [`NodeContext::stop_check`].
    pub fn with_stop_check(mut self, check: StopCheck) -> Self {
        self.stop_check = Some(check);
        self
    }

    /// Calls a function with each event. It must not block.
    pub fn with_observer(mut self, observer: impl Fn(&FlowEvent) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Answers a question of the run, by its [id](crate::Interrupt::id).
    pub fn with_answer(mut self, interrupt: impl Into<String>, answer: impl Into<Value>) -> Self {
        self.answers.push((interrupt.into(), answer.into()));
        self
    }

    /// Saves the run in the work of a node of another flow.
    pub(crate) fn inside(mut self, context: NodeContext) -> Self {
        self.token = context.token().child_token();
        self.stop_check = context.stop_check().cloned();
        self.parent = Some(context);
        self
    }

    /// Runs the flow. Awaiting the run itself does the same with a boxed future.
    ///
    /// Cancel safe: dropping the future stops the run, which can be resumed from its checkpoints.
    ///
    /// # Errors
    /// An error of a node after all its attempts, a route that does not exist, a limit, an error of the store, or checkpoints
    /// that cannot be continued.
    pub async fn run(mut self) -> Result<FlowOutcome<S>, FlowError> {
        let observer = self.observer.take();
        let flow = self.flow.clone();
        let stop = Stop {
            token: self.token.clone(),
            check: self.stop_check.clone(),
        };
        let span = span::run(flow.name());
        let work = async {
            match self.open().await {
                Ok(opened) => driver::drive(&flow, opened, stop, observer.clone()).await,
                Err(error) => Err(error),
            }
        };
        let guard = CancelGuard::new(&span);
        let result = work.instrument(span.clone()).await;
        guard.finish();
        span::ended(&span, &result);
        if let Some(observer) = &observer {
            observer(&match &result {
                Ok(FlowOutcome::Finished(_)) => FlowEvent::RunFinished,
                Ok(FlowOutcome::Suspended(suspension)) => FlowEvent::RunSuspended {
                    interrupts: suspension.interrupts.clone(),
                },
                Err(error) => FlowEvent::RunFailed { fault: error.fault() },
            });
        }
        result
    }

    /// Loads the saved run and applies the answers.
    async fn open(self) -> Result<Opened<S>, FlowError> {
        let loaded = match &self.checkpoints {
            Some(checkpoints) => checkpoints.load().await?,
            None => None,
        };
        let (flow, answers) = (self.flow, self.answers);
        let (restored, state) = match (self.start, loaded) {
            (Start::New(state) | Start::ResumeOrNew(state), None) => (None, Some(state)),
            (Start::New(_), Some(_)) => {
                return Err(FlowError::invalid_input(
                    "the run has checkpoints already; resume it, or begin another run",
                ));
            }
            (Start::Resume | Start::ResumeOrNew(_), Some(restored)) => (Some(restored), None),
            (Start::Resume, None) => {
                return Err(FlowError::invalid_input(
                    "the run has no checkpoints to resume from; begin it with a state",
                ));
            }
            (Start::Saved(saved), _) => (Some(restored_from(saved)?), None),
        };
        let (mut progress, is_converted) = match (&restored, state) {
            (Some(restored), _) => flow.progress(restored)?,
            (None, Some(state)) => (Progress::new(&flow.parts().graph.start, state), false),
            (None, None) => return Err(FlowError::invalid_input("the run has no state to begin with")),
        };
        let has_answers = !answers.is_empty();
        progress.answer(answers)?;
        let sink = match (self.checkpoints, self.parent, &restored) {
            (Some(checkpoints), _, Some(restored)) => {
                Sink::Store(Box::new(Writer::resume(checkpoints, restored, is_converted)))
            }
            (Some(checkpoints), _, None) => Sink::Store(Box::new(Writer::new(checkpoints))),
            (None, Some(context), _) => Sink::Node(context),
            (None, None, _) => Sink::Nowhere,
        };
        Ok(Opened {
            progress,
            sink,
            is_resumed: restored.is_some(),
            is_changed: restored.is_none() || is_converted || has_answers,
        })
    }
}

impl<S: FlowState> Flow<S> {
    /// Begins a run. Nothing happens before it is awaited.
    pub fn run(&self, state: S) -> FlowRun<S> {
        FlowRun::new(self.clone(), Start::New(state))
    }

    /// Continues a run after its last checkpoint, or one that was suspended without checkpoints. A run that has ended returns
    /// its state again.
    pub fn resume(&self, from: impl Into<Resume>) -> FlowRun<S> {
        match from.into() {
            Resume::Checkpoints(checkpoints) => FlowRun::new(self.clone(), Start::Resume).with_checkpoints(checkpoints),
            Resume::Saved(saved) => FlowRun::new(self.clone(), Start::Saved(saved)),
        }
    }

    /// Continues a run if it has checkpoints, and begins it otherwise.
    pub fn resume_or_run(&self, checkpoints: Checkpoints, state: S) -> FlowRun<S> {
        FlowRun::new(self.clone(), Start::ResumeOrNew(state)).with_checkpoints(checkpoints)
    }
}

impl<S: FlowState> IntoFuture for FlowRun<S> {
    type Output = Result<FlowOutcome<S>, FlowError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<S> fmt::Debug for FlowRun<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowRun")
            .field("flow", &self.flow)
            .field("checkpoints", &self.checkpoints)
            .finish_non_exhaustive()
    }
}

fn restored_from(saved: SavedRun) -> Result<Restored, FlowError> {
    if saved.0.format > FORMAT {
        let message = "the run was saved by a newer version of agcore; update this program";
        return Err(FlowError::new(FlowErrorKind::NewerVersion, message));
    }
    Ok(Restored::new(0, saved.0))
}
