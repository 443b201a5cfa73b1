//! [`Todo`]: a task that may depend on others.

use agcore_session::Timestamp;
use serde::{Deserialize, Serialize};

/// The priority of a todo that has none of its own.
const DEFAULT_PRIORITY: i32 = 5;

/// The number of retries of a todo that has no limit of its own.
const DEFAULT_MAX_RETRY: u32 = 3;

/// The state of a [`Todo`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TodoStatus {
    /// It has not started, or will be tried again.
    #[default]
    Pending,
    /// It is being carried out.
    Processing,
    /// It is done.
    Completed,
    /// It failed too often, or a todo on which it depends failed.
    Failed,
    /// It is not needed, or depends on a todo that was skipped.
    Skipped,
    /// It was cancelled, or depends on a todo that was cancelled.
    Cancelled,
}

impl TodoStatus {
    /// Returns whether the todo will not change any more.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Pending | Self::Processing)
    }
}

/// An attempt that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TodoAttempt {
    /// The end of the attempt.
    pub timestamp: Timestamp,
    /// The number of the attempt, from 1; 0 if the todo was never tried, because of a todo on which it depends.
    #[serde(default)]
    pub attempt: u32,
    /// The tool that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_used: Option<String>,
    /// Why it failed.
    pub error: String,
    /// The number of retries before the attempt.
    #[serde(default)]
    pub retry_count: u32,
    /// The duration of the attempt in milliseconds.
    #[serde(default)]
    pub execution_time: u64,
}

impl TodoAttempt {
    /// Creates an attempt that ended at a moment with an error. [`TodoList::fail`](super::TodoList::fail) numbers it.
    pub fn new(timestamp: Timestamp, error: impl Into<String>) -> Self {
        Self {
            timestamp,
            attempt: 0,
            tool_used: None,
            error: error.into(),
            retry_count: 0,
            execution_time: 0,
        }
    }

    /// Sets the tool that was used.
    #[must_use]
    pub fn with_tool(mut self, tool: impl Into<String>) -> Self {
        self.tool_used = Some(tool.into());
        self
    }

    /// Sets the duration in milliseconds.
    #[must_use]
    pub fn with_execution_time(mut self, millis: u64) -> Self {
        self.execution_time = millis;
        self
    }
}

/// The details of a completed todo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompletionDetails {
    /// The end of the last attempt.
    pub completed_at: Timestamp,
    /// The tool that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_used: Option<String>,
    /// The duration of the last attempt in milliseconds.
    #[serde(default)]
    pub execution_time: u64,
    /// The result, in words.
    #[serde(default)]
    pub output: String,
}

impl CompletionDetails {
    /// Creates the details of a todo that was completed at a moment with a result.
    pub fn new(completed_at: Timestamp, output: impl Into<String>) -> Self {
        Self {
            completed_at,
            tool_used: None,
            execution_time: 0,
            output: output.into(),
        }
    }

    /// Sets the tool that was used.
    #[must_use]
    pub fn with_tool(mut self, tool: impl Into<String>) -> Self {
        self.tool_used = Some(tool.into());
        self
    }

    /// Sets the duration in milliseconds.
    #[must_use]
    pub fn with_execution_time(mut self, millis: u64) -> Self {
        self.execution_time = millis;
        self
    }
}

/// A task that may depend on others, with the history of its attempts.
///
/// ```
/// use agcore_flow_files::Todo;
///
/// let todo: Todo = serde_json::from_str(r#"{"id": "plant", "task": "Plant the beans", "dependencies": ["dig"]}"#)?;
/// assert_eq!(todo, Todo::new("plant", "Plant the beans").with_dependency("dig"));
/// assert_eq!((todo.priority, todo.max_retry), (5, 3));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Todo {
    /// The id, unique in its list.
    pub id: String,
    /// The task, in words.
    pub task: String,
    /// The state.
    #[serde(default)]
    pub status: TodoStatus,
    /// The ids of the todos that must be completed before.
    #[serde(default)]
    pub dependencies: Vec<String>,
    /// The names of tools that may help.
    #[serde(default)]
    pub suggested_tools: Vec<String>,
    /// The priority; larger is earlier.
    #[serde(default = "default_priority")]
    pub priority: i32,
    /// Hints for carrying it out.
    #[serde(default)]
    pub execution_tips: String,
    /// The conditions that hold when it is done.
    #[serde(default)]
    pub success_criteria: String,
    /// The number of todos on the longest chain of dependants that begins with this todo, itself included. Computed by
    /// [`TodoList`](super::TodoList).
    #[serde(default)]
    pub critical_path_length: u32,
    /// The number of retries so far.
    #[serde(default)]
    pub retry: u32,
    /// The largest number of retries after the first attempt.
    #[serde(default = "default_max_retry")]
    pub max_retry: u32,
    /// The moment before which it is not tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Timestamp>,
    /// The attempts that failed, in their order.
    #[serde(default)]
    pub error_history: Vec<TodoAttempt>,
    /// The details of its completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_details: Option<CompletionDetails>,
}

impl Todo {
    /// Creates a pending todo without dependencies.
    pub fn new(id: impl Into<String>, task: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            task: task.into(),
            status: TodoStatus::Pending,
            dependencies: Vec::new(),
            suggested_tools: Vec::new(),
            priority: DEFAULT_PRIORITY,
            execution_tips: String::new(),
            success_criteria: String::new(),
            critical_path_length: 0,
            retry: 0,
            max_retry: DEFAULT_MAX_RETRY,
            retry_after: None,
            error_history: Vec::new(),
            completion_details: None,
        }
    }

    /// Adds a todo that must be completed before.
    #[must_use]
    pub fn with_dependency(mut self, id: impl Into<String>) -> Self {
        self.dependencies.push(id.into());
        self
    }

    /// Adds a tool that may help.
    #[must_use]
    pub fn with_suggested_tool(mut self, tool: impl Into<String>) -> Self {
        self.suggested_tools.push(tool.into());
        self
    }

    /// Sets the priority; larger is earlier.
    #[must_use]
    pub fn with_priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Sets hints for carrying it out.
    #[must_use]
    pub fn with_execution_tips(mut self, tips: impl Into<String>) -> Self {
        self.execution_tips = tips.into();
        self
    }

    /// Sets what must hold when it is done.
    #[must_use]
    pub fn with_success_criteria(mut self, criteria: impl Into<String>) -> Self {
        self.success_criteria = criteria.into();
        self
    }

    /// Sets the largest number of retries after the first attempt.
    #[must_use]
    pub fn with_max_retry(mut self, retries: u32) -> Self {
        self.max_retry = retries;
        self
    }
}

fn default_priority() -> i32 {
    DEFAULT_PRIORITY
}

fn default_max_retry() -> u32 {
    DEFAULT_MAX_RETRY
}
