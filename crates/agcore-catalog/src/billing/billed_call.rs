//! [`BilledCall`]: a model call of a message, as billing sees it.

use std::time::SystemTime;

use agcore_chat::ChatResponse;

use super::provider_cost::ProviderCost;
use crate::price::call_usage::CallUsage;

/// A model call of a message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BilledCall {
    /// The provider that answered; empty if unknown.
    pub provider: String,
    /// The model that answered, which after a fallback is not the one that was asked for.
    pub model: String,
    /// The usage, if any was reported.
    pub usage: Option<CallUsage>,
    /// The cost that the provider reported.
    pub provider_cost: ProviderCost,
    /// The service class of the reply, or else of the request.
    pub service_class: Option<String>,
    /// The time at which the request was sent. The price in force at this time applies.
    pub sent_at: SystemTime,
    /// How long the call took, in milliseconds.
    pub latency_ms: Option<u64>,
}

impl BilledCall {
    /// Creates a call without usage.
    pub fn new(model: impl Into<String>, sent_at: SystemTime) -> Self {
        Self {
            provider: String::new(),
            model: model.into(),
            usage: None,
            provider_cost: ProviderCost::NotSeen,
            service_class: None,
            sent_at,
            latency_ms: None,
        }
    }

    /// Creates a call from its reply. `model` is the one that was asked for, in case the reply does not name the one that
    /// answered.
    pub fn from_response(response: &ChatResponse, model: &str, sent_at: SystemTime) -> Self {
        let answered_by = response.answered_by.as_ref();
        let answered = answered_by
            .map(|by| by.model.to_string())
            .filter(|model| !model.is_empty());
        let usage = response.usage.as_ref();
        Self {
            provider: answered_by.map(|by| by.provider.to_string()).unwrap_or_default(),
            usage: usage.map(CallUsage::from),
            provider_cost: ProviderCost::from(usage.and_then(|usage| usage.cost.as_ref())),
            service_class: response.service_tier.as_deref().map(str::to_owned),
            ..Self::new(answered.unwrap_or_else(|| model.to_owned()), sent_at)
        }
    }

    /// Sets the usage.
    #[must_use]
    pub fn with_usage(mut self, usage: CallUsage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the cost that the provider reported.
    #[must_use]
    pub fn with_provider_cost(mut self, cost: ProviderCost) -> Self {
        self.provider_cost = cost;
        self
    }

    /// Sets the service class.
    #[must_use]
    pub fn with_service_class(mut self, class: impl Into<String>) -> Self {
        self.service_class = Some(class.into());
        self
    }

    /// Sets how long the call took.
    #[must_use]
    pub fn with_latency_ms(mut self, latency: u64) -> Self {
        self.latency_ms = Some(latency);
        self
    }

    /// Returns whether the usage is complete.
    pub(super) fn is_record(&self) -> bool {
        self.usage.is_some_and(|usage| usage.is_record())
    }
}
