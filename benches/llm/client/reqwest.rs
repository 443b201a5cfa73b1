//! R, the upper floor: reqwest.

use bytes::Bytes;
use reqwest::{Client, Response, header};

use crate::Fallible;

/// A client of reqwest and where it asks.
#[derive(Clone)]
pub(crate) struct Reqwest {
    client: Client,
    url: String,
}

impl Reqwest {
    /// A client for a URL. Nothing is sent yet.
    pub(crate) fn new(url: &str) -> Fallible<Self> {
        // It is asked for although nothing is encrypted; whether it was installed before does not matter.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        Ok(Self {
            client: Client::builder().no_proxy().build()?,
            url: format!("{url}/chat/completions"),
        })
    }

    /// Sends a request and reads the whole reply.
    pub(crate) async fn whole(&self, body: Bytes) -> Fallible<Bytes> {
        Ok(self.send(body).await?.bytes().await?)
    }

    /// Sends a request and reads the reply piece by piece.
    pub(crate) async fn each(&self, body: Bytes, mut on_piece: impl FnMut(&[u8]) -> Fallible) -> Fallible {
        let mut reply = self.send(body).await?;
        while let Some(piece) = reply.chunk().await? {
            on_piece(&piece)?;
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
