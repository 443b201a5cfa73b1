//! [`SessionLog`] for the recorder: what it writes and reads besides the outcomes of turns.

use std::{
    borrow::Cow,
    sync::{Arc, PoisonError, atomic::Ordering},
};

use agcore_chat::{EventKind, Message, ModelCall, PersonEvent, Question};
use agcore_cycle::{
    LlmCycle, Spent,
    machine::{Limits, Machine},
};
use agcore_session::{
    ApprovalChange, Commit, Entry, Hold, Record, RunChange, RunStatus, SessionError, SessionState, SessionStatus,
    Timestamp, id,
};
use agcore_tools::RunState;
use async_trait::async_trait;

use super::SessionRecorder;
use crate::{
    durable::{
        approvals::{asked_approvals, new_approval},
        entry::EntryData,
        fold::{Folded, fold},
        rows::Rows,
        session_log::{Continued, Report, SessionLog},
        stream::Stream,
    },
    error::AgentError,
};

#[async_trait]
impl SessionLog for SessionRecorder {
    fn set_agent(&self, name: Option<&str>) {
        self.next().agent = Some(name.unwrap_or_default().to_owned());
        if let (Some(events), Some(name)) = (&self.events, name) {
            events.set_agent(name);
        }
    }

    fn key_scope(&self) -> String {
        let Stream {
            tenant,
            session,
            created_at,
            ..
        } = &*self.stream;
        let path = self.nested.as_ref().map_or("", |nested| &*nested.path);
        id::join([tenant, session, &created_at.as_millis().to_string(), path])
    }

    fn set_run(&self, run: Option<Arc<str>>, starts: bool) {
        let mut next = self.next();
        (next.started_run, next.continued_run) = if starts { (run, None) } else { (None, run) };
    }

    fn state_changed(&self) {
        self.needs_state.store(true, Ordering::Relaxed);
    }

    async fn hold(&self) -> Result<Option<Arc<Hold>>, SessionError> {
        if self.nested.is_some() {
            return Ok(None);
        }
        let known = self.held.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        // A turn of this handle, between whose steps something else is written.
        if let Some(known) = known.filter(|known| !known.is_lost()) {
            return Ok(Some(known));
        }
        let hold = Arc::new(self.stream.hold().await?);
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&hold);
        Ok(Some(hold))
    }

    async fn check_is_newest(&self) -> Result<(), SessionError> {
        let position = self.position().await;
        match self.nested {
            Some(_) => Ok(()),
            None => self.stream.check_end(position.end).await,
        }
    }

    fn prepare(&self, cycle: &mut LlmCycle, run_state: &RunState) {
        let mut next = self.next();
        if self.needs_state.swap(false, Ordering::Relaxed) {
            next.state = Some(Box::new(cycle.start_recording().clone()));
            next.limits = None;
        }
        next.run_state = Some(run_state.clone());
    }

    async fn write_state(
        &self,
        machine: Machine,
        calls: Vec<ModelCall>,
        mut commit: Commit,
        shown: &[Message],
    ) -> Result<(), SessionError> {
        let mut position = self.position().await;
        let mut rows = Rows::new(position.end + 1);
        shown.iter().for_each(|message| rows.input(message));
        if let Some(billing) = &self.billing {
            let run = (position.turns > 0).then(|| position.run_id());
            rows.bill(billing, calls, run.as_deref());
        }
        commit.messages.extend(rows.into_rows());
        let ends = position.is_open && !machine.is_open();
        if ends {
            // The turn was abandoned.
            commit = self.with_abandoned_run(commit, &position).await?;
        }
        let mut data = EntryData::new(&self.writer, &[]);
        data.state = Some(Cow::Owned(machine));
        data.agent = self.next().agent.take();
        let commit = commit.with_record(data.into_record(Timestamp::from(self.clock.now()))?);
        self.stream.commit(position.end, commit.into()).await?;
        position.end += 1;
        if ends {
            position.is_open = false;
            position.has_questions = false;
            position.status = SessionStatus::Pending;
        }
        self.needs_state.store(false, Ordering::Relaxed);
        Ok(())
    }

    async fn is_empty(&self) -> bool {
        self.position().await.end == 0
    }

    async fn suspended(&self, questions: &[Question]) -> Result<(), SessionError> {
        let mut position = self.position().await;
        let (Some(first), SessionStatus::Running, None) = (questions.first(), position.status, &self.nested) else {
            return Ok(());
        };
        let run = position.run_id();
        let known = match position.has_questions {
            true => asked_approvals(&self.stream).await?,
            false => Vec::new(),
        };
        let mut commit = Commit::new()
            .with_state(SessionState::waiting_for(&*first.call_id))
            .with_run(RunChange::new(run.clone(), RunStatus::Interrupted));
        for question in questions.iter().filter(|question| !known.contains(&question.id)) {
            commit = commit.with_approval(ApprovalChange::Ask(new_approval(question, &run)?));
        }
        let event = EventKind::Person(PersonEvent::Suspended(questions.to_vec()));
        let turn = self.with_recorded(commit, &position, &[event]);
        self.stream.commit(position.end, turn).await?;
        position.status = SessionStatus::Pending;
        position.has_questions = true;
        Ok(())
    }

    async fn document(&self, mut calls: Vec<ModelCall>) -> Result<(), SessionError> {
        if self.billing.is_none() || calls.is_empty() {
            return Ok(());
        }
        calls.iter_mut().for_each(|call| call.is_reply = false);
        // That of a sub-agent has no stream of its own.
        let root = self.nested.as_ref().map_or(self, |nested| &nested.root);
        // The ids of messages are derived from the record beside them.
        let record = EntryData::new(&root.writer, &[]).into_record(self.now())?;
        root.append(vec![record], calls).await
    }

    async fn nested_spent(&self, start_of_path: &str) -> Result<Spent, AgentError> {
        EntryData::nested_spent(self.entries().await?, start_of_path)
    }

    async fn read_nested(&self, path: &str, limits: &Limits) -> Result<Folded, AgentError> {
        fold(self.entries().await?, Some(path), limits)
    }

    fn nested(
        self: Arc<Self>,
        path: String,
        start: u64,
        report: Option<Report>,
        writer: String,
        continued: &Continued<'_>,
    ) -> Arc<dyn SessionLog> {
        Arc::new(self.of_sub_agent(path, start, report, writer, continued))
    }

    async fn add_record(&self, record: Record) -> Result<(), SessionError> {
        self.append(vec![record], Vec::new()).await
    }

    async fn entries(&self) -> Result<Vec<Entry>, SessionError> {
        self.stream.read(1).await
    }

    fn now(&self) -> Timestamp {
        Timestamp::from(self.clock.now())
    }
}
