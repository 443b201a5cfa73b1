//! [`JsonLines`]: one JSON message per line, as over the pipes of a process.

use std::{collections::VecDeque, future::Future, io};

use rmcp::{
    RoleClient,
    model::{ErrorData, JsonRpcMessage},
    service::TxJsonRpcMessage,
    transport::{Transport, async_rw::AsyncRwTransport},
};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, BufReader, Empty, empty};

use super::message::{IdScan, Message, Unreadable, read};

/// The lines of a message that is spread over several.
#[derive(Debug, Default)]
struct Spread {
    text: Vec<u8>,
    scan: IdScan,
}

impl Spread {
    fn add(&mut self, line: &[u8]) {
        self.text.extend_from_slice(line);
        self.scan.feed(line);
    }
}

/// Reads and writes messages, one per line.
///
/// An answer that cannot be decoded, or is longer than the limit, becomes an error for the request that it answers, so
/// that the request does not wait in vain. A message may be spread over several lines. Other lines that are not messages are
/// skipped.
pub(crate) struct JsonLines<R, W: AsyncWrite> {
    read: BufReader<R>,
    limit: usize,
    /// The line so far, unless it is too long.
    line: Vec<u8>,
    /// The length of a line that is too long, and its id.
    long: Option<(usize, IdScan)>,
    /// The lines of a message that is not complete.
    spread: Option<Spread>,
    ready: VecDeque<Message>,
    /// Only writes.
    writer: AsyncRwTransport<RoleClient, Empty, W>,
}

impl<R, W> JsonLines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Creates a transport for lines of up to `limit` bytes.
    pub(crate) fn new(read: R, write: W, limit: usize) -> Self {
        Self {
            read: BufReader::with_capacity(16 * 1024, read),
            limit,
            line: Vec::new(),
            long: None,
            spread: None,
            ready: VecDeque::new(),
            writer: AsyncRwTransport::new(empty(), write),
        }
    }

    /// Reads up to the end of the line, and returns whether more may follow. What was read is kept when the future is
    /// dropped.
    async fn read_line(&mut self) -> bool {
        loop {
            let chunk = match self.read.fill_buf().await {
                Ok([]) => return false,
                Ok(chunk) => chunk,
                Err(error) => {
                    tracing::warn!(%error, "the output of an MCP server cannot be read");
                    return false;
                }
            };
            let end = memchr::memchr(b'\n', chunk);
            let taken = end.map_or(chunk.len(), |at| at + 1);
            let chunk = &chunk[..taken];
            match &mut self.long {
                Some((length, scan)) => {
                    *length += taken;
                    scan.feed(chunk);
                }
                None if self.line.len() + taken > self.limit => {
                    let mut scan = IdScan::of(&self.line);
                    scan.feed(chunk);
                    self.long = Some((self.line.len() + taken, scan));
                    self.line = Vec::new();
                }
                None => self.line.extend_from_slice(chunk),
            }
            self.read.consume(taken);
            if end.is_some() {
                return true;
            }
        }
    }

    /// Reads the messages of the line.
    fn end_line(&mut self) {
        if let Some((length, scan)) = self.long.take() {
            if let Some(spread) = self.spread.take() {
                self.end_spread(&spread);
            }
            tracing::warn!(
                bytes = length,
                limit = self.limit,
                "an MCP server sent a message that is too long"
            );
            if let Some(id) = scan.answered() {
                let message = format!("the answer has {length} bytes, and the limit is {}", self.limit);
                let error = ErrorData::internal_error(message, None);
                self.ready.push_back(JsonRpcMessage::error(error, Some(id)));
            }
            return;
        }
        let line = std::mem::take(&mut self.line);
        self.read_message(&line);
        // Its memory is used again.
        self.line = line;
        self.line.clear();
    }

    /// Reads a line: messages, a part of a message, or other output.
    fn read_message(&mut self, line: &[u8]) {
        if let Some(mut spread) = self.spread.take() {
            // Only the first line of a message begins like this.
            if line.first() == Some(&b'{')
                && let Ok(messages) = read(line, None)
            {
                self.end_spread(&spread);
                self.ready.extend(messages);
                return;
            }
            spread.add(line);
            match spread.scan.is_open() && spread.text.len() <= self.limit {
                true => self.spread = Some(spread),
                false => self.end_spread(&spread),
            }
            return;
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            return;
        }
        match read(text, None) {
            Ok(messages) => self.ready.extend(messages),
            Err(unreadable) if unreadable.id.is_none() && unreadable.is_cut => {
                let mut spread = Spread::default();
                spread.add(line);
                self.spread = Some(spread);
            }
            Err(unreadable) => self.fail(unreadable, text),
        }
    }

    /// Reads the message of several lines.
    fn end_spread(&mut self, spread: &Spread) {
        match read(&spread.text, None) {
            Ok(messages) => self.ready.extend(messages),
            Err(unreadable) => self.fail(unreadable, &spread.text),
        }
    }

    /// Fails the request that a text answers, if it answers one.
    fn fail(&mut self, mut unreadable: Unreadable, text: &[u8]) {
        match unreadable.id.take() {
            Some(id) => self.ready.push_back(unreadable.as_answer(id, text)),
            None => tracing::debug!(reason = unreadable.reason, "a line of an MCP server is not a message"),
        }
    }
}

impl<R, W> Transport<RoleClient> for JsonLines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.writer.send(message)
    }

    async fn receive(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let goes_on = self.read_line().await;
            self.end_line();
            if !goes_on && let Some(spread) = self.spread.take() {
                self.end_spread(&spread);
            }
            if !goes_on && self.ready.is_empty() {
                return None;
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.writer.close().await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::sink;

    use super::*;

    async fn messages(input: &str, limit: usize) -> Vec<Value> {
        let input = io::Cursor::new(input.as_bytes().to_vec());
        let mut lines = JsonLines::new(input, sink(), limit);
        let mut messages = Vec::new();
        while let Some(message) = lines.receive().await {
            messages.push(serde_json::to_value(message).unwrap());
        }
        messages
    }

    fn pong(id: i64) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "result": {}})
    }

    #[tokio::test]
    async fn lines_are_messages() {
        for end in ["", "\n", "\r\n"] {
            let input = format!("\n{}\nstarting\n{}{end}", pong(1), pong(2));
            assert_eq!(messages(&input, 100).await, [pong(1), pong(2)]);
        }
        let batch = json!([pong(1), pong(2)]).to_string();
        assert_eq!(messages(&batch, 100).await, [pong(1), pong(2)]);
        assert!(messages("", 100).await.is_empty());
    }

    #[tokio::test]
    async fn broken_answers_fail_their_request() {
        let input = format!("{}\n{}", r#"{"jsonrpc":"2.0","id":7,"result":{"a":"#, pong(8));
        let found = messages(&input, 100).await;
        assert_eq!((found[0]["id"].clone(), found[1].clone()), (json!(7), pong(8)));
        let message = found[0]["error"]["message"].as_str().unwrap();
        assert!(
            message.starts_with("the answer cannot be decoded: EOF while parsing"),
            "{message}"
        );
        assert!(
            message.contains(r#"it begins with `{"jsonrpc":"2.0","id":7,"#),
            "{message}"
        );
    }

    #[tokio::test]
    async fn messages_may_have_several_lines() {
        let pretty =
            |id: i64| serde_json::to_string_pretty(&json!({"jsonrpc": "2.0", "id": id, "result": {"a": [{}]}}));
        let whole = |id: i64| json!({"jsonrpc": "2.0", "id": id, "result": {"a": [{}]}});
        let input = format!("{}\r\n{}\n{}", pretty(1).unwrap(), pong(2), pretty(3).unwrap());
        assert_eq!(messages(&input, 100).await, [whole(1), pong(2), whole(3)]);
        // An unfinished message does not hide the messages after it.
        let input = format!("{{ starting\n{{\n{}\n{{\n{}\n", pong(1), pong(2));
        assert_eq!(messages(&input, 100).await, [pong(1), pong(2)]);
        let input = format!("{{\n{}{}\n", "\"x\",\n".repeat(100), pong(1));
        assert_eq!(messages(&input, 100).await, [pong(1)]);
    }

    #[tokio::test]
    async fn broken_answers_of_several_lines_fail_their_request() {
        for text in [
            "{\n jsonrpc: '2.0',\n id: 7,\n result: {}\n}\n",
            "{\n \"jsonrpc\": \"2.0\",\n \"id\": 7,\n \"result\": {\n",
        ] {
            let found = messages(&format!("{text}{}", pong(8)), 100).await;
            assert_eq!((found[0]["id"].clone(), found[1].clone()), (json!(7), pong(8)));
            let message = found[0]["error"]["message"].as_str().unwrap();
            assert!(message.starts_with("the answer cannot be decoded: "), "{message}");
        }
    }

    #[tokio::test]
    async fn long_answers_fail_their_request() {
        let long = "x".repeat(40_000);
        for (line, id) in [
            (
                format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"id":8,"text":"{long}"}}}}"#),
                json!(7),
            ),
            (
                format!(r#"{{"result":["id",1,"{long}"],"jsonrpc":"2.0","id":"a\"b"}}"#),
                json!("a\"b"),
            ),
        ] {
            let found = messages(&format!("{line}\n{}\n", pong(1)), 30_000).await;
            assert_eq!((found.len(), found[1].clone()), (2, pong(1)));
            let message = found[0]["error"]["message"].as_str().unwrap();
            assert!(message.ends_with("and the limit is 30000"), "{message}");
            assert_eq!(found[0]["id"], id);
        }
        for line in [long.clone(), format!(r#"{{"a":{{"id":1}},"b":"{long}"}}"#)] {
            let found = messages(&format!("{line}\n{}\n", pong(1)), 30_000).await;
            assert_eq!(found, [pong(1)]);
        }
    }
}
