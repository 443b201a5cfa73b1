//! [`LineGuard`]: answers for a server whose message is too long to be read.

use std::{
    io::Write as _,
    pin::Pin,
    task::{Context, Poll, ready},
};

use serde_json::json;
use tokio::io::{AsyncRead, ReadBuf};

/// The size of the chunks that are read.
const CHUNK_BYTES: usize = 16 * 1024;

/// The longest id that is recognized.
const MAX_ID_BYTES: usize = 64;

/// Reads lines, one JSON message each, and adds an error response after each line that is too long.
///
/// The reader behind it drops such a line. If the line is a response, its request would wait in vain; this one finds
/// the id while the line passes, and adds an error response for it.
#[derive(Debug)]
pub(crate) struct LineGuard<R> {
    inner: R,
    limit: usize,
    chunk: Box<[u8]>,
    /// The part of the chunk that has been read and not been passed on.
    start: usize,
    end: usize,
    /// The length of the current line so far.
    length: usize,
    scan: IdScan,
    /// A response that is inserted before the rest of the chunk.
    inserted: Vec<u8>,
}

impl<R> LineGuard<R> {
    /// Creates a guard for lines of up to `limit` bytes.
    pub(crate) fn new(inner: R, limit: usize) -> Self {
        Self {
            inner,
            limit,
            chunk: vec![0; CHUNK_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            length: 0,
            scan: IdScan::default(),
            inserted: Vec::new(),
        }
    }

    /// Returns how much of the chunk can be passed on before something is inserted.
    fn advance(&mut self, room: usize) -> usize {
        let available = &self.chunk[self.start..self.end.min(self.start + room)];
        if self.length == 0 && available.len() <= self.limit {
            // Lines that begin and end here are not too long.
            if let Some(at) = memchr::memrchr(b'\n', available) {
                return at + 1;
            }
        }
        match memchr::memchr(b'\n', available) {
            Some(at) => {
                self.scan.feed(&available[..at]);
                self.end_line(at + 1);
                at + 1
            }
            None => {
                self.scan.feed(available);
                self.length += available.len();
                available.len()
            }
        }
    }

    fn end_line(&mut self, bytes: usize) {
        let length = std::mem::take(&mut self.length) + bytes;
        let scan = std::mem::take(&mut self.scan);
        if length <= self.limit {
            return;
        }
        tracing::warn!(
            bytes = length,
            limit = self.limit,
            "an MCP server sent a message that is too long"
        );
        if let Some(id) = scan.id() {
            let message = format!("the answer has {length} bytes, and the limit is {}", self.limit);
            let response = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": message}});
            // Writing to a Vec cannot fail.
            let _ = writeln!(self.inserted, "{response}");
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LineGuard<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let this = &mut *self;
        if !this.inserted.is_empty() {
            let count = this.inserted.len().min(buf.remaining());
            buf.put_slice(&this.inserted[..count]);
            this.inserted.drain(..count);
            return Poll::Ready(Ok(()));
        }
        if this.start == this.end {
            let mut chunk = ReadBuf::new(&mut this.chunk);
            ready!(Pin::new(&mut this.inner).poll_read(cx, &mut chunk))?;
            (this.start, this.end) = (0, chunk.filled().len());
        }
        let (from, count) = (this.start, this.advance(buf.remaining()));
        buf.put_slice(&this.chunk[from..from + count]);
        this.start += count;
        Poll::Ready(Ok(()))
    }
}

/// Finds the member `id` of a JSON object that is read in pieces. Members of nested objects are not taken for it.
#[derive(Debug, Default)]
struct IdScan {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// The last string or scalar at the top level of the object, if it is short.
    token: Vec<u8>,
    is_value: bool,
    is_id: bool,
    id: Vec<u8>,
}

impl IdScan {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.end_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => {
                self.is_id = self.token == br#""id""#;
                self.is_value = true;
                self.token.clear();
            }
            b',' => self.end_value(),
            b' ' | b'\t' | b'\r' => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= MAX_ID_BYTES {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        if self.depth == 1 {
            if self.is_value && self.is_id {
                self.id = std::mem::take(&mut self.token);
            }
            self.token.clear();
            (self.is_value, self.is_id) = (false, false);
        }
    }

    /// Returns the id, if it is a number or a string.
    fn id(&self) -> Option<serde_json::Value> {
        let id = serde_json::from_slice(&self.id).ok()?;
        matches!(id, serde_json::Value::Number(_) | serde_json::Value::String(_)).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    async fn read(input: &[u8], limit: usize) -> String {
        let mut output = String::new();
        let mut guard = LineGuard::new(input, limit);
        guard.read_to_string(&mut output).await.unwrap();
        output
    }

    #[tokio::test]
    async fn short_lines_pass_unchanged() {
        for input in ["", "\n", "a\nb\n\nc", "{\"id\":1}\r\n"] {
            assert_eq!(read(input.as_bytes(), 20).await, input);
        }
    }

    #[tokio::test]
    async fn long_responses_are_answered_with_their_id() {
        let long = "x".repeat(40_000);
        let cases = [
            (
                format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"id":8,"text":"{long}"}}}}"#),
                "7",
            ),
            (
                format!(r#"{{"result":{{"id":8,"text":"}}{long}"}}, "id" : "a\"b"}}"#),
                r#""a\"b""#,
            ),
            (
                format!(r#"{{"result":["id",1,"{long}"],"jsonrpc":"2.0","id":-3}}"#),
                "-3",
            ),
        ];
        for (line, id) in cases {
            let output = read(format!("{line}\nnext\n").as_bytes(), 30_000).await;
            let lines: Vec<_> = output.lines().collect();
            assert_eq!((lines.len(), lines[0], lines[2]), (3, &*line, "next"));
            assert!(
                lines[1].starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error""#)),
                "{}",
                lines[1]
            );
        }
    }

    #[tokio::test]
    async fn long_lines_without_an_id_are_not_answered() {
        let long = "x".repeat(40_000);
        for line in [
            long.clone(),
            format!(r#"{{"a":{{"id":1}},"b":"{long}"}}"#),
            format!(r#"["id",1,"{long}"]"#),
        ] {
            let input = format!("{line}\nnext\n");
            assert_eq!(read(input.as_bytes(), 30_000).await, input);
        }
    }
}
