//! [`HookedCalls`]: runs the hooks of tools around calls that no agent makes.

use std::{borrow::Cow, sync::Arc};

use agcore::{
    chat::{ToolCall, ToolResult},
    llm::{Hook, HookContext, ResultVerdict, ToolVerdict},
    tools::{
        OutputBody, ToolError, ToolErrorKind, ToolOutput,
        layer::{Invoke, PreparedCall},
    },
};
use serde_json::Value;

use super::CommandHooks;

/// A layer that runs the commands for `PreToolUse` and `PostToolUse`. It is for callers that are not agents; those of agents are
/// run by the agent itself.
pub(crate) struct HookedCalls<S> {
    inner: S,
    hooks: Arc<CommandHooks>,
}

impl<S> HookedCalls<S> {
    pub(crate) fn new(inner: S, hooks: Arc<CommandHooks>) -> Self {
        Self { inner, hooks }
    }
}

impl<S: Invoke> Invoke for HookedCalls<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        // There is no agent whose name the commands could receive.
        let mut context = HookContext::new("");
        context.session = Some(call.context.session_id());
        let name = call.tool.name().as_str();
        let arguments = serde_json::to_string(&call.arguments).map_err(ToolError::other)?;
        let announced = ToolCall::function(&**call.context.call_id(), name, arguments.as_str());
        if let ToolVerdict::Block(reason) = self.hooks.pre_tool(&context, &announced).await {
            return Err(ToolError::new(ToolErrorKind::PermissionDenied, reason));
        }
        let result = self.inner.invoke(call).await;
        let shown = match &result {
            Ok(output) => match text(output) {
                Some(text) => ToolResult::new(&*text),
                // A question, which is not a result yet.
                None => return result,
            },
            Err(error) => ToolResult::error(&*error.model_text()),
        };
        match (self.hooks.post_tool(&context, &announced, &shown).await, result) {
            (ResultVerdict::Replace(text), Ok(_)) => Ok(ToolOutput::text(text)),
            (ResultVerdict::Replace(text), Err(error)) => Err(error.with_model_text(text)),
            (_, result) => result,
        }
    }
}

/// Returns the text of a result, as the commands receive it.
fn text(output: &ToolOutput) -> Option<Cow<'_, str>> {
    match &output.body {
        OutputBody::Value(Value::String(text)) => Some(text.into()),
        OutputBody::Value(value) => Some(value.to_string().into()),
        OutputBody::Rich { content, .. } | OutputBody::Divert { content, .. } => Some(content.text()),
        _ => None,
    }
}
