//! [`HeldLease`]: the lease under which this process executes a run, with the time at which it has to stop.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    task::Poll,
    time::Duration,
};

use agcore_chat::Clock;
use agcore_session::{Fenced, Lease, Renewal, SessionError, SessionErrorKind};
use tokio_util::sync::CancellationToken;

/// The part of a lease that is not used: some time passes between the check of the clock and the effect that follows.
const MARGIN: u32 = 10;

/// The lease under which this process executes a run.
///
/// The process stops by its own clocks before the lease has expired in the database, so that another worker does not begin while a
/// model or a tool is called here. The time counts from the moment *before* the request, and also while the machine sleeps or the
/// process is stopped.
///
/// Once the process has noticed that it has to stop, a late renewal changes nothing: turns and tools were stopped, and the errors
/// with which they end must not become the outcome of the run.
pub(crate) struct HeldLease {
    lease: Lease,
    clock: Arc<dyn Clock>,
    until: Mutex<Moment>,
    lost: CancellationToken,
}

/// A moment on both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    clock: Duration,
    /// The time since the machine was started, with the time in which it slept.
    boot: Duration,
}

impl Moment {
    pub(crate) fn now(clock: &dyn Clock) -> Self {
        Self {
            clock: clock.monotonic(),
            boot: since_boot(),
        }
    }

    /// Returns the time of the monotonic clock.
    pub(crate) fn monotonic(self) -> Duration {
        self.clock
    }

    fn after(self, time: Duration) -> Self {
        Self {
            clock: self.clock.saturating_add(time),
            boot: self.boot.saturating_add(time),
        }
    }

    /// Returns the time until a later moment; zero if it has come on one of the clocks.
    fn until(self, later: Self) -> Duration {
        let clock = later.clock.saturating_sub(self.clock);
        clock.min(later.boot.saturating_sub(self.boot))
    }
}

/// Returns the time since the machine was started. Without such a clock, the other one decides alone.
fn since_boot() -> Duration {
    #[cfg(target_os = "linux")]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let secs = u64::try_from(time.tv_sec).unwrap_or_default();
        Duration::new(secs, u32::try_from(time.tv_nsec).unwrap_or_default())
    }
    #[cfg(not(target_os = "linux"))]
    Duration::ZERO
}

impl HeldLease {
    /// Takes a lease that was asked for at a moment.
    pub(crate) fn new(lease: Lease, clock: Arc<dyn Clock>, asked: Moment) -> Self {
        let until = asked.after(usable(lease.remaining, lease.length));
        Self {
            lease,
            clock,
            until: Mutex::new(until),
            lost: CancellationToken::new(),
        }
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Takes over the answer to a renewal that was asked for at a moment.
    pub(crate) fn renewed(&self, renewal: Renewal, asked: Moment) {
        match renewal {
            Renewal::Held { remaining, .. } => {
                *self.until() = asked.after(usable(remaining, self.lease.length));
            }
            Renewal::Lost => self.lost.cancel(),
        }
    }

    /// Returns a store that writes only while the lease holds.
    pub(crate) fn fenced<S>(self: &Arc<Self>, store: S) -> Fenced<S> {
        let lease = Arc::clone(self);
        Fenced::new(store, self.lease.fence()).with_deadline(move || lease.is_over())
    }

    /// Checks that the process need not stop. What has waited for an answer calls this before it begins what others would notice,
    /// such as a call of a tool: the process may have been stopped meanwhile.
    ///
    /// # Errors
    /// `Fenced` if the lease has ended.
    pub(crate) fn check(&self) -> Result<(), SessionError> {
        match self.is_over() {
            true => Err(SessionError::new(
                SessionErrorKind::Fenced,
                "the lease of the run has ended; another worker may have the run",
            )),
            false => Ok(()),
        }
    }

    /// Returns whether the process has to stop. From then on it has to, whatever the answer to a renewal is.
    pub(crate) fn is_over(&self) -> bool {
        if !self.lost.is_cancelled() && self.rest().is_zero() {
            self.lost.cancel();
        }
        self.lost.is_cancelled()
    }

    /// Waits until the process has to stop. The clocks are checked whenever this is polled: the timer of a process that was stopped
    /// is late.
    ///
    /// Cancel safe.
    pub(crate) async fn over(&self) {
        let mut lost = std::pin::pin!(self.lost.cancelled());
        loop {
            if self.is_over() {
                return;
            }
            let mut timer = self.clock.sleep(self.rest());
            let ended = std::future::poll_fn(|context| {
                if self.is_over() || lost.as_mut().poll(context).is_ready() {
                    return Poll::Ready(true);
                }
                timer.as_mut().poll(context).map(|()| false)
            });
            if ended.await {
                return;
            }
        }
    }

    fn rest(&self) -> Duration {
        let until = *self.until();
        Moment::now(&*self.clock).until(until)
    }

    fn until(&self) -> std::sync::MutexGuard<'_, Moment> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the part of the remaining time in which the process may work.
fn usable(remaining: Duration, length: Duration) -> Duration {
    remaining.saturating_sub(length / MARGIN)
}

impl fmt::Debug for HeldLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldLease")
            .field("lease", &self.lease)
            .field("rest", &self.rest())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use agcore_session::{ClaimRequest, LeaseState, RunStatus, Timestamp};
    use agcore_testkit::clock::ManualClock;
    use futures_util::FutureExt;

    use super::*;

    const LENGTH: Duration = Duration::from_secs(10);

    /// Takes a lease of ten seconds.
    fn held(clock: &Arc<ManualClock>) -> HeldLease {
        let mut state = LeaseState::default();
        let request = ClaimRequest::new("holder", "worker").with_length(LENGTH);
        state.claim(&request, Timestamp::default());
        let ids = ("acme", "s", "r");
        let lease = Lease::new(ids, (RunStatus::Queued, &state), LENGTH, Timestamp::default());
        let clock = Arc::clone(clock) as Arc<dyn Clock>;
        let asked = Moment::now(&*clock);
        HeldLease::new(lease, clock, asked)
    }

    #[tokio::test]
    async fn a_process_stops_before_the_lease_has_expired() {
        let clock = Arc::new(ManualClock::new());
        let held = held(&clock);
        let mut over = Box::pin(held.over());
        assert!(over.as_mut().now_or_never().is_none());
        clock.advance(Duration::from_millis(8_900));
        assert!(over.as_mut().now_or_never().is_none() && !held.is_over());
        clock.advance(Duration::from_millis(100));
        // The timer need not have ended: the clocks are read.
        assert!(held.is_over());
        over.as_mut().now_or_never().unwrap();
    }

    #[tokio::test]
    async fn a_renewal_counts_from_the_moment_before_it_was_asked_for() {
        let clock = Arc::new(ManualClock::new());
        let held = held(&clock);
        let mut over = Box::pin(held.over());
        assert!(over.as_mut().now_or_never().is_none());
        clock.advance(Duration::from_secs(5));
        let asked = Moment::now(&*clock);
        // The answer takes three seconds.
        clock.advance(Duration::from_secs(3));
        let renewal = Renewal::Held {
            remaining: LENGTH,
            cancel_requested: false,
        };
        held.renewed(renewal, asked);
        clock.advance(Duration::from_millis(5_900));
        assert!(over.as_mut().now_or_never().is_none());
        clock.advance(Duration::from_millis(100));
        over.as_mut().now_or_never().unwrap();
    }

    #[tokio::test]
    async fn a_late_renewal_revives_no_lease() {
        let clock = Arc::new(ManualClock::new());
        let held = held(&clock);
        let renew = || {
            let renewal = Renewal::Held {
                remaining: LENGTH,
                cancel_requested: false,
            };
            held.renewed(renewal, Moment::now(&*clock));
        };
        clock.advance(LENGTH);
        // Nothing has stopped yet, so that the work can continue.
        renew();
        assert!(!held.is_over());
        clock.advance(LENGTH);
        assert!(held.is_over());
        renew();
        assert!(held.is_over());
        held.over().now_or_never().unwrap();
    }

    #[tokio::test]
    async fn a_lost_lease_ends_at_once() {
        let clock = Arc::new(ManualClock::new());
        let held = held(&clock);
        let mut over = Box::pin(held.over());
        assert!(over.as_mut().now_or_never().is_none());
        held.renewed(Renewal::Lost, Moment::now(&*clock));
        over.as_mut().now_or_never().unwrap();
        assert!(held.is_over());
    }
}
