//! The agents and models of a server.

use schemars::JsonSchema;
use serde::Serialize;

/// The agents.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentList {
    /// The agents; the first one is the default.
    pub(crate) agents: Vec<AgentView>,
}

/// An agent.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentView {
    /// The name.
    pub(crate) name: String,
    /// Whether it is an agent or a flow.
    pub(crate) kind: AgentKind,
    /// The description for clients.
    pub(crate) description: String,
}

/// The kind of agent that answers the messages of a thread.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AgentKind {
    /// An agent.
    Agent,
    /// A flow of several agents.
    Flow,
}

/// The models.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ModelList {
    /// The models that the agents use, and those of the catalog that the user may use.
    pub(crate) models: Vec<ModelView>,
}

/// A model.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ModelView {
    /// The name of the provider.
    pub(crate) provider: String,
    /// The name of the model.
    pub(crate) model: String,
    /// The agents that use it; none if the model is only in the catalog.
    pub(crate) agents: Vec<String>,
    /// The kind, such as `chat` or `embedding`, if the catalog has the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    /// The context window in tokens, by the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) context_window: Option<u64>,
    /// The largest number of tokens in a reply, by the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_output_tokens: Option<u64>,
    /// The abilities, by the catalog.
    pub(crate) capabilities: Vec<String>,
}
