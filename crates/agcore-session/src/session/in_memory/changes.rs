//! [`Changes`]: what a commit changes in a session, worked out before anything is changed.

use agcore_chat::Timestamp;

use super::stored::{Stored, StoredRun};
use crate::{
    error::{SessionError, SessionErrorKind},
    journal::Record,
    session::{
        Session,
        approval::{Approval, ApprovalChange},
        call::{CallChange, StoredCall},
        commit::Commit,
        document::SessionDocument,
        event::{NewEvent, StoredEvent},
        message::{NewMessage, StoredMessage},
        run::{Run, RunChange},
    },
};

/// New and changed parts of a session. What changes several times is in each list several times; the last one counts.
#[derive(Debug)]
pub(super) struct Changes {
    pub(super) session: Session,
    pub(super) records: Vec<Record>,
    pub(super) messages: Vec<StoredMessage>,
    pub(super) events: Vec<StoredEvent>,
    pub(super) runs: Vec<Run>,
    pub(super) calls: Vec<StoredCall>,
    pub(super) approvals: Vec<Approval>,
    pub(super) document: Option<SessionDocument>,
}

impl Changes {
    /// Works out what a commit changes.
    ///
    /// # Errors
    /// When the commit does not fit the session.
    pub(super) fn of(commit: Commit, stored: &Stored, now: Timestamp) -> Result<Self, SessionError> {
        let mut changes = Self {
            session: commit.apply(stored.session.clone(), now)?,
            records: commit.records,
            messages: Vec::with_capacity(commit.messages.len()),
            events: Vec::with_capacity(commit.events.len()),
            runs: Vec::with_capacity(commit.runs.len()),
            calls: Vec::with_capacity(commit.calls.len()),
            approvals: Vec::with_capacity(commit.approvals.len()),
            document: None,
        };
        if let Some(change) = commit.document {
            let document = change.apply(stored.document.as_ref(), now)?;
            changes.session.document_version = document.version;
            changes.document = Some(document);
        }
        for run in commit.runs {
            changes.add_run(run, stored, now)?;
        }
        for message in commit.messages {
            changes.add_message(message, stored, now)?;
        }
        for event in commit.events {
            changes.add_event(event, stored, now)?;
        }
        for call in commit.calls {
            changes.add_call(call, stored, now)?;
        }
        for approval in commit.approvals {
            changes.add_approval(approval, stored, now)?;
        }
        Ok(changes)
    }

    /// Returns the runs that are new or get another status, in the order in which that happens.
    pub(super) fn new_statuses(&self, stored: &Stored) -> impl Iterator<Item = &Run> {
        let status_before = |number: usize, run: &Run| {
            let changed = self.runs.iter().take(number).rfind(|known| known.id == run.id);
            let known = changed.or_else(|| stored.run(&run.id).map(|known| &known.run));
            known.map(|known| known.status)
        };
        let numbered = self.runs.iter().enumerate();
        let changed = numbered.filter(move |(number, run)| status_before(*number, run) != Some(run.status));
        changed.map(|(_, run)| run)
    }

    /// Applies the changes to the session.
    pub(super) fn apply_to(self, stored: &mut Stored) {
        stored.session = self.session;
        for message in self.messages {
            stored.message_ids.insert(message.id.clone());
            if message.seq > 0 {
                stored.conversation.push(message);
            } else {
                stored.audit.push(message);
            }
        }
        stored.last_event += self.events.len() as u64;
        stored.events.extend(self.events);
        for run in self.runs {
            match stored.run_mut(&run.id) {
                Some(known) => known.run = run,
                None => stored.runs.push(StoredRun {
                    run,
                    calls: Vec::new(),
                    checkpoints: Vec::new(),
                }),
            }
        }
        for call in self.calls {
            let Some(run) = stored.run_mut(&call.run) else { continue };
            match run.calls.iter_mut().rfind(|known| known.id == call.id) {
                Some(known) => *known = call,
                None => run.calls.push(call),
            }
        }
        if self.document.is_some() {
            stored.document = self.document;
        }
        for approval in self.approvals {
            stored.approvals.insert(approval.id.clone(), approval);
        }
    }

    fn add_run(&mut self, change: RunChange, stored: &Stored, now: Timestamp) -> Result<(), SessionError> {
        let changed = self.runs.iter().rfind(|run| run.id == change.id);
        let known = changed.or_else(|| stored.run(&change.id).map(|run| &run.run)).cloned();
        self.runs.push(change.apply(known, now)?);
        Ok(())
    }

    fn add_message(&mut self, message: NewMessage, stored: &Stored, now: Timestamp) -> Result<(), SessionError> {
        let is_known = self.messages.iter().any(|known| known.id == message.id);
        if is_known || stored.message_ids.contains(&message.id) {
            return Err(SessionError::new(
                SessionErrorKind::AlreadyExists,
                format!("the session has a message `{}` already", message.id),
            ));
        }
        let last = if message.is_audit {
            &stored.audit
        } else {
            &stored.conversation
        };
        let added = self.messages.iter().filter(|known| (known.seq < 0) == message.is_audit);
        let number = i64::try_from(last.len() + added.count() + 1).unwrap_or(i64::MAX);
        let seq = if message.is_audit { -number } else { number };
        self.messages.push(message.store(seq, now));
        Ok(())
    }

    fn add_event(&mut self, event: NewEvent, stored: &Stored, now: Timestamp) -> Result<(), SessionError> {
        self.check_run(&event.run, stored)?;
        let seq = stored.last_event + self.events.len() as u64 + 1;
        self.events.push(event.store(seq, now));
        Ok(())
    }

    fn add_call(&mut self, change: CallChange, stored: &Stored, now: Timestamp) -> Result<(), SessionError> {
        let (run, id) = change.ids();
        self.check_run(run, stored)?;
        let changed = self.calls.iter().rfind(|call| call.run == run && call.id == id);
        let stored = || stored.run(run)?.calls.iter().rfind(|call| call.id == id);
        let known = changed.or_else(stored).cloned();
        self.calls.push(change.apply(known, now)?);
        Ok(())
    }

    fn add_approval(&mut self, change: ApprovalChange, stored: &Stored, now: Timestamp) -> Result<(), SessionError> {
        if let ApprovalChange::Ask(new) = &change {
            self.check_run(&new.run, stored)?;
        }
        let changed = self.approvals.iter().rfind(|known| known.id == change.id());
        let known = changed.or_else(|| stored.approvals.get(change.id())).cloned();
        self.approvals.push(change.apply(&stored.session.id, known, now)?);
        Ok(())
    }

    fn check_run(&self, id: &str, stored: &Stored) -> Result<(), SessionError> {
        if self.runs.iter().any(|run| run.id == id) || stored.run(id).is_some() {
            return Ok(());
        }
        Err(SessionError::not_found(format!("the session has no run `{id}`")))
    }
}
