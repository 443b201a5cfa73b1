//! [`Agent`]: who answers. [`AgentSpec`]: an agent made of data.

use std::sync::Arc;

use agcore_chat::ChatRequest;
use agcore_tools::RegisteredTool;
use serde::{Deserialize, Serialize};

/// Who answers in a session.
pub trait Agent: Send + Sync {
    /// Its name, in events and spans.
    fn name(&self) -> &str;

    /// Its layer of the system prompt; asked anew for each turn.
    fn system_prompt(&self) -> String;

    /// Whether it exposes a tool. What it does not expose it cannot call either.
    fn exposes(&self, _tool: &RegisteredTool) -> bool {
        true
    }

    /// Model and parameters of its requests. An empty model means the provider's own.
    fn request(&self) -> ChatRequest {
        ChatRequest::default()
    }
}

/// A shared agent is an agent.
impl<A: Agent + ?Sized> Agent for Arc<A> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn system_prompt(&self) -> String {
        (**self).system_prompt()
    }

    fn exposes(&self, tool: &RegisteredTool) -> bool {
        (**self).exposes(tool)
    }

    fn request(&self) -> ChatRequest {
        (**self).request()
    }
}

/// An agent made of data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AgentSpec {
    /// Its name.
    pub name: String,
    /// Its layer of the system prompt.
    #[serde(default)]
    pub system_prompt: String,
    /// The names of the tools it exposes; none means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Model and parameters of its requests, under the API's own names (`model`, `temperature` …).
    #[serde(default, skip_serializing_if = "is_default")]
    pub request: Parameters,
}

/// Model and parameters; a request without messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parameters(pub ChatRequest);

fn is_default(parameters: &Parameters) -> bool {
    *parameters == Parameters::default()
}

impl AgentSpec {
    /// An agent with a name and a system prompt, that exposes all tools.
    pub fn new(name: impl Into<String>, system_prompt: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            system_prompt: system_prompt.into(),
            ..Self::default()
        }
    }

    /// Sets the tools it exposes.
    pub fn with_tools<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.tools = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the model.
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.request.0.model = model.into();
        self
    }

    /// Sets model and parameters.
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.request = Parameters(request);
        self
    }
}

impl Agent for AgentSpec {
    fn name(&self) -> &str {
        &self.name
    }

    fn system_prompt(&self) -> String {
        self.system_prompt.clone()
    }

    fn exposes(&self, tool: &RegisteredTool) -> bool {
        self.tools
            .as_ref()
            .is_none_or(|names| names.iter().any(|name| *name == **tool.name()))
    }

    fn request(&self) -> ChatRequest {
        self.request.0.clone()
    }
}
