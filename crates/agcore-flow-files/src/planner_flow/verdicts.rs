//! The values that the models of a planner flow return besides decisions: scenarios, reflections, and notes for the memory.

use std::{collections::BTreeMap, time::Duration};

use agcore_session::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::decision::processing;
use crate::{
    planner::{OutputPart, Relevance, RuntimeState},
    todo::{CompletionDetails, TodoAttempt, TodoError},
};

/// The longest time before a todo is tried again, in seconds.
const MAX_RETRY_AFTER: u64 = 3600;

/// The scenario of a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Scenario {
    pub(super) summary: String,
    pub(super) scenario: Option<String>,
    #[serde(default)]
    pub(super) goals: Vec<String>,
    pub(super) output_style: Option<String>,
    #[serde(default)]
    pub(super) output_structure: Vec<OutputPart>,
}

impl Scenario {
    /// Returns the schema of a choice among scenarios.
    pub(super) fn schema(scenarios: &BTreeMap<String, String>) -> Value {
        let names: Vec<Value> = scenarios.keys().map(|name| json!(name)).chain([Value::Null]).collect();
        json!({
            "title": "Scenario",
            "type": "object",
            "properties": {
                "summary": {"type": "string"},
                "scenario": {"enum": names},
                "goals": {"type": "array", "items": {"type": "string"}},
                "output_style": {"type": ["string", "null"]},
                "output_structure": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"id": {"type": "string"}, "expected": {"type": "string"}, "type": {"type": "string"}},
                        "required": ["id", "expected", "type"],
                    },
                },
            },
            "required": ["summary", "scenario", "goals"],
        })
    }

    /// Keeps what was chosen. What the caller of the run has set stays.
    pub(super) fn apply(&self, state: &mut RuntimeState) {
        state.scenario.clone_from(&self.scenario);
        if !self.goals.is_empty() {
            state.task_goals.insert(state.turn(), self.goals.clone());
        }
        if state.output_style.is_none() {
            state.output_style.clone_from(&self.output_style);
        }
        if state.output_structure.is_empty() {
            state.output_structure.clone_from(&self.output_structure);
        }
    }
}

/// The judgement on an action.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Reflection {
    pub(super) summary: String,
    pub(super) relevance: Relevance,
    /// Whether the todo that the action carried out is done; `None` if there is none, or it continues.
    #[serde(default)]
    pub(super) is_todo_done: Option<bool>,
    /// Why the todo failed, or what came of it.
    #[serde(default)]
    pub(super) todo_result: Option<String>,
    /// How long to wait before a todo that failed is tried again.
    #[serde(default)]
    pub(super) retry_after_seconds: Option<u64>,
    /// Whether the goals are reached, so that the output can be made.
    pub(super) is_finished: bool,
}

impl Reflection {
    pub(super) fn schema() -> Value {
        json!({
            "title": "Reflection",
            "type": "object",
            "properties": {
                "summary": {"type": "string"},
                "relevance": {"type": "number", "minimum": 0, "maximum": 1},
                "is_todo_done": {"type": ["boolean", "null"]},
                "todo_result": {"type": ["string", "null"]},
                "retry_after_seconds": {"type": ["integer", "null"], "minimum": 0, "maximum": MAX_RETRY_AFTER},
                "is_finished": {"type": "boolean"},
            },
            "required": ["summary", "relevance", "is_todo_done", "todo_result", "is_finished"],
            "additionalProperties": false,
        })
    }

    /// Completes the todo that is being carried out, or records that the attempt failed.
    pub(super) fn apply(&self, state: &mut RuntimeState, attempt: &Attempt<'_>) -> Result<(), TodoError> {
        let turn = state.turn();
        let Some(mut todos) = state.todos.get(turn).cloned() else {
            return Ok(());
        };
        let Some(id) = processing(&todos).map(|todo| todo.id.clone()) else {
            return Ok(());
        };
        let text = self.todo_result.clone().unwrap_or_else(|| self.summary.clone());
        let Attempt { tool, millis, now } = *attempt;
        match self.is_todo_done {
            Some(true) => {
                let details = CompletionDetails::new(now, text).with_tool(tool);
                todos.complete(&id, details.with_execution_time(millis))?;
            }
            Some(false) => {
                let failed = TodoAttempt::new(now, text).with_tool(tool).with_execution_time(millis);
                let wait = self.retry_after_seconds.map(|seconds| seconds.min(MAX_RETRY_AFTER));
                let after = wait.map(|seconds| now.after(Duration::from_secs(seconds)));
                drop(todos.fail(&id, failed, after)?);
            }
            // The next action continues it.
            None => todos.reset_processing(),
        }
        state.todos.insert(turn, todos);
        Ok(())
    }
}

/// An attempt to carry out a todo.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt<'a> {
    /// The tool that was used.
    pub(super) tool: &'a str,
    /// How long it took.
    pub(super) millis: u64,
    pub(super) now: Timestamp,
}

/// Notes about the user that a conversation contains.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Notes {
    pub(super) preferences: Vec<String>,
    pub(super) facts: Vec<String>,
}

impl Notes {
    pub(super) fn schema() -> Value {
        let texts = json!({"type": "array", "items": {"type": "string"}});
        json!({
            "title": "Notes",
            "type": "object",
            "properties": {"preferences": texts, "facts": texts},
            "required": ["preferences", "facts"],
            "additionalProperties": false,
        })
    }
}
