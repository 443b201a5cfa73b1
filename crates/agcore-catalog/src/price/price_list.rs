//! [`PriceList`]: the prices of many models.

use std::{collections::HashMap, fmt, sync::Arc, time::SystemTime};

use agcore_chat::{Price, PriceFn, PriceQuery};

use super::{call_usage::CallUsage, model_price::ModelPrice, quantities::Quantities};
use crate::{currency::Currency, problem::Problem};

/// A question for the price of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PriceKey<'a> {
    pub(crate) provider: &'a str,
    pub(crate) model: &'a str,
    /// `None` for any currency.
    pub(crate) currency: Option<Currency>,
    pub(crate) service_class: Option<&'a str>,
    pub(crate) at: SystemTime,
}

/// Prices that are looked up when they are needed: those of a snapshot of public prices.
pub(crate) trait Listed: fmt::Debug + Send + Sync {
    /// Returns the prices of a model of the vendor that a provider stands for; none if it stands for no vendor.
    fn prices_of(&self, provider: &str, model: &str) -> &[ModelPrice];

    /// Returns the currency of a model of one of the providers.
    fn currency_of(&self, model: &str) -> Option<Currency>;

    /// Returns the name of a model without the day of its version, if it has one.
    fn undated<'m>(&self, model: &'m str) -> Option<&'m str>;
}

/// The prices of many models, by model, provider, currency, service class and time.
///
/// ```
/// use agcore_catalog::{Currency, ModelPrice, PriceList, Rate, Tier, TierTable};
/// use agcore_chat::{PriceFn, PriceQuery, Usage};
///
/// let rate = |text| Rate::parse("rate", text).unwrap();
/// let tiers = TierTable::new(vec![Tier::new(None, rate("2"), Some(rate("3")))]).unwrap();
/// let prices = PriceList::new([ModelPrice::new("deepseek-chat", Currency::CNY, tiers)]).unwrap();
///
/// // The budgets of agcore-cycle ask a `PriceFn`, with the model that answered.
/// let price = PriceFn::from(prices);
/// let usage = Usage::new(1_000_000, 1_000_000);
/// let query = PriceQuery::new("deepseek-chat", &usage, std::time::SystemTime::UNIX_EPOCH);
/// assert_eq!(price(&query).unwrap().money().unwrap().to_string(), "5.000000 CNY");
/// ```
#[derive(Debug, Clone, Default)]
pub struct PriceList {
    prices: Vec<ModelPrice>,
    by_model: HashMap<String, Vec<usize>>,
    /// The prices of models that have none of their own here.
    listed: Option<Arc<dyn Listed>>,
}

impl PriceList {
    /// Creates a list.
    ///
    /// # Errors
    /// Fails with all pairs of prices that apply to the same calls.
    pub fn new(prices: impl IntoIterator<Item = ModelPrice>) -> Result<Self, Vec<Problem>> {
        let prices: Vec<ModelPrice> = prices.into_iter().collect();
        let mut by_model: HashMap<String, Vec<usize>> = HashMap::new();
        let mut problems = Vec::new();
        for (index, price) in prices.iter().enumerate() {
            let others = by_model.entry(price.model.clone()).or_default();
            if let Some(other) = others.iter().find(|other| prices[**other].conflicts(price)) {
                let rule = format!(
                    "prices[{other}] has the same model, provider, currency {}, service class and time; remove one of them",
                    price.currency
                );
                problems.push(Problem::text(format!("prices[{index}].model"), &price.model, rule));
            }
            others.push(index);
        }
        match problems.is_empty() {
            true => Ok(Self {
                prices,
                by_model,
                listed: None,
            }),
            false => Err(problems),
        }
    }

    /// Returns the list with those of other prices whose models it does not have.
    pub(crate) fn with_missing(&self, others: &Self) -> Self {
        let mut list = self.clone();
        for price in &others.prices {
            if !self.by_model.contains_key(&price.model) {
                list.by_model
                    .entry(price.model.clone())
                    .or_default()
                    .push(list.prices.len());
                list.prices.push(price.clone());
            }
        }
        list
    }

    /// Adds the listed prices of models that have none of their own.
    pub(crate) fn with_listed(mut self, listed: Arc<dyn Listed>) -> Self {
        self.listed = Some(listed);
        self
    }

    /// Returns the prices of the list itself, without those of a [snapshot](crate::Snapshot), which are looked up by model.
    pub fn prices(&self) -> &[ModelPrice] {
        &self.prices
    }

    /// Returns whether a model has a price in a currency, at any time and for any service class.
    pub fn has_price(&self, model: &str, currency: Currency) -> bool {
        self.of_model(model).any(|price| price.currency == currency)
    }

    /// Returns whether the list itself prices a model, in any currency, for any provider and at any time.
    fn has_own(&self, model: &str) -> bool {
        self.by_model.contains_key(model)
    }

    /// Returns the currency of the first price of a model: that of the list itself before a listed one.
    pub(crate) fn currency_of(&self, model: &str) -> Option<Currency> {
        let own = self.of_model(model).next().map(|price| price.currency);
        own.or_else(|| self.listed.as_ref()?.currency_of(model))
    }

    /// Returns the provider of a model, if only one has a price for it.
    fn only_provider_of(&self, model: &str) -> Option<&str> {
        let mut providers = self.of_model(model).filter_map(|price| price.provider.as_deref());
        let first = providers.next()?;
        providers.all(|provider| provider == first).then_some(first)
    }

    fn of_model(&self, model: &str) -> impl Iterator<Item = &ModelPrice> {
        let rows = self.by_model.get(model).into_iter().flatten();
        rows.map(|index| &self.prices[*index])
    }

    /// Returns the price that applies. Listed prices are those of models that the list itself does not price at all.
    pub(crate) fn find(&self, key: &PriceKey<'_>) -> Option<&ModelPrice> {
        match (&self.listed, self.has_own(key.model)) {
            (Some(listed), false) => applying(listed.prices_of(key.provider, key.model).iter(), key),
            _ => self.find_own(key),
        }
    }

    /// Returns the provider and the model under which the list has the price of a call. `names` are those of the model, the first
    /// counts most; the key has the rest of the question.
    ///
    /// A price of the list itself comes before a listed one, also that of a name without the day of its version, and that of
    /// another provider if no other one has the model.
    pub(crate) fn priced_as<'a>(&'a self, names: &[&'a str], key: &PriceKey<'a>) -> Option<(&'a str, &'a str)> {
        let undated = |name: &&'a str| self.listed.as_ref()?.undated(name);
        let own_names = || names.iter().copied().chain(names.iter().filter_map(undated));
        let has = |found: Option<&ModelPrice>| found.is_some();
        let of = |provider, model| PriceKey {
            provider,
            model,
            ..*key
        };
        let exact = || own_names().map(|model| (key.provider, model));
        let by_model = own_names().filter_map(|model| Some((self.only_provider_of(model)?, model)));
        let own = exact()
            .chain(by_model)
            .find(|(provider, model)| has(self.find_own(&of(provider, model))));
        // A model that the list prices itself under one of its names has no listed price under the other one.
        let unpriced = || exact().find(|(_, model)| self.has_own(model));
        let listed = || exact().find(|(provider, model)| has(self.find(&of(provider, model))));
        own.or_else(unpriced).or_else(listed)
    }

    /// Returns the price of the list itself that applies.
    fn find_own(&self, key: &PriceKey<'_>) -> Option<&ModelPrice> {
        applying(self.of_model(key.model), key)
    }

    pub(crate) fn price(&self, query: &PriceQuery<'_>) -> Option<Price> {
        let currency = match query.currency {
            Some(code) => Some(Currency::parse("currency", code).ok()?),
            None => None,
        };
        let key = PriceKey {
            provider: query.provider,
            model: query.model,
            currency,
            service_class: query.service_tier,
            at: query.at,
        };
        let (provider, model) = self.priced_as(&[query.model], &key)?;
        let price = self.find(&PriceKey { provider, model, ..key })?;
        let usage = CallUsage::from(query.usage);
        if !usage.is_record() {
            return None;
        }
        let (amount, _) = price.tiers.cost(&Quantities::of(&usage)).ok()?;
        let exact = Price::new(amount, price.currency.as_str());
        Some(match &price.version {
            Some(version) => exact.with_source(version.as_str()),
            None => exact,
        })
    }
}

/// Returns the price that applies to a call: that of the provider before that of all, then that of certain hours before that of
/// the whole day, then the latest version.
fn applying<'p>(prices: impl Iterator<Item = &'p ModelPrice>, key: &PriceKey<'_>) -> Option<&'p ModelPrice> {
    let wanted = class(key.service_class);
    let candidates = prices.filter(|price| {
        key.currency.is_none_or(|currency| price.currency == currency)
            && price
                .provider
                .as_deref()
                .is_none_or(|provider| provider == key.provider)
            && class(price.service_class.as_deref()) == wanted
            && price.is_in_force(key.at)
    });
    // `max_by_key` returns the last of several, and a stable order needs the first.
    let rank = |price: &&ModelPrice| (price.provider.is_some(), price.hours.is_some(), price.from);
    candidates.reduce(|best, next| if rank(&next) > rank(&best) { next } else { best })
}

/// Returns the name of a service class. Vendors have several names for the one that everyone gets.
fn class(name: Option<&str>) -> &str {
    match name {
        None | Some("" | "auto" | "standard" | "on_demand") => "default",
        Some(name) => name,
    }
}

/// Prices each call by the model that answered, rounded to millionths for the budget. The exact cost of a message is that
/// of [`bill`](crate::bill).
impl From<PriceList> for PriceFn {
    fn from(prices: PriceList) -> Self {
        Arc::new(move |query| prices.price(query))
    }
}
