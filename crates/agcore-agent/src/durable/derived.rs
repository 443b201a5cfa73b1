//! The readable form of a session that is written with its records: messages, the status, runs and the title.

use std::sync::Arc;

use agcore_chat::{EventKind, Fault, FaultKind, Message, ModelCall, Role, TextEvent, TurnEvent};
use agcore_cycle::machine::Outcome;
use agcore_session::{Commit, RunChange, RunStatus, SessionState, SessionStatus, title_of};
use serde_json::{Map, Value};

use super::{rows::Rows, session_billing::SessionBilling};

/// The end of the session in the store, as this object knows it.
pub(super) struct Position {
    pub(super) end: u64,
    pub(super) status: SessionStatus,
    /// The number of turns that have started.
    pub(super) turns: u32,
    /// The id of the run of the newest turn, if it was given one.
    pub(super) run: Option<Arc<str>>,
    /// The id of the run of the next turn, if it is given one.
    pub(super) next_run: Option<Arc<str>>,
    /// Whether a run is open.
    pub(super) is_open: bool,
    /// Whether questions are stored that may still be open.
    pub(super) has_questions: bool,
    /// The record with the newest reply.
    pub(super) reply: Option<u64>,
    /// The values that were written last.
    pub(super) tools: Value,
    pub(super) run_state: Map<String, Value>,
}

impl Position {
    /// Returns the id of the run of the newest turn. The runs of turns that are given none are numbered from 1.
    pub(super) fn run_id(&self) -> String {
        match &self.run {
            Some(run) => run.to_string(),
            None => format!("turn-{}", self.turns),
        }
    }

    /// Advances the position of a sub-agent.
    pub(super) fn advance(&mut self, events: &[EventKind]) {
        for event in events {
            match event {
                EventKind::Turn(TurnEvent::Started(_)) => self.turns += 1,
                EventKind::Text(TextEvent::MessageComplete(_)) => self.reply = Some(self.end),
                _ => {}
            }
        }
    }
}

/// Adds the messages, runs, state and title that are derived from the outcomes and their events, and advances the position.
pub(super) fn derive(
    mut commit: Commit,
    after: &mut Position,
    outcomes: &[Outcome],
    events: &[EventKind],
    billing: Option<&SessionBilling>,
) -> Commit {
    let replaces = outcomes
        .iter()
        .any(|outcome| matches!(outcome, Outcome::TurnStarted(begin) if begin.replaces));
    let mut rows = Rows::new(after.end);
    // The turn continues because a person has answered.
    let mut state = (after.status == SessionStatus::Pending && after.is_open).then(|| {
        commit.runs.push(RunChange::new(after.run_id(), RunStatus::Running));
        SessionState::running()
    });
    let mut fault = None;
    for event in events {
        match event {
            EventKind::Turn(TurnEvent::Started(messages)) => {
                start_turn(&mut commit, after, messages);
                fault = None;
                state = Some(SessionState::running());
            }
            EventKind::Turn(TurnEvent::Error(error)) => fault = Some(error),
            EventKind::Turn(TurnEvent::Complete { .. }) => {
                after.is_open = false;
                let (status, end) = end_of(fault);
                commit.runs.push(RunChange::new(after.run_id(), status));
                state = Some(end);
            }
            _ => {}
        }
        if matches!(event, EventKind::Text(TextEvent::MessageComplete(_))) {
            after.reply = Some(after.end);
        }
        let run = (after.turns > 0).then(|| after.run_id());
        rows.add(event, replaces, run.as_deref());
    }
    if let Some(billing) = billing {
        let run = (after.turns > 0).then(|| after.run_id());
        rows.bill(billing, calls_of(outcomes), run.as_deref());
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

/// Adds the run of a turn that starts.
fn start_turn(commit: &mut Commit, after: &mut Position, messages: &[Arc<Message>]) {
    if after.is_open {
        // Its end was not recorded, because its future was dropped.
        commit.runs.push(RunChange::new(after.run_id(), RunStatus::Cancelled));
    }
    if after.turns == 0 {
        commit.title = title(messages);
    }
    after.turns += 1;
    after.run = after.next_run.take();
    after.is_open = true;
    commit.runs.push(RunChange::new(after.run_id(), RunStatus::Running));
}

/// Returns the model calls among outcomes.
pub(super) fn calls_of(outcomes: &[Outcome]) -> Vec<ModelCall> {
    let calls = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Called(call) => Some(ModelCall::clone(call)),
        _ => None,
    });
    calls.collect()
}

/// Returns the title of a session that begins with these messages.
fn title(messages: &[Arc<Message>]) -> Option<String> {
    let mut newest = messages.iter().rev();
    let first = newest.find(|message| message.role() == Role::User)?;
    Some(title_of(&first.own_text(), "")).filter(|title| !title.is_empty())
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
