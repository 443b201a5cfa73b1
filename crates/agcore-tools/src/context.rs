//! [`ToolContext`]: what a call knows of the run it belongs to.

mod extensions;
mod pause;
mod run_state;

use std::{fmt, sync::Arc, time::Duration};

use agcore_chat::{Clock, Progress, Text};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(crate) use self::pause::Pause;
pub use self::{extensions::Extensions, run_state::RunState};

/// What a call knows of the run it belongs to, handed to [`BaseTool::execute`](crate::BaseTool::execute).
///
/// Made once for a run with [`ToolContext::builder`]; each call gets a child of it with its own id and cancellation
/// token. Cheap to clone.
#[derive(Clone)]
pub struct ToolContext {
    run: Arc<RunScope>,
    call: Option<Arc<CallScope>>,
}

/// The part that all calls of a run share.
#[derive(Clone)]
struct RunScope {
    session_id: Text,
    trace_id: Option<Text>,
    actor: Option<Text>,
    clock: Arc<dyn Clock>,
    cancellation: CancellationToken,
    state: RunState,
    extensions: Extensions,
    progress: Option<ProgressSender>,
}

/// The part of one call.
struct CallScope {
    id: Text,
    cancellation: CancellationToken,
    progress: Option<ProgressSender>,
    answer: Option<Box<InputAnswer>>,
    pause: Pause,
}

/// Where the progress of calls goes: call id, and what the call tells. Called from the tool; must not block.
pub type ProgressSender = Arc<dyn Fn(&Text, Progress) + Send + Sync>;

/// The answer to a question that the tool asked by [`ToolOutput::awaiting_input`](crate::ToolOutput::awaiting_input).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InputAnswer {
    /// What the person or agent answered.
    pub value: Value,
    /// What the tool put beside its question.
    pub context: Value,
}

impl InputAnswer {
    /// An answer, with what the tool put beside its question.
    pub fn new(value: Value, context: Value) -> Self {
        Self { value, context }
    }
}

impl ToolContext {
    /// Begins a context; all timeouts and durations go by this clock.
    pub fn builder(clock: Arc<dyn Clock>) -> ToolContextBuilder {
        ToolContextBuilder(RunScope {
            session_id: Text::EMPTY,
            trace_id: None,
            actor: None,
            clock,
            cancellation: CancellationToken::new(),
            state: RunState::new(),
            extensions: Extensions::default(),
            progress: None,
        })
    }

    /// The session's id; empty when none was set.
    pub fn session_id(&self) -> &Text {
        &self.run.session_id
    }

    /// The id under which the run is traced.
    pub fn trace_id(&self) -> Option<&Text> {
        self.run.trace_id.as_ref()
    }

    /// On whose behalf the run is made.
    pub fn actor(&self) -> Option<&Text> {
        self.run.actor.as_ref()
    }

    /// The call's id; empty outside of a call.
    pub fn call_id(&self) -> &Text {
        const NONE: &Text = &Text::EMPTY;
        self.call.as_ref().map_or(NONE, |call| &call.id)
    }

    /// The clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.run.clock
    }

    /// Ends the call: cancelled with the run, when the call is given up, and when the call is over. A tool that starts
    /// tasks hands it to them.
    pub fn cancellation(&self) -> &CancellationToken {
        self.call
            .as_ref()
            .map_or(&self.run.cancellation, |call| &call.cancellation)
    }

    /// What the steps of the run share.
    pub fn run_state(&self) -> &RunState {
        &self.run.state
    }

    /// The value of a type that the application put into the context; what `State<T>` gives.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.run.extensions.get()
    }

    /// All that the application put into the context.
    pub fn extensions(&self) -> &Extensions {
        &self.run.extensions
    }

    /// Tells how far the call is. Without an observer it goes nowhere.
    pub fn progress(&self, progress: Progress) {
        match self.call.as_ref().and_then(|call| call.progress.as_ref()) {
            Some(send) => send(self.call_id(), progress),
            None => self.tell(self.call_id(), progress),
        }
    }

    /// Hands out a part of the output before the end.
    pub fn part(&self, part: Value) {
        self.progress(Progress::part(part));
    }

    /// The answer, when the call goes on after it asked for input.
    pub fn answer(&self) -> Option<&InputAnswer> {
        self.call.as_ref()?.answer.as_deref()
    }

    /// Waits for a person (a form, an elicitation): the time counts in neither the call's timeout nor its duration.
    ///
    /// Cancel safe when `wait` is.
    pub async fn wait_for_person<F: Future>(&self, wait: F) -> F::Output {
        let Some(call) = &self.call else {
            return wait.await;
        };
        let clock = self.clock();
        call.pause.begin(clock.monotonic());
        let _end = EndOfWait {
            pause: &call.pause,
            clock,
        };
        wait.await
    }

    /// Tells the run's own observer, if there is one.
    pub(crate) fn tell(&self, call_id: &Text, progress: Progress) {
        if let Some(send) = &self.run.progress {
            send(call_id, progress);
        }
    }

    /// Guards a call: when the guard goes, whatever the call left running hears of it.
    pub(crate) fn guard(&self) -> CallGuard {
        CallGuard(self.call.clone())
    }

    /// The context of one call of this run.
    pub(crate) fn for_call(&self, id: Text, progress: Option<ProgressSender>, answer: Option<InputAnswer>) -> Self {
        let call = CallScope {
            id,
            cancellation: self.run.cancellation.child_token(),
            progress,
            answer: answer.map(Box::new),
            pause: Pause::default(),
        };
        Self {
            run: Arc::clone(&self.run),
            call: Some(Arc::new(call)),
        }
    }

    /// How long the call has worked since its start, waiting for a person not counted.
    pub(crate) fn worked_since(&self, start: Duration) -> Duration {
        let now = self.clock().monotonic();
        let paused = self.call.as_ref().map_or(Duration::ZERO, |call| call.pause.total(now));
        now.saturating_sub(start).saturating_sub(paused)
    }

    /// Comes back when no person is waited for.
    pub(crate) async fn pause_over(&self) {
        if let Some(call) = &self.call {
            call.pause.over().await;
        }
    }
}

/// Ends a call however it ends.
pub(crate) struct CallGuard(Option<Arc<CallScope>>);

impl Drop for CallGuard {
    fn drop(&mut self) {
        if let Some(call) = &self.0 {
            call.cancellation.cancel();
        }
    }
}

/// Ends a wait however it ends.
struct EndOfWait<'a> {
    pause: &'a Pause,
    clock: &'a Arc<dyn Clock>,
}

impl Drop for EndOfWait<'_> {
    fn drop(&mut self) {
        self.pause.end(self.clock.monotonic());
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("session_id", self.session_id())
            .field("call_id", self.call_id())
            .field("extensions", &self.run.extensions)
            .finish_non_exhaustive()
    }
}

/// Builds a [`ToolContext`].
#[derive(Clone)]
#[must_use = "a builder does nothing until it is built"]
pub struct ToolContextBuilder(RunScope);

impl ToolContextBuilder {
    /// Sets the session's id.
    pub fn session_id(mut self, id: impl Into<Text>) -> Self {
        self.0.session_id = id.into();
        self
    }

    /// Sets the id under which the run is traced.
    pub fn trace_id(mut self, id: impl Into<Text>) -> Self {
        self.0.trace_id = Some(id.into());
        self
    }

    /// Says on whose behalf the run is made; it stands in audit records.
    pub fn actor(mut self, actor: impl Into<Text>) -> Self {
        self.0.actor = Some(actor.into());
        self
    }

    /// Sets the token that ends all calls of the run.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.0.cancellation = token;
        self
    }

    /// Sets where progress goes when calls are made one by one; an executor's stream brings its own.
    pub fn progress(mut self, send: impl Fn(&Text, Progress) + Send + Sync + 'static) -> Self {
        self.0.progress = Some(Arc::new(send));
        self
    }

    /// Sets what the steps of the run share.
    pub fn run_state(mut self, state: RunState) -> Self {
        self.0.state = state;
        self
    }

    /// Adds a value for tools that take `State<T>`.
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.0.extensions.insert(value);
        self
    }

    /// Sets all values for tools at once.
    pub fn extensions(mut self, extensions: Extensions) -> Self {
        self.0.extensions = extensions;
        self
    }

    /// The context.
    pub fn build(self) -> ToolContext {
        ToolContext {
            run: Arc::new(self.0),
            call: None,
        }
    }
}

impl fmt::Debug for ToolContextBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContextBuilder")
            .field("session_id", &self.0.session_id)
            .field("extensions", &self.0.extensions)
            .finish_non_exhaustive()
    }
}
