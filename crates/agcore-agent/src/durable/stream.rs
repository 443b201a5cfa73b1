//! [`Stream`]: the records of a session in its store.

use std::sync::Arc;

use agcore_chat::{Fault, FaultKind};
use agcore_session::{Entry, Hold, Record, SessionError, SessionErrorKind, SessionStore, Timestamp, stream_of};

use super::turn_log::{TurnCommit, TurnLog};

const OUT_OF_DATE: &str = "the session was continued elsewhere, so this copy of it is out of date; open it again";

/// Where sessions are written.
#[derive(Clone)]
pub(crate) struct Sink {
    pub(crate) store: Arc<dyn SessionStore>,
    /// Writes in place of the store.
    pub(crate) log: Option<Arc<dyn TurnLog>>,
}

/// The records of a session in its store.
pub(super) struct Stream {
    pub(super) sink: Sink,
    pub(super) tenant: String,
    pub(super) session: String,
    /// Distinguishes the session from one that gets the same id after this one was deleted.
    pub(super) created_at: Timestamp,
}

impl Stream {
    /// Returns the records from a number on.
    pub(super) async fn read(&self, from: u64) -> Result<Vec<Entry>, SessionError> {
        self.sink
            .store
            .read(&stream_of(&self.tenant, &self.session), from)
            .await
    }

    /// Takes the right to drive the session.
    pub(super) async fn hold(&self) -> Result<Hold, SessionError> {
        let Sink { store, log } = &self.sink;
        match log.as_ref().and_then(|log| log.hold(&self.tenant, &self.session)) {
            Some(hold) => Ok(hold),
            None => store.hold(&stream_of(&self.tenant, &self.session)).await,
        }
    }

    /// Checks that the stream ends at this record, if the store can report its end.
    pub(super) async fn check_end(&self, end: u64) -> Result<(), SessionError> {
        match self.sink.store.get_session(&self.tenant, &self.session).await {
            Ok(Some(session)) if session.end > end => Err(self.conflict(end, session.end)),
            _ => Ok(()),
        }
    }

    /// Returns the error of a handle that has lost the right to drive the session.
    pub(super) fn out_of_date(&self) -> SessionError {
        self.conflict(0, 0)
    }

    fn conflict(&self, expected: u64, found: u64) -> SessionError {
        SessionError::new(SessionErrorKind::Conflict { expected, found }, OUT_OF_DATE)
    }

    /// Makes a commit after the record `end`, unless exactly its records are written already: an earlier attempt took place, but
    /// its answer was lost.
    pub(super) async fn commit(&self, end: u64, turn: TurnCommit) -> Result<(), SessionError> {
        let records = turn.commit.records.clone();
        match self.write(end, turn).await {
            // Whether it was written is unknown as long as that cannot be read.
            Err(error) if is_conflict(&error) => match self.is_written(end, &records).await? {
                true => Ok(()),
                false => Err(error),
            },
            written => written,
        }
    }

    async fn write(&self, end: u64, turn: TurnCommit) -> Result<(), SessionError> {
        let Sink { store, log } = &self.sink;
        match log {
            Some(log) => log.commit(&self.tenant, &self.session, end, turn).await,
            None => {
                let commit = turn.into_commit()?;
                store.commit(&self.tenant, &self.session, end, commit).await.map(drop)
            }
        }
    }

    /// Returns whether these records are the end of the stream.
    async fn is_written(&self, end: u64, records: &[Record]) -> Result<bool, SessionError> {
        let found = self.read(end + 1).await?;
        Ok(!records.is_empty()
            && found.len() == records.len()
            && found
                .iter()
                .zip(records)
                .all(|(entry, own)| entry.record.data == own.data))
    }
}

fn is_conflict(error: &SessionError) -> bool {
    matches!(error.kind(), SessionErrorKind::Conflict { .. })
}

/// Returns why a turn was interrupted.
pub(super) fn fault_of(error: &SessionError) -> Fault {
    let message = match error.kind() {
        SessionErrorKind::Conflict { .. } => OUT_OF_DATE.to_owned(),
        SessionErrorKind::NotFound => "the session does not exist any more: it was deleted".to_owned(),
        _ => error.message().to_owned(),
    };
    let kind = if is_conflict(error) {
        FaultKind::Conflict
    } else {
        FaultKind::Storage
    };
    Fault::new(kind, message).with_retryable(error.kind() == SessionErrorKind::Unavailable)
}
