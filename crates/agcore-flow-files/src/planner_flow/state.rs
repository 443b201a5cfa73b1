//! [`PlannerState`]: the state of a planner flow.

use agcore_files::OriginFile;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::phase;
use crate::planner::{ActionRecord, OutputPart, RuntimeState, RuntimeStateError};

/// The state of a planner flow: a [`RuntimeState`], and to whom the conversation belongs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlannerState {
    /// The id of the conversation whose earlier turns are inherited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The id of the user, for the source of the user context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The values of the variables that the file declares.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub variables: Map<String, Value>,
    /// Everything that is known, planned and done.
    pub runtime: RuntimeState,
}

impl PlannerState {
    /// Creates the state of a run that begins with a request.
    pub fn new(request: impl Into<String>) -> Self {
        let mut runtime = RuntimeState::new();
        runtime.begin_turn(request);
        Self {
            conversation: None,
            user: None,
            variables: Map::new(),
            runtime,
        }
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

    /// Sets the value of a variable.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Adds a file of the user.
    #[must_use]
    pub fn with_file(mut self, file: OriginFile) -> Self {
        self.runtime.origin_files.push(file);
        self
    }

    /// Adds a message of the conversation by the id under which a store has it.
    #[must_use]
    pub fn with_message(mut self, id: impl Into<String>) -> Self {
        self.runtime.chat_history.push(id.into());
        self
    }

    /// Sets the style of the output, in words.
    #[must_use]
    pub fn with_output_style(mut self, style: impl Into<String>) -> Self {
        self.runtime.output_style = Some(style.into());
        self
    }

    /// Adds a part of the output.
    #[must_use]
    pub fn with_output_part(mut self, part: OutputPart) -> Self {
        self.runtime.output_structure.push(part);
        self
    }

    /// Returns the output of this turn: the text of the task `output`, or what the output tools returned, one after the other.
    pub fn answer(&self) -> Option<String> {
        let actions = self.runtime.action_history().get(self.runtime.turn())?;
        answer_of(actions)
    }

    /// Converts a stored state of an older version.
    pub(super) fn upgraded(mut state: Value) -> Result<Value, String> {
        let failed = |error: &dyn std::error::Error| error.to_string();
        let runtime = RuntimeState::from_json(state["runtime"].take()).map_err(|error| failed(&error))?;
        state["runtime"] = serde_json::to_value(runtime).map_err(|error| failed(&error))?;
        Ok(state)
    }

    pub(super) fn record(&mut self, record: ActionRecord) -> Result<String, RuntimeStateError> {
        self.runtime.record(record)?;
        Ok(self.runtime.next().first().cloned().unwrap_or_default())
    }
}

/// Returns the results of the output tools among the actions of a turn.
pub(super) fn answer_of(actions: &[ActionRecord]) -> Option<String> {
    let finish = actions.iter().rposition(|action| action.node == phase::FINISH)?;
    let outputs = actions.get(finish + 1..).unwrap_or_default();
    let texts = outputs
        .iter()
        .filter(|action| action.node != phase::ARCHIVE)
        .map(|action| match &action.result {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}
