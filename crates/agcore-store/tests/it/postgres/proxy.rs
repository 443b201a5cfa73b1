//! A proxy in front of the server, which can cut connections or fall silent.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::Notify,
};

use super::server::url;

/// Passes bytes on until a test cuts or silences it.
#[derive(Debug, Clone)]
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    /// How many more bytes of answers are passed on before all connections are cut.
    answers_left: AtomicU64,
    is_silent: AtomicBool,
    cut: Notify,
}

impl Proxy {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            address: listener.local_addr().unwrap(),
            state: Arc::new(State {
                answers_left: AtomicU64::new(u64::MAX),
                is_silent: AtomicBool::new(false),
                cut: Notify::new(),
            }),
        };
        let state = Arc::clone(&proxy.state);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, Arc::clone(&state)));
            }
        });
        proxy
    }

    /// Cuts the connection when this many bytes of answers have been passed on. New connections are not affected.
    pub(crate) fn cut_after(&self, answer_bytes: u64) {
        self.state.answers_left.store(answer_bytes, Ordering::SeqCst);
    }

    /// Passes nothing on any more, or does so again.
    pub(crate) fn set_silent(&self, is_silent: bool) {
        self.state.is_silent.store(is_silent, Ordering::SeqCst);
    }
}

async fn serve(client: TcpStream, state: Arc<State>) {
    let server = url::Url::parse(&url()).unwrap();
    let address = (server.host_str().unwrap(), server.port().unwrap_or(5432));
    let server = TcpStream::connect(address).await.unwrap();
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    tokio::select! {
        () = state.cut.notified() => {}
        () = requests(from_client, to_server, &state) => {}
        () = answers(from_server, to_client, &state) => {}
    }
}

async fn requests(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, state: &State) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        if !state.is_silent.load(Ordering::SeqCst) && to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

async fn answers(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, state: &State) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        if state.is_silent.load(Ordering::SeqCst) {
            continue;
        }
        let left = state.answers_left.load(Ordering::SeqCst);
        if left == u64::MAX {
            if to.write_all(&buffer[..read]).await.is_err() {
                return;
            }
            continue;
        }
        let passed = left.min(read as u64);
        let _ = to.write_all(&buffer[..passed as usize]).await;
        state.answers_left.store(left - passed, Ordering::SeqCst);
        if passed < read as u64 {
            state.answers_left.store(u64::MAX, Ordering::SeqCst);
            state.cut.notify_waiters();
            return;
        }
    }
}
