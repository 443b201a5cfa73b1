//! [`Usage`] of one reply, and the [`UsageTracker`] that sums many.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::object::{Extra, Member, object};

/// Tokens of one reply, normalised: input counts all prompt tokens, cached and cache-writing ones included; output counts
/// all generated ones, reasoning included. What the server did not say is `None`, never 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// All prompt tokens.
    pub prompt_tokens: Option<u64>,
    /// All generated tokens.
    pub completion_tokens: Option<u64>,
    /// The server's own total.
    pub total_tokens: Option<u64>,
    /// What the prompt tokens are made of.
    pub prompt_tokens_details: PromptTokensDetails,
    /// What the generated tokens are made of.
    pub completion_tokens_details: CompletionTokensDetails,
    /// Members that have no field, a server's own cost for one.
    pub extra: Extra,
}
object!(Usage: "usage" {
    "prompt_tokens" => prompt_tokens, "completion_tokens" => completion_tokens, "total_tokens" => total_tokens,
    "prompt_tokens_details" => prompt_tokens_details, "completion_tokens_details" => completion_tokens_details,
});

impl Usage {
    /// Usage of so many prompt and generated tokens.
    pub fn new(prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self {
            prompt_tokens: Some(prompt_tokens),
            completion_tokens: Some(completion_tokens),
            total_tokens: Some(prompt_tokens.saturating_add(completion_tokens)),
            ..Self::default()
        }
    }

    /// Prompt tokens read from the vendor's cache.
    pub fn cached(&self) -> Option<u64> {
        self.prompt_tokens_details.cached_tokens
    }

    /// Prompt tokens written to the vendor's cache.
    pub fn cache_write(&self) -> Option<u64> {
        self.prompt_tokens_details.cache_write_tokens
    }

    /// Generated tokens that were reasoning.
    pub fn reasoning(&self) -> Option<u64> {
        self.completion_tokens_details.reasoning_tokens
    }

    /// The total: the server's own, else the sum of both sides where both are known.
    pub fn total(&self) -> Option<u64> {
        self.total_tokens
            .or_else(|| Some(self.prompt_tokens?.saturating_add(self.completion_tokens?)))
    }

    /// Adds the counters of `other`, saturating; unknown plus known is the known one. Other members are not summed.
    pub fn add(&mut self, other: &Self) {
        add(&mut self.prompt_tokens, other.prompt_tokens);
        add(&mut self.completion_tokens, other.completion_tokens);
        add(&mut self.total_tokens, other.total());
        let (to, from) = (&mut self.prompt_tokens_details, &other.prompt_tokens_details);
        add(&mut to.cached_tokens, from.cached_tokens);
        add(&mut to.cache_write_tokens, from.cache_write_tokens);
        add(&mut to.audio_tokens, from.audio_tokens);
        let (to, from) = (&mut self.completion_tokens_details, &other.completion_tokens_details);
        add(&mut to.reasoning_tokens, from.reasoning_tokens);
        add(&mut to.audio_tokens, from.audio_tokens);
        add(&mut to.accepted_prediction_tokens, from.accepted_prediction_tokens);
        add(&mut to.rejected_prediction_tokens, from.rejected_prediction_tokens);
    }
}

/// In short: `120 in (100 cached), 30 out (12 reasoning)`; what is not known is `?`.
impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |f: &mut fmt::Formatter<'_>, tokens: Option<u64>, name: &str, part: Option<u64>, of: &str| {
            match tokens {
                Some(tokens) => write!(f, "{tokens} {name}")?,
                None => write!(f, "? {name}")?,
            }
            match part.filter(|part| *part > 0) {
                Some(part) => write!(f, " ({part} {of})"),
                None => Ok(()),
            }
        };
        side(f, self.prompt_tokens, "in", self.cached(), "cached")?;
        f.write_str(", ")?;
        side(f, self.completion_tokens, "out", self.reasoning(), "reasoning")
    }
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

/// What prompt tokens are made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptTokensDetails {
    /// Read from the vendor's cache.
    pub cached_tokens: Option<u64>,
    /// Written to the vendor's cache.
    pub cache_write_tokens: Option<u64>,
    /// Sound.
    pub audio_tokens: Option<u64>,
    /// Members that have no field.
    pub extra: Extra,
}
object!(PromptTokensDetails: "prompt token details" {
    "cached_tokens" => cached_tokens, "cache_write_tokens" => cache_write_tokens, "audio_tokens" => audio_tokens,
});

impl Member for PromptTokensDetails {
    fn is_absent(&self) -> bool {
        *self == Self::default()
    }
}

/// What generated tokens are made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompletionTokensDetails {
    /// Reasoning.
    pub reasoning_tokens: Option<u64>,
    /// Sound.
    pub audio_tokens: Option<u64>,
    /// Of a predicted output, taken over.
    pub accepted_prediction_tokens: Option<u64>,
    /// Of a predicted output, thrown away.
    pub rejected_prediction_tokens: Option<u64>,
    /// Members that have no field.
    pub extra: Extra,
}
object!(CompletionTokensDetails: "completion token details" {
    "reasoning_tokens" => reasoning_tokens, "audio_tokens" => audio_tokens,
    "accepted_prediction_tokens" => accepted_prediction_tokens,
    "rejected_prediction_tokens" => rejected_prediction_tokens,
});

impl Member for CompletionTokensDetails {
    fn is_absent(&self) -> bool {
        *self == Self::default()
    }
}

/// The sum over all model calls of a turn, a cycle or a session.
///
/// A call is an attempt that returned any part of an answer, failed ones included.
///
/// ```
/// use agcore_chat::{Usage, UsageTracker};
/// let mut tracker = UsageTracker::default();
/// tracker.record(Some(&Usage::new(10, 5)));
/// tracker.record(None); // a server that tells no usage
/// assert_eq!(tracker.usage.total(), Some(15));
/// assert_eq!((tracker.calls, tracker.calls_with_usage), (2, 1));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UsageTracker {
    /// The sum of all usages.
    pub usage: Usage,
    /// Calls.
    pub calls: u64,
    /// Calls whose usage is known; fewer than `calls` means that the sum is incomplete.
    pub calls_with_usage: u64,
}

impl UsageTracker {
    /// Counts one call.
    pub fn record(&mut self, usage: Option<&Usage>) {
        self.calls = self.calls.saturating_add(1);
        if let Some(usage) = usage {
            self.calls_with_usage = self.calls_with_usage.saturating_add(1);
            self.usage.add(usage);
        }
    }

    /// Adds another tracker's calls.
    pub fn merge(&mut self, other: &Self) {
        self.usage.add(&other.usage);
        self.calls = self.calls.saturating_add(other.calls);
        self.calls_with_usage = self.calls_with_usage.saturating_add(other.calls_with_usage);
    }

    /// All tokens, as far as they are known.
    pub fn total(&self) -> Option<u64> {
        self.usage.total()
    }

    /// Whether every call told its usage.
    pub fn is_complete(&self) -> bool {
        self.calls == self.calls_with_usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_known_and_what_is_not() {
        let mut usage = Usage {
            prompt_tokens: Some(120),
            ..Usage::default()
        };
        assert_eq!(usage.to_string(), "120 in, ? out");
        usage.completion_tokens = Some(30);
        usage.prompt_tokens_details.cached_tokens = Some(100);
        usage.completion_tokens_details.reasoning_tokens = Some(0);
        assert_eq!(usage.to_string(), "120 in (100 cached), 30 out");
    }
}
