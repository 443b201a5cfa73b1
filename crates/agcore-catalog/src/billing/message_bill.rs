//! [`bill`]: the cost of a message.

use agcore_chat::{Amount, CostSource, UsageSummary};

use super::{billed_call::BilledCall, summary::summarize};
use crate::{
    currency::Currency,
    price::{
        call_usage::CallUsage,
        price_list::{PriceKey, PriceList},
        quantities::Quantities,
    },
};

/// The largest cost of a message plus one millionth: databases keep 14 digits before the point.
const LIMIT: Amount = Amount::from_units(10_i128.pow(14 + 24));

/// The cost of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageBill {
    /// The cost with six decimals, rounded once; `None` if it is unknown, which is not the same as 0.
    pub cost: Option<Amount>,
    /// The currency, which is that of the session.
    pub currency: Currency,
    /// The source of the cost.
    pub source: CostSource,
    /// For each call, the position of the tier in the price table that priced it.
    pub tiers: Vec<Option<usize>>,
    /// For each call, the exact amount that it adds to the cost; `None` if it is unknown.
    pub parts: Vec<Option<Amount>>,
    /// For each call, the version of the price in the table that priced it, if it has one.
    pub price_versions: Vec<Option<String>>,
    /// The usage of all calls.
    pub summary: UsageSummary,
}

/// A message whose cost cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the cost of the message {id:?} cannot be computed: {reason}")]
#[non_exhaustive]
pub struct BillingError {
    /// The id of the message.
    pub id: String,
    /// The reason, and what to do next.
    pub reason: String,
}

/// Computes the cost of a message from its model calls.
///
/// The cost is the sum over the calls, each with its own model and tier, and is rounded once, to six decimals, half to even.
/// Amounts of providers and of price tables are never added, and nothing is exchanged. The source is the first of these that
/// applies:
///
/// | condition | source |
/// |---|---|
/// | usage of a call is unknown | the table: `incomplete_usage_fallback`, or `unpriced` |
/// | every call has a valid cost in the currency of the session | `provider` |
/// | a model has no price in the currency of the session | `unpriced`, and the cost is `None` |
/// | some calls have a cost, or one that cannot be used | the table: `catalog_fallback_incomplete_provider_cost` |
/// | no call has a cost | the table: `catalog_fallback` |
///
/// ```
/// use std::time::SystemTime;
///
/// use agcore_catalog::{BilledCall, CallUsage, Currency, ModelPrice, PriceList, Rate, Tier, TierTable, bill};
/// use agcore_chat::Usage;
///
/// let rate = |text| Rate::parse("rate", text).unwrap();
/// let mut tier = Tier::new(None, rate("2"), Some(rate("3")));
/// tier.hit = rate("0.2");
/// let tiers = TierTable::new(vec![tier]).unwrap();
/// let prices = PriceList::new([ModelPrice::new("deepseek-chat", Currency::CNY, tiers)]).unwrap();
///
/// let mut usage = Usage::new(1_200, 300);
/// usage.prompt_tokens_details.cached_tokens = Some(1_000);
/// let call = BilledCall::new("deepseek-chat", SystemTime::UNIX_EPOCH).with_usage(CallUsage::from(&usage));
/// let bill = bill("message-1", Currency::CNY, &[call], &prices)?;
/// assert_eq!(bill.cost.unwrap().to_six_decimals(), "0.001500");
/// # Ok::<(), agcore_catalog::BillingError>(())
/// ```
///
/// # Errors
/// Fails if an amount does not fit, or if a model generated tokens without a rate for output. Nothing is cut or wrapped.
pub fn bill(
    id: &str,
    currency: Currency,
    calls: &[BilledCall],
    prices: &PriceList,
) -> Result<MessageBill, BillingError> {
    let error = |reason: String| BillingError {
        id: id.to_owned(),
        reason,
    };
    let mut summary = summarize(calls, currency).ok_or_else(|| error(TOO_LARGE.to_owned()))?;
    let is_incomplete = summary.usage_records < summary.model_call_records;
    let mut parts = vec![TablePart::default(); calls.len()];
    let (cost, source) = if !is_incomplete && summary.direct_cost_complete {
        for (part, call) in parts.iter_mut().zip(calls) {
            part.amount = call.provider_cost.usable_in(currency);
        }
        (summary.direct_cost, CostSource::Provider)
    } else {
        let seen = summary.direct_cost_observed;
        let source = match (is_incomplete, seen) {
            (true, _) => CostSource::IncompleteUsageFallback,
            (false, true) => CostSource::CatalogFallbackIncompleteProviderCost,
            (false, false) => CostSource::CatalogFallback,
        };
        match from_table(calls, currency, prices, &mut parts).map_err(error)? {
            Table::Unpriced => (None, CostSource::Unpriced),
            Table::Cost(cost) => (cost, source),
        }
    };
    if cost.is_some_and(|cost| cost.rounded() >= LIMIT) {
        return Err(error(TOO_LARGE.to_owned()));
    }
    summary.cost_source = Some(source);
    Ok(MessageBill {
        cost: cost.map(Amount::rounded),
        currency,
        source,
        tiers: parts.iter().map(|part| part.tier).collect(),
        parts: parts.iter().map(|part| part.amount).collect(),
        price_versions: parts.into_iter().map(|part| part.version).collect(),
        summary,
    })
}

const TOO_LARGE: &str = "the amount does not fit into 14 digits before the point; check the usage and the rates";

/// The part of the price of a call that is known.
#[derive(Debug, Clone, Default)]
struct TablePart {
    tier: Option<usize>,
    amount: Option<Amount>,
    version: Option<String>,
}

enum Table {
    /// The cost, or `None` if nothing about the usage is known.
    Cost(Option<Amount>),
    /// A model has no price.
    Unpriced,
}

fn from_table(
    calls: &[BilledCall],
    currency: Currency,
    prices: &PriceList,
    parts: &mut [TablePart],
) -> Result<Table, String> {
    let find = |call: &BilledCall| {
        prices.find(&PriceKey {
            provider: &call.provider,
            model: &call.model,
            currency: Some(currency),
            service_class: call.service_class.as_deref(),
            at: call.sent_at,
        })
    };
    let Some(found) = calls.iter().map(find).collect::<Option<Vec<_>>>() else {
        return Ok(Table::Unpriced);
    };
    // A message without calls costs nothing; one whose calls are all unknown has no known cost.
    let mut sum = calls.is_empty().then_some(Amount::ZERO);
    for ((call, price), part) in calls.iter().zip(found).zip(parts) {
        let Some(usage) = call.usage.filter(CallUsage::is_known) else {
            continue;
        };
        let priced = price.tiers.cost(&Quantities::of(&usage));
        let (amount, position) = priced.map_err(|reason| format!("model {:?}: {reason}", call.model))?;
        *part = TablePart {
            tier: Some(position),
            amount: Some(amount),
            version: price.version.clone(),
        };
        sum = Some(sum.unwrap_or(Amount::ZERO).checked_add(amount).ok_or(TOO_LARGE)?);
    }
    Ok(Table::Cost(sum))
}
