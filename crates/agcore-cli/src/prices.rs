//! [`Prices`]: what model calls cost, by a catalog.

pub(crate) mod catalog_file;

use std::{path::Path, sync::Arc};

use agcore::{
    agent::StoredSessions,
    catalog::{Catalog, CatalogBiller, ModelPrice, PriceList},
    chat::{Clock, Money, PriceFn, PriceQuery, ReportedCost, Usage},
    llm::SystemClock,
    session::Billing,
};
use agcore_settings::{Chosen, places::user_catalog};

use crate::exit::Failure;

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
    /// Reads the catalog that was named, else the user's own, and adds the prices of the settings for models without a price in
    /// it. Returns `None` if there are no prices.
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
