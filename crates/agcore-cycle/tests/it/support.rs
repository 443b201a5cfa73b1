//! Shared helpers: executors built from closures, and short constructors.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_chat::{
    AssistantMessage, StreamEvent, Tool, ToolCall, ToolDefinition, ToolExecutor, ToolOutcome, ToolReport, ToolReports,
    ToolWork,
};
use agcore_cycle::LlmCycle;
use agcore_llm::{Call, LlmProvider, ReplyItem, ReplyStream};
use agcore_testkit::clock::ManualClock;
use futures_util::{StreamExt, stream};
use serde_json::json;

type Run = Arc<dyn Fn(&ToolWork) -> ToolOutcome + Send + Sync>;

/// An executor that runs a closure for all of its tools.
#[derive(Clone)]
pub(crate) struct FnExecutor {
    names: Vec<&'static str>,
    run: Run,
}

impl FnExecutor {
    pub(crate) fn new(
        names: &[&'static str],
        run: impl Fn(&ToolWork) -> ToolOutcome + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            names: names.to_vec(),
            run: Arc::new(run),
        })
    }

    /// Creates tools that return their arguments.
    pub(crate) fn echo(names: &[&'static str]) -> Arc<Self> {
        Self::new(names, |work| ToolOutcome::done(work.call.raw_input()))
    }
}

impl ToolExecutor for FnExecutor {
    fn definitions(&self) -> Arc<[Tool]> {
        let tool = |name: &&str| Tool::from(ToolDefinition::new(*name, "A tool.", json!({"type": "object"})));
        self.names.iter().map(tool).collect()
    }

    fn execute(&self, work: Vec<ToolWork>) -> ToolReports {
        let run = Arc::clone(&self.run);
        let report = move |work: ToolWork| {
            let (call_id, outcome) = (work.call.id.as_str(), run(&work));
            ToolReport::settled(call_id, outcome, Duration::from_millis(7))
        };
        stream::iter(work).map(report).boxed()
    }
}

/// An executor whose calls never end.
#[derive(Debug)]
pub(crate) struct NeverExecutor;

impl ToolExecutor for NeverExecutor {
    fn definitions(&self) -> Arc<[Tool]> {
        [Tool::from(ToolDefinition::new(
            "wait",
            "Never ends.",
            json!({"type": "object"}),
        ))]
        .into()
    }

    fn execute(&self, _: Vec<ToolWork>) -> ToolReports {
        stream::pending().boxed()
    }
}

pub(crate) fn cycle(provider: &(impl LlmProvider + Clone + 'static)) -> LlmCycle {
    LlmCycle::new(Arc::new(provider.clone()), Arc::new(ManualClock::jumping()))
}

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::function(id, name, arguments)
}

pub(crate) fn assistant(calls: impl IntoIterator<Item = ToolCall>) -> AssistantMessage {
    AssistantMessage::from_blocks(calls.into_iter().map(Into::into))
}

/// Returns the roles and texts of the history, one line each: `user: Hello`.
pub(crate) fn lines(cycle: &LlmCycle) -> Vec<String> {
    let line = |message: &Arc<agcore_chat::Message>| format!("{}: {}", message.role(), message.text());
    cycle.messages().iter().map(line).collect()
}

/// Returns the name of an event, which consists of topic and kind: `tool.started`.
pub(crate) fn event_name(event: &StreamEvent) -> String {
    let kind = serde_json::to_value(&event.kind).unwrap();
    let (topic, inner) = kind.as_object().unwrap().iter().next().unwrap();
    let name = inner.as_object().and_then(|inner| inner.keys().next().cloned());
    format!(
        "{topic}.{}",
        name.or_else(|| inner.as_str().map(str::to_owned)).unwrap()
    )
}

/// A provider that returns these items, attempt by attempt.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawProvider {
    attempts: Arc<Mutex<VecDeque<Vec<ReplyItem>>>>,
}

impl RawProvider {
    pub(crate) fn new(attempts: impl IntoIterator<Item = Vec<ReplyItem>>) -> Self {
        Self {
            attempts: Arc::new(Mutex::new(attempts.into_iter().collect())),
        }
    }
}

impl LlmProvider for RawProvider {
    fn open(&self, _: Call) -> ReplyStream {
        ReplyStream::new(stream::iter(
            self.attempts.lock().unwrap().pop_front().unwrap_or_default(),
        ))
    }
}
