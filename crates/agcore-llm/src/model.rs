//! [`model`]: the short way to a provider.

use std::sync::Arc;

use crate::{
    config::{ProviderConfig, ProviderType, build},
    credential::Secret,
    error::{LlmError, LlmErrorKind},
    provider::LlmProvider,
};

/// A provider of `TYPE:MODEL` (`openai:gpt-5-mini`, `deepseek:deepseek-chat`) with this key; an empty key is none.
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
    let invalid = |why: String| LlmError::new(LlmErrorKind::InvalidRequest, why);
    let Some((provider_type, model)) = name.split_once(':').filter(|(_, model)| !model.is_empty()) else {
        return Err(invalid(format!("`{name}` is no model: write TYPE:MODEL, such as openai:gpt-5-mini")));
    };
    let provider_type: ProviderType =
        provider_type.parse().map_err(|error: crate::config::UnknownProviderType| invalid(error.to_string()))?;
    let config = ProviderConfig::new(provider_type, model);
    let key: Secret = key.into();
    build(&if key.expose().is_empty() { config } else { config.with_api_key(key) })
}
