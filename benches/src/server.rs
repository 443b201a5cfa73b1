//! The server, which sends canned bytes over loopback. The first segment of the path selects the reply.

use std::{
    io::{self, Read as _},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::Builder,
    time::{MissedTickBehavior, interval},
};

use crate::{
    Fallible,
    canned::{
        self,
        streamed::{self, Api},
    },
    core,
};

/// Every `BUSY_PERIOD`th request to `/busy` is answered; the others fail.
const BUSY_PERIOD: u32 = 3;

/// The size in bytes up to which requests are short.
const SHORT: usize = 65_536;

/// The size in bytes of the parts of a long request that are searched.
const END: usize = 2048;

struct Replies {
    whole: Vec<u8>,
    whole_streamed: Vec<u8>,
    calls: Vec<u8>,
    calls_streamed: Vec<u8>,
    busy: Vec<u8>,
    streams: [(&'static [u8], Vec<u8>); 3],
    head: &'static str,
    chunks: Vec<String>,
    end: String,
    busy_requests: AtomicU32,
}

/// Serves until the parent process exits. Prints the address to the standard output.
pub fn serve(core: Option<usize>) -> Fallible {
    core.map_or(Ok(()), core::pin_to)?;
    thread::spawn(|| {
        // The parent never writes; when it exits, the pipe is closed.
        let _closed = io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("http://{}", listener.local_addr()?);
        let replies = Arc::new(Replies::new());
        loop {
            let (connection, _) = listener.accept().await?;
            connection.set_nodelay(true)?;
            tokio::spawn(answer_all(connection, Arc::clone(&replies)));
        }
    })
}

/// Answers the requests of a connection until it is closed. I/O errors are left to the client to report.
async fn answer_all(mut connection: TcpStream, replies: Arc<Replies>) {
    let mut request = Vec::new();
    while let Ok(true) = read_request(&mut connection, &mut request).await {
        if replies.answer(&request, &mut connection).await.is_err() {
            return;
        }
    }
}

/// Reads a request into the buffer. Returns `false` if the connection was closed.
async fn read_request(connection: &mut TcpStream, request: &mut Vec<u8>) -> io::Result<bool> {
    request.clear();
    let mut size = None;
    while size.is_none_or(|size| request.len() < size) {
        if connection.read_buf(request).await? == 0 {
            return Ok(false);
        }
        if size.is_none() {
            size = request_size(request);
        }
    }
    Ok(true)
}

/// Returns the size of head and body, as soon as the head is complete.
fn request_size(request: &[u8]) -> Option<usize> {
    let head = memchr::memmem::find(request, b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&request[..head]).ok()?;
    let body = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    Some(head + body.unwrap_or(0))
}

/// Returns whether a request asks for a stream. Of a long one, only both ends are searched, before and after its messages:
/// searching the whole would cost the server more than the reply.
fn is_streamed(request: &[u8]) -> bool {
    let contains = |part: &[u8]| memchr::memmem::find(part, br#""stream":true"#).is_some();
    match (request.first_chunk::<END>(), request.last_chunk::<END>()) {
        (Some(first), Some(last)) if request.len() > SHORT => contains(first) || contains(last),
        _ => contains(request),
    }
}

impl Replies {
    fn new() -> Self {
        let head = canned::STREAM_HEAD;
        let chunks_of = |api: Api, count| (0..count).map(|number| api.chunk(number)).collect::<Vec<_>>();
        let stream = |api: Api| {
            let chunks = chunks_of(api, canned::FAST_CHUNKS).concat();
            [head, &api.start(), &chunks, &api.end()].concat().into_bytes()
        };
        Self {
            whole: canned::whole_reply(),
            whole_streamed: streamed::answer(canned::ANSWER),
            calls: canned::calls_reply(),
            calls_streamed: streamed::calls(&canned::TOOLS, [r#"{\"city\":"#, r#"\"Paris\"}"#]),
            busy: canned::busy_reply(),
            streams: Api::ALL.map(|api| (api.path().as_bytes(), stream(api))),
            head,
            chunks: chunks_of(Api::Chat, canned::PACED_CHUNKS),
            end: Api::Chat.end(),
            busy_requests: AtomicU32::new(0),
        }
    }

    async fn answer(&self, request: &[u8], connection: &mut TcpStream) -> io::Result<()> {
        let path = request.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        let first = path.split(|byte| *byte == b'/').nth(1).unwrap_or_default();
        if let Some((_, stream)) = self.streams.iter().find(|(path, _)| *path == first) {
            return connection.write_all(stream).await;
        }
        let contains = |part: &str| memchr::memmem::find(request, part.as_bytes()).is_some();
        let is_streamed = || is_streamed(request);
        match first {
            b"paced" => self.paced(connection).await,
            b"loop" if !contains("tool_call_id") => {
                let calls = if is_streamed() {
                    &self.calls_streamed
                } else {
                    &self.calls
                };
                connection.write_all(calls).await
            }
            b"busy" if self.busy_requests.fetch_add(1, Ordering::Relaxed) % BUSY_PERIOD != BUSY_PERIOD - 1 => {
                connection.write_all(&self.busy).await
            }
            b"turn" | b"loop" if is_streamed() => connection.write_all(&self.whole_streamed).await,
            _ => connection.write_all(&self.whole).await,
        }
    }

    async fn paced(&self, connection: &mut TcpStream) -> io::Result<()> {
        let mut pace = interval(Duration::from_millis(canned::PACE_MS));
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        connection.write_all(self.head.as_bytes()).await?;
        for chunk in &self.chunks {
            pace.tick().await;
            connection.write_all(chunk.as_bytes()).await?;
        }
        connection.write_all(self.end.as_bytes()).await
    }
}
