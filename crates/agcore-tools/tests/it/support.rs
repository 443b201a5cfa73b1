//! What the tests share.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use agcore_chat::{Answer, Question, ToolCall, ToolExecutor, ToolOutcome, ToolReport, ToolWork};
use agcore_tools::{
    Approval, ApprovalRequest, Approver, Arguments, BaseTool, ExecutorBuilder, Permission, RegistryExecutor,
    TokioClock, ToolAnnotations, ToolContext, ToolContextBuilder, ToolError, ToolOutput, ToolRegistry,
};
use async_trait::async_trait;
use futures_util::StreamExt;
use serde_json::{Value, json};

/// A context for one run.
pub(crate) fn context_builder() -> ToolContextBuilder {
    ToolContext::builder(Arc::new(TokioClock::new())).session_id("session")
}

pub(crate) fn context() -> ToolContext {
    context_builder().build()
}

/// A tool that counts its calls and gives back its arguments.
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

    pub(crate) fn needs(mut self, permissions: impl IntoIterator<Item = Permission>) -> Self {
        self.permissions = permissions.into_iter().collect();
        self
    }

    #[cfg_attr(
        not(feature = "schema"),
        expect(dead_code, reason = "used by tests of the feature `schema`")
    )]
    pub(crate) fn parameters(mut self, parameters: Value) -> Self {
        self.parameters = parameters;
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
        "Gives back its arguments."
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

/// An approver that answers from a list, in order, and keeps what it was asked.
#[derive(Default)]
pub(crate) struct Scripted {
    answers: Mutex<Vec<Approval>>,
    asked: Mutex<Vec<ApprovalRequest>>,
}

impl Scripted {
    pub(crate) fn new(answers: impl IntoIterator<Item = Approval>) -> Arc<Self> {
        let mut answers: Vec<_> = answers.into_iter().collect();
        answers.reverse();
        Arc::new(Self {
            answers: Mutex::new(answers),
            asked: Mutex::default(),
        })
    }

    pub(crate) fn asked(&self) -> Vec<ApprovalRequest> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Approver for Scripted {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        self.asked.lock().unwrap().push(request.clone());
        self.answers
            .lock()
            .unwrap()
            .pop()
            .expect("asked more often than the test has answers")
    }
}

pub(crate) fn registry<T: BaseTool + 'static>(tools: impl IntoIterator<Item = T>) -> ToolRegistry {
    let registry = ToolRegistry::new();
    registry.register_all(tools).unwrap();
    registry
}

/// An executor of these tools, before it is built.
pub(crate) fn executor_of<T: BaseTool + 'static>(tools: impl IntoIterator<Item = T>) -> ExecutorBuilder {
    registry(tools).executor(context())
}

pub(crate) fn call(id: &str, name: &str, arguments: &Value) -> ToolCall {
    ToolCall::function(id, name, arguments.to_string())
}

pub(crate) fn work(id: &str, name: &str, arguments: &Value) -> ToolWork {
    ToolWork::new(call(id, name, arguments))
}

/// Runs one call to its outcome.
pub(crate) async fn settle(executor: &RegistryExecutor, name: &str, arguments: Value) -> ToolOutcome {
    executor.settle(work("call", name, &arguments)).await.0
}

/// Goes on with a call after its question was answered.
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

/// Runs a batch; gives back all reports, as they came.
pub(crate) async fn reports(executor: &RegistryExecutor, work: Vec<ToolWork>) -> Vec<ToolReport> {
    executor.execute(work).collect().await
}

#[track_caller]
pub(crate) fn text(outcome: &ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Done(result) if !result.is_error => result.content.text().into_owned(),
        other => panic!("not a good result: {other:?}"),
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
        ToolOutcome::Ask(question) => question,
        other => panic!("not a question: {other:?}"),
    }
}

/// As a store would keep it and give it back.
pub(crate) fn saved(question: &Question) -> Question {
    serde_json::from_str(&serde_json::to_string(question).unwrap()).unwrap()
}
