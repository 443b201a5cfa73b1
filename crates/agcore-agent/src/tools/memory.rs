//! [`SessionMemoryTools`]: the tools with which a model writes the memory of its session.

use agcore_tools::{
    BaseTool, Registration, ToolContext, ToolError, ToolRegistry,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;

use crate::{agent::CATEGORY, session_data::SessionMemory, tool_source::ToolSource, turn::TurnScope};

/// The tools `set_note` and `remove_note`, with which a model writes the [memory](crate::SessionMemory) of its session: facts that
/// should outlive compactions of the conversation, such as the number of an order. They change nothing else, so they need no
/// permissions.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_agent::{SessionMemoryTools, agent};
/// use agcore_chat::ToolCall;
/// use agcore_memory::InMemoryStore;
/// use agcore_testkit::{clock::ManualClock, scripted::{ScriptStep, ScriptedProvider}};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let model = ScriptedProvider::new([
/// #     ScriptStep::calls([ToolCall::function("call_1", "set_note", r#"{"key": "order", "value": "17"}"#)]),
/// #     ScriptStep::text("I noted your order."),
/// # ]);
/// let store = Arc::new(InMemoryStore::new(Arc::new(ManualClock::new())));
/// let session = agent(model).with_session_memory(store).with_tools(SessionMemoryTools::new()).session()?;
/// session.turn("My order is number 17.").await?;
/// assert_eq!(session.memory()?.get("order").await?.as_deref(), Some("17"));
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SessionMemoryTools;

impl SessionMemoryTools {
    /// Creates the tools.
    pub fn new() -> Self {
        Self
    }
}

impl ToolSource for SessionMemoryTools {
    fn add_to(self, registry: &mut ToolRegistry) -> Result<(), ToolError> {
        registry.register(of_turn(typed(
            "set_note",
            "Notes a fact for the rest of this conversation, in place of an earlier note with the same key. All notes are shown to \
             you, also when older messages are no longer.",
            set,
        )))?;
        registry.register(of_turn(typed(
            "remove_note",
            "Removes a note that is no longer true.",
            remove,
        )))
    }
}

/// Registers a tool that needs to know its turn.
fn of_turn(tool: impl BaseTool + 'static) -> Registration {
    Registration::new(tool).with_category(CATEGORY)
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Note {
    /// A short name of the fact, such as `order`.
    key: String,
    /// The fact.
    value: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Key {
    /// The name of the fact.
    key: String,
}

async fn set(note: Note, context: ToolContext) -> Result<String, ToolError> {
    let written = memory(&context)?.set(&note.key, note.value).await;
    written.map_err(|error| ToolError::failed(error.to_string()))?;
    Ok(format!("noted {}", note.key))
}

async fn remove(note: Key, context: ToolContext) -> Result<String, ToolError> {
    let removed = memory(&context)?.remove(&note.key).await;
    match removed.map_err(|error| ToolError::failed(error.to_string()))? {
        true => Ok(format!("removed {}", note.key)),
        false => Err(ToolError::failed(format!("there is no note `{}`", note.key))),
    }
}

fn memory(context: &ToolContext) -> Result<SessionMemory, ToolError> {
    let scope = context.extension::<TurnScope>();
    let memory = scope.and_then(|scope| scope.memory.clone());
    memory.ok_or_else(|| ToolError::failed("this agent has no store for the memory of its sessions"))
}
