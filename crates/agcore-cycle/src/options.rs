//! [`CycleSettings`] of a conversation, [`TurnOptions`], [`PauseFlag`] and [`TurnInput`] of a turn.

mod turn;

use std::{fmt, sync::Arc};

use agcore_chat::{ChatRequest, HeuristicEstimator, Message, TokenEstimator};
use agcore_llm::LlmProvider;

pub use self::turn::{PauseFlag, TurnInput, TurnOptions};
use crate::{
    budget::{Budgets, LearntLimits},
    compact::{CompactionSettings, ToolTokens},
    machine::{Limits, Purpose},
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
