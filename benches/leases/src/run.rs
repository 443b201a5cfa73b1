//! [`Run`]: a run as it must be stored.

use crate::worker::{Time, WorkerId};

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// It is about to be stored.
    New,
    Queued,
    Running,
    Completed,
    /// It was claimed too often.
    Dead,
}

/// A run as it must be stored, with what it will do.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) tenant: u32,
    pub(crate) priority: i16,
    /// The time of its parts together, in milliseconds.
    pub(crate) length: u32,
    /// The number of commits between its beginning and its end.
    pub(crate) steps: u8,
    /// Whether it kills each worker that has started it.
    pub(crate) is_poison: bool,
    pub(crate) queued_at: Time,
    pub(crate) life: Life,
    pub(crate) is_deleted: bool,
    /// The commits so far.
    pub(crate) done: u8,
    pub(crate) attempts: u8,
    pub(crate) epoch: u64,
    /// Whether a worker has it, by a lease that has not expired.
    pub(crate) is_held: bool,
    /// The worker that has claimed it last, and the number of the claim.
    pub(crate) claimed_by: Option<(WorkerId, u32)>,
    pub(crate) renewed_at: Time,
    pub(crate) until: Time,
}

impl Run {
    /// Returns whether a worker with a lease of this epoch may write.
    pub(crate) fn permits(&self, epoch: u64, now: Time) -> bool {
        self.is_open() && self.claimed_by.is_some() && self.epoch == epoch && self.until > now
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.life, Life::Queued | Life::Running)
    }
}

/// Returns the id of the session of a run. As in applications, their order is not that of the runs.
pub(crate) fn session_id(run: u32) -> String {
    let mixed = run.wrapping_mul(0x9e37_79b9);
    format!("{mixed:08x}-{run}")
}

/// Returns the number of the run of a session.
pub(crate) fn run_of(session: &str) -> Option<u32> {
    let (_, number) = session.split_once('-')?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_session_names_its_run() {
        assert_eq!(run_of(&session_id(17)), Some(17));
        assert_ne!(session_id(1), session_id(2));
        assert_eq!(run_of("other"), None);
    }
}
