//! [`FakeServer`]: answers as a server in trouble would.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_store::redis::{ReconnectPolicy, RedisOptions};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
};

/// The reaction of the server to a command.
#[derive(Clone, Copy)]
pub(super) enum Answer {
    /// Sends these bytes.
    Bytes(&'static str),
    /// Closes the connection.
    Close,
    /// Never answers.
    Nothing,
}

/// A server whose answers are given by a function of the command and of the number of the connection, which starts at 0.
pub(super) struct FakeServer {
    port: u16,
    connections: Arc<AtomicUsize>,
}

impl FakeServer {
    pub(super) async fn start(answer: impl Fn(&str, usize) -> Answer + Send + Sync + Clone + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = count.fetch_add(1, Ordering::Relaxed);
                let answer = answer.clone();
                tokio::spawn(async move {
                    let mut stream = BufReader::new(stream);
                    while let Some(command) = command(&mut stream).await {
                        let bytes = match answer(&command, number) {
                            Answer::Bytes(bytes) => bytes,
                            Answer::Close => return,
                            Answer::Nothing => continue,
                        };
                        if stream.write_all(bytes.as_bytes()).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { port, connections }
    }

    /// Returns options that try to connect once.
    pub(super) fn options(&self) -> RedisOptions {
        let options = RedisOptions::new(&format!("redis://127.0.0.1:{}", self.port)).unwrap();
        options.with_reconnect(ReconnectPolicy::new().with_attempts(1))
    }

    /// Returns the number of connections that were accepted.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

/// Answers what opening a store asks for.
pub(super) fn healthy(command: &str) -> Option<Answer> {
    match command {
        "HELLO" => Some(Answer::Bytes("%1\r\n+proto\r\n:3\r\n")),
        "INFO" => Some(Answer::Bytes("$0\r\n\r\n")),
        "GET" => Some(Answer::Bytes("$1\r\n1\r\n")),
        _ => None,
    }
}

/// Reads a command and returns its name.
async fn command(stream: &mut BufReader<tokio::net::TcpStream>) -> Option<String> {
    let count = number(stream, '*').await?;
    let mut name = None;
    for _ in 0..count {
        let length = number(stream, '$').await?;
        let mut bytes = vec![0; length + 2];
        stream.read_exact(&mut bytes).await.ok()?;
        name.get_or_insert_with(|| String::from_utf8_lossy(&bytes[..length]).into_owned());
    }
    name
}

async fn number(stream: &mut BufReader<tokio::net::TcpStream>, kind: char) -> Option<usize> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    line.trim_end().strip_prefix(kind)?.parse().ok()
}
