//! [`GraphFlow`]: the nodes and edges of a file.

mod routed;

use std::{collections::BTreeMap, sync::Arc};

use agcore_agent::RuntimeBundle;
use agcore_chat::{Actor, Clock};
use agcore_flow::{Flow, FlowBuilder, FlowError, Fork, Joined, NodeContext, NodeError, Step};
use agcore_prompt::PromptTemplate;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::routed::{Routed, Routes};
use crate::{
    file::{FlowFile, FlowKind, NodeWork, TaskOutput},
    stage::{Agents, Ask, Form, Stage, variables},
};

/// The state of a flow whose nodes are in a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GraphState {
    /// The request of the user.
    pub request: String,
    /// The values of the variables that the file declares.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub variables: Map<String, Value>,
    /// The newest result of each node: a text, or a value if the file asks for one.
    #[serde(default)]
    pub results: BTreeMap<String, Value>,
    /// The node that finished last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}

/// Builds flows from the nodes and edges of a [`FlowFile`]. The templates of a node use the results of the nodes before it as
/// `{{results.NAME}}`.
///
/// A node with several routes chooses one of them: a model returns its choice with its result, and may correct a choice that does
/// not exist; the answer of a person is the route. After a fork, the results of all branches are there.
///
/// ```
/// use agcore_agent::AgentBuilder;
/// use agcore_chat::SystemClock;
/// use agcore_flow_files::{FlowFile, GraphFlow, GraphState};
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// let text = "
/// version: 1
/// kind: graph
/// nodes:
///   draft: {}
///   review: {}
/// edges:
///   - {from: draft, to: review}
///   - {from: review, route: rejected, to: draft}
///   - {from: review, route: accepted, to: end}
/// limits: {visits: {draft: 3}}
/// agents:
///   author: {role: You write., goal: Write well., backstory: ''}
/// tasks:
///   draft: {agent: author, description: 'Write about {{request}}.', expected_output: A text.}
///   review: {agent: author, description: 'Review: {{results.draft}}', expected_output: A verdict.}
/// ";
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let file = FlowFile::parse("article.flow.yaml", text, |_| Err("there are no other files".into()))?;
/// # let model = ScriptedProvider::new([
/// #     ScriptStep::text("Tea is a drink."),
/// #     ScriptStep::text(r#"{"route": "accepted", "result": "Short and true."}"#),
/// # ]);
/// let bundle = AgentBuilder::new().with_provider(model).build()?;
/// let flow = GraphFlow::new(file, bundle).build(SystemClock::new())?;
/// let state = flow.run(GraphState::new("tea")).await?.into_state()?;
/// assert_eq!(state.results["draft"], "Tea is a drink.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
#[must_use = "a flow does nothing before `build`"]
pub struct GraphFlow {
    file: FlowFile,
    agents: Agents,
}

impl GraphState {
    /// Creates the state of a run that begins with a request.
    pub fn new(request: impl Into<String>) -> Self {
        Self {
            request: request.into(),
            ..Self::default()
        }
    }

    /// Sets the value of a variable.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Returns the result of the node that finished last.
    pub fn answer(&self) -> Option<&Value> {
        self.results.get(self.last.as_ref()?)
    }

    fn add(&mut self, node: &str, result: Value) {
        self.results.insert(node.to_owned(), result);
        self.last = Some(node.to_owned());
    }
}

impl GraphFlow {
    /// Creates a flow whose agents use the provider and the tools of a bundle. If the bundle has a session store, each agent works
    /// in a session of it when the run is saved: an agent that was killed repeats no call of a tool that has finished.
    pub fn new(file: FlowFile, bundle: RuntimeBundle) -> Self {
        let agents = Agents::new(bundle, &file);
        Self { file, agents }
    }

    /// Sets the text with which the system prompt of every agent begins, like that of `agcore_profile::build_global_system_prompt`.
    pub fn with_system_prompt(mut self, system_prompt: impl AsRef<str>) -> Self {
        self.agents.system_prompt = system_prompt.as_ref().into();
        self
    }

    /// Sets the owner of the sessions in which the agents work, by default [`local`](Actor::local).
    pub fn with_actor(mut self, actor: Actor) -> Self {
        self.agents.actor = actor.into();
        self
    }

    /// Builds the flow.
    ///
    /// # Errors
    /// [`InvalidInput`](agcore_flow::FlowErrorKind::InvalidInput) if the file is of another kind, or an agent names a tool that the
    /// bundle does not have.
    pub fn build(self, clock: impl Clock + 'static) -> Result<Flow<GraphState>, FlowError> {
        let Self { file, agents } = self;
        file.expect_kind(FlowKind::Graph)?;
        agents.check_all_tools(&file)?;
        let mut flow = FlowBuilder::new(file.name.clone(), clock);
        for node in &file.nodes {
            let routes = Routes::of(&file.edges, &node.name);
            let name = node.name.as_str();
            flow = match &node.work {
                NodeWork::Task(task) => {
                    let stage = Stage::new(&agents, &file, task)?;
                    flow.with_node(name, move |state: GraphState, at: NodeContext| {
                        let (stage, routes) = (stage.clone(), routes.clone());
                        async move { carry_out(stage, routes, state, at).await }
                    })
                }
                NodeWork::Question(question) => {
                    let question = Arc::new(question.clone());
                    flow.with_node(name, move |state: GraphState, at: NodeContext| {
                        let (question, routes) = (Arc::clone(&question), routes.clone());
                        async move { ask_person(&question, &routes, state, at).await }
                    })
                }
            };
            flow = flow.with_options(name, node.options.clone());
        }
        connect(flow, &file).build()
    }
}

/// Adds the edges, the forks and the limits of a file.
fn connect(mut flow: FlowBuilder<GraphState>, file: &FlowFile) -> FlowBuilder<GraphState> {
    for (name, limit) in &file.limits.visits {
        flow = flow.with_limit(name, limit.clone());
    }
    for edge in &file.edges {
        flow = match (edge.to.as_slice(), &edge.join, &edge.route) {
            ([to], None, Some(route)) => flow.with_route(&edge.from, route, to),
            ([to], None, None) => flow.with_edge(&edge.from, to),
            (branches, join, _) => {
                let join = join.clone().unwrap_or_default();
                flow.with_fork(Fork::new(&edge.from, branches.iter().cloned(), join, merge))
            }
        };
    }
    match &file.start {
        Some(start) => flow.with_start(start),
        None => flow,
    }
}

/// Lets an agent do the task of a node.
async fn carry_out(
    stage: Stage,
    routes: Routes,
    state: GraphState,
    at: NodeContext,
) -> Result<Step<GraphState>, NodeError> {
    let ask = Ask::new(&state, &at);
    let output = stage.task().output.clone();
    if !routes.is_choice() {
        let done = match output {
            TaskOutput::Schema(schema) => stage.value(ask, Form::new(schema).checked_by_schema()).await?,
            _ => stage.text(ask).await?.map(Value::String),
        };
        return Ok(finish(state, &at, done.value, None)?.with_usage(done.usage));
    }
    let form = Form::new(routes.schema(&output)).checked_by_schema();
    let done = stage.value::<Routed>(ask, form.with_check(Arc::new(routes))).await?;
    let Routed { route, result } = done.value;
    Ok(finish(state, &at, result, Some(route))?.with_usage(done.usage))
}

/// Asks a person.
async fn ask_person(
    question: &PromptTemplate,
    routes: &Routes,
    state: GraphState,
    at: NodeContext,
) -> Result<Step<GraphState>, NodeError> {
    let text = variables(&state).and_then(|variables| question.render(&variables));
    let text = text.map_err(|error| NodeError::from(error).with_retryable(false))?;
    let answer: Value = at.ask("question", text).await?;
    let route = routes.of_answer(&answer)?;
    finish(state, &at, answer, route)
}

fn finish(
    mut state: GraphState,
    at: &NodeContext,
    result: Value,
    route: Option<String>,
) -> Result<Step<GraphState>, NodeError> {
    state.add(at.node(), result.clone());
    let step = Step::new(state).with_data(result);
    Ok(match route {
        Some(route) => step.via(route),
        None => step,
    })
}

/// Adds the results of all branches to those at the fork, in the order of the branches.
fn merge(joined: Joined<GraphState>) -> Result<GraphState, NodeError> {
    let mut state = joined.base;
    let before = state.results.clone();
    for branch in joined.branches {
        let new = branch.state.results.into_iter();
        let new = new.filter(|(node, result)| before.get(node) != Some(result));
        state.results.extend(new);
        state.last = branch.state.last;
    }
    Ok(state)
}
