//! [`SourceFormat`]: the form of a public price list.

use serde_json::value::RawValue;

use super::unique::Unique;

/// The form of a public price list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceFormat {
    /// `model_prices_and_context_window.json` of LiteLLM: an object with a member for each model.
    LiteLlm,
    /// `api.json` of models.dev: an object with a member for each vendor.
    ModelsDev,
    /// The text of a [`Snapshot`](crate::Snapshot).
    Snapshot,
}

impl SourceFormat {
    /// Returns the form of a text by its first members; `None` if it has another one.
    ///
    /// ```
    /// use agcore_catalog::SourceFormat;
    ///
    /// let list = r#"{"gpt-4o": {"litellm_provider": "openai", "mode": "chat"}}"#;
    /// assert_eq!(SourceFormat::of(list), Some(SourceFormat::LiteLlm));
    /// assert_eq!(SourceFormat::of(r#"{"openai": {"models": {}}}"#), Some(SourceFormat::ModelsDev));
    /// assert_eq!(SourceFormat::of("<html>"), None);
    /// ```
    pub fn of(text: &str) -> Option<Self> {
        let first = text.lines().next().unwrap_or_default();
        if first.trim_start().starts_with("{\"agcore_snapshot\":") {
            return Some(Self::Snapshot);
        }
        let file: Unique<&RawValue> = serde_json::from_str(text).ok()?;
        file.0.iter().find_map(|(_, entry)| {
            let members: Unique<&RawValue> = serde_json::from_str(entry.get()).ok()?;
            match (members.get("litellm_provider"), members.get("models")) {
                (Some(_), _) => Some(Self::LiteLlm),
                (None, Some(models)) if models.get().starts_with('{') => Some(Self::ModelsDev),
                _ => None,
            }
        })
    }
}
