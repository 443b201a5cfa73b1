//! [`CostTotals`]: the sum of what messages cost. [`CostEntry`]: one model call of a report.

use std::{collections::BTreeMap, sync::Arc};

use agcore_chat::{CallCost, Money, Text, Timestamp};

use super::message::StoredMessage;

/// The sum of model calls: their tokens and what they cost. Amounts of different currencies are never added.
///
/// ```
/// use agcore_chat::Money;
/// use agcore_session::{CostEntry, CostTotals, MessageRole, NewMessage, Timestamp};
///
/// let reply = NewMessage::new("m1", MessageRole::Assistant, "Hello").with_cost(Money::from_micros(1_250, "USD"));
/// let mut totals = CostTotals::default();
/// for entry in CostEntry::of(&reply.store(1, Timestamp::default())) {
///     totals.add(&entry);
/// }
/// assert_eq!(totals.costs().next().unwrap(), ("USD", "0.001250".to_owned()));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CostTotals {
    /// The number of model calls.
    pub calls: u64,
    /// The number of calls without a known cost. They are not contained in the amounts.
    pub unpriced_calls: u64,
    /// The number of calls whose usage is unknown: they broke off, or their process ended. They may have been charged.
    pub incomplete_calls: u64,
    /// The prompt tokens that are known.
    pub input_tokens: u64,
    /// The generated tokens that are known.
    pub output_tokens: u64,
    /// The prompt tokens that were read from a cache.
    pub cached_tokens: u64,
    /// The part of the time of the calls that is known, in milliseconds.
    pub latency_ms: u64,
    /// The amount of each currency, in millionths of its unit.
    micros: BTreeMap<Arc<str>, i128>,
}

/// A model call of a stored message, for a report.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CostEntry {
    /// The provider that answered; empty if it was not recorded.
    pub provider: Text,
    /// The model that answered; empty if it was not recorded.
    pub model: Text,
    /// The label of the API key.
    pub key: Option<Text>,
    /// The version of the price.
    pub price_version: Option<Text>,
    /// The time at which the message was stored.
    pub at: Timestamp,
    /// The cost; `None` if it is unknown.
    pub cost: Option<Money>,
    /// Whether the usage of the call is unknown, because it broke off or its process ended.
    pub is_incomplete: bool,
    /// The prompt tokens, if they are known.
    pub input_tokens: Option<u64>,
    /// The generated tokens, if they are known.
    pub output_tokens: Option<u64>,
    /// The prompt tokens that were read from a cache; those of the whole message are with its last call.
    pub cached_tokens: Option<u64>,
    /// The time that the calls of the message took, in milliseconds; it is with the last one.
    pub latency_ms: Option<u64>,
}

impl CostEntry {
    /// Returns the model calls of a message. A message without a bill, but with usage or a cost, counts as one call of an unknown
    /// model.
    pub fn of(message: &StoredMessage) -> Vec<Self> {
        let at = message.created_at;
        let Some(bill) = &message.bill else {
            let is_call = message.usage.is_some() || message.cost.is_some();
            return is_call.then(|| Self::without_bill(message)).into_iter().collect();
        };
        let usage = &bill.usage;
        let is_known = usage.model_call_records > 0 && usage.usage_records >= usage.model_call_records;
        let mut entries: Vec<Self> = bill
            .calls
            .iter()
            .map(|call| Self {
                is_incomplete: !is_known && has_unknown_usage(call),
                ..Self::of_call(call, at)
            })
            .collect();
        if let Some(last) = entries.last_mut() {
            last.cached_tokens = bill.usage.cached_prompt_tokens;
            last.latency_ms = bill.usage.latency_ms;
        }
        entries
    }

    fn of_call(call: &CallCost, at: Timestamp) -> Self {
        Self {
            provider: call.provider.clone(),
            model: call.model.clone(),
            key: call.key.clone(),
            price_version: call.price_version.clone(),
            at,
            cost: call.cost.clone(),
            is_incomplete: false,
            input_tokens: call.input_tokens,
            output_tokens: call.output_tokens,
            cached_tokens: None,
            latency_ms: None,
        }
    }

    fn without_bill(message: &StoredMessage) -> Self {
        let usage = message.usage.as_ref();
        Self {
            provider: Text::default(),
            model: Text::default(),
            key: None,
            price_version: None,
            at: message.created_at,
            cost: message.cost.clone(),
            is_incomplete: false,
            input_tokens: usage.and_then(|usage| usage.prompt_tokens),
            output_tokens: usage.and_then(|usage| usage.completion_tokens),
            cached_tokens: usage.and_then(agcore_chat::Usage::cached),
            latency_ms: None,
        }
    }
}

/// Returns whether nothing is known of what a call has used.
fn has_unknown_usage(call: &CallCost) -> bool {
    call.input_tokens.is_none() && call.output_tokens.is_none() && call.cost.is_none()
}

impl CostTotals {
    /// Adds a call.
    pub fn add(&mut self, entry: &CostEntry) {
        let sum = |sum: &mut u64, part: Option<u64>| *sum = sum.saturating_add(part.unwrap_or(0));
        self.calls += 1;
        self.unpriced_calls += u64::from(entry.cost.is_none());
        self.incomplete_calls += u64::from(entry.is_incomplete);
        sum(&mut self.input_tokens, entry.input_tokens);
        sum(&mut self.output_tokens, entry.output_tokens);
        sum(&mut self.cached_tokens, entry.cached_tokens);
        sum(&mut self.latency_ms, entry.latency_ms);
        if let Some(cost) = &entry.cost {
            // Sums of 64-bit amounts: this many cannot be stored.
            *self.micros.entry(Arc::clone(&cost.currency)).or_default() += i128::from(cost.micros);
        }
    }

    /// Returns the currencies in alphabetical order, each with its amount as a decimal number with six decimals.
    pub fn costs(&self) -> impl Iterator<Item = (&str, String)> {
        self.micros.iter().map(|(currency, micros)| {
            let (sign, micros) = (if *micros < 0 { "-" } else { "" }, micros.unsigned_abs());
            let amount = format!("{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000);
            (&**currency, amount)
        })
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::{AnsweredBy, Bill, CostSource, ModelCall, Usage};

    use super::*;
    use crate::session::{MessageRole, NewMessage};

    fn message() -> NewMessage {
        NewMessage::new("m", MessageRole::Assistant, "")
    }

    fn call(model: &str, cost: Option<Money>) -> CallCost {
        let call = ModelCall::new(AnsweredBy::new("p", model), std::time::SystemTime::UNIX_EPOCH);
        let mut call = CallCost::new(&call.with_usage(Usage::new(10, 2)));
        call.cost = cost;
        call
    }

    fn totals(messages: impl IntoIterator<Item = NewMessage>) -> CostTotals {
        let mut totals = CostTotals::default();
        for message in messages {
            let entries = CostEntry::of(&message.store(1, Timestamp::default()));
            entries.iter().for_each(|entry| totals.add(entry));
        }
        totals
    }

    #[test]
    fn currencies_are_not_added() {
        let totals = totals([
            message().with_cost(Money::from_micros(i64::MAX, "USD")),
            message().with_cost(Money::from_micros(i64::MAX, "USD")),
            message().with_cost(Money::from_micros(3, "CNY")),
        ]);
        let costs: Vec<_> = totals.costs().collect();
        assert_eq!(
            costs,
            [
                ("CNY", "0.000003".to_owned()),
                ("USD", "18446744073709.551614".to_owned())
            ]
        );
    }

    #[test]
    fn each_call_without_usage_is_counted_whether_it_has_a_price_or_not() {
        let lost = CallCost::new(&ModelCall::new(
            AnsweredBy::new("p", "a"),
            std::time::SystemTime::UNIX_EPOCH,
        ));
        let of_source = |source| {
            let mut bill = Bill::default();
            bill.calls = vec![call("a", None), lost.clone(), lost.clone()];
            (bill.usage.model_call_records, bill.usage.usage_records) = (3, 1);
            bill.usage.cost_source = source;
            totals([message().with_bill(bill)])
        };
        for source in [
            None,
            Some(CostSource::IncompleteUsageFallback),
            Some(CostSource::Unpriced),
        ] {
            let totals = of_source(source);
            assert_eq!((totals.calls, totals.incomplete_calls), (3, 2), "{source:?}");
        }
    }

    #[test]
    fn calls_without_a_price_are_counted() {
        let mut bill = Bill::default();
        bill.calls = vec![call("a", Some(Money::from_micros(5, "CNY"))), call("b", None)];
        bill.usage.cached_prompt_tokens = Some(4);
        let totals = totals([
            message().with_bill(bill),
            message().with_usage(Usage::new(7, 1)),
            message(),
        ]);
        assert_eq!(
            (totals.calls, totals.unpriced_calls, totals.incomplete_calls),
            (3, 2, 0)
        );
        assert_eq!(
            (totals.input_tokens, totals.output_tokens, totals.cached_tokens),
            (27, 5, 4)
        );
    }
}
