//! [`Prices`]: what model calls cost, by a catalog. [`Tally`]: the sum of several calls.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use agcore::{
    agent::StoredSessions,
    catalog::{Catalog, CatalogBiller, ModelPrice, PriceList},
    chat::{Clock, Money, PriceFn, PriceQuery, ReportedCost, Usage},
    llm::SystemClock,
    session::Billing,
};
use agcore_settings::{Chosen, places::user_catalog};

use crate::{catalog_file, exit::Failure};

/// The prices of a catalog, and those of the settings.
#[derive(Clone)]
pub(crate) struct Prices {
    price: PriceFn,
    catalog: Arc<Catalog>,
    /// The names of models and their vendors.
    models: Vec<(String, String)>,
    /// The files that they come from.
    pub(crate) source: String,
}

impl Prices {
    /// Reads the catalog that was named, else the user's own, and adds the prices of the settings for models of which it has none.
    /// Returns `None` if there are no prices.
    ///
    /// # Errors
    /// When the catalog cannot be read or is wrong.
    pub(crate) fn read(
        named: Option<&Path>,
        settings: Option<&Chosen<Vec<ModelPrice>>>,
    ) -> Result<Option<Self>, Failure> {
        let own = || user_catalog().filter(|path| path.exists());
        let catalog = match named.map(Path::to_owned).or_else(own) {
            None => None,
            Some(path) => {
                let catalog = catalog_file::read(&path)?.map_err(|error| catalog_file::problems(&error))?;
                Some((catalog, path.display().to_string()))
            }
        };
        let Some(settings) = settings else {
            return Ok(catalog.map(|(catalog, source)| Self::of(catalog, source)));
        };
        let list = PriceList::new(settings.value.iter().cloned());
        let list = list.map_err(|mut problems| Failure::usage(problems.remove(0).to_string()))?;
        let origin = settings.origin.to_string();
        Ok(Some(match catalog {
            None => Self::of(Catalog::of_prices(&origin, list), origin),
            Some((catalog, source)) => Self::of(catalog.with_prices(&list), format!("{source} and {origin}")),
        }))
    }

    /// Returns the prices of a catalog.
    pub(crate) fn of(catalog: Catalog, source: String) -> Self {
        Self {
            price: catalog.prices().clone().into(),
            models: catalog
                .models()
                .map(|(vendor, model)| (model.name.clone(), vendor.name.clone()))
                .collect(),
            source,
            catalog: Arc::new(catalog),
        }
    }

    /// Returns sessions that store what each message costs. New ones are billed in the currency in which the catalog prices their
    /// model. Without a price for it, only what the server reports is known.
    pub(crate) fn billed(prices: Option<&Self>, sessions: StoredSessions, model: &str) -> StoredSessions {
        let sessions = sessions.with_biller(Self::biller(prices));
        match prices.and_then(|prices| prices.billing(model)) {
            Some(billing) => sessions.with_billing(billing),
            None => sessions,
        }
    }

    /// Returns whether there is a price for a model, at any time and in any currency.
    pub(crate) fn has_model(&self, model: &str) -> bool {
        let mut prices = self.catalog.prices().prices().iter();
        prices.any(|price| price.model == model)
    }

    /// Returns the catalog.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog)
    }

    /// Returns what computes the costs of messages. Without prices, only what the server reports is known.
    pub(crate) fn biller(prices: Option<&Self>) -> CatalogBiller {
        match prices {
            Some(prices) => CatalogBiller::new(Arc::clone(&prices.catalog)),
            None => CatalogBiller::without_catalog(),
        }
    }

    /// Returns the currency in which the catalog prices a model, if it does.
    pub(crate) fn billing(&self, model: &str) -> Option<Billing> {
        Some(Billing::new(self.catalog.currency_of(model)?.as_str()))
    }

    /// Returns the cost of a call: the one that the server reported, else that of the catalog. Returns `None` if it is unknown.
    pub(crate) fn cost(&self, provider: &str, model: &str, usage: &Usage) -> Option<Money> {
        if let Some(cost) = usage.cost.as_ref().and_then(ReportedCost::money) {
            return Some(cost);
        }
        let query = PriceQuery::new(model, usage, SystemClock::new().now());
        let price = (self.price)(&query.with_provider(provider));
        // A catalog may name the vendor differently.
        let price = price.or_else(|| (self.price)(&query.with_provider(self.only_vendor(model)?)));
        price?.money()
    }

    /// Returns the vendor of a model, if there is one only.
    fn only_vendor(&self, model: &str) -> Option<&str> {
        let mut vendors = self.models.iter().filter(|(name, _)| name == model);
        match (vendors.next(), vendors.next()) {
            (Some((_, vendor)), None) => Some(vendor),
            _ => None,
        }
    }
}

/// The cost of several calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// The amount of each currency, in millionths of its unit.
    micros: BTreeMap<String, i64>,
    /// The number of calls whose cost is known.
    known: u64,
}

impl Tally {
    /// Adds a call whose cost is known.
    pub(crate) fn add(&mut self, cost: &Money) {
        let sum = self.micros.entry(cost.currency.to_string()).or_default();
        *sum = sum.saturating_add(cost.micros);
        self.known += 1;
    }

    /// Returns the amount if it is known for all calls and in one currency.
    pub(crate) fn exact(&self, calls: u64) -> Option<Money> {
        let mut amounts = self.micros.iter();
        match (amounts.next(), amounts.next()) {
            (Some((currency, micros)), None) if self.known == calls => {
                Some(Money::from_micros(*micros, currency.as_str()))
            }
            _ => None,
        }
    }

    /// Describes the cost of this many calls. What is unknown is never counted as 0.
    pub(crate) fn text(&self, calls: u64) -> String {
        let amount = |(currency, micros): (&String, &i64)| Money::from_micros(*micros, currency.as_str()).to_string();
        let amounts: Vec<String> = self.micros.iter().map(amount).collect();
        let unknown = calls.saturating_sub(self.known);
        match (self.known, unknown) {
            (0, 0) => "no model call".to_owned(),
            (0, _) => "unknown".to_owned(),
            (_, 0) => amounts.join(" + "),
            (_, unknown) => format!(
                "at least {}; the price of {unknown} of {calls} calls is unknown",
                amounts.join(" + ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_price_is_never_zero() {
        let mut tally = Tally::default();
        assert_eq!(tally.text(0), "no model call");
        assert_eq!((tally.text(2).as_str(), tally.exact(2)), ("unknown", None));
        tally.add(&Money::from_micros(1_500, "USD"));
        assert_eq!(tally.text(1), "0.001500 USD");
        assert_eq!(tally.exact(1), Some(Money::from_micros(1_500, "USD")));
        assert_eq!(
            tally.text(3),
            "at least 0.001500 USD; the price of 2 of 3 calls is unknown"
        );
        assert_eq!(tally.exact(3), None);
        tally.add(&Money::from_micros(2, "CNY"));
        assert_eq!(
            (tally.text(2).as_str(), tally.exact(2)),
            ("0.000002 CNY + 0.001500 USD", None)
        );
    }
}
