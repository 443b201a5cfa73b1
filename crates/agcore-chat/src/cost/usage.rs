//! [`Usage`]: the tokens of one reply, and [`UsageTracker`], the sum over many.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    cost::reported_cost::ReportedCost,
    object::{Extra, Member, object},
};

/// The tokens of one reply, normalised across vendors.
///
/// The counters are what is billed. Prompt tokens include those read from and written to a cache; completion tokens include
/// reasoning. Counters that the server did not report are `None`, never 0. For the size of the conversation see
/// [`context`](Self::context).
///
/// ```
/// use agcore_chat::Usage;
///
/// let usage: Usage = serde_json::from_str(
///     r#"{"prompt_tokens": 120, "completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": 100}}"#,
/// )?;
/// assert_eq!(usage.total(), Some(150));
/// assert_eq!((usage.cached(), usage.reasoning()), (Some(100), None));
/// assert_eq!(usage.to_string(), "120 in (100 cached), 30 out");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// All prompt tokens.
    pub prompt_tokens: Option<u64>,
    /// All generated tokens.
    pub completion_tokens: Option<u64>,
    /// The total as reported by the server.
    pub total_tokens: Option<u64>,
    /// The breakdown of the prompt tokens.
    pub prompt_tokens_details: PromptTokensDetails,
    /// The breakdown of the generated tokens.
    pub completion_tokens_details: CompletionTokensDetails,
    /// The cost, if the server reports it. It is not part of the Chat Completions API, and is written as `agcore_cost`.
    pub cost: Option<ReportedCost>,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(Usage: "usage" {
    "prompt_tokens" => prompt_tokens, "completion_tokens" => completion_tokens, "total_tokens" => total_tokens,
    "prompt_tokens_details" => prompt_tokens_details, "completion_tokens_details" => completion_tokens_details,
    "agcore_cost" => cost,
});

impl Usage {
    /// Creates usage from the numbers of prompt and generated tokens.
    pub fn new(prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self {
            prompt_tokens: Some(prompt_tokens),
            completion_tokens: Some(completion_tokens),
            total_tokens: Some(prompt_tokens.saturating_add(completion_tokens)),
            ..Self::default()
        }
    }

    /// Returns the number of prompt tokens read from the vendor's cache.
    pub fn cached(&self) -> Option<u64> {
        self.prompt_tokens_details.cached_tokens
    }

    /// Returns the number of prompt tokens written to the vendor's cache.
    pub fn cache_write(&self) -> Option<u64> {
        self.prompt_tokens_details.cache_write_tokens
    }

    /// Returns the number of generated tokens that were reasoning.
    pub fn reasoning(&self) -> Option<u64> {
        self.completion_tokens_details.reasoning_tokens
    }

    /// Returns how many tokens of the context window the prompt occupied: all prompt tokens, unless the server took several
    /// steps within the reply (a compaction, say), whose prompts are billed as well. Meaningless for a sum of replies.
    ///
    /// ```
    /// use agcore_chat::Usage;
    ///
    /// let mut usage = Usage::new(55_416, 133);
    /// assert_eq!(usage.context(), Some(55_416));
    /// usage.prompt_tokens_details.context_tokens = Some(220);
    /// assert_eq!(usage.context(), Some(220));
    /// ```
    pub fn context(&self) -> Option<u64> {
        self.prompt_tokens_details.context_tokens.or(self.prompt_tokens)
    }

    /// Returns the total: as reported by the server, or else the sum of prompt and generated tokens if both are known.
    pub fn total(&self) -> Option<u64> {
        self.total_tokens
            .or_else(|| Some(self.prompt_tokens?.saturating_add(self.completion_tokens?)))
    }

    /// Adds the counters of `other`, saturating. Unknown counters count as zero, unless both are unknown. A cost in
    /// another currency is not added, and neither are the size of the context and members in `extra`.
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
        match (&mut self.cost, &other.cost) {
            (Some(sum), Some(more)) => sum.add(more),
            (sum @ None, Some(more)) => *sum = Some(more.clone()),
            (_, None) => {}
        }
    }
}

/// Formats the counters like `120 in (100 cached), 30 out (12 reasoning)`, with `?` for unknown ones.
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

/// The breakdown of prompt tokens.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptTokensDetails {
    /// Tokens read from the vendor's cache.
    pub cached_tokens: Option<u64>,
    /// Tokens written to the vendor's cache.
    pub cache_write_tokens: Option<u64>,
    /// Audio tokens.
    pub audio_tokens: Option<u64>,
    /// The prompt tokens of the last step, if the server took several steps within the reply and bills each of them, so that
    /// the prompt is smaller than the billed total. See [`Usage::context`].
    pub context_tokens: Option<u64>,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(PromptTokensDetails: "prompt token details" {
    "cached_tokens" => cached_tokens, "cache_write_tokens" => cache_write_tokens, "audio_tokens" => audio_tokens,
    "context_tokens" => context_tokens,
});

impl Member for PromptTokensDetails {
    fn is_absent(&self) -> bool {
        *self == Self::default()
    }
}

/// The breakdown of generated tokens.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompletionTokensDetails {
    /// Reasoning tokens.
    pub reasoning_tokens: Option<u64>,
    /// Audio tokens.
    pub audio_tokens: Option<u64>,
    /// Tokens of a predicted output that were used.
    pub accepted_prediction_tokens: Option<u64>,
    /// Tokens of a predicted output that were discarded.
    pub rejected_prediction_tokens: Option<u64>,
    /// Members without a field of their own.
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

/// The usage of all model calls of a turn, a cycle or a session.
///
/// Every attempt that returned any part of an answer counts as a call, including failed ones.
///
/// ```
/// use agcore_chat::{Usage, UsageTracker};
///
/// let mut tracker = UsageTracker::default();
/// tracker.record(Some(&Usage::new(10, 5)));
/// tracker.record(None); // the server did not report usage
/// assert_eq!(tracker.usage.total(), Some(15));
/// assert_eq!((tracker.calls, tracker.calls_with_usage), (2, 1));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UsageTracker {
    /// The sum of all known usage.
    pub usage: Usage,
    /// The number of calls.
    pub calls: u64,
    /// The number of calls whose usage is known. If it is less than `calls`, the sum is incomplete.
    pub calls_with_usage: u64,
}

impl UsageTracker {
    /// Adds one call.
    pub fn record(&mut self, usage: Option<&Usage>) {
        self.calls = self.calls.saturating_add(1);
        if let Some(usage) = usage {
            self.calls_with_usage = self.calls_with_usage.saturating_add(1);
            self.usage.add(usage);
        }
    }

    /// Adds the calls of another tracker.
    pub fn merge(&mut self, other: &Self) {
        self.usage.add(&other.usage);
        self.calls = self.calls.saturating_add(other.calls);
        self.calls_with_usage = self.calls_with_usage.saturating_add(other.calls_with_usage);
    }

    /// Returns the total number of known tokens.
    pub fn total(&self) -> Option<u64> {
        self.usage.total()
    }

    /// Returns whether the usage of every call is known.
    pub fn is_complete(&self) -> bool {
        self.calls == self.calls_with_usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::amount::Amount;

    #[test]
    fn displays_known_and_unknown_counters() {
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

    #[test]
    fn adds_costs_of_one_currency() {
        let cost = |micros, currency: &str| Usage {
            cost: Some(ReportedCost::new(Amount::from_micros(micros), currency)),
            ..Usage::default()
        };
        let mut sum = Usage::default();
        for usage in [
            Usage::default(),
            cost(5, "USD"),
            cost(7, "USD"),
            cost(100, "EUR"),
            Usage::default(),
        ] {
            sum.add(&usage);
        }
        assert_eq!(sum, cost(12, "USD"));
        let json = serde_json::to_string(&sum).unwrap();
        assert_eq!(json, r#"{"agcore_cost":{"amount":"0.000012","currency":"USD"}}"#);
        assert_eq!(serde_json::from_str::<Usage>(&json).unwrap(), sum);
    }
}
