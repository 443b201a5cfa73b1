//! [`AgentTurn`]: a turn of a session that is configured first, then awaited or streamed.

mod queue;
mod scope;
mod handoff_state;
mod prompt;
mod live;
mod tools;
mod segment;
mod options;
mod team_budget;
mod span;
mod run;

use std::{fmt, pin::Pin, sync::Arc};

use agcore_cycle::{AnswerKind, FreeText, Output, OutputType, TextStream, TurnInput, TurnStream, TypedOptions};
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use self::run::{TurnRequest, Watch};
pub(crate) use self::{
    handoff_state::HandoffState,
    live::{Conversation, CurrentAgent, LiveSession},
    queue::TurnQueue,
    run::compact,
    scope::{Lineage, TurnScope},
    team_budget::note as note_spent,
};
use crate::error::AgentError;

/// A turn of a session, to be awaited or streamed.
///
/// Created by [`AgentSession::turn`](crate::AgentSession::turn) and [`AgentSession::resume`](crate::AgentSession::resume).
/// It owns what it needs, so it can be moved to a task. Nothing happens before it is awaited or its stream is polled.
/// Dropping the future or the stream cancels the turn; the session stays usable.
///
/// ```
/// use agcore_agent::agent;
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let model = ScriptedProvider::new([ScriptStep::text("Good day."), ScriptStep::text("Good evening.")]);
/// let session = agent(model).session()?;
///
/// // Await the outcome …
/// assert_eq!(session.turn("Hello").await?.text(), "Good day.");
///
/// // … or stream the text.
/// let mut text = session.turn("Hello again").text_stream();
/// let mut answer = String::new();
/// while let Some(piece) = text.next().await {
///     answer.push_str(&piece?);
/// }
/// assert_eq!(answer, "Good evening.");
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[must_use = "a turn does nothing until it is awaited or streamed"]
pub struct AgentTurn<S = FreeText> {
    session: Arc<LiveSession>,
    input: TurnInput,
    /// The turn's own token; the session may cancel it, too.
    token: CancellationToken,
    /// The id of its run in the store.
    run: Option<Arc<str>>,
    answer: S,
}

impl AgentTurn {
    pub(crate) fn new(session: Arc<LiveSession>, input: TurnInput) -> Self {
        Self {
            session,
            input,
            token: CancellationToken::new(),
            run: None,
            answer: FreeText,
        }
    }

    /// Asks for an answer that is a value of type `T`, described to the model by its JSON Schema. The agent's tools can be
    /// used on the way.
    ///
    /// ```
    /// use agcore_agent::agent;
    /// use agcore_cycle::typed::schemars::{self, JsonSchema};
    /// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
    ///
    /// #[derive(serde::Deserialize, JsonSchema)]
    /// struct City {
    ///     name: String,
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let model = ScriptedProvider::new([ScriptStep::text(r#"{"name": "Paris"}"#)]);
    /// let session = agent(model).session()?;
    /// let city = session.turn("What is the capital of France?").typed::<City>().await?.into_value()?;
    /// assert_eq!(city.name, "Paris");
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// The turn fails with [`InvalidOutput`](crate::AgentErrorKind::InvalidOutput) if no answer fits the type after all
    /// repairs.
    pub fn typed<T: OutputType>(self) -> AgentTurn<Output<T>> {
        self.typed_as(Output::new(TypedOptions::default()))
    }

    /// Asks for an answer like [`typed`](Self::typed), with a schema or options of your own.
    pub fn typed_as<T: DeserializeOwned + Send>(self, output: Output<T>) -> AgentTurn<Output<T>> {
        let Self {
            session,
            input,
            token,
            run,
            ..
        } = self;
        AgentTurn {
            session,
            input,
            token,
            run,
            answer: output,
        }
    }
}

impl<S: AnswerKind> AgentTurn<S> {
    /// Cancels the turn when `token` is cancelled.
    pub fn with_token(mut self, token: CancellationToken) -> Self {
        self.token = token.child_token();
        self
    }

    /// Sets the id of the run under which the store of a [stored](crate::StoredSessions) session keeps the turn: its
    /// messages, events, questions and status. The id must be new in the session. Without it, runs are numbered:
    /// `turn-1`, `turn-2`.
    ///
    /// A turn that is resumed keeps its run. If it is given another id, it continues as another run, and the status of
    /// the earlier one is left to the caller.
    pub fn with_run(mut self, id: impl Into<Arc<str>>) -> Self {
        self.run = Some(id.into());
        self
    }

    /// Runs the turn. Awaiting the turn itself does the same with a boxed future.
    ///
    /// Cancel safe: dropping the future cancels the turn; the session stays usable.
    ///
    /// # Errors
    /// An error of the model, a tool, a hook, or a limit. [`Busy`](crate::AgentErrorKind::Busy) while another turn runs,
    /// unless the [`BusyPolicy`](crate::BusyPolicy) says otherwise. [`Held`](crate::AgentErrorKind::Held) while another handle or
    /// another process drives the session.
    pub async fn run(self) -> Result<S::Outcome, AgentError> {
        self.run_with(None).await
    }

    async fn run_with(self, watch: Option<Watch>) -> Result<S::Outcome, AgentError> {
        let request = TurnRequest {
            input: self.input,
            token: self.token,
            run: self.run,
            watch,
        };
        run::run(&self.session, request, self.answer).await
    }

    /// Runs the turn as a stream of its events: those of the agent that answers, and of the agents to which it hands
    /// the conversation over.
    ///
    /// Events of [sub-agents](crate::SubAgent) are not among them. What concerns this turn is: the calls that ask
    /// sub-agents with their results, which contain what the sub-agents used (`metadata.usage` of the display data),
    /// and the questions of sub-agents, which the turn asks in their place. To show what sub-agents do, use
    /// [`stream_with_sub_agents`](Self::stream_with_sub_agents).
    pub fn stream(self) -> TurnStream<'static, Result<S::Outcome, AgentError>>
    where
        S: 'static,
    {
        TurnStream::new(|observer| async move { self.run_with(Some(Watch::own(observer))).await })
    }

    /// Runs the turn as a stream of its events and those of its sub-agents, in the order in which they happen.
    ///
    /// An event of a sub-agent has a [`parent`](agcore_chat::StreamEvent::parent): the id of the call that asked it.
    /// Check it before you show a text, because a sub-agent writes for the agent that asked it.
    ///
    /// ```
    /// use agcore_agent::{AgentSpec, SubAgent, agent};
    /// use agcore_chat::{EventKind, TextEvent, ToolCall};
    /// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// # let model = ScriptedProvider::new([
    /// #     ScriptStep::calls([ToolCall::function("call_1", "ask_tester", r#"{"task": "Do all tests pass?"}"#)]),
    /// #     ScriptStep::text("Two fail."),
    /// #     ScriptStep::text("No."),
    /// # ]);
    /// let tester = AgentSpec::new("tester", "You run tests.");
    /// let session = agent(model).with_tool(SubAgent::new(tester, "Runs the tests.")).session()?;
    /// let mut turn = session.turn("May we release?").stream_with_sub_agents();
    /// let (mut answer, mut notes) = (String::new(), String::new());
    /// while let Some(event) = turn.next().await {
    ///     if let EventKind::Text(TextEvent::Text(text)) = &event.kind {
    ///         if event.parent.is_some() { notes.push_str(text) } else { answer.push_str(text) }
    ///     }
    /// }
    /// assert_eq!((answer.as_str(), notes.as_str()), ("No.", "Two fail."));
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn stream_with_sub_agents(self) -> TurnStream<'static, Result<S::Outcome, AgentError>>
    where
        S: 'static,
    {
        TurnStream::new(|observer| async move { self.run_with(Some(Watch::all(observer))).await })
    }

    /// Runs the turn as a stream of the text that the model writes.
    pub fn text_stream(self) -> TextStream<'static, S::Outcome, AgentError>
    where
        S: 'static,
    {
        TextStream::new(self.stream())
    }
}

impl<S: AnswerKind + 'static> IntoFuture for AgentTurn<S> {
    type Output = Result<S::Outcome, AgentError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<S> fmt::Debug for AgentTurn<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentTurn")
            .field("session", &self.session.id)
            .field("input", &self.input)
            .finish_non_exhaustive()
    }
}
