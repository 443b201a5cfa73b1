//! TLS with rustls, ring and the platform's certificate verifier. Nothing is installed process-wide.

use std::sync::{Arc, OnceLock};

use rustls::{
    ClientConfig, ConfigBuilder, RootCertStore,
    client::WantsClientCert,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use rustls_platform_verifier::{BuilderVerifierExt, Verifier};
use serde::Deserialize;

use crate::credential::Secret;
use agcore_wire::{LlmError, LlmErrorKind};

/// The certificates of TLS connections: a custom certificate authority, and a client certificate (mutual TLS).
///
/// Certificates are text in PEM format. In settings, the members are `root_certificates`, `client_certificate` and
/// `client_key`.
///
/// ```
/// use agcore_llm::transport::http::{HttpOptions, HttpTransport, TlsOptions};
///
/// let tls: TlsOptions = serde_json::from_str(r#"{"root_certificates": "no certificate"}"#)?;
/// let options = HttpOptions::new("https://models.internal/v1").with_tls(tls);
/// let error = HttpTransport::new(options).unwrap_err();
/// assert_eq!(error.message(), "invalid `root_certificates`: expected certificates in PEM format");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use]
#[non_exhaustive]
pub struct TlsOptions {
    /// Certificates of authorities that are trusted in addition to those of the platform.
    pub root_certificates: Option<String>,
    /// The certificate with which the client identifies itself, followed by those that lead to its authority.
    pub client_certificate: Option<String>,
    /// The private key of the client certificate.
    pub client_key: Option<Secret>,
}

impl TlsOptions {
    /// Creates options that trust the platform's authorities, without a client certificate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts these authorities, too. The text may contain several certificates.
    pub fn with_root_certificates(mut self, pem: impl Into<String>) -> Self {
        self.root_certificates = Some(pem.into());
        self
    }

    /// Sets the certificate with which the client identifies itself, and its private key.
    pub fn with_client_certificate(mut self, certificate: impl Into<String>, key: impl Into<Secret>) -> Self {
        self.client_certificate = Some(certificate.into());
        self.client_key = Some(key.into());
        self
    }

    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the authorities in addition to those of the platform.
    fn roots(&self) -> Result<Vec<CertificateDer<'static>>, LlmError> {
        let roots = self.root_certificates.as_deref();
        roots.map_or(Ok(Vec::new()), |pem| certificates("root_certificates", pem))
    }

    /// Adds the client certificate.
    fn identify(&self, builder: ConfigBuilder<ClientConfig, WantsClientCert>) -> Result<ClientConfig, LlmError> {
        let (certificate, key) = match (&self.client_certificate, &self.client_key) {
            (None, None) => return Ok(builder.with_no_client_auth()),
            (Some(certificate), Some(key)) => (certificate, key),
            _ => {
                return Err(invalid(
                    "`client_certificate` and `client_key` belong together: set both or none",
                ));
            }
        };
        let chain = certificates("client_certificate", certificate)?;
        // The source is left out, because it might quote the key.
        let key = PrivateKeyDer::from_pem_slice(key.expose().as_bytes())
            .map_err(|_| invalid("invalid `client_key`: expected an unencrypted private key in PEM format"))?;
        builder
            .with_client_auth_cert(chain, key)
            .map_err(|error| invalid("the client certificate and its key do not fit").with_source(error))
    }
}

/// Returns the TLS configuration of a client. If TLS is not needed, no certificate is trusted, so that machines without
/// trusted certificates can reach their local servers.
///
/// # Errors
/// `InvalidRequest` for invalid options, and `Connect` if the platform's certificates cannot be loaded.
pub(super) fn client_config(needed: bool, options: &TlsOptions) -> Result<ClientConfig, LlmError> {
    /// Loading the platform's certificates takes milliseconds, so clients share them.
    static PLATFORM: OnceLock<ClientConfig> = OnceLock::new();

    if !needed {
        return without_roots().map_err(setup_error);
    }
    if !options.is_default() {
        return with_options(options);
    }
    if let Some(config) = PLATFORM.get() {
        return Ok(config.clone());
    }
    let config = with_platform_roots().map_err(setup_error)?;
    Ok(PLATFORM.get_or_init(|| config).clone())
}

fn with_options(options: &TlsOptions) -> Result<ClientConfig, LlmError> {
    let provider = Arc::new(ring::default_provider());
    let roots = options.roots()?;
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(setup_error)?;
    let verifier = Verifier::new_with_extra_roots(roots, provider).map_err(setup_error)?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    Ok(with_alpn(options.identify(builder)?))
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

/// Reads all certificates of a setting, which must contain at least one.
fn certificates(setting: &str, pem: &str) -> Result<Vec<CertificateDer<'static>>, LlmError> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    certificates.ok().filter(|found| !found.is_empty()).ok_or_else(|| {
        let message = format!("invalid `{setting}`: expected certificates in PEM format");
        LlmError::new(LlmErrorKind::InvalidRequest, message)
    })
}

fn invalid(message: &'static str) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, message)
}

fn setup_error(error: rustls::Error) -> LlmError {
    let message = "cannot set up TLS: the trusted certificates of the platform cannot be loaded; \
                   install them (often a package named ca-certificates)";
    LlmError::new(LlmErrorKind::Connect, message)
        .with_retryable(false)
        .with_source(error)
}
