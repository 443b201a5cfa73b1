//! Running a turn: its checks, its segments, and the state that it leaves.

use std::{pin::pin, sync::Arc};

use agcore_cycle::{AnswerKind, CompactionReport, LlmCycle, Observer, TurnInput, machine::Step};
use agcore_trace::CancelGuard;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    live::{Conversation, LiveSession},
    queue::Purpose,
    segment::Segment,
    span,
};
use crate::{durable::SessionLog, error::AgentError};

/// The turn to run: its input, its cancellation, the id of its run in the store, and the receiver of its events.
pub(super) struct TurnRequest {
    pub(super) input: TurnInput,
    pub(super) token: CancellationToken,
    pub(super) run: Option<Arc<str>>,
    pub(super) watch: Option<Watch>,
}

/// Receives the events of a turn.
pub(super) struct Watch {
    observer: Observer,
    /// Whether it also receives those of sub-agents.
    sub_agents: bool,
}

impl Watch {
    /// Receives the events of the turn's own agents.
    pub(super) fn own(observer: Observer) -> Self {
        Self {
            observer,
            sub_agents: false,
        }
    }

    /// Receives the events of sub-agents, too.
    pub(super) fn all(observer: Observer) -> Self {
        Self {
            observer,
            sub_agents: true,
        }
    }
}

/// Runs a turn until it ends or waits for a person.
pub(super) async fn run<S: AnswerKind>(
    session: &LiveSession,
    request: TurnRequest,
    answer: S,
) -> Result<S::Outcome, AgentError> {
    let (mut input, watch) = (request.input, request.watch);
    let resumes = matches!(input, TurnInput::Resume(_));
    let purpose = if resumes {
        Purpose::Resume
    } else {
        Purpose::Start(&open_questions)
    };
    if let TurnInput::Begin(begin) = &input {
        session.check_input(begin.messages.last().map(|message| &**message))?;
    }
    let mut permit = session.conversation.acquire(request.token, purpose).await?;
    let conversation = &mut *permit.value;
    let _hold = session.hold_for(resumes).await?;
    check_limits(session, &input, &conversation.cycle).await?;
    if let Some(recorder) = &session.recorder {
        recorder.set_run(request.run, !resumes);
    }
    let mut segment = Segment {
        session,
        token: &permit.token,
        observer: watch.as_ref().map(|watch| &watch.observer),
        shows_sub_agents: watch.as_ref().is_some_and(|watch| watch.sub_agents),
        starts: !resumes,
    };
    segment.prepare(conversation, &mut input).await?;
    let span = span::turn(session, &*conversation.agent);
    let guard = CancelGuard::new(&span);
    let (mut input, mut answer) = (Some(input), Some(answer));
    let outcome = loop {
        let may_pause = !session.bundle.parts().members.is_empty();
        // The last run of a turn takes the answer; most turns have only one.
        let kept = answer.as_ref().filter(|_| may_pause).cloned();
        let Some(kind) = std::mem::replace(&mut answer, kept) else {
            break Err(AgentError::input(
                "the turn paused unexpectedly; resume it without answers",
            ));
        };
        let input = input.take().unwrap_or(TurnInput::Resume(Vec::new()));
        let outcome = {
            let turn = pin!(run_once(&segment, conversation, input, kind));
            turn.instrument(span.clone()).await
        };
        match outcome {
            Ok(outcome) if S::is_paused(&outcome) => match segment.hand_over(conversation) {
                Ok(()) => segment.starts = false,
                Err(error) => break Err(error),
            },
            outcome => break outcome,
        }
    };
    guard.finish();
    span::record(&span, outcome.as_ref().map(S::report));
    leave(session, conversation).await;
    outcome
}

/// Forgets what only an open turn needs, or notes that it waits for a person.
async fn leave(session: &LiveSession, conversation: &mut Conversation) {
    if !conversation.cycle.machine().is_open() {
        conversation.run_state = None;
        conversation.team = None;
    } else if let Some(recorder) = &session.recorder {
        note_suspension(&**recorder, &conversation.cycle).await;
    }
}

/// Returns the error for questions that are open.
fn open_questions(conversation: &Conversation) -> Option<AgentError> {
    let mut questions = conversation.cycle.machine().questions();
    let first = questions.next()?;
    Some(AgentError::asking(first, 1 + questions.count()))
}

/// Checks whether the turn may run. Of a session that is too old, the memory is cleared.
async fn check_limits(session: &LiveSession, input: &TurnInput, cycle: &LlmCycle) -> Result<(), AgentError> {
    let checked = session.check_limits(input, cycle);
    if checked.is_err()
        && let Some(memory) = session.memory().filter(|_| session.is_expired())
        && let Err(error) = memory.clear().await
    {
        tracing::warn!(?error, "the memory of an expired session was not cleared");
    }
    checked
}

/// Runs the turn until it ends, is suspended, or pauses for a handoff.
async fn run_once<S: AnswerKind>(
    segment: &Segment<'_>,
    conversation: &mut Conversation,
    input: TurnInput,
    answer: S,
) -> Result<S::Outcome, AgentError> {
    let (options, offered) = segment.options(conversation)?;
    let Conversation { cycle, agent, .. } = conversation;
    segment.apply(&**agent, offered.as_deref(), cycle);
    let mut turn = cycle.turn(input).with_options(options).with_answer(answer);
    if let Some(observer) = segment.observer {
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
pub(crate) async fn compact(
    session: Arc<LiveSession>,
    token: CancellationToken,
) -> Result<CompactionReport, AgentError> {
    let mut permit = session.conversation.acquire(token, Purpose::Other).await?;
    let conversation = &mut *permit.value;
    let _hold = session.hold().await?;
    let segment = Segment {
        session: &session,
        token: &permit.token,
        observer: None,
        shows_sub_agents: false,
        starts: false,
    };
    let (options, offered) = segment.options(conversation)?;
    let Conversation { cycle, agent, .. } = conversation;
    segment.apply(&**agent, offered.as_deref(), cycle);
    Ok(cycle.compact(options).await?)
}
