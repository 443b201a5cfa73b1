//! The data of billing: [`BillingProfile`], [`CostSource`] and [`UsageSummary`]. agcore-catalog computes them.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::cost::amount::Amount;

/// The currency and country of a session, fixed when it is created: later changes of the user's profile do not affect it.
///
/// ```
/// use agcore_chat::BillingProfile;
///
/// let billing = BillingProfile::new("CNY", "CN");
/// assert_eq!(serde_json::to_string(&billing)?, r#"{"currency":"CNY","country":"CN"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BillingProfile {
    /// The ISO 4217 code of the currency.
    pub currency: Arc<str>,
    /// The ISO 3166-1 code of the country, with two letters.
    pub country: Arc<str>,
}

impl BillingProfile {
    /// Creates a profile. The codes are not checked here.
    pub fn new(currency: impl Into<Arc<str>>, country: impl Into<Arc<str>>) -> Self {
        Self {
            currency: currency.into(),
            country: country.into(),
        }
    }
}

/// The source of the cost of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CostSource {
    /// Every call reported a valid cost in the currency of the session.
    Provider,
    /// The price table; no call reported a cost.
    CatalogFallback,
    /// The price table; only some calls reported a cost, or one that cannot be used.
    CatalogFallbackIncompleteProviderCost,
    /// The price table, for the part of the usage that is known.
    IncompleteUsageFallback,
    /// A model without a price in the currency of the session was called, so the cost is unknown.
    Unpriced,
}

impl CostSource {
    /// Returns the name as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::CatalogFallback => "catalog_fallback",
            Self::CatalogFallbackIncompleteProviderCost => "catalog_fallback_incomplete_provider_cost",
            Self::IncompleteUsageFallback => "incomplete_usage_fallback",
            Self::Unpriced => "unpriced",
        }
    }
}

impl fmt::Display for CostSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The usage of all model calls of a message, kept with the message.
///
/// Counters that no call reported are `None`, never 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct UsageSummary {
    /// All prompt tokens.
    pub input_tokens: Option<u64>,
    /// All generated tokens.
    pub output_tokens: Option<u64>,
    /// All tokens.
    pub total_tokens: Option<u64>,
    /// The sum of the times that the model calls took, in milliseconds.
    pub latency_ms: Option<u64>,
    /// Prompt tokens that were read from a cache.
    pub cached_prompt_tokens: Option<u64>,
    /// Prompt tokens that were found in a cache, as vendors such as DeepSeek report them.
    pub prompt_cache_hit_tokens: Option<u64>,
    /// Prompt tokens that were not found in a cache.
    pub prompt_cache_miss_tokens: Option<u64>,
    /// Generated tokens that were reasoning.
    pub reasoning_tokens: Option<u64>,
    /// The exact sum of the usable costs that providers reported.
    pub direct_cost: Option<Amount>,
    /// Whether any call reported a cost.
    pub direct_cost_observed: bool,
    /// Whether every call reported a cost that can be used.
    pub direct_cost_complete: bool,
    /// The number of model calls.
    pub model_call_records: u64,
    /// The number of calls whose usage is known.
    pub usage_records: u64,
    /// The number of calls whose reported cost can be used.
    pub direct_cost_records: u64,
    /// The source of the cost of the message.
    pub cost_source: Option<CostSource>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_written_by_name() {
        for source in [
            CostSource::Provider,
            CostSource::CatalogFallback,
            CostSource::CatalogFallbackIncompleteProviderCost,
            CostSource::IncompleteUsageFallback,
            CostSource::Unpriced,
        ] {
            let json = serde_json::to_string(&source).unwrap();
            assert_eq!(json, format!("\"{source}\""));
            assert_eq!(serde_json::from_str::<CostSource>(&json).unwrap(), source);
        }
    }

    #[test]
    fn a_summary_survives_json() {
        let summary = UsageSummary {
            input_tokens: Some(7),
            direct_cost: "0.000000000001".parse().ok(),
            cost_source: Some(CostSource::Provider),
            ..UsageSummary::default()
        };
        let json = serde_json::to_string(&summary).unwrap();
        assert!(
            json.contains(r#""output_tokens":null"#) && json.contains(r#""direct_cost":"0.000000000001""#),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<UsageSummary>(&json).unwrap(), summary);
        assert_eq!(
            serde_json::from_str::<UsageSummary>("{}").unwrap(),
            UsageSummary::default()
        );
    }
}
