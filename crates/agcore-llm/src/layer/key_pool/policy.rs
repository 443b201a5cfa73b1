//! [`KeyPoolPolicy`]: which key is next, and how long one rests after what.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    error::LlmErrorKind,
    layer::{retry::MidStream, seconds},
};

/// Which key is next, and how long one rests after what. In settings times are seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct KeyPoolPolicy {
    /// Which of the keys that do not rest is next.
    pub choice: KeyChoice,
    /// How long a key rests after a rate limit, where the server does not say; 5 s. Doubles with each in a row.
    #[serde(with = "seconds")]
    pub base: Duration,
    /// The longest such rest of our own; 300 s. What the server says may be longer.
    #[serde(with = "seconds")]
    pub cap: Duration,
    /// How long a key rests when its quota is used up; one hour. `None` is until [`restore`](super::KeyPool::restore).
    #[serde(with = "seconds::option")]
    pub quota: Option<Duration>,
    /// How long a call may wait when all keys rest; 0, so that it fails at once and says when the first is free.
    #[serde(with = "seconds")]
    pub max_wait: Duration,
    /// What happens when a stream dies after parts of the answer were handed out.
    pub mid_stream: MidStream,
}

/// Which of the keys that do not rest is next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum KeyChoice {
    /// The one with the fewest calls under way; among equals the one that was not used for the longest time.
    #[default]
    LeastBusy,
    /// The one that was not used for the longest time.
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

/// What a failure means for the key that was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It was not the key's fault, and another one would not help.
    Innocent,
    /// Another key may be allowed to do this.
    Pass,
    /// The key rests for so long, another one may do it.
    Cool(Duration),
    /// The key is out until it is restored, another one may do it.
    Out(Reason),
}

/// Why a key is out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The server does not know it.
    Refused,
    /// Its quota is used up.
    Quota,
}

impl KeyPoolPolicy {
    /// The default policy.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets which key is next.
    pub fn with_choice(mut self, choice: KeyChoice) -> Self {
        self.choice = choice;
        self
    }

    /// Sets the first and the longest rest where the server does not say.
    pub fn with_rest(mut self, base: Duration, cap: Duration) -> Self {
        self.base = base;
        self.cap = cap;
        self
    }

    /// Sets how long a key rests whose quota is used up; `None` is until it is restored.
    pub fn with_quota(mut self, rest: Option<Duration>) -> Self {
        self.quota = rest;
        self
    }

    /// Sets how long a call may wait when all keys rest.
    pub fn with_max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = wait;
        self
    }

    /// Sets what happens when a stream dies half-way.
    pub fn with_mid_stream(mut self, rule: MidStream) -> Self {
        self.mid_stream = rule;
        self
    }

    /// What a failure means for the key that was used, after `strikes` rate limits in a row before it.
    pub fn verdict(&self, kind: &LlmErrorKind, hint: Option<Duration>, strikes: u32) -> Verdict {
        match kind {
            LlmErrorKind::RateLimit => Verdict::Cool(hint.unwrap_or_else(|| self.rest(strikes))),
            LlmErrorKind::QuotaExhausted => match self.quota {
                Some(rest) => Verdict::Cool(hint.map_or(rest, |hint| hint.max(rest))),
                None => Verdict::Out(Reason::Quota),
            },
            LlmErrorKind::Authentication => Verdict::Out(Reason::Refused),
            LlmErrorKind::Permission => Verdict::Pass,
            _ => Verdict::Innocent,
        }
    }

    fn rest(&self, strikes: u32) -> Duration {
        let factor = 2_u32.checked_pow(strikes);
        let rest = factor.and_then(|factor| self.base.checked_mul(factor));
        rest.map_or(self.cap, |rest| rest.min(self.cap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_has_its_verdict() {
        let check = |kind, hint: Option<u64>, strikes, expected| {
            let verdict = KeyPoolPolicy::new().verdict(&kind, hint.map(Duration::from_secs), strikes);
            assert_eq!(verdict, expected, "{kind:?}");
        };
        let cool = |seconds| Verdict::Cool(Duration::from_secs(seconds));
        check(LlmErrorKind::RateLimit, Some(42), 3, cool(42));
        check(LlmErrorKind::RateLimit, None, 0, cool(5));
        check(LlmErrorKind::RateLimit, None, 3, cool(40));
        check(LlmErrorKind::RateLimit, None, u32::MAX, cool(300));
        check(LlmErrorKind::QuotaExhausted, None, 0, cool(3600));
        check(LlmErrorKind::QuotaExhausted, Some(9000), 0, cool(9000));
        check(LlmErrorKind::Authentication, None, 0, Verdict::Out(Reason::Refused));
        check(LlmErrorKind::Permission, None, 0, Verdict::Pass);
        for kind in [
            LlmErrorKind::Server,
            LlmErrorKind::Overloaded,
            LlmErrorKind::InvalidRequest,
        ] {
            check(kind, Some(1), 0, Verdict::Innocent);
        }
        let forever = KeyPoolPolicy::new().with_quota(None);
        let verdict = forever.verdict(&LlmErrorKind::QuotaExhausted, Some(Duration::ZERO), 0);
        assert_eq!(verdict, Verdict::Out(Reason::Quota));
    }

    #[test]
    fn settings_are_seconds() {
        let policy: KeyPoolPolicy =
            serde_json::from_str(r#"{"base": 0.5, "quota": null, "choice": "round_robin"}"#).unwrap();
        let expected = KeyPoolPolicy::new()
            .with_rest(Duration::from_millis(500), Duration::from_secs(300))
            .with_choice(KeyChoice::RoundRobin)
            .with_quota(None);
        assert_eq!(policy, expected);
        let json = serde_json::to_string(&policy).unwrap();
        assert_eq!(serde_json::from_str::<KeyPoolPolicy>(&json).unwrap(), policy);
        assert!(serde_json::from_str::<KeyPoolPolicy>(r#"{"base": -1}"#).is_err());
        assert!(serde_json::from_str::<KeyPoolPolicy>(r#"{"bases": 1}"#).is_err());
    }
}
