//! [`CallTool`]: any tool as a tool of a planner loop.

mod report;

use std::{fmt, sync::Arc};

use agcore_chat::{Actor, Answer, Question, Text, ToolExecutor, ToolOutcome, ToolReport, ToolWork, text::clip};
use agcore_flow::{NodeContext, NodeError};
use agcore_tools::{
    Extensions, IntoRegistration, RegistryChange, RegistryExecutor, ToolContext, ToolError, ToolPolicy, ToolRegistry,
};
use async_trait::async_trait;
use futures_util::{StreamExt, future::join_all};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use self::report::{CallResult, Report};
use super::state_tool::{StateTool, StateToolKind};
use crate::planner::{ActionContent, ActionContext, ActionRecord, ContextUsage, Relevance, RuntimeState};

/// The largest number of calls that run at the same time.
const MAX_CONCURRENCY: usize = 16;

/// The longest summary of a result, in bytes.
const SUMMARY_BYTES: usize = 200;

/// Any [`BaseTool`](agcore_tools::BaseTool) as a [`StateTool`]. The calls that the planner prepared run side by side, those of a
/// destructive tool one after the other; each result is saved, so that no finished call is repeated when the run is resumed.
/// Observers learn of each call by [`emit_call`](NodeContext::emit_call), and learn of it again if the node runs again.
///
/// ```
/// use agcore_flow_files::{CallTool, StateTool, StateToolKind};
/// use agcore_tools::{NoArguments, typed};
///
/// let clock = typed("clock", "Returns the time.", |_: NoArguments| async { Ok("12:00") });
/// let tool = CallTool::new(clock)?;
/// assert_eq!((tool.name(), tool.kind()), ("clock", StateToolKind::Call));
/// # Ok::<(), agcore_tools::ToolError>(())
/// ```
#[derive(Clone)]
pub struct CallTool {
    name: String,
    description: String,
    parameters: Value,
    /// How many calls run at the same time.
    concurrency: usize,
    registry: ToolRegistry,
    kind: StateToolKind,
    policy: ToolPolicy,
    actor: Arc<Actor>,
    extensions: Extensions,
}

impl CallTool {
    /// Creates a tool that the planner calls.
    ///
    /// # Errors
    /// When the name or the schema of the tool is invalid.
    pub fn new(tool: impl IntoRegistration) -> Result<Self, ToolError> {
        let registry = ToolRegistry::new();
        registry.register(tool)?;
        Ok(Self::of(registry))
    }

    /// Creates a tool of a registry, if it has one with this name.
    pub fn from_registry(tools: &ToolRegistry, name: &str) -> Option<Self> {
        let registry = tools.detached();
        let others = |change: &mut RegistryChange<'_>| {
            change.retain(|tool| tool.name().as_str() == name);
            Ok(())
        };
        registry.change(others).ok()?;
        let is_known = registry.get(name).is_some();
        is_known.then(|| Self::of(registry))
    }

    /// Returns the only tool of a registry.
    fn of(registry: ToolRegistry) -> Self {
        let snapshot = registry.snapshot();
        let own = snapshot.tools().first();
        let is_destructive = own.is_some_and(|own| own.annotations().destructive == Some(true));
        let (name, description, parameters) = own
            .map(|own| {
                let tool = own.tool();
                (
                    own.name().to_string(),
                    tool.description().to_owned(),
                    tool.parameters().clone(),
                )
            })
            .unwrap_or_default();
        Self {
            name,
            description,
            parameters,
            concurrency: if is_destructive { 1 } else { MAX_CONCURRENCY },
            registry,
            kind: StateToolKind::Call,
            policy: ToolPolicy::default(),
            actor: Arc::default(),
            extensions: Extensions::default(),
        }
    }

    /// Sets when the tool is used.
    #[must_use]
    pub fn with_kind(mut self, kind: StateToolKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets by which rules calls are allowed, and who is asked. A question to a person suspends the run.
    #[must_use]
    pub fn with_policy(mut self, policy: ToolPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets for whom the calls are made, by default [`local`](Actor::local).
    #[must_use]
    pub fn with_actor(mut self, actor: impl Into<Arc<Actor>>) -> Self {
        self.actor = actor.into();
        self
    }

    /// Sets the values that the tool finds in its context.
    #[must_use]
    pub fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    async fn call(&self, number: usize, report: &Report<'_>, at: &NodeContext) -> Result<CallResult, NodeError> {
        let call = report.call();
        let start = at.clock().monotonic();
        let context = ToolContext::builder(Arc::clone(at.clock()))
            .with_session_id(at.durable_id().unwrap_or_default())
            .with_actor(Arc::clone(&self.actor))
            .with_cancellation(at.token().clone())
            .with_extensions(self.extensions.clone());
        let context = match at.stop_check() {
            Some(check) => context.with_stop_check(check.clone()),
            None => context,
        };
        let executor = self.registry.executor(context.build()).with_policy(self.policy.clone());
        let executor = executor
            .build()
            .map_err(|error| NodeError::from(error).with_retryable(false))?;
        let mut work = ToolWork::new(Arc::clone(call));
        loop {
            let (outcome, input) = run(&executor, work, report).await;
            let question = match outcome {
                ToolOutcome::Done(result) => {
                    let text = result.content.text().into_owned();
                    return Ok(CallResult {
                        value: serde_json::from_str(&text).unwrap_or(Value::String(text)),
                        is_error: result.is_error,
                        display: result.display,
                        input,
                        duration: at.clock().monotonic().saturating_sub(start),
                    });
                }
                ToolOutcome::Ask(question) => *question,
                ToolOutcome::Fatal(fault) => return Err(NodeError::permanent(fault.message)),
                _ => {
                    let message = "the tool handed the conversation over, which tools of planner loops cannot do";
                    return Err(NodeError::permanent(message));
                }
            };
            let answer: Answer = ask(at, number, &question).await?;
            work = ToolWork::resumed(Arc::clone(call), question, answer);
        }
    }
}

/// Runs a call, and reports when it begins. Returns its outcome, and the input with which it ran if a person edited it.
async fn run(executor: &RegistryExecutor, work: ToolWork, report: &Report<'_>) -> (ToolOutcome, Option<Text>) {
    let mut reports = executor.execute(vec![work]);
    while let Some(next) = reports.next().await {
        match next {
            ToolReport::Began { .. } => report.started(),
            ToolReport::Settled { outcome, input, .. } => return (outcome, input),
            _ => {}
        }
    }
    (ToolOutcome::error("The tool ended without a result."), None)
}

async fn ask(at: &NodeContext, number: usize, question: &Question) -> Result<Answer, NodeError> {
    at.ask(
        &format!("call-{number}-{}", question.id),
        serde_json::to_value(question)?,
    )
    .await
}

#[async_trait]
impl StateTool for CallTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn kind(&self) -> StateToolKind {
        self.kind
    }

    fn parameters(&self) -> Option<&Value> {
        Some(&self.parameters)
    }

    async fn run(&self, state: &mut RuntimeState, at: &NodeContext) -> Result<ActionRecord, NodeError> {
        let mut calls = state.prepared_calls().to_vec();
        if calls.is_empty() {
            calls.push(json!({}));
        }
        let places = &Semaphore::new(self.concurrency);
        let work = calls.iter().enumerate().map(|(number, arguments)| async move {
            // The semaphore is never closed.
            let _place = places.acquire().await;
            let report = Report::new(&self.name, number, arguments, at);
            report.requested();
            let result = at
                .once(&format!("call-{number}"), || self.call(number, &report, at))
                .await?;
            report.completed(&result);
            Ok(result)
        });
        // All calls are made, also if one of them has to be asked about.
        let results: Result<Vec<CallResult>, NodeError> = join_all(work).await.into_iter().collect();
        Ok(record(&self.name, &calls, results?))
    }
}

fn record(name: &str, calls: &[Value], mut results: Vec<CallResult>) -> ActionRecord {
    let has_failed = results.iter().all(|result| result.is_error);
    let preparation: Vec<String> = calls.iter().map(Value::to_string).collect();
    let mut values = results
        .drain(..)
        .map(|CallResult { value, is_error, .. }| match is_error {
            true => json!({"error": value}),
            false => value,
        });
    let result = match calls.len() {
        1 => values.next().unwrap_or_default(),
        _ => values.collect(),
    };
    let shown = match &result {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let record = ActionRecord::new(name)
        .with_preparation(preparation.join("\n"))
        .with_summary(clip(&shown, SUMMARY_BYTES))
        .with_result(result.clone());
    if has_failed {
        return record;
    }
    let kind = if result.is_string() {
        ActionContent::Text
    } else {
        ActionContent::Data
    };
    let context = ActionContext::new(kind, result, ContextUsage::Reference);
    record.with_context(context).with_relevance(Relevance::new(1.0))
}

impl fmt::Debug for CallTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallTool")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
