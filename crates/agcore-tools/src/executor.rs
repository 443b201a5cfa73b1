//! [`RegistryExecutor`]: runs the calls of a model's reply.

use std::{fmt, sync::Arc, time::Duration};

use agcore_chat::{Content, Fault, Tool, ToolExecutor, ToolOutcome, ToolReport, ToolReports, ToolResult, ToolWork};
use futures_util::StreamExt;
use serde_json::Value;

use crate::{
    audit::AuditSink,
    context::ToolContext,
    error::{ToolError, ToolErrorKind},
    execute::{AT_A_TIME, BatchItem, End, Engine, Gate, Settlement, TIMEOUT, batch, input_question},
    layer::{
        AuditLayer, BoxInvoke, CutLayer, Invoke, Layer, OffloadLayer, RedactLayer, Redactor, Run, StatisticsLayer,
        TimeoutLayer,
    },
    output::{OutputBody, ToolOutput, text_of},
    policy::ToolPolicy,
    registry::{ToolRegistry, ToolSnapshot, ToolView},
    session::{Refusal, ToolSession},
};

/// Results are cut above so many bytes of text when nothing else is said.
pub const MAX_TOOL_RESULT_BYTES: usize = 65_536;

/// Runs the calls of a model's reply: one snapshot of the tools, a policy, and the context of a run. Cheap to clone.
///
/// What the model is told, and what ends the turn:
///
/// | what happens | outcome |
/// |---|---|
/// | the tool fails, its arguments are invalid, its time is out | an error result |
/// | a person says no | an error result |
/// | the rules say no; there is no such tool | an error result; in a later round of the turn, the same again is fatal |
/// | the approver suspends, the tool awaits input | a question |
/// | the way to the tool is broken, the run is cancelled | fatal |
#[derive(Clone)]
pub struct RegistryExecutor {
    engine: Arc<Engine>,
    session: ToolSession,
}

impl RegistryExecutor {
    /// The tools of this executor.
    pub fn snapshot(&self) -> &Arc<ToolSnapshot> {
        &self.engine.snapshot
    }

    /// What is remembered from round to round.
    pub fn session(&self) -> &ToolSession {
        &self.session
    }

    /// Runs one call, without telling its progress but to the context's own observer.
    ///
    /// Cancel safe: dropping the future gives the call up.
    pub async fn settle(&self, work: ToolWork) -> (ToolOutcome, Duration) {
        let batch = self.session.next_batch();
        let settlement = self.engine.settle(work).await;
        let duration = settlement.duration;
        (outcome(&self.session, batch, *settlement), duration)
    }
}

impl ToolExecutor for RegistryExecutor {
    fn definitions(&self) -> Arc<[Tool]> {
        self.engine.snapshot.definitions()
    }

    fn execute(&self, work: Vec<ToolWork>) -> ToolReports {
        let session = self.session.clone();
        let number = session.next_batch();
        Box::pin(batch(Arc::clone(&self.engine), work).map(move |item| match item {
            BatchItem::Progress { call_id, progress } => ToolReport::Progress { call_id, progress },
            BatchItem::Settled { settlement, .. } => {
                let (call_id, duration) = (settlement.call_id.clone(), settlement.duration);
                ToolReport::Settled {
                    call_id,
                    outcome: outcome(&session, number, *settlement),
                    duration,
                }
            }
        }))
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

/// What a settled call means for the turn.
fn outcome(session: &ToolSession, batch: u64, settlement: Settlement) -> ToolOutcome {
    let Settlement {
        call_id,
        name,
        arguments,
        end,
        ..
    } = settlement;
    match end {
        End::Asked(question) => ToolOutcome::Ask(*question),
        End::Failed(error) => {
            let refusal = match error.kind() {
                ToolErrorKind::NotFound => Some(Refusal::NotFound(&name)),
                ToolErrorKind::PermissionDenied if error.is_denied_by_person() => {
                    return told(&error);
                }
                ToolErrorKind::PermissionDenied => Some(Refusal::Denied(&name, &arguments)),
                _ => None,
            };
            match refusal {
                Some(refusal) if session.told_before(refusal, batch) => ToolOutcome::Fatal(told_twice(&error)),
                Some(_) => told(&error),
                None if error.is_recoverable() => told(&error),
                None => ToolOutcome::Fatal(error.fault()),
            }
        }
        End::Output {
            output,
            approved,
            number,
        } => match output.body {
            OutputBody::AwaitingInput(request) => {
                ToolOutcome::Ask(input_question(&call_id, arguments, *request, approved, number))
            }
            OutputBody::Divert { content, data } => ToolOutcome::Divert { content, data: *data },
            _ => ToolOutcome::Done(result(output)),
        },
    }
}

fn told(error: &ToolError) -> ToolOutcome {
    ToolOutcome::error(error.model_text().into_owned())
}

fn told_twice(error: &ToolError) -> Fault {
    let mut fault = error.fault();
    fault
        .message
        .push_str(" (the model was told, and made the same call again)");
    fault
}

/// The result for the model, and beside it what is for observers only.
fn result(output: ToolOutput) -> ToolResult {
    let (content, structured) = match output.body {
        OutputBody::Rich { content, structured } => (content, structured),
        OutputBody::Value(value) => (Content::Text(text_of(value)), None),
        _ => (Content::default(), None),
    };
    let members = [
        ("structured", structured),
        ("ui_hints", output.ui_hints),
        ("metadata", output.metadata),
    ];
    let result = ToolResult::new(content);
    if members.iter().all(|(_, value)| value.is_none()) {
        return result;
    }
    let display = members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), *value?)));
    result.with_display(Value::Object(display.collect()))
}

impl ToolRegistry {
    /// Begins an executor with the tools of this moment.
    pub fn executor(&self, context: ToolContext) -> ExecutorBuilder {
        ExecutorBuilder::new(self.snapshot(), context)
    }
}

impl ToolView {
    /// Begins an executor with the tools that the view has at this moment.
    pub fn executor(&self, context: ToolContext) -> ExecutorBuilder {
        ExecutorBuilder::new(self.snapshot(), context)
    }
}

/// Builds a [`RegistryExecutor`].
#[must_use = "a builder does nothing until it is built"]
pub struct ExecutorBuilder {
    snapshot: Arc<ToolSnapshot>,
    context: ToolContext,
    policy: Option<ToolPolicy>,
    session: ToolSession,
    timeout: Option<Duration>,
    most_at_a_time: usize,
    max_result_bytes: usize,
    redactor: Option<Arc<dyn Redactor>>,
    offload: Option<OffloadLayer>,
    audit: Option<Arc<dyn AuditSink>>,
    layers: Vec<Wrap>,
}

/// A layer, its type forgotten.
type Wrap = Box<dyn FnOnce(BoxInvoke) -> BoxInvoke + Send>;

impl ExecutorBuilder {
    /// An executor of these tools.
    pub fn new(snapshot: Arc<ToolSnapshot>, context: ToolContext) -> Self {
        Self {
            snapshot,
            context,
            policy: None,
            session: ToolSession::new(),
            timeout: Some(TIMEOUT),
            most_at_a_time: AT_A_TIME,
            max_result_bytes: MAX_TOOL_RESULT_BYTES,
            redactor: None,
            offload: None,
            audit: None,
            layers: Vec::new(),
        }
    }

    /// Sets the policy; by default the default rules hold and nobody is asked.
    pub fn policy(mut self, policy: ToolPolicy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Sets what is remembered from round to round; all executors of a session share one.
    pub fn session(mut self, session: ToolSession) -> Self {
        self.session = session;
        self
    }

    /// Sets how long a call may take, by default 60 s; none is for ever. A tool's own limit stands over it, and waiting
    /// for a person does not count.
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many calls of a reply run side by side at most, by default 16.
    pub fn most_at_a_time(mut self, most: usize) -> Self {
        self.most_at_a_time = most;
        self
    }

    /// Sets above how many bytes of text a result is cut, by default 65 536.
    pub fn max_result_bytes(mut self, bytes: usize) -> Self {
        self.max_result_bytes = bytes;
        self
    }

    /// Sets who takes secrets out of results.
    pub fn redactor(mut self, redactor: Arc<dyn Redactor>) -> Self {
        self.redactor = Some(redactor);
        self
    }

    /// Keeps large results in a store.
    pub fn offload(mut self, layer: OffloadLayer) -> Self {
        self.offload = Some(layer);
        self
    }

    /// Sets who is told of every decision and every end of a call.
    pub fn audit(mut self, sink: Arc<dyn AuditSink>) -> Self {
        self.audit = Some(sink);
        self
    }

    /// Adds a layer of one's own; each goes around those before it.
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<BoxInvoke> + Send + 'static,
        L::Invoke: 'static,
    {
        self.layers.push(wrap(layer));
        self
    }

    /// The executor.
    ///
    /// # Errors
    /// [`Config`](ToolErrorKind::Config) when the context lacks something that a tool needs, such as a `State<T>`.
    pub fn build(self) -> Result<RegistryExecutor, ToolError> {
        self.check_context()?;
        let gate = Gate {
            policy: self.policy.unwrap_or_default(),
            session: self.session.clone(),
            audit: self.audit.clone(),
        };
        let run = TimeoutLayer::new(self.timeout).layer(Run);
        let redact = self.redactor.map(|redactor| wrap(RedactLayer::new(redactor)));
        let between: Vec<Wrap> = redact
            .into_iter()
            .chain(self.offload.map(wrap))
            .chain(self.layers)
            .collect();
        let around = Around {
            max_result_bytes: self.max_result_bytes,
            audit: self.audit,
        };
        // Each type that is forgotten costs every call an allocation.
        let invoke = if between.is_empty() {
            around.layer(run)
        } else {
            around.layer(between.into_iter().fold(BoxInvoke::new(run), |inner, wrap| wrap(inner)))
        };
        let engine = Engine {
            snapshot: self.snapshot,
            context: self.context,
            gate: Some(gate),
            invoke,
            most_at_a_time: self.most_at_a_time,
        };
        Ok(RegistryExecutor {
            engine: Arc::new(engine),
            session: self.session,
        })
    }

    fn check_context(&self) -> Result<(), ToolError> {
        for tool in self.snapshot.tools() {
            tool.tool().check_context(&self.context).map_err(|error| {
                ToolError::new(
                    error.kind(),
                    format!("{} cannot be used in this session: {}", tool.name(), error.message()),
                )
            })?;
        }
        Ok(())
    }
}

fn wrap<L>(layer: L) -> Wrap
where
    L: Layer<BoxInvoke> + Send + 'static,
    L::Invoke: 'static,
{
    Box::new(move |inner| BoxInvoke::new(layer.layer(inner)))
}

/// What goes around all other layers.
struct Around {
    max_result_bytes: usize,
    audit: Option<Arc<dyn AuditSink>>,
}

impl<S: Invoke + 'static> Layer<S> for Around {
    type Invoke = BoxInvoke;

    fn layer(&self, inner: S) -> BoxInvoke {
        let inner = CutLayer::new(self.max_result_bytes).layer(inner);
        match &self.audit {
            None => BoxInvoke::new(StatisticsLayer.layer(inner)),
            Some(sink) => BoxInvoke::new(StatisticsLayer.layer(AuditLayer::new(Arc::clone(sink)).layer(inner))),
        }
    }
}

impl fmt::Debug for ExecutorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorBuilder")
            .field("context", &self.context)
            .field("policy", &self.policy)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
