//! [`Hooks`]: the registered hooks, run one after the other.

use std::{fmt, panic::AssertUnwindSafe, sync::Arc};

use agcore_chat::{CallInput, ChatRequest, ToolCall, ToolResult};
use futures_util::FutureExt;

use super::{Hook, HookContext, RequestVerdict, ResultVerdict, ToolVerdict, TurnVerdict};

/// Hooks in the order of registration. Cheap to clone.
#[derive(Clone, Default)]
pub struct Hooks(Arc<[Arc<dyn Hook>]>);

impl Hooks {
    /// These hooks.
    pub fn new(hooks: impl IntoIterator<Item = Arc<dyn Hook>>) -> Self {
        Self(hooks.into_iter().collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Asks whether a turn may begin.
    ///
    /// # Errors
    /// The reason of the first hook that says no.
    pub async fn turn_start(&self, context: &HookContext<'_>) -> Result<(), String> {
        for hook in self.0.iter() {
            if let Some(TurnVerdict::Block(reason)) = guarded(&**hook, hook.turn_start(context)).await {
                return Err(reason);
            }
        }
        Ok(())
    }

    /// Tells that a turn has ended.
    pub async fn turn_end(&self, context: &HookContext<'_>) {
        for hook in self.0.iter() {
            guarded(&**hook, hook.turn_end(context)).await;
        }
    }

    /// Gives the request that shall be sent.
    ///
    /// # Errors
    /// The reason of the first hook that says no.
    pub async fn pre_request(
        &self,
        context: &HookContext<'_>,
        mut request: Arc<ChatRequest>,
    ) -> Result<Arc<ChatRequest>, String> {
        for hook in self.0.iter() {
            match guarded(&**hook, hook.pre_request(context, &request)).await {
                Some(RequestVerdict::Replace(other)) => request = other,
                Some(RequestVerdict::Block(reason)) => return Err(reason),
                Some(RequestVerdict::Continue) | None => {}
            }
        }
        Ok(request)
    }

    /// Tells that an attempt was answered.
    pub async fn post_request(&self, context: &HookContext<'_>) {
        for hook in self.0.iter() {
            guarded(&**hook, hook.post_request(context)).await;
        }
    }

    /// Tells that an attempt failed.
    pub async fn on_error(&self, context: &HookContext<'_>) {
        for hook in self.0.iter() {
            guarded(&**hook, hook.on_error(context)).await;
        }
    }

    /// Tells that another attempt will be made.
    pub async fn on_retry(&self, context: &HookContext<'_>) {
        for hook in self.0.iter() {
            guarded(&**hook, hook.on_retry(context)).await;
        }
    }

    /// Gives the call that shall run.
    ///
    /// # Errors
    /// The reason of the first hook that says no, for the model.
    pub async fn pre_tool(&self, context: &HookContext<'_>, mut call: ToolCall) -> Result<ToolCall, String> {
        for hook in self.0.iter() {
            match guarded(&**hook, hook.pre_tool(context, &call)).await {
                Some(ToolVerdict::Replace(arguments)) => {
                    call.input = CallInput::Arguments(serde_json::Value::Object(arguments).to_string());
                }
                Some(ToolVerdict::Block(reason)) => return Err(reason),
                Some(ToolVerdict::Continue) | None => {}
            }
        }
        Ok(call)
    }

    /// Gives the result that shall be told.
    pub async fn post_tool(&self, context: &HookContext<'_>, call: &ToolCall, mut result: ToolResult) -> ToolResult {
        for hook in self.0.iter() {
            if let Some(ResultVerdict::Replace(text)) = guarded(&**hook, hook.post_tool(context, call, &result)).await {
                result.content = text.into();
            }
        }
        result
    }

    /// Tells that a step of a plan is over.
    pub async fn plan_step(&self, context: &HookContext<'_>) {
        for hook in self.0.iter() {
            guarded(&**hook, hook.plan_step(context)).await;
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(Hook::name)).finish()
    }
}

/// What a hook says; nothing when it panics.
async fn guarded<T>(hook: &dyn Hook, verdict: impl Future<Output = T>) -> Option<T> {
    match AssertUnwindSafe(verdict).catch_unwind().await {
        Ok(verdict) => Some(verdict),
        Err(panic) => {
            let message = panic
                .downcast_ref::<&str>()
                .copied()
                .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
                .unwrap_or("no message");
            tracing::error!(hook = hook.name(), message, "a hook panicked and was passed over");
            None
        }
    }
}
