//! [`ToolContext`]: what a call knows about the run it belongs to.

mod extensions;
mod filters;
mod key;
mod pause;
mod run_state;
mod stop;
mod scope;
mod waits;
mod person;

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use agcore_chat::{Actor, Clock, Progress, StopCheck, Text};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use self::{extensions::Extensions, run_state::RunState, scope::InputAnswer, waits::ProgressSender};
pub(crate) use self::{filters::ProgressFilter, pause::Pause, waits::CallObserver};
use self::{
    filters::ProgressFilters,
    scope::{CallGuard, CallScope, RunScope},
};
use crate::session::ToolSession;

/// The run that a call belongs to: ids, cancellation, the clock, and values of the application.
///
/// Create one per run with [`ToolContext::builder`]. Each call gets a child of it with its own call id and cancellation
/// token, and the tool receives that in [`BaseTool::execute`](crate::BaseTool::execute). Cheap to clone.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{Actor, ToolCall};
/// use agcore_tools::{NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, typed};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("whoami", "Returns the user.", |_: NoArguments, context: ToolContext| async move {
///     Ok::<_, ToolError>(format!("{}, in call {}", context.actor().user, context.call_id()))
/// }))?;
///
/// let context = ToolContext::builder(Arc::new(SystemClock::new())).with_actor(Actor::user("ann")).build();
/// let done = tools.invoke(ToolCall::function("call_1", "whoami", "{}"), &context).await;
/// assert_eq!(done.result?.as_value(), Some(&"ann, in call call_1".into()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ToolContext {
    run: Arc<RunScope>,
    call: Option<Arc<CallScope>>,
}

impl ToolContext {
    /// Returns a builder. All timeouts and durations are measured with this clock.
    pub fn builder(clock: Arc<dyn Clock>) -> ToolContextBuilder {
        ToolContextBuilder {
            session_id: Text::EMPTY,
            key_scope: None,
            trace_id: None,
            agent: None,
            parent_call: None,
            actor: None,
            clock,
            cancellation: None,
            stop_check: None,
            state: None,
            extensions: Extensions::default(),
            progress: None,
        }
    }

    /// Returns the id of the session; empty if none was set.
    pub fn session_id(&self) -> &Text {
        &self.run.session_id
    }

    /// Returns the id under which the run is traced.
    pub fn trace_id(&self) -> Option<&Text> {
        self.run.trace_id.as_ref()
    }

    /// Returns the name of the agent that makes the calls, if another agent has asked it.
    pub fn agent(&self) -> Option<&Text> {
        self.run.agent.as_ref()
    }

    /// Returns the id of the call by which another agent has asked the agent that makes the calls, if one has.
    pub fn parent_call(&self) -> Option<&Text> {
        self.run.parent_call.as_ref()
    }

    /// Returns the actor on whose behalf the run was started; [`Actor::local`] by default.
    pub fn actor(&self) -> &Actor {
        const LOCAL: &Actor = &Actor::LOCAL;
        self.run.actor.as_deref().unwrap_or(LOCAL)
    }

    /// Returns the id of the call; empty outside of a call.
    pub fn call_id(&self) -> &Text {
        const NONE: &Text = &Text::EMPTY;
        self.call.as_ref().map_or(NONE, |call| &call.id)
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.run.clock
    }

    /// Returns the values that the steps of the run share.
    pub fn run_state(&self) -> &RunState {
        &self.run.state
    }

    /// Returns the application's value of type `T`, the one that [`State<T>`](crate::State) extracts.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.run.extensions.get()
    }

    /// Returns all values of the application.
    pub fn extensions(&self) -> &Extensions {
        &self.run.extensions
    }

    /// Reports progress of the call. Does nothing without an observer, and after the call has ended.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// use agcore_chat::{Progress, ToolCall};
    /// use agcore_tools::{NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, typed};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), ToolError> {
    /// let tools = ToolRegistry::new();
    /// tools.register(typed("copy", "Copies files.", |_: NoArguments, context: ToolContext| async move {
    ///     context.report_progress(Progress::message("1 of 2 files"));
    ///     Ok("copied")
    /// }))?;
    ///
    /// let seen = Arc::new(Mutex::new(Vec::new()));
    /// let sink = seen.clone();
    /// let context = ToolContext::builder(Arc::new(SystemClock::new()))
    ///     .with_progress(move |call_id, progress| sink.lock().unwrap().push((call_id.clone(), progress)))
    ///     .build();
    /// tools.invoke(ToolCall::function("call_1", "copy", "{}"), &context).await.result?;
    /// assert_eq!(*seen.lock().unwrap(), [("call_1".into(), Progress::message("1 of 2 files"))]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn report_progress(&self, mut progress: Progress) {
        let Some(call) = &self.call else {
            return self.observe(self.call_id(), progress);
        };
        if call.has_ended.load(Ordering::Acquire) {
            return;
        }
        call.filters.apply(&mut progress);
        match &call.observer {
            Some(observer) => observer.progress(&call.id, progress),
            None => self.observe(&call.id, progress),
        }
    }

    /// Reports a part of the output before the call ends.
    pub fn report_part(&self, part: Value) {
        self.report_progress(Progress::part(part));
    }

    /// Returns the answer, when the call resumes after it asked for input.
    pub fn answer(&self) -> Option<&InputAnswer> {
        self.call.as_ref()?.answer.as_deref()
    }

    /// Adds a filter inside those that were added before, unless the call already has it.
    pub(crate) fn filter_progress(&self, filter: &ProgressFilter) {
        if let Some(call) = &self.call {
            call.filters.add(filter);
        }
    }

    /// Passes progress to the run's own observer, if there is one.
    pub(crate) fn observe(&self, call_id: &Text, progress: Progress) {
        if let Some(send) = &self.run.progress {
            send(call_id, progress);
        }
    }

    /// Returns a guard that cancels the call's token on drop, so that tasks the call left running stop.
    pub(crate) fn guard(&self) -> CallGuard {
        CallGuard(self.call.clone())
    }

    /// Creates the context of one call of this run.
    pub(crate) fn for_call(
        &self,
        id: Text,
        observer: Option<Arc<dyn CallObserver>>,
        answer: Option<InputAnswer>,
        session: &ToolSession,
    ) -> Self {
        let call = CallScope {
            id,
            session: session.clone(),
            cancellation: OnceLock::new(),
            answer: answer.map(Box::new),
            pause: Pause::default(),
            filters: ProgressFilters::default(),
            has_ended: AtomicBool::new(false),
            waits: waits::Waits::default(),
            observer,
        };
        Self {
            run: Arc::clone(&self.run),
            call: Some(Arc::new(call)),
        }
    }

    /// Returns how long the call has worked since `start`, not counting the time it waited for people.
    pub(crate) fn worked_since(&self, start: Duration) -> Duration {
        let now = self.clock().monotonic();
        let paused = self.call.as_ref().map_or(Duration::ZERO, |call| call.pause.total(now));
        now.saturating_sub(start).saturating_sub(paused)
    }

    /// Waits until the call is not waiting for a person.
    pub(crate) async fn resumed(&self) {
        if let Some(call) = &self.call {
            call.pause.ended().await;
        }
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

/// A builder for [`ToolContext`].
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_tools::{RunState, SystemClock, ToolContext};
/// use serde_json::json;
/// use tokio_util::sync::CancellationToken;
///
/// let (token, state) = (CancellationToken::new(), RunState::new());
/// state.set("draft", json!("first"));
///
/// let context = ToolContext::builder(Arc::new(SystemClock::new()))
///     .with_session_id("session_1")
///     .with_cancellation(token.clone())
///     .with_run_state(state)
///     .with_state(vec!["a note"])
///     .build();
/// assert_eq!(context.session_id(), "session_1");
/// assert_eq!(context.run_state().get("draft"), Some(json!("first")));
/// assert_eq!(*context.extension::<Vec<&str>>().unwrap(), ["a note"]);
///
/// token.cancel();
/// assert!(context.cancellation().is_cancelled());
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until it is built"]
pub struct ToolContextBuilder {
    session_id: Text,
    key_scope: Option<Text>,
    trace_id: Option<Text>,
    agent: Option<Text>,
    parent_call: Option<Text>,
    actor: Option<Arc<Actor>>,
    clock: Arc<dyn Clock>,
    cancellation: Option<CancellationToken>,
    stop_check: Option<StopCheck>,
    state: Option<RunState>,
    extensions: Extensions,
    progress: Option<ProgressSender>,
}

impl ToolContextBuilder {
    /// Sets the id of the session.
    pub fn with_session_id(mut self, id: impl Into<Text>) -> Self {
        self.session_id = id.into();
        self
    }

    /// Sets the id under which the run is traced.
    pub fn with_trace_id(mut self, id: impl Into<Text>) -> Self {
        self.trace_id = Some(id.into());
        self
    }

    /// Sets the name of the agent that makes the calls, if another agent has asked it, so that people see who asks them.
    pub fn with_agent(mut self, name: impl Into<Text>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Sets the id of the call by which another agent has asked the agent that makes the calls.
    pub fn with_parent_call(mut self, id: impl Into<Text>) -> Self {
        self.parent_call = Some(id.into());
        self
    }

    /// Sets the actor on whose behalf the run was started: the owner of its grants, which audit records contain.
    pub fn with_actor(mut self, actor: impl Into<Arc<Actor>>) -> Self {
        self.actor = Some(actor.into());
        self
    }

    /// Sets the token that cancels all calls of the run.
    pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
        self.cancellation = Some(token);
        self
    }

    /// Sets the check that is asked directly before each call whether it may begin. A call that may not ends as if the run was
    /// cancelled.
    pub fn with_stop_check(mut self, check: StopCheck) -> Self {
        self.stop_check = Some(check);
        self
    }

    /// Sets the observer of progress for calls that are made one by one. The stream of an executor reports progress
    /// itself.
    pub fn with_progress(mut self, send: impl Fn(&Text, Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(send));
        self
    }

    /// Sets the values that the steps of the run share.
    pub fn with_run_state(mut self, state: RunState) -> Self {
        self.state = Some(state);
        self
    }

    /// Adds a value for tools that take [`State<T>`](crate::State). Replaces an earlier value of the same type.
    pub fn with_state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }

    /// Like [`with_state`](Self::with_state), for a value that is shared already.
    pub fn with_shared_state<T: Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.extensions.insert_shared(value);
        self
    }

    /// Replaces all values for tools.
    pub fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// Builds the context.
    pub fn build(self) -> ToolContext {
        ToolContext {
            run: Arc::new(RunScope {
                session_id: self.session_id,
                key_scope: self.key_scope,
                trace_id: self.trace_id,
                agent: self.agent,
                parent_call: self.parent_call,
                actor: self.actor,
                clock: self.clock,
                cancellation: self.cancellation.unwrap_or_default(),
                stop_check: self.stop_check,
                state: self.state.unwrap_or_default(),
                extensions: self.extensions,
                progress: self.progress,
            }),
            call: None,
        }
    }
}

impl fmt::Debug for ToolContextBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContextBuilder")
            .field("session_id", &self.session_id)
            .field("extensions", &self.extensions)
            .finish_non_exhaustive()
    }
}
