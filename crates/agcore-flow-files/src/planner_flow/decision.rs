//! [`Decision`]: what the planner does next. [`DecisionCheck`]: whether it can.

use agcore_chat::{SchemaCheck, SchemaViolation};
use agcore_session::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    phase,
    state_tool::StateTool,
    tools::{Tools, check_arguments},
};
use crate::{
    planner::RuntimeState,
    todo::{Todo, TodoList, TodoStatus},
};

/// The largest number of todos of a turn.
const MAX_TODOS: usize = 10_000;

/// The largest number of retries that a planner can allow a todo.
const MAX_RETRY: u32 = 10;

/// The largest number of calls of an action.
const MAX_CALLS: usize = 64;

/// The next action of the planner.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Decision {
    pub(super) summary: String,
    /// The name of a tool, or `finish`.
    pub(super) next: String,
    /// The arguments of the calls of the tool.
    #[serde(default)]
    pub(super) calls: Vec<Value>,
    /// The todo that the action carries out.
    #[serde(default)]
    pub(super) todo: Option<String>,
    #[serde(default)]
    pub(super) new_todos: Vec<NewTodo>,
    #[serde(default)]
    pub(super) skipped_todos: Vec<String>,
    #[serde(default)]
    pub(super) goals: Vec<String>,
    /// The output tools, in order, when the planner finishes.
    #[serde(default)]
    pub(super) outputs: Vec<String>,
}

/// A todo as the planner describes it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct NewTodo {
    id: String,
    task: String,
    #[serde(default)]
    dependencies: Vec<String>,
    #[serde(default)]
    suggested_tools: Vec<String>,
    priority: Option<i32>,
    max_retry: Option<u32>,
    #[serde(default)]
    execution_tips: String,
    #[serde(default)]
    success_criteria: String,
}

impl Decision {
    /// Returns the schema of decisions with these tools.
    pub(super) fn schema(tools: &Tools) -> Value {
        let next: Vec<&str> = tools.calls().map(StateTool::name).chain([phase::FINISH]).collect();
        let outputs: Vec<&str> = tools.outputs().map(StateTool::name).chain([phase::OUTPUT]).collect();
        let texts = json!({"type": "array", "items": {"type": "string"}});
        json!({
            "title": "PlannerDecision",
            "type": "object",
            "properties": {
                "summary": {"type": "string"},
                "next": {"type": "string", "enum": next},
                "calls": {"type": "array", "items": {"type": "object"}, "maxItems": MAX_CALLS},
                "todo": {"type": ["string", "null"]},
                "new_todos": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "id": {"type": "string"},
                            "task": {"type": "string"},
                            "dependencies": texts,
                            "suggested_tools": texts,
                            "priority": {"type": "integer"},
                            "max_retry": {"type": "integer", "minimum": 0, "maximum": MAX_RETRY},
                            "execution_tips": {"type": "string"},
                            "success_criteria": {"type": "string"},
                        },
                        "required": ["id", "task"],
                        "additionalProperties": false,
                    },
                },
                "skipped_todos": {"type": "array", "items": {"type": "string"}},
                "goals": {"type": "array", "items": {"type": "string"}},
                "outputs": {"type": "array", "items": {"type": "string", "enum": outputs}},
            },
            "required": ["summary", "next", "calls"],
            "additionalProperties": false,
        })
    }

    /// Applies the decision to the goals and todos.
    pub(super) fn apply(&self, state: &mut RuntimeState, now: Timestamp) -> Result<(), String> {
        let turn = state.turn();
        let mut todos = state.todos.get(turn).cloned().unwrap_or_default();
        let new: Vec<Todo> = self.new_todos.iter().map(NewTodo::to_todo).collect();
        if todos.todos().len() + new.len() > MAX_TODOS {
            return Err(format!("there would be more than {MAX_TODOS} todos; plan larger ones"));
        }
        if !new.is_empty() {
            todos.add(new).map_err(|error| error.to_string())?;
        }
        for id in &self.skipped_todos {
            todos.skip(id, now).map_err(|error| error.to_string())?;
        }
        if let Some(id) = &self.todo {
            todos.start(id, now).map_err(|error| error.to_string())?;
        }
        if !todos.todos().is_empty() {
            state.todos.insert(turn, todos);
        }
        if !self.goals.is_empty() {
            state.task_goals.insert(turn, self.goals.clone());
        }
        Ok(())
    }
}

impl NewTodo {
    fn to_todo(&self) -> Todo {
        let mut todo = Todo::new(&self.id, &self.task)
            .with_execution_tips(&self.execution_tips)
            .with_success_criteria(&self.success_criteria);
        todo.dependencies.clone_from(&self.dependencies);
        todo.suggested_tools.clone_from(&self.suggested_tools);
        todo.priority = self.priority.unwrap_or(todo.priority);
        todo.max_retry = self.max_retry.unwrap_or(todo.max_retry).min(MAX_RETRY);
        todo
    }
}

/// Returns the todo that is being carried out.
pub(super) fn processing(todos: &TodoList) -> Option<&Todo> {
    todos.todos().iter().find(|todo| todo.status == TodoStatus::Processing)
}

/// Checks decisions against the tools and the todos, so that the model corrects what cannot be done.
#[derive(Debug, Clone)]
pub(super) struct DecisionCheck {
    pub(super) tools: Tools,
    pub(super) state: RuntimeState,
    pub(super) now: Timestamp,
}

impl DecisionCheck {
    fn calls(&self, decision: &Decision) -> Vec<SchemaViolation> {
        if decision.next == phase::FINISH {
            return Vec::new();
        }
        let Some(tool) = self.tools.calls().find(|tool| tool.name() == decision.next) else {
            let names: Vec<&str> = self.tools.calls().map(StateTool::name).collect();
            let message = format!(
                "there is no tool `{}`; choose `{}` or one of `{}`",
                decision.next,
                phase::FINISH,
                names.join("`, `")
            );
            return vec![SchemaViolation::new("$.next", message)];
        };
        if decision.calls.len() > MAX_CALLS {
            let message = format!("an action has up to {MAX_CALLS} calls; plan the others as a later action");
            return vec![SchemaViolation::new("$.calls", message)];
        }
        let mut violations = Vec::new();
        for (number, arguments) in decision.calls.iter().enumerate() {
            for violation in check_arguments(tool, arguments) {
                let below = violation.path.strip_prefix('$').unwrap_or(&violation.path);
                let path = format!("$.calls[{number}]{below}");
                violations.push(SchemaViolation::new(path, violation.message));
            }
        }
        violations
    }
}

impl SchemaCheck for DecisionCheck {
    fn check(&self, _: &Value, value: &Value) -> Result<(), Vec<SchemaViolation>> {
        // What does not have the form of a decision is reported already.
        let Ok(decision) = Decision::deserialize(value) else {
            return Ok(());
        };
        let mut violations = self.calls(&decision);
        for (at, name) in decision.outputs.iter().enumerate() {
            let is_known = name == phase::OUTPUT || self.tools.outputs().any(|tool| tool.name() == name);
            if !is_known {
                let message = format!("there is no output tool `{name}`");
                violations.push(SchemaViolation::new(format!("$.outputs[{at}]"), message));
            }
        }
        if let Err(problem) = decision.apply(&mut self.state.clone(), self.now) {
            violations.push(SchemaViolation::new("$", problem));
        }
        if violations.is_empty() { Ok(()) } else { Err(violations) }
    }
}
