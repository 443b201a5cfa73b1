//! [`TurnOptions`], [`PauseFlag`] and [`TurnInput`] of a turn.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use agcore_chat::{Actor, Answer, Message, QuestionId, StopCheck, ToolExecutor, UserMessage};
use tokio_util::sync::CancellationToken;

use crate::{budget::SharedBudget, machine::Begin, recorder::OutcomeRecorder, result_view::ResultView};

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
    /// The recorder of the outcomes of the turn, in place of that of the [settings](crate::CycleSettings::recorder).
    pub recorder: Option<Arc<dyn OutcomeRecorder>>,
    /// Pauses the turn before its next call of the model.
    pub pause: Option<PauseFlag>,
    /// A budget that is kept elsewhere, from which the turn draws besides its own budgets.
    pub shared_budget: Option<SharedBudget>,
    /// Is asked directly before each call of the model whether it may begin. The [executor](Self::tools) needs it as well, for the
    /// calls of tools.
    pub stop_check: Option<StopCheck>,
    /// The form in which the model sees results of tools, if not as they are.
    pub results: Option<Arc<dyn ResultView>>,
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
            shared_budget: None,
            stop_check: None,
            results: None,
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

    /// Sets the check that is asked directly before each call of the model whether it may begin. If it may not, the turn ends as
    /// if it was cancelled.
    #[must_use]
    pub fn with_stop_check(mut self, check: StopCheck) -> Self {
        self.stop_check = Some(check);
        self
    }

    /// Shows the model other texts of tool results than the conversation contains.
    #[must_use]
    pub fn with_results(mut self, view: Arc<dyn ResultView>) -> Self {
        self.results = Some(view);
        self
    }

    /// Returns whether no call may begin any more: the turn was cancelled, or its check requires it.
    pub(crate) fn must_stop(&self) -> bool {
        self.token.is_cancelled() || self.stop_check.as_ref().is_some_and(StopCheck::must_stop)
    }

    /// Sets a budget that is kept elsewhere.
    #[must_use]
    pub fn with_shared_budget(mut self, budget: SharedBudget) -> Self {
        self.shared_budget = Some(budget);
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
