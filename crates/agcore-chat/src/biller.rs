//! [`Biller`]: computes what a message costs. [`Bill`] and [`CallCost`]: what it has computed.

use serde::{Deserialize, Serialize};

use crate::{
    cost::{billing::UsageSummary, money::Money},
    reply::model_call::ModelCall,
    small_text::Text,
};

/// The cost of the model calls of a message. It is kept with the message, so that reports do not depend on prices of a later day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Bill {
    /// The cost of the message with six decimals; `None` if it is unknown, which is not the same as 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// The usage of all calls together.
    pub usage: UsageSummary,
    /// The calls, in the order in which they were made. Their costs add up to that of the message.
    pub calls: Vec<CallCost>,
}

/// The cost of a model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallCost {
    /// The provider that answered.
    pub provider: Text,
    /// The model that answered.
    pub model: Text,
    /// The label of the API key; never the key itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Text>,
    /// The version of the price, for audits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_version: Option<Text>,
    /// The prompt tokens, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// The generated tokens, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// The part of the message's cost that this call caused; `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
}

/// Computes what messages cost, from their model calls. agcore-catalog has the one that uses the prices of a catalog.
///
/// ```
/// use agcore_chat::{Bill, Biller, BillingFault, CallCost, ModelCall, Money};
///
/// /// A cent for each call.
/// #[derive(Debug)]
/// struct Flat;
///
/// impl Biller for Flat {
///     fn bill(&self, _: &str, currency: Option<&str>, calls: &[ModelCall]) -> Result<Bill, BillingFault> {
///         let cent = Money::from_micros(10_000, currency.unwrap_or("EUR"));
///         let mut bill = Bill::default();
///         bill.calls = calls.iter().map(|call| CallCost::new(call).with_cost(cent.clone())).collect();
///         bill.cost = Some(Money::from_micros(10_000 * calls.len() as i64, cent.currency));
///         Ok(bill)
///     }
/// }
/// # assert_eq!(Flat.bill("m", None, &[]).unwrap().cost.unwrap().micros, 0);
/// ```
pub trait Biller: Send + Sync + std::fmt::Debug {
    /// Returns what the calls of a message cost. `currency` is that of the session, as an ISO 4217 code; `None` if the session
    /// has none, so that only costs that the provider reports can be known.
    ///
    /// # Errors
    /// The cost cannot be computed, for example because it does not fit. Nothing is cut or wrapped.
    fn bill(&self, message: &str, currency: Option<&str>, calls: &[ModelCall]) -> Result<Bill, BillingFault>;
}

/// A message whose cost cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the cost of the message {message:?} cannot be computed: {reason}")]
#[non_exhaustive]
pub struct BillingFault {
    /// The id of the message.
    pub message: String,
    /// The reason, and what to do next.
    pub reason: String,
}

impl CallCost {
    /// Creates the record of a call whose cost is unknown.
    pub fn new(call: &ModelCall) -> Self {
        let usage = call.usage.as_ref();
        Self {
            provider: call.route.provider.clone(),
            model: call.route.model.clone(),
            key: call.route.key.clone(),
            price_version: None,
            input_tokens: usage.and_then(|usage| usage.prompt_tokens),
            output_tokens: usage.and_then(|usage| usage.completion_tokens),
            cost: None,
        }
    }

    /// Sets the cost.
    #[must_use]
    pub fn with_cost(mut self, cost: Money) -> Self {
        self.cost = Some(cost);
        self
    }
}

impl BillingFault {
    /// Creates the fault of a message.
    pub fn new(message: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            reason: reason.into(),
        }
    }
}

impl<B: Biller + ?Sized> Biller for std::sync::Arc<B> {
    fn bill(&self, message: &str, currency: Option<&str>, calls: &[ModelCall]) -> Result<Bill, BillingFault> {
        (**self).bill(message, currency, calls)
    }
}
