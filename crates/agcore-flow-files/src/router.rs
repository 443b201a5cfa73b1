//! [`RouterFlow`]: a router, a worker, and on request a stage that updates the memory.

mod result;
mod job;
mod context_source;
mod messages;
mod skill_choice;

use std::{fmt, sync::Arc};

use agcore_agent::{RuntimeBundle, Skills};
use agcore_chat::{Actor, Clock, Message};
use agcore_flow::{END, Flow, FlowBuilder, FlowError, NodeContext, NodeError, Step};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::{
    context_source::{ContextSource, StoredContext},
    job::Job,
    result::RouterResult,
};

use self::{result::router_schema, skill_choice::SkillChoice};
use crate::{
    file::{FlowFile, FlowKind, ROUTER, TaskOutput},
    stage::{Agents, Ask, Done, Form, Stage},
    staged::IntentRoute,
};

/// The name of the tool with which agents read skills.
const USE_SKILL: &str = "use_skill";

/// The state of a router flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RouterState {
    /// The request of the user.
    pub request: String,
    /// The id of the conversation to which the request belongs, for the [source of the context](ContextSource).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The configuration of a run without a user, in the mode *automation*. `None` is the mode *chat*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// The values of the variables that the file declares.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub variables: Map<String, Value>,
    /// The names and descriptions of the skills that the router may choose, for templates.
    #[serde(default)]
    pub skills: Vec<Value>,
    /// The result of the router.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<RouterResult>,
    /// The answer of the worker: a text, or a value if the file asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// The text of the memory stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
}

/// Builds flows of a router and a worker from a [`FlowFile`]: the router answers a request itself, or gives a worker a brief and
/// the skills that it needs. If the file has the task `memory`, an agent then updates the user's memory with its tools.
///
/// In the mode *chat*, the skills are those of the worker in the file, and the router sees as much of the conversation as the file
/// states. In the mode *automation*, a [`Job`] determines both. [`RouterState::messages`] returns what a run adds to the
/// conversation.
///
/// ```
/// use agcore_agent::AgentBuilder;
/// use agcore_chat::SystemClock;
/// use agcore_flow_files::{FlowFile, RouterFlow, RouterState};
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// let text = "
/// version: 1
/// kind: router
/// agents:
///   router: {role: You assign work., goal: Find out what is needed., backstory: '', context_messages: 20}
///   worker: {role: You do the work., goal: Do it well., backstory: ''}
/// tasks:
///   router: {agent: router, description: Decide., expected_output: A decision.}
///   worker: {agent: worker, description: '{{router.execution_brief}}', expected_output: The result.}
/// ";
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let file = FlowFile::parse("work.flow.yaml", text, |_| Err("there are no other files".into()))?;
/// # let model = ScriptedProvider::new([
/// #     ScriptStep::text(
/// #         r#"{"route": "NEEDS_EXECUTION", "intent_summary": "a sum", "assistant_text": null, "execution_brief": "Add 2 and 3.", "skills": [], "safety_flags": []}"#,
/// #     ),
/// #     ScriptStep::text("5"),
/// # ]);
/// let bundle = AgentBuilder::new().with_provider(model).build()?;
/// let flow = RouterFlow::new(file, bundle).build(SystemClock::new())?;
/// let state = flow.run(RouterState::new("What is 2 + 3?")).await?.into_state()?;
/// assert_eq!(state.text().as_deref(), Some("5"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "a router flow does nothing before `build`"]
pub struct RouterFlow {
    file: FlowFile,
    agents: Agents,
    skills: Skills,
    context: Option<Arc<dyn ContextSource>>,
}

impl RouterState {
    /// Creates the state of a run that begins with a request.
    pub fn new(request: impl Into<String>) -> Self {
        Self {
            request: request.into(),
            ..Self::default()
        }
    }

    /// Sets the conversation to which the request belongs.
    #[must_use]
    pub fn with_conversation(mut self, id: impl Into<String>) -> Self {
        self.conversation = Some(id.into());
        self
    }

    /// Makes this a run without a user.
    #[must_use]
    pub fn with_job(mut self, job: Job) -> Self {
        self.job = Some(job);
        self
    }

    /// Sets the value of a variable.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Returns what the user sees: the answer of the router, or that of the worker.
    pub fn text(&self) -> Option<String> {
        let router = self.router.as_ref()?;
        match (&self.answer, router.route) {
            (Some(Value::String(text)), _) => Some(text.clone()),
            (Some(value), _) => Some(value.to_string()),
            (None, IntentRoute::DirectExecution) => router.assistant_text.clone(),
            (None, _) => None,
        }
    }
}

impl RouterFlow {
    /// Creates a flow whose agents use the provider and the tools of a bundle. If the bundle has a session store, each agent works
    /// in a session of it when the run is saved: an agent that was killed repeats no call of a tool that has finished.
    pub fn new(file: FlowFile, bundle: RuntimeBundle) -> Self {
        let agents = Agents::new(bundle, &file);
        Self {
            file,
            agents,
            skills: Skills::default(),
            context: None,
        }
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

    /// Sets the skills among which the router chooses. Skills of the bundle are not used.
    pub fn with_skills(mut self, skills: Skills) -> Self {
        self.skills = skills;
        self
    }

    /// Sets where the conversation is read from that the router sees. Without it, the router sees the request alone.
    pub fn with_context(mut self, source: impl ContextSource + 'static) -> Self {
        self.context = Some(Arc::new(source));
        self
    }

    pub(crate) fn with_shared_context(mut self, source: Arc<dyn ContextSource>) -> Self {
        self.context = Some(source);
        self
    }

    /// Builds the flow, with the nodes `router`, `worker` and, if the file has this task, `memory`.
    ///
    /// # Errors
    /// [`InvalidInput`](agcore_flow::FlowErrorKind::InvalidInput) if the file is of another kind, or an agent names a tool or a
    /// skill that does not exist.
    pub fn build(self, clock: impl Clock + 'static) -> Result<Flow<RouterState>, FlowError> {
        self.file.expect_kind(FlowKind::Router)?;
        self.agents.check_all_tools(&self.file)?;
        let [router, worker, memory] = ROUTER;
        let first = Stage::new(&self.agents, &self.file, router)?;
        let second = Stage::new(&self.agents, &self.file, worker)?;
        self.check_skills(&second)?;
        let third = match self.file.tasks.contains_key(memory) {
            true => Some(Stage::new(&self.agents, &self.file, memory)?),
            false => None,
        };
        let own_skills = second.agent().skills.clone();
        let (context, skills) = (self.context.clone(), self.skills.clone());
        let chosen = self.skills;
        let flow = FlowBuilder::new(self.file.name.clone(), clock)
            .with_node(router, move |state: RouterState, at: NodeContext| {
                let (stage, context) = (first.clone(), context.clone());
                let choice = SkillChoice::new(&skills, &own_skills, state.job.as_ref());
                async move { route(stage, choice, context.as_deref(), state, at).await }
            })
            .with_node(worker, move |state: RouterState, at: NodeContext| {
                let (stage, skills) = (second.clone(), chosen.clone());
                async move { work(stage, &skills, state, at).await }
            })
            .with_route(router, IntentRoute::NeedsExecution.as_str(), worker);
        let Some(third) = third else {
            return flow
                .with_route(router, IntentRoute::DirectExecution.as_str(), END)
                .with_edge(worker, END)
                .build();
        };
        flow.with_node(memory, move |state: RouterState, at: NodeContext| {
            let stage = third.clone();
            async move { remember(stage, state, at).await }
        })
        // A direct answer of the router is final: nothing else is called.
        .with_route(router, IntentRoute::DirectExecution.as_str(), END)
        .with_edge(worker, memory)
        .with_edge(memory, END)
        .build()
    }

    fn check_skills(&self, worker: &Stage) -> Result<(), FlowError> {
        let mut named = worker.agent().skills.iter();
        named
            .find(|name| self.skills.get(name).is_none())
            .map_or(Ok(()), |missing| {
                let message =
                    format!("the worker needs the skill `{missing}`, which does not exist; add it with `with_skills`");
                Err(FlowError::invalid_input(message))
            })
    }
}

/// Lets an agent update the memory of the user.
async fn remember(stage: Stage, mut state: RouterState, at: NodeContext) -> Result<Step<RouterState>, NodeError> {
    // The template has the answer as the user sees it.
    let mut seen = state.clone();
    seen.answer = seen.text().map(Value::String);
    let done = stage.text(Ask::new(&seen, &at)).await?;
    state.memory = Some(done.value.clone());
    Ok(Step::new(state).with_data(done.value).with_usage(done.usage))
}

/// Lets the router answer or choose.
async fn route(
    stage: Stage,
    choice: SkillChoice,
    source: Option<&dyn ContextSource>,
    mut state: RouterState,
    at: NodeContext,
) -> Result<Step<RouterState>, NodeError> {
    state.skills = choice.described();
    let limit = match &state.job {
        Some(job) => job.context,
        None => stage.agent().context_messages,
    };
    let mut conversation = match (source, &state.conversation) {
        (Some(source), Some(id)) => source.messages(id, limit).await?,
        _ => Vec::new(),
    };
    // In a run without a user, the request is not a part of the conversation.
    if !conversation.last().is_some_and(|last| matches!(last, Message::User(_))) {
        conversation.push(Message::user(state.request.as_str()));
    }
    let form = Form::new(router_schema(choice.names())).with_check(Arc::new(choice));
    let ask = Ask::new(&state, &at).with_conversation(conversation);
    let done: Done<RouterResult> = stage.value(ask, form).await?;
    let route = done.value.route;
    state.router = Some(done.value.clone());
    Ok(Step::new(state)
        .via(route.as_str())
        .with_data(&done.value)
        .with_usage(done.usage))
}

/// Lets the worker do its task, with the skills that the router chose.
async fn work(
    stage: Stage,
    skills: &Skills,
    mut state: RouterState,
    at: NodeContext,
) -> Result<Step<RouterState>, NodeError> {
    let chosen = state
        .router
        .as_ref()
        .map(|router| router.skills.clone())
        .unwrap_or_default();
    let stage = match chosen.is_empty() {
        true => stage,
        false => stage.with_skills(skills.only(&chosen))?,
    };
    let tools = if chosen.is_empty() {
        Vec::new()
    } else {
        vec![USE_SKILL.to_owned()]
    };
    let ask = Ask::new(&state, &at).with_tools(tools);
    let done = match stage.task().output.clone() {
        TaskOutput::Schema(schema) => stage.value(ask, Form::new(schema).checked_by_schema()).await?,
        _ => stage.text(ask).await?.map(Value::String),
    };
    state.answer = Some(done.value.clone());
    Ok(Step::new(state).with_data(&done.value).with_usage(done.usage))
}

impl fmt::Debug for RouterFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouterFlow")
            .field("file", &self.file)
            .field("agents", &self.agents)
            .field("skills", &self.skills)
            .finish_non_exhaustive()
    }
}
