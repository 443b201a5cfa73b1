//! R, the upper baseline: reqwest.

use bytes::Bytes;
use reqwest::{Client, Response, header};

use crate::Fallible;

/// A reqwest client with its URL.
#[derive(Debug, Clone)]
pub struct Reqwest {
    client: Client,
    url: String,
}

impl Reqwest {
    /// Creates a client for a URL, without connecting.
    pub fn new(url: &str) -> Fallible<Self> {
        Ok(Self {
            client: client()?,
            url: format!("{url}/chat/completions"),
        })
    }

    /// Sends a request and reads the whole reply.
    pub async fn whole(&self, body: Bytes) -> Fallible<Bytes> {
        Ok(self.send(body).await?.bytes().await?)
    }

    /// Sends a request and passes the bytes of the reply to `on_bytes` as they arrive.
    pub async fn stream(&self, body: Bytes, mut on_bytes: impl FnMut(&[u8]) -> Fallible) -> Fallible {
        let mut reply = self.send(body).await?;
        while let Some(bytes) = reply.chunk().await? {
            on_bytes(&bytes)?;
        }
        Ok(())
    }

    async fn send(&self, body: Bytes) -> Fallible<Response> {
        let request = self
            .client
            .post(&self.url)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, "Bearer sk-test")
            .body(body);
        Ok(request.send().await?)
    }
}

/// Creates the HTTP client of R, without connecting.
pub fn client() -> Fallible<Client> {
    // reqwest requires a crypto provider even without TLS. It may already be installed.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    Ok(Client::builder().no_proxy().build()?)
}
