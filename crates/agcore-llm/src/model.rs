//! [`model`]: the short way to a provider.

use std::sync::Arc;

use crate::{config::ProviderConfig, credential::Secret, error::LlmError, provider::LlmProvider};

/// A provider of `TYPE:MODEL` (`openai:gpt-5-mini`, `deepseek:deepseek-chat`) with this key; an empty key is none.
/// [`ProviderConfig::of`] is the longer way, with base URL, timeouts, headers.
///
/// Retries are a layer: [`Retry`](crate::Retry), which `agcore-agent` puts around every provider by itself.
///
/// ```
/// let provider = agcore_llm::model("openai:gpt-5-mini", "sk-example").unwrap();
/// assert_eq!(provider.info().model.as_ref(), "gpt-5-mini");
/// assert!(agcore_llm::model("gpt-5-mini", "sk-example").unwrap_err().to_string().contains("TYPE:MODEL"));
/// ```
///
/// # Errors
/// `InvalidRequest` for a name of another form or an unknown type, `Authentication` where the vendor needs a key and there
/// is none.
pub fn model(name: &str, key: impl Into<Secret>) -> Result<Arc<dyn LlmProvider>, LlmError> {
    let (config, key) = (ProviderConfig::of(name)?, key.into());
    if key.expose().is_empty() {
        config.build()
    } else {
        config.with_api_key(key).build()
    }
}
