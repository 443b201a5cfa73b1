//! [`ClaimRequest`].

use std::time::Duration;

use agcore_chat::{Text, id};

use crate::error::SessionError;

/// The longest lease.
const MAX_LENGTH: Duration = Duration::from_secs(24 * 3600);

/// The most runs of one claim.
const MAX_LIMIT: u32 = 1000;

/// A worker's request for runs.
///
/// ```
/// use std::time::Duration;
/// use agcore_session::ClaimRequest;
///
/// // The id is random and new for every claim.
/// let request = ClaimRequest::new("5d0a3c1e-8f1b-4d0e-9a63-6a5c9f0f2b11", "worker on build-7")
///     .with_length(Duration::from_secs(15))
///     .with_limit(4);
/// request.check()?;
/// # Ok::<(), agcore_session::SessionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClaimRequest {
    /// A random id that is new for every claim. Asking again with the same id, because the answer was lost, returns the same
    /// leases.
    pub holder: String,
    /// The name of the worker, for people. Two workers may have the same.
    pub worker: String,
    /// How long the leases hold unless they are renewed. 15 s by default.
    pub length: Duration,
    /// The maximum number of runs. 1 by default.
    pub limit: u32,
    /// Only runs of these tenants, if there are any.
    pub tenants: Vec<Text>,
    /// How often a run is claimed before it fails, because it seems to end its workers. 5 by default.
    pub max_attempts: u32,
}

impl ClaimRequest {
    /// Creates a request for one run and a lease of 15 s.
    pub fn new(holder: impl Into<String>, worker: impl Into<String>) -> Self {
        Self {
            holder: holder.into(),
            worker: worker.into(),
            length: Duration::from_secs(15),
            limit: 1,
            tenants: Vec::new(),
            max_attempts: 5,
        }
    }

    /// Sets how long the leases hold unless they are renewed.
    #[must_use]
    pub fn with_length(mut self, length: Duration) -> Self {
        self.length = length;
        self
    }

    /// Sets the maximum number of runs.
    #[must_use]
    pub fn with_limit(mut self, limit: u32) -> Self {
        self.limit = limit;
        self
    }

    /// Selects runs of a tenant. Can be called several times.
    #[must_use]
    pub fn with_tenant(mut self, tenant: impl Into<Text>) -> Self {
        self.tenants.push(tenant.into());
        self
    }

    /// Sets how often a run is claimed before it fails.
    #[must_use]
    pub fn with_max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts;
        self
    }

    /// Returns whether runs of a tenant are selected.
    pub fn selects(&self, tenant: &str) -> bool {
        self.tenants.is_empty() || self.tenants.iter().any(|selected| selected == tenant)
    }

    /// Checks that every store can answer the request.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if an id or a number is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        id::check_named("the id of the holder", &self.holder)?;
        id::check_named("the name of the worker", &self.worker)?;
        if self.length < Duration::from_millis(1) || self.length > MAX_LENGTH {
            return Err(SessionError::invalid(format!(
                "a lease of {:?} is not acceptable; use 1 ms to 24 hours",
                self.length
            )));
        }
        if self.limit == 0 || self.limit > MAX_LIMIT || self.max_attempts == 0 {
            return Err(SessionError::invalid(format!(
                "a claim of {} runs with {} attempts is not acceptable; use 1 to {MAX_LIMIT} runs and at least one attempt",
                self.limit, self.max_attempts
            )));
        }
        Ok(())
    }
}
