//! A server with canned replies in separate threads, so that only allocations of the client are counted.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

pub(super) const ANSWER: &str = "Hello! How can I assist you today?";

pub(super) const TOOLS: [&str; 3] = ["weather", "time", "population"];

pub(super) const CHUNKS: u32 = 1000;

/// The number of requests below `/busy`. Only the last one is answered.
const BUSY: u32 = 3;

/// Starts a server and returns its address.
pub(super) fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicU32::new(0));
    thread::spawn(move || {
        for connection in listener.incoming() {
            let (mut connection, asked) = (connection.unwrap(), Arc::clone(&asked));
            thread::spawn(move || {
                while let Some(request) = read_request(&mut connection) {
                    let number = asked.fetch_add(1, Ordering::Relaxed);
                    connection.write_all(reply(&request, number).as_bytes()).unwrap();
                }
            });
        }
    });
    url
}

/// Reads the next request, head and body. Returns `None` when the connection has ended.
fn read_request(connection: &mut TcpStream) -> Option<String> {
    let (mut bytes, mut piece) = (Vec::new(), vec![0; 65_536]);
    let mut size = None;
    while size.is_none_or(|size| bytes.len() < size) {
        let read = connection.read(&mut piece).unwrap_or(0);
        if read == 0 {
            return None;
        }
        bytes.extend_from_slice(&piece[..read]);
        size = size.or_else(|| request_size(&bytes));
    }
    String::from_utf8(bytes).ok()
}

/// Returns the size of the whole request, once its head has arrived.
fn request_size(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
    Some(head + length.map_or(0, |length| length.trim().parse::<usize>().unwrap()))
}

fn reply(request: &str, number: u32) -> String {
    let path = request.split('/').nth(1).unwrap_or_default();
    match path {
        "stream" => stream(),
        "loop" if !request.contains("tool_call_id") => calls(number),
        "busy" if number % BUSY != BUSY - 1 => busy(),
        _ => answer(),
    }
}

fn busy() -> String {
    let body = r#"{"error":{"message":"The server is overloaded.","type":"server_error"}}"#;
    let length = body.len();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 0\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
}

fn answer() -> String {
    completion(&format!(r#"{{"role":"assistant","content":"{ANSWER}"}}"#), "stop")
}

/// Returns a reply with calls. As those of vendors, their ids never repeat.
fn calls(number: u32) -> String {
    let calls = TOOLS.map(|name| {
        format!(
            r#"{{"id":"call_{name}_{number}","type":"function","function":{{"name":"{name}","arguments":"{{\"city\":\"Paris\"}}"}}}}"#
        )
    });
    let calls = calls.join(",");
    completion(
        &format!(r#"{{"role":"assistant","content":null,"tool_calls":[{calls}]}}"#),
        "tool_calls",
    )
}

fn completion(message: &str, finish: &str) -> String {
    let body = format!(
        r#"{{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion","created":1741569952,"model":"gpt-4.1","choices":[{{"index":0,"message":{message},"logprobs":null,"finish_reason":"{finish}"}}],"usage":{{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29}}}}"#
    );
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_0\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

fn stream() -> String {
    let mut reply =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    let mut event = |delta: &str, finish: &str| {
        let data = format!(
            "data: {{\"id\":\"chatcmpl-123\",\"object\":\"chat.completion.chunk\",\"created\":1694268190,\
             \"model\":\"gpt-4o-mini\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        );
        reply.push_str(&format!("{:x}\r\n{data}\r\n", data.len()));
    };
    (0..CHUNKS).for_each(|number| event(&format!(r#"{{"content":" piece {number:07} of 20"}}"#), "null"));
    event("{}", "\"stop\"");
    reply + "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
}
