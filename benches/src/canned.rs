//! The bytes on the wire: the requests of the baselines, and the replies of the server.

pub mod streamed;

/// The number of chunks of the fast stream.
pub const FAST_CHUNKS: u32 = 2000;

/// The number of chunks of each concurrent stream.
pub const PACED_CHUNKS: u32 = 60;

/// The pause between two chunks of a concurrent stream in milliseconds.
pub const PACE_MS: u64 = 50;

/// The text of a whole reply.
pub const ANSWER: &str = "Hello! How can I assist you today?";

/// The length of the text of a chunk in bytes.
const CHUNK_TEXT: u64 = 20;

const USAGE: &str = r#""usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"service_tier":"default""#;

/// The request for a turn, as the baselines send it.
pub const TURN: &str = r#"{"model":"gpt-4.1","messages":[{"role":"system","content":"You are a helpful assistant."},{"role":"user","content":"Hello!"}]}"#;

/// The streamed request for a turn.
pub const STREAMED_TURN: &str = r#"{"model":"gpt-4.1","messages":[{"role":"system","content":"You are a helpful assistant."},{"role":"user","content":"Hello!"}],"stream":true,"stream_options":{"include_usage":true}}"#;

/// The names of the tools that the model calls in parallel.
pub const TOOLS: [&str; 3] = ["weather", "time", "population"];

/// The start of the requests of a loop, including the first messages. More messages and [`tools_tail`] follow.
pub const LOOP_HEAD: &str = r#"{"model":"gpt-4.1","messages":[{"role":"system","content":"You are a helpful assistant."},{"role":"user","content":"What about Paris?"}"#;

/// The description of all tools.
pub const TOOL_DESCRIPTION: &str = "Looks it up.";

/// The JSON Schema of the arguments of all tools.
pub const TOOL_PARAMETERS: &str = r#"{"type":"object","properties":{"city":{"description":"The city.","type":"string"}},"required":["city"],"additionalProperties":false}"#;

/// Returns the names of as many tools as an application with several MCP servers has.
pub fn many_tools() -> impl Iterator<Item = String> {
    (0..50).map(|number| format!("look_up_{number:02}"))
}

/// Returns the end of a request: the tools of the given names.
pub fn tools_tail<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> String {
    let tool = |name: &str| {
        format!(
            r#"{{"type":"function","function":{{"name":"{name}","description":"{TOOL_DESCRIPTION}","parameters":{TOOL_PARAMETERS}}}}}"#
        )
    };
    let tools: Vec<String> = names.into_iter().map(|name| tool(name.as_ref())).collect();
    format!(r#"],"tools":[{}]}}"#, tools.join(","))
}

/// Returns the whole reply of a turn.
pub fn whole_reply() -> Vec<u8> {
    let message = format!(r#"{{"role":"assistant","content":"{ANSWER}","refusal":null,"annotations":[]}}"#);
    completion(&message, "stop")
}

/// Returns the reply that calls three tools.
pub fn calls_reply() -> Vec<u8> {
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

/// Returns the reply of an overloaded server.
pub fn busy_reply() -> Vec<u8> {
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

/// The head of a streamed reply.
pub const STREAM_HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: req_0\r\ntransfer-encoding: chunked\r\n\r\n";

/// Returns the length of the text of a stream with this many chunks, in bytes.
pub fn text_len(chunks: u32) -> u64 {
    u64::from(chunks) * CHUNK_TEXT
}
