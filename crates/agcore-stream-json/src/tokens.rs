//! [`Tokens`] and [`Cost`] in machine-readable output.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counted tokens. Counters that the server did not report are null.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct Tokens {
    /// All tokens of the prompt, including those read from and written to a cache.
    pub input: Option<u64>,
    /// The part of the input that was read from a cache.
    pub cache_read: Option<u64>,
    /// The part of the input that was written to a cache.
    pub cache_write: Option<u64>,
    /// All generated tokens, including reasoning.
    pub output: Option<u64>,
    /// The part of the output that was reasoning.
    pub reasoning: Option<u64>,
}

/// The tokens of several model calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct UsageTotals {
    /// The tokens.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// The number of calls.
    pub calls: u64,
    /// Whether every call reported its tokens. Otherwise the sums are too low.
    pub complete: bool,
}

/// The cost of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct Cost {
    /// The amount as a decimal number; null if it is unknown, which is not the same as free of charge.
    pub amount: Option<String>,
    /// The currency's ISO 4217 code.
    pub currency: Option<String>,
    /// Whether this is the amount that the server reported, and not an estimate.
    pub exact: bool,
    /// The price table that an estimate is based on.
    pub price_table: Option<String>,
}
