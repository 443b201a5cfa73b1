//! [`ObjectRequest`], [`ObjectReply`], and the [`ObjectTransport`] between them.

use std::fmt;

use async_trait::async_trait;

use crate::storage::StorageError;

/// A signed request to the server of a bucket. Its `Debug` output contains neither the signature nor the content.
#[derive(Clone)]
#[non_exhaustive]
pub struct ObjectRequest {
    /// The HTTP method.
    pub method: &'static str,
    /// The path of the URL, which is escaped already. It must be sent as it is.
    pub path: String,
    /// The headers, besides `host` and `content-length`.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// The reply of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ObjectReply {
    /// The HTTP status.
    pub status: u16,
    /// The beginning of the body, or all of it.
    pub body: Vec<u8>,
    /// Whether there was more of it.
    pub is_cut: bool,
}

/// Sends requests to the server of a bucket.
#[async_trait]
pub trait ObjectTransport: fmt::Debug + Send + Sync {
    /// Sends a request, and reads at most `max_bytes` of the body of its reply.
    ///
    /// # Errors
    /// [`Unavailable`](crate::StorageErrorKind::Unavailable) if there is no reply. Every status is a reply.
    ///
    /// # Cancel safety
    /// When the future is dropped, the server may have received the request or not.
    async fn send(&self, request: ObjectRequest, max_bytes: usize) -> Result<ObjectReply, StorageError>;
}

impl ObjectReply {
    /// Creates a reply with its whole body.
    pub fn new(status: u16, body: Vec<u8>) -> Self {
        Self {
            status,
            body,
            is_cut: false,
        }
    }

    /// Notes whether there was more of the body.
    #[must_use]
    pub fn with_cut(mut self, is_cut: bool) -> Self {
        self.is_cut = is_cut;
        self
    }
}

impl fmt::Debug for ObjectRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectRequest")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}
