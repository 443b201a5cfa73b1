//! [`ListPrices`]: the prices of a snapshot for the providers of a program.

use std::{collections::BTreeMap, sync::Arc};

use super::{model::SnapshotModel, names::undated, snapshot::Snapshot};
use crate::{
    catalog::Catalog,
    currency::Currency,
    price::{
        model_price::ModelPrice,
        price_list::{Listed, PriceList},
    },
};

/// The prices of a snapshot for the providers of a program that stand for a vendor. Other providers have no price,
/// whatever their models are called.
///
/// ```
/// # #[cfg(feature = "shipped")] {
/// use agcore_catalog::{ListPrices, Snapshot};
///
/// // The provider `work` calls the servers of Anthropic; `local` is a server of its own.
/// let prices = ListPrices::new(Snapshot::shipped()).with_provider("work", "anthropic");
/// assert!(prices.model("work", "claude-sonnet-4-5-20250929").is_some());
/// assert!(prices.model("local", "claude-sonnet-4-5-20250929").is_none());
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ListPrices {
    snapshot: Arc<Snapshot>,
    /// The vendor of each provider.
    vendors: BTreeMap<String, String>,
}

impl ListPrices {
    /// Creates the prices of no provider.
    pub fn new(snapshot: Arc<Snapshot>) -> Self {
        Self {
            snapshot,
            vendors: BTreeMap::new(),
        }
    }

    /// Creates the prices for providers with the names of vendors: the provider `openai` stands for the vendor `openai`.
    pub fn by_name(snapshot: Arc<Snapshot>) -> Self {
        let names = snapshot.vendors().map(|vendor| vendor.name.clone());
        Self {
            vendors: names.map(|name| (name.clone(), name)).collect(),
            snapshot,
        }
    }

    /// Has a provider stand for a vendor.
    #[must_use]
    pub fn with_provider(mut self, provider: impl Into<String>, vendor: impl Into<String>) -> Self {
        self.vendors.insert(provider.into(), vendor.into());
        self
    }

    /// Returns the snapshot.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Returns the vendor that a provider stands for.
    pub fn vendor_of(&self, provider: &str) -> Option<&str> {
        self.vendors.get(provider).map(String::as_str)
    }

    /// Returns a model of a provider by the name that its server uses; see [`Snapshot::model`].
    pub fn model(&self, provider: &str, name: &str) -> Option<&SnapshotModel> {
        self.snapshot.model(self.vendor_of(provider)?, name)
    }
}

impl Listed for ListPrices {
    fn prices_of(&self, provider: &str, model: &str) -> &[ModelPrice] {
        self.model(provider, model).map_or(&[], |found| &found.model.prices)
    }

    fn currency_of(&self, model: &str) -> Option<Currency> {
        let mut found = self
            .vendors
            .values()
            .filter_map(|vendor| self.snapshot.model(vendor, model));
        found
            .find_map(|model| model.model.prices.first())
            .map(|price| price.currency)
    }

    fn undated<'m>(&self, model: &'m str) -> Option<&'m str> {
        undated(model)
    }
}

impl PriceList {
    /// Adds the prices of a snapshot for models that the list itself does not price at all: neither for another provider, nor in
    /// another currency, nor for another class.
    #[must_use]
    pub fn with_list(self, prices: ListPrices) -> Self {
        self.with_listed(Arc::new(prices))
    }

    /// Returns the prices that the library ships, for providers with the [names of vendors](ListPrices::by_name).
    #[cfg(feature = "shipped")]
    pub fn shipped() -> Self {
        Self::default().with_list(ListPrices::by_name(Snapshot::shipped()))
    }
}

impl Catalog {
    /// Adds the prices of a snapshot for models that the catalog itself does not price at all. A bill names the id of the snapshot
    /// as the version of such a price.
    #[must_use]
    pub fn with_list(self, prices: ListPrices) -> Self {
        self.with_listed(Arc::new(prices))
    }

    /// Returns a catalog that has only the prices that the library ships, for providers with the
    /// [names of vendors](ListPrices::by_name).
    ///
    /// ```
    /// use std::time::SystemTime;
    ///
    /// use agcore_catalog::{Catalog, CatalogBiller};
    /// use agcore_chat::{AnsweredBy, Biller, ModelCall, Usage};
    ///
    /// let catalog = Catalog::shipped();
    /// let call = ModelCall::new(AnsweredBy::new("openai", "gpt-4o"), SystemTime::UNIX_EPOCH);
    /// let bill = CatalogBiller::new(catalog).bill("m", Some("USD"), &[call.with_usage(Usage::new(1_000_000, 0))])?;
    /// assert_eq!(bill.cost.unwrap().to_string(), "2.500000 USD");
    /// assert!(bill.calls[0].price_version.is_some());
    /// # Ok::<(), agcore_chat::BillingFault>(())
    /// ```
    #[cfg(feature = "shipped")]
    pub fn shipped() -> Self {
        let snapshot = Snapshot::shipped();
        let list = ListPrices::by_name(Arc::clone(&snapshot));
        Self::of_prices(&format!("the catalog of {}", snapshot.date()), PriceList::default()).with_list(list)
    }
}

#[cfg(feature = "shipped")]
impl Snapshot {
    /// Returns the snapshot that the library ships.
    ///
    /// # Panics
    /// Never: the tests of the library read all of it.
    #[expect(clippy::expect_used, reason = "the tests read the whole file")]
    pub fn shipped() -> Arc<Self> {
        static SHIPPED: std::sync::LazyLock<Arc<Snapshot>> = std::sync::LazyLock::new(|| {
            let text = include_str!("../../snapshot/shipped.jsonl");
            Arc::new(Snapshot::open("shipped.jsonl", text.into()).expect("the shipped snapshot is valid"))
        });
        Arc::clone(&SHIPPED)
    }
}
