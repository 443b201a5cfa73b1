//! TLS with a custom certificate authority and client certificates.
//!
//! The certificates in the folder of this module were made with openssl and are valid for a hundred years.

use std::sync::Arc;

use agcore_llm::{LlmErrorKind, ProviderConfig, transport::http::TlsOptions};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinHandle,
};
use tokio_rustls::TlsAcceptor;

use super::{raw_server::whole, *};

pub(super) const CA: &str = include_str!("tls/ca.pem");
const SERVER: (&str, &str) = (include_str!("tls/server.pem"), include_str!("tls/server.key"));
const CLIENT: (&str, &str) = (include_str!("tls/client.pem"), include_str!("tls/client.key"));

fn certificate(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

/// The configuration of a server, which may require a certificate of its clients.
pub(super) fn server_config(requires_client: bool) -> ServerConfig {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = if requires_client {
        let mut roots = RootCertStore::empty();
        roots.add(certificate(CA)).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        builder.with_client_cert_verifier(verifier.build().unwrap())
    } else {
        builder.with_no_client_auth()
    };
    let key = PrivateKeyDer::from_pem_slice(SERVER.1.as_bytes()).unwrap();
    builder.with_single_cert(vec![certificate(SERVER.0)], key).unwrap()
}

/// Starts a server that greets every client that it accepts, and returns its base URL.
pub(super) async fn start(requires_client: bool) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/v1", listener.local_addr().unwrap().port());
    let acceptor = TlsAcceptor::from(Arc::new(server_config(requires_client)));
    let task = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // A client that does not trust the server ends the handshake.
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    return;
                };
                let mut request = [0; 4096];
                if stream.read(&mut request).await.is_ok_and(|read| read > 0) {
                    let _ = stream.write_all(whole("200 OK", "welcome END").as_bytes()).await;
                    let _ = stream.shutdown().await;
                }
            });
        }
    });
    (url, task)
}

async fn call(url: &str, tls: TlsOptions) -> Result<String, LlmError> {
    let (text, end) = read(provider(HttpOptions::new(url).with_tls(tls)).open(hello())).await;
    end.map(|()| text)
}

#[tokio::test]
async fn trusts_an_own_certificate_authority() {
    let (url, server) = start(false).await;
    let error = call(&url, TlsOptions::new()).await.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Connect);
    assert!(
        error.message().contains("is not signed by a trusted authority") && error.message().contains("SSL_CERT_FILE"),
        "{error}"
    );

    let trusting = TlsOptions::new().with_root_certificates(CA);
    assert_eq!(call(&url, trusting).await.unwrap(), "welcome END");
    server.abort();
}

/// Other platforms have their own store of certificates.
#[cfg(not(any(windows, target_vendor = "apple")))]
#[tokio::test]
async fn trusts_the_authority_that_the_environment_names() {
    let (url, server) = start(false).await;
    let ca = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/http/tls/ca.pem");
    let answer = proxy::call_in_process(&url, "none", &[("SSL_CERT_FILE", ca)]).await;
    assert_eq!(answer, "welcome END");
    server.abort();
}

#[tokio::test]
async fn identifies_the_client_by_its_certificate() {
    let (url, server) = start(true).await;
    let trusting = TlsOptions::new().with_root_certificates(CA);
    assert_eq!(
        call(&url, trusting.clone()).await.unwrap_err().kind(),
        LlmErrorKind::Connect
    );

    let identified = trusting.with_client_certificate(CLIENT.0, CLIENT.1);
    assert_eq!(call(&url, identified).await.unwrap(), "welcome END");
    server.abort();
}

#[test]
fn rejects_invalid_certificates_without_quoting_keys() {
    let check = |tls: TlsOptions, expected: &str| {
        let error = transport(HttpOptions::new("https://localhost").with_tls(tls)).unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
        assert!(error.message().contains(expected), "{error}");
        assert!(
            !format!("{error:#?} {}", error.chain()).contains("not-a-key"),
            "{error:#?}"
        );
    };
    let tls = TlsOptions::new;
    check(tls().with_root_certificates(""), "invalid `root_certificates`");
    check(
        tls().with_client_certificate("x", CLIENT.1),
        "invalid `client_certificate`",
    );
    check(
        tls().with_client_certificate(CLIENT.0, "not-a-key"),
        "invalid `client_key`",
    );
    check(tls().with_client_certificate(CLIENT.0, SERVER.1), "do not fit");
    let mut half = tls();
    half.client_certificate = Some(CLIENT.0.to_owned());
    check(half, "belong together");
    assert!(!format!("{:?}", tls().with_client_certificate(CLIENT.0, "not-a-key")).contains("not-a-key"));
}

#[cfg(feature = "openai-chat")]
#[test]
fn certificates_are_part_of_the_settings() {
    let settings = serde_json::json!({
        "type": "compatible", "model": "m", "base_url": "https://localhost:1/v1",
        "tls": {"root_certificates": CA, "client_certificate": CLIENT.0, "client_key": CLIENT.1},
    });
    let config: ProviderConfig = serde_json::from_value(settings).unwrap();
    let config = config.with_http_client(crate::http_client());
    let tls = TlsOptions::new().with_root_certificates(CA);
    assert_eq!(config.tls, tls.with_client_certificate(CLIENT.0, CLIENT.1));
    assert!(config.build().is_ok());
}
