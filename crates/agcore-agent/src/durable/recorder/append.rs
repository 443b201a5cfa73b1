//! Adding what sub-agents write to the stream of the session in which they work.

use std::{
    pin::Pin,
    sync::{Arc, PoisonError},
};

use agcore_chat::ModelCall;
use agcore_session::{Commit, Record, SessionError};
use futures_util::FutureExt;

use super::SessionRecorder;
use crate::durable::{recorded_event::RecordedEvent, rows::Rows, turn_log::TurnCommit};

impl SessionRecorder {
    /// Adds records of a sub-agent to the stream of the session, and documents the model calls that it made.
    ///
    /// The next write completes this one first, whatever it belongs to. The future of a sub-agent is not polled while the agent
    /// that asked it writes: if it held the end of the stream then, both would wait forever.
    pub(super) async fn append(&self, records: Vec<Record>, calls: Vec<ModelCall>) -> Result<(), SessionError> {
        self.append_events(records, Vec::new(), calls).await
    }

    /// Like [`append`](Self::append), with events that the records cause.
    pub(super) async fn append_events(
        &self,
        records: Vec<Record>,
        events: Vec<RecordedEvent>,
        calls: Vec<ModelCall>,
    ) -> Result<(), SessionError> {
        let (stream, position) = (Arc::clone(&self.stream), Arc::clone(&self.position));
        let billing = self.billing.clone().filter(|_| !calls.is_empty());
        let write = {
            let mut newest = self.appended.lock().unwrap_or_else(PoisonError::into_inner);
            let before = newest.take();
            let write: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(async move {
                if let Some(before) = before {
                    // Its error is that of another sub-agent.
                    drop(before.await);
                }
                let count = u64::try_from(records.len()).unwrap_or(u64::MAX);
                let mut commit = records.into_iter().fold(Commit::new(), Commit::with_record);
                let mut position = position.lock().await;
                let run = (position.turns > 0).then(|| position.run_id());
                if let Some(billing) = billing {
                    let mut rows = Rows::new(position.end + 1);
                    rows.bill(&billing, calls, run.as_deref());
                    commit.messages = rows.into_rows();
                }
                let turn = match run {
                    Some(run) => TurnCommit::new(commit, run, events),
                    // Outside of turns, nothing is reported.
                    None => commit.into(),
                };
                stream.commit(position.end, turn).await?;
                position.end += count;
                Ok(())
            });
            newest.insert(write.shared()).clone()
        };
        write.await
    }
}
