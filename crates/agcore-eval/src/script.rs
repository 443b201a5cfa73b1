//! [`ScriptedReply`], the reply of a scripted model, and the model that gives it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::{AssistantMessage, Block, ChatResponse, FinishReason, ToolCall, Usage};
use agcore_llm::{LlmError, LlmErrorKind, LlmProvider, provider_fn};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The reply of a scripted model to one call.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ScriptedReply {
    /// The text.
    #[serde(default)]
    pub text: String,
    /// The calls of tools.
    #[serde(default)]
    pub calls: Vec<ScriptedCall>,
    /// The tokens of the request and of the reply.
    #[serde(default)]
    pub tokens: Option<(u64, u64)>,
    /// Fails with this message instead.
    #[serde(default)]
    pub error: Option<String>,
}

/// A call of a tool by a scripted model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ScriptedCall {
    /// The tool.
    pub name: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// The replies that a script has left.
#[derive(Debug, Clone)]
pub(crate) struct Script(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    replies: VecDeque<ScriptedReply>,
    calls: usize,
}

impl Script {
    pub(crate) fn new(replies: &[ScriptedReply]) -> Self {
        Self(Arc::new(Mutex::new(State {
            replies: replies.iter().cloned().collect(),
            calls: 0,
        })))
    }

    /// Returns the model that replies with the script.
    pub(crate) fn model(&self) -> impl LlmProvider + 'static {
        let script = self.clone();
        provider_fn(move |_| {
            let reply = script.next();
            async move { reply }
        })
    }

    /// Returns how many replies were not used.
    pub(crate) fn unused(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).replies.len()
    }

    fn next(&self) -> Result<ChatResponse, LlmError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(reply) = state.replies.pop_front() else {
            let message = "the case has no reply left for this call of the model; add one to `replies`";
            return Err(LlmError::new(LlmErrorKind::InvalidRequest, message));
        };
        if let Some(error) = reply.error {
            return Err(LlmError::new(LlmErrorKind::InvalidRequest, error));
        }
        let mut message = match reply.text.as_str() {
            "" => AssistantMessage::from_blocks([]),
            text => AssistantMessage::new(text),
        };
        for call in reply.calls {
            state.calls += 1;
            let id = format!("call_{}", state.calls);
            let arguments = Value::Object(call.arguments).to_string();
            message
                .blocks
                .push(Block::from(ToolCall::function(id, call.name, arguments)));
        }
        let finish = match message.has_tool_calls() {
            true => FinishReason::ToolCalls,
            false => FinishReason::Stop,
        };
        let mut response = ChatResponse::from_message(message, finish);
        response.usage = reply.tokens.map(|(prompt, completion)| Usage::new(prompt, completion));
        Ok(response)
    }
}
