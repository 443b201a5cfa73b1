//! TLS: rustls with ring, handed in explicitly, and the platform's own trust. Nothing process-wide is installed.

use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

use agcore_wire::{LlmError, LlmErrorKind};

/// The configuration for a client. Without a need for TLS nobody is trusted, so that machines without certificates reach
/// their local servers.
pub(super) fn client_config(needed: bool) -> Result<ClientConfig, LlmError> {
    /// Reading the platform's certificates takes milliseconds; clients share them.
    static TRUSTING: OnceLock<ClientConfig> = OnceLock::new();

    if !needed {
        return trusting_nobody().map_err(failed);
    }
    if let Some(config) = TRUSTING.get() {
        return Ok(config.clone());
    }
    let config = trusting_the_platform().map_err(failed)?;
    Ok(TRUSTING.get_or_init(|| config).clone())
}

fn trusting_the_platform() -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = builder
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(with_alpn(config))
}

fn trusting_nobody() -> Result<ClientConfig, rustls::Error> {
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

fn failed(error: rustls::Error) -> LlmError {
    let message = "TLS cannot be set up: the platform's trusted certificates could not be read; \
                   install them (often a package named ca-certificates)";
    LlmError::new(LlmErrorKind::Connect, message)
        .with_retryable(false)
        .with_source(error)
}
