//! [`Keys`]: which key may be used now. Pure: both clocks are handed in.

use std::time::{Duration, SystemTime};

use agcore_chat::Text;

use super::{
    policy::{KeyChoice, KeyPoolPolicy, Reason, Verdict},
    state::{KeyPoolState, RestingKey},
};
use crate::error::LlmErrorKind;

/// Which key may be used now.
///
/// Times are of a monotonic clock, so that a wall clock that is set has no say; only what is kept over a restart is in wall
/// time, and then no rest becomes longer than it was.
#[derive(Debug)]
pub struct Keys {
    policy: KeyPoolPolicy,
    keys: Vec<Key>,
    /// Counts uses.
    uses: u64,
    /// How many are not simply free: while there are none, nobody asks for the time.
    resting: usize,
}

#[derive(Debug)]
struct Key {
    label: Text,
    busy: u32,
    last_use: u64,
    rest: Rest,
    /// Rate limits in a row.
    strikes: u32,
    /// Counts rests, so that a call that began before one is told from one that began after.
    epoch: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    None,
    Until { at: Duration, whole: Duration },
    Out(Reason),
}

impl Rest {
    fn is_over(self, now: Duration) -> bool {
        match self {
            Self::None => true,
            Self::Until { at, .. } => at <= now,
            Self::Out(_) => false,
        }
    }
}

/// The use of a key, from [`Keys::take`] to [`Keys::put_back`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// The key's place.
    pub key: usize,
    epoch: u64,
}

/// How a key is, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyStatus {
    /// Its label.
    pub label: Text,
    /// Calls under way.
    pub busy: u32,
    /// For how long it rests still.
    pub rests_for: Option<Duration>,
    /// Why it is out, if it is.
    pub out: Option<Reason>,
}

/// Why no key can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoneFree {
    /// When the first is free again, if ever.
    pub first: Option<Duration>,
    /// Why those that are out are out: the reason of all, if they have one in common.
    pub out: Option<Reason>,
}

impl Keys {
    /// Keys of these labels, all free.
    pub fn new(labels: impl IntoIterator<Item = Text>, policy: KeyPoolPolicy) -> Self {
        let key = |label| Key {
            label,
            busy: 0,
            last_use: 0,
            rest: Rest::None,
            strikes: 0,
            epoch: 0,
        };
        Self {
            policy,
            keys: labels.into_iter().map(key).collect(),
            uses: 0,
            resting: 0,
        }
    }

    /// Takes the next key that is free and none of `tried`.
    ///
    /// # Errors
    /// When there is none.
    pub fn take(&mut self, tried: &[usize], now: impl FnOnce() -> Duration) -> Result<Use, NoneFree> {
        if self.resting > 0 {
            self.wake(now());
        }
        let free = self.keys.iter().enumerate();
        let free = free.filter(|(at, key)| key.rest == Rest::None && !tried.contains(at));
        let next = match self.policy.choice {
            KeyChoice::LeastBusy => free.min_by_key(|(_, key)| (key.busy, key.last_use)),
            KeyChoice::RoundRobin => free.min_by_key(|(_, key)| key.last_use),
        };
        let Some((at, _)) = next else {
            return Err(self.none_free());
        };
        self.uses += 1;
        let key = &mut self.keys[at];
        key.busy = key.busy.saturating_add(1);
        key.last_use = self.uses;
        Ok(Use {
            key: at,
            epoch: key.epoch,
        })
    }

    /// The use is over, whatever came of it.
    pub fn put_back(&mut self, used: Use) {
        if let Some(key) = self.keys.get_mut(used.key) {
            key.busy = key.busy.saturating_sub(1);
        }
    }

    /// The use ended well.
    pub fn succeeded(&mut self, used: Use) {
        if let Some(key) = self.keys.get_mut(used.key).filter(|key| key.epoch == used.epoch) {
            key.strikes = 0;
        }
    }

    /// The use failed like this, with what the server says of when to come again. True when another key may do better.
    pub fn failed(&mut self, used: Use, kind: &LlmErrorKind, hint: Option<Duration>, now: Duration) -> bool {
        let Some(key) = self.keys.get_mut(used.key) else {
            return false;
        };
        let is_first = key.epoch == used.epoch;
        match self.policy.verdict(kind, hint, key.strikes) {
            Verdict::Innocent => return false,
            Verdict::Pass => return true,
            Verdict::Cool(whole) if is_first || hint.is_some() => {
                let at = now.saturating_add(whole);
                let until = |rest| match rest {
                    Rest::None => Duration::ZERO,
                    Rest::Until { at, .. } => at,
                    Rest::Out(_) => Duration::MAX,
                };
                if until(key.rest) < at {
                    key.rest = Rest::Until { at, whole };
                }
                // Calls that began before the rest and fail in it say nothing new.
                key.strikes = key.strikes.saturating_add(u32::from(is_first));
                key.epoch += u64::from(is_first);
            }
            Verdict::Cool(_) => {}
            Verdict::Out(reason) => {
                key.rest = Rest::Out(reason);
                key.epoch += 1;
            }
        }
        self.count();
        true
    }

    /// Ends every rest of a key. False when there is none of this label.
    pub fn restore(&mut self, label: &str) -> bool {
        let Some(key) = self.keys.iter_mut().find(|key| &*key.label == label) else {
            return false;
        };
        key.rest = Rest::None;
        key.strikes = 0;
        key.epoch += 1;
        self.count();
        true
    }

    /// How the keys are.
    pub fn status(&self, now: Duration) -> Vec<KeyStatus> {
        let status = |key: &Key| KeyStatus {
            label: key.label.clone(),
            busy: key.busy,
            rests_for: match key.rest {
                Rest::Until { at, .. } if at > now => Some(at - now),
                _ => None,
            },
            out: match key.rest {
                Rest::Out(reason) => Some(reason),
                _ => None,
            },
        };
        self.keys.iter().map(status).collect()
    }

    /// What is worth keeping over a restart.
    pub fn export(&self, now: Duration, wall: SystemTime) -> KeyPoolState {
        let resting = |key: &Key| {
            let (until_ms, whole) = match key.rest {
                Rest::Until { at, whole } if at > now => (Some(unix(wall).saturating_add(at - now)), whole),
                Rest::Out(Reason::Quota) => (None, Duration::ZERO),
                _ => return None,
            };
            Some(RestingKey {
                label: key.label.to_string(),
                until_ms: until_ms.map(millis),
                rest_ms: millis(whole),
                strikes: key.strikes,
            })
        };
        KeyPoolState::new(self.keys.iter().filter_map(resting).collect())
    }

    /// Takes over what was kept; gives the labels that no key has. A longer rest that a key has already stays.
    pub fn import(&mut self, state: &KeyPoolState, now: Duration, wall: SystemTime) -> Vec<String> {
        let mut unknown = Vec::new();
        for kept in &state.keys {
            match self.keys.iter_mut().find(|key| *key.label == *kept.label) {
                Some(key) => key.import(kept, now, wall),
                None => unknown.push(kept.label.clone()),
            }
        }
        self.count();
        unknown
    }

    /// Ends the rests that are over.
    fn wake(&mut self, now: Duration) {
        for key in &mut self.keys {
            if key.rest.is_over(now) {
                key.rest = Rest::None;
            }
        }
        self.count();
    }

    fn count(&mut self) {
        self.resting = self.keys.iter().filter(|key| key.rest != Rest::None).count();
    }

    fn none_free(&self) -> NoneFree {
        let first = self.keys.iter().filter_map(|key| match key.rest {
            Rest::Until { at, .. } => Some(at),
            _ => None,
        });
        let mut out = self.keys.iter().filter_map(|key| match key.rest {
            Rest::Out(reason) => Some(reason),
            _ => None,
        });
        let reason = out.next();
        NoneFree {
            first: first.min(),
            out: reason.filter(|reason| out.all(|other| other == *reason)),
        }
    }
}

impl Key {
    fn import(&mut self, kept: &RestingKey, now: Duration, wall: SystemTime) {
        let rest = match kept.until_ms {
            None => Rest::Out(Reason::Quota),
            Some(until) => {
                let whole = Duration::from_millis(kept.rest_ms);
                let left = Duration::from_millis(until).saturating_sub(unix(wall)).min(whole);
                let at = now.saturating_add(left);
                Rest::Until { at, whole }
            }
        };
        let longer = match (self.rest, rest) {
            (Rest::Out(_), _) => self.rest,
            (Rest::Until { at, .. }, Rest::Until { at: other, .. }) if at >= other => self.rest,
            _ => rest,
        };
        if longer != self.rest && !longer.is_over(now) {
            self.rest = longer;
            self.strikes = self.strikes.max(kept.strikes);
            self.epoch += 1;
        }
    }
}

/// Since 1970; what is before counts as then.
fn unix(wall: SystemTime) -> Duration {
    wall.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Rounded up: nobody comes too early.
fn millis(duration: Duration) -> u64 {
    let nanos_up = duration.saturating_add(Duration::from_nanos(999_999));
    u64::try_from(nanos_up.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn wall(at: Duration) -> SystemTime {
        SystemTime::UNIX_EPOCH + at
    }

    fn keys(policy: KeyPoolPolicy) -> Keys {
        Keys::new(["a", "b", "c"].map(Text::from), policy)
    }

    fn limited(keys: &mut Keys, used: Use, hint: Option<u64>, now: u64) -> bool {
        keys.failed(used, &LlmErrorKind::RateLimit, hint.map(seconds), seconds(now))
    }

    fn rests(keys: &Keys, now: u64) -> Vec<Option<u64>> {
        let rests = keys.status(seconds(now)).into_iter();
        rests.map(|key| key.rests_for.map(|rest| rest.as_secs())).collect()
    }

    #[test]
    fn the_least_busy_is_next_and_else_the_one_that_waited_longest() {
        let mut least = keys(KeyPoolPolicy::new());
        let taken: Vec<Use> = (0..4).map(|_| least.take(&[], || seconds(0)).unwrap()).collect();
        assert_eq!(taken.iter().map(|used| used.key).collect::<Vec<_>>(), [0, 1, 2, 0]);
        least.put_back(taken[1]);
        assert_eq!(least.take(&[], || seconds(0)).unwrap().key, 1);
        let mut round = keys(KeyPoolPolicy::new().with_choice(KeyChoice::RoundRobin));
        let taken: Vec<Use> = (0..2).map(|_| round.take(&[], || seconds(0)).unwrap()).collect();
        round.put_back(taken[0]);
        assert_eq!(round.take(&[], || seconds(0)).unwrap().key, 2, "busy or not");
        assert_eq!(
            round.take(&[0, 1], || seconds(0)).unwrap().key,
            2,
            "those that were tried are passed over"
        );
    }

    #[test]
    fn many_calls_that_fail_at_once_are_one_strike() {
        let mut keys = keys(KeyPoolPolicy::new());
        let used: Vec<Use> = (0..64).map(|_| keys.take(&[1, 2], || seconds(0)).unwrap()).collect();
        for used in &used {
            assert!(limited(&mut keys, *used, None, 10));
        }
        assert_eq!(rests(&keys, 10), [Some(5), None, None]);
        keys.succeeded(used[0]);
        let again = keys.take(&[1, 2], || seconds(15)).unwrap();
        limited(&mut keys, again, None, 20);
        assert_eq!(
            rests(&keys, 20),
            [Some(10), None, None],
            "the next one in a row rests for longer"
        );
        limited(&mut keys, used[1], Some(60), 21);
        assert_eq!(
            rests(&keys, 21),
            [Some(60), None, None],
            "what a server says is heard at any time"
        );
        limited(&mut keys, used[2], Some(1), 22);
        assert_eq!(rests(&keys, 22), [Some(59), None, None], "and never shortens a rest");
        let last = keys.take(&[1, 2], || seconds(81)).unwrap();
        keys.succeeded(last);
        limited(&mut keys, last, None, 90);
        assert_eq!(rests(&keys, 90), [Some(5), None, None], "a success ends the row");
    }

    #[test]
    fn one_that_is_out_comes_back_when_it_is_told() {
        let mut keys = keys(KeyPoolPolicy::new().with_quota(None));
        for (key, kind) in [
            LlmErrorKind::QuotaExhausted,
            LlmErrorKind::Authentication,
            LlmErrorKind::RateLimit,
        ]
        .into_iter()
        .enumerate()
        {
            let used = keys.take(&[], || seconds(0)).unwrap();
            assert_eq!(used.key, key);
            assert!(keys.failed(used, &kind, None, seconds(0)));
        }
        let none = keys.take(&[], || seconds(0)).unwrap_err();
        assert_eq!((none.first, none.out), (Some(seconds(5)), None));
        assert_eq!(keys.take(&[], || DAY).unwrap().key, 2, "a day later two are still out");
        assert!(keys.restore("b") && !keys.restore("nobody's"));
        assert_eq!(keys.take(&[2], || DAY).unwrap().key, 1);
        assert_eq!(keys.status(DAY)[0].out, Some(Reason::Quota));
    }

    #[test]
    fn a_rest_ends_on_time_after_a_restart() {
        let mut before = keys(KeyPoolPolicy::new().with_quota(None));
        let used = before.take(&[], || seconds(100)).unwrap();
        limited(&mut before, used, Some(30), 100);
        let used = before.take(&[], || seconds(100)).unwrap();
        before.failed(used, &LlmErrorKind::QuotaExhausted, None, seconds(100));
        let state = before.export(seconds(110), wall(DAY));
        let json = serde_json::to_string(&state).unwrap();
        let state: KeyPoolState = serde_json::from_str(&json).unwrap();

        // Another process: its monotonic clock has begun anew.
        let rest_at = |wall_now: Duration| {
            let mut after = keys(KeyPoolPolicy::new());
            assert!(after.import(&state, seconds(3), wall(wall_now)).is_empty());
            assert_eq!(after.status(seconds(3))[1].out, Some(Reason::Quota));
            rests(&after, 3)[0]
        };
        assert_eq!(rest_at(DAY + seconds(5)), Some(15));
        assert_eq!(rest_at(DAY + seconds(20)), None);
        assert_eq!(
            rest_at(DAY - seconds(600)),
            Some(30),
            "a clock that was set back makes no rest longer than it was"
        );
        assert_eq!(rest_at(Duration::ZERO), Some(30));
    }

    #[test]
    fn state_of_keys_that_are_no_more_is_told_and_dropped() {
        let state = r#"{"version": 1, "keys": [
            {"label": "gone", "until_ms": 99000, "rest_ms": 99000},
            {"label": "a", "until_ms": 20000, "rest_ms": 30000, "strikes": 2, "color": "red"},
            {"label": "b", "until_ms": 18446744073709551615, "rest_ms": 18446744073709551615}
        ]}"#;
        let state: KeyPoolState = serde_json::from_str(state).unwrap();
        let mut keys = keys(KeyPoolPolicy::new());
        let used = keys.take(&[1, 2], || seconds(0)).unwrap();
        limited(&mut keys, used, Some(40), 0);
        assert_eq!(keys.import(&state, seconds(0), wall(seconds(1))), ["gone"]);
        assert_eq!(rests(&keys, 0)[0], Some(40), "the longer rest stays");
        assert!(rests(&keys, 0)[1].is_some(), "an endless rest is one, and no overflow");
    }
}
