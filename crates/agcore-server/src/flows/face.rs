//! [`Face`]: what users see of a flow.

use agcore_agui::{TextMessage, TextStatus};
use agcore_flow::{END, Record};
use agcore_flow_files::{FlowFile, FlowKind, NodeTemplate, NodeWork, TaskOutput};
use agcore_session::Visibility;
use serde_json::Value;

/// The part of a flow that users see: the answer, and calls of tools with their results. The results of its nodes are for audits.
#[derive(Debug, Clone)]
pub(crate) struct Face {
    /// The kind of the file, if there is one.
    kind: Option<FlowKind>,
    /// The nodes whose text is the answer, and is shown while it is written.
    streaming: Vec<String>,
    /// Whether the request and the answer are part of the conversation. Otherwise a job runs without a user.
    is_chat: bool,
}

/// A text that users see after a node has finished.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// Whether the text is the answer to the request.
    pub(crate) is_answer: bool,
    pub(crate) actions: Vec<Value>,
}

/// The status with which the work that an answer reports on has ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct WorkStatus {
    status: TextStatus,
    error: Option<String>,
}

impl Face {
    /// Returns what users see of the flow of a file. Of another flow, they see the answer at its end.
    pub(crate) fn new(file: Option<&FlowFile>, is_chat: bool) -> Self {
        let Some(file) = file else {
            return Self {
                kind: None,
                streaming: Vec::new(),
                is_chat,
            };
        };
        let is_text = |task: &str| {
            let output = file.tasks.get(task).map(|task| &task.output);
            matches!(output, Some(TaskOutput::Text | TaskOutput::Standard))
        };
        let streaming = match file.kind {
            FlowKind::Router => ["worker", "memory"]
                .into_iter()
                .filter(|task| is_text(task))
                .map(str::to_owned)
                .collect(),
            FlowKind::Staged => {
                let report = file.tasks.get("result_reporting").map(|task| &task.output);
                let is_streamed = report == Some(&TaskOutput::Text);
                is_streamed.then(|| "result_reporting".to_owned()).into_iter().collect()
            }
            // Only a node that nothing follows writes the answer for sure.
            FlowKind::Graph => {
                let is_streamed = |node: &&NodeTemplate| match &node.work {
                    NodeWork::Task(task) => is_text(task) && is_last(file, &node.name),
                    _ => false,
                };
                file.nodes
                    .iter()
                    .filter(is_streamed)
                    .map(|node| node.name.clone())
                    .collect()
            }
            // The output may be an object of parts.
            _ => Vec::new(),
        };
        Self {
            kind: Some(file.kind),
            streaming,
            is_chat,
        }
    }

    /// Returns the name of a node as a step.
    pub(crate) fn step<'a>(&self, node: &'a str) -> &'a str {
        match (self.kind, node) {
            (Some(FlowKind::Staged), "intent_recognition") => "intent",
            (Some(FlowKind::Staged), "task_execution") => "execution",
            (Some(FlowKind::Staged), "result_reporting") => "organization",
            _ => node,
        }
    }

    /// Returns whether the text of a node is shown while it is written.
    pub(crate) fn streams(&self, node: &str) -> bool {
        self.streaming.iter().any(|name| name == node)
    }

    /// Returns the text that users see after a node has finished.
    pub(crate) fn shown(&self, record: &Record) -> Option<Shown> {
        let data = record.data.as_ref()?;
        let member = |name: &str| data.get(name).and_then(Value::as_str);
        let direct = || member("assistant_text").filter(|_| member("route") == Some("DIRECT_EXECUTION"));
        let text = match (self.kind?, &*record.node) {
            (FlowKind::Router, "router") | (FlowKind::Staged, "intent_recognition") => direct()?.to_owned(),
            (FlowKind::Router, "worker" | "memory") => text_of(data),
            (FlowKind::Staged, "result_reporting") => member("assistant_text")?.to_owned(),
            (FlowKind::Planner, "output") => member("result")?.to_owned(),
            (FlowKind::Graph, node) if self.streams(node) => text_of(data),
            _ => return None,
        };
        let actions = data.pointer("/response_metadata/suggested_actions");
        Some(Shown {
            text,
            is_answer: record.node != "memory" || self.kind != Some(FlowKind::Router),
            actions: actions.and_then(Value::as_array).cloned().unwrap_or_default(),
        })
    }

    /// Returns how the work of a node has ended, if the answer reports on it.
    pub(crate) fn work_status(&self, record: &Record) -> Option<WorkStatus> {
        if (self.kind, &*record.node) != (Some(FlowKind::Staged), "task_execution") {
            return None;
        }
        let data = record.data.as_ref()?;
        let status = match data.get("status").and_then(Value::as_str)? {
            "PARTIAL" => TextStatus::PartialSuccess,
            "FAILED" => TextStatus::Failed,
            _ => TextStatus::Success,
        };
        let error = data.get("error_message").and_then(Value::as_str);
        Some(WorkStatus {
            status,
            error: error.map(str::to_owned),
        })
    }

    /// Returns where the request is visible.
    pub(crate) fn request_visibility(&self) -> Visibility {
        match self.is_chat {
            true => Visibility::EVERYWHERE,
            false => Visibility::NOWHERE,
        }
    }

    /// Returns where the answer is visible, and calls of tools are.
    pub(crate) fn answer_visibility(&self) -> Visibility {
        match self.is_chat {
            true => Visibility::EVERYWHERE,
            false => Visibility::HISTORY,
        }
    }
}

impl WorkStatus {
    /// Adds the status to the answer.
    pub(crate) fn add_to(&self, mut message: TextMessage) -> TextMessage {
        if let Some(error) = &self.error {
            message = message.with_error("execution_failed", error.as_str());
        }
        message.with_status(self.status)
    }
}

/// Returns a result as a text.
fn text_of(data: &Value) -> String {
    data.as_str().map_or_else(|| data.to_string(), str::to_owned)
}

/// Returns whether a node of a graph has one way to go, the end.
fn is_last(file: &FlowFile, node: &str) -> bool {
    let mut edges = file.edges.iter().filter(|edge| edge.from == node);
    let only = edges.next();
    only.is_some_and(|edge| edge.route.is_none() && edge.join.is_none() && edge.to.iter().all(|to| to == END))
        && edges.next().is_none()
}
