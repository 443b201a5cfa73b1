//! [`LocalState`]: a shared state in the memory of the process.

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::watch;

use super::contract::{SharedState, SharedStateError, StateChange, StateVersion};

/// A [`SharedState`] in the memory of the process, for programs whose interface is in the same process.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_agent::{AgentBuilder, AgentSpec, LocalState, SharedState, StateChange};
/// use agcore_chat::ToolCall;
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let patch = r#"{"version": 1, "patch": [{"op": "add", "path": "/steps/-", "value": "Boil water"}]}"#;
/// # let model = ScriptedProvider::new([
/// #     ScriptStep::calls([ToolCall::function("call_1", "update_state", patch)]),
/// #     ScriptStep::text("I added the first step."),
/// # ]);
/// let recipe = Arc::new(LocalState::new(json!({"title": "Tea", "steps": []})));
///
/// let bundle = AgentBuilder::new().with_provider(model).build()?.with_shared_state(recipe.clone())?;
/// let session = bundle.session("kitchen", AgentSpec::new("cook", "You write recipes."));
/// session.turn("Begin with the water.").await?;
///
/// let changed = recipe.after(1).await;
/// assert_eq!(changed.value, json!({"title": "Tea", "steps": ["Boil water"]}));
/// // The user changes it as well.
/// recipe.write(changed.version, StateChange::new(json!({"title": "Green tea", "steps": []}))).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct LocalState(watch::Sender<StateVersion>);

impl LocalState {
    /// Creates a state with its first value, version 1.
    pub fn new(value: Value) -> Self {
        Self(watch::Sender::new(StateVersion::new(1, value)))
    }

    /// Returns the newest version, once it is a later one than this.
    ///
    /// Cancel safe: a version is not lost, because the next call returns the newest one.
    pub async fn after(&self, version: u64) -> StateVersion {
        let mut versions = self.0.subscribe();
        let changed = versions.wait_for(|newest| newest.version > version).await;
        // The sender is borrowed, so the channel is open.
        changed.map(|newest| newest.clone()).unwrap_or_default()
    }
}

#[async_trait]
impl SharedState for LocalState {
    async fn read(&self) -> Result<StateVersion, SharedStateError> {
        Ok(self.0.borrow().clone())
    }

    async fn write(&self, base: u64, change: StateChange) -> Result<u64, SharedStateError> {
        let mut found = base;
        let is_written = self.0.send_if_modified(|newest| {
            found = newest.version;
            if newest.version != base {
                return false;
            }
            *newest = StateVersion {
                version: base + 1,
                value: change.value,
                change: change.name,
            };
            true
        });
        match is_written {
            true => Ok(base + 1),
            false => Err(SharedStateError::Stale { found }),
        }
    }
}
