//! [`Sharing`]: the use of a store together with other processes.

use std::{fmt, sync::Arc, time::Duration};

use agcore_session::RunLeases;

/// The use of a store by several processes, which may be on different machines.
///
/// Every process accepts requests for all threads, or works on runs, or both: see [`Role`]. A run waits in the store until a worker
/// [claims](RunLeases::claim) it. If that worker ends, or is stopped for longer than the [lease](Self::with_lease), another one
/// continues the run, and what the first still tries to write is refused.
///
/// All processes need the same agents and flows under the same names.
///
/// ```
/// use std::time::Duration;
/// use agcore_server::{Role, Sharing};
///
/// let sharing = Sharing::new("worker on build-7")
///     .with_role(Role::Worker)
///     .with_slots(8)
///     .with_lease(Duration::from_secs(30));
/// assert_eq!(sharing.slots, 8);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Sharing {
    /// The leases of the runs, if they have a connection of their own, so that renewals do not wait for other statements. They
    /// must be those of the [store](crate::ServerBuilder::with_store), which is used by default.
    pub leases: Option<Arc<dyn RunLeases>>,
    /// The name of the process, for people.
    pub name: String,
    /// The part of the work that the process does; everything by default.
    pub role: Role,
    /// The largest number of runs that the process executes at a time; 64 by default.
    pub slots: usize,
    /// The time after which another worker continues a run whose worker does not renew its lease; 15 s by default. Leases are
    /// renewed three times as often.
    pub lease: Duration,
    /// The pause between two claims of runs, and between two reads of the events of other processes; 250 ms by default. While no
    /// run is found, the pause between claims grows to four times as much.
    pub poll: Duration,
    /// The number of workers that may start a run before it fails, because it seems to end them; 5 by default.
    pub max_attempts: u32,
    /// The tenants whose runs are executed; all by default.
    pub tenants: Vec<String>,
}

/// The part of the work that a process does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    /// It accepts requests and executes runs.
    #[default]
    All,
    /// It accepts requests. Workers execute the runs.
    Api,
    /// It executes runs.
    Worker,
}

impl Role {
    /// Returns whether the process executes runs.
    pub const fn works(self) -> bool {
        matches!(self, Self::All | Self::Worker)
    }
}

impl Sharing {
    /// Shares the runs of the store. The name of the process is for people; it need not be unique.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            leases: None,
            name: name.into(),
            role: Role::All,
            slots: 64,
            lease: Duration::from_secs(15),
            poll: Duration::from_millis(250),
            max_attempts: 5,
            tenants: Vec::new(),
        }
    }

    /// Sets the leases of the runs, with a connection of their own.
    #[must_use]
    pub fn with_leases(mut self, leases: Arc<dyn RunLeases>) -> Self {
        self.leases = Some(leases);
        self
    }

    /// Sets the part of the work that the process does.
    #[must_use]
    pub fn with_role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// Sets the largest number of runs that the process executes at a time.
    #[must_use]
    pub fn with_slots(mut self, slots: usize) -> Self {
        self.slots = slots;
        self
    }

    /// Sets the time after which another worker continues a run whose worker does not renew its lease.
    #[must_use]
    pub fn with_lease(mut self, length: Duration) -> Self {
        self.lease = length;
        self
    }

    /// Sets the pause between two claims of runs, and between two reads of the events of other processes.
    #[must_use]
    pub fn with_poll(mut self, pause: Duration) -> Self {
        self.poll = pause;
        self
    }

    /// Sets the number of workers that may start a run before it fails.
    #[must_use]
    pub fn with_max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts;
        self
    }

    /// Executes runs of a tenant. Can be called several times.
    #[must_use]
    pub fn with_tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenants.push(tenant.into());
        self
    }
}

impl fmt::Debug for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sharing")
            .field("name", &self.name)
            .field("role", &self.role)
            .field("slots", &self.slots)
            .finish_non_exhaustive()
    }
}
