//! [`RunQueue`]: the contract of what hands runs to the server, and [`LocalQueue`] within a process.

mod local;

pub use local::LocalQueue;

use std::fmt::Debug;

use async_trait::async_trait;

use crate::run::RunJob;

/// Hands runs to the server that executes them.
///
/// The server adds a run when it is stored, asks for the [`next`](Self::next) one in a loop, and reports its end. It executes the
/// runs of a thread one after the other, in the order in which it receives them.
#[async_trait]
pub trait RunQueue: Send + Sync + Debug {
    /// Adds a run.
    ///
    /// # Errors
    /// When there is no space for it, or the queue cannot be reached.
    async fn push(&self, job: RunJob) -> Result<(), QueueError>;

    /// Waits for the next run. Returns `None` when there will be no more.
    ///
    /// Cancel safe: dropping the future loses no run.
    async fn next(&self) -> Option<RunJob>;

    /// Notes that a run has ended, so that there is space for another one.
    async fn done(&self, job: &RunJob);

    /// Returns the number of runs that wait or run.
    fn len(&self) -> usize;

    /// Returns whether no run waits or runs.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Why a run was not added to a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// There is no space for another run.
    #[error("the queue of runs is full; try again when other runs have ended")]
    Full,
    /// The queue cannot be reached.
    #[error("the queue of runs cannot be reached; try again later")]
    Unavailable,
}
