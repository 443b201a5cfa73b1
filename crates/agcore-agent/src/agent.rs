//! [`Agent`]: answers in sessions. [`AgentSpec`]: an agent that is plain data.

mod members;

use std::{borrow::Cow, sync::Arc};

use agcore_chat::ChatRequest;
use agcore_document::{Member, Node, Value};
use agcore_tools::RegisteredTool;
use serde::{Deserialize, Serialize};

pub(crate) use self::members::{CATEGORY, Members, handoff_tag, handoff_target};
use crate::{error::AgentError, front_matter::Front};

/// The longest name of an agent in a file, in characters: it is part of the name of a tool.
const MAX_NAME: usize = 48;

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

    /// Returns the names of the tools that the agent needs, if it lists them. [Building](crate::AgentBuilder::build) the agent or a
    /// turn fails if one of them is not registered.
    fn tool_names(&self) -> Option<&[String]> {
        None
    }

    /// Returns the model and parameters of its requests. An empty model means the provider's default. Called for each turn.
    fn request(&self) -> Cow<'_, ChatRequest> {
        Cow::default()
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

    fn request(&self) -> Cow<'_, ChatRequest> {
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

    /// Reads an agent from a Markdown file: its front matter has the members of an agent, in YAML, and the text after it is the
    /// system prompt. `model` may be listed beside the other members, and `tools` may be a text with commas.
    ///
    /// ```
    /// use agcore_agent::AgentSpec;
    ///
    /// let text = "---\nname: tester\ndescription: Runs the tests.\ntools: [shell]\nmodel: small\n---\nYou run tests.\n";
    /// let spec = AgentSpec::from_markdown(text)?;
    /// assert_eq!((spec.name.as_str(), spec.system_prompt.as_str()), ("tester", "You run tests."));
    /// assert_eq!(spec.request.0.model, "small");
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// ```
    ///
    /// # Errors
    /// [`InvalidConfig`](crate::AgentErrorKind::InvalidConfig) if there is no front matter, if it is not YAML, or if a member is
    /// unknown or has a wrong type; if the name is missing, or has other characters than letters, digits, `-` and `_`.
    pub fn from_markdown(text: &str) -> Result<Self, AgentError> {
        let Front { matter, root } = Front::of(text).map_err(AgentError::invalid_agent_file)?;
        let mut members = members_of(root.members())?;
        let (place, prompt) = (root.place, Value::Text(matter.body.trim().to_owned()));
        members.push(Member {
            place,
            name: "system_prompt".to_owned(),
            node: Node::new(place, prompt),
        });
        let spec: Self = Node::new(place, Value::Table(members))
            .read()
            .map_err(|error| AgentError::invalid_agent_file(matter.describe(&error)))?;
        let is_portable = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if spec.name.is_empty() || spec.name.len() > MAX_NAME || !spec.name.chars().all(is_portable) {
            let problem = format!("the name must have 1 to {MAX_NAME} letters, digits, `-` and `_`");
            return Err(AgentError::invalid_agent_file(problem));
        }
        Ok(spec)
    }

    /// Sets the tools that the model sees. [Building](crate::AgentBuilder::build) the agent or a turn fails if one of them is not
    /// registered.
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

/// Returns the members of an agent in the form in which they are deserialized.
fn members_of(front: &[Member]) -> Result<Vec<Member>, AgentError> {
    let (mut members, mut model) = (Vec::new(), None);
    // A member without a value is one that is not there.
    for member in front.iter().filter(|member| member.node.value != Value::Null) {
        match (member.name.as_str(), &member.node.value) {
            ("system_prompt", _) => {
                let problem = "`system_prompt` is not a member of the front matter; write it as the text after it";
                return Err(AgentError::invalid_agent_file(problem));
            }
            ("tools", Value::Text(tools)) => {
                let names = tools.split(',').map(str::trim).filter(|name| !name.is_empty());
                let names = names.map(|name| Node::new(member.node.place, Value::Text(name.to_owned())));
                let node = Node::new(member.node.place, Value::List(names.collect()));
                members.push(Member { node, ..member.clone() });
            }
            ("model", _) => model = Some(member.clone()),
            _ => members.push(member.clone()),
        }
    }
    let Some(model) = model else { return Ok(members) };
    let at = members.iter().position(|member| member.name == "request");
    let at = at.unwrap_or_else(|| {
        let node = Node::new(model.place, Value::Table(Vec::new()));
        members.push(Member {
            name: "request".to_owned(),
            place: model.place,
            node,
        });
        members.len() - 1
    });
    let Value::Table(request) = &mut members[at].node.value else {
        let problem = "`request` must have members, such as `temperature`";
        return Err(AgentError::invalid_agent_file(problem));
    };
    if request.iter().any(|member| member.name == "model") {
        let problem = "the model is set twice; remove `request.model`";
        return Err(AgentError::invalid_agent_file(problem));
    }
    request.push(model);
    Ok(members)
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

    fn request(&self) -> Cow<'_, ChatRequest> {
        Cow::Borrowed(&self.request.0)
    }
}
