//! [`Fence`]: what a worker adds to its writes.

use agcore_chat::{Text, id};

use crate::error::{SessionError, SessionErrorKind};

/// The lease under which a worker writes. A store writes nothing unless the run still has this epoch and the lease has not expired,
/// which it checks in the same transaction.
///
/// The session is that of the run. It can be another one of the same tenant than the one that is written to: the parts of a
/// session are written under the lease of the whole.
///
/// The epoch alone identifies the holder, because every claim of a run gets a new one.
///
/// ```
/// use agcore_session::{Commit, Fence, Record, Timestamp};
/// use serde_json::json;
///
/// let fence = Fence::new("support-17", "r1", 3);
/// let commit = Commit::new()
///     .with_record(Record::new("outcome", 1, Timestamp::default(), json!({})))
///     .with_fence(fence);
/// commit.check()?;
/// # Ok::<(), agcore_session::SessionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Fence {
    /// The id of the session of the run.
    pub session: Text,
    /// The id of the run.
    pub run: Text,
    /// The epoch of the lease.
    pub epoch: u64,
}

impl Fence {
    /// Creates the fence of a run with this epoch.
    pub fn new(session: impl Into<Text>, run: impl Into<Text>, epoch: u64) -> Self {
        Self {
            session: session.into(),
            run: run.into(),
            epoch,
        }
    }

    /// Checks that every store can look for the run.
    ///
    /// # Errors
    /// [`InvalidInput`](SessionErrorKind::InvalidInput) if the id of the session or the run is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        id::check_named("the id of the session", &self.session)?;
        Ok(id::check_named("the id of the run", &self.run)?)
    }

    /// Returns the error of a lease that does not hold any more.
    #[cold]
    pub fn refuse(&self) -> SessionError {
        SessionError::new(
            SessionErrorKind::Fenced,
            format!(
                "nothing was written: the lease of the run `{}` with epoch {} has expired or was released; stop working on the run, \
                 another worker may have it",
                self.run, self.epoch
            ),
        )
    }
}
