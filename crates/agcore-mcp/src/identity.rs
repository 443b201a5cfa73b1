//! [`Identity`]: the name and version that a peer gets to know.

/// The name and version that a peer gets to know.
///
/// ```
/// use agcore_mcp::Identity;
///
/// assert_eq!(Identity::default().name, "agcore");
/// let identity = Identity::new("my-program", "1.2.0");
/// assert_eq!(identity.version, "1.2.0");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// The name of the program.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Identity {
    /// Creates an identity.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
        }
    }

    /// Converts this into the library's form.
    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn implementation(&self) -> rmcp::model::Implementation {
        rmcp::model::Implementation::new(self.name.clone(), self.version.clone())
    }
}

impl Default for Identity {
    fn default() -> Self {
        Self::new("agcore", env!("CARGO_PKG_VERSION"))
    }
}
