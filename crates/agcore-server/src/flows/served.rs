//! [`ServedFlow`]: a flow that a server offers. [`FlowSetup`]: what it is built with.

use std::{fmt, sync::Arc, time::Duration};

use agcore_agent::{RuntimeBundle, TurnLog};
use agcore_chat::{Actor, Biller, Clock, StopCheck};
use agcore_cycle::SharedBudget;
use agcore_flow::{Flow, FlowError};
use agcore_flow_files::{FileFlow, FileFlowBuilder, FlowFile, RequestState, StoredContext};
use agcore_session::{Billing, SessionStore};

use crate::stored::UserProfile;

/// A flow that a server offers: that of a file, or one that was built in Rust.
///
/// What the nodes of a flow do is stored by its checkpoints. The sessions of its agents are stored, too, so that a run that was
/// killed repeats no call of a model or a tool: those of a file always, those of other flows if [`new`](Self::new) builds them.
#[derive(Clone)]
pub struct ServedFlow(Source);

#[derive(Clone)]
enum Source {
    File(Box<FileFlowBuilder>),
    Built(Build),
}

type Build = Arc<dyn Fn(&FlowSetup) -> Result<FileFlow, FlowError> + Send + Sync>;

/// The values with which a flow is built for a run.
pub struct FlowSetup {
    pub(crate) actor: Actor,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) context: StoredContext,
    /// The profile of the actor, if flows may know it.
    pub(crate) profile: Option<UserProfile>,
    /// Without it, the flow is only checked.
    pub(crate) sessions: Option<SetupSessions>,
}

/// Where the agents of a run keep their sessions.
pub(crate) struct SetupSessions {
    pub(crate) store: Arc<dyn SessionStore>,
    /// Writes them, and reports their turns to clients.
    pub(crate) log: Arc<dyn TurnLog>,
    pub(crate) biller: Option<Arc<dyn Biller>>,
    pub(crate) billing: Option<Billing>,
    /// The budget of the agents, if the run is limited.
    pub(crate) budget: Option<SharedBudget>,
    /// Is asked directly before each call of a model or a tool.
    pub(crate) stop_check: Option<StopCheck>,
}

impl ServedFlow {
    /// Creates a flow that is built for each run, and once to check it when the server is built. Build it like this if agents work
    /// in it: give them the [bundle](FlowSetup::bundle) of the setup.
    ///
    /// ```
    /// use agcore_agent::AgentBuilder;
    /// use agcore_chat::SystemClock;
    /// use agcore_flow_files::{FlowFile, StagedFlow};
    /// use agcore_server::ServedFlow;
    ///
    /// fn desk(file: FlowFile, agents: AgentBuilder) -> Result<ServedFlow, agcore_agent::AgentError> {
    ///     let bundle = agents.build()?;
    ///     Ok(ServedFlow::new(move |setup| {
    ///         let flow = StagedFlow::new(file.clone(), setup.bundle(&bundle)).with_actor(setup.actor().clone());
    ///         Ok(flow.build(setup.clock())?.into())
    ///     }))
    /// }
    /// ```
    pub fn new(build: impl Fn(&FlowSetup) -> Result<FileFlow, FlowError> + Send + Sync + 'static) -> Self {
        Self(Source::Built(Arc::new(build)))
    }

    /// Returns the file, if the flow is that of a file.
    pub(crate) fn file(&self) -> Option<&FlowFile> {
        self.builder().map(FileFlowBuilder::file)
    }

    pub(crate) fn builder(&self) -> Option<&FileFlowBuilder> {
        match &self.0 {
            Source::File(builder) => Some(builder),
            Source::Built(_) => None,
        }
    }

    /// Builds the flow for a run.
    ///
    /// # Errors
    /// When the flow cannot be built.
    pub(crate) fn build(&self, setup: &FlowSetup) -> Result<FileFlow, FlowError> {
        match &self.0 {
            Source::Built(build) => build(setup),
            Source::File(builder) => {
                let bundle = setup.bundle(builder.bundle());
                let mut flow = FileFlowBuilder::clone(builder).with_bundle(bundle);
                if let Some(profile) = &setup.profile {
                    let prompt = profile.before(flow.system_prompt());
                    flow = flow.with_system_prompt(prompt).with_profiles(profile.clone());
                }
                let flow = flow.with_context(setup.context()).with_actor(setup.actor.clone());
                flow.build(setup.clock())
            }
        }
    }
}

impl From<FileFlowBuilder> for ServedFlow {
    fn from(builder: FileFlowBuilder) -> Self {
        Self(Source::File(Box::new(builder)))
    }
}

/// A flow that is the same for all runs. Agents that work in it keep no sessions in the store of the server.
impl<S: RequestState> From<Flow<S>> for ServedFlow {
    fn from(flow: Flow<S>) -> Self {
        let flow = FileFlow::from(flow);
        Self::new(move |_| Ok(flow.clone()))
    }
}

impl FlowSetup {
    /// Returns a bundle whose sessions are stored with those of the server, and reported to its clients.
    pub fn bundle(&self, bundle: &RuntimeBundle) -> RuntimeBundle {
        let Some(own) = &self.sessions else {
            return bundle.clone();
        };
        let mut bundle = bundle.clone();
        if let Some(budget) = &own.budget {
            bundle = bundle.with_shared_budget(budget.clone());
        }
        if let Some(check) = &own.stop_check {
            bundle = bundle.with_stop_check(check.clone());
        }
        let sessions = bundle.stored_sessions_in(Arc::clone(&own.store));
        let sessions = sessions.with_actor(self.actor.clone());
        let mut sessions = sessions
            .with_turn_log(Arc::clone(&own.log))
            .with_store_patience(Duration::MAX);
        if let Some(biller) = &own.biller {
            sessions = sessions.with_biller(Arc::clone(biller));
        }
        if let Some(billing) = &own.billing {
            sessions = sessions.with_billing(billing.clone());
        }
        bundle.with_stored_sessions(&sessions)
    }

    /// Returns the user for whom the flow runs.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Returns the profile of the user, if the server [uses profiles](crate::ServerBuilder::with_profiles) and the user has one.
    /// Let the system prompts of agents begin [with it](UserProfile::before); a planner flow also takes it as its source of
    /// profiles.
    pub fn profile(&self) -> Option<&UserProfile> {
        self.profile.as_ref()
    }

    /// Returns the clock of the server.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Returns the conversations of the threads of the tenant.
    pub fn context(&self) -> StoredContext {
        self.context.clone()
    }
}

impl fmt::Debug for ServedFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.file().map(|file| &file.name);
        f.debug_struct("ServedFlow")
            .field("file", &name)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for FlowSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowSetup")
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}
