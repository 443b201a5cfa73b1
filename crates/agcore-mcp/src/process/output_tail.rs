//! [`OutputTail`]: the last lines that a server wrote to stderr.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::redact::{KeyRedactor, Redactor};
use agcore_chat::text::{prefix, visible};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The number of lines that are kept.
const MAX_LINES: usize = 12;

/// The longest line that is kept, in bytes. The rest of a longer line is dropped.
const MAX_LINE_BYTES: usize = 400;

/// The last lines of an output. They are logged, and quoted in errors, without control characters and known secrets.
#[derive(Clone)]
pub(crate) struct OutputTail {
    server: Arc<str>,
    /// Values of environment variables and the like, which must not appear in errors.
    secrets: Arc<[String]>,
    lines: Arc<Mutex<VecDeque<String>>>,
}

/// Values that are shorter are not secrets, and would remove too much of the text.
const MIN_SECRET_BYTES: usize = 8;

impl OutputTail {
    /// Creates an empty tail.
    pub(crate) fn new(server: &str, secrets: impl IntoIterator<Item = String>) -> Self {
        let secrets = secrets.into_iter().filter(|secret| secret.len() >= MIN_SECRET_BYTES);
        Self {
            server: server.into(),
            secrets: secrets.collect(),
            lines: Arc::default(),
        }
    }

    /// Returns the lines that were kept, the oldest first, separated by ` | `; empty if there was no output.
    pub(crate) fn text(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        lines.join(" | ")
    }

    /// Reads an output to its end, so that the server never waits for a full pipe.
    pub(crate) async fn read_from(&self, output: impl AsyncRead + Unpin) -> std::io::Result<()> {
        let mut reader = BufReader::new(output);
        let mut line = Vec::new();
        loop {
            let chunk = reader.fill_buf().await?;
            if chunk.is_empty() {
                self.push(&line);
                return Ok(());
            }
            let newline = memchr::memchr(b'\n', chunk);
            let piece = &chunk[..newline.unwrap_or(chunk.len())];
            let room = MAX_LINE_BYTES.saturating_sub(line.len());
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            let consumed = newline.map_or(chunk.len(), |at| at + 1);
            reader.consume(consumed);
            if newline.is_some() {
                self.push(&line);
                line.clear();
            }
        }
    }

    fn push(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        if text.is_empty() {
            return;
        }
        let mut text = KeyRedactor.redact(text).into_owned();
        for secret in self.secrets.iter() {
            text = text.replace(secret, "[redacted]");
        }
        let text = visible(prefix(&text, MAX_LINE_BYTES)).into_owned();
        tracing::debug!(server = &*self.server, line = text, "stderr of an MCP server");
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(text);
    }
}

impl fmt::Debug for OutputTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputTail")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &[u8], expected: &str) {
        let tail = OutputTail::new("s", ["hunter2hunter2".to_owned()]);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(tail.read_from(output)).unwrap();
        assert_eq!(tail.text(), expected);
    }

    #[test]
    fn keeps_the_last_lines_without_secrets() {
        check(b"", "");
        check(b"one\n\n two\r\nthree", "one |  two | three");
        check(b"the key is hunter2hunter2!\n", "the key is [redacted]!");
        check(b"a\x1b[2Jb\xff\n", "a\\u{1b}[2Jb\u{fffd}");
        let flood: String = (0..5000).map(|number| format!("line {number}\n")).collect();
        let last: Vec<_> = (4988..5000).map(|number| format!("line {number}")).collect();
        check(flood.as_bytes(), &last.join(" | "));
        check(&[b'x'; 1_000_000], &"x".repeat(MAX_LINE_BYTES));
    }
}
