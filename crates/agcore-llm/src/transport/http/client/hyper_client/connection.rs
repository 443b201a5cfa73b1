//! [`Connection`]: a connection to a server or a proxy, encrypted or not.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use hyper::rt::{Read, ReadBufCursor, Write};
#[cfg(feature = "http2")]
use hyper_util::client::legacy::connect::{self, Connected};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A connection, encrypted or not.
pub(super) struct Connection {
    stream: Stream,
    /// Whether the peer is a proxy that forwards requests, so that these contain the whole URL.
    forwards: bool,
}

enum Stream {
    Plain(TokioIo<TcpStream>),
    /// Encrypted, perhaps inside another connection to a proxy. Boxed because its buffers and keys need more than a
    /// kilobyte, which plain connections would reserve as well.
    Encrypted(Box<TokioIo<TlsStream<TokioIo<Connection>>>>),
}

impl Connection {
    pub(super) fn plain(stream: TokioIo<TcpStream>) -> Self {
        Self {
            stream: Stream::Plain(stream),
            forwards: false,
        }
    }

    pub(super) fn encrypted(stream: TlsStream<TokioIo<Self>>) -> Self {
        Self {
            stream: Stream::Encrypted(Box::new(TokioIo::new(stream))),
            forwards: false,
        }
    }

    /// Marks a connection to a proxy that forwards requests.
    pub(super) fn forwarding(mut self) -> Self {
        self.forwards = true;
        self
    }

    /// Returns whether the peer is a proxy that forwards requests.
    pub(super) fn forwards(&self) -> bool {
        self.forwards
    }

    #[cfg(feature = "http2")]
    fn negotiated_http2(&self) -> bool {
        match &self.stream {
            Stream::Plain(_) => false,
            Stream::Encrypted(stream) => stream.inner().get_ref().1.alpn_protocol() == Some(b"h2"),
        }
    }
}

#[cfg(feature = "http2")]
impl connect::Connection for Connection {
    fn connected(&self) -> Connected {
        let connected = Connected::new().proxy(self.forwards);
        match self.negotiated_http2() {
            true => connected.negotiated_h2(),
            false => connected,
        }
    }
}

impl Read for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Stream::Encrypted(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl Write for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Encrypted(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Encrypted(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Encrypted(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Plain(stream) => stream.is_write_vectored(),
            Stream::Encrypted(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Stream::Encrypted(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }
}
