//! [`RunLimits`]: how many runs may wait or run.

use crate::{
    error::{SessionError, SessionErrorKind},
    run_scope::RunScope,
};

/// The largest numbers of runs that wait for a worker or have one, over all processes. A [`Commit`](crate::Commit::with_limits)
/// that begins a run is refused if there are as many already.
///
/// ```
/// use agcore_session::{RunCounts, RunLimits, RunScope, SessionErrorKind};
///
/// let limits = RunLimits::new(1000).with_tenant(500).with_user(16);
/// let mut counts = RunCounts { total: 400, tenant: 20, user: 15 };
/// limits.check(counts)?;
/// counts.user = 16;
/// let error = limits.check(counts).unwrap_err();
/// assert_eq!(error.kind(), SessionErrorKind::TooManyRuns(RunScope::User));
/// # Ok::<(), agcore_session::SessionError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunLimits {
    /// The largest number of all runs.
    pub total: u64,
    /// The largest number of runs of the users of a tenant.
    pub tenant: u64,
    /// The largest number of runs of a user.
    pub user: u64,
}

/// The numbers of runs that wait for a worker or have one. For implementations of [`RunLeases`](crate::RunLeases).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// All of them.
    pub total: u64,
    /// Those of the tenant.
    pub tenant: u64,
    /// Those of the user.
    pub user: u64,
}

impl RunLimits {
    /// Creates a limit of all runs. Those of a tenant and of a user are the same at first.
    pub const fn new(total: u64) -> Self {
        Self {
            total,
            tenant: total,
            user: total,
        }
    }

    /// Sets the largest number of runs of the users of a tenant.
    #[must_use]
    pub const fn with_tenant(mut self, runs: u64) -> Self {
        self.tenant = runs;
        self
    }

    /// Sets the largest number of runs of a user.
    #[must_use]
    pub const fn with_user(mut self, runs: u64) -> Self {
        self.user = runs;
        self
    }

    /// Checks that one more run is allowed. The error is about what the user can change, if there is such a limit, else about all
    /// runs.
    ///
    /// # Errors
    /// [`TooManyRuns`](SessionErrorKind::TooManyRuns) if it is not.
    pub fn check(&self, counts: RunCounts) -> Result<(), SessionError> {
        let all = [
            (RunScope::User, counts.user, self.user),
            (RunScope::Total, counts.total, self.total),
            (RunScope::Tenant, counts.tenant, self.tenant),
        ];
        match all.into_iter().find(|(_, count, limit)| count >= limit) {
            None => Ok(()),
            Some((scope, count, _)) => Err(SessionError::new(
                SessionErrorKind::TooManyRuns(scope),
                format!("{count} runs of {scope} wait or run, which is the limit; wait until one has ended"),
            )),
        }
    }
}
