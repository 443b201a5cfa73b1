//! [`Stored`]: a session with everything that belongs to it.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    checkpoint::Checkpoint,
    session::{
        Session,
        approval::Approval,
        call::StoredCall,
        document::SessionDocument,
        event::StoredEvent,
        filter::{MessageFilter, MessagePart},
        message::StoredMessage,
        run::Run,
    },
};

#[derive(Debug)]
pub(super) struct Stored {
    /// Its `end` is not kept up to date: the stream knows it.
    pub(super) session: Session,
    /// The messages of the conversation; number 1 is the first one.
    pub(super) conversation: Vec<StoredMessage>,
    /// The audit messages; number −1 is the first one.
    pub(super) audit: Vec<StoredMessage>,
    pub(super) message_ids: BTreeSet<String>,
    pub(super) events: Vec<StoredEvent>,
    /// The number that was given last, also if the event was deleted.
    pub(super) last_event: u64,
    pub(super) runs: Vec<StoredRun>,
    pub(super) approvals: BTreeMap<String, Approval>,
    pub(super) document: Option<SessionDocument>,
}

/// A run with what belongs to it.
#[derive(Debug)]
pub(super) struct StoredRun {
    pub(super) run: Run,
    pub(super) calls: Vec<StoredCall>,
    pub(super) checkpoints: Vec<Checkpoint>,
}

impl Stored {
    pub(super) fn new(session: Session) -> Self {
        Self {
            session,
            conversation: Vec::new(),
            audit: Vec::new(),
            message_ids: BTreeSet::new(),
            events: Vec::new(),
            last_event: 0,
            runs: Vec::new(),
            approvals: BTreeMap::new(),
            document: None,
        }
    }

    pub(super) fn run(&self, id: &str) -> Option<&StoredRun> {
        self.runs.iter().rfind(|run| run.run.id == id)
    }

    pub(super) fn run_mut(&mut self, id: &str) -> Option<&mut StoredRun> {
        self.runs.iter_mut().rfind(|run| run.run.id == id)
    }

    /// Returns the messages that a filter selects.
    pub(super) fn messages(&self, filter: &MessageFilter) -> Vec<StoredMessage> {
        let messages = match filter.part {
            MessagePart::Conversation => &self.conversation,
            MessagePart::Audit => &self.audit,
        };
        let selected: Vec<&StoredMessage> = messages.iter().filter(|message| filter.matches(message)).collect();
        let limit = limit(filter.limit).min(selected.len());
        let page = if filter.is_last {
            &selected[selected.len() - limit..]
        } else {
            &selected[..limit]
        };
        page.iter().copied().cloned().collect()
    }
}

/// Converts the limit of a filter.
pub(super) fn limit(limit: Option<u64>) -> usize {
    limit
        .and_then(|limit| usize::try_from(limit).ok())
        .unwrap_or(usize::MAX)
}
