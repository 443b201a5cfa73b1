//! The members of the results of tasks, by which files describe them. The schemas of the results have the same.

/// The members of the result of the intent recognition.
pub(super) const INTENT: &[&str] = &[
    "route",
    "intent_summary",
    "assistant_text",
    "execution_brief",
    "safety_flags",
];

/// The members of the result of the execution.
pub(super) const EXECUTION: &[&str] = &[
    "status",
    "execution_summary",
    "execution_data",
    "report_brief",
    "error_message",
];

/// The members of the result of the reporting.
pub(super) const ORGANIZATION: &[&str] = &["assistant_text", "response_metadata"];

/// The members of the decision of a router.
pub(super) const ROUTER: &[&str] = &[
    "route",
    "intent_summary",
    "assistant_text",
    "execution_brief",
    "skills",
    "safety_flags",
];

/// The members of the choice of a scenario.
pub(super) const SCENARIO: &[&str] = &[
    "summary",
    "scenario",
    "goals",
    "output_style",
    "output_structure",
    "output_structure.id",
    "output_structure.expected",
    "output_structure.type",
];

/// The members of the decision of a planner.
pub(super) const DECISION: &[&str] = &[
    "summary",
    "next",
    "calls",
    "todo",
    "new_todos",
    "new_todos.id",
    "new_todos.task",
    "new_todos.dependencies",
    "new_todos.suggested_tools",
    "new_todos.priority",
    "new_todos.max_retry",
    "new_todos.execution_tips",
    "new_todos.success_criteria",
    "skipped_todos",
    "goals",
    "outputs",
];

/// The members of a reflection.
pub(super) const REFLECTION: &[&str] = &[
    "summary",
    "relevance",
    "is_todo_done",
    "todo_result",
    "retry_after_seconds",
    "is_finished",
];

/// The members of the notes about a user.
pub(super) const NOTES: &[&str] = &["preferences", "facts"];
