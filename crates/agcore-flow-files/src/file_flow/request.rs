//! [`FlowRequest`]: the beginning of a run of any kind. [`FlowResult`]: its end.

use agcore_files::OriginFile;
use agcore_flow::{Interrupt, SavedRun};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{planner::OutputPart, router::Job};

/// The beginning of a run of a [`FileFlow`](crate::FileFlow). What the kind of the flow does not use is ignored.
///
/// ```
/// use agcore_flow_files::FlowRequest;
///
/// let request: FlowRequest = serde_json::from_str(r#"{"request": "Write about tea", "variables": {"tone": "calm"}}"#)?;
/// assert_eq!(request, FlowRequest::new("Write about tea").with_variable("tone", "calm"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FlowRequest {
    /// The request of the user.
    pub request: String,
    /// The values of the variables that the file declares.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub variables: Map<String, Value>,
    /// The id of the conversation to which the request belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The id of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The configuration of a run without a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// The files of the user, for planner flows. They are read from the storages of the flow: check files that others name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<OriginFile>,
    /// The ids under which a store has the messages of the conversation that no earlier turn knows, for planner flows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// The style of the output in words, for planner flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_style: Option<String>,
    /// The parts of the output, for planner flows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_structure: Vec<OutputPart>,
}

impl FlowRequest {
    /// Creates a request.
    pub fn new(request: impl Into<String>) -> Self {
        Self {
            request: request.into(),
            ..Self::default()
        }
    }

    /// Sets the value of a variable.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Sets the conversation to which the request belongs.
    #[must_use]
    pub fn with_conversation(mut self, id: impl Into<String>) -> Self {
        self.conversation = Some(id.into());
        self
    }

    /// Sets the user.
    #[must_use]
    pub fn with_user(mut self, id: impl Into<String>) -> Self {
        self.user = Some(id.into());
        self
    }

    /// Makes this a run without a user.
    #[must_use]
    pub fn with_job(mut self, job: Job) -> Self {
        self.job = Some(job);
        self
    }

    /// Adds a file of the user.
    #[must_use]
    pub fn with_file(mut self, file: OriginFile) -> Self {
        self.files.push(file);
        self
    }

    /// Adds a message of the conversation by the id under which a store has it.
    #[must_use]
    pub fn with_message(mut self, id: impl Into<String>) -> Self {
        self.messages.push(id.into());
        self
    }

    /// Sets the style of the output, in words.
    #[must_use]
    pub fn with_output_style(mut self, style: impl Into<String>) -> Self {
        self.output_style = Some(style.into());
        self
    }

    /// Adds a part of the output.
    #[must_use]
    pub fn with_output_part(mut self, part: OutputPart) -> Self {
        self.output_structure.push(part);
        self
    }
}

/// The end of a run of a [`FileFlow`](crate::FileFlow) that did not fail.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FlowResult {
    /// The text for the user; `None` if the run waits for people.
    pub answer: Option<String>,
    /// The state, in the form of the kind of the flow; `null` if the run waits for people.
    pub state: Value,
    /// The open questions.
    pub interrupts: Vec<Interrupt>,
    /// The run as data, if it waits for people.
    #[serde(skip)]
    pub saved: Option<SavedRun>,
}

impl FlowResult {
    pub(super) fn finished(answer: Option<String>, state: Value) -> Self {
        Self {
            answer,
            state,
            interrupts: Vec::new(),
            saved: None,
        }
    }

    pub(super) fn suspended(interrupts: Vec<Interrupt>, saved: SavedRun) -> Self {
        Self {
            answer: None,
            state: Value::Null,
            interrupts,
            saved: Some(saved),
        }
    }

    /// Returns whether the run waits for people.
    pub fn is_suspended(&self) -> bool {
        self.saved.is_some()
    }
}
