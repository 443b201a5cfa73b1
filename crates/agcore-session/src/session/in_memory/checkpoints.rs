//! Checkpoints.

use async_trait::async_trait;

use super::{InMemorySessionStore, State};
use crate::{
    checkpoint::{Checkpoint, CheckpointStore, NewCheckpoint, RunKey},
    error::SessionError,
};

#[async_trait]
impl CheckpointStore for InMemorySessionStore {
    async fn save_checkpoint(
        &self,
        run: RunKey<'_>,
        expected: u64,
        checkpoint: NewCheckpoint,
    ) -> Result<u64, SessionError> {
        checkpoint.check()?;
        let now = self.now();
        let mut state = self.state();
        state.check_fence(run.tenant, run.fence, now)?;
        let sessions = state.tenants.get_mut(run.tenant);
        let stored = sessions.and_then(|sessions| sessions.get_mut(run.session));
        let known = stored.and_then(|stored| stored.run_mut(run.run));
        let known = known.ok_or_else(|| run.not_found())?;
        let last = known.checkpoints.last().map_or(0, |last| last.seq);
        let seq = run.next(last, expected, &checkpoint)?;
        known.checkpoints.push(checkpoint.store(seq, now));
        Ok(seq)
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, SessionError> {
        let state = self.state();
        let checkpoints = state.checkpoints(run);
        let first = checkpoints.iter().rposition(|checkpoint| checkpoint.is_snapshot);
        Ok(checkpoints[first.unwrap_or(0)..].to_vec())
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, SessionError> {
        let state = self.state();
        let checkpoints = state.checkpoints(run);
        let first = checkpoints.partition_point(|checkpoint| checkpoint.seq < from);
        Ok(checkpoints[first..].to_vec())
    }

    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, SessionError> {
        let now = self.now();
        let mut state = self.state();
        state.check_fence(run.tenant, run.fence, now)?;
        let sessions = state.tenants.get_mut(run.tenant);
        let stored = sessions.and_then(|sessions| sessions.get_mut(run.session));
        let Some(known) = stored.and_then(|stored| stored.run_mut(run.run)) else {
            return Ok(0);
        };
        let is_needed = |checkpoint: &Checkpoint| checkpoint.is_snapshot && checkpoint.seq <= before;
        let trimmed = known.checkpoints.iter().rposition(is_needed).unwrap_or(0);
        known.checkpoints.drain(..trimmed);
        Ok(trimmed as u64)
    }
}

impl State {
    fn checkpoints(&self, run: RunKey<'_>) -> &[Checkpoint] {
        let stored = self.get(run.tenant, run.session);
        let known = stored.and_then(|stored| stored.run(run.run));
        known.map_or(&[], |known| &known.checkpoints)
    }
}
