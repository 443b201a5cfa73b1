//! [`Agent`]: answers in sessions. [`AgentSpec`]: an agent that is plain data.

use std::sync::Arc;

use agcore_chat::ChatRequest;
use agcore_tools::RegisteredTool;
use serde::{Deserialize, Serialize};

/// Answers in sessions: instructions, tools and model parameters.
///
/// [`AgentSpec`] implements it for plain data. Implement it yourself to compute the instructions:
///
/// ```
/// use agcore_agent::{Agent, AgentBuilder};
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// struct Waiter {
///     table: u32,
/// }
///
/// impl Agent for Waiter {
///     fn name(&self) -> &str {
///         "waiter"
///     }
///
///     fn system_prompt(&self) -> String {
///         format!("You serve table {}.", self.table)
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let model = ScriptedProvider::new([ScriptStep::text("Welcome!")]);
/// let bundle = AgentBuilder::new().with_provider(model.clone()).build()?;
/// bundle.session("s-1", Waiter { table: 7 }).turn("Hello").await?;
/// assert_eq!(model.requests()[0].messages[0].text(), "You serve table 7.");
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
pub trait Agent: Send + Sync {
    /// Returns the name of the agent, for events and spans.
    fn name(&self) -> &str;

    /// Describes, for other agents, what it is responsible for.
    fn description(&self) -> &str {
        ""
    }

    /// Returns the names of the agents to which it may hand over the conversation. They must be
    /// [members](crate::AgentBuilder::with_member) of its bundle.
    fn handoffs(&self) -> &[String] {
        &[]
    }

    /// Returns its layer of the system prompt. Called for each turn.
    fn system_prompt(&self) -> String;

    /// Returns whether the model sees a tool. A tool that it does not see cannot be called.
    fn exposes(&self, _tool: &RegisteredTool) -> bool {
        true
    }

    /// Returns the names of the tools that the agent needs, if it lists them. A turn fails if one of them is not registered.
    fn tool_names(&self) -> Option<&[String]> {
        None
    }

    /// Returns the model and parameters of its requests. An empty model means the provider's default.
    fn request(&self) -> ChatRequest {
        ChatRequest::default()
    }
}

impl<A: Agent + ?Sized> Agent for Arc<A> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn description(&self) -> &str {
        (**self).description()
    }

    fn handoffs(&self) -> &[String] {
        (**self).handoffs()
    }

    fn system_prompt(&self) -> String {
        (**self).system_prompt()
    }

    fn exposes(&self, tool: &RegisteredTool) -> bool {
        (**self).exposes(tool)
    }

    fn tool_names(&self) -> Option<&[String]> {
        (**self).tool_names()
    }

    fn request(&self) -> ChatRequest {
        (**self).request()
    }
}

/// An agent that is plain data, for example from a settings file.
///
/// ```
/// use agcore_agent::AgentSpec;
///
/// let spec: AgentSpec = serde_json::from_str(
///     r#"{"name": "cook", "system_prompt": "You are a cook.", "tools": ["recipe"], "request": {"temperature": 0.2}}"#,
/// )
/// .unwrap();
/// assert_eq!(spec.tools.as_deref(), Some(&["recipe".to_owned()][..]));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AgentSpec {
    /// Its name.
    pub name: String,
    /// Describes, for other agents, what it is responsible for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its layer of the system prompt.
    #[serde(default)]
    pub system_prompt: String,
    /// The names of the tools that the model sees; `None` means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The names of the agents to which it may hand over the conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handoffs: Vec<String>,
    /// Model and parameters of its requests, under the names of the Chat Completions API (`model`, `temperature` …).
    #[serde(default, skip_serializing_if = "is_default")]
    pub request: Parameters,
}

/// The model and the parameters of an agent's requests: a [`ChatRequest`] without messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parameters(pub ChatRequest);

fn is_default(parameters: &Parameters) -> bool {
    *parameters == Parameters::default()
}

impl AgentSpec {
    /// Creates an agent with a name and a system prompt that exposes all tools.
    pub fn new(name: impl Into<String>, system_prompt: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            system_prompt: system_prompt.into(),
            ..Self::default()
        }
    }

    /// Sets the tools that the model sees. A turn fails if one of them is not registered.
    #[must_use]
    pub fn with_tools<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.tools = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Describes, for other agents, what it is responsible for.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the agents to which it may hand over the conversation. They must be
    /// [members](crate::AgentBuilder::with_member) of its bundle.
    #[must_use]
    pub fn with_handoffs<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.handoffs = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.request.0.model = model.into();
        self
    }

    /// Sets model and parameters.
    #[must_use]
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.request = Parameters(request);
        self
    }
}

impl Agent for AgentSpec {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn handoffs(&self) -> &[String] {
        &self.handoffs
    }

    fn system_prompt(&self) -> String {
        self.system_prompt.clone()
    }

    fn exposes(&self, tool: &RegisteredTool) -> bool {
        self.tools
            .as_ref()
            .is_none_or(|names| names.iter().any(|name| *name == **tool.name()))
    }

    fn tool_names(&self) -> Option<&[String]> {
        self.tools.as_deref()
    }

    fn request(&self) -> ChatRequest {
        self.request.0.clone()
    }
}
