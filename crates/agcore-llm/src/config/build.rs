//! From settings to a provider.

use std::sync::Arc;

use crate::{
    credential::{KeyHeader, SecretGuard},
    dialect::{CredentialHeader, Dialect},
    error::{LlmError, LlmErrorKind},
    provider::{Capabilities, LlmProvider, ProviderInfo},
    transport::{
        Transport,
        http::{HttpOptions, HttpTransport},
    },
    wire::{
        EncodeOptions, Wire,
        models::{ListModels, ModelEntry},
        openai_chat::OpenAiChat,
    },
    wire_provider::{self, WireProvider},
};

use super::settings::ProviderConfig;

/// What people copy along with the base URL.
const ENDPOINT: &str = "/chat/completions";

impl ProviderConfig {
    /// A provider as the settings tell it. Nothing is sent.
    ///
    /// # Errors
    /// `Authentication` when the vendor needs a key and there is none or one that cannot be sent, `InvalidRequest` for a
    /// base URL, header or proxy that is none, `Connect` when TLS is needed and cannot be set up. Each has the provider's
    /// name.
    pub fn build(&self) -> Result<Arc<dyn LlmProvider>, LlmError> {
        let (transport, guard) = transport(self)?;
        let wire = Arc::new(OpenAiChat::new(self.provider_type.dialect().clone()));
        Ok(Arc::new(WireProvider::with_guard(info(self), wire, transport, guard)))
    }

    /// Asks the server for its models. Cancel safe: dropping the future closes the connection.
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and what the server says.
    pub async fn list_models(&self) -> Result<Vec<ModelEntry>, LlmError> {
        let (transport, guard) = transport(self)?;
        let wire: Arc<dyn Wire<ListModels>> = Arc::new(OpenAiChat::new(self.provider_type.dialect().clone()));
        let models = wire_provider::call(&wire, &transport, &(), &EncodeOptions::new(&self.model)).await;
        models.map_err(|error| guard.clean(error.with_provider(self.name())))
    }
}

fn info(config: &ProviderConfig) -> ProviderInfo {
    let dialect = config.provider_type.dialect();
    let capabilities = Capabilities {
        images: dialect.content.images,
        json_object: dialect.formats.json_object,
        json_schema: dialect.formats.json_schema,
        context_window: config.context_window,
        max_output_tokens: config.max_output_tokens,
        ..Capabilities::default()
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
    let dialect = config.provider_type.dialect();
    let key_header = key_header(dialect)?;
    require_key(config, dialect, &key_header)?;
    let base_url = base_url(
        config
            .base_url
            .as_deref()
            .or(dialect.base_url)
            .ok_or_else(|| without_url(config))?,
    );
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

/// The base URL without the endpoint's path, which people copy along.
fn base_url(url: &str) -> String {
    let url = url.trim();
    let (path, query) = url.split_at(url.find('?').unwrap_or(url.len()));
    let path = path.trim_end_matches('/');
    [path.strip_suffix(ENDPOINT).unwrap_or(path), query].concat()
}

fn key_header(dialect: &Dialect) -> Result<KeyHeader, LlmError> {
    Ok(match dialect.credential {
        CredentialHeader::Bearer => KeyHeader::Bearer,
        CredentialHeader::Named(name) => KeyHeader::Named(http::HeaderName::try_from(name).map_err(|error| {
            LlmError::new(
                LlmErrorKind::InvalidRequest,
                "the dialect names a header that none can have",
            )
            .with_source(error)
        })?),
    })
}

/// A vendor's own server without a key is of no use; one's own server may well need none.
fn require_key(config: &ProviderConfig, dialect: &Dialect, header: &KeyHeader) -> Result<(), LlmError> {
    let Some(variable) = dialect.key_variable else {
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
        let check = |url: &str, expected: &str| assert_eq!(base_url(url), expected);
        check("https://a.example/v1", "https://a.example/v1");
        check(" https://a.example/v1/ ", "https://a.example/v1");
        check("https://a.example/v1/chat/completions", "https://a.example/v1");
        check("https://a.example/v1/chat/completions/", "https://a.example/v1");
        check(
            "https://a.example/d/x/chat/completions?api-version=1",
            "https://a.example/d/x?api-version=1",
        );
    }
}
