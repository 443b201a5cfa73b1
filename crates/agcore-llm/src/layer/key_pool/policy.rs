//! [`KeyPoolPolicy`]: which key is used next, and how long a key cools down after a failure.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::layer::{attempt::MidStream, seconds};
use agcore_wire::LlmErrorKind;

/// Which key is used next, and how long a key cools down after a failure. In settings, times are in seconds.
///
/// ```
/// use std::time::Duration;
/// use agcore_llm::layer::key_pool::{KeyChoice, KeyPoolPolicy};
///
/// let policy: KeyPoolPolicy = serde_json::from_str(r#"{"choice": "round_robin", "base": 2.5, "max_wait": 30}"#)?;
/// let expected = KeyPoolPolicy::new()
///     .with_choice(KeyChoice::RoundRobin)
///     .with_cooldown(Duration::from_millis(2500), Duration::from_secs(300))
///     .with_max_wait(Duration::from_secs(30));
/// assert_eq!(policy, expected);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use]
#[non_exhaustive]
pub struct KeyPoolPolicy {
    /// Which of the available keys is used next.
    pub choice: KeyChoice,
    /// How long a key cools down after a rate limit without a hint of the server. Doubles with each in a row. The default
    /// is 5 s.
    #[serde(with = "seconds")]
    pub base: Duration,
    /// The longest cooldown without a hint of the server. The default is 300 s.
    #[serde(with = "seconds")]
    pub cap: Duration,
    /// How long a key cools down when its quota is exhausted. `None` disables it until
    /// [`restore`](super::KeyPool::restore) is called. The default is one hour.
    #[serde(with = "seconds::option")]
    pub quota: Option<Duration>,
    /// How long a call may wait while no key is available. The default is 0: the call fails at once, and its error states
    /// when the first key becomes available.
    #[serde(with = "seconds")]
    pub max_wait: Duration,
    /// The reaction to a call that fails after it has returned parts of an answer.
    pub mid_stream: MidStream,
}

/// Which of the available keys is used next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum KeyChoice {
    /// The key with the fewest calls in flight; among equals, the least recently used one.
    #[default]
    LeastBusy,
    /// The least recently used key.
    RoundRobin,
}

impl Default for KeyPoolPolicy {
    fn default() -> Self {
        Self {
            choice: KeyChoice::LeastBusy,
            base: Duration::from_secs(5),
            cap: Duration::from_secs(300),
            quota: Some(Duration::from_secs(3600)),
            max_wait: Duration::ZERO,
            mid_stream: MidStream::Fail,
        }
    }
}

/// The consequence of a failed call for the key that was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyVerdict {
    /// The failure has nothing to do with the key, so another key would not help.
    NotTheKey,
    /// Another key may have the permission.
    TryAnother,
    /// The key cools down for this long; another key may be tried.
    CoolDown(Duration),
    /// The key is disabled until it is restored; another key may be tried.
    Disable(DisabledReason),
}

/// Why a key is disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DisabledReason {
    /// The server refused the key.
    Refused,
    /// The quota of the key is exhausted.
    Quota,
}

impl KeyPoolPolicy {
    /// Creates the default policy.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets which key is used next.
    pub fn with_choice(mut self, choice: KeyChoice) -> Self {
        self.choice = choice;
        self
    }

    /// Sets the first and the longest cooldown after rate limits without a hint of the server.
    pub fn with_cooldown(mut self, base: Duration, cap: Duration) -> Self {
        self.base = base;
        self.cap = cap;
        self
    }

    /// Sets how long a key cools down when its quota is exhausted. `None` disables it until it is restored.
    pub fn with_quota_cooldown(mut self, cooldown: Option<Duration>) -> Self {
        self.quota = cooldown;
        self
    }

    /// Sets how long a call may wait while no key is available.
    pub fn with_max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = wait;
        self
    }

    /// Sets what happens if a call fails after it has returned parts of an answer.
    pub fn with_mid_stream(mut self, rule: MidStream) -> Self {
        self.mid_stream = rule;
        self
    }

    /// Returns the consequence of a failure for the key that was used, after `strikes` consecutive rate limits.
    pub fn verdict(&self, kind: LlmErrorKind, hint: Option<Duration>, strikes: u32) -> KeyVerdict {
        match kind {
            LlmErrorKind::RateLimit => KeyVerdict::CoolDown(hint.unwrap_or_else(|| self.cooldown(strikes))),
            LlmErrorKind::QuotaExhausted => match self.quota {
                Some(cooldown) => KeyVerdict::CoolDown(hint.map_or(cooldown, |hint| hint.max(cooldown))),
                None => KeyVerdict::Disable(DisabledReason::Quota),
            },
            LlmErrorKind::Authentication => KeyVerdict::Disable(DisabledReason::Refused),
            LlmErrorKind::Permission => KeyVerdict::TryAnother,
            _ => KeyVerdict::NotTheKey,
        }
    }

    fn cooldown(&self, strikes: u32) -> Duration {
        let factor = 2_u32.checked_pow(strikes);
        let cooldown = factor.and_then(|factor| self.base.checked_mul(factor));
        cooldown.map_or(self.cap, |cooldown| cooldown.min(self.cap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_has_its_verdict() {
        let check = |kind, hint: Option<u64>, strikes, expected| {
            let verdict = KeyPoolPolicy::new().verdict(kind, hint.map(Duration::from_secs), strikes);
            assert_eq!(verdict, expected, "{kind:?}");
        };
        let cool_down = |seconds| KeyVerdict::CoolDown(Duration::from_secs(seconds));
        check(LlmErrorKind::RateLimit, Some(42), 3, cool_down(42));
        check(LlmErrorKind::RateLimit, None, 0, cool_down(5));
        check(LlmErrorKind::RateLimit, None, 3, cool_down(40));
        check(LlmErrorKind::RateLimit, None, u32::MAX, cool_down(300));
        check(LlmErrorKind::QuotaExhausted, None, 0, cool_down(3600));
        check(LlmErrorKind::QuotaExhausted, Some(9000), 0, cool_down(9000));
        check(
            LlmErrorKind::Authentication,
            None,
            0,
            KeyVerdict::Disable(DisabledReason::Refused),
        );
        check(LlmErrorKind::Permission, None, 0, KeyVerdict::TryAnother);
        for kind in [
            LlmErrorKind::Server,
            LlmErrorKind::Overloaded,
            LlmErrorKind::InvalidRequest,
        ] {
            check(kind, Some(1), 0, KeyVerdict::NotTheKey);
        }
        let disabling = KeyPoolPolicy::new().with_quota_cooldown(None);
        let verdict = disabling.verdict(LlmErrorKind::QuotaExhausted, Some(Duration::ZERO), 0);
        assert_eq!(verdict, KeyVerdict::Disable(DisabledReason::Quota));
    }

    #[test]
    fn settings_are_in_seconds() {
        let policy: KeyPoolPolicy =
            serde_json::from_str(r#"{"base": 0.5, "quota": null, "choice": "round_robin"}"#).unwrap();
        let expected = KeyPoolPolicy::new()
            .with_cooldown(Duration::from_millis(500), Duration::from_secs(300))
            .with_choice(KeyChoice::RoundRobin)
            .with_quota_cooldown(None);
        assert_eq!(policy, expected);
        let json = serde_json::to_string(&policy).unwrap();
        assert_eq!(serde_json::from_str::<KeyPoolPolicy>(&json).unwrap(), policy);
        assert!(serde_json::from_str::<KeyPoolPolicy>(r#"{"base": -1}"#).is_err());
        assert!(serde_json::from_str::<KeyPoolPolicy>(r#"{"bases": 1}"#).is_err());
    }
}
