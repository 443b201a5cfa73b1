//! The allocations of a turn over HTTP. Their number is exact, so it can be limited.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test"
)]

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use agcore_chat::{ChatRequest, Message};
use agcore_llm::{Call, LlmProvider, LlmProviderExt, ProviderConfig, ReplyItem};
use tokio::runtime::{Builder, Runtime};

/// The number of measured turns, after some that warm up caches and connections.
const TURNS: u32 = 50;

const CHUNKS: u32 = 1000;

/// Starts a server that replies to every request with these bytes, in threads whose allocations are not counted.
fn serve(reply: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for connection in listener.incoming() {
            let (mut connection, reply) = (connection.unwrap(), reply.clone());
            thread::spawn(move || {
                while read_request(&mut connection) {
                    connection.write_all(reply.as_bytes()).unwrap();
                }
            });
        }
    });
    url
}

/// Reads a request. Returns `false` if the client closed the connection.
fn read_request(connection: &mut TcpStream) -> bool {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = connection.read(&mut buffer).unwrap_or(0);
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        let length = text
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        let body = text.find("\r\n\r\n").map(|head| text.len() - head - 4);
        if body.is_some() && body >= length {
            return true;
        }
        if read == 0 {
            return false;
        }
    }
}

fn complete_reply() -> String {
    let body = r#"{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion","created":1741569952,"model":"gpt-4.1-2025-04-14","choices":[{"index":0,"message":{"role":"assistant","content":"Hello! How can I assist you today?","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"service_tier":"default"}"#;
    format!(
        "HTTP/1.1 200 OK\r\ndate: Sat, 21 Nov 2026 23:03:40 GMT\r\ncontent-type: application/json\r\n\
         x-request-id: req_0123456789\r\nx-ratelimit-remaining-requests: 99\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn streamed_reply() -> String {
    let mut reply = String::from(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: req_0\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    let mut event = |delta: &str, finish: &str| {
        let data = format!(
            "data: {{\"id\":\"chatcmpl-123\",\"object\":\"chat.completion.chunk\",\"created\":1694268190,\
             \"model\":\"gpt-4o-mini\",\"system_fingerprint\":\"fp_44709d6fcb\",\"choices\":[{{\"index\":0,\
             \"delta\":{delta},\"logprobs\":null,\"finish_reason\":{finish}}}]}}\n\n"
        );
        reply.push_str(&format!("{:x}\r\n{data}\r\n", data.len()));
    };
    for _ in 0..CHUNKS {
        event(r#"{"content":" a piece of 20 chars"}"#, "null");
    }
    event("{}", "\"stop\"");
    reply + "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
}

fn provider(url: String) -> Arc<dyn LlmProvider> {
    let config = ProviderConfig::new("openai".parse().unwrap(), "gpt-4.1")
        .with_base_url(url)
        .with_api_key("sk-test");
    config.build().unwrap()
}

fn request() -> Arc<ChatRequest> {
    Arc::new(ChatRequest::new([
        Message::system("You are a helpful assistant."),
        Message::user("Hello!"),
    ]))
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Returns the average number of allocations of a turn.
fn allocations(turn: impl Fn()) -> f64 {
    for _ in 0..5 {
        turn();
    }
    let counted = allocation_counter::measure(|| (0..TURNS).for_each(|_| turn()));
    let each = f64::from(u32::try_from(counted.count_total).unwrap()) / f64::from(TURNS);
    assert!(each >= 1.0, "nothing was counted");
    each
}

#[test]
fn a_complete_turn_needs_at_most_44_allocations() {
    let (provider, request, runtime) = (provider(serve(complete_reply())), request(), runtime());
    let each = allocations(|| {
        let response = runtime
            .block_on(provider.chat_call(Call::new(Arc::clone(&request))))
            .unwrap();
        assert_eq!(response.text(), "Hello! How can I assist you today?");
    });

    assert!(each <= 44.0, "{each} allocations for a complete turn");
}

#[test]
fn a_streamed_chunk_needs_at_most_a_tenth_of_an_allocation() {
    let (provider, request, runtime) = (provider(serve(streamed_reply())), request(), runtime());
    let each = allocations(|| {
        runtime.block_on(async {
            let mut items = provider.open(Call::new(Arc::clone(&request)).with_stream(true));
            let mut deltas = 0;
            while let Some(item) = items.next().await {
                match item {
                    ReplyItem::Delta(_) => deltas += 1,
                    ReplyItem::End(end) => end.unwrap(),
                    other => panic!("unexpected {other:?}"),
                }
            }
            assert!(deltas >= CHUNKS);
        });
    });
    let each = each / f64::from(CHUNKS);

    assert!(each <= 0.1, "{each} allocations for a chunk");
}
