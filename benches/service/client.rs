//! [`Client`]: a stream of events that is read to its end, and checked.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{Fallible, child::Side, plan::Plan};

/// A connection whose answer is a stream of events.
pub(crate) struct Client {
    stream: TcpStream,
    read: Vec<u8>,
    text: String,
    /// The id of the last event.
    last: u64,
    is_finished: bool,
}

/// The input of a run, as each side reads it.
pub(crate) fn input(side: Side, name: &str, plan: &Plan) -> String {
    match side {
        Side::Floor => plan.to_string(),
        Side::Agcore => json!({
            "threadId": name, "runId": "run", "protocolVersion": "1.0", "tools": [], "context": [], "state": {},
            "messages": [{"id": "message", "role": "user", "content": plan.to_string()}], "forwardedProps": {},
        })
        .to_string(),
    }
}

impl Client {
    /// Sends a request, and returns when the head of the answer has arrived.
    pub(crate) async fn open(address: SocketAddr, method: &str, path: &str, body: &str) -> Fallible<Self> {
        let mut stream = TcpStream::connect(address).await?;
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut client = Self {
            stream,
            read: Vec::new(),
            text: String::new(),
            last: 0,
            is_finished: false,
        };
        let end = loop {
            match find(&client.read, b"\r\n\r\n") {
                Some(end) => break end + 4,
                None => client.fill().await?,
            }
        };
        let head: Vec<u8> = client.read.drain(..end).collect();
        if !head.starts_with(b"HTTP/1.1 20") {
            return Err(format!("the server answered {}", String::from_utf8_lossy(&head)).into());
        }
        Ok(client)
    }

    /// Reads the events to their end.
    ///
    /// # Errors
    /// When an event is missing, comes twice or out of order, or the text is not that of the plan.
    pub(crate) async fn finish(mut self, plan: &Plan) -> Fallible {
        while let Some(chunk) = self.chunk().await? {
            for frame in std::str::from_utf8(&chunk)?.split_terminator("\n\n") {
                self.frame(frame)?;
            }
        }
        if !self.is_finished || self.text != plan.text() {
            let (found, expected) = (self.text.len(), plan.text().len());
            return Err(format!("a client received {found} of {expected} bytes of the text, or no end").into());
        }
        Ok(())
    }

    fn frame(&mut self, frame: &str) -> Fallible {
        for line in frame.lines() {
            if let Some(id) = line.strip_prefix("id: ") {
                let id: u64 = id.parse()?;
                if id <= self.last {
                    return Err(format!("the event {id} came after the event {}", self.last).into());
                }
                self.last = id;
            } else if let Some(data) = line.strip_prefix("data: ") {
                let event: Value = serde_json::from_str(data)?;
                match event["type"].as_str() {
                    Some("TEXT_MESSAGE_CONTENT") => self.text.push_str(event["delta"].as_str().unwrap_or_default()),
                    Some("RUN_FINISHED") => self.is_finished = true,
                    Some("RUN_ERROR") => return Err(format!("a run failed: {data}").into()),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Returns the next chunk of the body: whole frames. `None` at the end.
    async fn chunk(&mut self) -> Fallible<Option<Vec<u8>>> {
        loop {
            if let Some(end) = find(&self.read, b"\r\n") {
                let size = usize::from_str_radix(std::str::from_utf8(&self.read[..end])?, 16)?;
                let all = end + 2 + size + 2;
                if self.read.len() >= all {
                    let chunk = self.read[end + 2..all - 2].to_vec();
                    self.read.drain(..all);
                    return Ok((size > 0).then_some(chunk));
                }
            }
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> Fallible {
        match self.stream.read_buf(&mut self.read).await? {
            0 => Err("the server closed a connection".into()),
            _ => Ok(()),
        }
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}
