//! The [`UsageSummary`] of the calls of a message.

use agcore_chat::{Amount, UsageSummary};

use super::billed_call::BilledCall;
use crate::{currency::Currency, price::call_usage::CallUsage};

/// Adds the usage of all calls, or returns `None` if the reported costs do not fit.
pub(super) fn summarize(calls: &[BilledCall], currency: Currency) -> Option<UsageSummary> {
    let mut summary = UsageSummary::default();
    let usages: Vec<CallUsage> = calls.iter().filter_map(|call| call.usage).collect();
    let sum = |counter: fn(&CallUsage) -> Option<u64>| {
        let known = usages.iter().filter_map(counter);
        known.reduce(u64::saturating_add)
    };
    summary.input_tokens = sum(|usage| usage.sides().0);
    summary.output_tokens = sum(|usage| usage.sides().1);
    summary.total_tokens = sum(|usage| {
        let (prompt, completion) = usage.sides();
        usage.total_tokens.or_else(|| Some(prompt?.saturating_add(completion?)))
    });
    summary.cached_prompt_tokens = sum(CallUsage::cached);
    summary.prompt_cache_hit_tokens = sum(|usage| usage.prompt_cache_hit_tokens);
    summary.prompt_cache_miss_tokens = sum(|usage| usage.prompt_cache_miss_tokens);
    summary.reasoning_tokens = sum(|usage| usage.reasoning_tokens);
    summary.latency_ms = calls
        .iter()
        .filter_map(|call| call.latency_ms)
        .reduce(u64::saturating_add);
    summary.model_call_records = count(calls.len());
    summary.usage_records = count(calls.iter().filter(|call| call.is_record()).count());

    let usable: Vec<Amount> = calls
        .iter()
        .filter_map(|call| call.provider_cost.usable_in(currency))
        .collect();
    let total = usable
        .iter()
        .try_fold(Amount::ZERO, |sum, cost| sum.checked_add(*cost))?;
    summary.direct_cost = (!usable.is_empty()).then_some(total);
    summary.direct_cost_observed = calls.iter().any(|call| call.provider_cost.is_seen());
    summary.direct_cost_complete = !calls.is_empty() && usable.len() == calls.len();
    summary.direct_cost_records = count(usable.len());
    Some(summary)
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
