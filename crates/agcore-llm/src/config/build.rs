//! Creating providers from settings.

use std::{borrow::Cow, sync::Arc};

use http::StatusCode;

use crate::{
    credential::{Credential, KeyHeader, SecretGuard},
    embedder::{EmbeddingProvider, ModelEmbedder},
    provider::{Capabilities, LlmProvider, ProviderInfo},
    transport::{
        Transport,
        http::{HttpOptions, HttpTransport},
    },
    wire_provider::{self, WireProvider},
};
use agcore_wire::{EncodeOptions, LlmError, LlmErrorKind, operation::ModelEntry};

use super::{native::WireSettings, settings::ProviderConfig};

impl ProviderConfig {
    /// Creates the provider. Nothing is sent.
    ///
    /// # Errors
    /// - `Authentication` if the vendor requires a key, and it is missing or cannot be sent.
    /// - `InvalidRequest` for an invalid base URL, header or proxy.
    /// - `Connect` if TLS is needed and cannot be set up.
    ///
    /// All of them contain the name of the provider.
    pub fn build(&self) -> Result<Arc<dyn LlmProvider>, LlmError> {
        let (transport, guard) = transport(self)?;
        let wire = self.provider_type.chat(WireSettings {
            window: self.context_window,
            automatic_caching: self.automatic_caching,
            is_other_server: is_other_server(self),
        });
        Ok(Arc::new(
            WireProvider::new(info(self), wire, transport).with_guard(guard),
        ))
    }

    /// Creates an embedder that uses the model of the settings. Nothing is sent.
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and `InvalidRequest` if the API does not support embeddings.
    ///
    /// ```
    /// # #[cfg(feature = "openai-chat")] {
    /// use agcore_llm::ProviderConfig;
    ///
    /// let config = ProviderConfig::parse("openai:text-embedding-3-small")?.with_api_key("sk-…");
    /// assert!(config.build_embedder().is_ok());
    /// # }
    /// # Ok::<(), agcore_llm::LlmError>(())
    /// ```
    pub fn build_embedder(&self) -> Result<ModelEmbedder, LlmError> {
        let (provider, max_inputs) = embedding_provider(self)?;
        Ok(ModelEmbedder::from_provider(provider).with_max_inputs(max_inputs))
    }

    /// Requests the list of models from the server; `None` if the API or the server has no such list (HTTP 404, 405 or 501). Cancel
    /// safe: dropping the future closes the connection.
    ///
    /// ```no_run
    /// # #[cfg(feature = "openai-chat")] {
    /// use agcore_llm::ProviderConfig;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// match ProviderConfig::parse("vllm:qwen3")?.list_models().await? {
    ///     Some(models) => models.iter().for_each(|model| println!("{}", model.id)),
    ///     None => println!("the server does not list its models"),
    /// }
    /// # Ok::<(), agcore_llm::LlmError>(())
    /// # }).unwrap();
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and those of the request.
    pub async fn list_models(&self) -> Result<Option<Vec<ModelEntry>>, LlmError> {
        let (transport, guard) = transport(self)?;
        let wire = self.provider_type.models();
        let models = wire_provider::call_wire(&wire, &transport, &(), &EncodeOptions::new(&self.model)).await;
        match models {
            Ok(models) => Ok(Some(models)),
            Err(error) if has_no_list(&error) => Ok(None),
            Err(error) => Err(guard.redact(error.with_provider(self.name()))),
        }
    }
}

/// Creates a provider of embeddings, and returns the maximum number of texts in a request.
pub(super) fn embedding_provider(config: &ProviderConfig) -> Result<(EmbeddingProvider, usize), LlmError> {
    let Some((wire, max_inputs)) = config.provider_type.embed() else {
        let message = format!(
            "the API `{}` does not support embeddings: use another provider for them",
            config.provider_type
        );
        return Err(LlmError::new(LlmErrorKind::InvalidRequest, message).with_provider(config.name()));
    };
    let (transport, guard) = transport(config)?;
    Ok((
        EmbeddingProvider::new(info(config), wire, transport).with_guard(guard),
        max_inputs,
    ))
}

/// Returns whether the API has no list, or the server does not know its path, or not the method.
fn has_no_list(error: &LlmError) -> bool {
    let statuses = [
        StatusCode::NOT_FOUND,
        StatusCode::METHOD_NOT_ALLOWED,
        StatusCode::NOT_IMPLEMENTED,
    ];
    error.is_unsupported()
        || error
            .status()
            .is_some_and(|status| statuses.iter().any(|known| *known == status))
}

/// Describes the provider and its model.
pub(super) fn info(config: &ProviderConfig) -> ProviderInfo {
    let capabilities = Capabilities {
        context_window: config.context_window,
        max_output_tokens: config.max_output_tokens,
        ..config.provider_type.capabilities()
    };
    ProviderInfo::new(config.name(), config.model.as_str()).with_capabilities(capabilities)
}

fn transport(config: &ProviderConfig) -> Result<(Arc<dyn Transport>, SecretGuard), LlmError> {
    transport_to(config, None)
}

/// Creates the transport. `url` is the vendor's own URL if it is not the one for chats.
pub(super) fn transport_to(
    config: &ProviderConfig,
    url: Option<&str>,
) -> Result<(Arc<dyn Transport>, SecretGuard), LlmError> {
    let transport = options(config, url).and_then(HttpTransport::new);
    let transport = transport.map_err(|error| error.with_provider(config.name()))?;
    let guard = transport.guard().clone();
    Ok((Arc::new(transport), guard))
}

fn options(config: &ProviderConfig, own_url: Option<&str>) -> Result<HttpOptions, LlmError> {
    let key_header = key_header(config.provider_type.key_header())?;
    require_key(config, &key_header)?;
    let own_url = own_url.or(config.provider_type.base_url());
    let url = config.base_url.as_deref().or(own_url).map(Cow::Borrowed);
    let url = match url {
        Some(url) => url,
        None => Cow::Owned(regional_url(config)?),
    };
    let base_url = base_url(&url, config.provider_type.endpoint(), config.provider_type.root());
    let mut options = HttpOptions::new(base_url)
        .with_credential(config.credential.clone())
        .with_key_header(key_header)
        .with_timeouts(config.timeouts)
        .with_proxy(config.proxy.clone())
        .with_tls(config.tls.clone())
        .with_client(config.http_client);
    for (name, value) in &config.headers {
        options = options.with_header(name, value.clone());
    }
    Ok(options)
}

/// Returns the base URL without the path of the endpoint, which users may have copied with it. A URL without a path gets
/// the root of the API.
fn base_url(url: &str, endpoint: &str, root: &str) -> String {
    let url = url.trim();
    let (path, query) = url.split_at(url.find('?').unwrap_or(url.len()));
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(endpoint).unwrap_or(path);
    let host = path.split_once("://").map_or(path, |(_, host)| host);
    let root = if host.contains('/') { "" } else { root };
    [path, root, query].concat()
}

/// Returns whether the base URL leads to a server that is not the vendor's own.
fn is_other_server(config: &ProviderConfig) -> bool {
    match (config.base_url.as_deref(), config.provider_type.base_url()) {
        (Some(url), Some(own)) => {
            let own = host(own);
            let domain = own.strip_prefix("api.").unwrap_or(&own);
            let host = host(url);
            host != domain && !host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
        }
        _ => false,
    }
}

/// Returns the host of a URL in lower case, without its port.
fn host(url: &str) -> String {
    let url = url.trim();
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    host.trim_end_matches('.').to_ascii_lowercase()
}

fn key_header(name: Option<&str>) -> Result<KeyHeader, LlmError> {
    let Some(name) = name else {
        return Ok(KeyHeader::Bearer);
    };
    let named = http::HeaderName::try_from(name).map(KeyHeader::Named);
    named.map_err(|error| {
        let message = format!(
            "the dialect names an invalid header for the API key: `{}`",
            name.escape_debug()
        );
        LlmError::new(LlmErrorKind::InvalidRequest, message).with_source(error)
    })
}

/// Checks that there is a key if the vendor's own server is used. Other servers may not require one.
fn require_key(config: &ProviderConfig, header: &KeyHeader) -> Result<(), LlmError> {
    let Some(variable) = config.provider_type.key_variable() else {
        return Ok(());
    };
    let in_headers = config
        .headers
        .keys()
        .any(|name| name.eq_ignore_ascii_case(header.name().as_str()));
    let problem = match &config.credential {
        Credential::None => "missing",
        Credential::Key(key) if key.is_empty() => "empty",
        _ => return Ok(()),
    };
    if config.base_url.is_some() || in_headers {
        return Ok(());
    }
    let others = match config.provider_type.is_regional() {
        true => ", or sign requests with the keys of an account",
        false => "",
    };
    let message =
        format!("the API key is {problem}: provide one, usually from the environment variable {variable}{others}");
    Err(LlmError::new(LlmErrorKind::Authentication, message))
}

/// Returns the vendor's own base URL in the region of the settings, or in that of the model's ARN.
fn regional_url(config: &ProviderConfig) -> Result<String, LlmError> {
    let invalid = |message: String| LlmError::new(LlmErrorKind::InvalidRequest, message);
    if !config.provider_type.is_regional() {
        return Err(missing_url(config));
    }
    let Some(region) = config.region() else {
        return Err(invalid(format!(
            "providers of type `{}` need a region, such as us-east-1: set `region` (`ProviderConfig::with_region` in code, or the \
             variable AWS_REGION)",
            config.provider_type
        )));
    };
    // It becomes a part of the host.
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !region.bytes().all(is_part) {
        let region = region.escape_debug();
        return Err(invalid(format!(
            "`{region}` is not a region: use one such as us-east-1"
        )));
    }
    config
        .provider_type
        .regional_url(region)
        .ok_or_else(|| missing_url(config))
}

fn missing_url(config: &ProviderConfig) -> LlmError {
    let message = format!(
        "providers of type `{}` have no default address: set `base_url` (`ProviderConfig::with_base_url` in code, or the \
         option `--base-url`)",
        config.provider_type
    );
    LlmError::new(LlmErrorKind::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "openai-chat")]
    #[test]
    fn knows_the_vendors_own_servers() {
        let check = |kind: &str, url: &str, expected: bool| {
            let config = ProviderConfig::parse(&format!("{kind}:m")).unwrap().with_base_url(url);
            assert_eq!(is_other_server(&config), expected, "{kind} {url}");
        };
        check("openai", "https://api.openai.com/v1", false);
        check("openai", " https://EU.api.openai.com:443/v1/chat/completions", false);
        check("mistral", "https://codestral.mistral.ai/v1", false);
        check("xai", "https://us-east-1.api.x.ai", false);
        check("openai", "http://127.0.0.1:8080/v1", true);
        check("openai", "https://evil-openai.com/v1", true);
        check("openai", "https://api.openai.com@example.com/v1", true);
        check("openai", "https://example.com/api.openai.com", true);
        check("compatible", "http://127.0.0.1:8080/v1", false);
        assert!(!is_other_server(&ProviderConfig::parse("openai:m").unwrap()));
    }

    #[test]
    fn removes_the_endpoint_from_the_base_url() {
        let check = |url: &str, expected: &str| assert_eq!(base_url(url, "/chat/completions", ""), expected);
        check("https://a.example/v1", "https://a.example/v1");
        check(" https://a.example/v1/ ", "https://a.example/v1");
        check("https://a.example/v1/chat/completions", "https://a.example/v1");
        check("https://a.example/v1/chat/completions/", "https://a.example/v1");
        check(
            "https://a.example/d/x/chat/completions?api-version=1",
            "https://a.example/d/x?api-version=1",
        );
        check("https://a.example", "https://a.example");
    }

    #[test]
    fn adds_the_root_of_the_api_to_a_host() {
        let check = |url: &str, expected: &str| assert_eq!(base_url(url, "/messages", "/v1"), expected);
        check("https://a.example", "https://a.example/v1");
        check("http://127.0.0.1:4000/?x=1", "http://127.0.0.1:4000/v1?x=1");
        check("https://a.example/v1/messages", "https://a.example/v1");
        check("https://a.example/gateway", "https://a.example/gateway");
    }
}
