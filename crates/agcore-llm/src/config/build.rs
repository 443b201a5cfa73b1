//! From settings to a provider.

use std::sync::Arc;

use crate::{
    credential::{KeyHeader, SecretGuard},
    embedder::ModelEmbedder,
    error::{LlmError, LlmErrorKind},
    provider::{Capabilities, LlmProvider, ProviderInfo},
    transport::{
        Transport,
        http::{HttpOptions, HttpTransport},
    },
    wire::{EncodeOptions, models::ModelEntry},
    wire_provider::{self, WireProvider},
};

use super::settings::ProviderConfig;

impl ProviderConfig {
    /// A provider as the settings tell it. Nothing is sent.
    ///
    /// # Errors
    /// `Authentication` when the vendor needs a key and there is none or one that cannot be sent, `InvalidRequest` for a
    /// base URL, header or proxy that is none, `Connect` when TLS is needed and cannot be set up. Each has the provider's
    /// name.
    pub fn build(&self) -> Result<Arc<dyn LlmProvider>, LlmError> {
        let (transport, guard) = transport(self)?;
        let wire = self.provider_type.chat(self.context_window);
        Ok(Arc::new(WireProvider::with_guard(info(self), wire, transport, guard)))
    }

    /// An embedder that asks the settings' model for vectors. Nothing is sent.
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and `InvalidRequest` when the API has no embeddings.
    pub fn build_embedder(&self) -> Result<ModelEmbedder, LlmError> {
        let Some((wire, most)) = self.provider_type.embed() else {
            let message = format!(
                "the API `{}` has no embeddings; take another provider for them",
                self.provider_type
            );
            return Err(LlmError::new(LlmErrorKind::InvalidRequest, message).with_provider(self.name()));
        };
        let (transport, guard) = transport(self)?;
        Ok(ModelEmbedder::with_guard(info(self), wire, transport, guard).with_max_inputs(most))
    }

    /// Asks the server for its models. Cancel safe: dropping the future closes the connection.
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and what the server says.
    pub async fn list_models(&self) -> Result<Vec<ModelEntry>, LlmError> {
        let (transport, guard) = transport(self)?;
        let wire = self.provider_type.models();
        let models = wire_provider::call(&wire, &transport, &(), &EncodeOptions::new(&self.model)).await;
        models.map_err(|error| guard.clean(error.with_provider(self.name())))
    }
}

fn info(config: &ProviderConfig) -> ProviderInfo {
    let capabilities = Capabilities {
        context_window: config.context_window,
        max_output_tokens: config.max_output_tokens,
        ..config.provider_type.capabilities()
    };
    ProviderInfo::new(config.name(), config.model.as_str()).with_capabilities(capabilities)
}

fn transport(config: &ProviderConfig) -> Result<(Arc<dyn Transport>, SecretGuard), LlmError> {
    let transport = options(config).and_then(HttpTransport::new);
    let transport = transport.map_err(|error| error.with_provider(config.name()))?;
    let guard = transport.guard().clone();
    Ok((Arc::new(transport), guard))
}

fn options(config: &ProviderConfig) -> Result<HttpOptions, LlmError> {
    let key_header = key_header(config.provider_type.key_header())?;
    require_key(config, &key_header)?;
    let url = config.base_url.as_deref().or(config.provider_type.base_url());
    let (endpoint, root) = config.provider_type.endpoint_and_root();
    let base_url = base_url(url.ok_or_else(|| without_url(config))?, endpoint, root);
    let mut options = HttpOptions::new(base_url)
        .with_credential(config.credential.clone())
        .with_key_header(key_header)
        .with_timeouts(config.timeouts)
        .with_proxy(config.proxy.clone());
    for (name, value) in &config.headers {
        options = options.with_header(name, value.clone());
    }
    Ok(options)
}

/// The base URL without the endpoint's path, which people copy along; a bare host gets the root of its API.
fn base_url(url: &str, endpoint: &str, root: &str) -> String {
    let url = url.trim();
    let (path, query) = url.split_at(url.find('?').unwrap_or(url.len()));
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(endpoint).unwrap_or(path);
    let host = path.split_once("://").map_or(path, |(_, host)| host);
    let root = if host.contains('/') { "" } else { root };
    [path, root, query].concat()
}

fn key_header(name: Option<&str>) -> Result<KeyHeader, LlmError> {
    let Some(name) = name else {
        return Ok(KeyHeader::Bearer);
    };
    let named = http::HeaderName::try_from(name).map(KeyHeader::Named);
    named.map_err(|error| {
        let message = "the dialect names a header that none can have";
        LlmError::new(LlmErrorKind::InvalidRequest, message).with_source(error)
    })
}

/// A vendor's own server without a key is of no use; one's own server may well need none.
fn require_key(config: &ProviderConfig, header: &KeyHeader) -> Result<(), LlmError> {
    let Some(variable) = config.provider_type.key_variable() else {
        return Ok(());
    };
    let in_headers = config
        .headers
        .keys()
        .any(|name| name.eq_ignore_ascii_case(header.name().as_str()));
    if config.base_url.is_some() || in_headers || !config.credential.is_none() {
        return Ok(());
    }
    let message = format!("there is no API key; set `api_key` (its usual place is the variable {variable})");
    Err(LlmError::new(LlmErrorKind::Authentication, message))
}

fn without_url(config: &ProviderConfig) -> LlmError {
    let message = format!(
        "providers of type `{}` have no address of their own; set `base_url`",
        config.provider_type
    );
    LlmError::new(LlmErrorKind::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_is_cut_off_the_base_url() {
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
    fn a_bare_host_gets_the_root_of_its_api() {
        let check = |url: &str, expected: &str| assert_eq!(base_url(url, "/messages", "/v1"), expected);
        check("https://a.example", "https://a.example/v1");
        check("http://127.0.0.1:4000/?x=1", "http://127.0.0.1:4000/v1?x=1");
        check("https://a.example/v1/messages", "https://a.example/v1");
        check("https://a.example/gateway", "https://a.example/gateway");
    }
}
