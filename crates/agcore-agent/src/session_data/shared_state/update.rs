//! [`UpdateState`]: the tool with which a model changes the shared state.

use std::sync::Arc;

use agcore_chat::ToolAnnotations;
use agcore_session::DocumentPatch;
use agcore_tools::{Arguments, BaseTool, ToolContext, ToolError, ToolOutput};
use async_trait::async_trait;
use serde_json::{Value, json};

use super::contract::{SharedState, SharedStateError, StateChange};

/// The name of the tool with which models change a [`SharedState`].
pub const UPDATE_STATE: &str = "update_state";

pub(super) struct UpdateState {
    state: Arc<dyn SharedState>,
    parameters: Value,
}

impl UpdateState {
    pub(super) fn new(state: Arc<dyn SharedState>) -> Self {
        let operation = json!({
            "type": "object",
            "properties": {
                "op": {"type": "string", "enum": ["add", "remove", "replace", "move", "copy", "test"]},
                "path": {
                    "type": "string",
                    "description": "A JSON Pointer, such as /steps/0/title. /steps/- is the place after the last item.",
                },
                "from": {"type": "string", "description": "The pointer from which `move` and `copy` take the value."},
                "value": {"description": "The value of `add`, `replace` and `test`: any JSON."},
            },
            "required": ["op", "path"],
            "additionalProperties": false,
        });
        let parameters = json!({
            "type": "object",
            "properties": {
                "version": {"type": "integer", "minimum": 0, "description": "The version of the state that you have seen."},
                "patch": {
                    "type": "array",
                    "items": operation,
                    "description": "The operations of a JSON Patch (RFC 6902), which are applied in order, all or none.",
                },
            },
            "required": ["version", "patch"],
            "additionalProperties": false,
        });
        Self { state, parameters }
    }

    /// Changes the version that the model has seen. Returns the number of the new one.
    async fn change(&self, seen: u64, patch: &DocumentPatch, name: Option<&str>) -> Result<u64, ToolError> {
        let newest = self.state.read().await.map_err(failed)?;
        if name.is_some() && newest.change.as_deref() == name {
            // The process that has made the change died before it noted that.
            return Ok(newest.version);
        }
        if newest.version != seen {
            return Err(failed(SharedStateError::Stale { found: newest.version }));
        }
        let value = patch
            .apply(newest.value.clone())
            .map_err(|error| ToolError::failed(format!("nothing was changed: {}", error.message())))?;
        if value == newest.value {
            return Ok(newest.version);
        }
        let mut change = StateChange::new(value);
        change.name = name.map(str::to_owned);
        self.state.write(newest.version, change).await.map_err(failed)
    }
}

#[async_trait]
impl BaseTool for UpdateState {
    fn name(&self) -> &str {
        UPDATE_STATE
    }

    fn description(&self) -> &str {
        "Changes the state that you share with the application, with all operations in one call. The newest state and its version are \
         shown with the message of the user, who sees your changes at once and can change the state as well."
    }

    fn parameters(&self) -> &Value {
        &self.parameters
    }

    fn annotations(&self) -> ToolAnnotations {
        // A call that is repeated finds its own change, or a later one.
        let annotations = ToolAnnotations::default().with_destructive(false).with_idempotent(true);
        annotations.with_concurrency_key(UPDATE_STATE)
    }

    async fn execute(&self, arguments: &Arguments, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let member = |name: &str| arguments.as_value().get(name).cloned().unwrap_or_default();
        let (seen, patch) = (member("version").as_u64().unwrap_or_default(), member("patch"));
        let patch = DocumentPatch::from_value(patch)
            .map_err(|error| ToolError::failed(format!("nothing was changed: {}", error.message())))?;
        let version = self.change(seen, &patch, context.idempotency_key().as_deref()).await?;
        Ok(ToolOutput::text(format!("the state has version {version} now")))
    }
}

fn failed(error: SharedStateError) -> ToolError {
    match error {
        SharedStateError::Stale { .. } => ToolError::failed(format!(
            "nothing was changed now: {error}, which is shown with the message of the user; change that version if something is left to do"
        )),
        SharedStateError::Invalid(_) => ToolError::failed(format!("nothing was changed: {error}")),
        SharedStateError::Unavailable(_) => ToolError::failed(
            "it is unknown whether the state was changed; the newest one is shown with the message of the user",
        )
        .with_source(error),
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::{SystemClock, ToolCall, ToolOutcome, ToolWork};
    use agcore_tools::ToolRegistry;

    use super::*;
    use crate::LocalState;

    #[tokio::test]
    async fn calls_that_run_again_after_a_crash_change_nothing() {
        let state = Arc::new(LocalState::new(json!([])));
        // Each process has its own.
        let executor = || {
            let registry = ToolRegistry::new();
            registry.register(UpdateState::new(Arc::clone(&state) as _)).unwrap();
            let context = ToolContext::builder(Arc::new(SystemClock::new())).with_key_scope("session, turn 1");
            registry.executor(context.build()).build().unwrap()
        };
        let call = |id: &str, version: u64| {
            let patch = json!([{"op": "add", "path": "/-", "value": 1}]);
            let arguments = json!({"version": version, "patch": patch}).to_string();
            ToolWork::new(ToolCall::function(id, UPDATE_STATE, arguments))
        };
        for _ in 0..2 {
            let (outcome, _) = executor().settle(call("c1", 1)).await;
            assert_eq!(outcome, ToolOutcome::done("the state has version 2 now"));
        }
        executor().settle(call("c2", 2)).await;
        // An earlier one than the last change does not know that it took place, but does not repeat it.
        for (id, version) in [("c1", 1), ("c2", 2)] {
            executor().settle(call(id, version)).await;
        }
        assert_eq!(state.read().await.unwrap().value, json!([1, 1]));
    }
}
