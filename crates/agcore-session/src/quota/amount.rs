//! [`QuotaAmount`]: an amount of each resource that a quota can limit.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An amount of each resource that a quota can limit: used, held or wanted.
///
/// ```
/// use agcore_session::quota::{QuotaAmount, QuotaResource};
///
/// let mut amount = QuotaAmount::new().with_tokens(120).with_micros(600);
/// amount.add(&QuotaAmount::new().with_tokens(80).with_model_calls(1));
/// assert_eq!(amount.of(QuotaResource::Tokens), 200);
/// assert_eq!(amount.since(&QuotaAmount::new().with_tokens(50)).tokens, 150);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct QuotaAmount {
    /// Runs that were started.
    pub runs: u64,
    /// Calls of models.
    pub model_calls: u64,
    /// Input and output tokens.
    pub tokens: u64,
    /// Money, in millionths of the currency's unit. All quotas of a tenant have the same currency.
    pub micros: u64,
}

/// A resource that a quota can limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuotaResource {
    /// Runs that were started.
    Runs,
    /// Calls of models.
    ModelCalls,
    /// Input and output tokens.
    Tokens,
    /// Money.
    Money,
}

impl QuotaResource {
    /// All resources.
    pub const ALL: [Self; 4] = [Self::Runs, Self::ModelCalls, Self::Tokens, Self::Money];

    /// Returns the name of the resource, such as `model_calls`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::ModelCalls => "model_calls",
            Self::Tokens => "tokens",
            Self::Money => "money",
        }
    }
}

/// Writes the name.
impl fmt::Display for QuotaResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl QuotaAmount {
    /// Creates an amount of zero.
    pub const fn new() -> Self {
        Self {
            runs: 0,
            model_calls: 0,
            tokens: 0,
            micros: 0,
        }
    }

    /// Sets the runs.
    #[must_use]
    pub const fn with_runs(mut self, runs: u64) -> Self {
        self.runs = runs;
        self
    }

    /// Sets the calls of models.
    #[must_use]
    pub const fn with_model_calls(mut self, calls: u64) -> Self {
        self.model_calls = calls;
        self
    }

    /// Sets the tokens.
    #[must_use]
    pub const fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = tokens;
        self
    }

    /// Sets the money, in millionths of the currency's unit.
    #[must_use]
    pub const fn with_micros(mut self, micros: u64) -> Self {
        self.micros = micros;
        self
    }

    /// Returns the amount of a resource; money in millionths.
    pub const fn of(&self, resource: QuotaResource) -> u64 {
        match resource {
            QuotaResource::Runs => self.runs,
            QuotaResource::ModelCalls => self.model_calls,
            QuotaResource::Tokens => self.tokens,
            QuotaResource::Money => self.micros,
        }
    }

    /// Returns whether all amounts are zero.
    pub fn is_zero(&self) -> bool {
        *self == Self::new()
    }

    /// Adds another amount. Sums saturate.
    pub fn add(&mut self, other: &Self) {
        *self = self.combine(other, u64::saturating_add);
    }

    /// Returns by how much this exceeds an earlier amount; zero for resources in which it does not.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.combine(earlier, u64::saturating_sub)
    }

    fn combine(&self, other: &Self, combine: fn(u64, u64) -> u64) -> Self {
        Self {
            runs: combine(self.runs, other.runs),
            model_calls: combine(self.model_calls, other.model_calls),
            tokens: combine(self.tokens, other.tokens),
            micros: combine(self.micros, other.micros),
        }
    }
}
