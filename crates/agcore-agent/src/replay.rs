//! [`RuntimeBundle::replay`]: runs a session again with recorded answers, and stops at the first difference.

mod error;
mod plan;
mod player;
mod trajectory;

pub use self::{
    error::{ReplayError, ReplayErrorKind},
    player::ReplayReport,
    trajectory::{Trajectory, TrajectoryEntry, TrajectoryError},
};

use std::sync::Arc;

use self::{plan::runs_of, player::Player};
use crate::{agent::Agent, bundle::RuntimeBundle};

impl RuntimeBundle {
    /// Runs a session again with recorded answers, and fails at the first difference: a request with another conversation, a call
    /// of a tool that does not exist any more, a turn that ends earlier or later. Use it to find out whether a change of the agent,
    /// its settings or its tools alters what happened in earlier sessions.
    ///
    /// Neither the model nor any tool, hook or person is asked, nothing is written to a store, and nothing waits. The provider of
    /// the bundle only describes itself. System prompts, parameters and the schemas of typed turns are not compared: they are not
    /// part of a session. Whether an answer fits its type is replayed.
    ///
    /// Cancel safe.
    ///
    /// # Errors
    /// [`Different`](ReplayErrorKind::Different) at the first difference, [`Unsupported`](ReplayErrorKind::Unsupported) if the
    /// session contains something that cannot be replayed, [`Agent`](ReplayErrorKind::Agent) if the agent cannot run at all.
    pub async fn replay(
        &self,
        trajectory: &Trajectory,
        agent: impl Agent + 'static,
    ) -> Result<ReplayReport, ReplayError> {
        let runs = runs_of(trajectory)?;
        let mut player = Player::new(self, trajectory.session(), Arc::new(agent));
        for run in runs {
            player.play(run).await?;
        }
        Ok(player.report())
    }
}
