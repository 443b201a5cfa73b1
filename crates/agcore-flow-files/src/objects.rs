//! [`HttpObjects`]: requests to buckets over agcore's own client.

use std::sync::Arc;

use agcore_files::{ObjectReply, ObjectRequest, ObjectTransport, StorageError, StorageErrorKind};
use agcore_llm::{LlmError, transport::Transport, wire::WireRequest};
use async_trait::async_trait;
use futures_util::StreamExt;
use http::{HeaderMap, HeaderValue, Method};

/// Sends the requests of an [`ObjectStorage`](agcore_files::ObjectStorage) over a [`Transport`], such as `HttpTransport` with the
/// [server](agcore_files::BucketPlace::server) of the bucket as its base URL and without a credential. Its proxy, certificates and
/// timeouts apply.
#[derive(Debug, Clone)]
pub struct HttpObjects(Arc<dyn Transport>);

impl HttpObjects {
    /// Uses a transport.
    pub fn new(transport: Arc<dyn Transport>) -> Self {
        Self(transport)
    }
}

#[async_trait]
impl ObjectTransport for HttpObjects {
    async fn send(&self, request: ObjectRequest, max_bytes: usize) -> Result<ObjectReply, StorageError> {
        let mut wire = WireRequest::post(request.path, request.body);
        wire.method = Method::from_bytes(request.method.as_bytes()).map_err(|_| unsendable())?;
        wire.headers = HeaderMap::with_capacity(request.headers.len());
        for (name, value) in request.headers {
            let mut value = HeaderValue::try_from(value).map_err(|_| unsendable())?;
            value.set_sensitive(name == "authorization" || name == "x-amz-security-token");
            wire.headers.insert(name, value);
        }
        let mut reply = self.0.send(wire, false).await.map_err(unreachable)?;
        let mut body = Vec::new();
        while let Some(chunk) = reply.body.next().await {
            let chunk = chunk.map_err(unreachable)?;
            let free = max_bytes - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(free)]);
            if chunk.len() > free {
                // Dropping the body closes the connection.
                return Ok(ObjectReply::new(reply.head.status.as_u16(), body).with_cut(true));
            }
        }
        Ok(ObjectReply::new(reply.head.status.as_u16(), body))
    }
}

/// Returns the error of a header that cannot be sent, without its value, which contains the keys.
#[cold]
fn unsendable() -> StorageError {
    let message =
        "the keys of the storage contain characters that cannot be sent; check the access key and the session token";
    StorageError::new(StorageErrorKind::Misconfigured, message)
}

#[cold]
fn unreachable(error: LlmError) -> StorageError {
    // Such as a redirect, or a proxy that wants a password.
    if !error.kind().is_retryable() {
        let message = format!("the server of the storage cannot be used: {error}");
        return StorageError::new(StorageErrorKind::Misconfigured, message).with_source(error);
    }
    let message = "the server of the storage cannot be reached; check its address and the network";
    StorageError::new(StorageErrorKind::Unavailable, message).with_source(error)
}
