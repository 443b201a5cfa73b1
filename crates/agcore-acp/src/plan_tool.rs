//! [`plan_tool`]: the tool with which a model shows its plan in the editor.

use agcore_tools::{Registration, ToolError, tool};
use agent_client_protocol::v1::schema::{Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// The name of the tool.
pub(crate) const NAME: &str = "update_plan";

/// The largest number of entries.
const MAX_ENTRIES: usize = 100;

/// The state of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EntryStatus {
    Pending,
    InProgress,
    Completed,
}

/// An entry of a plan.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct Entry {
    /// The work to be done, in one line.
    content: String,
    /// The state.
    status: EntryStatus,
}

/// Returns the tool `update_plan`. Its calls are shown as the plan of the session, in place of a call.
///
/// ```
/// let tools = agcore_tools::ToolRegistry::new();
/// tools.register(agcore_acp::plan_tool())?;
/// assert!(tools.get("update_plan").is_some());
/// # Ok::<(), agcore_tools::ToolError>(())
/// ```
pub fn plan_tool() -> Registration {
    update_plan_tool()
}

/// Shows the user a plan for work with several steps. Send all entries each time: their order and states replace those of the last
/// call. Keep one entry in progress while you work on it.
#[tool(permissions(read), read_only, idempotent)]
async fn update_plan(
    /// All entries of the plan, in order.
    entries: Vec<Entry>,
) -> Result<String, ToolError> {
    if entries.len() > MAX_ENTRIES {
        return Err(ToolError::failed(format!("a plan has at most {MAX_ENTRIES} entries")));
    }
    let done = entries.iter().filter(|entry| entry.status == EntryStatus::Completed);
    Ok(format!(
        "The plan is shown: {} of {} done.",
        done.count(),
        entries.len()
    ))
}

/// Returns the plan of a call, or `None` if its arguments are invalid.
pub(crate) fn plan_of(arguments: &Value) -> Option<Plan> {
    let entries: Vec<Entry> = serde_json::from_value(arguments.get("entries")?.clone()).ok()?;
    (entries.len() <= MAX_ENTRIES).then(|| Plan::new(entries.into_iter().map(shown).collect()))
}

fn shown(entry: Entry) -> PlanEntry {
    let status = match entry.status {
        EntryStatus::Pending => PlanEntryStatus::Pending,
        EntryStatus::InProgress => PlanEntryStatus::InProgress,
        EntryStatus::Completed => PlanEntryStatus::Completed,
    };
    PlanEntry::new(entry.content, PlanEntryPriority::Medium, status)
}
