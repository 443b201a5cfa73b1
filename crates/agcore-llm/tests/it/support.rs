//! What several topics share: an executor of closures, short makers.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_chat::{
    AssistantMessage, StreamEvent, Tool, ToolCall, ToolDefinition, ToolExecutor, ToolOutcome, ToolReport, ToolReports,
    ToolWork,
};
use agcore_llm::{Call, LlmProvider, ReplyItem, ReplyStream};
use futures_util::{StreamExt, stream};
use serde_json::json;

type Run = Arc<dyn Fn(&ToolWork) -> ToolOutcome + Send + Sync>;

/// An executor whose tools are one closure.
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

    /// Tools that give their arguments back.
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
            let (call_id, outcome) = (work.call.id.as_str().into(), run(&work));
            ToolReport::Settled {
                call_id,
                outcome,
                duration: Duration::from_millis(7),
            }
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

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::function(id, name, arguments)
}

pub(crate) fn assistant(calls: impl IntoIterator<Item = ToolCall>) -> AssistantMessage {
    AssistantMessage::from_blocks(calls.into_iter().map(Into::into))
}

/// The name of an event, topic and kind: `tool.started`.
pub(crate) fn event_name(event: &StreamEvent) -> String {
    let kind = serde_json::to_value(&event.kind).unwrap();
    let (topic, inner) = kind.as_object().unwrap().iter().next().unwrap();
    let name = inner.as_object().and_then(|inner| inner.keys().next().cloned());
    format!(
        "{topic}.{}",
        name.or_else(|| inner.as_str().map(str::to_owned)).unwrap()
    )
}

/// Gives these items, attempt by attempt, and notes the deadline that each was given.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawProvider {
    attempts: Arc<Mutex<VecDeque<Vec<ReplyItem>>>>,
    deadlines: Arc<Mutex<Vec<Option<Duration>>>>,
}

impl RawProvider {
    pub(crate) fn new(attempts: impl IntoIterator<Item = Vec<ReplyItem>>) -> Self {
        Self {
            attempts: Arc::new(Mutex::new(attempts.into_iter().collect())),
            ..Self::default()
        }
    }

    pub(crate) fn deadlines(&self) -> Vec<Option<Duration>> {
        self.deadlines.lock().unwrap().clone()
    }
}

impl LlmProvider for RawProvider {
    fn open(&self, call: Call) -> ReplyStream {
        self.deadlines.lock().unwrap().push(call.deadline);
        ReplyStream::new(stream::iter(
            self.attempts.lock().unwrap().pop_front().unwrap_or_default(),
        ))
    }
}
