//! [`Leasing`]: the leases of the runs that this process executes, alone or with others.

mod draining;
mod followed;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use agcore_session::{RunLeases, SessionStore, id};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use self::{draining::Draining, followed::Followed};
use crate::settings::{Limits, Sharing};

/// The factor by which the pauses between claims grow while no run is found.
const IDLE: u32 = 4;

/// The pause between two claims in a process that has the store for itself.
const ALONE: Duration = Duration::from_secs(30);

/// The pause between two reports of a process that has the store for itself.
const REPORT_ALONE: Duration = Duration::from_secs(15);

/// The factor by which the pauses between reports are longer than those between claims.
const REPORT: u32 = 20;

/// The number of restarts of a server that has the store for itself after which a run fails, because it seems to end the server.
const RESTARTS: u32 = 20;

/// The longest lease.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// The leases of the runs that this process executes, and the feeds of those that its users follow.
pub(crate) struct Leasing {
    pub(super) leases: Arc<dyn RunLeases>,
    pub(super) settings: Sharing,
    /// The id of this process, which is new for each. The holders of its leases begin with it.
    pub(super) process: String,
    pub(super) draining: Draining,
    /// Whether other processes use the store as well.
    pub(super) is_shared: bool,
    pub(super) followed: Followed,
    /// The runs that this process may execute besides those that it does.
    pub(super) slots: Arc<Semaphore>,
    /// Notified when there may be a run to claim and a slot for it.
    pub(super) wake: Notify,
    /// Notified when there may be a run to claim that this process does not take.
    pub(super) offered: Notify,
    /// The monotonic time of the last answer to a claim or a renewal, in milliseconds.
    answered: AtomicU64,
    /// Whether a run of the store may wait for an answer, so that the end of another one lets it begin.
    has_delays: AtomicBool,
    /// Whether a newer version of the program has changed the tables of the store.
    is_outdated: AtomicBool,
}

impl Leasing {
    /// Has the store for this process alone, or shares its runs. `may_delay` is whether runs of this process wait for answers.
    pub(crate) fn new(
        store: Arc<dyn SessionStore>,
        (process, parking): (String, CancellationToken),
        sharing: Option<Sharing>,
        limits: &Limits,
        may_delay: bool,
    ) -> Self {
        let is_shared = sharing.is_some();
        // Without others, a lease needs no end: the next process takes over all runs. So an outage of the store ends none.
        let alone = || {
            let sharing = Sharing::new("server").with_slots(limits.max_runs).with_lease(DAY);
            sharing.with_max_attempts(RESTARTS)
        };
        let settings = sharing.unwrap_or_else(alone);
        Self {
            leases: settings.leases.clone().unwrap_or(store),
            is_shared,
            followed: Followed::default(),
            slots: Arc::new(Semaphore::new(settings.slots.min(Semaphore::MAX_PERMITS))),
            settings,
            process,
            draining: Draining::new(parking),
            wake: Notify::new(),
            offered: Notify::new(),
            answered: AtomicU64::new(0),
            // Others, or a process before this one, may have delayed runs.
            has_delays: AtomicBool::new(is_shared || may_delay),
            is_outdated: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Returns whether this process executes runs.
    pub(crate) fn works(&self) -> bool {
        self.settings.role.works()
    }

    /// Returns whether this process claims runs: no administrator has asked it to drain, and no newer version works beside it.
    pub(crate) fn claims(&self) -> bool {
        // Without others, the runs would wait for ever. Newer versions only add to the tables, so that older ones can work.
        let is_replaced = self.is_shared && self.is_outdated.load(Ordering::Relaxed);
        !is_replaced && !self.draining.is_draining()
    }

    /// Notes whether a newer version of the program has changed the tables of the store. Returns what was noted before.
    pub(super) fn set_outdated(&self, is_outdated: bool) -> bool {
        self.is_outdated.swap(is_outdated, Ordering::Relaxed)
    }

    /// Returns the longest pause between two claims while no run is found.
    pub(super) fn idle_pause(&self) -> Duration {
        match self.is_shared {
            true => self.settings.poll * IDLE,
            // All that can be found was stored by this process, which wakes itself.
            false => ALONE,
        }
    }

    /// Returns the pause between two reports of this process to administrators.
    pub(super) fn report_pause(&self) -> Duration {
        match self.is_shared {
            true => (self.settings.poll * REPORT).min(self.settings.lease / 3),
            false => REPORT_ALONE,
        }
    }

    /// Returns a holder for a claim, whose id is new.
    pub(super) fn holder(&self, claim: &str) -> String {
        id::join([&*self.process, claim])
    }

    /// Notes that the store has answered a claim or a renewal that was sent at a monotonic time.
    pub(super) fn note_answer(&self, asked: Duration) {
        let millis = u64::try_from(asked.as_millis()).unwrap_or(u64::MAX);
        self.answered.fetch_max(millis, Ordering::Relaxed);
    }

    /// Returns whether the store has answered within the length of a lease, at a monotonic time. Otherwise this process keeps no
    /// lease.
    pub(crate) fn is_answered(&self, now: Duration) -> bool {
        let last = Duration::from_millis(self.answered.load(Ordering::Relaxed));
        now.saturating_sub(last) < self.settings.lease
    }

    /// Returns how many runs this process executes at most, and how many more it could take now.
    pub(crate) fn places(&self) -> (usize, usize) {
        (self.settings.slots, self.slots.available_permits())
    }

    /// Notes that a run waits for an answer.
    pub(super) fn expect_delays(&self) {
        self.has_delays.store(true, Ordering::Relaxed);
    }

    /// Returns whether a run of the store may wait for an answer.
    pub(super) fn may_have_delays(&self) -> bool {
        self.has_delays.load(Ordering::Relaxed)
    }

    /// Has this process claim runs at once.
    pub(super) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Has a run claimed at once: by this process if it has a free slot, else by others.
    pub(super) fn offer(&self) {
        let takes = self.works() && self.claims() && self.settings.tenants.is_empty();
        let takes = takes && self.slots.available_permits() > 0;
        match takes || !self.is_shared {
            true => self.wake(),
            false => self.offered.notify_one(),
        }
    }
}
