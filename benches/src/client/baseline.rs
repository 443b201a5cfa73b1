//! [`Baseline`]: a hand-written client on top of one of two HTTP libraries.

use bytes::Bytes;

use super::{hyper::Hyper, reqwest::Reqwest};
use crate::Fallible;

/// A hand-written client that sends prepared requests and reads only the content of replies.
#[derive(Debug)]
pub enum Baseline {
    /// H.
    Hyper(Hyper),
    /// R.
    Reqwest(Reqwest),
}

impl Baseline {
    /// Creates the baseline with this letter.
    pub async fn new(letter: &str, url: &str) -> Fallible<Self> {
        match letter {
            "H" => Ok(Self::Hyper(Hyper::connect(url).await?)),
            "R" => Ok(Self::Reqwest(Reqwest::new(url)?)),
            other => Err(format!("no client named `{other}`").into()),
        }
    }

    /// Sends a request and reads the whole reply.
    pub async fn whole(&mut self, body: Bytes) -> Fallible<Bytes> {
        match self {
            Self::Hyper(client) => client.whole(body).await,
            Self::Reqwest(client) => client.whole(body).await,
        }
    }

    /// Sends a request and passes the bytes of the reply to `on_bytes` as they arrive.
    pub async fn stream(&mut self, body: Bytes, on_bytes: impl FnMut(&[u8]) -> Fallible) -> Fallible {
        match self {
            Self::Hyper(client) => client.stream(body, on_bytes).await,
            Self::Reqwest(client) => client.stream(body, on_bytes).await,
        }
    }
}
