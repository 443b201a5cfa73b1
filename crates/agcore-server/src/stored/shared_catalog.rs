//! [`SharedCatalog`]: the catalog that a server uses at the moment.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use agcore_catalog::{Catalog, CatalogBiller};
use agcore_chat::{Biller, PriceFn};

/// The catalog that a server uses at the moment. Clones share it, so that all parts of the server change to another one together.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_catalog::{Catalog, Format};
/// use agcore_server::SharedCatalog;
///
/// let version = |text: &str| Ok::<_, agcore_catalog::CatalogError>(Arc::new(Catalog::parse("models", Format::Yaml, text)?));
/// let shared = SharedCatalog::from(version("version: may")?);
/// let clone = shared.clone();
/// shared.replace(version("version: june")?);
/// assert_eq!(clone.current().version(), Some("june"));
/// # Ok::<(), agcore_catalog::CatalogError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SharedCatalog(Arc<RwLock<Arc<Catalog>>>);

impl SharedCatalog {
    /// Returns the catalog.
    pub fn current(&self) -> Arc<Catalog> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the catalog. Messages and requests from here on use the new one.
    pub fn replace(&self, catalog: Arc<Catalog>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = catalog;
    }

    /// Returns what computes the cost of messages by the prices that are current at each of them.
    pub fn biller(&self) -> impl Biller + use<> {
        let shared = self.clone();
        CatalogBiller::following(move || shared.current())
    }

    /// Returns the prices that are current at each call, for [budgets](agcore_cycle::Budgets::with_price). A model that only one
    /// vendor of the catalog has is priced as that vendor's, whatever the name of the provider is.
    pub fn prices(&self) -> PriceFn {
        let shared = self.clone();
        let known: Mutex<Option<(Arc<Catalog>, PriceFn)>> = Mutex::default();
        Arc::new(move |query| {
            let catalog = shared.current();
            let price = {
                let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                let is_current = |(of, _): &&(Arc<Catalog>, PriceFn)| Arc::ptr_eq(of, &catalog);
                match known.as_ref().filter(is_current) {
                    Some((_, price)) => Arc::clone(price),
                    None => {
                        let price = PriceFn::from(catalog.prices().clone());
                        *known = Some((Arc::clone(&catalog), Arc::clone(&price)));
                        price
                    }
                }
            };
            price(query).or_else(|| price(&query.with_provider(only_vendor(&catalog, query.model)?)))
        })
    }
}

/// Returns the vendor of a model, if there is one only.
fn only_vendor<'c>(catalog: &'c Catalog, model: &str) -> Option<&'c str> {
    let mut vendors = catalog.models().filter(|(_, known)| known.name == model);
    match (vendors.next(), vendors.next()) {
        (Some((vendor, _)), None) => Some(&vendor.name),
        _ => None,
    }
}

impl From<Arc<Catalog>> for SharedCatalog {
    fn from(catalog: Arc<Catalog>) -> Self {
        Self(Arc::new(RwLock::new(catalog)))
    }
}
