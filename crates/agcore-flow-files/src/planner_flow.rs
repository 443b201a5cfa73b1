//! [`PlannerFlow`]: a loop of planner, tools and reflection.

mod phase;
mod state;
mod state_tool;
mod call_tool;
mod tools;
mod memory;
mod user_facts;
mod decision;
mod verdicts;
mod view;
mod parts;
mod beginning;
mod cycle;
mod ending;

use std::{fmt, sync::Arc};

use agcore_agent::RuntimeBundle;
use agcore_chat::{Actor, Clock};
use agcore_files::{FilePreprocessor, FileStorage};
use agcore_flow::{END, Flow, FlowBuilder, FlowError, Limit, NodeContext, NodeError, Step};
use agcore_profile::ProfileSource;

pub use self::{
    call_tool::CallTool,
    memory::{MemoryNote, MemoryNoteKind, PlannerMemory, StoredMemory},
    state::PlannerState,
    state_tool::{StateTool, StateToolKind},
    user_facts::user_facts,
};

pub(crate) use self::parts::Files;
use self::{
    parts::{Parts, Setup},
    tools::Tools,
};
use crate::{
    file::{FlowFile, FlowKind},
    planner::RuntimeState,
    stage::Agents,
};

/// Builds flows from files of the kind `planner`: a model plans, calls a tool, reflects on the result and plans again, until it
/// makes the output.
///
/// A run begins with the nodes `initialise`, `inherit` (the earlier turns of the conversation), `user_context` (from the profile),
/// `preprocess` (the files of the user), `recall` (notes from memory) and `scenario`. Then `planner`, the node of a tool and
/// `reflection` take turns. It ends with `finish`, the output tools and `archive`, which keeps notes and the conversation. Every
/// node writes one [`ActionRecord`](crate::ActionRecord), and the last one decides what comes next. After `max_rounds` decisions,
/// the output is written with what there is.
///
/// ```
/// use agcore_agent::AgentBuilder;
/// use agcore_chat::SystemClock;
/// use agcore_flow_files::{CallTool, FlowFile, PlannerFlow, PlannerState};
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
/// use agcore_tools::{NoArguments, typed};
///
/// let text = "
/// version: 1
/// kind: planner
/// agents:
///   helper: {role: You help., goal: Help well., backstory: '', tools: [clock]}
/// tasks:
///   planner: {agent: helper, description: '{{request}} {{tools}} {{actions}}', expected_output: An action.}
///   reflection: {agent: helper, description: '{{actions}}', expected_output: A judgement.}
///   output: {agent: helper, description: '{{request}} {{actions}}', expected_output: An answer.}
/// ";
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let file = FlowFile::parse("help.flow.yaml", text, |_| Err("there are no other files".into()))?;
/// # let model = ScriptedProvider::new([
/// #     ScriptStep::text(r#"{"summary": "The time is needed.", "next": "clock", "calls": [{}]}"#),
/// #     ScriptStep::text(
/// #         r#"{"summary": "That is it.", "relevance": 1, "is_todo_done": null, "todo_result": null, "is_finished": true}"#,
/// #     ),
/// #     ScriptStep::text("It is noon."),
/// # ]);
/// let bundle = AgentBuilder::new().with_provider(model).build()?;
/// let clock = typed("clock", "Returns the time.", |_: NoArguments| async { Ok("12:00") });
/// let flow = PlannerFlow::new(file, bundle).with_tool(CallTool::new(clock)?).build(SystemClock::new())?;
/// let state = flow.run(PlannerState::new("What time is it?")).await?.into_state()?;
/// assert_eq!(state.answer().as_deref(), Some("It is noon."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[must_use = "a planner flow does nothing before `build`"]
pub struct PlannerFlow(Setup);

impl PlannerFlow {
    /// Creates a flow whose agents use the provider of a bundle. The tools of the bundle are not used, but those that are added
    /// here.
    pub fn new(file: FlowFile, bundle: RuntimeBundle) -> Self {
        let agents = Agents::new(bundle, &file);
        Self(Setup {
            file,
            agents,
            tools: Tools::default(),
            profiles: None,
            files: None,
            memory: None,
        })
    }

    /// Sets the text with which the system prompt of every agent begins, like that of `agcore_profile::build_global_system_prompt`.
    pub fn with_system_prompt(mut self, system_prompt: impl AsRef<str>) -> Self {
        self.0.agents.system_prompt = system_prompt.as_ref().into();
        self
    }

    /// Sets the owner of the sessions in which the agents work, by default [`local`](Actor::local).
    pub fn with_actor(mut self, actor: Actor) -> Self {
        self.0.agents.actor = actor.into();
        self
    }

    /// Adds a tool.
    pub fn with_tool(mut self, tool: impl StateTool + 'static) -> Self {
        self.0.tools.push(Arc::new(tool));
        self
    }

    /// Sets the source of the profiles of users. It is asked about the [user](PlannerState::user) of a run, whose id is a UUID.
    pub fn with_profiles(mut self, profiles: impl ProfileSource + 'static) -> Self {
        self.0.profiles = Some(Arc::new(profiles));
        self
    }

    /// Sets what reads the files of users, and a storage in which they are.
    pub fn with_files(
        mut self,
        preprocessor: impl FilePreprocessor + 'static,
        storage: impl FileStorage + 'static,
    ) -> Self {
        self.0.files = Some((Arc::new(preprocessor), vec![Arc::new(storage)]));
        self
    }

    /// Adds another storage, which has the files whose mappings name its provider. Without [`with_files`](Self::with_files), it is
    /// not used.
    pub fn with_storage(mut self, storage: impl FileStorage + 'static) -> Self {
        if let Some((_, storages)) = &mut self.0.files {
            storages.push(Arc::new(storage));
        }
        self
    }

    /// Sets what outlives a turn: notes about users, and conversations.
    pub fn with_memory(mut self, memory: impl PlannerMemory + 'static) -> Self {
        self.0.memory = Some(Arc::new(memory));
        self
    }

    pub(crate) fn with_shared_profiles(mut self, profiles: Arc<dyn ProfileSource>) -> Self {
        self.0.profiles = Some(profiles);
        self
    }

    pub(crate) fn with_shared_files(mut self, files: Files) -> Self {
        self.0.files = Some(files);
        self
    }

    pub(crate) fn with_shared_memory(mut self, memory: Arc<dyn PlannerMemory>) -> Self {
        self.0.memory = Some(memory);
        self
    }

    /// Builds the flow.
    ///
    /// # Errors
    /// [`InvalidInput`](agcore_flow::FlowErrorKind::InvalidInput) if the file is of another kind, if the planner names a tool that
    /// was not added, and if a tool has the name of another one or of a node.
    pub fn build(self, clock: impl Clock + 'static) -> Result<Flow<PlannerState>, FlowError> {
        self.0.file.expect_kind(FlowKind::Planner)?;
        self.check_tools()?;
        let name = self.0.file.name.clone();
        let parts = Arc::new(Parts::new(self.0)?);
        let flow = FlowBuilder::new(name, clock)
            .with_version(RuntimeState::VERSION)
            .with_migration(|_, state| PlannerState::upgraded(state));
        let mut flow = beginning(flow, &parts)
            .with_node(phase::PLANNER, node(&parts, cycle::plan))
            .with_limit(phase::PLANNER, Limit::new(parts.rounds).with_exit(phase::FINISH))
            .with_edge(phase::PLANNER, phase::FINISH);
        // Without tools that the planner can call, there is nothing to reflect on.
        if parts.tools.calls().next().is_some() {
            flow = flow
                .with_node(phase::REFLECTION, node(&parts, cycle::reflect))
                .with_edge(phase::REFLECTION, phase::PLANNER)
                .with_edge(phase::REFLECTION, phase::FINISH);
        }
        ending(tools(flow, &parts), &parts).build()
    }

    fn check_tools(&self) -> Result<(), FlowError> {
        let mut names: Vec<&str> = phase::ALL.to_vec();
        for tool in self.0.tools.all() {
            if names.contains(&tool.name()) {
                let message = format!(
                    "the tool `{}` has the name of another tool or node; rename it",
                    tool.name()
                );
                return Err(FlowError::invalid_input(message));
            }
            names.push(tool.name());
        }
        let named = self.0.file.agents.values().flat_map(|agent| &agent.tools);
        for name in named {
            if !self.0.tools.all().any(|tool| tool.name() == name) {
                let message =
                    format!("the file names the tool `{name}`, which does not exist; add it with `with_tool`");
                return Err(FlowError::invalid_input(message));
            }
        }
        Ok(())
    }
}

type Builder = FlowBuilder<PlannerState>;

/// Returns a node that runs a function with the parts of the flow.
fn node<F, R>(parts: &Arc<Parts>, work: F) -> impl agcore_flow::Node<PlannerState> + use<F, R>
where
    F: Fn(Arc<Parts>, PlannerState, NodeContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Step<PlannerState>, NodeError>> + Send + 'static,
{
    let parts = Arc::clone(parts);
    move |state: PlannerState, at: NodeContext| work(Arc::clone(&parts), state, at)
}

fn beginning(flow: Builder, parts: &Arc<Parts>) -> Builder {
    flow.with_node(phase::INITIALISE, node(parts, beginning::initialise))
        .with_node(phase::INHERIT, node(parts, beginning::inherit))
        .with_node(phase::USER_CONTEXT, node(parts, beginning::user_context))
        .with_node(phase::PREPROCESS, node(parts, beginning::preprocess))
        .with_node(phase::RECALL, node(parts, beginning::recall))
        .with_node(phase::SCENARIO, node(parts, beginning::scenario))
        .with_edge(phase::INITIALISE, phase::INHERIT)
        .with_edge(phase::INHERIT, phase::USER_CONTEXT)
        .with_edge(phase::USER_CONTEXT, phase::PREPROCESS)
        .with_edge(phase::PREPROCESS, phase::RECALL)
        .with_edge(phase::RECALL, phase::SCENARIO)
        .with_edge(phase::SCENARIO, phase::PLANNER)
}

/// Adds a node for each tool. Output tools follow each other in any order.
fn tools(mut flow: Builder, parts: &Arc<Parts>) -> Builder {
    let outputs: Vec<String> = parts.tools.outputs().map(|tool| tool.name().to_owned()).collect();
    for tool in parts.tools.all() {
        let (name, kind) = (tool.name().to_owned(), tool.kind());
        let tool = Arc::clone(tool);
        let work = move |_, state, at| cycle::run_tool(Arc::clone(&tool), state, at);
        flow = flow.with_node(&name, node(parts, work));
        if kind.is_call() {
            flow = flow
                .with_edge(phase::PLANNER, &name)
                .with_edge(&name, phase::REFLECTION);
        }
        if kind.is_output() {
            flow = flow
                .with_edge(phase::FINISH, &name)
                .with_edge(&name, phase::OUTPUT)
                .with_edge(&name, phase::ARCHIVE)
                .with_edge(phase::OUTPUT, &name)
                .with_limit(&name, parts.rounds.saturating_add(1));
            for other in outputs.iter().filter(|other| **other != name) {
                flow = flow.with_edge(&name, other);
            }
        }
    }
    flow
}

fn ending(flow: Builder, parts: &Arc<Parts>) -> Builder {
    flow.with_node(phase::FINISH, node(parts, ending::finish))
        .with_node(phase::OUTPUT, node(parts, ending::output))
        .with_node(phase::ARCHIVE, node(parts, ending::archive))
        .with_edge(phase::FINISH, phase::OUTPUT)
        .with_edge(phase::OUTPUT, phase::ARCHIVE)
        .with_edge(phase::ARCHIVE, END)
}

impl fmt::Debug for PlannerFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlannerFlow")
            .field("file", &self.0.file)
            .field("tools", &self.0.tools)
            .finish_non_exhaustive()
    }
}
