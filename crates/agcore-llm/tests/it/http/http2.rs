//! HTTP/2 with servers that offer it.

use std::{
    convert::Infallible,
    sync::atomic::{AtomicUsize, Ordering},
};

use agcore_llm::transport::http::TlsOptions;
use bytes::Bytes;
use futures_util::future::join_all;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{net::TcpListener, sync::Barrier};
use tokio_rustls::TlsAcceptor;

use super::{
    tls::{CA, server_config},
    *,
};

/// Replies once as many requests have arrived as the barrier waits for.
async fn answer(request: Request<Incoming>, all: &Barrier) -> Result<Response<Full<Bytes>>, Infallible> {
    let version = request.version();
    let authority = request.uri().authority().unwrap().host().to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    all.wait().await;
    let text = format!("{version:?} {authority} {} END", String::from_utf8_lossy(&body));
    Ok(Response::new(text.into()))
}

#[tokio::test]
async fn concurrent_calls_share_a_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/v1", listener.local_addr().unwrap().port());
    let mut config = server_config(false);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    // The first call is alone, so that the pool knows afterwards that the connection can be shared.
    let (alone, together) = (Arc::new(Barrier::new(1)), Arc::new(Barrier::new(3)));
    let calls = Arc::new(AtomicUsize::new(0));
    let server = tokio::spawn(async move {
        loop {
            let stream = acceptor.accept(listener.accept().await.unwrap().0).await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
            let (alone, together, calls) = (Arc::clone(&alone), Arc::clone(&together), Arc::clone(&calls));
            let service = service_fn(move |request| {
                let is_first = calls.fetch_add(1, Ordering::SeqCst) == 0;
                let all = Arc::clone(if is_first { &alone } else { &together });
                async move { answer(request, &all).await }
            });
            tokio::spawn(http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service));
        }
    });
    let options = HttpOptions::new(url).with_tls(TlsOptions::new().with_root_certificates(CA));
    let provider = provider(options.with_timeouts(Timeouts::unlimited()));
    let expected = "HTTP/2.0 localhost line-1 false END";
    assert_eq!(read(provider.open(hello())).await.0, expected);
    for (text, end) in join_all((0..3).map(|_| read(provider.open(hello())))).await {
        end.unwrap();
        assert_eq!(text, expected);
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    server.abort();
}
