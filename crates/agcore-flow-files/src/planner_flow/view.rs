//! [`View`]: the state as the templates of a planner flow see it. What could grow without limit is cut.

use std::collections::BTreeMap;

use agcore_chat::text::clip;
use agcore_session::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    phase,
    state::{PlannerState, answer_of},
};
use crate::{
    planner::{ActionRecord, RuntimeState},
    todo::{Todo, TodoList},
};

/// The longest text of a document, in bytes.
const DOCUMENT_BYTES: usize = 8000;

/// The largest number of rows of a table.
const TABLE_ROWS: usize = 30;

/// The largest number of todos, and of actions.
const MAX_SHOWN: usize = 50;

/// The longest result of an action, in bytes.
const RESULT_BYTES: usize = 4000;

/// The state as templates see it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct View {
    request: String,
    turn: u32,
    history: Vec<Value>,
    pub(super) user_context: String,
    memory: Vec<String>,
    scenario: Option<String>,
    scenarios: BTreeMap<String, String>,
    goals: Vec<String>,
    output_style: Option<String>,
    output_structure: Value,
    files: Vec<Value>,
    tables: Vec<Value>,
    other_files: Vec<Value>,
    todos: Vec<Value>,
    actions: Vec<Value>,
    pub(super) tools: Value,
    variables: Map<String, Value>,
}

impl View {
    pub(super) fn of(state: &PlannerState, scenarios: &BTreeMap<String, String>, now: Timestamp) -> Self {
        let runtime = &state.runtime;
        let turn = runtime.turn();
        let files = &runtime.preprocessed_files;
        let actions = runtime.action_history().get(turn).map_or(&[][..], Vec::as_slice);
        Self {
            request: runtime.prompt().unwrap_or_default().to_owned(),
            turn,
            history: history(runtime),
            user_context: String::new(),
            memory: runtime.memory_hits.iter().map(|hit| hit.content.clone()).collect(),
            scenario: runtime.scenario.clone(),
            scenarios: scenarios.clone(),
            goals: runtime.task_goals.get(turn).cloned().unwrap_or_default(),
            output_style: runtime.output_style.clone(),
            output_structure: json!(runtime.output_structure),
            files: files
                .documents
                .iter()
                .map(|file| json!({"name": file.name, "title": file.title, "text": clip(&file.text(), DOCUMENT_BYTES)}))
                .collect(),
            tables: files.tables.iter().map(table).collect(),
            other_files: files
                .other_files
                .iter()
                .map(|other| {
                    let problem = other.problem.as_ref().map(ToString::to_string);
                    json!({"name": other.file.name, "media_type": other.media_type, "problem": problem})
                })
                .collect(),
            todos: runtime
                .todos
                .get(turn)
                .map(|todos| shown_todos(todos, now))
                .unwrap_or_default(),
            actions: shown_actions(actions),
            tools: Value::Null,
            variables: state.variables.clone(),
        }
    }
}

/// Returns the requests of earlier turns with what was answered.
fn history(runtime: &RuntimeState) -> Vec<Value> {
    let earlier = runtime.prompts.iter().filter(|(turn, _)| *turn < runtime.turn());
    let shown = earlier.map(|(turn, request)| {
        let actions = runtime.action_history().get(turn);
        let answer = actions.and_then(|actions| answer_of(actions)).unwrap_or_default();
        json!({"request": request, "answer": clip(&answer, RESULT_BYTES)})
    });
    let mut shown: Vec<Value> = shown.collect();
    shown.drain(..shown.len().saturating_sub(MAX_SHOWN));
    shown
}

fn table(table: &agcore_files::Table) -> Value {
    let mut first = table.clone();
    first.rows.truncate(TABLE_ROWS);
    json!({
        "name": table.name,
        "sheet": table.sheet,
        "headings": table.headings,
        "caption": table.caption,
        "columns": table.columns,
        "rows": table.rows.len(),
        "text": clip(&first.to_markdown(), DOCUMENT_BYTES),
    })
}

/// Returns the todos that are ready, the most urgent first, and then the others.
fn shown_todos(todos: &TodoList, now: Timestamp) -> Vec<Value> {
    let ready: Vec<&Todo> = todos.ready(now).take(MAX_SHOWN).collect();
    let is_ready = |todo: &Todo| ready.iter().any(|other| other.id == todo.id);
    let others = todos.todos().iter().filter(|todo| !is_ready(todo));
    let all = ready.iter().copied().chain(others).take(MAX_SHOWN);
    all.map(|todo| {
        json!({
            "id": todo.id,
            "task": todo.task,
            "status": todo.status,
            "is_ready": is_ready(todo),
            "dependencies": todo.dependencies,
            "suggested_tools": todo.suggested_tools,
            "priority": todo.priority,
            "critical_path_length": todo.critical_path_length,
            "execution_tips": todo.execution_tips,
            "success_criteria": todo.success_criteria,
            "retry_after": todo.retry_after,
            "errors": todo.error_history.iter().map(|attempt| &attempt.error).collect::<Vec<_>>(),
        })
    })
    .collect()
}

/// Returns the newest actions, and the important ones among those before.
fn shown_actions(actions: &[ActionRecord]) -> Vec<Value> {
    let old = actions.len().saturating_sub(MAX_SHOWN);
    // Templates have variables for what the nodes before the loop found, and the end of the loop found nothing.
    let is_shown = |(number, action): &(usize, &ActionRecord)| {
        let is_important = action.context.as_ref().is_some_and(|context| context.important);
        !phase::UNSEEN.contains(&action.node.as_str()) && (*number >= old || is_important)
    };
    let shown = actions.iter().enumerate().filter(is_shown).map(|(_, action)| {
        let result = match &action.result {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        json!({
            "node": action.node,
            "preparation": clip(&action.preparation, RESULT_BYTES),
            "summary": action.summary,
            "result": clip(&result, RESULT_BYTES),
            "relevance": action.relevance,
        })
    });
    shown.collect()
}
