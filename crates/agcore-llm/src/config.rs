//! [`ProviderConfig`]: providers created from settings; and [`model`], the short way to create one.

mod native;
mod provider_type;
mod settings;
mod build;
#[cfg(feature = "_kinds")]
mod build_kinds;

pub use provider_type::{ProviderType, UnknownProviderType};
pub use settings::ProviderConfig;

use std::sync::Arc;

use crate::{credential::Secret, provider::LlmProvider};
use agcore_wire::LlmError;

/// Creates a provider from `TYPE:MODEL` (`openai:gpt-5-mini`, `deepseek:deepseek-chat`) and an API key. An empty key counts
/// as no key.
///
/// [`ProviderConfig`] also sets a base URL, timeouts and headers. Retries are a layer,
/// [`Retry`](crate::layer::retry::Retry); `agcore-agent` puts it around every provider.
///
/// ```
/// # #[cfg(feature = "openai-chat")] {
/// let provider = agcore_llm::model("openai:gpt-5-mini", "sk-example")?;
/// assert_eq!(provider.info().model.as_ref(), "gpt-5-mini");
/// assert!(agcore_llm::model("gpt-5-mini", "sk-example").unwrap_err().to_string().contains("TYPE:MODEL"));
/// # }
/// # Ok::<(), agcore_llm::LlmError>(())
/// ```
///
/// # Errors
/// Returns `InvalidRequest` for a name of another form or an unknown type, `Authentication` if the vendor needs a key and
/// `key` is empty.
pub fn model(name: &str, key: impl Into<Secret>) -> Result<Arc<dyn LlmProvider>, LlmError> {
    let (config, key) = (ProviderConfig::parse(name)?, key.into());
    if key.expose().is_empty() {
        config.build()
    } else {
        config.with_api_key(key).build()
    }
}
