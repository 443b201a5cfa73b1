//! How this vendor is called on data of its own.

/// The name on data that the vendor wants back.
pub(super) const VENDOR: &str = "ollama";
