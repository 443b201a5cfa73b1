//! [`SessionRecorder`]: writes what a session absorbs to its store.

mod append;
mod log;
mod nested;

use std::{
    borrow::Cow,
    pin::Pin,
    sync::{self, Arc, PoisonError, Weak, atomic::AtomicBool},
    time::Duration,
};

use agcore_chat::{Clock, EventKind, Fault, TurnEvent};
use agcore_cycle::{
    Observer, OutcomeRecorder, RecordedReply,
    machine::{Limits, Machine, Outcome},
};
use agcore_session::{
    Commit, Hold, RunChange, RunStatus, Session, SessionError, SessionErrorKind, SessionState, SessionStatus, Timestamp,
};
use agcore_tools::{RunState, ToolSession};
use async_trait::async_trait;
use futures_util::future::Shared;
use tokio::sync::{Mutex, MutexGuard};

use super::{
    approvals::closed_approvals,
    derived::{Position, calls_of, derive},
    entry::{EntryData, is_same},
    recorded_event::EventLog,
    session_billing::SessionBilling,
    session_log::Continued,
    stream::{Sink, Stream, fault_of},
    turn_log::TurnCommit,
};

/// The pauses between two attempts to write to a store that is away: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// Writes what a session absorbs: one commit for each write of the agent loop, with the record from which the session is
/// restored, and what is derived from it: messages, the status, the run, the title.
pub(crate) struct SessionRecorder {
    stream: Arc<Stream>,
    clock: Arc<dyn Clock>,
    /// Identifies this object in its records.
    writer: String,
    tools: ToolSession,
    /// Whether the state has changed in another way than by outcomes, so that the next record must contain it.
    needs_state: AtomicBool,
    /// The place of a sub-agent in the session in which it works.
    nested: Option<Nested>,
    /// The events, if they are stored.
    events: Option<EventLog>,
    /// How the model calls are billed, if they are.
    billing: Option<SessionBilling>,
    /// How long to wait for an unavailable store when an outcome that has already happened must be stored.
    patience: Duration,
    next: sync::Mutex<Next>,
    position: Arc<Mutex<Position>>,
    /// The right to drive the session, while somebody keeps it.
    held: sync::Mutex<Weak<Hold>>,
    /// The newest write of a sub-agent, which may be in progress.
    appended: sync::Mutex<Option<Write>>,
}

/// The place of a sub-agent. Its records are in the stream of the session, so that they are kept and deleted with it.
struct Nested {
    /// The recorder of the session.
    root: Arc<SessionRecorder>,
    /// The calls that lead to the sub-agent.
    path: String,
    /// The end of the stream when the sub-agent was opened.
    start: u64,
    /// The receivers of the events of the turn in which the sub-agent was asked, and of those above it.
    above: Vec<Observer>,
}

/// A write in progress. Everyone who awaits it continues it.
type Write = Shared<Pin<Box<dyn Future<Output = Result<(), SessionError>> + Send>>>;

/// The parts of the next record besides its outcomes.
#[derive(Default)]
struct Next {
    /// The name of the agent that has the conversation from now on.
    agent: Option<String>,
    state: Option<Box<Machine>>,
    /// New limits, which the restored conversation has already.
    limits: Option<Limits>,
    run_state: Option<RunState>,
    /// The id of the run of a turn that starts.
    started_run: Option<Arc<str>>,
    /// The id of the run that continues the turn.
    continued_run: Option<Arc<str>>,
}

/// A commit with its events, and the position after it.
struct Draft {
    turn: TurnCommit,
    after: Position,
}

impl SessionRecorder {
    pub(crate) fn new(
        sink: Sink,
        clock: Arc<dyn Clock>,
        session: &Session,
        writer: String,
        continued: &Continued<'_>,
    ) -> Self {
        let Continued { machine, limits, .. } = continued;
        let limits = (machine.limits() != *limits).then(|| (*limits).clone());
        Self {
            stream: Arc::new(Stream {
                sink,
                tenant: session.owner.tenant.to_string(),
                session: session.id.clone(),
                created_at: session.created_at,
            }),
            clock,
            writer,
            tools: continued.tools.clone(),
            needs_state: AtomicBool::new(!continued.has_state),
            nested: None,
            events: None,
            billing: None,
            patience: Duration::ZERO,
            next: sync::Mutex::new(Next {
                limits: limits.filter(|_| continued.has_state),
                ..Next::default()
            }),
            position: Arc::new(Mutex::new(Position {
                end: session.end,
                status: session.status,
                turns: machine.turns(),
                run: continued.run.clone(),
                next_run: None,
                is_open: machine.is_open(),
                // The status and the questions are written together.
                has_questions: machine.is_open() && session.status == SessionStatus::Pending,
                reply: continued.reply,
                tools: continued.tools.export(),
                run_state: continued.run_state.snapshot(),
            })),
            held: sync::Mutex::default(),
            appended: sync::Mutex::default(),
        }
    }

    /// Stores the events of turns, too. `agent` is the name of the agent that has the conversation.
    pub(crate) fn with_events(mut self, agent: &str) -> Self {
        self.events = Some(EventLog::new(agent));
        self
    }

    /// Stores what the model calls cost.
    pub(crate) fn with_billing(mut self, billing: SessionBilling) -> Self {
        self.billing = Some(billing);
        self
    }

    /// Sets how long to wait for a store that is away.
    pub(crate) fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Returns the end of the stream, after what sub-agents are writing.
    async fn position(&self) -> MutexGuard<'_, Position> {
        let newest = self.appended.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(newest) = newest {
            // The sub-agent receives its error.
            drop(newest.await);
        }
        self.position.lock().await
    }

    /// Checks that the right to drive the session was not lost.
    fn check_hold(&self) -> Result<(), SessionError> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        match held.is_some_and(|held| held.is_lost()) {
            true => Err(self.stream.out_of_date()),
            false => Ok(()),
        }
    }

    /// Adds the end of a turn that was abandoned: the session waits for the next input.
    async fn with_abandoned_run(&self, commit: Commit, position: &Position) -> Result<Commit, SessionError> {
        let mut commit = commit.with_run(RunChange::new(position.run_id(), RunStatus::Cancelled));
        if position.has_questions {
            commit.approvals = closed_approvals(&self.stream, &[], true).await?;
        }
        // A server may have noted that the turn has failed.
        Ok(match position.status.can_become(SessionStatus::Pending) {
            true => commit.with_state(SessionState::pending()),
            false => commit,
        })
    }

    fn next(&self) -> sync::MutexGuard<'_, Next> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the commit for these outcomes.
    fn draft(&self, known: &Position, outcomes: &[Outcome], events: &[EventKind]) -> Result<Draft, SessionError> {
        let next = self.next();
        let limited: Vec<Outcome>;
        let outcomes = match next.limits.clone() {
            Some(limits) => {
                limited = std::iter::once(Outcome::Limits(limits))
                    .chain(outcomes.iter().cloned())
                    .collect();
                &limited
            }
            None => outcomes,
        };
        let path = self.nested.as_ref().map(|nested| &*nested.path);
        let mut data = EntryData::new(&self.writer, outcomes).with_path(path);
        data.agent.clone_from(&next.agent);
        data.state = next.state.as_deref().map(Cow::Borrowed);
        let (tools, run_state) = (self.tools.export(), next.run_state.as_ref().map(RunState::snapshot));
        data.tools = (!is_same(&tools, &known.tools)).then(|| tools.clone());
        data.run_state = run_state.clone().filter(|values| *values != known.run_state);
        let starts = events
            .iter()
            .any(|event| matches!(event, EventKind::Turn(TurnEvent::Started(_))));
        let (started, continued) = (next.started_run.clone(), next.continued_run.clone());
        let continued = continued.or_else(|| known.run.clone());
        let run = if starts { &started } else { &continued };
        data.run = (*run != known.run).then(|| Cow::Borrowed(run.as_deref().unwrap_or_default()));
        let record = data.into_record(Timestamp::from(self.clock.now()))?;
        let mut after = Position {
            end: known.end + 1,
            tools,
            run_state: run_state.unwrap_or_else(|| known.run_state.clone()),
            run: continued,
            next_run: started,
            ..*known
        };
        let mut commit = Commit::new().with_record(record);
        match &self.nested {
            None => commit = derive(commit, &mut after, outcomes, events, self.billing.as_ref()),
            Some(_) => after.advance(events),
        }
        let turn = self.with_recorded(commit, &after, events);
        Ok(Draft { turn, after })
    }

    /// Adds the events that are stored to a commit, as of a position.
    fn with_recorded(&self, commit: Commit, position: &Position, events: &[EventKind]) -> TurnCommit {
        let Some(log) = self.events.as_ref().filter(|_| !events.is_empty()) else {
            return commit.into();
        };
        let message = position.reply.map(|record| self.message_id(record).into());
        let recorded = log.recorded(position, message.as_ref(), events);
        TurnCommit::new(commit, position.run_id(), recorded)
    }

    /// Writes outcomes, and tries again for some time if the store is away and they must not be lost.
    async fn write_patiently(&self, outcomes: &[Outcome], events: &[EventKind]) -> Result<(), SessionError> {
        let (started, mut pause) = (self.clock.monotonic(), PAUSES.0);
        loop {
            let error = match self.write(outcomes, events).await {
                Err(error) if error.kind() == SessionErrorKind::Unavailable && has_happened(outcomes) => error,
                written => return written,
            };
            if self.clock.monotonic().saturating_sub(started) + pause > self.patience {
                return Err(error);
            }
            tracing::warn!(session = self.stream.session, ?error, "a result waits for the store");
            self.clock.sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    async fn write(&self, outcomes: &[Outcome], events: &[EventKind]) -> Result<(), SessionError> {
        let mut position = self.position().await;
        self.check_hold()?;
        let Draft { mut turn, mut after } = self.draft(&position, outcomes, events)?;
        if position.has_questions {
            let ends = after.turns != position.turns || !after.is_open;
            turn.commit.approvals = closed_approvals(&self.stream, outcomes, ends).await?;
            after.has_questions = !ends;
        }
        match &self.nested {
            Some(nested) => nested.append(turn, calls_of(outcomes)).await?,
            None => self.stream.commit(position.end, turn).await?,
        }
        *position = after;
        let mut next = self.next();
        (next.state, next.limits, next.agent) = (None, None, None);
        Ok(())
    }
}

/// Returns whether one of these cannot be had again: a reply that costs money, or what a tool did.
fn has_happened(outcomes: &[Outcome]) -> bool {
    outcomes
        .iter()
        .any(|outcome| matches!(outcome, Outcome::Reply(_) | Outcome::Tool { .. }))
}

#[async_trait]
impl OutcomeRecorder for SessionRecorder {
    async fn record(&self, outcomes: &[Outcome]) -> Result<(), Fault> {
        self.record_with_events(outcomes, &[]).await
    }

    fn records_calls(&self) -> bool {
        self.billing.is_some()
    }

    fn reply_id(&self, reply: RecordedReply) -> Option<Arc<str>> {
        // Nothing else is written while the loop asks.
        let position = self.position.try_lock().ok()?;
        let record = match reply {
            RecordedReply::Last => position.reply?,
            RecordedReply::Next => position.end + 1,
            _ => return None,
        };
        Some(self.message_id(record).into())
    }

    async fn record_with_events(&self, outcomes: &[Outcome], events: &[EventKind]) -> Result<(), Fault> {
        let written = self.write_patiently(outcomes, events).await;
        written.map_err(|error| {
            tracing::warn!(session = self.stream.session, ?error, "a session was not written");
            fault_of(&error)
        })
    }
}
