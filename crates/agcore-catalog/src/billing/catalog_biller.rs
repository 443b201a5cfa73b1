//! [`CatalogBiller`]: computes what messages cost with the prices of a catalog.

use std::{fmt, sync::Arc};

use agcore_chat::{Amount, Bill, Biller, BillingFault, CallCost, ModelCall, Money};

use super::{
    billed_call::BilledCall,
    message_bill::{BillingError, MessageBill, bill},
    provider_cost::ProviderCost,
};
use crate::{
    catalog::Catalog,
    currency::Currency,
    price::{
        call_usage::CallUsage,
        price_list::{PriceKey, PriceList},
    },
};

type Current = Arc<dyn Fn() -> Option<Arc<Catalog>> + Send + Sync>;

/// Computes what the messages of a session cost, with the prices of a catalog.
///
/// The price is that of the model that answered. A name that only one vendor of the catalog has is found whatever the provider
/// calls itself. What a provider reports itself is in the currency that its endpoint declares, if it does.
///
/// ```
/// use std::{sync::Arc, time::SystemTime};
///
/// use agcore_catalog::{Catalog, CatalogBiller, Format};
/// use agcore_chat::{AnsweredBy, Biller, ModelCall, Usage};
///
/// let text = r#"
/// [[vendors]]
/// name = "deepseek"
/// endpoints = [{ name = "chat", api = "deepseek", kinds = ["text"] }]
/// keys = [{ name = "team", secret = "${DEEPSEEK_API_KEY}", users = ["*"] }]
/// models = [{ name = "deepseek-chat", prices = [{ currency = "CNY", tiers = [{ input = "2", output = "3" }] }] }]
/// "#;
/// let biller = CatalogBiller::new(Catalog::parse("models.toml", Format::Toml, text)?);
/// let call = ModelCall::new(AnsweredBy::new("deepseek", "deepseek-chat"), SystemTime::UNIX_EPOCH);
/// let bill = biller.bill("message-1", Some("CNY"), &[call.with_usage(Usage::new(500, 100))])?;
/// assert_eq!(bill.cost.unwrap().to_string(), "0.001300 CNY");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Give it to `StoredSessions::with_biller` of agcore-agent, which stores the cost with each message.
#[derive(Clone)]
pub struct CatalogBiller(Current);

impl CatalogBiller {
    /// Creates a biller with the prices of a catalog.
    pub fn new(catalog: impl Into<Arc<Catalog>>) -> Self {
        let catalog = catalog.into();
        Self(Arc::new(move || Some(Arc::clone(&catalog))))
    }

    /// Creates a biller with the prices of the catalog that is current at each message, such as that of a `CatalogRouter`.
    pub fn following(current: impl Fn() -> Arc<Catalog> + Send + Sync + 'static) -> Self {
        Self(Arc::new(move || Some(current())))
    }

    /// Creates a biller without prices: only costs that providers report are known.
    pub fn without_catalog() -> Self {
        Self(Arc::new(|| None))
    }
}

impl Biller for CatalogBiller {
    fn bill(&self, message: &str, currency: Option<&str>, calls: &[ModelCall]) -> Result<Bill, BillingFault> {
        let fault = |reason: String| BillingFault::new(message, reason);
        let catalog = (self.0)();
        let none = PriceList::default();
        let declared = |call: &ModelCall| declared_currency(catalog.as_deref()?, call);
        let mut billed: Vec<BilledCall> = calls.iter().map(|call| billed_call(call, declared(call))).collect();
        let (currency, prices) = match currency {
            Some(code) => {
                let currency = Currency::parse("currency", code).map_err(|problem| fault(problem.to_string()))?;
                (currency, catalog.as_ref().map_or(&none, |catalog| catalog.prices()))
            }
            // A table could only guess the currency.
            None => (reported_currency(&billed).unwrap_or(Currency::CNY), &none),
        };
        for (billed, call) in billed.iter_mut().zip(calls) {
            if let Some((provider, model)) = priced_as(prices, currency, call) {
                (billed.provider, billed.model) = (provider.to_owned(), model.to_owned());
            }
        }
        let bill = bill(message, currency, &billed, prices).map_err(|error: BillingError| fault(error.reason))?;
        details(&bill, calls).ok_or_else(|| fault("the amount does not fit; check the usage and the rates".to_owned()))
    }
}

/// Returns the currency in which the endpoint of a call reports costs.
fn declared_currency(catalog: &Catalog, call: &ModelCall) -> Option<Currency> {
    let of_vendor = |model: &str| {
        let mut models = catalog.models();
        models.find(|(vendor, row)| *vendor.name == *call.route.provider && row.vendor_name == model)
    };
    let (vendor, model) = of_vendor(&call.route.model)?;
    vendor.endpoint_of(model)?.currency
}

fn billed_call(call: &ModelCall, declared: Option<Currency>) -> BilledCall {
    let cost = call.usage.as_ref().and_then(|usage| usage.cost.as_ref());
    let cost = match (ProviderCost::from(cost), declared) {
        (ProviderCost::Valid(amount, _), Some(currency)) => ProviderCost::Valid(amount, currency),
        (cost, _) => cost,
    };
    let mut billed = BilledCall::new(&*call.route.model, call.sent_at())
        .with_provider_cost(cost)
        .with_latency_ms(call.latency_ms);
    billed.provider = call.route.provider.to_string();
    billed.usage = call.usage.as_ref().map(CallUsage::from);
    billed.service_class = call.service_tier.as_deref().map(str::to_owned);
    billed
}

/// Returns the currency of the costs that providers reported, if there is one.
fn reported_currency(calls: &[BilledCall]) -> Option<Currency> {
    calls.iter().find_map(|call| match call.provider_cost {
        ProviderCost::Valid(_, currency) => Some(currency),
        _ => None,
    })
}

/// Returns the provider and the model under which a list has the price of a call: the name in the reply comes before the one that
/// was asked for.
fn priced_as<'a>(prices: &'a PriceList, currency: Currency, call: &'a ModelCall) -> Option<(&'a str, &'a str)> {
    let names = call.reported_model.as_deref().into_iter().chain([&*call.route.model]);
    let key = PriceKey {
        provider: &call.route.provider,
        model: &call.route.model,
        currency: Some(currency),
        service_class: call.service_tier.as_deref(),
        at: call.sent_at(),
    };
    prices.priced_as(&names.collect::<Vec<_>>(), &key)
}

/// Returns the bill as it is stored: with parts that are rounded like the whole and add up to it.
fn details(bill: &MessageBill, calls: &[ModelCall]) -> Option<Bill> {
    let money = |amount: Amount| Some(Money::from_micros(amount.micros()?, bill.currency.as_str()));
    let mut details = Bill::default();
    details.cost = match bill.cost {
        Some(cost) => Some(money(cost)?),
        None => None,
    };
    details.usage = bill.summary.clone();
    details.calls = calls.iter().map(CallCost::new).collect();
    for (call, version) in details.calls.iter_mut().zip(&bill.price_versions) {
        call.price_version = version.as_deref().map(Into::into);
    }
    let Some(mut left) = bill.cost.filter(|_| !calls.is_empty()).map(Amount::rounded) else {
        return Some(details);
    };
    let last = bill.parts.iter().rposition(Option::is_some)?;
    for (index, (call, part)) in details.calls.iter_mut().zip(&bill.parts).enumerate() {
        let Some(part) = part else { continue };
        // Rounding alone could exceed what is left.
        let share = if index == last { left } else { part.rounded().min(left) };
        left = Amount::from_units(left.units() - share.units());
        call.cost = Some(money(share)?);
    }
    Some(details)
}

impl fmt::Debug for CatalogBiller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogBiller").finish_non_exhaustive()
    }
}
