//! [`price_line`]: prices of messages from lines of JSON.

use std::time::SystemTime;

use agcore_chat::Amount;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{billed_call::BilledCall, message_bill::bill, provider_cost::ProviderCost};
use crate::{
    currency::Currency,
    price::{
        call_usage::CallUsage,
        model_price::ModelPrice,
        price_list::PriceList,
        rate::Rate,
        tiers::{Tier, TierTable},
    },
    problem::{Problem, joined},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question<'q> {
    id: String,
    session_currency: String,
    #[serde(borrow)]
    prices: Vec<PriceRow<'q>>,
    calls: Vec<CallRow<'q>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceRow<'q> {
    model: String,
    currency: String,
    #[serde(borrow)]
    tiers: Vec<TierRow<'q>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TierRow<'q> {
    max_prompt_tokens: Option<u64>,
    #[serde(borrow)]
    input: &'q RawValue,
    output: &'q RawValue,
    hit: Option<&'q RawValue>,
    write: Option<&'q RawValue>,
    write_long: Option<&'q RawValue>,
    reasoning: Option<&'q RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallRow<'q> {
    model: String,
    usage: Option<CallUsage>,
    #[serde(borrow)]
    provider_cost: Option<&'q RawValue>,
    provider_currency: Option<String>,
}

/// The answer to a line: the cost of a message, or an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PriceLine {
    /// The id of the message, if the line has one.
    pub id: Option<String>,
    /// The cost with six decimals; `None` if it is unknown.
    pub cost: Option<String>,
    /// The currency of the session.
    pub currency: Option<String>,
    /// The source of the cost; see [`CostSource`](agcore_chat::CostSource).
    pub cost_source: Option<String>,
    /// For each call, the position of the tier that priced it, from 0; `None` if no table priced the call.
    pub tiers: Vec<Option<usize>>,
    /// The reason why the cost cannot be computed.
    pub error: Option<String>,
}

/// Computes the cost of a message that is described by a line of JSON, with the prices that apply to it.
///
/// The line is an object `{id, session_currency, prices, calls}`. A price is `{model, currency, tiers}`, a tier
/// `{max_prompt_tokens, input, output, hit?, write?, write_long?, reasoning?}` with rates per million tokens as decimal texts. A
/// call is `{model, usage, provider_cost, provider_currency}`.
///
/// ```
/// use agcore_catalog::price_line;
///
/// let line = r#"{"id": "m1", "session_currency": "CNY",
///     "prices": [{"model": "m", "currency": "CNY", "tiers": [{"max_prompt_tokens": null, "input": "2", "output": "3"}]}],
///     "calls": [{"model": "m", "usage": {"prompt_tokens": 500, "completion_tokens": 100}, "provider_cost": null}]}"#;
/// let answer = price_line(line);
/// assert_eq!(answer.cost.as_deref(), Some("0.001300"));
/// assert_eq!(answer.cost_source.as_deref(), Some("catalog_fallback"));
/// assert!(price_line("{}").error.is_some());
/// ```
///
/// Errors are part of the answer, so that a program can continue with the next line.
pub fn price_line(line: &str) -> PriceLine {
    match serde_json::from_str::<Question<'_>>(line) {
        Ok(question) => answer(&question),
        Err(error) => PriceLine {
            id: id_of(line),
            error: Some(format!("the line cannot be read: {error}")),
            ..PriceLine::empty()
        },
    }
}

impl PriceLine {
    fn empty() -> Self {
        Self {
            id: None,
            cost: None,
            currency: None,
            cost_source: None,
            tiers: Vec::new(),
            error: None,
        }
    }
}

/// Returns the id of a line whose other members are wrong.
fn id_of(line: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Id {
        id: String,
    }
    serde_json::from_str::<Id>(line).ok().map(|line| line.id)
}

fn answer(question: &Question<'_>) -> PriceLine {
    let id = Some(question.id.clone());
    let failed = |currency: Option<Currency>, error: String| PriceLine {
        id: id.clone(),
        currency: currency.map(|currency| currency.to_string()),
        error: Some(error),
        ..PriceLine::empty()
    };
    let currency = match Currency::parse("session_currency", &question.session_currency) {
        Ok(currency) => currency,
        Err(problem) => return failed(None, problem.to_string()),
    };
    let prices = match prices(&question.prices) {
        Ok(prices) => prices,
        Err(problems) => return failed(Some(currency), joined(&problems)),
    };
    let calls = match question.calls.iter().map(call).collect::<Result<Vec<_>, _>>() {
        Ok(calls) => calls,
        Err(error) => return failed(Some(currency), format!("message {:?}: {error}", question.id)),
    };
    match bill(&question.id, currency, &calls, &prices) {
        Err(error) => failed(Some(currency), error.to_string()),
        Ok(bill) => PriceLine {
            cost: bill.cost.map(Amount::to_six_decimals),
            currency: Some(currency.to_string()),
            cost_source: Some(bill.source.to_string()),
            tiers: bill.tiers,
            ..PriceLine {
                id,
                ..PriceLine::empty()
            }
        },
    }
}

fn prices(rows: &[PriceRow<'_>]) -> Result<PriceList, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut prices = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let at = format!("prices[{index}]");
        match price(row) {
            Ok(price) => prices.push(price),
            Err(wrong) => problems.extend(wrong.into_iter().map(|problem| problem.below(&at))),
        }
    }
    if problems.is_empty() {
        PriceList::new(prices)
    } else {
        Err(problems)
    }
}

fn price(row: &PriceRow<'_>) -> Result<ModelPrice, Vec<Problem>> {
    let mut problems = Vec::new();
    let currency = Currency::parse("currency", &row.currency);
    let mut tiers = Vec::new();
    for (index, tier) in row.tiers.iter().enumerate() {
        let mut rate = |name: &str, value: Option<&RawValue>| {
            let field = format!("tiers[{index}].{name}");
            let rate = value.map(|value| Rate::parse(&field, &decimal(value))).transpose();
            rate.unwrap_or_else(|problem| {
                problems.push(problem);
                None
            })
        };
        let (input, output) = (rate("input", Some(tier.input)), rate("output", Some(tier.output)));
        let mut read = Tier::new(tier.max_prompt_tokens, input.unwrap_or_default(), output);
        read.hit = rate("hit", tier.hit).unwrap_or_default();
        read.write = rate("write", tier.write).unwrap_or_default();
        read.write_long = rate("write_long", tier.write_long).unwrap_or_default();
        read.reasoning = rate("reasoning", tier.reasoning).unwrap_or_default();
        tiers.push(read);
    }
    let table = TierTable::new(tiers);
    match (currency, table) {
        (Ok(currency), Ok(table)) if problems.is_empty() => Ok(ModelPrice::new(row.model.as_str(), currency, table)),
        (currency, table) => {
            problems.extend(currency.err());
            problems.extend(table.err().unwrap_or_default());
            Err(problems)
        }
    }
}

fn call(row: &CallRow<'_>) -> Result<BilledCall, String> {
    let mut call = BilledCall::new(row.model.as_str(), SystemTime::UNIX_EPOCH);
    call.usage = row.usage;
    if let Some(cost) = row.provider_cost.filter(|cost| cost.get() != "null") {
        let cost = ProviderCost::parse(&decimal(cost), row.provider_currency.as_deref());
        call.provider_cost =
            cost.map_err(|error| format!("the cost that the provider reported cannot be used: {error}"))?;
    }
    Ok(call)
}

/// Returns the text of a number, or of a string that may hold one. Anything else stays as it is, and is not a number.
fn decimal(value: &RawValue) -> String {
    serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| value.get().to_owned())
}
