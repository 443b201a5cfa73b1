//! [`Floor`]: a hand-written client over either of two HTTP libraries.

use bytes::Bytes;

use super::{hyper::Hyper, reqwest::Reqwest};
use crate::Fallible;

/// A hand-written client: what it sends is written beforehand, and it reads the content only.
pub(crate) enum Floor {
    Hyper(Hyper),
    Reqwest(Reqwest),
}

impl Floor {
    /// A floor by its letter.
    pub(crate) async fn of(letter: &str, url: &str) -> Fallible<Self> {
        match letter {
            "H" => Ok(Self::Hyper(Hyper::connect(url).await?)),
            "R" => Ok(Self::Reqwest(Reqwest::new(url)?)),
            other => Err(format!("no client is called {other}").into()),
        }
    }

    /// Sends a request and reads the whole reply.
    pub(crate) async fn whole(&mut self, body: Bytes) -> Fallible<Bytes> {
        match self {
            Self::Hyper(floor) => floor.whole(body).await,
            Self::Reqwest(floor) => floor.whole(body).await,
        }
    }

    /// Sends a request and reads the reply piece by piece.
    pub(crate) async fn each(&mut self, body: Bytes, on_piece: impl FnMut(&[u8]) -> Fallible) -> Fallible {
        match self {
            Self::Hyper(floor) => floor.each(body, on_piece).await,
            Self::Reqwest(floor) => floor.each(body, on_piece).await,
        }
    }
}
