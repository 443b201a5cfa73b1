//! [`Keys`]: which key may be used now. Pure: both clocks are passed in.

use std::time::{Duration, SystemTime};

use agcore_chat::Text;

use super::{
    policy::{DisabledReason, KeyChoice, KeyPoolPolicy, KeyVerdict},
    state::{KeyCooldown, KeyPoolState},
};
use agcore_wire::LlmErrorKind;

/// The keys of a pool, and which of them may be used now.
///
/// Times are those of a monotonic clock, so that setting the wall clock has no effect. Only the state that is saved across
/// restarts is in wall-clock time, and then no cooldown becomes longer than it was.
///
/// ```
/// use std::time::Duration;
/// use agcore_llm::{LlmErrorKind, layer::key_pool::{KeyPoolPolicy, Keys}};
///
/// let mut keys = Keys::new(["team".into(), "spare".into()], KeyPoolPolicy::new());
/// let now = Duration::from_secs(100);
///
/// let team = keys.acquire(&[], || now).unwrap();
/// keys.failed(team, LlmErrorKind::RateLimit, Some(Duration::from_secs(20)), now);
/// keys.release(team);
/// assert_eq!(keys.status(now)[0].cooldown, Some(Duration::from_secs(20)));
///
/// let spare = keys.acquire(&[], || now).unwrap();
/// assert_eq!((team.key, spare.key), (0, 1));
/// ```
#[derive(Debug)]
pub struct Keys {
    policy: KeyPoolPolicy,
    keys: Vec<Key>,
    /// The number of uses so far.
    uses: u64,
    /// The number of keys that are not free. As long as it is 0, the time is not needed.
    unavailable: usize,
}

#[derive(Debug)]
struct Key {
    label: Text,
    in_flight: u32,
    last_use: u64,
    state: KeyState,
    /// Consecutive rate limits.
    strikes: u32,
    /// The end of the cooldown that was lifted last. Saved state that contains it is older than that.
    lifted: Option<Duration>,
    /// The number of state changes, which distinguishes calls that started before one from those that started after it.
    epoch: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyState {
    Free,
    CoolingDown { until: Duration, length: Duration },
    Disabled(DisabledReason),
}

impl KeyState {
    fn is_available(self, now: Duration) -> bool {
        match self {
            Self::Free => true,
            Self::CoolingDown { until, .. } => until <= now,
            Self::Disabled(_) => false,
        }
    }
}

/// The use of a key, from [`Keys::acquire`] to [`Keys::release`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyUse {
    /// The index of the key.
    pub key: usize,
    epoch: u64,
}

/// The status of a key, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyStatus {
    /// The label of the key.
    pub label: Text,
    /// The number of calls in flight.
    pub in_flight: u32,
    /// How much longer the key cools down, if it does.
    pub cooldown: Option<Duration>,
    /// Why the key is disabled, if it is.
    pub disabled: Option<DisabledReason>,
}

/// The error when no key can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoKeyAvailable {
    /// When the first key becomes available, if any does.
    pub next: Option<Duration>,
    /// Why keys are disabled, if it is the same reason for all disabled keys.
    pub disabled: Option<DisabledReason>,
}

impl Keys {
    /// Creates keys with these labels, all of them free.
    pub fn new(labels: impl IntoIterator<Item = Text>, policy: KeyPoolPolicy) -> Self {
        let key = |label| Key {
            label,
            in_flight: 0,
            last_use: 0,
            state: KeyState::Free,
            strikes: 0,
            lifted: None,
            epoch: 0,
        };
        Self {
            policy,
            keys: labels.into_iter().map(key).collect(),
            uses: 0,
            unavailable: 0,
        }
    }

    /// Starts to use the next free key whose index is not in `tried`.
    ///
    /// # Errors
    /// Returns [`NoKeyAvailable`] if there is no such key.
    pub fn acquire(&mut self, tried: &[usize], now: impl FnOnce() -> Duration) -> Result<KeyUse, NoKeyAvailable> {
        if self.unavailable > 0 {
            self.end_cooldowns(now());
        }
        let free = self.keys.iter().enumerate();
        let free = free.filter(|(at, key)| key.state == KeyState::Free && !tried.contains(at));
        let next = match self.policy.choice {
            KeyChoice::LeastBusy => free.min_by_key(|(_, key)| (key.in_flight, key.last_use)),
            KeyChoice::RoundRobin => free.min_by_key(|(_, key)| key.last_use),
        };
        let Some((at, _)) = next else {
            return Err(self.none_available());
        };
        self.uses += 1;
        let key = &mut self.keys[at];
        key.in_flight = key.in_flight.saturating_add(1);
        key.last_use = self.uses;
        Ok(KeyUse {
            key: at,
            epoch: key.epoch,
        })
    }

    /// Ends a use, whatever its result was.
    pub fn release(&mut self, used: KeyUse) {
        if let Some(key) = self.keys.get_mut(used.key) {
            key.in_flight = key.in_flight.saturating_sub(1);
        }
    }

    /// Records that a call succeeded.
    pub fn succeeded(&mut self, used: KeyUse) {
        if let Some(key) = self.keys.get_mut(used.key).filter(|key| key.epoch == used.epoch) {
            key.strikes = 0;
        }
    }

    /// Records that a call failed; `hint` is the wait that the server asked for. Returns whether another key may be tried.
    pub fn failed(&mut self, used: KeyUse, kind: LlmErrorKind, hint: Option<Duration>, now: Duration) -> bool {
        let Some(key) = self.keys.get_mut(used.key) else {
            return false;
        };
        let is_first = key.epoch == used.epoch;
        match self.policy.verdict(kind, hint, key.strikes) {
            KeyVerdict::NotTheKey => return false,
            KeyVerdict::TryAnother => return true,
            KeyVerdict::CoolDown(length) if is_first || hint.is_some() => {
                key.cool_down(now.saturating_add(length), length);
                // Calls that started before the cooldown and fail during it are not another strike.
                key.strikes = key.strikes.saturating_add(u32::from(is_first));
                key.epoch += u64::from(is_first);
            }
            KeyVerdict::CoolDown(_) => {}
            KeyVerdict::Disable(reason) => {
                key.state = KeyState::Disabled(reason);
                key.epoch += 1;
            }
        }
        self.count_unavailable();
        true
    }

    /// Makes a key available again, also if a state is [imported](Self::import) that contains its cooldown. Returns `false` if
    /// there is none with this label.
    pub fn restore(&mut self, label: &str) -> bool {
        let Some(key) = self.keys.iter_mut().find(|key| &*key.label == label) else {
            return false;
        };
        if let KeyState::CoolingDown { until, .. } = key.state {
            key.lifted = Some(until);
        }
        key.state = KeyState::Free;
        key.strikes = 0;
        key.epoch += 1;
        self.count_unavailable();
        true
    }

    /// Returns the status of each key.
    pub fn status(&self, now: Duration) -> Vec<KeyStatus> {
        let status = |key: &Key| KeyStatus {
            label: key.label.clone(),
            in_flight: key.in_flight,
            cooldown: match key.state {
                KeyState::CoolingDown { until, .. } if until > now => Some(until - now),
                _ => None,
            },
            disabled: match key.state {
                KeyState::Disabled(reason) => Some(reason),
                _ => None,
            },
        };
        self.keys.iter().map(status).collect()
    }

    /// Returns the state to save across a restart.
    pub fn export(&self, now: Duration, wall: SystemTime) -> KeyPoolState {
        let cooldown = |key: &Key| {
            let (until, length) = match key.state {
                KeyState::CoolingDown { until, length } if until > now => {
                    (Some(since_epoch(wall).saturating_add(until - now)), length)
                }
                KeyState::Disabled(DisabledReason::Quota) => (None, Duration::ZERO),
                _ => return None,
            };
            Some(KeyCooldown {
                label: key.label.to_string(),
                until_ms: until.map(millis_rounded_up),
                rest_ms: millis_rounded_up(length),
                strikes: key.strikes,
            })
        };
        KeyPoolState::new(self.keys.iter().filter_map(cooldown).collect())
    }

    /// Restores saved state, and returns the labels that no key has. A key that already cools down longer keeps its
    /// cooldown.
    pub fn import(&mut self, state: &KeyPoolState, now: Duration, wall: SystemTime) -> Vec<String> {
        let mut unknown = Vec::new();
        for saved in &state.keys {
            match self.keys.iter_mut().find(|key| *key.label == *saved.label) {
                Some(key) => key.import(saved, now, wall),
                None => unknown.push(saved.label.clone()),
            }
        }
        self.count_unavailable();
        unknown
    }

    fn end_cooldowns(&mut self, now: Duration) {
        for key in &mut self.keys {
            if key.state.is_available(now) {
                key.state = KeyState::Free;
            }
        }
        self.count_unavailable();
    }

    fn count_unavailable(&mut self) {
        self.unavailable = self.keys.iter().filter(|key| key.state != KeyState::Free).count();
    }

    fn none_available(&self) -> NoKeyAvailable {
        let next = self.keys.iter().filter_map(|key| match key.state {
            KeyState::CoolingDown { until, .. } => Some(until),
            _ => None,
        });
        let mut reasons = self.keys.iter().filter_map(|key| match key.state {
            KeyState::Disabled(reason) => Some(reason),
            _ => None,
        });
        let reason = reasons.next();
        NoKeyAvailable {
            next: next.min(),
            disabled: reason.filter(|reason| reasons.all(|other| other == *reason)),
        }
    }
}

impl Key {
    /// Starts a cooldown, unless the key is unavailable for longer anyway.
    fn cool_down(&mut self, until: Duration, length: Duration) {
        let current = match self.state {
            KeyState::Free => Duration::ZERO,
            KeyState::CoolingDown { until, .. } => until,
            KeyState::Disabled(_) => Duration::MAX,
        };
        if current < until {
            self.state = KeyState::CoolingDown { until, length };
        }
    }

    fn import(&mut self, saved: &KeyCooldown, now: Duration, wall: SystemTime) {
        let state = match saved.until_ms {
            None => KeyState::Disabled(DisabledReason::Quota),
            Some(until) => {
                let length = Duration::from_millis(saved.rest_ms);
                let left = Duration::from_millis(until)
                    .saturating_sub(since_epoch(wall))
                    .min(length);
                let until = now.saturating_add(left);
                // Saved times are rounded.
                if self
                    .lifted
                    .is_some_and(|lifted| until <= lifted.saturating_add(Duration::from_secs(1)))
                {
                    return;
                }
                KeyState::CoolingDown { until, length }
            }
        };
        let longer = match (self.state, state) {
            (KeyState::Disabled(_), _) => self.state,
            (KeyState::CoolingDown { until, .. }, KeyState::CoolingDown { until: other, .. }) if until >= other => {
                self.state
            }
            _ => state,
        };
        if longer != self.state && !longer.is_available(now) {
            self.state = longer;
            self.strikes = self.strikes.max(saved.strikes);
            self.epoch += 1;
        }
    }
}

/// Returns the time since 1970; earlier times count as 1970.
fn since_epoch(wall: SystemTime) -> Duration {
    wall.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Rounds up, so that no key becomes available too early.
fn millis_rounded_up(duration: Duration) -> u64 {
    let rounded = duration.saturating_add(Duration::from_nanos(999_999));
    u64::try_from(rounded.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn wall(since_epoch: Duration) -> SystemTime {
        SystemTime::UNIX_EPOCH + since_epoch
    }

    fn keys(policy: KeyPoolPolicy) -> Keys {
        Keys::new(["a", "b", "c"].map(Text::from), policy)
    }

    fn fail_with_rate_limit(keys: &mut Keys, used: KeyUse, hint: Option<u64>, now: u64) -> bool {
        keys.failed(used, LlmErrorKind::RateLimit, hint.map(seconds), seconds(now))
    }

    fn cooldowns(keys: &Keys, now: u64) -> Vec<Option<u64>> {
        let status = keys.status(seconds(now)).into_iter();
        status.map(|key| key.cooldown.map(|left| left.as_secs())).collect()
    }

    #[test]
    fn chooses_the_least_busy_and_then_the_least_recently_used_key() {
        let mut least_busy = keys(KeyPoolPolicy::new());
        let used: Vec<KeyUse> = (0..4)
            .map(|_| least_busy.acquire(&[], || seconds(0)).unwrap())
            .collect();
        assert_eq!(used.iter().map(|used| used.key).collect::<Vec<_>>(), [0, 1, 2, 0]);
        least_busy.release(used[1]);
        assert_eq!(least_busy.acquire(&[], || seconds(0)).unwrap().key, 1);
        let mut round_robin = keys(KeyPoolPolicy::new().with_choice(KeyChoice::RoundRobin));
        let used: Vec<KeyUse> = (0..2)
            .map(|_| round_robin.acquire(&[], || seconds(0)).unwrap())
            .collect();
        round_robin.release(used[0]);
        assert_eq!(
            round_robin.acquire(&[], || seconds(0)).unwrap().key,
            2,
            "round robin ignores calls in flight"
        );
        assert_eq!(
            round_robin.acquire(&[0, 1], || seconds(0)).unwrap().key,
            2,
            "keys that were tried are skipped"
        );
    }

    #[test]
    fn concurrent_failures_count_as_one_strike() {
        let mut keys = keys(KeyPoolPolicy::new());
        let used: Vec<KeyUse> = (0..64).map(|_| keys.acquire(&[1, 2], || seconds(0)).unwrap()).collect();
        for used in &used {
            assert!(fail_with_rate_limit(&mut keys, *used, None, 10));
        }
        assert_eq!(cooldowns(&keys, 10), [Some(5), None, None]);
        keys.succeeded(used[0]);
        let second = keys.acquire(&[1, 2], || seconds(15)).unwrap();
        fail_with_rate_limit(&mut keys, second, None, 20);
        assert_eq!(
            cooldowns(&keys, 20),
            [Some(10), None, None],
            "the next consecutive cooldown is longer"
        );
        fail_with_rate_limit(&mut keys, used[1], Some(60), 21);
        assert_eq!(
            cooldowns(&keys, 21),
            [Some(60), None, None],
            "a hint of the server always counts"
        );
        fail_with_rate_limit(&mut keys, used[2], Some(1), 22);
        assert_eq!(
            cooldowns(&keys, 22),
            [Some(59), None, None],
            "a hint never shortens a cooldown"
        );
        let last = keys.acquire(&[1, 2], || seconds(81)).unwrap();
        keys.succeeded(last);
        fail_with_rate_limit(&mut keys, last, None, 90);
        assert_eq!(
            cooldowns(&keys, 90),
            [Some(5), None, None],
            "a success resets the strikes"
        );
    }

    #[test]
    fn disabled_keys_return_when_restored() {
        let mut keys = keys(KeyPoolPolicy::new().with_quota_cooldown(None));
        for (key, kind) in [
            LlmErrorKind::QuotaExhausted,
            LlmErrorKind::Authentication,
            LlmErrorKind::RateLimit,
        ]
        .into_iter()
        .enumerate()
        {
            let used = keys.acquire(&[], || seconds(0)).unwrap();
            assert_eq!(used.key, key);
            assert!(keys.failed(used, kind, None, seconds(0)));
        }
        let none = keys.acquire(&[], || seconds(0)).unwrap_err();
        assert_eq!((none.next, none.disabled), (Some(seconds(5)), None));
        assert_eq!(
            keys.acquire(&[], || DAY).unwrap().key,
            2,
            "two keys are still disabled a day later"
        );
        assert!(keys.restore("b") && !keys.restore("unknown"));
        assert_eq!(keys.acquire(&[2], || DAY).unwrap().key, 1);
        assert_eq!(keys.status(DAY)[0].disabled, Some(DisabledReason::Quota));
    }

    #[test]
    fn cooldowns_end_on_time_after_a_restart() {
        let mut before = keys(KeyPoolPolicy::new().with_quota_cooldown(None));
        let used = before.acquire(&[], || seconds(100)).unwrap();
        fail_with_rate_limit(&mut before, used, Some(30), 100);
        let used = before.acquire(&[], || seconds(100)).unwrap();
        before.failed(used, LlmErrorKind::QuotaExhausted, None, seconds(100));
        let state = before.export(seconds(110), wall(DAY));
        let json = serde_json::to_string(&state).unwrap();
        let state: KeyPoolState = serde_json::from_str(&json).unwrap();

        // Another process: its monotonic clock starts over.
        let cooldown_at = |wall_now: Duration| {
            let mut after = keys(KeyPoolPolicy::new());
            assert!(after.import(&state, seconds(3), wall(wall_now)).is_empty());
            assert_eq!(after.status(seconds(3))[1].disabled, Some(DisabledReason::Quota));
            cooldowns(&after, 3)[0]
        };
        assert_eq!(cooldown_at(DAY + seconds(5)), Some(15));
        assert_eq!(cooldown_at(DAY + seconds(20)), None);
        assert_eq!(
            cooldown_at(DAY - seconds(600)),
            Some(30),
            "setting the clock back makes no cooldown longer than it was"
        );
        assert_eq!(cooldown_at(Duration::ZERO), Some(30));
    }

    #[test]
    fn import_returns_unknown_labels() {
        let state = r#"{"version": 1, "keys": [
            {"label": "removed", "until_ms": 99000, "rest_ms": 99000},
            {"label": "a", "until_ms": 20000, "rest_ms": 30000, "strikes": 2, "color": "red"},
            {"label": "b", "until_ms": 18446744073709551615, "rest_ms": 18446744073709551615}
        ]}"#;
        let state: KeyPoolState = serde_json::from_str(state).unwrap();
        let mut keys = keys(KeyPoolPolicy::new());
        let used = keys.acquire(&[1, 2], || seconds(0)).unwrap();
        fail_with_rate_limit(&mut keys, used, Some(40), 0);
        assert_eq!(keys.import(&state, seconds(0), wall(seconds(1))), ["removed"]);
        assert_eq!(cooldowns(&keys, 0)[0], Some(40), "the longer cooldown stays");
        assert!(cooldowns(&keys, 0)[1].is_some(), "the largest times do not overflow");
    }
}
