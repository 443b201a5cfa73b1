//! [`UntilEnd`]: reports when a stream has been read to its end.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// A stream that cancels a token when it ends or fails.
pub(super) struct UntilEnd<R> {
    stream: R,
    ended: CancellationToken,
}

impl<R> UntilEnd<R> {
    pub(super) fn new(stream: R, ended: CancellationToken) -> Self {
        Self { stream, ended }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilEnd<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let (before, had_space) = (buffer.filled().len(), buffer.remaining() > 0);
        let result = ready!(Pin::new(&mut self.stream).poll_read(cx, buffer));
        if result.is_err() || (had_space && buffer.filled().len() == before) {
            self.ended.cancel();
        }
        Poll::Ready(result)
    }
}
