//! Accepting connections.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, body::Body};
use http::Request;
use hyper::{body::Incoming, server::conn::http1, service::Service as _};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_io_timeout::TimeoutStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{routes::Peer, service::Service};

/// The pause after the operating system refused a connection, such as for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The longest time for connections to end after all runs have.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Serves connections until `stop` is cancelled, then lets them and the runs end.
pub(super) async fn serve(listener: TcpListener, router: Router, service: Arc<Service>, stop: CancellationToken) {
    let connections = Arc::new(Semaphore::new(service.limits.max_connections.max(1)));
    let (tracker, closing) = (TaskTracker::new(), CancellationToken::new());
    let stopped = async {
        stop.cancelled().await;
        // From here on, `/ready` reports that the server stops, and no more runs start.
        service.stopping.cancel();
        service.clock.sleep(service.limits.lame_duck).await;
    };
    let mut stopped = std::pin::pin!(stopped);
    loop {
        let accepted = tokio::select! {
            () = stopped.as_mut() => break,
            accepted = accept(&listener, &connections) => accepted,
        };
        match accepted {
            Ok((stream, peer, permit)) => {
                let (router, service, closing) = (router.clone(), Arc::clone(&service), closing.clone());
                tracker.spawn(async move {
                    service.metrics.connections.inc();
                    connection(stream, peer, router, &service, closing).await;
                    service.metrics.connections.dec();
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                service.clock.sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    drain(&service).await;
    closing.cancel();
    tracker.close();
    tokio::select! {
        () = tracker.wait() => {}
        () = service.clock.sleep(CLOSE_TIMEOUT) => {}
    }
}

/// Lets runs and messages of webhooks end, and leaves those that take too long to the next process.
pub(super) async fn drain(service: &Arc<Service>) {
    let ended = async {
        while service.active.len() > 0 || service.is_sending() {
            service.idle.notified().await;
        }
    };
    tokio::select! {
        () = ended => {}
        () = service.clock.sleep(service.limits.drain) => {}
    }
    service.parking.cancel();
    service.tasks.close();
    service.tasks.wait().await;
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = Arc::clone(connections)
        .acquire_owned()
        .await
        .map_err(std::io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    // Events are small, and a client waits for each.
    stream.set_nodelay(true)?;
    Ok((stream, peer, permit))
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    service: &Service,
    closing: CancellationToken,
) {
    let mut stream = TimeoutStream::new(stream);
    // A client that does not read is cut off. It continues after the last event that it has received.
    stream.set_write_timeout(Some(service.limits.write_timeout));
    let router = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer.ip()));
        let router = router.clone();
        async move { TowerToHyperService::new(router).call(request.map(Body::new)).await }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(service.limits.read_timeout)
        .max_buf_size(64 * 1024);
    let connection = builder.serve_connection(TokioIo::new(Box::pin(stream)), router);
    tokio::pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended early");
    }
}
