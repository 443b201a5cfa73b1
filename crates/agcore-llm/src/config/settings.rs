//! [`ProviderConfig`]: the settings of a provider.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use crate::{
    credential::{Credential, Secret},
    transport::http::{HttpClient, Proxy, Timeouts, TlsOptions},
};
#[cfg(feature = "_kinds")]
use agcore_wire::ResponseShape;
use agcore_wire::{LlmError, LlmErrorKind};

use super::provider_type::{ProviderType, UnknownProviderType};

/// The settings of a provider: API, dialect, address, API key, model.
///
/// ```
/// # #[cfg(feature = "openai-chat")] {
/// use agcore_llm::{LlmProviderExt, ProviderConfig};
///
/// let settings = r#"{"type": "ollama", "model": "llama3.2", "timeouts": {"idle": 300}}"#;
/// let config: ProviderConfig = serde_json::from_str(settings)?;
/// let provider = config.build()?;
/// assert_eq!(provider.model(), "llama3.2");
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It deserializes from the members `type`, `name`, `base_url`, `region`, `api_key`, `model`, `timeouts` (`connect`, `first_byte`,
/// `idle`, `total`, in seconds), `headers`, `proxy`, `tls`, `automatic_caching`, `context_window`
/// and `max_output_tokens`. An unknown member is an error.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProviderConfig {
    /// The API and dialect.
    #[serde(rename = "type")]
    pub provider_type: ProviderType,
    /// The name in errors, usage and registries. The default is the name of the type.
    #[serde(default)]
    pub name: Option<String>,
    /// The URL before the [endpoint](ProviderType::endpoint). The default is the vendor's own.
    ///
    /// Trailing slashes and the path of the endpoint are removed. A query is kept and appended to every path.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The region of the vendor's server, such as `eu-central-1`, if the vendor has a server in each. Without one, that in the
    /// ARN of the model.
    #[serde(default)]
    pub region: Option<String>,
    /// The credential for the server. Deserialized settings contain a fixed key.
    #[serde(default, rename = "api_key", deserialize_with = "key")]
    pub credential: Credential,
    /// The model to ask if a request does not name one.
    #[serde(default)]
    pub model: String,
    /// The time limits of each stage of an exchange.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// Additional headers for every request.
    #[serde(default)]
    pub headers: BTreeMap<String, Secret>,
    /// The proxy for requests.
    #[serde(default)]
    pub proxy: Proxy,
    /// The certificates of TLS connections.
    #[serde(default)]
    pub tls: TlsOptions,
    /// The library that sends requests. Not a setting, but a choice of the program.
    #[serde(skip)]
    pub http_client: HttpClient,
    /// Whether the parts of a conversation that the vendor's cache should keep are marked automatically. The default is
    /// `true`. It has an effect on the Messages API and on Bedrock, which cache nothing without marks.
    #[serde(default = "enabled")]
    pub automatic_caching: bool,
    /// The context window of the model in tokens, which overrides the known one.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// The maximum number of tokens that the model generates in a reply, which overrides the known one.
    #[serde(default)]
    pub max_output_tokens: Option<u64>,
    /// The form of requests and replies for models that do not chat. The default is that of the type. Not a setting.
    #[cfg(feature = "_kinds")]
    #[serde(skip)]
    pub response_shape: Option<ResponseShape>,
}

impl ProviderConfig {
    /// Creates the settings of a provider of this type, with this default model.
    pub fn new(provider_type: ProviderType, model: impl Into<String>) -> Self {
        Self {
            provider_type,
            name: None,
            base_url: None,
            region: None,
            credential: Credential::None,
            model: model.into(),
            timeouts: Timeouts::default(),
            headers: BTreeMap::new(),
            proxy: Proxy::None,
            tls: TlsOptions::default(),
            http_client: HttpClient::default(),
            automatic_caching: true,
            context_window: None,
            max_output_tokens: None,
            #[cfg(feature = "_kinds")]
            response_shape: None,
        }
    }

    /// Parses `TYPE:MODEL`: `openai:gpt-5-mini`, `deepseek:deepseek-chat`.
    ///
    /// # Errors
    /// `InvalidRequest` if the name does not have this form or the type is unknown.
    ///
    /// ```
    /// # #[cfg(feature = "openai-chat")] {
    /// use agcore_llm::ProviderConfig;
    ///
    /// let config = ProviderConfig::parse("deepseek:deepseek-chat")?;
    /// assert_eq!((config.provider_type.name(), config.model.as_str()), ("deepseek", "deepseek-chat"));
    /// assert!(ProviderConfig::parse("deepseek-chat").is_err());
    /// # }
    /// # Ok::<(), agcore_llm::LlmError>(())
    /// ```
    pub fn parse(name: &str) -> Result<Self, LlmError> {
        let invalid = |message: String| LlmError::new(LlmErrorKind::InvalidRequest, message);
        let Some((provider_type, model)) = name.split_once(':').filter(|(_, model)| !model.is_empty()) else {
            return Err(invalid(format!(
                "invalid model `{name}`: expected TYPE:MODEL, such as openai:gpt-5-mini"
            )));
        };
        let provider_type = provider_type
            .parse()
            .map_err(|error: UnknownProviderType| invalid(error.to_string()))?;
        Ok(Self::new(provider_type, model))
    }

    /// Sets the name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the URL before the [endpoint](ProviderType::endpoint).
    #[must_use]
    pub fn with_base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Sets the region of the vendor's server.
    ///
    /// ```
    /// # #[cfg(feature = "bedrock")] {
    /// use agcore_llm::{ProviderConfig, credential::{AwsKeys, AwsSigner, Credential}};
    ///
    /// let keys = AwsKeys::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
    /// let config = ProviderConfig::parse("bedrock:eu.amazon.nova-lite-v1:0")?
    ///     .with_region("eu-central-1")
    ///     .with_credential(Credential::signer(AwsSigner::new(keys, "eu-central-1")));
    /// assert!(config.build().is_ok());
    /// # }
    /// # Ok::<(), agcore_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// Sets the credential for the server.
    #[must_use]
    pub fn with_credential(mut self, credential: Credential) -> Self {
        self.credential = credential;
        self
    }

    /// Sets a fixed API key as the credential.
    #[must_use]
    pub fn with_api_key(self, key: impl Into<Secret>) -> Self {
        self.with_credential(Credential::key(key))
    }

    /// Sets the time limits of each stage of an exchange.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Adds a header to every request.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Sets the proxy for requests.
    #[must_use]
    pub fn with_proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = proxy;
        self
    }

    /// Sets the certificates of TLS connections.
    #[must_use]
    pub fn with_tls(mut self, tls: TlsOptions) -> Self {
        self.tls = tls;
        self
    }

    /// Sets the library that sends requests.
    #[must_use]
    pub fn with_http_client(mut self, client: HttpClient) -> Self {
        self.http_client = client;
        self
    }

    /// Sets whether the parts of a conversation that the vendor's cache should keep are marked automatically.
    #[must_use]
    pub fn with_automatic_caching(mut self, automatic: bool) -> Self {
        self.automatic_caching = automatic;
        self
    }

    /// Sets the context window of the model in tokens.
    #[must_use]
    pub fn with_context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Sets the maximum number of tokens that the model generates in a reply.
    #[must_use]
    pub fn with_max_output_tokens(mut self, tokens: u64) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets the form of requests and replies for models that do not chat.
    #[cfg(feature = "_kinds")]
    #[must_use]
    pub fn with_response_shape(mut self, shape: ResponseShape) -> Self {
        self.response_shape = Some(shape);
        self
    }

    /// Returns the region of the vendor's server: the one that is set, else the one in the ARN of the model.
    ///
    /// ```
    /// # #[cfg(feature = "bedrock")] {
    /// use agcore_llm::ProviderConfig;
    ///
    /// let arn = "bedrock:arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc";
    /// assert_eq!(ProviderConfig::parse(arn)?.region(), Some("eu-west-1"));
    /// # }
    /// # Ok::<(), agcore_llm::LlmError>(())
    /// ```
    pub fn region(&self) -> Option<&str> {
        let of_arn = || self.model.strip_prefix("arn:")?.split(':').nth(2);
        let region = self.region.as_deref().or_else(of_arn);
        region.map(str::trim).filter(|region| !region.is_empty())
    }

    /// Returns the name in errors, usage and registries.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(self.provider_type.name())
    }
}

fn enabled() -> bool {
    true
}

/// Deserializes a fixed key. `null` is the same as absent.
fn key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Credential, D::Error> {
    Ok(Option::<Secret>::deserialize(deserializer)?.map_or(Credential::None, Credential::Key))
}
