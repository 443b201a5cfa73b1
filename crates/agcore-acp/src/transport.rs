//! Lines over a pair of byte streams, with limits.

use std::{io, sync::Arc};

use futures_util::{Sink, Stream, sink, stream};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;

/// The longest line that is read, in bytes. A prompt with images is one line.
const MAX_LINE: usize = 64 * 1024 * 1024;

/// The line that stands for one that cannot be used: its answer is a parse error.
const UNUSABLE: &str = "{";

/// The number of updates that may wait to be written.
pub(crate) const PLACES: usize = 1024;

/// Returns the lines of a stream, without empty ones. A line that is too long or not UTF-8 is replaced by one that is not JSON, so
/// that it gets an error and the next one is read.
pub(crate) fn lines(input: impl AsyncRead + Send + Unpin + 'static) -> impl Stream<Item = io::Result<String>> + Send {
    stream::unfold(BufReader::new(input), |mut input| async move {
        let line = next_line(&mut input, MAX_LINE).await.transpose()?;
        Some((line, input))
    })
}

/// Returns the next line, or `None` at the end.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin), limit: usize) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let mut is_too_long = false;
    loop {
        let buffer = input.fill_buf().await?;
        let is_end = buffer.is_empty();
        let (taken, has_ended) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), false),
        };
        if line.len() + taken > limit {
            is_too_long = true;
            line = Vec::new();
        }
        if !is_too_long {
            line.extend_from_slice(&buffer[..taken]);
        }
        input.consume(taken);
        if has_ended || is_end {
            if is_too_long {
                tracing::warn!(limit, "a line of the editor is too long and was not read");
                return Ok(Some(UNUSABLE.to_owned()));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(String::from_utf8(line).unwrap_or_else(|_| UNUSABLE.to_owned())));
            }
            if is_end {
                return Ok(None);
            }
            line.clear();
        }
    }
}

/// Returns a sink that writes each line at once, and then gives a place for another update free. Cancels `broken` when the editor
/// has closed its end; later lines are not written.
pub(crate) fn writer(
    output: impl AsyncWrite + Send + Unpin + 'static,
    places: Arc<Semaphore>,
    broken: CancellationToken,
) -> impl Sink<String, Error = io::Error> + Send {
    sink::unfold(
        (output, places, broken),
        |(mut output, places, broken), line: String| async move {
            match write(&mut output, line).await {
                _ if broken.is_cancelled() => {}
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => broken.cancel(),
                written => written?,
            }
            // Answers take no place, so there may be as many as ever.
            if places.available_permits() < PLACES {
                places.add_permits(1);
            }
            Ok((output, places, broken))
        },
    )
}

async fn write(output: &mut (impl AsyncWrite + Unpin), mut line: String) -> io::Result<()> {
    line.push('\n');
    output.write_all(line.as_bytes()).await?;
    output.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(input: &[u8], limit: usize) -> Vec<String> {
        let mut input = BufReader::with_capacity(3, input);
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input, limit).await.unwrap() {
            lines.push(line);
        }
        lines
    }

    #[tokio::test]
    async fn lines_are_bounded_and_the_next_one_is_read() {
        assert_eq!(read(b"{}\n\n  \r\n[1]", 10).await, ["{}\n", "[1]"]);
        assert_eq!(read(b"0123456789\nab\n", 5).await, [UNUSABLE, "ab\n"]);
        assert_eq!(read(b"0123456789", 5).await, [UNUSABLE]);
        assert_eq!(read(b"\xff\xfe\n{}\n", 10).await, [UNUSABLE, "{}\n"]);
        assert_eq!(read(b"12345\n", 6).await, ["12345\n"]);
        assert_eq!(read(b"123456\n", 6).await, [UNUSABLE]);
        assert!(read(b"", 5).await.is_empty());
    }
}
