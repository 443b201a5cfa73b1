//! [`Prompt`]: a request as the model sees it, independent of its API.

use serde_json::Value;

use crate::mock_server::reply::{ToolCall, estimate_tokens};

/// The content of a request, independent of its API: the conversation so far and the tools it offers.
///
/// A [`Behavior`](crate::mock_server::Behavior) computes its answer from the prompt, so the same behavior works with
/// every API.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// The requested model.
    pub model: String,
    /// The turns of the conversation, in order.
    pub turns: Vec<Turn>,
    /// The tools that the model may call.
    pub tools: Vec<OfferedTool>,
    /// The JSON Schema of the answer, if the client requires one.
    pub schema: Option<Value>,
    /// Whether the client requests a stream.
    pub stream: bool,
    /// Whether a stream must include token counts. In Chat Completions, clients have to request them.
    pub include_usage: bool,
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Turn {
    /// The author of the turn.
    pub role: Role,
    /// All text of the turn, concatenated.
    pub text: String,
    /// The tool calls of an assistant turn.
    pub calls: Vec<ToolCall>,
    /// The id of the call that a tool turn answers.
    pub tool_call_id: Option<String>,
}

/// The author of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The application: `system` or `developer`.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool, which returns its result.
    Tool,
}

/// A tool that a request offers to the model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OfferedTool {
    /// The name of the tool.
    pub name: String,
    /// The description of the tool.
    pub description: String,
    /// The JSON Schema of the tool's arguments.
    pub parameters: Value,
}

impl Turn {
    /// Creates a turn, for tests of behaviors.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            text: text.into(),
            calls: Vec::new(),
            tool_call_id: None,
        }
    }

    /// Sets the tool calls of an assistant turn.
    #[must_use]
    pub fn with_calls(mut self, calls: Vec<ToolCall>) -> Self {
        self.calls = calls;
        self
    }

    /// Creates the turn of a tool that answers a call.
    pub fn tool(call_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            tool_call_id: Some(call_id.into()),
            ..Self::new(Role::Tool, text)
        }
    }
}

impl OfferedTool {
    /// Creates a tool without a description, for tests of behaviors.
    pub fn new(name: impl Into<String>, parameters: Value) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            parameters,
        }
    }

    pub(crate) fn from_json(name: &Value, description: &Value, parameters: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            name: text(name),
            description: text(description),
            parameters: parameters.clone(),
        }
    }
}

impl Prompt {
    /// Returns the text of the last user turn, or `""` if there is none.
    pub fn last_user(&self) -> &str {
        self.user_texts().last().unwrap_or_default()
    }

    /// Returns the texts of all user turns, in order.
    pub fn user_texts(&self) -> impl Iterator<Item = &str> {
        self.turns
            .iter()
            .filter(|turn| turn.role == Role::User)
            .map(|turn| turn.text.as_str())
    }

    /// Returns whether the request offers a tool with this name.
    pub fn offers(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// Returns the new tool results: the trailing tool turns, each with the call that it answers. Empty if the request
    /// does not end with tool turns.
    pub fn results(&self) -> Vec<(&ToolCall, &str)> {
        let trailing = self
            .turns
            .iter()
            .rev()
            .take_while(|turn| turn.role == Role::Tool)
            .count();
        let (before, results) = self.turns.split_at(self.turns.len() - trailing);
        let calls = before.last().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        let answered_call = |turn: &Turn| calls.iter().find(|call| Some(&call.id) == turn.tool_call_id.as_ref());
        results
            .iter()
            .filter_map(|turn| Some((answered_call(turn)?, turn.text.as_str())))
            .collect()
    }

    /// Estimates the size of the prompt in tokens: all texts, calls and tool definitions.
    pub fn tokens(&self) -> u64 {
        let turns = self.turns.iter().map(|turn| {
            let calls = turn
                .calls
                .iter()
                .map(|call| estimate_tokens(&call.name) + estimate_tokens(&call.arguments));
            estimate_tokens(&turn.text) + calls.sum::<u64>()
        });
        let tools = self.tools.iter().map(|tool| {
            estimate_tokens(&tool.name)
                + estimate_tokens(&tool.description)
                + estimate_tokens(&tool.parameters.to_string())
        });
        turns.chain(tools).sum()
    }
}
