//! [`FileFlow`]: the flow of a file of any kind, or one that was built in Rust.

mod request;
mod shape;

use std::{fmt, pin::Pin, sync::Arc};

use agcore_agent::{RuntimeBundle, Skills};
use agcore_chat::{Actor, Clock, StopCheck};
use agcore_files::{FilePreprocessor, FileStorage};
use agcore_flow::{Checkpoints, Flow, FlowError, FlowEvent, Picture, SavedRun};
use agcore_profile::ProfileSource;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use self::{
    request::{FlowRequest, FlowResult},
    shape::RequestState,
};

use self::shape::{Drive, Shape, Shaped};
use crate::{
    file::{FlowFile, FlowKind},
    graph_flow::GraphFlow,
    planner_flow::{CallTool, Files, PlannerFlow, PlannerMemory},
    router::{ContextSource, RouterFlow},
    staged::StagedFlow,
};

/// The flow of a file of any kind, for programs that serve whatever a file contains: start a [`FlowRequest`], observe its events,
/// cancel it, answer its questions, continue it from its checkpoints. A [`Flow`] that was built in Rust can be one, too, if its
/// state is a [`RequestState`]. Cheap to clone.
///
/// ```
/// use agcore_agent::AgentBuilder;
/// use agcore_chat::SystemClock;
/// use agcore_flow_files::{FileFlow, FlowFile, FlowRequest};
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// let text = "
/// version: 1
/// kind: graph
/// nodes: {answer: {}}
/// edges: [{from: answer, to: end}]
/// agents: {helper: {role: You help., goal: Help well., backstory: ''}}
/// tasks: {answer: {agent: helper, description: '{{request}}', expected_output: An answer.}}
/// ";
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let file = FlowFile::parse("help.flow.yaml", text, |_| Err("there are no other files".into()))?;
/// # let model = ScriptedProvider::new([ScriptStep::text("It is noon.")]);
/// let bundle = AgentBuilder::new().with_provider(model).build()?;
/// let flow = FileFlow::builder(file, bundle).build(SystemClock::new())?;
/// let result = flow.start(FlowRequest::new("What time is it?")).await?;
/// assert_eq!(result.answer.as_deref(), Some("It is noon."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct FileFlow(Arc<dyn Shape>);

/// Builds a [`FileFlow`]. Clone it to build the same flow for several actors.
#[derive(Clone)]
#[must_use = "a builder does nothing before `build`"]
pub struct FileFlowBuilder {
    file: FlowFile,
    bundle: RuntimeBundle,
    system_prompt: String,
    actor: Actor,
    skills: Skills,
    context: Option<Arc<dyn ContextSource>>,
    profiles: Option<Arc<dyn ProfileSource>>,
    memory: Option<Arc<dyn PlannerMemory>>,
    files: Option<Files>,
}

/// A run of a [`FileFlow`], to be awaited. Dropping the future stops it; one with checkpoints can be continued.
#[must_use = "a run does nothing before it is awaited"]
pub struct FileFlowRun {
    flow: FileFlow,
    drive: Drive,
}

impl FileFlow {
    /// Begins to build the flow of a file. Its agents use the provider and the tools of the bundle.
    pub fn builder(file: FlowFile, bundle: RuntimeBundle) -> FileFlowBuilder {
        FileFlowBuilder {
            file,
            bundle,
            system_prompt: String::new(),
            actor: Actor::local(),
            skills: Skills::default(),
            context: None,
            profiles: None,
            memory: None,
            files: None,
        }
    }

    /// Returns the name of the flow.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns a picture of the flow.
    pub fn picture(&self) -> Picture {
        self.0.picture()
    }

    /// Begins a run. Nothing happens before it is awaited. With checkpoints in which a run has started, that run is continued, and
    /// the request is not used.
    pub fn start(&self, request: FlowRequest) -> FileFlowRun {
        self.run(Drive::new(Some(request)))
    }

    /// Continues a run after its last checkpoint.
    pub fn resume(&self, checkpoints: Checkpoints) -> FileFlowRun {
        self.run(Drive::new(None)).with_checkpoints(checkpoints)
    }

    /// Continues a run that was suspended without checkpoints.
    pub fn resume_saved(&self, saved: SavedRun) -> FileFlowRun {
        let mut drive = Drive::new(None);
        drive.saved = Some(saved);
        self.run(drive)
    }

    fn run(&self, drive: Drive) -> FileFlowRun {
        FileFlowRun {
            flow: self.clone(),
            drive,
        }
    }
}

impl<S: RequestState> From<Flow<S>> for FileFlow {
    fn from(flow: Flow<S>) -> Self {
        Self(Arc::new(Shaped(flow)))
    }
}

impl FileFlowRun {
    /// Saves the run after each node.
    pub fn with_checkpoints(mut self, checkpoints: Checkpoints) -> Self {
        self.drive.checkpoints = Some(checkpoints);
        self
    }

    /// Cancels the run when `token` is cancelled.
    pub fn with_token(mut self, token: CancellationToken) -> Self {
        self.drive.token = token;
        self
    }

    /// Asks a check before each attempt of a node, and before each call of its agents and tools, whether it may begin. If it may
    /// not, the run ends as if it was cancelled.
    pub fn with_stop_check(mut self, check: StopCheck) -> Self {
        self.drive.stop_check = Some(check);
        self
    }

    /// Calls a function with each event. It must not block.
    pub fn with_observer(mut self, observer: impl Fn(&FlowEvent) + Send + Sync + 'static) -> Self {
        self.drive.observer = Some(Box::new(observer));
        self
    }

    /// Answers a question of the run, by its [id](agcore_flow::Interrupt::id).
    pub fn with_answer(mut self, interrupt: impl Into<String>, answer: impl Into<Value>) -> Self {
        self.drive.answers.push((interrupt.into(), answer.into()));
        self
    }
}

impl IntoFuture for FileFlowRun {
    type Output = Result<FlowResult, FlowError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { flow, drive } = self;
        Box::pin(async move { flow.0.run(drive).await })
    }
}

impl FileFlowBuilder {
    /// Returns the file.
    pub fn file(&self) -> &FlowFile {
        &self.file
    }

    /// Returns the bundle.
    pub fn bundle(&self) -> &RuntimeBundle {
        &self.bundle
    }

    /// Sets another bundle.
    pub fn with_bundle(mut self, bundle: RuntimeBundle) -> Self {
        self.bundle = bundle;
        self
    }

    /// Returns the text with which the system prompt of every agent begins.
    pub fn system_prompt(&self) -> &str {
        &self.system_prompt
    }

    /// Sets the text with which the system prompt of every agent begins.
    pub fn with_system_prompt(mut self, system_prompt: impl Into<String>) -> Self {
        self.system_prompt = system_prompt.into();
        self
    }

    /// Sets the owner of the sessions in which the agents work, by default [`local`](Actor::local).
    pub fn with_actor(mut self, actor: Actor) -> Self {
        self.actor = actor;
        self
    }

    /// Sets the skills of router flows.
    pub fn with_skills(mut self, skills: Skills) -> Self {
        self.skills = skills;
        self
    }

    /// Sets where router flows read conversations.
    pub fn with_context(mut self, source: impl ContextSource + 'static) -> Self {
        self.context = Some(Arc::new(source));
        self
    }

    /// Sets the source of profiles of planner flows.
    pub fn with_profiles(mut self, profiles: impl ProfileSource + 'static) -> Self {
        self.profiles = Some(Arc::new(profiles));
        self
    }

    /// Sets what outlives a turn of a planner flow.
    pub fn with_memory(mut self, memory: impl PlannerMemory + 'static) -> Self {
        self.memory = Some(Arc::new(memory));
        self
    }

    /// Sets what reads the files of planner flows, and a storage in which they are.
    pub fn with_files(
        mut self,
        preprocessor: impl FilePreprocessor + 'static,
        storage: impl FileStorage + 'static,
    ) -> Self {
        self.files = Some((Arc::new(preprocessor), vec![Arc::new(storage)]));
        self
    }

    /// Adds another storage, which has the files whose mappings name its provider. Without [`with_files`](Self::with_files), it is
    /// not used.
    pub fn with_storage(mut self, storage: impl FileStorage + 'static) -> Self {
        if let Some((_, storages)) = &mut self.files {
            storages.push(Arc::new(storage));
        }
        self
    }

    /// Builds the flow. The tools of planner flows are those of the bundle that the file names.
    ///
    /// # Errors
    /// [`InvalidInput`](agcore_flow::FlowErrorKind::InvalidInput) if the file names a tool or a skill that does not exist.
    pub fn build(self, clock: impl Clock + 'static) -> Result<FileFlow, FlowError> {
        let shape: Arc<dyn Shape> = match self.file.kind {
            FlowKind::Staged => {
                let flow = StagedFlow::new(self.file, self.bundle).with_system_prompt(self.system_prompt);
                Arc::new(Shaped(flow.with_actor(self.actor).build(clock)?))
            }
            FlowKind::Graph => {
                let flow = GraphFlow::new(self.file, self.bundle).with_system_prompt(self.system_prompt);
                Arc::new(Shaped(flow.with_actor(self.actor).build(clock)?))
            }
            FlowKind::Router => {
                let flow = RouterFlow::new(self.file, self.bundle).with_system_prompt(self.system_prompt);
                let mut flow = flow.with_actor(self.actor).with_skills(self.skills);
                if let Some(context) = self.context {
                    flow = flow.with_shared_context(context);
                }
                Arc::new(Shaped(flow.build(clock)?))
            }
            FlowKind::Planner => Arc::new(Shaped(self.planner()?.build(clock)?)),
        };
        Ok(FileFlow(shape))
    }

    fn planner(self) -> Result<PlannerFlow, FlowError> {
        let (tools, policy) = (self.bundle.tools().clone(), self.bundle.policy().clone());
        let mut names: Vec<String> = Vec::new();
        for name in self.file.agents.values().flat_map(|agent| &agent.tools) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let extensions = self.bundle.extensions().clone();
        let actor = Arc::new(self.actor.clone());
        let mut flow = PlannerFlow::new(self.file, self.bundle)
            .with_system_prompt(self.system_prompt)
            .with_actor(self.actor);
        for name in names {
            let tool = CallTool::from_registry(&tools, &name).ok_or_else(|| {
                FlowError::invalid_input(format!("the file names the tool `{name}`, which is not registered"))
            })?;
            let tool = tool.with_policy(policy.clone()).with_extensions(extensions.clone());
            flow = flow.with_tool(tool.with_actor(Arc::clone(&actor)));
        }
        if let Some(profiles) = self.profiles {
            flow = flow.with_shared_profiles(profiles);
        }
        if let Some(memory) = self.memory {
            flow = flow.with_shared_memory(memory);
        }
        if let Some(files) = self.files {
            flow = flow.with_shared_files(files);
        }
        Ok(flow)
    }
}

impl fmt::Debug for FileFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FileFlow").field(&self.name()).finish()
    }
}

impl fmt::Debug for FileFlowRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileFlowRun")
            .field("flow", &self.flow)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for FileFlowBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileFlowBuilder")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}
