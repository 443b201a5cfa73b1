//! [`StoredCatalog`]: the catalog of models in the journal of a store.

use std::sync::Arc;

use agcore_catalog::{Catalog, CatalogError, CatalogSource, Format};
use agcore_chat::Clock;
use agcore_session::{Journal, SessionError, SessionErrorKind, id};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::document::Document;

/// The name of the document in errors.
const NAME: &str = "the stored catalog";

/// The catalog of models in the journal of a store, so that several servers share one. Load it again to see changes.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_catalog::{CatalogSource, Format};
/// use agcore_chat::SystemClock;
/// use agcore_session::InMemoryJournal;
/// use agcore_server::StoredCatalog;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let catalog = StoredCatalog::new(Arc::new(InMemoryJournal::new()), Arc::new(SystemClock::new()));
/// catalog.save(Format::Yaml, "version: may", 0).await?;
/// assert_eq!(catalog.load().await?.version(), Some("may"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct StoredCatalog {
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
}

/// A catalog as it is written.
#[derive(Serialize, Deserialize)]
struct Stored {
    format: StoredFormat,
    text: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredFormat {
    Toml,
    Yaml,
}

impl StoredCatalog {
    /// Creates a source.
    pub fn new(journal: Arc<dyn Journal>, clock: Arc<dyn Clock>) -> Self {
        Self { journal, clock }
    }

    /// Returns the version and the text of the catalog with its format, or `None` if there is none.
    ///
    /// # Errors
    /// When the journal fails or the document cannot be read.
    pub async fn get(&self) -> Result<Option<(u64, Format, String)>, SessionError> {
        let document = self.document();
        let Some((version, record)) = document.read().await? else {
            return Ok(None);
        };
        let stored = serde_json::from_value(record.data);
        let stored: Stored = stored.map_err(|error| document.damaged(error))?;
        let format = match stored.format {
            StoredFormat::Toml => Format::Toml,
            StoredFormat::Yaml => Format::Yaml,
        };
        Ok(Some((version, format, stored.text)))
    }

    /// Saves the text of a catalog that was read with this version, 0 for the first one. Returns the new version.
    ///
    /// # Errors
    /// - [`InvalidInput`](SessionErrorKind::InvalidInput) with everything that is wrong with the catalog.
    /// - [`Conflict`](SessionErrorKind::Conflict) if the stored catalog has another version: read it again.
    /// - Other errors when the journal fails.
    pub async fn save(&self, format: Format, text: &str, version: u64) -> Result<u64, SessionError> {
        Catalog::parse("the catalog", format, text).map_err(|error| {
            let message = format!("the catalog is not valid: {error}");
            SessionError::with_source(SessionErrorKind::InvalidInput, message, error)
        })?;
        let document = self.document();
        let stored = Stored {
            format: match format {
                Format::Toml => StoredFormat::Toml,
                _ => StoredFormat::Yaml,
            },
            text: text.to_owned(),
        };
        let data = serde_json::to_value(stored).map_err(|error| document.damaged(error))?;
        document.write(version, "catalog", data).await
    }

    /// Returns the catalog with its version, unless it has this one. The inner result has everything that is wrong with it.
    pub(crate) async fn newer_than(
        &self,
        version: Option<u64>,
    ) -> Result<Option<(u64, Result<Catalog, CatalogError>)>, SessionError> {
        let found = self.get().await?.filter(|(found, ..)| Some(*found) != version);
        Ok(found.map(|(version, format, text)| (version, Catalog::parse(NAME, format, &text))))
    }

    fn document(&self) -> Document<'_> {
        Document {
            journal: &self.journal,
            clock: &self.clock,
            stream: id::join(["server", "catalog"]),
        }
    }
}

#[async_trait]
impl CatalogSource for StoredCatalog {
    async fn load(&self) -> Result<Catalog, CatalogError> {
        let found = self.get().await;
        match found.map_err(|error| CatalogError::unreadable(NAME, error))? {
            Some((_, format, text)) => Catalog::parse(NAME, format, &text),
            None => Err(CatalogError::unreadable(NAME, "there is none yet; save one first")),
        }
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::SystemClock;
    use agcore_session::InMemoryJournal;

    use super::*;

    #[tokio::test]
    async fn catalogs_are_checked_versioned_and_loaded() {
        let catalog = StoredCatalog::new(Arc::new(InMemoryJournal::new()), Arc::new(SystemClock::new()));
        let missing = catalog.load().await.unwrap_err().to_string();
        assert!(missing.contains("there is none yet"), "{missing}");
        let error = catalog.save(Format::Toml, "models = 5", 0).await.unwrap_err();
        assert_eq!(error.kind(), SessionErrorKind::InvalidInput);
        assert!(catalog.get().await.unwrap().is_none());

        let first = catalog.save(Format::Toml, "version = \"may\"", 0).await.unwrap();
        let second = catalog.save(Format::Yaml, "version: june", first).await.unwrap();
        let late = catalog.save(Format::Yaml, "version: july", first).await.unwrap_err();
        assert_eq!(late.kind(), SessionErrorKind::Conflict { expected: 1, found: 2 });
        assert_eq!(catalog.load().await.unwrap().version(), Some("june"));
        let (version, format, text) = catalog.get().await.unwrap().unwrap();
        assert_eq!((version, format, &*text), (second, Format::Yaml, "version: june"));
    }
}
