//! [`CycleSettings`] of a conversation, [`TurnOptions`] of a turn.

use std::{fmt, sync::Arc};

use agcore_chat::{Answer, ChatRequest, HeuristicEstimator, Message, QuestionId, TokenEstimator, ToolExecutor};
use tokio_util::sync::CancellationToken;

use super::machine::{Begin, Limits};
use crate::{budget::Budgets, compact::CompactionSettings};

/// What holds for all turns of a conversation.
#[derive(Clone)]
#[non_exhaustive]
pub struct CycleSettings {
    /// The agent's name in events and spans.
    pub agent: Arc<str>,
    /// Instructions that stand before the conversation in every request and are no part of the history.
    pub prelude: Vec<Arc<Message>>,
    /// Model and parameters of every request; its messages, tools and `stream` are passed over.
    pub request: ChatRequest,
    /// Limits of every turn.
    pub limits: Limits,
    /// When and how the conversation is made shorter.
    pub compaction: CompactionSettings,
    /// What turns may spend.
    pub budgets: Budgets,
    /// How tokens are estimated, for compaction and budgets.
    pub estimator: Arc<dyn TokenEstimator>,
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
        }
    }
}

impl CycleSettings {
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the agent's name.
    pub fn with_agent(mut self, agent: impl Into<Arc<str>>) -> Self {
        self.agent = agent.into();
        self
    }

    /// Sets the instructions that stand before the conversation.
    pub fn with_prelude<M: Into<Arc<Message>>>(mut self, messages: impl IntoIterator<Item = M>) -> Self {
        self.prelude = messages.into_iter().map(Into::into).collect();
        self
    }

    /// Sets model and parameters.
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.request = request;
        self
    }

    /// Sets the limits.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets when and how the conversation is made shorter.
    pub fn with_compaction(mut self, compaction: CompactionSettings) -> Self {
        self.compaction = compaction;
        self
    }

    /// Sets what turns may spend.
    pub fn with_budgets(mut self, budgets: Budgets) -> Self {
        self.budgets = budgets;
        self
    }

    /// Sets how tokens are estimated.
    pub fn with_estimator(mut self, estimator: Arc<dyn TokenEstimator>) -> Self {
        self.estimator = estimator;
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
            .finish_non_exhaustive()
    }
}

/// What holds for one turn.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct TurnOptions {
    /// The tools that the model may use.
    pub tools: Option<Arc<dyn ToolExecutor>>,
    /// Cancels the turn.
    pub token: CancellationToken,
    /// Whether the model's replies shall come as they are made.
    pub stream: bool,
    /// An id under which the turn is found in logs and spans.
    pub trace: Option<Arc<str>>,
}

impl TurnOptions {
    /// No tools, whole replies.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, under a token that cancels the turn.
    pub fn under(token: CancellationToken) -> Self {
        Self {
            tools: None,
            token,
            stream: false,
            trace: None,
        }
    }

    /// Sets the tools.
    pub fn with_tools(mut self, tools: Arc<dyn ToolExecutor>) -> Self {
        self.tools = Some(tools);
        self
    }

    /// Sets the token that cancels the turn.
    pub fn with_token(mut self, token: CancellationToken) -> Self {
        self.token = token;
        self
    }

    /// Says whether the model's replies shall come as they are made.
    pub fn with_stream(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }

    /// Sets the id for logs and spans.
    pub fn with_trace(mut self, trace: impl Into<Arc<str>>) -> Self {
        self.trace = Some(trace.into());
        self
    }
}

impl fmt::Debug for TurnOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnOptions")
            .field("tools", &self.tools.is_some())
            .field("stream", &self.stream)
            .field("trace", &self.trace)
            .finish_non_exhaustive()
    }
}

/// What a run of the driver begins with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TurnInput {
    /// A new turn. One that was left open is stopped first.
    Begin(Begin),
    /// The rest of a suspended turn, with answers to some or all of its questions.
    Resume(Vec<(QuestionId, Answer)>),
}

impl From<Begin> for TurnInput {
    fn from(begin: Begin) -> Self {
        Self::Begin(begin)
    }
}
