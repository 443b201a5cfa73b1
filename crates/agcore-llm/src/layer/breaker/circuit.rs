//! [`Circuit`]: closed, open, half-open. Pure: time and outcomes are handed in.

use std::{collections::VecDeque, time::Duration};

use super::policy::BreakerPolicy;
use crate::error::LlmErrorKind;

/// Whether calls go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CircuitState {
    /// All go through.
    Closed,
    /// None goes through before this time.
    Open {
        /// When one may try.
        until: Duration,
    },
    /// One tries, the others do not go through.
    HalfOpen,
}

/// What a call says of the server's health.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Health {
    /// It answers; also when it refuses this request.
    Well,
    /// It does not answer as it should.
    Ill,
    /// Nothing: the call was dropped, or a limit stood before it.
    Unknown,
}

impl Health {
    /// What a failure says.
    pub fn of(kind: &LlmErrorKind) -> Self {
        match kind {
            LlmErrorKind::Overloaded
            | LlmErrorKind::Server
            | LlmErrorKind::Connect
            | LlmErrorKind::Timeout(_)
            | LlmErrorKind::Truncated
            | LlmErrorKind::Malformed => Self::Ill,
            // Limits, keys and our own ends are nothing that the server could heal from.
            LlmErrorKind::RateLimit
            | LlmErrorKind::QuotaExhausted
            | LlmErrorKind::Authentication
            | LlmErrorKind::Cancelled
            | LlmErrorKind::Unknown => Self::Unknown,
            _ => Self::Well,
        }
    }
}

/// The right to make one call; what came of it is recorded with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// Which state of the circuit gave it: what belongs to an earlier one says nothing any more.
    epoch: u64,
    is_try: bool,
}

impl Pass {
    /// Whether this is the one call that tries whether the server is well again.
    pub fn is_try(&self) -> bool {
        self.is_try
    }
}

/// Closed while a server is well, open while it is not; one call at a time tries whether it is well again.
///
/// ```
/// use std::time::Duration;
/// use agcore_llm::layer::breaker::{BreakerPolicy, Circuit, Health};
///
/// let mut circuit = Circuit::new(BreakerPolicy::new().with_failures_in_row(1));
/// let now = Duration::from_secs(7);
/// let pass = circuit.admit(|| now).unwrap();
/// circuit.record(pass, Health::Ill, || now);
/// assert_eq!(circuit.admit(|| now), Err(Some(Duration::from_secs(30))));
/// assert!(circuit.admit(|| now + Duration::from_secs(30)).unwrap().is_try());
/// ```
#[derive(Debug)]
pub struct Circuit {
    policy: BreakerPolicy,
    state: CircuitState,
    epoch: u64,
    /// Failures in a row.
    row: u32,
    /// Whether the last calls failed, and how many did.
    recent: VecDeque<bool>,
    failed: u32,
    failed_tries: u32,
}

impl Circuit {
    /// A closed circuit.
    pub fn new(policy: BreakerPolicy) -> Self {
        Self {
            policy,
            state: CircuitState::Closed,
            epoch: 0,
            row: 0,
            recent: VecDeque::new(),
            failed: 0,
            failed_tries: 0,
        }
    }

    /// Whether calls go through.
    pub fn state(&self) -> CircuitState {
        self.state
    }

    /// Lets a call through; the time is asked for only where it matters.
    ///
    /// # Errors
    /// For how long none goes through; nothing while another call tries.
    pub fn admit(&mut self, now: impl FnOnce() -> Duration) -> Result<Pass, Option<Duration>> {
        match self.state {
            CircuitState::Closed => Ok(self.pass(false)),
            CircuitState::HalfOpen => Err(None),
            CircuitState::Open { until } => {
                let wait = until.saturating_sub(now());
                if !wait.is_zero() {
                    return Err(Some(wait));
                }
                self.turn(CircuitState::HalfOpen);
                Ok(self.pass(true))
            }
        }
    }

    /// Notes what came of a call.
    pub fn record(&mut self, pass: Pass, health: Health, now: impl FnOnce() -> Duration) {
        if pass.epoch != self.epoch {
            return;
        }
        match (pass.is_try, health) {
            (true, Health::Well) => {
                self.failed_tries = 0;
                self.turn(CircuitState::Closed);
            }
            (true, Health::Ill) => {
                self.failed_tries = self.failed_tries.saturating_add(1);
                self.open(now());
            }
            // The next one may try at once.
            (true, Health::Unknown) => self.turn(CircuitState::Open { until: Duration::ZERO }),
            (false, Health::Unknown) => {}
            (false, health) => {
                self.count(health == Health::Ill);
                if health == Health::Ill && self.is_ill() {
                    self.open(now());
                }
            }
        }
    }

    fn pass(&self, is_try: bool) -> Pass {
        let epoch = self.epoch;
        Pass { epoch, is_try }
    }

    fn count(&mut self, failed: bool) {
        self.row = if failed { self.row.saturating_add(1) } else { 0 };
        self.recent.push_back(failed);
        self.failed += u32::from(failed);
        if self.seen() > self.policy.window {
            self.failed -= u32::from(self.recent.pop_front().unwrap_or(false));
        }
    }

    fn seen(&self) -> u32 {
        u32::try_from(self.recent.len()).unwrap_or(u32::MAX)
    }

    fn is_ill(&self) -> bool {
        let rate = f64::from(self.failed) / f64::from(self.policy.window);
        self.row >= self.policy.failures_in_row || self.seen() >= self.policy.window && rate >= self.policy.failure_rate
    }

    fn open(&mut self, now: Duration) {
        let time = self.policy.open_time(self.failed_tries);
        let until = now.saturating_add(time);
        self.turn(CircuitState::Open { until });
    }

    fn turn(&mut self, state: CircuitState) {
        self.state = state;
        self.epoch += 1;
        self.row = 0;
        self.failed = 0;
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Plays calls one after the other, one a second from second 1: `+` well, `-` ill, `?` unknown, `.` nobody calls.
    /// Gives for each call `c` (it went through a closed circuit), `t` (it tried) or `x` (it did not go through).
    fn play(policy: BreakerPolicy, calls: &str) -> String {
        let mut circuit = Circuit::new(policy);
        let outcome = |(second, call): (usize, char)| {
            let now = Duration::from_secs(second as u64 + 1);
            let health = match call {
                '+' => Health::Well,
                '-' => Health::Ill,
                '?' => Health::Unknown,
                _ => return '.',
            };
            match circuit.admit(|| now) {
                Ok(pass) => {
                    circuit.record(pass, health, || now);
                    if pass.is_try() { 't' } else { 'c' }
                }
                Err(_) => 'x',
            }
        };
        calls.chars().enumerate().map(outcome).collect()
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
    fn failures_in_a_row_open_it() {
        check("---+++", "cccxxt");
        check("--+--+", "cccccc");
        check("--?-++", "ccccxx");
    }

    #[test]
    fn a_share_of_failures_opens_it_once_there_were_enough_calls() {
        check("+-+-+-++", "ccccccxx");
        check("-+-+-+++", "cccccccc");
        check("+-+-++++", "cccccccc");
        check("++++++--+-+", "ccccccccccx");
    }

    #[test]
    fn one_try_closes_it_or_opens_it_for_longer() {
        check("---..++", "ccc..tc");
        check("---..-.....++", "ccc..t.....tc");
        check("---..-....+++", "ccc..t....xtc");
        check("---..-.....-.....++", "ccc..t.....t.....tc");
        check("---..?+", "ccc..tt");
    }

    #[test]
    fn one_at_a_time_tries() {
        let mut circuit = Circuit::new(BreakerPolicy::new().with_failures_in_row(1));
        let (start, later) = (Duration::ZERO, Duration::from_secs(31));
        let (one, two) = (circuit.admit(|| start).unwrap(), circuit.admit(|| start).unwrap());
        circuit.record(one, Health::Ill, || start);
        let attempt = circuit.admit(|| later).unwrap();
        assert_eq!(circuit.admit(|| later), Err(None));
        circuit.record(two, Health::Well, || later);
        assert_eq!(
            circuit.state(),
            CircuitState::HalfOpen,
            "an old call says nothing of now"
        );
        circuit.record(attempt, Health::Well, || later);
        assert_eq!(circuit.state(), CircuitState::Closed);
    }

    #[test]
    fn policies_that_cannot_work_are_refused() {
        let policy = BreakerPolicy::new;
        for wrong in [
            policy().with_failures_in_row(0),
            policy().with_failure_rate(0.5, 0),
            policy().with_failure_rate(0.0, 10),
            policy().with_failure_rate(1.1, 10),
            policy().with_failure_rate(f64::NAN, 10),
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
        assert!(policy().check().is_ok());
        assert_eq!(policy().open_time(u32::MAX), Duration::from_secs(300));
    }

    proptest! {
        /// Whatever happens, time and order: never two tries at once, none before its time, and an open circuit opens up.
        #[test]
        fn transitions_hold(steps in prop::collection::vec((0..4_u8, 0..40_u64, any::<prop::sample::Index>()), 0..200)) {
            let mut circuit = Circuit::new(BreakerPolicy::new().with_failures_in_row(2).with_failure_rate(0.5, 4));
            let (mut now, mut out): (Duration, Vec<Pass>) = Default::default();
            for (step, number, index) in steps {
                match step {
                    0 => now += Duration::from_secs(number),
                    1 => {
                        let before = circuit.state();
                        match (before, circuit.admit(|| now)) {
                            (CircuitState::Closed, Ok(pass)) => {
                                prop_assert!(!pass.is_try());
                                out.push(pass);
                            }
                            (CircuitState::Open { until }, Ok(pass)) => {
                                prop_assert!(pass.is_try() && now >= until);
                                prop_assert_eq!(circuit.state(), CircuitState::HalfOpen);
                                out.push(pass);
                            }
                            (CircuitState::Open { until }, Err(Some(wait))) => prop_assert_eq!(now + wait, until),
                            (CircuitState::HalfOpen, Err(None)) => {}
                            (before, admitted) => prop_assert!(false, "{before:?}: {admitted:?}"),
                        }
                    }
                    _ if out.is_empty() => {}
                    _ => {
                        let pass = out.swap_remove(index.index(out.len()));
                        let health = [Health::Well, Health::Ill, Health::Unknown][number as usize % 3];
                        circuit.record(pass, health, || now);
                    }
                }
                if let CircuitState::Open { until } = circuit.state() {
                    prop_assert!(until <= now + Duration::from_secs(300), "it opens up");
                }
            }
        }
    }
}
