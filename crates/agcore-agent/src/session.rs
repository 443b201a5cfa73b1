//! [`AgentSession`]: a conversation with an agent.

mod interrupted;
mod state;
mod create;
mod nested;

pub use state::SessionState;

use std::{
    fmt,
    sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError},
};

use agcore_chat::{Actor, Answer, Message, Question, QuestionId, UsageTracker};
use agcore_cycle::{CompactionReport, LlmCycle, Spent, TurnInput, machine::Machine};
use agcore_tools::ToolSession;
use tokio_util::sync::CancellationToken;

pub(crate) use self::{nested::NestedPlace, state::SessionParts};
use crate::{
    agent::Agent,
    bundle::RuntimeBundle,
    durable::SessionLog,
    error::AgentError,
    session_data::SessionMemory,
    turn::{self, AgentTurn, Conversation, CurrentAgent, Lineage, LiveSession, TurnQueue},
};

/// A conversation with an agent. Every clone is the same session; turns run one at a time.
///
/// A failed or cancelled turn leaves the session usable: its history is valid and keeps whole rounds.
///
/// Methods that wait for the running turn must not be awaited by that turn's own tools or hooks, nor between the events of
/// its stream: they would wait forever.
///
/// ```
/// use agcore_agent::{AgentBuilder, AgentSpec};
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let model = ScriptedProvider::new([ScriptStep::text("Good day, Ada."), ScriptStep::text("You are Ada.")]);
/// let bundle = AgentBuilder::new().with_provider(model).build()?;
/// let spec = AgentSpec::new("greeter", "You greet people.");
/// let session = bundle.session("s-1", spec.clone());
/// session.turn("I am Ada.").await?;
///
/// // Save the session as JSON, and continue it elsewhere.
/// let saved = serde_json::to_string(&session.export().await).unwrap();
/// let session = bundle.restore(serde_json::from_str(&saved).unwrap(), spec)?;
/// assert_eq!(session.turn("Who am I?").await?.text(), "You are Ada.");
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct AgentSession(Arc<LiveSession>);

impl AgentSession {
    pub(crate) fn new(bundle: RuntimeBundle, id: Arc<str>, agent: Arc<dyn Agent>) -> Self {
        let session = SessionParts {
            id,
            actor: local_actor(),
            machine: Machine::new(bundle.config().limits.clone()),
            tools: ToolSession::new(),
            run_state: None,
            created: bundle.parts().clock.now(),
            agent: None,
            lineage: Lineage::default(),
        };
        Self::with_parts(bundle, agent, session, None)
    }

    pub(crate) fn with_parts(
        bundle: RuntimeBundle,
        agent: Arc<dyn Agent>,
        session: SessionParts,
        recorder: Option<Arc<dyn SessionLog>>,
    ) -> Self {
        let parts = bundle.parts();
        let SessionParts { machine, .. } = session;
        let handed_to = session.agent.as_deref().and_then(|name| bundle.member(name));
        let current = CurrentAgent {
            handed_to: handed_to.as_ref().and(session.agent),
            agent: handed_to.unwrap_or(agent),
            note: None,
        };
        let results = parts.short_results.as_ref().map(|short| short.session());
        let (provider, clock) = (Arc::clone(&parts.provider), Arc::clone(&parts.clock));
        let mut cycle =
            LlmCycle::from_shared(provider, clock, parts.settings.base(), machine).with_hooks(parts.hooks.clone());
        if let Some(recorder) = &recorder {
            cycle.start_recording();
            cycle.count_unfinished_call(&**recorder);
        }
        let conversation = Conversation {
            cycle,
            agent: Arc::clone(&current.agent),
            run_state: session.run_state,
            team: None,
            shown_memory: None,
        };
        let conversation = TurnQueue::new(conversation, parts.config.busy, parts.config.open_questions);
        Self(Arc::new(LiveSession {
            id: session.id,
            bundle,
            agent: Mutex::new(current),
            lineage: session.lineage,
            memory_id: OnceLock::new(),
            actor: Mutex::new(session.actor),
            tools: session.tools,
            results,
            created: session.created,
            conversation,
            recorder,
        }))
    }

    /// Returns the id of the session.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Returns the agent that answers the next turn.
    pub fn agent(&self) -> Arc<dyn Agent> {
        self.0.agent()
    }

    /// Sets the actor on whose behalf the session acts; [`Actor::local`] by default. The actor owns the grants that the
    /// session receives, and appears in audit records, in the context of tools and in calls of the model. The setting
    /// is shared by all clones, takes effect with the next turn, and is saved with the session.
    ///
    /// ```
    /// use agcore_agent::agent;
    /// use agcore_chat::Actor;
    /// # use agcore_testkit::scripted::ScriptedProvider;
    /// # let model = ScriptedProvider::new([]);
    ///
    /// let session = agent(model).session()?.with_actor(Actor::new("acme", "ann"));
    /// assert_eq!(session.actor().user, "ann");
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// ```
    #[must_use]
    pub fn with_actor(self, actor: impl Into<Arc<Actor>>) -> Self {
        *self.0.actor.lock().unwrap_or_else(PoisonError::into_inner) = actor.into();
        self
    }

    /// Returns the actor on whose behalf the session acts.
    pub fn actor(&self) -> Arc<Actor> {
        self.0.actor()
    }

    /// Returns the memory of the session, which its turns share.
    ///
    /// # Errors
    /// [`InvalidConfig`](crate::AgentErrorKind::InvalidConfig) if the bundle was built without a
    /// [store](crate::AgentBuilder::with_session_memory) for it.
    pub fn memory(&self) -> Result<SessionMemory, AgentError> {
        self.0.memory().ok_or_else(AgentError::no_session_memory)
    }

    /// Returns what writes a stored session.
    pub(crate) fn recorder(&self) -> Option<Arc<dyn SessionLog>> {
        self.0.recorder.clone()
    }

    /// Uses the memory of another session from now on.
    pub(crate) fn share_memory_of(&self, session: Arc<str>) {
        // A session shares the memory of one other session only.
        let _ = self.0.memory_id.set(session);
    }

    /// Returns the bundle that the session was created from.
    pub fn bundle(&self) -> &RuntimeBundle {
        &self.0.bundle
    }

    /// Returns what the tools remember for the session, such as grants.
    pub fn tools(&self) -> &ToolSession {
        &self.0.tools
    }

    /// Starts a turn: await it for the outcome, or [stream](AgentTurn::stream) it.
    ///
    /// The input is a user message, or a whole list of messages that replaces the history. While questions of a suspended turn
    /// are open, the [`OpenQuestionPolicy`](crate::OpenQuestionPolicy) decides; by default, this turn waits until they are
    /// answered. An interrupted turn without questions is stopped first.
    pub fn turn(&self, input: impl Into<TurnInput>) -> AgentTurn {
        AgentTurn::new(Arc::clone(&self.0), input.into())
    }

    /// Continues a suspended turn with answers to some or all of its questions.
    ///
    /// The same answer given again changes nothing. The turn fails with
    /// [`InvalidInput`](crate::AgentErrorKind::InvalidInput) if no turn is open or an answer fits no question.
    /// If its token is cancelled already, the turn is stopped without another call, and that is recorded.
    ///
    /// ```
    /// use agcore_agent::agent;
    /// use agcore_chat::{Answer, ToolCall};
    /// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
    /// use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, typed};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let model = ScriptedProvider::new([
    ///     ScriptStep::calls([ToolCall::function("call_1", "pay", "{}")]),
    ///     ScriptStep::text("The bill is paid."),
    /// ]);
    /// let session = agent(model)
    ///     .with_tool(typed("pay", "Pays the bill.", |_: NoArguments| async { Ok("paid") }))
    ///     .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
    ///     .with_approver(SuspendingApprover)
    ///     .session()?;
    ///
    /// let outcome = session.turn("Pay the bill.").await?;
    /// let question = outcome.questions()[0].id.clone();
    ///
    /// // Minutes or days later, perhaps after the session was saved and restored:
    /// let outcome = session.resume([(question, Answer::approve())]).await?;
    /// assert_eq!(outcome.text(), "The bill is paid.");
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn resume(&self, answers: impl IntoIterator<Item = (QuestionId, Answer)>) -> AgentTurn {
        AgentTurn::new(Arc::clone(&self.0), TurnInput::Resume(answers.into_iter().collect()))
    }

    /// Compacts the conversation as much as possible now: a model summarizes its older part. The report shows what that
    /// freed, or that there was nothing to do.
    ///
    /// Cancel safe: dropping the future leaves the conversation as it is.
    ///
    /// # Errors
    /// While a turn runs, according to the [`BusyPolicy`](crate::BusyPolicy); when it was cancelled. A summary that fails is
    /// not an error; the report shows it.
    pub async fn compact(&self) -> Result<CompactionReport, AgentError> {
        turn::compact(Arc::clone(&self.0), CancellationToken::new()).await
    }

    /// Returns what all turns spent of their budgets. Waits for the running turn. Nothing is counted without budgets or
    /// prices.
    pub async fn spent(&self) -> Spent {
        self.0
            .conversation
            .read(|conversation| conversation.cycle.spent().clone())
            .await
    }

    /// Cancels the running turn, if any.
    pub fn cancel(&self) {
        self.0.conversation.cancel();
    }

    /// Hands the conversation to another agent from the next turn on. The history is kept, and the system prompt is that of the
    /// new agent. A suspended turn continues with the agent that started it.
    ///
    /// The next user message begins with a note for the model that the agent has changed: a part with the origin
    /// [`Handoff`](agcore_chat::Origin::Handoff), which is not displayed.
    pub fn switch_agent(&self, agent: impl Agent + 'static) {
        self.0.switch_agent(Arc::new(agent));
    }

    /// Returns the conversation so far. Waits for the running turn.
    pub async fn messages(&self) -> Vec<Arc<Message>> {
        self.0
            .conversation
            .read(|conversation| conversation.cycle.messages().to_vec())
            .await
    }

    /// Returns the tokens and calls of all turns, including failed ones. Waits for the running turn.
    pub async fn usage(&self) -> UsageTracker {
        self.0
            .conversation
            .read(|conversation| conversation.cycle.usage().clone())
            .await
    }

    /// Returns the questions that a suspended turn waits for. The list is empty if no turn is suspended. Waits for the
    /// running turn.
    ///
    /// ```
    /// use agcore_agent::{AgentSpec, agent};
    /// use agcore_chat::{Answer, ToolCall};
    /// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
    /// use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, typed};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// # let model = ScriptedProvider::new([
    /// #     ScriptStep::calls([ToolCall::function("call_1", "pay", "{}")]),
    /// #     ScriptStep::text("The bill is not paid."),
    /// # ]);
    /// let bundle = agent(model)
    ///     .with_tool(typed("pay", "Pays the bill.", |_: NoArguments| async { Ok("paid") }))
    ///     .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
    ///     .with_approver(SuspendingApprover)
    ///     .build()?;
    /// let session = bundle.new_session();
    /// session.turn("Pay the bill.").await?;
    /// let saved = session.export().await;
    ///
    /// // In another process: show the open questions, and answer them.
    /// let session = bundle.restore(saved, AgentSpec::new("assistant", ""))?;
    /// let questions = session.questions().await;
    /// assert_eq!(questions[0].tool, "pay");
    /// session.resume([(questions[0].id.clone(), Answer::deny("Not today."))]).await?;
    /// assert!(session.questions().await.is_empty());
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// # }).unwrap();
    /// ```
    pub async fn questions(&self) -> Vec<Question> {
        self.0
            .conversation
            .read(|conversation| conversation.cycle.machine().questions().cloned().collect())
            .await
    }

    /// Abandons a suspended turn without answering its questions. The calls that wait are not run, and the history
    /// records that. Returns whether there was one. Waits for the running turn.
    ///
    /// With [`OpenQuestionPolicy::Withdraw`](crate::OpenQuestionPolicy::Withdraw), a new [`turn`](Self::turn) does the same before
    /// it starts. A [stored](crate::StoredSessions) session stores this with its
    /// next turn.
    ///
    /// # Errors
    /// [`InvalidState`](crate::AgentErrorKind::InvalidState) if the state of the turn is damaged.
    pub async fn abandon_turn(&self) -> Result<bool, AgentError> {
        let abandoned = self
            .0
            .conversation
            .write(|conversation| conversation.cycle.abandon_turn())
            .await;
        Ok(abandoned?)
    }

    /// Replaces the conversation. Waits for the running turn. A suspended turn is abandoned. A [stored](crate::StoredSessions)
    /// session stores this with its next turn.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::AgentErrorKind::InvalidInput) if the messages cannot be sent; the conversation stays as it was.
    pub async fn set_messages(&self, messages: Vec<Arc<Message>>) -> Result<(), AgentError> {
        let replaced = self
            .0
            .conversation
            .write(|conversation| conversation.cycle.set_messages(messages))
            .await;
        if let (Ok(()), Some(recorder)) = (&replaced, &self.0.recorder) {
            recorder.state_changed();
        }
        replaced.map_err(AgentError::from)
    }

    /// Returns the whole session, to be saved. Waits for the running turn.
    pub async fn export(&self) -> SessionState {
        let (machine, run_state) = self
            .0
            .conversation
            .read(|conversation| (conversation.cycle.machine().clone(), conversation.run_state.clone()))
            .await;
        SessionState::new(SessionParts {
            id: Arc::clone(&self.0.id),
            actor: self.actor(),
            machine,
            tools: self.0.tools.clone(),
            run_state,
            created: self.0.created,
            agent: self.0.handed_to(),
            lineage: Lineage::default(),
        })
    }

    pub(crate) fn restore(
        bundle: RuntimeBundle,
        state: SessionState,
        agent: Arc<dyn Agent>,
    ) -> Result<Self, AgentError> {
        let parts = state.into_parts(bundle.parts().clock.now())?;
        Ok(Self::with_parts(bundle, agent, parts, None))
    }
}

/// Returns the actor of sessions without one, which they share.
fn local_actor() -> Arc<Actor> {
    static LOCAL: LazyLock<Arc<Actor>> = LazyLock::new(Arc::default);
    Arc::clone(&LOCAL)
}

impl fmt::Debug for AgentSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentSession")
            .field("id", &self.0.id)
            .finish_non_exhaustive()
    }
}
