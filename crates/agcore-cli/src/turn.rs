//! Runs a turn and renders its events; Ctrl-C cancels it.

use std::sync::Arc;

use agcore::{
    AgentError, AgentSession, Message, StreamEvent,
    agent::AgentTurn,
    chat::{Answer, Block, ChatResponse, EventKind, FinishReason, Question, QuestionId, SchemaCheck, TurnEvent},
    llm::{Output, TurnOutcome, TurnReport, TurnStream, TypedOptions},
};
use agcore_terminal::{
    interrupt::Interrupts,
    render::{Render, TICK},
};
use serde_json::Value;
use tokio::time::{Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::exit::{Failure, FailureKind};

/// The events of a turn of a session.
pub(crate) type EventStream = TurnStream<'static, Result<TurnOutcome, AgentError>>;

/// The input with which a turn begins or continues.
#[derive(Debug)]
pub(crate) enum Input {
    /// A message begins a turn.
    Message(Box<Message>),
    /// An interrupted or suspended turn continues with these answers.
    Answers(Vec<(QuestionId, Answer)>),
}

impl From<Message> for Input {
    fn from(message: Message) -> Self {
        Self::Message(Box::new(message))
    }
}

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Self::Message(Box::new(text.into()))
    }
}

impl From<String> for Input {
    fn from(text: String) -> Self {
        Self::Message(Box::new(text.into()))
    }
}

/// Runs a turn and renders it. The first Ctrl-C cancels the turn, the second exits the program.
///
/// # Errors
/// When the turn fails, its answer is incomplete, a limit was reached, or the output is closed.
pub(crate) async fn run(
    session: &AgentSession,
    input: impl Into<Input>,
    interrupts: &Interrupts,
    render: &mut dyn Render,
) -> Result<TurnOutcome, Failure> {
    let token = CancellationToken::new();
    let _guard = interrupts.cancel(&token);
    let mut turn = start(session, input, &token);
    let verdict = follow(&mut turn, &token, render).await?;
    let outcome = turn.finish().await;
    render.turn_ended(outcome.as_ref().ok(), &session.usage().await);
    let outcome = outcome?;
    verdict.check(&outcome)?;
    Ok(outcome)
}

/// Runs a turn whose answer is a value that matches a schema, as this check understands it, and renders it. The first Ctrl-C
/// cancels the turn, the second exits the program.
///
/// # Errors
/// When the turn fails, the model does not return such a value, a limit was reached, or the output is closed.
pub(crate) async fn run_typed(
    session: &AgentSession,
    input: Input,
    (schema, check): (Value, Arc<dyn SchemaCheck>),
    interrupts: &Interrupts,
    render: &mut dyn Render,
) -> Result<Value, Failure> {
    let token = CancellationToken::new();
    let _guard = interrupts.cancel(&token);
    let options = TypedOptions::new().with_name("answer").with_check(check);
    let turn = begin(session, input).typed_as(Output::<Value>::with_schema(schema, options));
    let mut turn = turn.with_token(token.clone()).stream_with_sub_agents();
    let verdict = follow(&mut turn, &token, render).await?;
    let outcome = turn.finish().await;
    render.turn_ended(None, &session.usage().await);
    let outcome = outcome?;
    verdict.check_end(outcome.report(), outcome.questions())?;
    outcome.into_value().map_err(|error| Failure::task(error.to_string()))
}

/// Renders the events of a turn, or of a task, until it ends.
///
/// # Errors
/// When the output is closed.
pub(crate) async fn follow<R>(
    events: &mut TurnStream<'static, R>,
    token: &CancellationToken,
    render: &mut dyn Render,
) -> Result<Verdict, Failure> {
    let mut ticks = ticks();
    let mut verdict = Verdict::default();
    loop {
        let rendered = tokio::select! {
            biased;
            event = events.next() => match event {
                Some(event) => {
                    if token.is_cancelled() {
                        render.turn_cancelled();
                    }
                    verdict.observe(&event);
                    render.event(&event)
                }
                None => return Ok(verdict),
            },
            _ = ticks.tick() => render.tick(),
        };
        rendered.map_err(|error| Failure::output(&error))?;
    }
}

/// Decides whether a turn that ended without an error has really succeeded.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// The limit that was reached.
    limit: Option<String>,
}

impl Verdict {
    /// Notes the limit that an event reports.
    pub(crate) fn observe(&mut self, event: &StreamEvent) {
        // The agent that asked a sub-agent continues when that has reached its limit.
        if event.parent.is_none()
            && let EventKind::Turn(TurnEvent::BudgetReached { limit }) = &event.kind
        {
            self.limit = Some(limit.to_string());
        }
    }

    /// Checks the outcome.
    ///
    /// # Errors
    /// When the answer is incomplete or a limit was reached.
    pub(crate) fn check(&self, outcome: &TurnOutcome) -> Result<(), Failure> {
        self.check_end(outcome.report(), outcome.questions())
    }

    fn check_end(&self, report: Option<&TurnReport>, questions: &[Question]) -> Result<(), Failure> {
        let incomplete = |reason| {
            let message = format!("the answer is incomplete: {reason}");
            Err(Failure::new(FailureKind::Incomplete, message))
        };
        let Some(report) = report else {
            return Err(match questions {
                [] => Failure::task("the turn did not finish"),
                _ => Failure::new(FailureKind::Suspended, "the turn waits for answers to its questions"),
            });
        };
        match (&self.limit, report.response.finish_reason()) {
            (Some(limit), _) => Err(Failure::new(
                FailureKind::Limit,
                format!("the turn reached a limit ({limit}); the answer may be incomplete"),
            )),
            (None, Some(FinishReason::Length)) => incomplete("it was cut off at the token limit"),
            (None, Some(FinishReason::ContentFilter)) => incomplete("it was blocked by a content filter"),
            // After a call, the effects of the tools may be all that was asked for.
            (None, _) if report.rounds == 0 && is_empty(&report.response) => {
                incomplete("it has no text, although the model ended it properly")
            }
            (None, _) => Ok(()),
        }
    }
}

/// Returns whether a reply has nothing for the user: no text, no refusal, and nothing that a tool of the vendor made.
fn is_empty(response: &ChatResponse) -> bool {
    let Some(message) = response.message() else { return true };
    let is_nothing = |block: &Block| match block {
        Block::Text(text) => text.text.trim().is_empty(),
        Block::Reasoning(_) => true,
        _ => false,
    };
    message.refusal_text().is_none() && message.audio.is_none() && message.blocks.iter().all(is_nothing)
}

/// Returns the interval at which renderers update their progress display.
pub(crate) fn ticks() -> Interval {
    let mut ticks = tokio::time::interval(TICK);
    // Progress is a snapshot: missed ticks need no catching up.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Starts a turn that the token cancels.
pub(crate) fn start(session: &AgentSession, input: impl Into<Input>, token: &CancellationToken) -> EventStream {
    begin(session, input.into())
        .with_token(token.clone())
        .stream_with_sub_agents()
}

fn begin(session: &AgentSession, input: Input) -> AgentTurn {
    match input {
        Input::Message(message) => session.turn(*message),
        Input::Answers(answers) => session.resume(answers),
    }
}
