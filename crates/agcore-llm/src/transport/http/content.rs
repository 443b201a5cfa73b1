//! [`Content`]: the chunks of a body, decompressed where necessary.

#[cfg(feature = "gzip")]
use std::task::ready;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
#[cfg(feature = "gzip")]
use http::header;

#[cfg(feature = "gzip")]
use super::gunzip::Gunzip;
use super::{client::Chunks, failure::Failure};

/// The compressions that replies may use, for the header `Accept-Encoding`.
pub(super) const ACCEPTED: Option<&str> = if cfg!(feature = "gzip") { Some("gzip") } else { None };

/// The chunks of a body, decompressed where necessary.
pub(super) struct Content {
    chunks: Chunks,
    #[cfg(feature = "gzip")]
    gunzip: Option<Box<Gunzip>>,
}

impl Content {
    /// Creates the content of a reply with these headers. Removes those that no longer apply when it is decompressed.
    #[cfg_attr(
        not(feature = "gzip"),
        expect(unused_variables, reason = "only read and changed if replies may be compressed")
    )]
    pub(super) fn new(chunks: Chunks, headers: &mut HeaderMap) -> Self {
        #[cfg(feature = "gzip")]
        let gunzip = is_compressed(headers).then(|| {
            headers.remove(header::CONTENT_ENCODING);
            headers.remove(header::CONTENT_LENGTH);
            Box::new(Gunzip::new())
        });
        Self {
            chunks,
            #[cfg(feature = "gzip")]
            gunzip,
        }
    }

    /// Returns the next chunk, or `None` at the end.
    #[cfg(not(feature = "gzip"))]
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        self.chunks.poll_next(cx)
    }

    /// Returns the next chunk, or `None` at the end.
    #[cfg(feature = "gzip")]
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        let Some(gunzip) = &mut self.gunzip else {
            return self.chunks.poll_next(cx);
        };
        loop {
            match gunzip.next() {
                Ok(Some(bytes)) if bytes.is_empty() => return Poll::Ready(None),
                Ok(Some(bytes)) => return Poll::Ready(Some(Ok(bytes))),
                Ok(None) => match ready!(self.chunks.poll_next(cx)).transpose() {
                    Ok(chunk) => gunzip.push(chunk),
                    Err(failure) => return Poll::Ready(Some(Err(failure))),
                },
                Err(error) => return Poll::Ready(Some(Err(Failure::new(error, false, false)))),
            }
        }
    }
}

#[cfg(feature = "gzip")]
fn is_compressed(headers: &HeaderMap) -> bool {
    let encoding = headers.get(header::CONTENT_ENCODING);
    encoding.is_some_and(|encoding| encoding == "gzip")
}
