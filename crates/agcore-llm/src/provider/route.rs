//! [`ProviderRoute`]: a provider, model and key that a call may go to.

use super::info::{Capabilities, ProviderInfo};

/// A provider, model and key that a call may go to, as they are reported by
/// [`AnsweredBy`](agcore_chat::AnsweredBy) once it answers.
///
/// ```
/// use agcore_llm::{ProviderInfo, ProviderRoute};
///
/// let info = ProviderInfo::new("openai", "gpt-5-mini");
/// assert_eq!(ProviderRoute::new(&info, "").model, "gpt-5-mini");
/// assert_eq!(ProviderRoute::new(&info, "gpt-5").model, "gpt-5");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct ProviderRoute<'a> {
    /// The name of the provider.
    pub provider: &'a str,
    /// The model that is asked.
    pub model: &'a str,
    /// The label of the API key, if the provider has several; never the key itself.
    pub key: Option<&'a str>,
    /// The capabilities of the provider.
    pub capabilities: &'a Capabilities,
}

impl<'a> ProviderRoute<'a> {
    /// Creates the route of a request to this provider. An empty `model` is the one of the provider.
    pub fn new(info: &'a ProviderInfo, model: &'a str) -> Self {
        Self {
            provider: &info.name,
            model: if model.is_empty() { &info.model } else { model },
            key: None,
            capabilities: &info.capabilities,
        }
    }

    /// Sets the label of the key, unless an inner layer has set one: the innermost layer knows which key is sent.
    pub fn with_key(mut self, label: &'a str) -> Self {
        self.key.get_or_insert(label);
        self
    }
}
