//! [`ProviderConfig`]: a provider as settings tell it.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use crate::{
    credential::{Credential, Secret},
    error::{LlmError, LlmErrorKind},
    transport::http::{Proxy, Timeouts},
};

use super::provider_type::{ProviderType, UnknownProviderType};

/// A provider as settings tell it: which API and dialect, where, with what key.
///
/// ```
/// use agcore_llm::{LlmProviderExt, config::ProviderConfig};
///
/// let settings = r#"{"type": "ollama", "model": "llama3.2", "timeouts": {"idle": 300}}"#;
/// let config: ProviderConfig = serde_json::from_str(settings)?;
/// let provider = config.build()?;
/// assert_eq!(provider.model(), "llama3.2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Members of settings: `type`, `name`, `base_url`, `api_key`, `model`, `timeouts` (`connect`, `first_byte`, `idle`, `total`,
/// in seconds), `headers`, `proxy`, `context_window`, `max_output_tokens`. An unknown member is an error.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProviderConfig {
    /// Which API, in which dialect.
    #[serde(rename = "type")]
    pub provider_type: ProviderType,
    /// What it is called in errors, usage and registries; the type's name when absent.
    #[serde(default)]
    pub name: Option<String>,
    /// What stands before `/chat/completions`; the vendor's own when absent. Trailing slashes are cut, and the endpoint's
    /// path too, as people copy it with the rest. A query stays and goes after every path.
    #[serde(default)]
    pub base_url: Option<String>,
    /// What the server is shown so that it answers; in settings a fixed key.
    #[serde(default, rename = "api_key", deserialize_with = "key")]
    pub credential: Credential,
    /// The model that is asked when a request names none.
    #[serde(default)]
    pub model: String,
    /// How long each part of an exchange may take.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// More headers for every request.
    #[serde(default)]
    pub headers: BTreeMap<String, Secret>,
    /// Through what requests go out.
    #[serde(default)]
    pub proxy: Proxy,
    /// The model's window in tokens, where it is known better here than anywhere else.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// The most tokens the model generates in one reply, likewise.
    #[serde(default)]
    pub max_output_tokens: Option<u64>,
}

impl ProviderConfig {
    /// A provider of this type that asks this model.
    pub fn new(provider_type: ProviderType, model: impl Into<String>) -> Self {
        Self {
            provider_type,
            name: None,
            base_url: None,
            credential: Credential::None,
            model: model.into(),
            timeouts: Timeouts::default(),
            headers: BTreeMap::new(),
            proxy: Proxy::None,
            context_window: None,
            max_output_tokens: None,
        }
    }

    /// A provider of `TYPE:MODEL`: `openai:gpt-5-mini`, `deepseek:deepseek-chat`.
    ///
    /// # Errors
    /// `InvalidRequest` for a name of another form or an unknown type.
    pub fn of(name: &str) -> Result<Self, LlmError> {
        let invalid = |why: String| LlmError::new(LlmErrorKind::InvalidRequest, why);
        let Some((provider_type, model)) = name.split_once(':').filter(|(_, model)| !model.is_empty()) else {
            return Err(invalid(format!(
                "`{name}` is no model: write TYPE:MODEL, such as openai:gpt-5-mini"
            )));
        };
        let provider_type = provider_type
            .parse()
            .map_err(|error: UnknownProviderType| invalid(error.to_string()))?;
        Ok(Self::new(provider_type, model))
    }

    /// Sets what it is called.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets what stands before `/chat/completions`.
    pub fn with_base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Sets what the server is shown.
    pub fn with_credential(mut self, credential: Credential) -> Self {
        self.credential = credential;
        self
    }

    /// Sets a fixed key.
    pub fn with_api_key(self, key: impl Into<Secret>) -> Self {
        self.with_credential(Credential::key(key))
    }

    /// Sets how long each part of an exchange may take.
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Adds a header to every request.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Sets through what requests go out.
    pub fn with_proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = proxy;
        self
    }

    /// Sets the model's window in tokens.
    pub fn with_context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Sets the most tokens the model generates in one reply.
    pub fn with_max_output_tokens(mut self, tokens: u64) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// What it is called in errors, usage and registries.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(self.provider_type.name())
    }
}

/// A fixed key; `null` is as good as absent.
fn key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Credential, D::Error> {
    Ok(Option::<Secret>::deserialize(deserializer)?.map_or(Credential::None, Credential::Key))
}
