//! [`SharedCatalog`]: the catalog that a server uses at the moment.

use std::sync::{Arc, PoisonError, RwLock};

use agcore_catalog::{Catalog, CatalogBiller};
use agcore_chat::Biller;

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
}

impl From<Arc<Catalog>> for SharedCatalog {
    fn from(catalog: Arc<Catalog>) -> Self {
        Self(Arc::new(RwLock::new(catalog)))
    }
}
