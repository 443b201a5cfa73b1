//! [`HttpClient`]: the choice of the library that sends requests.

/// The library that sends requests.
///
/// Both do the same: connections are kept alive, TLS and proxies work alike, and errors have the same kinds and messages.
///
/// ```
/// # #[cfg(feature = "http-reqwest")] {
/// use agcore_llm::transport::http::{HttpClient, HttpOptions, HttpTransport};
///
/// let options = HttpOptions::new("http://localhost:8000/v1").with_client(HttpClient::Reqwest);
/// HttpTransport::new(options)?;
/// # }
/// # Ok::<(), agcore_llm::LlmError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpClient {
    /// hyper, without the layers of reqwest in between: fewer instructions per request, less memory per connection, and
    /// with HTTP/1.1 no task for each connection. The default if the feature `http` is enabled.
    ///
    /// Unlike reqwest, it does not send a request again that a server refused over HTTP/2 before processing it. The
    /// call fails with an error that can be retried.
    #[cfg(feature = "http")]
    Hyper,
    /// reqwest, the default if only the feature `http-reqwest` is enabled.
    #[cfg(feature = "http-reqwest")]
    Reqwest,
}

impl Default for HttpClient {
    fn default() -> Self {
        #[cfg(feature = "http")]
        let client = Self::Hyper;
        #[cfg(not(feature = "http"))]
        let client = Self::Reqwest;
        client
    }
}
