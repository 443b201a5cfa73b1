//! A request as the model sees it, read from any wire.

use serde_json::Value;

use super::call::ToolCall;
use super::usage::tokens_of;

/// What a request says to the model: its turns and the tools it offers, whatever wire it came on.
///
/// Behaviours compute their answers from it, so one behaviour serves all wires.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// The model asked for.
    pub model: String,
    /// The utterances, in order.
    pub turns: Vec<Turn>,
    /// The tools that the model may call.
    pub tools: Vec<OfferedTool>,
    /// Whether a stream is wanted.
    pub stream: bool,
    /// Whether a stream shall carry token counts (on the chat wire they must be asked for).
    pub include_usage: bool,
}

/// One utterance.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Turn {
    /// Who speaks.
    pub role: Role,
    /// All its text.
    pub text: String,
    /// The calls of an assistant turn.
    pub calls: Vec<ToolCall>,
    /// The call that a tool turn answers.
    pub answers: Option<String>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The application: `system` or `developer`.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
}

/// A tool that a request offers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OfferedTool {
    /// Its name.
    pub name: String,
    /// What it is said to do.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

impl Turn {
    pub(crate) fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            text: text.into(),
            calls: Vec::new(),
            answers: None,
        }
    }

    pub(crate) fn with_calls(mut self, calls: Vec<ToolCall>) -> Self {
        self.calls = calls;
        self
    }

    pub(crate) fn tool(answers: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            answers: Some(answers.into()),
            ..Self::new(Role::Tool, text)
        }
    }
}

impl OfferedTool {
    pub(crate) fn new(name: &Value, description: &Value, parameters: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            name: text(name),
            description: text(description),
            parameters: parameters.clone(),
        }
    }
}

impl Prompt {
    /// The newest thing the person said, or `""`.
    pub fn last_user(&self) -> &str {
        self.user_texts().last().unwrap_or_default()
    }

    /// All the person said, in order.
    pub fn user_texts(&self) -> impl Iterator<Item = &str> {
        self.turns
            .iter()
            .filter(|turn| turn.role == Role::User)
            .map(|turn| turn.text.as_str())
    }

    /// Whether a tool of this name is offered.
    pub fn offers(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// The tool results that this request brings: the trailing tool turns, each with the call that it answers. Empty
    /// when the request does not end with tool turns.
    pub fn results(&self) -> Vec<(&ToolCall, &str)> {
        let trailing = self
            .turns
            .iter()
            .rev()
            .take_while(|turn| turn.role == Role::Tool)
            .count();
        let (before, results) = self.turns.split_at(self.turns.len() - trailing);
        let calls = before.last().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        let call_of = |turn: &Turn| calls.iter().find(|call| Some(&call.id) == turn.answers.as_ref());
        results
            .iter()
            .filter_map(|turn| Some((call_of(turn)?, turn.text.as_str())))
            .collect()
    }

    /// The estimated size of the prompt: every text, call and tool definition.
    pub fn tokens(&self) -> u64 {
        let turns = self.turns.iter().map(|turn| {
            let calls = turn
                .calls
                .iter()
                .map(|call| tokens_of(&call.name) + tokens_of(&call.arguments));
            tokens_of(&turn.text) + calls.sum::<u64>()
        });
        let tools = self
            .tools
            .iter()
            .map(|tool| tokens_of(&tool.name) + tokens_of(&tool.description) + tokens_of(&tool.parameters.to_string()));
        turns.chain(tools).sum()
    }
}
