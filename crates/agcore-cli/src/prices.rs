//! [`Prices`]: what model calls cost, by a catalog.

pub(crate) mod catalog_file;
pub(crate) mod snapshot;

use std::{path::Path, sync::Arc};

use agcore::{
    agent::StoredSessions,
    catalog::{Catalog, CatalogBiller, ListPrices, ModelPrice, PriceList},
    chat::{Clock, Money, PriceFn, PriceQuery, ReportedCost, Usage},
    llm::{ProviderConfig, SystemClock},
    session::Billing,
};
use agcore_settings::{Chosen, places::user_catalog};

use agcore_terminal::render::sanitized_line;

use crate::exit::Failure;

/// The prices of a catalog, those of the settings, and the list prices of the vendor.
#[derive(Clone)]
pub(crate) struct Prices {
    price: PriceFn,
    catalog: Arc<Catalog>,
    /// The names of models and their vendors.
    models: Vec<(String, String)>,
    /// The list prices of the vendor, if the server is that of a vendor.
    list: Option<ListPrices>,
    /// The files that they come from.
    pub(crate) source: String,
}

impl Prices {
    /// Reads the catalog that was named, else the user's own. Models without a price in it have that of the settings, then that of
    /// the list of the vendor, if the server of the provider is that of a vendor. Returns `None` if there are no prices.
    ///
    /// # Errors
    /// When the catalog, or the list that `agcore catalog update` has written, cannot be read or is wrong.
    pub(crate) fn read(
        named: Option<&Path>,
        settings: Option<&Chosen<Vec<ModelPrice>>>,
        provider: &ProviderConfig,
    ) -> Result<Option<Self>, Failure> {
        let own = Self::own(named, settings)?;
        let Some((list, title)) = snapshot::list_prices(provider)? else {
            return Ok(own.map(|(catalog, source)| Self::of(catalog, source)));
        };
        let (catalog, source) = match own {
            None => (Catalog::of_prices(&title, PriceList::default()), title),
            Some((catalog, source)) => (catalog, format!("{source} and {title}")),
        };
        let prices = Self::of(catalog.with_list(list.clone()), source);
        Ok(Some(Self {
            list: Some(list),
            ..prices
        }))
    }

    /// Reads the prices of the user with the names of their files.
    fn own(
        named: Option<&Path>,
        settings: Option<&Chosen<Vec<ModelPrice>>>,
    ) -> Result<Option<(Catalog, String)>, Failure> {
        let own = || user_catalog().filter(|path| path.exists());
        let catalog = match named.map(Path::to_owned).or_else(own) {
            None => None,
            Some(path) => {
                let catalog = catalog_file::read(&path)?.map_err(|error| catalog_file::problems(&error))?;
                Some((catalog, path.display().to_string()))
            }
        };
        let Some(settings) = settings else {
            return Ok(catalog);
        };
        let list = PriceList::new(settings.value.iter().cloned());
        let list = list.map_err(|mut problems| Failure::usage(problems.remove(0).to_string()))?;
        let origin = settings.origin.to_string();
        Ok(Some(match catalog {
            None => (Catalog::of_prices(&origin, list), origin),
            Some((catalog, source)) => (catalog.with_prices(&list), format!("{source} and {origin}")),
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
            list: None,
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
    pub(crate) fn has_price(&self, provider: &str, model: &str) -> bool {
        let mut prices = self.catalog.prices().prices().iter();
        let listed = || self.list.as_ref()?.model(provider, model);
        prices.any(|price| price.model == model) || listed().is_some_and(|listed| !listed.model.prices.is_empty())
    }

    /// Returns the list prices of the vendor.
    pub(crate) fn list(&self) -> Option<&ListPrices> {
        self.list.as_ref()
    }

    /// Explains that a model of a vendor has no price, with the names that resemble it. Returns `None` if it has one, or if the
    /// server is not that of a vendor: such servers may well be free.
    pub(crate) fn unpriced(&self, provider: &str, model: &str) -> Option<String> {
        let list = self.list.as_ref()?;
        let vendor = list.vendor_of(provider)?;
        if self.has_price(provider, model) || model.is_empty() {
            return None;
        }
        let near: Vec<String> = list
            .snapshot()
            .nearest(vendor, model)
            .into_iter()
            .map(sanitized_line)
            .collect();
        let near = match near.is_empty() {
            true => String::new(),
            false => format!(" Models with a similar name: {}.", near.join(", ")),
        };
        Some(format!(
            "The price of `{}` is not known, so its calls have no cost.{near} A price can be set in agcore.toml, under [prices].",
            sanitized_line(model)
        ))
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
