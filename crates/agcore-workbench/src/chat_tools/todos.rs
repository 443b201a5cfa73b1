//! `update_todos`: keeps a list of steps, which the user sees.

use agcore::tools::{Registration, ToolContext, ToolError, ToolOutput, tool};
use agcore_terminal::render::{TODOS, todo_count};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The largest number of todos.
const MAX_TODOS: usize = 50;

/// The longest text of a todo, in characters.
const MAX_CHARACTERS: usize = 300;

/// The state of a todo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}

/// A step of the work.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Todo {
    /// The step, in one short line.
    content: String,
    /// The state.
    status: TodoStatus,
}

/// Creates the tool.
pub(super) fn tool() -> Registration {
    update_todos_tool()
}

/// Keeps the list of steps of your work, which the user sees. Send all steps each time, in order: they replace the list. Use it
/// for work with three or more steps, keep one step in progress while you work on it, and mark it as completed as soon as it is
/// done. An empty list removes it.
#[tool(permissions(read), read_only, idempotent)]
#[serde(deny_unknown_fields)]
async fn update_todos(
    /// All steps.
    todos: Vec<Todo>,
    context: ToolContext,
) -> Result<ToolOutput, ToolError> {
    let todos = checked(todos)?;
    let list = serde_json::to_value(&todos)?;
    let session = context
        .tool_session()
        .ok_or_else(|| ToolError::failed("the list cannot be kept: there is no session"))?;
    session.set_value(TODOS, Some(list.clone()).filter(|_| !todos.is_empty()));
    Ok(ToolOutput::text(summary(&list)).with_metadata(json!({ TODOS: list })))
}

/// Returns the todos without white space around their texts.
///
/// # Errors
/// When there are too many, or a text is empty or too long.
fn checked(mut todos: Vec<Todo>) -> Result<Vec<Todo>, ToolError> {
    if todos.len() > MAX_TODOS {
        return Err(ToolError::failed(format!(
            "the list was not changed: it has {} todos, and at most {MAX_TODOS} are possible; combine some of them",
            todos.len()
        )));
    }
    for (number, todo) in (1..).zip(&mut todos) {
        let text = todo.content.split_whitespace().collect::<Vec<_>>().join(" ");
        let count = text.chars().count();
        if count == 0 || count > MAX_CHARACTERS {
            return Err(ToolError::failed(format!(
                "the list was not changed: todo {number} has {count} characters; write 1 to {MAX_CHARACTERS}"
            )));
        }
        todo.content = text;
    }
    Ok(todos)
}

/// Describes the list for the model.
fn summary(list: &Value) -> String {
    match todo_count(list) {
        Some(count) => format!("The list is kept: {count}."),
        None => "The list is empty.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agcore::{
        chat::{SystemClock, ToolCall, ToolOutcome, ToolWork},
        tools::{ToolRegistry, ToolSession},
    };

    use super::*;

    async fn call(session: &ToolSession, arguments: Value) -> (bool, String) {
        let tools = ToolRegistry::new();
        tools.register(tool()).unwrap();
        let context = ToolContext::builder(Arc::new(SystemClock::new())).build();
        let executor = tools.executor(context).with_session(session.clone()).build().unwrap();
        let call = ToolCall::function("c", "update_todos", arguments.to_string());
        match executor.settle(ToolWork::new(call)).await.0 {
            ToolOutcome::Done(result) => (result.is_error, result.content.text().to_string()),
            outcome => panic!("{outcome:?}"),
        }
    }

    #[tokio::test]
    async fn the_list_is_kept_with_the_session_and_replaced() {
        let session = ToolSession::new();
        let todo = |content: &str, status: &str| json!({"content": content, "status": status});
        let first = json!({"todos": [todo(" read\n the file ", "completed"), todo("change it", "in_progress")]});
        assert_eq!(
            call(&session, first).await,
            (false, "The list is kept: 1 of 2 done.".to_owned())
        );
        let kept = json!([todo("read the file", "completed"), todo("change it", "in_progress")]);
        assert_eq!(session.value(TODOS), Some(kept.clone()));
        for (invalid, reason) in [
            (json!({"todos": [todo("", "pending")]}), "todo 1 has 0 characters"),
            (
                json!({"todos": [todo("a", "pending"), todo(&"字".repeat(301), "pending")]}),
                "todo 2 has 301",
            ),
            (json!({"todos": vec![todo("a", "pending"); 51]}), "it has 51 todos"),
            (json!({"todos": [todo("a", "done")]}), "done"),
            (json!({"todos": [{"content": "a"}]}), "status"),
            (json!({}), "todos"),
        ] {
            let (is_error, text) = call(&session, invalid).await;
            assert!(is_error && text.contains(reason), "{text}");
        }
        assert_eq!(session.value(TODOS), Some(kept));
        let empty = call(&session, json!({"todos": []})).await;
        assert_eq!(
            (empty, session.value(TODOS)),
            ((false, "The list is empty.".to_owned()), None)
        );
    }
}
