//! [`CycleSettings`] of a conversation, [`TurnOptions`], [`PauseFlag`] and [`TurnInput`] of a turn.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use agcore_chat::{
    Actor, Answer, ChatRequest, HeuristicEstimator, Message, QuestionId, TokenEstimator, ToolExecutor, UserMessage,
};
use agcore_llm::LlmProvider;
use tokio_util::sync::CancellationToken;

use crate::{
    budget::{Budgets, LearntLimits},
    compact::{CompactionSettings, ToolTokens},
    machine::{Begin, Limits, Purpose},
    recorder::OutcomeRecorder,
};

/// Settings for all turns of a conversation.
///
/// ```
/// use agcore_cycle::{Budget, Budgets, CycleSettings, machine::Limits};
///
/// let settings = CycleSettings::new()
///     .with_agent("librarian")
///     .with_limits(Limits::new().with_max_tool_turns(5))
///     .with_budgets(Budgets::new().with_turn(Budget::new().with_tokens(50_000)));
/// assert_eq!(settings.limits.max_tool_turns, 5);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct CycleSettings {
    /// The agent's name in events and spans.
    pub agent: Arc<str>,
    /// Instructions that precede the conversation in every request. They are not part of the history.
    pub prelude: Vec<Arc<Message>>,
    /// Model and parameters of every request; its messages, tools and `stream` are ignored.
    pub request: ChatRequest,
    /// Limits of every turn.
    pub limits: Limits,
    /// When and how the conversation is compacted.
    pub compaction: CompactionSettings,
    /// Budgets of turns and of the conversation.
    pub budgets: Budgets,
    /// The token estimator, used for compaction and budgets.
    pub estimator: Arc<dyn TokenEstimator>,
    /// Whether the request's `tool_choice` applies to every request of a turn. By default it applies to the first round
    /// only: a model that must call a tool in every round can never answer.
    pub keeps_tool_choice: bool,
    /// The recorder of the outcomes of all turns that have no recorder of their own.
    pub recorder: Option<Arc<dyn OutcomeRecorder>>,
    /// Shared by copies, so that many conversations count the tokens of their tools only once.
    pub(crate) tool_tokens: ToolTokens,
    /// The token limits that servers have reported. Shared by copies.
    pub(crate) learnt: LearntLimits,
}

impl Default for CycleSettings {
    fn default() -> Self {
        Self {
            agent: "assistant".into(),
            prelude: Vec::new(),
            request: ChatRequest::default(),
            limits: Limits::default(),
            compaction: CompactionSettings::default(),
            budgets: Budgets::default(),
            estimator: Arc::new(HeuristicEstimator::default()),
            keeps_tool_choice: false,
            recorder: None,
            tool_tokens: ToolTokens::default(),
            learnt: LearntLimits::default(),
        }
    }
}

impl CycleSettings {
    /// Creates the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the provider for a call: summaries may have one of their own.
    pub(crate) fn provider_for<'a>(&'a self, purpose: Purpose, own: &'a dyn LlmProvider) -> &'a dyn LlmProvider {
        match &self.compaction.provider {
            Some(provider) if purpose == Purpose::Summary => &**provider,
            _ => own,
        }
    }

    /// Sets the agent's name.
    #[must_use]
    pub fn with_agent(mut self, agent: impl Into<Arc<str>>) -> Self {
        self.agent = agent.into();
        self
    }

    /// Sets the instructions that precede the conversation.
    #[must_use]
    pub fn with_prelude<M: Into<Arc<Message>>>(mut self, messages: impl IntoIterator<Item = M>) -> Self {
        self.prelude = messages.into_iter().map(Into::into).collect();
        self
    }

    /// Sets model and parameters.
    #[must_use]
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.request = request;
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets when and how the conversation is compacted.
    #[must_use]
    pub fn with_compaction(mut self, compaction: CompactionSettings) -> Self {
        self.compaction = compaction;
        self
    }

    /// Sets the budgets.
    #[must_use]
    pub fn with_budgets(mut self, budgets: Budgets) -> Self {
        self.budgets = budgets;
        self
    }

    /// Sets the token estimator.
    #[must_use]
    pub fn with_estimator(mut self, estimator: Arc<dyn TokenEstimator>) -> Self {
        self.estimator = estimator;
        self
    }

    /// Sets whether the request's `tool_choice` applies to every request of a turn, instead of the first round only.
    #[must_use]
    pub fn with_kept_tool_choice(mut self, keeps: bool) -> Self {
        self.keeps_tool_choice = keeps;
        self
    }

    /// Sets the recorder of the outcomes of all turns.
    #[must_use]
    pub fn with_recorder(mut self, recorder: Arc<dyn OutcomeRecorder>) -> Self {
        self.recorder = Some(recorder);
        self
    }
}

impl fmt::Debug for CycleSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CycleSettings")
            .field("agent", &self.agent)
            .field("prelude", &self.prelude)
            .field("request", &self.request)
            .field("limits", &self.limits)
            .field("compaction", &self.compaction)
            .field("budgets", &self.budgets)
            .field("keeps_tool_choice", &self.keeps_tool_choice)
            .field("recorder", &self.recorder.is_some())
            .finish_non_exhaustive()
    }
}

/// Options of one turn.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct TurnOptions {
    /// The tools that the model may use.
    pub tools: Option<Arc<dyn ToolExecutor>>,
    /// Cancels the turn.
    pub token: CancellationToken,
    /// Whether the model's replies are streamed.
    pub stream: bool,
    /// The id under which the turn appears in logs and spans.
    pub trace: Option<Arc<str>>,
    /// The id of the session for which the turn runs, for hooks; that of the trace if `None`.
    pub session: Option<Arc<str>>,
    /// The actor on whose behalf the model is called; [`Actor::local`] if `None`.
    pub actor: Option<Arc<Actor>>,
    /// The recorder of the outcomes of the turn, in place of that of the [settings](CycleSettings::recorder).
    pub recorder: Option<Arc<dyn OutcomeRecorder>>,
    /// Pauses the turn before its next call of the model.
    pub pause: Option<PauseFlag>,
}

impl TurnOptions {
    /// Creates options without tools, for whole replies.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates options like [`new`](Self::new) with a token that cancels the turn.
    pub fn cancelled_by(token: CancellationToken) -> Self {
        // Not from the default, which would create another token.
        Self {
            tools: None,
            token,
            stream: false,
            trace: None,
            session: None,
            actor: None,
            recorder: None,
            pause: None,
        }
    }

    /// Sets the tools.
    #[must_use]
    pub fn with_tools(mut self, tools: Arc<dyn ToolExecutor>) -> Self {
        self.tools = Some(tools);
        self
    }

    /// Sets the token that cancels the turn.
    #[must_use]
    pub fn with_token(mut self, token: CancellationToken) -> Self {
        self.token = token;
        self
    }

    /// Sets whether the model's replies are streamed.
    #[must_use]
    pub fn with_stream(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }

    /// Sets the id for logs and spans.
    #[must_use]
    pub fn with_trace(mut self, trace: impl Into<Arc<str>>) -> Self {
        self.trace = Some(trace.into());
        self
    }

    /// Sets the id of the session for which the turn runs, for hooks.
    #[must_use]
    pub fn with_session(mut self, session: impl Into<Arc<str>>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Returns the id of the session for hooks.
    pub(crate) fn session_for_hooks(&self) -> Option<&Arc<str>> {
        self.session.as_ref().or(self.trace.as_ref())
    }

    /// Sets the actor on whose behalf the model is called.
    #[must_use]
    pub fn with_actor(mut self, actor: impl Into<Arc<Actor>>) -> Self {
        self.actor = Some(actor.into());
        self
    }

    /// Sets the recorder of the outcomes of the turn.
    #[must_use]
    pub fn with_recorder(mut self, recorder: Arc<dyn OutcomeRecorder>) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Sets the flag that pauses the turn.
    #[must_use]
    pub fn with_pause(mut self, flag: PauseFlag) -> Self {
        self.pause = Some(flag);
        self
    }
}

impl fmt::Debug for TurnOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnOptions")
            .field("tools", &self.tools.is_some())
            .field("stream", &self.stream)
            .field("trace", &self.trace)
            .field("recorder", &self.recorder.is_some())
            .finish_non_exhaustive()
    }
}

/// The start of a turn: a user message, whole messages in place of the history, or answers to open questions.
///
/// Created by conversion: text and messages become a new turn that appends them, a list of messages becomes a turn that
/// sends exactly these, which together with the reply become the history.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TurnInput {
    /// A new turn. A turn that is still open is stopped first.
    Begin(Begin),
    /// The rest of a suspended turn, with answers to some or all of its questions.
    Resume(Vec<(QuestionId, Answer)>),
}

impl From<Begin> for TurnInput {
    fn from(begin: Begin) -> Self {
        Self::Begin(begin)
    }
}

impl From<Message> for TurnInput {
    fn from(message: Message) -> Self {
        Self::Begin(Begin::new([Arc::new(message)]))
    }
}

impl From<UserMessage> for TurnInput {
    fn from(message: UserMessage) -> Self {
        Message::from(message).into()
    }
}

impl From<&str> for TurnInput {
    fn from(text: &str) -> Self {
        Message::from(text).into()
    }
}

impl From<String> for TurnInput {
    fn from(text: String) -> Self {
        Message::from(text).into()
    }
}

impl From<Vec<Message>> for TurnInput {
    fn from(messages: Vec<Message>) -> Self {
        messages.into_iter().map(Arc::new).collect::<Vec<_>>().into()
    }
}

impl From<Vec<Arc<Message>>> for TurnInput {
    fn from(messages: Vec<Arc<Message>>) -> Self {
        Self::Begin(Begin::replacing(messages))
    }
}

/// Asks a running turn to pause before its next call of the model, for example because a tool has changed who answers.
///
/// The turn then ends its run with [`TurnOutcome::Paused`](crate::TurnOutcome::Paused) and stays open.
/// [`LlmCycle::resume`](crate::LlmCycle::resume) without answers continues it, with the settings, tools and options of that
/// moment. All clones are the same flag.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{ChatResponse, ToolCall};
/// use agcore_cycle::{CycleSettings, LlmCycle, PauseFlag, TurnOptions, TurnOutcome};
/// use agcore_llm::{SystemClock, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Good day.")) });
/// let mut cycle = LlmCycle::new(provider, SystemClock::new());
///
/// let flag = PauseFlag::new();
/// flag.request();
/// let outcome = cycle.turn("Hello").with_options(TurnOptions::new().with_pause(flag)).await?;
/// assert!(matches!(outcome, TurnOutcome::Paused));
///
/// // Somebody else answers.
/// cycle.set_settings(CycleSettings::new().with_agent("other"));
/// assert_eq!(cycle.resume([]).await?.text(), "Good day.");
/// # Ok::<(), agcore_cycle::CycleError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Default)]
pub struct PauseFlag(Arc<AtomicBool>);

impl PauseFlag {
    /// Creates a flag with which nothing was requested yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests a pause.
    pub fn request(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Returns whether a pause was requested.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
