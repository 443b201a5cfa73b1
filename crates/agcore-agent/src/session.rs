//! [`AgentSession`]: the durable conversation with an agent.

mod goal;
mod occupancy;
mod shared;
mod span;
mod state;
mod turn;

pub use state::SessionState;

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use agcore_chat::{Answer, Message, QuestionId, UsageTracker};
use agcore_llm::{
    CompactionReport, CycleSettings, LlmCycle, Output, Spent, TurnInput, TurnOutcome, TurnStream, TypedOptions,
    TypedOutcome,
    cycle::machine::{Begin, Machine, Misuse},
    typed::schemars::JsonSchema,
};
use agcore_tools::ToolSession;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use self::{
    goal::Words,
    occupancy::Occupancy,
    shared::{Conversation, Shared},
};
use crate::{agent::Agent, bundle::RuntimeBundle, error::AgentError};

/// A turn that tells what happens while it runs. Read the events, then [`finish`](TurnStream::finish). It owns what it
/// needs, so that it can be moved to a task; dropping it is cancelling the turn.
pub type AgentTurn = TurnStream<'static, Result<TurnOutcome, AgentError>>;

/// A conversation with an agent. Every clone is the same session; turns run one at a time.
///
/// A failed or cancelled turn leaves the session usable: its history is valid and keeps whole rounds. What waits for a turn
/// that runs must not be awaited by that turn's own tools or hooks, nor between the events of its stream: neither would end.
#[derive(Clone)]
pub struct AgentSession(Arc<Shared>);

impl RuntimeBundle {
    /// A new session of an agent, under an id of the caller's.
    pub fn session(&self, id: impl Into<Arc<str>>, agent: impl Agent + 'static) -> AgentSession {
        AgentSession::new(self.clone(), id.into(), Arc::new(agent))
    }

    /// A session that goes on where it was saved.
    ///
    /// # Errors
    /// [`AgentError::State`] for a state of another version or one that is damaged.
    pub fn restore(&self, state: SessionState, agent: impl Agent + 'static) -> Result<AgentSession, AgentError> {
        AgentSession::restore(self.clone(), state, Arc::new(agent))
    }
}

impl AgentSession {
    pub(crate) fn new(bundle: RuntimeBundle, id: Arc<str>, agent: Arc<dyn Agent>) -> Self {
        let machine = Machine::new(bundle.config().limits.clone());
        let made = bundle.parts().clock.now();
        Self::with_parts(bundle, id, agent, machine, ToolSession::new(), made)
    }

    fn with_parts(
        bundle: RuntimeBundle,
        id: Arc<str>,
        agent: Arc<dyn Agent>,
        machine: Machine,
        tools: ToolSession,
        made: SystemTime,
    ) -> Self {
        let parts = bundle.parts();
        let settings = CycleSettings::new()
            .with_limits(parts.config.limits.clone())
            .with_compaction(parts.config.compaction.clone())
            .with_budgets(parts.config.budgets.clone());
        let cycle = LlmCycle::from_machine(Arc::clone(&parts.provider), Arc::clone(&parts.clock), machine)
            .with_settings(settings)
            .with_hooks(parts.hooks.clone());
        let conversation = Conversation {
            cycle,
            agent: Arc::clone(&agent),
        };
        let conversation = Occupancy::new(conversation, parts.config.busy);
        Self(Arc::new(Shared {
            id,
            bundle,
            agent: Mutex::new(agent),
            tools,
            made,
            conversation,
        }))
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Who answers in the next turn.
    pub fn agent(&self) -> Arc<dyn Agent> {
        self.0.agent()
    }

    /// The bundle it was made from.
    pub fn bundle(&self) -> &RuntimeBundle {
        &self.0.bundle
    }

    /// What the session's tools remember: grants for the session.
    pub fn tools(&self) -> &ToolSession {
        &self.0.tools
    }

    /// A turn, from the user's input to the answer or a suspension.
    ///
    /// Cancel safe: dropping the future cancels the turn; the session stays usable.
    ///
    /// # Errors
    /// What the model, a tool, a hook or a limit says; [`AgentError::Busy`] while another turn runs.
    pub async fn submit_turn(&self, input: impl Into<Message>) -> Result<TurnOutcome, AgentError> {
        self.start(begin(input), CancellationToken::new()).await
    }

    /// The same turn, streamed. Nothing happens before the stream is polled.
    pub fn submit_turn_stream(&self, input: impl Into<Message>) -> AgentTurn {
        self.start_stream(begin(input), CancellationToken::new())
    }

    /// Goes on with a suspended turn: answers some or all of its questions. The same answer given again changes nothing.
    ///
    /// # Errors
    /// As [`submit_turn`](Self::submit_turn); also when no turn is open, or an answer fits no question.
    pub async fn resume(
        &self,
        answers: impl IntoIterator<Item = (QuestionId, Answer)>,
    ) -> Result<TurnOutcome, AgentError> {
        let answers = TurnInput::Resume(answers.into_iter().collect());
        self.start(answers, CancellationToken::new()).await
    }

    /// The rest of a suspended turn, streamed.
    pub fn resume_stream(&self, answers: impl IntoIterator<Item = (QuestionId, Answer)>) -> AgentTurn {
        let answers = TurnInput::Resume(answers.into_iter().collect());
        self.start_stream(answers, CancellationToken::new())
    }

    /// A turn, or the rest of one, under a token that cancels it.
    ///
    /// # Errors
    /// As [`submit_turn`](Self::submit_turn).
    pub async fn run(&self, input: TurnInput, token: CancellationToken) -> Result<TurnOutcome, AgentError> {
        self.start(input, token.child_token()).await
    }

    /// The same, streamed.
    pub fn run_stream(&self, input: TurnInput, token: CancellationToken) -> AgentTurn {
        self.start_stream(input, token.child_token())
    }

    /// A turn with a token of its own, which the session may cancel.
    fn start(
        &self,
        input: TurnInput,
        own: CancellationToken,
    ) -> impl Future<Output = Result<TurnOutcome, AgentError>> + use<> {
        turn::run(Arc::clone(&self.0), input, Words, own, None)
    }

    fn start_stream(&self, input: TurnInput, own: CancellationToken) -> AgentTurn {
        let shared = Arc::clone(&self.0);
        TurnStream::of(|observer| async move { turn::run(shared, input, Words, own, Some(&observer)).await })
    }

    /// A turn whose answer is a value of a type, with the agent's tools.
    ///
    /// Cancel safe: dropping the future cancels the turn; the session stays usable.
    ///
    /// # Errors
    /// As [`submit_turn`](Self::submit_turn); `Malformed` when no answer fits after all repairs.
    pub async fn submit_typed<T: DeserializeOwned + JsonSchema>(
        &self,
        input: impl Into<Message>,
    ) -> Result<TypedOutcome<T>, AgentError> {
        let output = Output::new(TypedOptions::default());
        self.run_typed(begin(input), output, CancellationToken::new()).await
    }

    /// A typed turn, or the rest of one, under a token that cancels it.
    ///
    /// # Errors
    /// As [`submit_typed`](Self::submit_typed).
    pub async fn run_typed<T: DeserializeOwned>(
        &self,
        input: TurnInput,
        output: Output<T>,
        token: CancellationToken,
    ) -> Result<TypedOutcome<T>, AgentError> {
        turn::run(Arc::clone(&self.0), input, output, token.child_token(), None).await
    }

    /// The same, streamed, with the value as far as it is written.
    pub fn run_typed_stream<T: DeserializeOwned + Send + 'static>(
        &self,
        input: TurnInput,
        output: Output<T>,
        token: CancellationToken,
    ) -> TurnStream<'static, Result<TypedOutcome<T>, AgentError>> {
        let (shared, own) = (Arc::clone(&self.0), token.child_token());
        TurnStream::of(|observer| async move { turn::run(shared, input, output, own, Some(&observer)).await })
    }

    /// Makes the conversation as short as it gets, now: a model sums up its older part. Says what that freed, or that there
    /// was nothing to do. Cancel safe: dropping the future leaves the conversation as it is.
    ///
    /// # Errors
    /// While a turn runs, what the [busy policy](crate::BusyPolicy) says; when it was cancelled. A summary that fails is no error but in the report.
    pub async fn compact(&self) -> Result<CompactionReport, AgentError> {
        turn::compact(Arc::clone(&self.0), CancellationToken::new()).await
    }

    /// What all turns spent of their budgets; waits for a turn that runs. Without budgets or prices nothing is counted.
    pub async fn spent(&self) -> Spent {
        self.0
            .conversation
            .look(|conversation| conversation.cycle.spent().clone())
            .await
    }

    /// Cancels the turn that runs, if any.
    pub fn cancel(&self) {
        self.0.conversation.cancel();
    }

    /// Hands the conversation to another agent, from the next turn on; history is kept. A suspended turn goes on with the
    /// agent that began it.
    pub fn switch_agent(&self, agent: impl Agent + 'static) {
        *self.0.agent.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(agent);
    }

    /// The conversation so far; waits for a turn that runs.
    pub async fn messages(&self) -> Vec<Arc<Message>> {
        self.0
            .conversation
            .look(|conversation| conversation.cycle.messages().to_vec())
            .await
    }

    /// Tokens and calls of all turns, failed ones included; waits for a turn that runs.
    pub async fn usage(&self) -> UsageTracker {
        self.0
            .conversation
            .look(|conversation| conversation.cycle.usage().clone())
            .await
    }

    /// Replaces the conversation; waits for a turn that runs. A turn that was left open is given up.
    ///
    /// # Errors
    /// [`Misuse`] when the messages may not be sent; the conversation stays as it was.
    pub async fn set_messages(&self, messages: Vec<Arc<Message>>) -> Result<(), Misuse> {
        self.0
            .conversation
            .change(|conversation| conversation.cycle.set_messages(messages))
            .await
    }

    /// All of the session, to be saved; waits for a turn that runs.
    pub async fn export(&self) -> SessionState {
        let machine = self
            .0
            .conversation
            .look(|conversation| conversation.cycle.machine().clone())
            .await;
        SessionState::new(Arc::clone(&self.0.id), machine, self.0.tools.export(), self.0.made)
    }

    pub(crate) fn restore(
        bundle: RuntimeBundle,
        state: SessionState,
        agent: Arc<dyn Agent>,
    ) -> Result<Self, AgentError> {
        let (id, machine, tools, made) = state.into_parts()?;
        Ok(Self::with_parts(bundle, id, agent, machine, tools, made))
    }
}

impl fmt::Debug for AgentSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentSession")
            .field("id", &self.0.id)
            .finish_non_exhaustive()
    }
}

fn begin(input: impl Into<Message>) -> TurnInput {
    let message: Message = input.into();
    Begin::new([message]).into()
}
