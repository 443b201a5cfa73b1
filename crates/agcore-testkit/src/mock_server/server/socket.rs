//! [`Socket`]: the server's end of a connection, which reports flushes and can be reset.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The state of a connection, shared between its socket and the bodies of its replies.
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    flushes: AtomicU64,
    waker: Mutex<Option<Waker>>,
    reset_on_close: AtomicBool,
}

impl ConnectionState {
    /// Returns how often all bytes passed to the connection have been written so far.
    pub(crate) fn flushes(&self) -> u64 {
        self.flushes.load(Ordering::Acquire)
    }

    /// Becomes ready when all bytes have been written at least once since `flushes` was read.
    pub(crate) fn poll_flushed_since(&self, flushes: u64, cx: &Context<'_>) -> Poll<()> {
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        if self.flushes() > flushes {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    /// Makes the connection end with a reset instead of an end of file.
    pub(crate) fn reset_on_close(&self) {
        self.reset_on_close.store(true, Ordering::Release);
    }

    fn notify_flushed(&self) {
        self.flushes.fetch_add(1, Ordering::AcqRel);
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// A TCP stream that reports to its [`ConnectionState`].
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    state: Arc<ConnectionState>,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, state: Arc<ConnectionState>) -> Self {
        Self { stream, state }
    }

    fn resets_on_close(&self) -> bool {
        self.state.reset_on_close.load(Ordering::Acquire)
    }

    fn stream(self: Pin<&mut Self>) -> Pin<&mut TcpStream> {
        Pin::new(&mut self.get_mut().stream)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.resets_on_close() {
            // Closing a socket with a linger time of zero sends RST; see socket(7), SO_LINGER. This fails only if the
            // peer has closed the connection already.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.stream().poll_write(cx, buf)
    }

    /// Reports a flush: hyper flushes the socket only when its own buffer is empty, so everything has been written.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.state.notify_flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.resets_on_close() {
            Poll::Ready(Ok(()))
        } else {
            self.stream().poll_shutdown(cx)
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream().poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
