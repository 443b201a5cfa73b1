//! The cost of a reply, which some servers report next to the tokens, under names and in units of their own.

use agcore_chat::Money;
use serde_json::Value;

/// The currency of all vendors that report a cost.
const CURRENCY: &str = "USD";

/// The ticks of xAI in a millionth of a dollar: a dollar has 10^10 (docs.x.ai, "Cost tracking").
const TICKS_PER_MICRO: u64 = 10_000;

/// Returns the cost that the members of a usage object report.
///
/// | vendor | member |
/// |---|---|
/// | OpenRouter | `cost` in dollars; with `is_byok` only its own fee, next to `cost_details.upstream_inference_cost` |
/// | xAI | `cost_in_usd_ticks` |
/// | Perplexity | `cost.total_cost` in dollars |
/// | DeepInfra | `estimated_cost` in dollars |
pub(crate) fn read<'a>(member: impl Fn(&str) -> Option<&'a Value>) -> Option<Money> {
    let ticks = || {
        let ticks = member("cost_in_usd_ticks")?.as_u64()?;
        i64::try_from(ticks.saturating_add(TICKS_PER_MICRO / 2) / TICKS_PER_MICRO).ok()
    };
    let dollars = || match member("cost")? {
        Value::Object(parts) => micros(parts.get("total_cost")?),
        total => Some(micros(total)?.saturating_add(upstream(&member))),
    };
    let estimated = || micros(member("estimated_cost")?);
    let amount = ticks().or_else(dollars).or_else(estimated)?;
    Some(Money::from_micros(amount, CURRENCY))
}

/// Returns what the vendor behind a router charges to the caller's own key.
fn upstream<'a>(member: &impl Fn(&str) -> Option<&'a Value>) -> i64 {
    let is_own_key = member("is_byok").and_then(Value::as_bool) == Some(true);
    let details = member("cost_details").filter(|_| is_own_key);
    let cost = details.and_then(|details| details.get("upstream_inference_cost"));
    cost.and_then(micros).unwrap_or_default()
}

/// Converts dollars to millionths, rounded to the nearest one.
fn micros(dollars: &Value) -> Option<i64> {
    let micros = (dollars.as_f64()? * 1e6).round();
    // The largest integer up to which a float is exact.
    (0.0..=9_007_199_254_740_992.0)
        .contains(&micros)
        .then_some(micros as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(usage: Value, expected: Option<i64>) {
        let found = read(|name| usage.get(name)).map(|money| (money.micros, money.currency.to_string()));
        assert_eq!(found, expected.map(|micros| (micros, CURRENCY.to_owned())), "{usage}");
    }

    #[test]
    fn reads_each_vendors_cost() {
        check(
            json!({"cost": 0.0195, "is_byok": false, "cost_details": {"upstream_inference_cost": 0.5}}),
            Some(19_500),
        );
        check(json!({"cost": 1.13e-05}), Some(11));
        check(json!({"cost": 0}), Some(0));
        check(
            json!({"cost": 0.001, "is_byok": true, "cost_details": {"upstream_inference_cost": 0.02}}),
            Some(21_000),
        );
        check(json!({"cost_in_usd_ticks": 37_756_000}), Some(3776));
        check(
            json!({"cost": {"input_tokens_cost": 0.001, "total_cost": 0.006}}),
            Some(6000),
        );
        check(json!({"estimated_cost": 0.000_25}), Some(250));
    }

    #[test]
    fn a_cost_that_is_no_amount_is_unknown() {
        for usage in [
            json!({}),
            json!({"cost": null}),
            json!({"cost": "free"}),
            json!({"cost": -1}),
            json!({"cost": 1e300}),
            json!({"cost": {"requests": 1}}),
            json!({"cost_in_usd_ticks": "many"}),
        ] {
            check(usage, None);
        }
    }
}
