//! [`Circuit`]: closed, open, half-open. Pure: times and results are passed in.

use std::{collections::VecDeque, time::Duration};

use super::policy::BreakerPolicy;
use agcore_wire::LlmErrorKind;

/// The state of a [`Circuit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CircuitState {
    /// All calls are allowed.
    Closed,
    /// No calls are allowed until a point in time.
    Open {
        /// When a call may probe the server.
        until: Duration,
    },
    /// One call probes the server, no others are allowed.
    HalfOpen,
}

/// The health of the server, as indicated by the result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Health {
    /// The server answers, even if it refuses this request.
    Healthy,
    /// The server fails.
    Unhealthy,
    /// Nothing: the call was dropped, or a limit was reached.
    Unknown,
}

impl Health {
    /// Returns what a failure of this kind indicates.
    pub fn from_kind(kind: LlmErrorKind) -> Self {
        match kind {
            LlmErrorKind::Overloaded
            | LlmErrorKind::Server
            | LlmErrorKind::Connect
            | LlmErrorKind::Timeout(_)
            | LlmErrorKind::Truncated
            | LlmErrorKind::Malformed => Self::Unhealthy,
            // Waiting for the server does not help with limits, keys and cancellations.
            LlmErrorKind::RateLimit
            | LlmErrorKind::QuotaExhausted
            | LlmErrorKind::Authentication
            | LlmErrorKind::Cancelled
            | LlmErrorKind::Unknown => Self::Unknown,
            _ => Self::Healthy,
        }
    }
}

/// The permission to make one call, whose result is recorded with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permit {
    /// The number of state changes before the permit was issued. Results of calls from before a change do not count.
    epoch: u64,
    is_probe: bool,
}

impl Permit {
    /// Returns whether this is the call that probes whether the server has recovered.
    pub fn is_probe(&self) -> bool {
        self.is_probe
    }
}

/// Closed while a server is healthy, open while it is failing; one call at a time probes whether it has recovered.
///
/// ```
/// use std::time::Duration;
/// use agcore_llm::layer::breaker::{BreakerPolicy, Circuit, Health};
///
/// let mut circuit = Circuit::new(BreakerPolicy::new().with_failures_in_row(1));
/// let now = Duration::from_secs(7);
/// let permit = circuit.admit(|| now).unwrap();
/// circuit.record(permit, Health::Unhealthy, || now);
/// assert_eq!(circuit.admit(|| now), Err(Some(Duration::from_secs(30))));
/// assert!(circuit.admit(|| now + Duration::from_secs(30)).unwrap().is_probe());
/// ```
#[derive(Debug)]
pub struct Circuit {
    policy: BreakerPolicy,
    state: CircuitState,
    epoch: u64,
    consecutive_failures: u32,
    /// Whether each of the last calls failed.
    recent: VecDeque<bool>,
    recent_failures: u32,
    failed_probes: u32,
}

impl Circuit {
    /// Creates a closed circuit.
    pub fn new(policy: BreakerPolicy) -> Self {
        Self {
            policy,
            state: CircuitState::Closed,
            epoch: 0,
            consecutive_failures: 0,
            recent: VecDeque::new(),
            recent_failures: 0,
            failed_probes: 0,
        }
    }

    /// Returns the current state.
    pub fn state(&self) -> CircuitState {
        self.state
    }

    /// Asks for permission to make a call. `now` is only called if the time matters.
    ///
    /// # Errors
    /// If the call is not allowed, returns how long no call is allowed, or `None` while another call probes the server.
    pub fn admit(&mut self, now: impl FnOnce() -> Duration) -> Result<Permit, Option<Duration>> {
        match self.state {
            CircuitState::Closed => Ok(self.permit(false)),
            CircuitState::HalfOpen => Err(None),
            CircuitState::Open { until } => {
                let wait = until.saturating_sub(now());
                if !wait.is_zero() {
                    return Err(Some(wait));
                }
                self.enter(CircuitState::HalfOpen);
                Ok(self.permit(true))
            }
        }
    }

    /// Records the result of a call.
    pub fn record(&mut self, permit: Permit, health: Health, now: impl FnOnce() -> Duration) {
        if permit.epoch != self.epoch {
            return;
        }
        match (permit.is_probe, health) {
            (true, Health::Healthy) => {
                self.failed_probes = 0;
                self.enter(CircuitState::Closed);
            }
            (true, Health::Unhealthy) => {
                self.failed_probes = self.failed_probes.saturating_add(1);
                self.open(now());
            }
            // The next call may probe at once.
            (true, Health::Unknown) => self.enter(CircuitState::Open { until: Duration::ZERO }),
            (false, Health::Unknown) => {}
            (false, health) => {
                self.count(health == Health::Unhealthy);
                if health == Health::Unhealthy && self.is_failing() {
                    self.open(now());
                }
            }
        }
    }

    fn permit(&self, is_probe: bool) -> Permit {
        let epoch = self.epoch;
        Permit { epoch, is_probe }
    }

    fn count(&mut self, failed: bool) {
        self.consecutive_failures = if failed {
            self.consecutive_failures.saturating_add(1)
        } else {
            0
        };
        self.recent.push_back(failed);
        self.recent_failures += u32::from(failed);
        if self.recent_calls() > self.policy.window {
            self.recent_failures -= u32::from(self.recent.pop_front().unwrap_or(false));
        }
    }

    fn recent_calls(&self) -> u32 {
        u32::try_from(self.recent.len()).unwrap_or(u32::MAX)
    }

    fn is_failing(&self) -> bool {
        let BreakerPolicy {
            failures_in_row,
            failure_rate,
            window,
            ..
        } = self.policy;
        let rate = f64::from(self.recent_failures) / f64::from(window);
        self.consecutive_failures >= failures_in_row || self.recent_calls() >= window && rate >= failure_rate
    }

    fn open(&mut self, now: Duration) {
        let time = self.policy.open_time(self.failed_probes);
        let until = now.saturating_add(time);
        self.enter(CircuitState::Open { until });
    }

    fn enter(&mut self, state: CircuitState) {
        self.state = state;
        self.epoch += 1;
        self.consecutive_failures = 0;
        self.recent_failures = 0;
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Makes calls one after the other, one per second from second 1: `+` succeeds, `-` fails, `?` has an unknown result,
    /// `.` makes no call. Returns for each call `c` (allowed by a closed circuit), `p` (a probe) or `x` (not allowed).
    fn play(policy: BreakerPolicy, calls: &str) -> String {
        let mut circuit = Circuit::new(policy);
        let result = |(second, call): (usize, char)| {
            let now = Duration::from_secs(second as u64 + 1);
            let health = match call {
                '+' => Health::Healthy,
                '-' => Health::Unhealthy,
                '?' => Health::Unknown,
                _ => return '.',
            };
            match circuit.admit(|| now) {
                Ok(permit) => {
                    circuit.record(permit, health, || now);
                    if permit.is_probe() { 'p' } else { 'c' }
                }
                Err(_) => 'x',
            }
        };
        calls.chars().enumerate().map(result).collect()
    }

    #[track_caller]
    fn check(calls: &str, expected: &str) {
        let policy = BreakerPolicy::new()
            .with_failures_in_row(3)
            .with_failure_rate(0.5, 6)
            .with_open_for(Duration::from_secs(3), Duration::from_secs(6));
        assert_eq!(play(policy, calls), expected, "{calls}");
    }

    #[test]
    fn consecutive_failures_open_it() {
        check("---+++", "cccxxp");
        check("--+--+", "cccccc");
        check("--?-++", "ccccxx");
    }

    #[test]
    fn the_failure_rate_opens_it_after_enough_calls() {
        check("+-+-+-++", "ccccccxx");
        check("-+-+-+++", "cccccccc");
        check("+-+-++++", "cccccccc");
        check("++++++--+-+", "ccccccccccx");
    }

    #[test]
    fn a_probe_closes_it_or_opens_it_for_longer() {
        check("---..++", "ccc..pc");
        check("---..-.....++", "ccc..p.....pc");
        check("---..-....+++", "ccc..p....xpc");
        check("---..-.....-.....++", "ccc..p.....p.....pc");
        check("---..?+", "ccc..pp");
    }

    #[test]
    fn allows_one_probe_at_a_time() {
        let mut circuit = Circuit::new(BreakerPolicy::new().with_failures_in_row(1));
        let (start, later) = (Duration::ZERO, Duration::from_secs(31));
        let (one, two) = (circuit.admit(|| start).unwrap(), circuit.admit(|| start).unwrap());
        circuit.record(one, Health::Unhealthy, || start);
        let probe = circuit.admit(|| later).unwrap();
        assert_eq!(circuit.admit(|| later), Err(None));
        circuit.record(two, Health::Healthy, || later);
        assert_eq!(
            circuit.state(),
            CircuitState::HalfOpen,
            "a call from before the change does not count"
        );
        circuit.record(probe, Health::Healthy, || later);
        assert_eq!(circuit.state(), CircuitState::Closed);
    }

    #[test]
    fn rejects_policies_that_cannot_work() {
        let policy = BreakerPolicy::new;
        for invalid in [
            policy().with_failures_in_row(0),
            policy().with_failure_rate(0.5, 0),
            policy().with_failure_rate(0.0, 10),
            policy().with_failure_rate(1.1, 10),
            policy().with_failure_rate(f64::NAN, 10),
        ] {
            assert!(invalid.check().is_err(), "{invalid:?}");
        }
        assert!(policy().check().is_ok());
        assert_eq!(policy().open_time(u32::MAX), Duration::from_secs(300));
    }

    proptest! {
        /// For any sequence of events: never two probes at once, no probe too early, and no circuit that stays open.
        #[test]
        fn transitions_are_valid(steps in prop::collection::vec((0..4_u8, 0..40_u64, any::<prop::sample::Index>()), 0..200)) {
            let mut circuit = Circuit::new(BreakerPolicy::new().with_failures_in_row(2).with_failure_rate(0.5, 4));
            let (mut now, mut permits): (Duration, Vec<Permit>) = Default::default();
            for (step, number, index) in steps {
                match step {
                    0 => now += Duration::from_secs(number),
                    1 => {
                        let before = circuit.state();
                        match (before, circuit.admit(|| now)) {
                            (CircuitState::Closed, Ok(permit)) => {
                                prop_assert!(!permit.is_probe());
                                permits.push(permit);
                            }
                            (CircuitState::Open { until }, Ok(permit)) => {
                                prop_assert!(permit.is_probe() && now >= until);
                                prop_assert_eq!(circuit.state(), CircuitState::HalfOpen);
                                permits.push(permit);
                            }
                            (CircuitState::Open { until }, Err(Some(wait))) => prop_assert_eq!(now + wait, until),
                            (CircuitState::HalfOpen, Err(None)) => {}
                            (before, admitted) => prop_assert!(false, "{before:?}: {admitted:?}"),
                        }
                    }
                    _ if permits.is_empty() => {}
                    _ => {
                        let permit = permits.swap_remove(index.index(permits.len()));
                        let health = [Health::Healthy, Health::Unhealthy, Health::Unknown][number as usize % 3];
                        circuit.record(permit, health, || now);
                    }
                }
                if let CircuitState::Open { until } = circuit.state() {
                    prop_assert!(until <= now + Duration::from_secs(300), "stays open for too long");
                }
            }
        }
    }
}
