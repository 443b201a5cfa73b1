//! TLS with rustls, ring and the platform's certificate verifier. Nothing is installed process-wide.

use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

use agcore_wire::{LlmError, LlmErrorKind};

/// Returns the TLS configuration of a client. If TLS is not needed, no certificate is trusted, so that machines without
/// trusted certificates can reach their local servers.
pub(super) fn client_config(needed: bool) -> Result<ClientConfig, LlmError> {
    /// Loading the platform's certificates takes milliseconds, so clients share them.
    static PLATFORM: OnceLock<ClientConfig> = OnceLock::new();

    if !needed {
        return without_roots().map_err(setup_error);
    }
    if let Some(config) = PLATFORM.get() {
        return Ok(config.clone());
    }
    let config = with_platform_roots().map_err(setup_error)?;
    Ok(PLATFORM.get_or_init(|| config).clone())
}

fn with_platform_roots() -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = builder
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(with_alpn(config))
}

fn without_roots() -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?;
    Ok(with_alpn(
        builder
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth(),
    ))
}

fn with_alpn(mut config: ClientConfig) -> ClientConfig {
    let protocols: &[&[u8]] = if cfg!(feature = "http2") {
        &[b"h2", b"http/1.1"]
    } else {
        &[b"http/1.1"]
    };
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    config
}

fn setup_error(error: rustls::Error) -> LlmError {
    let message = "cannot set up TLS: the trusted certificates of the platform cannot be loaded; \
                   install them (often a package named ca-certificates)";
    LlmError::new(LlmErrorKind::Connect, message)
        .with_retryable(false)
        .with_source(error)
}
