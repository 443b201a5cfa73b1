//! [`CatalogSource`]: where catalogs come from.

use std::{fmt, io, sync::Arc};

use agcore_document::Format;
use async_trait::async_trait;

use crate::catalog::{Catalog, error::CatalogError};

/// A place that catalogs are loaded from: a document, a database, a service.
#[async_trait]
pub trait CatalogSource: Send + Sync + fmt::Debug {
    /// Loads the catalog as it is now.
    ///
    /// Cancel safe: dropping the future changes nothing.
    ///
    /// # Errors
    /// Fails with everything that is wrong with the catalog, or if it cannot be read.
    async fn load(&self) -> Result<Catalog, CatalogError>;
}

type Read = Arc<dyn Fn() -> io::Result<String> + Send + Sync>;

/// A catalog in a TOML or YAML document. The text is read again at each load, by a function of the program.
///
/// ```
/// use agcore_catalog::{CatalogDocument, CatalogSource, Format};
///
/// # futures_util::FutureExt::now_or_never(async {
/// // In a program: CatalogDocument::new("models.toml", Format::Toml, || std::fs::read_to_string("models.toml"))
/// let source = CatalogDocument::new("models.yaml", Format::Yaml, || Ok("version: may".to_owned()));
/// assert_eq!(source.load().await?.version(), Some("may"));
/// # Ok::<(), agcore_catalog::CatalogError>(())
/// # }).unwrap().unwrap();
/// ```
#[derive(Clone)]
pub struct CatalogDocument {
    file: String,
    format: Format,
    read: Read,
}

impl CatalogDocument {
    /// Creates a source. `file` is the name that errors contain.
    pub fn new(
        file: impl Into<String>,
        format: Format,
        read: impl Fn() -> io::Result<String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            file: file.into(),
            format,
            read: Arc::new(read),
        }
    }
}

#[async_trait]
impl CatalogSource for CatalogDocument {
    async fn load(&self) -> Result<Catalog, CatalogError> {
        let text = (self.read)().map_err(|error| CatalogError::unreadable(&self.file, error))?;
        Catalog::parse(&self.file, self.format, &text)
    }
}

impl fmt::Debug for CatalogDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogDocument")
            .field("file", &self.file)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}
