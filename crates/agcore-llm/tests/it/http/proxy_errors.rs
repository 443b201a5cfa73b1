//! Errors behind a proxy name the machine that failed: the proxy or the server.

use std::error::Error;

use agcore_llm::{
    LlmErrorKind,
    transport::http::{Proxy, ProxyError, TlsOptions},
};
use tokio::net::TcpListener;

use super::{
    forward_proxy::ForwardProxy,
    proxy::parsed,
    raw_server::RawServer,
    tls::{self, CA},
    *,
};

const PLAIN: &str = "http://model.example/v1";
const SECURE: &str = "https://model.example/v1";

/// An address that nothing listens on.
async fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Makes a call through a proxy that fails, and returns the error.
async fn error_through(proxy: &str, server: &str) -> LlmError {
    let options = HttpOptions::new(server)
        .with_proxy(parsed(proxy))
        .with_timeouts(Timeouts::unlimited());
    let error = call_error(&provider(options), hello()).await;
    let all = format!("{error} {error:?} {}", error.chain());
    assert!(!all.contains("hunter2"), "{all}");
    error
}

/// Returns the address of the proxy that the error blames.
fn blamed(error: &LlmError) -> Option<&str> {
    let source = error.source()?.downcast_ref::<ProxyError>()?;
    Some(source.proxy().address())
}

#[tokio::test]
async fn a_proxy_that_is_not_running() {
    let address = free_address().await;
    for server in [PLAIN, SECURE] {
        let error = error_through(&format!("http://me:hunter2@{address}"), server).await;
        assert_eq!(error.kind(), LlmErrorKind::Connect);
        assert_eq!(
            error.message(),
            format!("the proxy http://{address} refused the connection; is it running there?")
        );
        assert_eq!(blamed(&error), Some(&*format!("http://{address}")));
        assert!(error.is_retryable());
        assert!(
            error.chain().contains("onnection refused (os error"),
            "{}",
            error.chain()
        );
    }
}

#[tokio::test]
async fn a_proxy_that_does_not_exist() {
    for server in [PLAIN, SECURE] {
        let error = error_through("http://me:hunter2@no-such-proxy.invalid:3128", server).await;
        assert_eq!(
            error.message(),
            "cannot resolve the host of the proxy http://no-such-proxy.invalid:3128; \
             check the URL of the proxy and the network"
        );
    }
}

#[tokio::test]
async fn a_proxy_that_requires_credentials() {
    let reply = "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
    let proxy = RawServer::answering(reply).await;
    for server in [PLAIN, SECURE] {
        let error = error_through(&proxy.origin(), server).await;
        assert_eq!(error.kind(), LlmErrorKind::Authentication);
        assert_eq!(error.status(), Some(407));
        assert_eq!(
            error.message(),
            format!(
                "the proxy {} requires a user name and password; \
                 set the URL of the proxy to something like http://user:password@host:3128",
                proxy.origin()
            )
        );
        assert!(!error.is_retryable() && blamed(&error).is_some());
        let known = proxy.origin().replace("http://", "http://me:hunter2@");
        let error = error_through(&known, server).await;
        assert!(error.message().contains("rejects the user name or password"), "{error}");
    }
}

#[tokio::test]
async fn a_proxy_that_opens_no_tunnel() {
    for status in ["403 Forbidden", "502 Bad Gateway"] {
        let proxy = RawServer::answering(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n")).await;
        let error = error_through(&proxy.origin(), SECURE).await;
        assert_eq!(error.kind(), LlmErrorKind::Connect);
        assert_eq!(
            error.message(),
            format!(
                "the proxy {} refused to connect to https://model.example; \
                 it does not allow this address or cannot reach it",
                proxy.origin()
            )
        );
    }
    let proxy = RawServer::start(|mut connection| async move {
        connection.request().await;
    })
    .await;
    let error = error_through(&proxy.origin(), SECURE).await;
    assert!(
        error
            .message()
            .contains("closed the connection instead of connecting to"),
        "{error}"
    );
    let error = error_through(&proxy.origin(), PLAIN).await;
    let expected = format!("lost the connection to the proxy {} before", proxy.origin());
    assert!(error.message().starts_with(&expected), "{error}");
}

#[tokio::test]
async fn a_proxy_that_speaks_another_protocol() {
    let proxy = RawServer::start(|mut connection| async move {
        connection.send("SSH-2.0-OpenSSH_9.6\r\n").await;
        connection.closed().await;
    })
    .await;
    let error = error_through(&proxy.origin(), PLAIN).await;
    let expected = format!(
        "the proxy {} did not answer with valid HTTP; is it an HTTP proxy?",
        proxy.origin()
    );
    assert_eq!(error.message(), expected, "{}", error.chain());
    // The encrypted connection would be the one to the proxy.
    let error = error_through(&proxy.origin().replace("http:", "https:"), PLAIN).await;
    let expected = "does not support TLS; should its URL start with http:// instead of https://?";
    assert!(
        error.message().starts_with("the proxy https://") && error.message().ends_with(expected),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_behind_a_tunnel_is_blamed_for_its_own_certificate() {
    let (url, server) = tls::start(false).await;
    let address = url.trim_start_matches("https://localhost").trim_end_matches("/v1");
    let proxy = ForwardProxy::to(&format!("127.0.0.1{address}")).await;
    let error = error_through(&proxy.url(), &url).await;
    let expected = format!("the certificate of https://localhost{address} is not signed by a trusted authority");
    assert!(error.message().starts_with(&expected), "{error}");
    assert_eq!(blamed(&error), None);

    let trusting = TlsOptions::new().with_root_certificates(CA);
    let options = HttpOptions::new(&*url)
        .with_proxy(parsed(&proxy.url()))
        .with_tls(trusting);
    let (text, end) = read(provider(options).open(hello())).await;
    end.unwrap();
    assert_eq!(text, "welcome END");
    let line = format!("connect localhost{address} http/1.1");
    assert_eq!(proxy.lines(), [line.clone(), line]);
    server.abort();
}

#[tokio::test]
async fn a_slow_proxy_is_part_of_the_connection() {
    let proxy = RawServer::start(|mut connection| async move {
        connection.request().await;
        connection.closed().await;
    })
    .await;
    let options = HttpOptions::new(SECURE)
        .with_proxy(parsed(&proxy.origin()))
        .with_timeouts(Timeouts::unlimited().with_connect(SHORT));
    let error = call_error(&provider(options), hello()).await;
    let expected = format!(
        "cannot connect to https://model.example through the proxy {}",
        proxy.origin()
    );
    assert!(error.message().starts_with(&expected), "{error}");
}

#[test]
fn the_default_of_a_route_is_none() {
    assert_eq!(Proxy::None.route(PLAIN).unwrap(), None);
    assert!(Proxy::Environment.route("model.example").is_err());
}
