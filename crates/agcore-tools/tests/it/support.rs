//! Helpers for the tests.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use agcore_chat::{Answer, Question, ToolCall, ToolExecutor, ToolOutcome, ToolReport, ToolReports, ToolWork};
use agcore_tools::{
    Approval, ApprovalRequest, Approver, Arguments, BaseTool, ExecutorBuilder, IntoRegistration, Permission,
    PermissionRules, RegistryExecutor, Rule, RuleState, SystemClock, ToolAnnotations, ToolContext, ToolContextBuilder,
    ToolError, ToolOutput, ToolPolicy, ToolRegistry,
};
use async_trait::async_trait;
use futures_util::StreamExt;
use serde_json::{Value, json};

/// Returns a policy by which this tool may run, whatever it declares.
pub(crate) fn allowing(tool: &str) -> ToolPolicy {
    ToolPolicy::new(PermissionRules::default().with_rule(Rule::tool(RuleState::Allow, tool)))
}

/// Returns a builder for the context of a run.
pub(crate) fn context_builder() -> ToolContextBuilder {
    ToolContext::builder(Arc::new(SystemClock::new())).with_session_id("session")
}

pub(crate) fn context() -> ToolContext {
    context_builder().build()
}

/// A tool that counts its calls and returns its arguments.
#[derive(Clone)]
pub(crate) struct Echo {
    name: String,
    permissions: Vec<Permission>,
    annotations: ToolAnnotations,
    parameters: Value,
    pub(crate) calls: Arc<AtomicUsize>,
}

impl Echo {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            permissions: Vec::new(),
            annotations: ToolAnnotations::new(),
            parameters: json!({"type": "object"}),
            calls: Arc::default(),
        }
    }

    pub(crate) fn with_permissions(mut self, permissions: impl IntoIterator<Item = Permission>) -> Self {
        self.permissions = permissions.into_iter().collect();
        self
    }

    pub(crate) fn with_parameters(mut self, parameters: Value) -> Self {
        self.parameters = parameters;
        self
    }

    pub(crate) fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = annotations;
        self
    }

    pub(crate) fn count(&self) -> usize {
        self.calls.load(SeqCst)
    }
}

#[async_trait]
impl BaseTool for Echo {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        "Returns its arguments."
    }

    fn parameters(&self) -> &Value {
        &self.parameters
    }

    fn required_permissions(&self) -> &[Permission] {
        &self.permissions
    }

    fn annotations(&self) -> ToolAnnotations {
        self.annotations.clone()
    }

    async fn execute(&self, arguments: &Arguments, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.calls.fetch_add(1, SeqCst);
        Ok(ToolOutput::value(arguments.as_value().clone()))
    }
}

/// An approver that returns a list of answers in order and keeps the requests.
#[derive(Default)]
pub(crate) struct ScriptedApprover {
    answers: Mutex<Vec<Approval>>,
    requests: Mutex<Vec<ApprovalRequest>>,
}

impl ScriptedApprover {
    pub(crate) fn new(answers: impl IntoIterator<Item = Approval>) -> Arc<Self> {
        let mut answers: Vec<_> = answers.into_iter().collect();
        answers.reverse();
        Arc::new(Self {
            answers: Mutex::new(answers),
            requests: Mutex::default(),
        })
    }

    pub(crate) fn requests(&self) -> Vec<ApprovalRequest> {
        self.requests.lock().unwrap().clone()
    }
}

#[async_trait]
impl Approver for ScriptedApprover {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        self.requests.lock().unwrap().push(request.clone());
        self.answers.lock().unwrap().pop().expect("more requests than answers")
    }
}

pub(crate) fn registry<T: IntoRegistration>(tools: impl IntoIterator<Item = T>) -> ToolRegistry {
    let registry = ToolRegistry::new();
    registry.register_all(tools).unwrap();
    registry
}

/// Returns a builder for an executor of these tools.
pub(crate) fn executor_for<T: IntoRegistration>(tools: impl IntoIterator<Item = T>) -> ExecutorBuilder {
    registry(tools).executor(context())
}

pub(crate) fn call(id: &str, name: &str, arguments: &Value) -> ToolCall {
    ToolCall::function(id, name, arguments.to_string())
}

pub(crate) fn work(id: &str, name: &str, arguments: &Value) -> ToolWork {
    ToolWork::new(call(id, name, arguments))
}

/// Runs one call and returns its outcome.
pub(crate) async fn settle(executor: &RegistryExecutor, name: &str, arguments: Value) -> ToolOutcome {
    executor.settle(work("call", name, &arguments)).await.0
}

/// Resumes a call with the answer to its question.
pub(crate) async fn resume(
    executor: &RegistryExecutor,
    name: &str,
    arguments: Value,
    question: Question,
    answer: Answer,
) -> ToolOutcome {
    executor
        .settle(ToolWork::resumed(call("call", name, &arguments), question, answer))
        .await
        .0
}

/// Runs a batch and returns its progress and results in the order of their arrival.
pub(crate) async fn reports(executor: &RegistryExecutor, work: Vec<ToolWork>) -> Vec<ToolReport> {
    progress_and_results(executor.execute(work)).collect().await
}

/// Leaves out the reports of calls that begin or wait.
pub(crate) fn progress_and_results(reports: ToolReports) -> ToolReports {
    reports
        .filter(|report| {
            let kept = matches!(report, ToolReport::Progress { .. } | ToolReport::Settled { .. });
            std::future::ready(kept)
        })
        .boxed()
}

#[track_caller]
pub(crate) fn text(outcome: &ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Done(result) if !result.is_error => result.content.text().into_owned(),
        other => panic!("not a successful result: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn error_text(outcome: &ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Done(result) if result.is_error => result.content.text().into_owned(),
        other => panic!("not an error result: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn fatal_text(outcome: &ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Fatal(fault) => fault.message.clone(),
        other => panic!("not fatal: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn question(outcome: ToolOutcome) -> Question {
    match outcome {
        ToolOutcome::Ask(question) => *question,
        other => panic!("not a question: {other:?}"),
    }
}

/// Serializes and deserializes a question, as a store would.
pub(crate) fn round_trip(question: &Question) -> Question {
    serde_json::from_str(&serde_json::to_string(question).unwrap()).unwrap()
}
