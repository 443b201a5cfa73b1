//! The error of a call for which no key was available.

use std::time::Duration;

use agcore_wire::{LlmError, LlmErrorKind};

use super::policy::DisabledReason;

/// Returns the error of a call for which none of `count` keys was available. `wait` is the time until the first one is.
pub(super) fn unavailable(count: usize, disabled: Option<DisabledReason>, wait: Option<Duration>) -> LlmError {
    let (kind, message) = match (wait.map(|wait| wait.as_secs_f64()), disabled) {
        (Some(wait), _) if count == 1 => (
            LlmErrorKind::RateLimit,
            format!("the only key is cooling down and becomes available in {wait:.1} s"),
        ),
        (Some(wait), _) => (
            LlmErrorKind::RateLimit,
            format!("none of the {count} keys is available; the first becomes available in {wait:.1} s"),
        ),
        (None, Some(DisabledReason::Quota)) if count == 1 => (
            LlmErrorKind::QuotaExhausted,
            "the quota of the only key is exhausted; raise it, then restore the key".to_owned(),
        ),
        (None, Some(DisabledReason::Quota)) => (
            LlmErrorKind::QuotaExhausted,
            format!("the quotas of all {count} keys are exhausted; raise them, then restore the keys"),
        ),
        (None, _) if count == 1 => (
            LlmErrorKind::Authentication,
            "the only key was refused by the server; replace it, or restore it if it is valid".to_owned(),
        ),
        (None, _) => (
            LlmErrorKind::Authentication,
            format!("all {count} keys are disabled; replace those that were refused by the server, or restore them"),
        ),
    };
    LlmError::new(kind, message).with_retry_after(wait)
}
