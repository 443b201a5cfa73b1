//! The server's end of a connection: it knows when all is written, and it can be reset.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// What the body of a reply knows of the connection it travels on.
#[derive(Debug, Default)]
pub(crate) struct Line {
    flushes: AtomicU64,
    waiting: Mutex<Option<Waker>>,
    resetting: AtomicBool,
}

impl Line {
    /// How often everything that was handed over had been written so far.
    pub(crate) fn flushes(&self) -> u64 {
        self.flushes.load(Ordering::Acquire)
    }

    /// Ready when everything has been written once more since `flushes` was read.
    pub(crate) fn poll_flushed_since(&self, flushes: u64, cx: &Context<'_>) -> Poll<()> {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        if self.flushes() > flushes {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    /// Makes the connection end with a reset rather than with an end of file.
    pub(crate) fn reset_at_close(&self) {
        self.resetting.store(true, Ordering::Release);
    }

    fn flushed(&self) {
        self.flushes.fetch_add(1, Ordering::AcqRel);
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waiting {
            waker.wake();
        }
    }
}

/// A TCP stream that reports to its [`Line`].
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    line: Arc<Line>,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, line: Arc<Line>) -> Self {
        Self { stream, line }
    }

    fn resetting(&self) -> bool {
        self.line.resetting.load(Ordering::Acquire)
    }

    fn stream(self: Pin<&mut Self>) -> Pin<&mut TcpStream> {
        Pin::new(&mut self.get_mut().stream)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.resetting() {
            // Closing a socket whose linger time is zero sends RST; see socket(7), SO_LINGER. If the peer is gone
            // already there is nobody to reset.
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

    /// HTTP flushes the socket only when its own buffer is empty, so this is where "all is written" shows.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.line.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.resetting() {
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
