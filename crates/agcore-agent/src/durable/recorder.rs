//! [`SessionRecorder`]: writes what a session absorbs to its store.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use agcore_chat::{Clock, EventKind, Fault, FaultKind, Message, Question, Role, TurnEvent};
use agcore_cycle::{
    LlmCycle, OutcomeRecorder,
    machine::{Limits, Machine, Outcome},
};
use agcore_memory::{
    MemoryError, MemoryErrorKind, Record, Timestamp,
    session::{
        ApprovalChange, Commit, RunChange, RunStatus, Session, SessionState, SessionStatus, SessionStore, title_of,
    },
};
use agcore_tools::{RunState, ToolSession};
use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{
    approvals::{asked_approvals, closed_approvals, new_approval},
    entry::EntryData,
    rows::Rows,
};

/// Writes what a session absorbs: one commit for each write of the agent loop, with the record from which the session is
/// restored, and what is derived from it: messages, the status, the run, the title.
pub(crate) struct SessionRecorder {
    store: Arc<dyn SessionStore>,
    clock: Arc<dyn Clock>,
    tenant: String,
    session: String,
    /// Identifies this object in its records.
    writer: String,
    tools: ToolSession,
    /// Whether the state has changed in another way than by outcomes, so that the next record must contain it.
    needs_state: AtomicBool,
    next: Mutex<Next>,
    position: tokio::sync::Mutex<Position>,
}

/// The parts of the next record besides its outcomes.
#[derive(Default)]
struct Next {
    state: Option<Box<Machine>>,
    /// New limits, which the restored conversation has already.
    limits: Option<Limits>,
    run_state: Option<RunState>,
}

/// The end of the session in the store, as this object knows it.
struct Position {
    end: u64,
    status: SessionStatus,
    /// The number of turns that have started.
    turns: u32,
    /// Whether a run is open.
    is_open: bool,
    /// Whether questions are stored that may still be open.
    has_questions: bool,
    /// The values that were written last.
    tools: Value,
    run_state: Map<String, Value>,
}

/// The parts of a session that a recorder continues.
pub(crate) struct Continued<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) tools: &'a ToolSession,
    pub(crate) run_state: &'a RunState,
    /// The limits that apply from now on.
    pub(crate) limits: &'a Limits,
    /// Whether the store has the state.
    pub(crate) has_state: bool,
}

/// A commit, and the position after it.
struct Draft {
    commit: Commit,
    after: Position,
}

impl SessionRecorder {
    pub(crate) fn new(
        store: Arc<dyn SessionStore>,
        clock: Arc<dyn Clock>,
        session: &Session,
        writer: String,
        continued: &Continued<'_>,
    ) -> Self {
        let Continued { machine, limits, .. } = continued;
        let limits = (machine.limits() != *limits).then(|| (*limits).clone());
        Self {
            store,
            clock,
            tenant: session.owner.tenant.to_string(),
            session: session.id.clone(),
            writer,
            tools: continued.tools.clone(),
            needs_state: AtomicBool::new(!continued.has_state),
            next: Mutex::new(Next {
                limits: limits.filter(|_| continued.has_state),
                ..Next::default()
            }),
            position: tokio::sync::Mutex::new(Position {
                end: session.end,
                status: session.status,
                turns: machine.turns(),
                is_open: machine.is_open(),
                // The status and the questions are written together.
                has_questions: machine.is_open() && session.status == SessionStatus::Pending,
                tools: continued.tools.export(),
                run_state: continued.run_state.snapshot(),
            }),
        }
    }

    /// Notes that the state has changed in another way than by outcomes.
    pub(crate) fn state_changed(&self) {
        self.needs_state.store(true, Ordering::Relaxed);
    }

    /// Prepares for a run of the loop, whose steps share these values.
    pub(crate) fn prepare(&self, cycle: &mut LlmCycle, run_state: &RunState) {
        let mut next = self.next();
        if self.needs_state.swap(false, Ordering::Relaxed) {
            next.state = Some(Box::new(cycle.start_recording().clone()));
            next.limits = None;
        }
        next.run_state = Some(run_state.clone());
    }

    /// Records the whole state, with a commit that belongs to it and the rows of these messages.
    pub(crate) async fn write_state(
        &self,
        machine: Machine,
        mut commit: Commit,
        shown: &[Message],
    ) -> Result<(), MemoryError> {
        let mut position = self.position.lock().await;
        let mut rows = Rows::new(position.end + 1);
        shown.iter().for_each(|message| rows.input(message));
        commit.messages.extend(rows.into_rows());
        let ends = position.is_open && !machine.is_open();
        if ends {
            // The turn was abandoned.
            commit = self.with_abandoned_run(commit, &position).await?;
        }
        let mut data = EntryData::new(&self.writer, &[]);
        data.state = Some(std::borrow::Cow::Owned(machine));
        let commit = commit.with_record(data.into_record(Timestamp::from(self.clock.now()))?);
        let committed = self
            .store
            .commit(&self.tenant, &self.session, position.end, commit)
            .await?;
        position.end = committed.end;
        if ends {
            position.is_open = false;
            position.has_questions = false;
            position.status = SessionStatus::Pending;
        }
        self.needs_state.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Adds the end of a turn that was abandoned: the session waits for the next input.
    async fn with_abandoned_run(&self, commit: Commit, position: &Position) -> Result<Commit, MemoryError> {
        let mut commit = commit.with_run(RunChange::new(run_id(position.turns), RunStatus::Cancelled));
        if position.has_questions {
            commit.approvals = closed_approvals(&*self.store, &self.tenant, &self.session, &[], true).await?;
        }
        Ok(commit.with_state(SessionState::pending()))
    }

    /// Returns whether nothing was recorded yet.
    pub(crate) async fn is_empty(&self) -> bool {
        self.position.lock().await.end == 0
    }

    /// Records that the turn waits for a person.
    pub(crate) async fn suspended(&self, questions: &[Question]) -> Result<(), MemoryError> {
        let mut position = self.position.lock().await;
        let (Some(first), SessionStatus::Running) = (questions.first(), position.status) else {
            return Ok(());
        };
        let run = run_id(position.turns);
        let known = match position.has_questions {
            true => asked_approvals(&*self.store, &self.tenant, &self.session).await?,
            false => Vec::new(),
        };
        let mut commit = Commit::new()
            .with_state(SessionState::waiting_for(&*first.call_id))
            .with_run(RunChange::new(run.clone(), RunStatus::Interrupted));
        for question in questions.iter().filter(|question| !known.contains(&question.id)) {
            commit = commit.with_approval(ApprovalChange::Ask(new_approval(question, &run)?));
        }
        self.store
            .commit(&self.tenant, &self.session, position.end, commit)
            .await?;
        position.status = SessionStatus::Pending;
        position.has_questions = true;
        Ok(())
    }

    fn next(&self) -> MutexGuard<'_, Next> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the commit for these outcomes.
    fn draft(&self, known: &Position, outcomes: &[Outcome], events: &[EventKind]) -> Result<Draft, MemoryError> {
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
        let mut data = EntryData::new(&self.writer, outcomes);
        data.state = next.state.as_deref().map(std::borrow::Cow::Borrowed);
        let (tools, run_state) = (self.tools.export(), next.run_state.as_ref().map(RunState::snapshot));
        data.tools = (!is_same(&tools, &known.tools)).then(|| tools.clone());
        data.run_state = run_state.clone().filter(|values| *values != known.run_state);
        let record = data.into_record(Timestamp::from(self.clock.now()))?;
        let mut after = Position {
            end: known.end + 1,
            tools,
            run_state: run_state.unwrap_or_else(|| known.run_state.clone()),
            ..*known
        };
        let commit = derive(Commit::new().with_record(record), &mut after, outcomes, events);
        Ok(Draft { commit, after })
    }

    async fn write(&self, outcomes: &[Outcome], events: &[EventKind]) -> Result<(), MemoryError> {
        let mut position = self.position.lock().await;
        let Draft { mut commit, mut after } = self.draft(&position, outcomes, events)?;
        if position.has_questions {
            let ends = after.turns != position.turns || !after.is_open;
            commit.approvals = closed_approvals(&*self.store, &self.tenant, &self.session, outcomes, ends).await?;
            after.has_questions = !ends;
        }
        let records = commit.records.clone();
        let committed = self
            .store
            .commit(&self.tenant, &self.session, position.end, commit)
            .await;
        if let Err(error) = committed
            && !(matches!(error.kind(), MemoryErrorKind::Conflict { .. }) && self.is_written(&position, &records).await)
        {
            return Err(error);
        }
        *position = after;
        let mut next = self.next();
        (next.state, next.limits) = (None, None);
        Ok(())
    }

    /// Returns whether these records are the end of the stream: an earlier attempt took place, but its answer was lost.
    async fn is_written(&self, position: &Position, records: &[Record]) -> bool {
        let stream = agcore_memory::session::stream_of(&self.tenant, &self.session);
        let Ok(found) = self.store.read(&stream, position.end + 1).await else {
            return false;
        };
        found.len() == records.len()
            && found
                .iter()
                .zip(records)
                .all(|(entry, own)| entry.record.data == own.data)
    }
}

#[async_trait]
impl OutcomeRecorder for SessionRecorder {
    async fn record(&self, outcomes: &[Outcome]) -> Result<(), Fault> {
        self.record_with_events(outcomes, &[]).await
    }

    async fn record_with_events(&self, outcomes: &[Outcome], events: &[EventKind]) -> Result<(), Fault> {
        let written = self.write(outcomes, events).await;
        written.map_err(|error| {
            tracing::warn!(session = self.session, ?error, "a session was not written");
            fault_of(&error)
        })
    }
}

/// Adds what is derived from the outcomes and their events, and advances the position.
fn derive(mut commit: Commit, after: &mut Position, outcomes: &[Outcome], events: &[EventKind]) -> Commit {
    let replaces = outcomes
        .iter()
        .any(|outcome| matches!(outcome, Outcome::TurnStarted(begin) if begin.replaces));
    let mut rows = Rows::new(after.end);
    // The turn continues because a person has answered.
    let mut state = (after.status == SessionStatus::Pending && after.is_open).then(|| {
        commit
            .runs
            .push(RunChange::new(run_id(after.turns), RunStatus::Running));
        SessionState::running()
    });
    let mut fault = None;
    for event in events {
        match event {
            EventKind::Turn(TurnEvent::Started(messages)) => {
                if after.is_open {
                    // Its end was not recorded, because its future was dropped.
                    commit
                        .runs
                        .push(RunChange::new(run_id(after.turns), RunStatus::Cancelled));
                }
                if after.turns == 0 {
                    commit.title = title(messages);
                }
                after.turns += 1;
                after.is_open = true;
                fault = None;
                commit
                    .runs
                    .push(RunChange::new(run_id(after.turns), RunStatus::Running));
                state = Some(SessionState::running());
            }
            EventKind::Turn(TurnEvent::Error(error)) => fault = Some(error),
            EventKind::Turn(TurnEvent::Complete { .. }) => {
                after.is_open = false;
                let (status, end) = end_of(fault);
                commit.runs.push(RunChange::new(run_id(after.turns), status));
                state = Some(end);
            }
            _ => {}
        }
        let run = (after.turns > 0).then(|| run_id(after.turns));
        rows.add(event, replaces, run.as_deref());
    }
    commit.messages = rows.into_rows();
    if let Some(mut state) = state.filter(|state| state.status != after.status) {
        if !after.status.can_become(state.status) {
            // A session that waited for a person cannot fail: it waits for the next input.
            state = SessionState::pending();
        }
        after.status = state.status;
        commit.state = Some(state);
    }
    commit
}

/// Returns the title of a session that begins with these messages.
fn title(messages: &[Arc<Message>]) -> Option<String> {
    let mut newest = messages.iter().rev();
    let first = newest.find(|message| message.role() == Role::User)?;
    Some(title_of(&first.text(), "")).filter(|title| !title.is_empty())
}

fn end_of(fault: Option<&Fault>) -> (RunStatus, SessionState) {
    match fault {
        None => (RunStatus::Completed, SessionState::completed()),
        Some(fault) if fault.kind == FaultKind::Cancelled => {
            (RunStatus::Cancelled, SessionState::failed(fault.kind.to_string()))
        }
        Some(fault) => (RunStatus::Failed, SessionState::failed(fault.kind.to_string())),
    }
}

/// Returns the id of the run of a turn, counted from 1.
fn run_id(turn: u32) -> String {
    format!("turn-{turn}")
}

/// Compares what tools remember. The number of batches only orders refusals, so it does not count as a change of its own.
fn is_same(one: &Value, other: &Value) -> bool {
    let members = |value: &Value| {
        let members = value.as_object().into_iter().flatten();
        members
            .filter(|(name, _)| *name != "batch")
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect::<Map<_, _>>()
    };
    members(one) == members(other)
}

/// Returns why a turn was interrupted.
fn fault_of(error: &MemoryError) -> Fault {
    let message = match error.kind() {
        MemoryErrorKind::Conflict { .. } => {
            "the session was continued elsewhere, so this copy of it is out of date; open it again".to_owned()
        }
        MemoryErrorKind::NotFound => "the session does not exist any more: it was deleted".to_owned(),
        _ => error.message().to_owned(),
    };
    Fault::new(FaultKind::Storage, message).with_retryable(error.kind() == MemoryErrorKind::Unavailable)
}
