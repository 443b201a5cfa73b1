//! [`RegistryExecutor`]: runs the calls of a model's reply.

mod settings;

use std::{fmt, sync::Arc, time::Duration};

use agcore_chat::{Tool, ToolCall, ToolExecutor, ToolOutcome, ToolReport, ToolReports, ToolWork};
use futures_util::StreamExt;

pub use self::settings::ToolSettings;
use crate::{
    audit::AuditSink,
    context::ToolContext,
    error::ToolError,
    execute::{BatchItem, Caller, DEFAULT_MAX_CONCURRENCY, DEFAULT_TIMEOUT, Engine, Gate, Outcomes, batch},
    layer::{
        Audit, BoxInvoke, EscapeControls, Invoke, Limit, MAX_TOOL_DATA_BYTES, MAX_TOOL_MEDIA_BYTES, Offload,
        OffloadSettings, Redact, Redactor, Run, Statistics, Timeout, TraceContent, Truncate,
    },
    policy::ToolPolicy,
    registry::{RegisteredTool, ToolRegistry, ToolSnapshot, ToolView},
    session::ToolSession,
};

/// The default limit for the text of a result, in bytes.
pub const MAX_TOOL_RESULT_BYTES: usize = 65_536;

/// Runs the calls of a model's reply, with one snapshot of the tools, a policy, and the context of a run.
///
/// Built by [`ToolRegistry::executor`] or [`ToolView::executor`]. Cheap to clone. The outcome of a call is one of:
///
/// | what happened | outcome |
/// |---|---|
/// | the tool returned an error of any kind or timed out, or its arguments are invalid | an error result |
/// | a person denied the call | an error result |
/// | the rules denied the call, or there is no such tool | an error result; if the model repeats the call in a later round of the turn, a fatal fault |
/// | the approver suspended the call, or the tool awaits input | a question |
/// | the run was cancelled, or a saved state cannot be read | a fatal fault |
///
/// The text of a result, error or not, never exceeds [`ExecutorBuilder::with_max_result_bytes`].
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{ToolCall, ToolExecutor, ToolOutcome, ToolReport, ToolWork};
/// use agcore_tools::{NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, typed};
/// use futures_util::StreamExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("ping", "Pings.", |_: NoArguments| async { Ok("pong") }))?;
/// let executor = tools.executor(ToolContext::builder(Arc::new(SystemClock::new())).build()).build()?;
/// assert_eq!(executor.definitions()[0].name(), "ping");
///
/// let calls = ["ping", "pign"].map(|name| ToolWork::new(ToolCall::function(name, name, "{}")));
/// let reports: Vec<_> = executor.execute(calls.into()).collect().await;
/// for report in reports {
///     let ToolReport::Settled { call_id, outcome, .. } = report else { continue };
///     match &*call_id {
///         "ping" => assert_eq!(outcome, ToolOutcome::done("pong")),
///         _ => assert_eq!(outcome, ToolOutcome::error(r#"there is no tool named "pign"; did you mean ping?"#)),
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RegistryExecutor {
    engine: Arc<Engine>,
    outcomes: Outcomes,
}

impl RegistryExecutor {
    /// Returns the tools of this executor.
    pub fn snapshot(&self) -> &Arc<ToolSnapshot> {
        &self.engine.snapshot
    }

    /// Returns the state that is shared across rounds.
    pub fn session(&self) -> &ToolSession {
        &self.engine.session
    }

    /// Runs one call and returns its outcome and duration. Progress goes only to the observer of the context.
    ///
    /// Cancel safe: dropping the future cancels the call.
    pub async fn settle(&self, work: ToolWork) -> (ToolOutcome, Duration) {
        self.settle_call(self.engine.caller(), work).await
    }

    /// Like [`settle`](Self::settle), but the call belongs to another run, with its own context and state. Tools, policy and
    /// layers are those of this executor. A server can so share an executor between the requests of its clients.
    ///
    /// [`build`](ExecutorBuilder::build) has checked the context of the executor, not this one: a tool that misses something
    /// in it fails. Cancel safe: dropping the future cancels the call.
    pub async fn settle_for(
        &self,
        context: &ToolContext,
        session: &ToolSession,
        work: ToolWork,
    ) -> (ToolOutcome, Duration) {
        self.settle_call(Caller { context, session }, work).await
    }

    async fn settle_call(&self, caller: Caller<'_>, work: ToolWork) -> (ToolOutcome, Duration) {
        let batch = caller.session.next_batch();
        let settlement = self.engine.settle(caller, work).await;
        let duration = settlement.duration;
        (self.outcomes.translate(caller.session, batch, settlement), duration)
    }
}

impl ToolExecutor for RegistryExecutor {
    fn definitions(&self) -> Arc<[Tool]> {
        self.engine.snapshot.definitions()
    }

    fn execute(&self, work: Vec<ToolWork>) -> ToolReports {
        let (outcomes, session) = (self.outcomes, self.engine.session.clone());
        let number = session.next_batch();
        Box::pin(batch(Arc::clone(&self.engine), work).map(move |item| match item {
            BatchItem::Began { calls } => ToolReport::Began { calls },
            BatchItem::Waiting { call_id, waiting } => ToolReport::Waiting { call_id, waiting },
            BatchItem::Progress { call_id, progress } => ToolReport::Progress { call_id, progress },
            BatchItem::Settled { settlement, .. } => {
                let (call_id, duration) = (settlement.call_id.clone(), settlement.duration);
                let input = settlement
                    .changed
                    .then(|| settlement.arguments.as_value().to_string().into());
                ToolReport::Settled {
                    call_id,
                    outcome: outcomes.translate(&session, number, settlement),
                    duration,
                    input,
                }
            }
        }))
    }

    /// Returns `true`. The begin of a call is reported only when it is about to run: not if it is refused, and not
    /// while it waits for an approval or for other calls. A call that resumes after its tool asked a question is
    /// reported again.
    fn reports_begin(&self) -> bool {
        true
    }

    /// Returns `true` if the rules alone allow the calls, and nothing makes one of them wait for another.
    fn begins_at_once(&self, work: &[ToolWork]) -> bool {
        self.engine.begins_at_once(work)
    }

    /// Returns `true` for tools that are annotated as idempotent or read-only.
    fn is_repeatable(&self, call: &ToolCall) -> bool {
        let annotations = self.engine.snapshot.get(&call.name).map(RegisteredTool::annotations);
        annotations.is_some_and(|hints| hints.idempotent == Some(true) || hints.read_only == Some(true))
    }
}

impl fmt::Debug for RegistryExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryExecutor")
            .field("revision", &self.engine.snapshot.revision())
            .field("context", &self.engine.context)
            .finish_non_exhaustive()
    }
}

impl ToolRegistry {
    /// Returns a builder for an executor of the current tools.
    pub fn executor(&self, context: ToolContext) -> ExecutorBuilder {
        ExecutorBuilder::new(self.snapshot(), context)
    }
}

impl ToolView {
    /// Returns a builder for an executor of the current tools of the view.
    pub fn executor(&self, context: ToolContext) -> ExecutorBuilder {
        ExecutorBuilder::new(self.snapshot(), context)
    }
}

/// A builder for [`RegistryExecutor`].
///
/// ```
/// use std::{sync::Arc, time::Duration};
///
/// use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
/// use agcore_tools::{NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, typed};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("wait", "Waits for ever.", |_: NoArguments| std::future::pending::<Result<(), _>>()))?;
///
/// let executor = tools
///     .executor(ToolContext::builder(Arc::new(SystemClock::new())).build())
///     .with_timeout(Some(Duration::from_secs(5)))
///     .with_max_concurrency(4)
///     .build()?;
/// let (outcome, duration) = executor.settle(ToolWork::new(ToolCall::function("call_1", "wait", "{}"))).await;
/// let text = "wait did not finish within 5s and was stopped; its effects, if any, are unknown";
/// assert_eq!((outcome, duration), (ToolOutcome::error(text), Duration::from_secs(5)));
/// # Ok(())
/// # }
/// ```
#[must_use = "a builder does nothing until it is built"]
pub struct ExecutorBuilder {
    snapshot: Arc<ToolSnapshot>,
    context: ToolContext,
    policy: Option<ToolPolicy>,
    session: Option<ToolSession>,
    timeout: Option<Duration>,
    max_concurrency: usize,
    max_result_bytes: usize,
    max_data_bytes: usize,
    max_media_bytes: usize,
    redactor: Option<Arc<dyn Redactor>>,
    offload: Option<OffloadSettings>,
    audit: Option<Arc<dyn AuditSink>>,
    layers: Vec<Wrap>,
    trace_content: bool,
}

/// Wraps a layer around a type-erased stack.
type Wrap = Box<dyn FnOnce(BoxInvoke) -> BoxInvoke + Send>;

impl ExecutorBuilder {
    /// Creates a builder for an executor of these tools.
    pub fn new(snapshot: Arc<ToolSnapshot>, context: ToolContext) -> Self {
        Self {
            snapshot,
            context,
            policy: None,
            session: None,
            timeout: Some(DEFAULT_TIMEOUT),
            max_concurrency: DEFAULT_MAX_CONCURRENCY,
            max_result_bytes: MAX_TOOL_RESULT_BYTES,
            max_data_bytes: MAX_TOOL_DATA_BYTES,
            max_media_bytes: MAX_TOOL_MEDIA_BYTES,
            redactor: None,
            offload: None,
            audit: None,
            layers: Vec::new(),
            trace_content: false,
        }
    }

    /// Sets the policy. By default, the default rules apply and there is no approver.
    pub fn with_policy(mut self, policy: ToolPolicy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Sets the state that is shared across rounds. All executors of a session must share one.
    pub fn with_session(mut self, session: ToolSession) -> Self {
        self.session = Some(session);
        self
    }

    /// Sets the timeout of a call, by default 60 s; `None` means no timeout. A tool's own timeout takes precedence. The
    /// time a call waits for people does not count.
    pub fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the largest number of calls of a reply that run side by side, by default 16.
    pub fn with_max_concurrency(mut self, calls: usize) -> Self {
        self.max_concurrency = calls;
        self
    }

    /// Sets the limit for the text of a result, by default [`MAX_TOOL_RESULT_BYTES`].
    ///
    /// This is a hard limit for the text of every result and error that the executor returns, including the note that
    /// [`Truncate`] appends. Images, files and the data for observers have limits of their own.
    pub fn with_max_result_bytes(mut self, bytes: usize) -> Self {
        self.max_result_bytes = bytes;
        self
    }

    /// Sets the limit for each JSON value beside the text of a result (the structured value, the metadata, the hints for
    /// display), in bytes of compact JSON, by default [`MAX_TOOL_DATA_BYTES`]. See [`Limit`].
    pub fn with_max_data_bytes(mut self, bytes: usize) -> Self {
        self.max_data_bytes = bytes;
        self
    }

    /// Sets the limit for the images and files of a result together, in bytes of their URLs and base64 texts, by default
    /// [`MAX_TOOL_MEDIA_BYTES`]. See [`Limit`].
    pub fn with_max_media_bytes(mut self, bytes: usize) -> Self {
        self.max_media_bytes = bytes;
        self
    }

    /// Sets a redactor that removes secrets from results. See [`Redact`].
    pub fn with_redactor(mut self, redactor: Arc<dyn Redactor>) -> Self {
        self.redactor = Some(redactor);
        self
    }

    /// Stores large results outside the conversation. See [`Offload`].
    pub fn with_offload(mut self, settings: OffloadSettings) -> Self {
        self.offload = Some(settings);
        self
    }

    /// Sets the sink that receives a record of every decision and of the end of every call.
    pub fn with_audit(mut self, sink: Arc<dyn AuditSink>) -> Self {
        self.audit = Some(sink);
        self
    }

    /// Adds a custom layer around those that were added before. See [the module documentation](crate::layer) for an
    /// example, and for the layers inside and outside of it.
    pub fn with_layer<S: Invoke + 'static>(mut self, layer: impl FnOnce(BoxInvoke) -> S + Send + 'static) -> Self {
        self.layers.push(wrap(layer));
        self
    }

    /// Builds the executor.
    ///
    /// # Errors
    /// The error of [`check_context`](crate::BaseTool::check_context), when the context lacks something that a tool
    /// needs, such as a [`State<T>`](crate::State).
    pub fn build(self) -> Result<RegistryExecutor, ToolError> {
        self.check_context()?;
        Ok(self.build_unchecked())
    }

    /// Builds the executor without checking its context, for [calls with their own](RegistryExecutor::settle_for).
    pub fn build_unchecked(self) -> RegistryExecutor {
        let gate = Gate {
            policy: self.policy.unwrap_or_default(),
            audit: self.audit.clone(),
        };
        let run = Timeout::new(Run, self.timeout);
        let redact = self.redactor.map(|redactor| wrap(|inner| Redact::new(inner, redactor)));
        let offload = self.offload.map(|settings| wrap(|inner| Offload::new(inner, settings)));
        let optional: Vec<Wrap> = redact.into_iter().chain(offload).chain(self.layers).collect();
        // Each type-erased layer costs every call an allocation, so the usual stack has only one.
        let limits = (self.max_result_bytes, self.max_data_bytes, self.max_media_bytes);
        let invoke = if optional.is_empty() {
            outer_layers(run, limits, self.trace_content, self.audit)
        } else {
            let inner = optional
                .into_iter()
                .fold(BoxInvoke::new(run), |inner, wrap| wrap(inner));
            outer_layers(inner, limits, self.trace_content, self.audit)
        };
        let engine = Engine {
            snapshot: self.snapshot,
            context: self.context,
            session: self.session.unwrap_or_default(),
            gate: Some(gate),
            invoke,
            max_concurrency: self.max_concurrency,
        };
        RegistryExecutor {
            engine: Arc::new(engine),
            outcomes: Outcomes {
                max_result_bytes: self.max_result_bytes,
            },
        }
    }

    fn check_context(&self) -> Result<(), ToolError> {
        for tool in self.snapshot.tools() {
            tool.tool().check_context(&self.context).map_err(|error| {
                let message = format!("{} cannot be used: {}", tool.name(), error.message());
                ToolError::new(error.kind(), message)
            })?;
        }
        Ok(())
    }
}

fn wrap<S: Invoke + 'static>(layer: impl FnOnce(BoxInvoke) -> S + Send + 'static) -> Wrap {
    Box::new(move |inner| BoxInvoke::new(layer(inner)))
}

/// Wraps the layers around `inner` that every executor has, with the limits for text, data and media.
fn outer_layers(
    inner: impl Invoke + 'static,
    (text, data, media): (usize, usize, usize),
    traced: bool,
    audit: Option<Arc<dyn AuditSink>>,
) -> Statistics<BoxInvoke> {
    let inner = Limit::new(inner).with_max_data_bytes(data).with_max_media_bytes(media);
    let inner = Truncate::new(EscapeControls::new(inner), text);
    Statistics::new(match (audit, traced) {
        (None, false) => BoxInvoke::new(inner),
        (None, true) => BoxInvoke::new(TraceContent::new(inner)),
        (Some(sink), false) => BoxInvoke::new(Audit::new(inner, sink)),
        (Some(sink), true) => BoxInvoke::new(Audit::new(TraceContent::new(inner), sink)),
    })
}
