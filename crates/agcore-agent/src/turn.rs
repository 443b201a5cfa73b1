//! [`AgentTurn`]: a turn of a session that is configured first, then awaited or streamed.

use std::{
    fmt,
    pin::{Pin, pin},
    sync::Arc,
};

use agcore_cycle::{
    AnswerKind, CompactionReport, FreeText, LlmCycle, Observer, Output, OutputType, TextStream, TurnInput, TurnStream,
    TypedOptions, machine::Step,
};
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    durable::SessionLog,
    error::AgentError,
    queue::Purpose,
    shared::{Conversation, Run, Shared},
    span,
};

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
    shared: Arc<Shared>,
    input: TurnInput,
    /// The turn's own token; the session may cancel it, too.
    token: CancellationToken,
    answer: S,
}

impl AgentTurn {
    pub(crate) fn new(shared: Arc<Shared>, input: TurnInput) -> Self {
        Self {
            shared,
            input,
            token: CancellationToken::new(),
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
            shared, input, token, ..
        } = self;
        AgentTurn {
            shared,
            input,
            token,
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

    /// Runs the turn. Awaiting the turn itself does the same with a boxed future.
    ///
    /// Cancel safe: dropping the future cancels the turn; the session stays usable.
    ///
    /// # Errors
    /// An error of the model, a tool, a hook, or a limit. [`Busy`](crate::AgentErrorKind::Busy) while another turn runs,
    /// unless the [`BusyPolicy`](crate::BusyPolicy) says otherwise. [`Held`](crate::AgentErrorKind::Held) while another handle or
    /// another process drives the session.
    pub async fn run(self) -> Result<S::Outcome, AgentError> {
        run(self, None).await
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
        TurnStream::new(|observer| async move { run(self, Some(Watch::own(observer))).await })
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
        TurnStream::new(|observer| async move { run(self, Some(Watch::all(observer))).await })
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
            .field("session", &self.shared.id)
            .field("input", &self.input)
            .finish_non_exhaustive()
    }
}

/// Receives the events of a turn.
struct Watch {
    observer: Observer,
    /// Whether it also receives those of sub-agents.
    sub_agents: bool,
}

impl Watch {
    fn own(observer: Observer) -> Self {
        Self {
            observer,
            sub_agents: false,
        }
    }

    fn all(observer: Observer) -> Self {
        Self {
            observer,
            sub_agents: true,
        }
    }
}

async fn run<S: AnswerKind>(turn: AgentTurn<S>, watch: Option<Watch>) -> Result<S::Outcome, AgentError> {
    let AgentTurn {
        shared,
        mut input,
        token,
        answer,
    } = turn;
    let resumes = matches!(input, TurnInput::Resume(_));
    let purpose = if resumes {
        Purpose::Resume
    } else {
        Purpose::Start(&open_questions)
    };
    if let TurnInput::Begin(begin) = &input {
        shared.check_input(begin.messages.last().map(|message| &**message))?;
    }
    let mut permit = shared.conversation.acquire(token, purpose).await?;
    let conversation = &mut *permit.value;
    let _hold = shared.hold_for(resumes).await?;
    check_limits(&shared, &input, &conversation.cycle).await?;
    let mut run = Run {
        token: &permit.token,
        observer: watch.as_ref().map(|watch| &watch.observer),
        shows_sub_agents: watch.as_ref().is_some_and(|watch| watch.sub_agents),
        starts: !resumes,
    };
    prepare(&shared, conversation, &run, &mut input).await?;
    let span = span::turn(&shared, &*conversation.agent);
    let (mut input, mut answer) = (Some(input), Some(answer));
    let outcome = loop {
        let may_pause = !shared.bundle.parts().members.is_empty();
        // The last run of a turn takes the answer; most turns have only one.
        let kept = answer.as_ref().filter(|_| may_pause).cloned();
        let Some(kind) = std::mem::replace(&mut answer, kept) else {
            break Err(AgentError::input(
                "the turn paused unexpectedly; resume it without answers",
            ));
        };
        let input = input.take().unwrap_or(TurnInput::Resume(Vec::new()));
        let outcome = {
            let turn = pin!(run_once(&shared, conversation, &run, input, kind));
            turn.instrument(span.clone()).await
        };
        match outcome {
            Ok(outcome) if S::is_paused(&outcome) => {
                shared.hand_over(conversation, &run)?;
                run.starts = false;
            }
            outcome => break outcome,
        }
    };
    if !conversation.cycle.machine().is_open() {
        conversation.run_state = None;
        conversation.team = None;
    } else if let Some(recorder) = &shared.recorder {
        note_suspension(&**recorder, &conversation.cycle).await;
    }
    span::record(&span, outcome.as_ref().map(S::report));
    outcome
}

/// Returns the error for questions that are open.
fn open_questions(conversation: &Conversation) -> Option<AgentError> {
    let mut questions = conversation.cycle.machine().questions();
    let first = questions.next()?;
    Some(AgentError::asking(first, 1 + questions.count()))
}

/// Checks whether the turn may run. Of a session that is too old, the memory is cleared.
async fn check_limits(shared: &Shared, input: &TurnInput, cycle: &LlmCycle) -> Result<(), AgentError> {
    let checked = shared.check_limits(input, cycle);
    if checked.is_err()
        && let Some(memory) = shared.memory().filter(|_| shared.is_expired())
        && let Err(error) = memory.clear().await
    {
        tracing::warn!(?error, "the memory of an expired session was not cleared");
    }
    checked
}

/// Prepares the conversation for a new turn, or for the open one that continues.
async fn prepare(
    shared: &Shared,
    conversation: &mut Conversation,
    run: &Run<'_>,
    input: &mut TurnInput,
) -> Result<(), AgentError> {
    match input {
        TurnInput::Begin(begin) => {
            let memory = shared.snapshot().await?;
            shared.begin(conversation, begin, memory);
        }
        _ if shared.reopen(conversation) => shared.hand_over(conversation, run)?,
        _ => {}
    }
    shared.open_team(conversation, !run.starts).await
}

/// Runs the turn until it ends, is suspended, or pauses for a handoff.
async fn run_once<S: AnswerKind>(
    shared: &Shared,
    conversation: &mut Conversation,
    run: &Run<'_>,
    input: TurnInput,
    answer: S,
) -> Result<S::Outcome, AgentError> {
    let options = shared.options(conversation, run)?;
    let Conversation { cycle, agent, .. } = conversation;
    shared.apply(&**agent, cycle);
    let mut turn = cycle.turn(input).with_options(options).with_answer(answer);
    if let Some(observer) = run.observer {
        turn = turn.observed(observer.clone());
    }
    // Pinned here and borrowed: the future of a turn is large and would be moved.
    pin!(turn.run()).await.map_err(AgentError::from)
}

/// Notes in the store that the turn waits for a person. The turn itself is stored already.
async fn note_suspension(recorder: &dyn SessionLog, cycle: &LlmCycle) {
    let questions: Vec<_> = match cycle.machine().next() {
        Step::Wait(questions) => questions.into_iter().cloned().collect(),
        _ => return,
    };
    if let Err(error) = recorder.suspended(&questions).await {
        tracing::warn!(?error, "the status of a suspended session was not stored");
    }
}

/// Compacts the conversation, between turns or while one is suspended.
pub(crate) async fn compact(shared: Arc<Shared>, token: CancellationToken) -> Result<CompactionReport, AgentError> {
    let mut permit = shared.conversation.acquire(token, Purpose::Other).await?;
    let conversation = &mut *permit.value;
    let _hold = shared.hold().await?;
    let run = Run {
        token: &permit.token,
        observer: None,
        shows_sub_agents: false,
        starts: false,
    };
    let options = shared.options(conversation, &run)?;
    let Conversation { cycle, agent, .. } = conversation;
    shared.apply(&**agent, cycle);
    Ok(cycle.compact(options).await?)
}
