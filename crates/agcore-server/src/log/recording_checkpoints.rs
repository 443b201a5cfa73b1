//! [`RecordingCheckpoints`]: the checkpoints of a flow while a run of it is active.

use std::sync::Arc;

use agcore_session::{Checkpoint, CheckpointStore, NewCheckpoint, RunKey, SessionError};
use async_trait::async_trait;

use super::run_log::RunLog;

/// The checkpoints of a flow while a run of it is active: what must not be lost once a node has finished is written before that is
/// saved.
#[derive(Debug)]
pub(crate) struct RecordingCheckpoints {
    inner: Arc<dyn CheckpointStore>,
    log: Arc<RunLog>,
}

impl RecordingCheckpoints {
    pub(crate) fn new(inner: Arc<dyn CheckpointStore>, log: Arc<RunLog>) -> Self {
        Self { inner, log }
    }
}

#[async_trait]
impl CheckpointStore for RecordingCheckpoints {
    async fn save_checkpoint(
        &self,
        run: RunKey<'_>,
        expected: u64,
        checkpoint: NewCheckpoint,
    ) -> Result<u64, SessionError> {
        self.log.flush_needed().await?;
        self.inner.save_checkpoint(run, expected, checkpoint).await
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, SessionError> {
        self.inner.latest_checkpoints(run).await
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, SessionError> {
        self.inner.checkpoints(run, from).await
    }

    async fn checkpoints_at(&self, run: RunKey<'_>, seq: u64) -> Result<Vec<Checkpoint>, SessionError> {
        self.inner.checkpoints_at(run, seq).await
    }

    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, SessionError> {
        self.inner.trim_checkpoints(run, before).await
    }
}
