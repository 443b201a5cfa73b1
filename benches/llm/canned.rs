//! The bytes on the wire: requests that the floors send, replies that the server gives.

pub(crate) mod streamed;

/// How many chunks the fast stream has.
pub(crate) const FAST_CHUNKS: u32 = 2000;

/// How many chunks each of many streams has, and how long the server pauses between two of them.
pub(crate) const PACED_CHUNKS: u32 = 60;
pub(crate) const PACE_MS: u64 = 50;

/// What the model says in a whole reply.
pub(crate) const ANSWER: &str = "Hello! How can I assist you today?";

/// How much text a chunk has, in bytes.
const PIECE: u64 = 20;

const USAGE: &str = r#""usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"service_tier":"default""#;

/// A turn's request, as the floors write it.
pub(crate) const TURN: &str = r#"{"model":"gpt-4.1","messages":[{"role":"system","content":"You are a helpful assistant."},{"role":"user","content":"Hello!"}]}"#;

/// The same, streamed.
pub(crate) const STREAMED_TURN: &str = r#"{"model":"gpt-4.1","messages":[{"role":"system","content":"You are a helpful assistant."},{"role":"user","content":"Hello!"}],"stream":true,"stream_options":{"include_usage":true}}"#;

/// The names of the tools that the model calls, all at once.
pub(crate) const TOOLS: [&str; 3] = ["weather", "time", "population"];

/// The beginning of a loop's requests, up to the messages; tools and closing bracket follow them.
pub(crate) const LOOP_HEAD: &str = r#"{"model":"gpt-4.1","messages":[{"role":"system","content":"You are a helpful assistant."},{"role":"user","content":"What about Paris?"}"#;

/// The end of a loop's requests.
pub(crate) fn loop_tail() -> String {
    let tools = TOOLS.map(|name| {
        format!(
            r#"{{"type":"function","function":{{"name":"{name}","description":"Looks it up.","parameters":{{"type":"object","properties":{{"city":{{"description":"The city.","type":"string"}}}},"required":["city"],"additionalProperties":false}}}}}}"#
        )
    });
    format!(r#"],"tools":[{}]}}"#, tools.join(","))
}

/// The whole reply of a turn.
pub(crate) fn whole_reply() -> Vec<u8> {
    let message = format!(r#"{{"role":"assistant","content":"{ANSWER}","refusal":null,"annotations":[]}}"#);
    completion(&message, "stop")
}

/// The reply that calls three tools.
pub(crate) fn calls_reply() -> Vec<u8> {
    let calls = TOOLS.map(|name| {
        format!(
            r#"{{"id":"call_{name}","type":"function","function":{{"name":"{name}","arguments":"{{\"city\":\"Paris\"}}"}}}}"#
        )
    });
    let calls = calls.join(",");
    let message =
        format!(r#"{{"role":"assistant","content":null,"tool_calls":[{calls}],"refusal":null,"annotations":[]}}"#);
    completion(&message, "tool_calls")
}

/// The reply of a server that cannot now.
pub(crate) fn busy_reply() -> Vec<u8> {
    let body = r#"{"error":{"message":"The server is overloaded.","type":"server_error","param":null,"code":null}}"#;
    let length = body.len();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 0\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

fn completion(message: &str, finish: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion","created":1741569952,"model":"gpt-4.1-2025-04-14","choices":[{{"index":0,"message":{message},"logprobs":null,"finish_reason":"{finish}"}}],{USAGE}}}"#
    );
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ndate: Sat, 21 Nov 2026 23:03:40 GMT\r\ncontent-type: application/json\r\n\
         x-request-id: req_0123456789\r\nx-ratelimit-remaining-requests: 99\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The head of a stream.
pub(crate) const STREAM_HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: req_0\r\ntransfer-encoding: chunked\r\n\r\n";

/// How much text a stream of so many chunks has, in bytes.
pub(crate) fn text_of(chunks: u32) -> u64 {
    u64::from(chunks) * PIECE
}
