//! The cost of a reply, which some servers report next to the tokens, under names and in units of their own.

use std::borrow::Cow;

use agcore_chat::{Amount, ReportedCost};
#[cfg(feature = "anthropic")]
use serde_json::{Map, Value};

use super::json::JsonReader;

/// The currency of all vendors that report a cost.
const CURRENCY: &str = "USD";

/// The members of a usage object that report a cost, as JSON text: a number is read with all of its digits.
///
/// | vendor | member |
/// |---|---|
/// | OpenRouter | `cost` in dollars; with `is_byok` only its own fee, next to `cost_details.upstream_inference_cost` |
/// | xAI | `cost_in_usd_ticks`, of which a dollar has 10^10 (docs.x.ai, "Cost tracking") |
/// | Perplexity | `cost.total_cost` in dollars |
/// | DeepInfra | `estimated_cost` in dollars |
#[derive(Debug, Default)]
pub(crate) struct CostMembers<'a> {
    cost: Option<Cow<'a, str>>,
    ticks: Option<Cow<'a, str>>,
    estimated: Option<Cow<'a, str>>,
    details: Option<Cow<'a, str>>,
    is_own_key: bool,
}

impl<'a> CostMembers<'a> {
    /// Keeps a member if it is one of these.
    pub(crate) fn keep(&mut self, name: &str, text: impl Into<Cow<'a, str>>) {
        let place = match name {
            "cost" => &mut self.cost,
            "cost_in_usd_ticks" => &mut self.ticks,
            "estimated_cost" => &mut self.estimated,
            "cost_details" => &mut self.details,
            "is_byok" => return self.is_own_key = text.into() == "true",
            _ => return,
        };
        *place = Some(text.into()).filter(|text| text != "null");
    }

    /// Reads the members of an object.
    pub(crate) fn of_object(text: &'a str) -> Self {
        let mut found = Self::default();
        for name in ["cost", "cost_in_usd_ticks", "estimated_cost", "cost_details", "is_byok"] {
            if let Some(member) = member(text, name) {
                found.keep(name, member);
            }
        }
        found
    }

    /// Takes the members of an object that was parsed: numbers have as many digits as a float.
    #[cfg(feature = "anthropic")]
    pub(crate) fn of_values(members: &Map<String, Value>) -> CostMembers<'static> {
        let mut found = CostMembers::default();
        for (name, value) in members {
            found.keep(name, value.to_string());
        }
        found
    }

    /// Returns the cost, if one was reported.
    pub(crate) fn cost(&self) -> Option<ReportedCost> {
        let amount = if let Some(ticks) = &self.ticks {
            let is_count = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            let ticks = unquoted(ticks).filter(|ticks| is_count(ticks));
            ticks.and_then(|ticks| Amount::parse_rounded(&format!("{ticks}e-10")).ok())
        } else if let Some(cost) = &self.cost {
            match cost.starts_with('{') {
                true => amount(member(cost, "total_cost").filter(|total| *total != "null")?),
                false => self.with_upstream(amount(cost)),
            }
        } else {
            amount(self.estimated.as_ref()?)
        };
        Some(match amount {
            Some(amount) => ReportedCost::new(amount, CURRENCY),
            None => ReportedCost::unusable(CURRENCY),
        })
    }

    /// Adds what the vendor behind a router charges to the caller's own key.
    fn with_upstream(&self, fee: Option<Amount>) -> Option<Amount> {
        let details = self.details.as_ref().filter(|_| self.is_own_key);
        match details.and_then(|details| member(details, "upstream_inference_cost")) {
            Some(upstream) if upstream != "null" => {
                let upstream = amount(upstream).filter(|amount| !amount.is_negative());
                fee?.checked_add(upstream?)
            }
            _ => fee,
        }
    }
}

/// Reads a number, or a text that contains only one. Decimals after the 24th are rounded.
fn amount(json: &str) -> Option<Amount> {
    Amount::parse_rounded(&unquoted(json)?).ok()
}

/// Returns a number as it is, and the content of a text.
fn unquoted(json: &str) -> Option<Cow<'_, str>> {
    match json.starts_with('"') {
        true => serde_json::from_str(json).ok().map(Cow::Owned),
        false => Some(Cow::Borrowed(json)),
    }
}

/// Returns the text of a member of an object, if there is one.
fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let mut json = JsonReader::from_bytes(object.as_bytes()).ok()?;
    let mut members = json.object("an object with a cost").ok()?;
    while let Some(found) = json.next_name(&mut members).ok()? {
        let value = json.raw().ok()?;
        if found == name {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `-` is a cost that is unusable.
    #[track_caller]
    fn check(usage: &str, expected: Option<&str>) {
        let expected = expected.map(|text| match text {
            "-" => ReportedCost::unusable(CURRENCY),
            amount => ReportedCost::new(amount.parse().unwrap(), CURRENCY),
        });
        assert_eq!(CostMembers::of_object(usage).cost(), expected, "{usage}");
    }

    #[test]
    fn reads_each_vendors_cost_exactly() {
        for (usage, amount) in [
            (
                r#"{"cost": 0.0195, "is_byok": false, "cost_details": {"upstream_inference_cost": 0.5}}"#,
                "0.0195",
            ),
            (r#"{"cost": 1.13e-05}"#, "0.0000113"),
            (r#"{"cost": 0.1234567890123456789012}"#, "0.1234567890123456789012"),
            (r#"{"cost": 0}"#, "0"),
            (r#"{"cost": "0.25"}"#, "0.25"),
            (
                r#"{"is_byok": true, "cost_details": {"upstream_inference_cost": 0.02}, "cost": 0.001}"#,
                "0.021",
            ),
            (r#"{"cost": 0.001, "is_byok": true, "cost_details": null}"#, "0.001"),
            (r#"{"cost_in_usd_ticks": 37756001}"#, "0.0037756001"),
            (
                r#"{"cost": {"input_tokens_cost": 0.001, "total_cost": 0.006}}"#,
                "0.006",
            ),
            (r#"{"estimated_cost": 0.00025, "cost": null}"#, "0.00025"),
            // Half to even.
            (r#"{"cost": 1.0000000000000000000000025}"#, "1.000000000000000000000002"),
        ] {
            check(usage, Some(amount));
        }
    }

    #[test]
    fn a_cost_that_is_no_amount_is_unusable() {
        for usage in [
            r#"{"cost": "free"}"#,
            r#"{"cost": ""}"#,
            r#"{"cost": true}"#,
            r#"{"cost": [1]}"#,
            r#"{"cost": -1}"#,
            r#"{"cost": 1e300}"#,
            r#"{"cost": {"total_cost": "much"}}"#,
            r#"{"cost_in_usd_ticks": "many"}"#,
            r#"{"cost_in_usd_ticks": -5}"#,
            r#"{"cost": 1, "is_byok": true, "cost_details": {"upstream_inference_cost": -2}}"#,
        ] {
            check(usage, Some("-"));
        }
    }

    #[test]
    fn a_cost_that_is_missing_was_not_reported() {
        for usage in [
            "{}",
            r#"{"cost": null}"#,
            r#"{"cost": {"requests": 1}}"#,
            r#"{"cost": {"total_cost": null}}"#,
            r#"{"is_byok": true, "cost_details": {"upstream_inference_cost": 1}}"#,
            "[]",
        ] {
            check(usage, None);
        }
    }
}
