//! Canned streams of three APIs: the same text in the same fragments, in the events of each API.

/// An API with a canned stream.
#[derive(Debug, Clone, Copy)]
pub enum Api {
    /// Chat Completions.
    Chat,
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Responses.
    Responses,
}

/// The end of a body with chunked transfer encoding.
const LAST_CHUNK: &str = "0\r\n\r\n";

impl Api {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Anthropic, Self::Responses];

    /// Returns the first segment of the path under which the server streams it.
    pub fn path(self) -> &'static str {
        match self {
            Self::Chat => "stream",
            Self::Anthropic => "stream-anthropic",
            Self::Responses => "stream-responses",
        }
    }

    /// Returns the events before the text.
    pub fn start(self) -> String {
        match self {
            Self::Chat => String::new(),
            Self::Anthropic => ANTHROPIC_START.map(|data| named(kind(data), data)).concat(),
            Self::Responses => RESPONSES_START.map(|data| named(kind(data), data)).concat(),
        }
    }

    /// Returns an event with a fragment of the text. Events differ in their text and, where the API has them, in sequence
    /// numbers and obfuscation characters.
    pub fn chunk(self, number: u32) -> String {
        let (text, filler) = (text(number), filler(number));
        match self {
            Self::Chat => unnamed(&format!(
                r#"{{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","system_fingerprint":"fp_44","choices":[{{"index":0,"delta":{{"content":"{text}"}},"logprobs":null,"finish_reason":null}}],"obfuscation":"{filler}"}}"#
            )),
            Self::Anthropic => named(
                "content_block_delta",
                &format!(
                    r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}"#
                ),
            ),
            Self::Responses => named(
                "response.output_text.delta",
                &format!(
                    r#"{{"type":"response.output_text.delta","sequence_number":{number},"item_id":"msg_01830d662ab3856501693c32183a488190a612c410a0a39823","output_index":0,"content_index":0,"delta":"{text}","logprobs":[],"obfuscation":"{filler}"}}"#,
                    number = number + 4
                ),
            ),
        }
    }

    /// Returns the events after the text.
    pub fn end(self) -> String {
        let events = match self {
            Self::Chat => CHAT_END.map(unnamed).concat(),
            Self::Anthropic => ANTHROPIC_END.map(|data| named(kind(data), data)).concat(),
            Self::Responses => RESPONSES_END.map(|data| named(kind(data), data)).concat(),
        };
        events + LAST_CHUNK
    }
}

/// Returns a streamed reply of the Chat Completions API with this answer, a word in each chunk.
pub fn answer(text: &str) -> Vec<u8> {
    let deltas = text
        .split_inclusive(' ')
        .map(|word| format!(r#"{{"content":"{word}"}}"#));
    reply(deltas, "stop")
}

/// Returns a streamed reply of the Chat Completions API that calls these tools with the same arguments. Arguments arrive in
/// two pieces, as strings that are escaped once.
pub fn calls(tools: &[&str], arguments: [&str; 2]) -> Vec<u8> {
    let [start, end] = arguments;
    let deltas = tools.iter().enumerate().flat_map(|(index, name)| {
        [
            format!(
                r#"{{"tool_calls":[{{"index":{index},"id":"call_{name}","type":"function","function":{{"name":"{name}","arguments":"{start}"}}}}]}}"#
            ),
            format!(r#"{{"tool_calls":[{{"index":{index},"function":{{"arguments":"{end}"}}}}]}}"#),
        ]
    });
    reply(deltas, "tool_calls")
}

fn reply(deltas: impl Iterator<Item = String>, finish: &str) -> Vec<u8> {
    let event = |delta: &str, finish: &str| {
        unnamed(&format!(
            r#"{{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","system_fingerprint":"fp_44","choices":[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{finish}}}]}}"#
        ))
    };
    let chunks: String = deltas.map(|delta| event(&delta, "null")).collect();
    let end = event("{}", &format!(r#""{finish}""#));
    [super::STREAM_HEAD, &chunks, &end, &unnamed("[DONE]"), LAST_CHUNK]
        .concat()
        .into_bytes()
}

/// Returns the text of a fragment, whose length is that of [`text_len(1)`](super::text_len).
fn text(number: u32) -> String {
    format!(" piece {number:07} of 20")
}

/// Returns meaningless characters.
fn filler(number: u32) -> String {
    (0..4)
        .map(|at| char::from(b'a' + (number.wrapping_mul(7 + at) % 26) as u8))
        .collect()
}

const CHAT_END: [&str; 2] = [
    r#"{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}"#,
    "[DONE]",
];

const ANTHROPIC_START: [&str; 3] = [
    r#"{"type":"message_start","message":{"id":"msg_01XFDUDYJgAACzvnptvVoYEL","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":19,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1,"service_tier":"standard"}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"ping"}"#,
];

const ANTHROPIC_END: [&str; 3] = [
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":8000}}"#,
    r#"{"type":"message_stop"}"#,
];

const RESPONSES_START: [&str; 4] = [
    r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_01830d66","object":"response","created_at":1764520984,"status":"in_progress","error":null,"incomplete_details":null,"model":"gpt-4o-2024-08-06","output":[],"usage":null}}"#,
    r#"{"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_01830d66","object":"response","created_at":1764520984,"status":"in_progress","error":null,"incomplete_details":null,"model":"gpt-4o-2024-08-06","output":[],"usage":null}}"#,
    r#"{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"msg_01830d662ab3856501693c32183a488190a612c410a0a39823","type":"message","status":"in_progress","content":[],"role":"assistant"}}"#,
    r#"{"type":"response.content_part.added","sequence_number":3,"item_id":"msg_01830d662ab3856501693c32183a488190a612c410a0a39823","output_index":0,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}}"#,
];

/// The end event of the item is omitted, because it repeats the text and would count as another fragment.
const RESPONSES_END: [&str; 1] = [
    r#"{"type":"response.completed","sequence_number":2004,"response":{"id":"resp_01830d66","object":"response","created_at":1764520984,"status":"completed","error":null,"incomplete_details":null,"model":"gpt-4o-2024-08-06","output":[],"usage":{"input_tokens":19,"input_tokens_details":{"cached_tokens":0},"output_tokens":8000,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":8019}}}"#,
];

/// Returns the name of an event, which is the first value in its data.
fn kind(data: &str) -> &str {
    data.split('"').nth(3).unwrap_or_default()
}

fn unnamed(data: &str) -> String {
    framed(&format!("data: {data}\n\n"))
}

fn named(name: &str, data: &str) -> String {
    framed(&format!("event: {name}\ndata: {data}\n\n"))
}

/// Frames an event as an HTTP chunk.
fn framed(event: &str) -> String {
    format!("{:x}\r\n{event}\r\n", event.len())
}
