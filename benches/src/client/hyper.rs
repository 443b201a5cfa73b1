//! H, the lower baseline: a single kept-alive hyper connection.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::http1::{SendRequest, handshake},
    header,
};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::minimal::concat;
use crate::Fallible;

/// A single kept-alive connection.
#[derive(Debug)]
pub struct Hyper {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    path: String,
}

impl Hyper {
    /// Connects to the server of a URL.
    pub async fn connect(url: &str) -> Fallible<Self> {
        let address = url.strip_prefix("http://").ok_or("expected an http URL")?;
        let (host, path) = address.split_once('/').ok_or("expected a URL with a path")?;
        let connection = TcpStream::connect(host).await?;
        connection.set_nodelay(true)?;
        let (sender, driver) = handshake(TokioIo::new(connection)).await?;
        tokio::spawn(driver);
        Ok(Self {
            sender,
            host: host.to_owned(),
            path: format!("/{path}/chat/completions"),
        })
    }

    /// Sends a request and reads the whole reply.
    pub async fn whole(&mut self, body: Bytes) -> Fallible<Bytes> {
        let mut reply = self.send(body).await?;
        let mut frames = Vec::new();
        while let Some(frame) = reply.frame().await {
            frames.extend(frame?.into_data().ok());
        }
        Ok(concat(frames))
    }

    /// Sends a request and passes the bytes of the reply to `on_bytes` as they arrive.
    pub async fn stream(&mut self, body: Bytes, mut on_bytes: impl FnMut(&[u8]) -> Fallible) -> Fallible {
        let mut reply = self.send(body).await?;
        while let Some(frame) = reply.frame().await {
            if let Some(bytes) = frame?.data_ref() {
                on_bytes(bytes)?;
            }
        }
        Ok(())
    }

    async fn send(&mut self, body: Bytes) -> Fallible<Response<Incoming>> {
        self.sender.ready().await?;
        let request = Request::post(&*self.path)
            .header(header::HOST, &*self.host)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, "Bearer sk-test")
            .body(Full::new(body))?;
        Ok(self.sender.send_request(request).await?)
    }
}
