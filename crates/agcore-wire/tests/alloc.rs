//! Limits on the allocations of decoders, which are the same on every machine.
#![cfg(feature = "openai-chat")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "tests may fail loudly"
)]

use agcore_wire::{Chat, Decoder, ReplyHead, Wire, dialect, openai_chat::OpenAiChat};
use http::HeaderValue;

/// The number of chunks that are measured, after the first ones have grown the buffers.
const CHUNKS: u64 = 1000;

fn decoder() -> Box<dyn Decoder<Chat>> {
    let mut head = ReplyHead::default();
    head.headers
        .insert("content-type", HeaderValue::from_static("text/event-stream"));
    Wire::<Chat>::decoder(&OpenAiChat::new(dialect::openai()), &head)
}

/// Returns a chunk with this delta as sent by OpenAI.
fn chunk(delta: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1763719200,\"model\":\"gpt-4o\",\
         \"service_tier\":\"default\",\"system_fingerprint\":\"fp_1\",\"choices\":[{{\"index\":0,\"delta\":{delta},\
         \"logprobs\":null,\"finish_reason\":null}}],\"usage\":null,\"obfuscation\":\"abcdef\"}}\n\n"
    )
}

/// Returns the allocations per chunk for a stream of such chunks, in reads of `reads` bytes. Each chunk results in one
/// delta.
fn per_chunk(mut decoder: Box<dyn Decoder<Chat>>, chunk: &str, reads: usize) -> f64 {
    let mut deltas = Vec::with_capacity(64);
    let stream = chunk.repeat(usize::try_from(CHUNKS).unwrap());
    decoder.feed(chunk.as_bytes(), &mut deltas).unwrap();
    decoder.feed(chunk.as_bytes(), &mut deltas).unwrap();
    deltas.clear();
    let mut seen = 0;
    let info = allocation_counter::measure(|| {
        for read in stream.as_bytes().chunks(reads) {
            decoder.feed(read, &mut deltas).unwrap();
            seen += deltas.len() as u64;
            deltas.clear();
        }
    });
    assert_eq!(seen, CHUNKS, "each chunk results in one delta");
    info.count_total as f64 / CHUNKS as f64
}

#[track_caller]
fn check(delta: &str, max: f64) {
    check_chunk(decoder, &chunk(delta), max);
}

/// Checks chunks of any API, which include their line ends.
#[track_caller]
fn check_chunk(decoder: impl Fn() -> Box<dyn Decoder<Chat>>, chunk: &str, max: f64) {
    let whole = chunk.len();
    for reads in [whole, 4 * whole, 100, 4096] {
        let count = per_chunk(decoder(), chunk, reads);
        // Buffers for data that is split by reads grow a few times at the start.
        assert!(
            count <= max + 0.05,
            "{count} allocations for each {chunk:?}, in reads of {reads} bytes"
        );
    }
}

#[test]
fn short_text_does_not_allocate() {
    check(r#"{"content":" word"}"#, 0.1);
    check(
        r#"{"role":"assistant","content":"é🦀","refusal":null,"tool_calls":null}"#,
        0.1,
    );
    check(r#"{"content":null,"reasoning_content":" hm"}"#, 0.1);
}

#[test]
fn escaped_and_long_text_allocates_little() {
    check(r#"{"content":"a\nb"}"#, 1.0);
    check(
        r#"{"content":"a text that is too long to be kept in place, as it comes in larger pieces"}"#,
        1.0,
    );
    check(
        r#"{"content":"a \"text\" that is too long to be kept in place, as it comes in larger pieces"}"#,
        3.0,
    );
}

#[test]
fn a_fragment_of_a_call_allocates_little() {
    check(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"ci"}}]}"#, 3.0);
}

/// Checks a line with this message as sent by Ollama.
#[cfg(feature = "ollama")]
#[track_caller]
fn check_ollama(message: &str, max: f64) {
    use agcore_wire::ollama::Ollama;

    let decoder = || Wire::<Chat>::decoder(&Ollama::new(), &ReplyHead::default());
    let line = format!(
        "{{\"model\":\"qwen3:8b\",\"created_at\":\"2025-10-26T17:21:21.196249Z\",\"message\":{message},\"done\":false}}\n"
    );
    check_chunk(decoder, &line, max);
}

#[cfg(feature = "ollama")]
#[test]
fn a_line_of_ollama_allocates_as_little() {
    check_ollama(r#"{"role":"assistant","content":" word"}"#, 0.1);
    check_ollama(r#"{"role":"assistant","content":"","thinking":"é🦀"}"#, 0.1);
    check_ollama(r#"{"role":"assistant","content":"a\nb"}"#, 1.0);
    check_ollama(
        r#"{"role":"assistant","content":"a text that is too long to be kept in place, as it comes in larger pieces"}"#,
        1.0,
    );
    check_ollama(
        r#"{"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":{"index":0,"name":"f","arguments":{"city":"Rome"}}}]}"#,
        3.0,
    );
}

/// Checks a chunk with this part as sent by Gemini.
#[cfg(feature = "gemini")]
#[track_caller]
fn check_gemini(part: &str, max: f64) {
    use agcore_wire::gemini::Gemini;

    let decoder = || Wire::<Chat>::decoder(&Gemini::new(), &ReplyHead::default());
    let chunk = format!(
        "data: {{\"candidates\": [{{\"content\": {{\"parts\": [{part}],\"role\": \"model\"}},\"index\": 0}}],\
         \"usageMetadata\": {{\"promptTokenCount\": 9,\"candidatesTokenCount\": 3,\"totalTokenCount\": 12,\
         \"promptTokensDetails\": [{{\"modality\": \"TEXT\",\"tokenCount\": 9}}]}},\
         \"modelVersion\": \"gemini-2.5-flash\",\"responseId\": \"ZtcZadq8Kb\"}}\r\n\r\n"
    );
    check_chunk(decoder, &chunk, max);
}

#[cfg(feature = "gemini")]
#[test]
fn a_chunk_of_gemini_allocates_as_little() {
    check_gemini(r#"{"text": " word"}"#, 0.1);
    check_gemini(r#"{"text": "é🦀","thought": true}"#, 0.1);
    // These are parsed, as chunks with other counts are.
    check_gemini(r#"{"text": "a\nb"}"#, 1.0);
    check_gemini(
        r#"{"text": "a \"text\" that is too long to be kept in place, as it comes in larger pieces"}"#,
        3.0,
    );
    check_gemini(
        r#"{"functionCall": {"id": "call_1","name": "f","args": {"city": "Rome"}}}"#,
        10.0,
    );
}

/// Checks a piece of a block as sent by Bedrock, with its padding.
#[cfg(feature = "bedrock")]
#[test]
fn a_piece_of_bedrock_allocates_as_little() {
    use agcore_wire::bedrock::Bedrock;

    let message = |delta: &str| {
        let headers = [
            (":event-type", "contentBlockDelta"),
            (":content-type", "application/json"),
            (":message-type", "event"),
        ];
        let mut block = Vec::new();
        for (name, value) in headers {
            block.push(u8::try_from(name.len()).unwrap());
            block.extend_from_slice(name.as_bytes());
            block.extend_from_slice(&[7, 0, u8::try_from(value.len()).unwrap()]);
            block.extend_from_slice(value.as_bytes());
        }
        let payload = format!(r#"{{"contentBlockIndex":0,"delta":{delta},"p":"abcdefghijklmnopqrstuvwxyzABCDEFG"}}"#);
        let mut message = Vec::new();
        for length in [16 + block.len() + payload.len(), block.len()] {
            message.extend_from_slice(&u32::try_from(length).unwrap().to_be_bytes());
        }
        message.extend_from_slice(&crc32fast::hash(&message).to_be_bytes());
        message.extend_from_slice(&block);
        message.extend_from_slice(payload.as_bytes());
        message.extend_from_slice(&crc32fast::hash(&message).to_be_bytes());
        message
    };
    let check = |delta: &str, max: f64| {
        let stream = message(delta).repeat(usize::try_from(CHUNKS).unwrap());
        for size in [message(delta).len(), 4096, 7] {
            let mut decoder = Wire::<Chat>::decoder(&Bedrock::new(), &ReplyHead::default());
            let mut deltas = Vec::with_capacity(1024);
            decoder.feed(&message(delta).repeat(50), &mut deltas).unwrap();
            deltas.clear();
            let info = allocation_counter::measure(|| {
                for read in stream.chunks(size) {
                    decoder.feed(read, &mut deltas).unwrap();
                    deltas.clear();
                }
            });
            let found = info.count_total as f64 / CHUNKS as f64;
            assert!(found <= max, "{delta} in reads of {size} bytes: {found} allocations");
        }
    };
    check(r#"{"text":" word"}"#, 0.1);
    check(r#"{"reasoningContent":{"text":"é🦀"}}"#, 0.1);
    check(
        r#"{"text":"a text that is too long to be kept in place, as it comes in larger pieces"}"#,
        1.1,
    );
    check(r#"{"toolUse":{"input":"{\"ci"}}"#, 3.0);
}

/// Checks an event with this delta of a block as sent by Anthropic.
#[cfg(feature = "anthropic")]
#[track_caller]
fn check_anthropic(delta: &str, max: f64) {
    use agcore_wire::anthropic::Anthropic;

    let decoder = || {
        let mut decoder = Wire::<Chat>::decoder(&Anthropic::new(), &ReplyHead::default());
        let start = "data: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"content\":[]}}\n\n";
        decoder.feed(start.as_bytes(), &mut Vec::new()).unwrap();
        decoder
    };
    let event = format!(
        "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}\n\n"
    );
    check_chunk(decoder, &event, max);
}

#[cfg(feature = "anthropic")]
#[test]
fn a_delta_of_anthropic_allocates_as_little() {
    check_anthropic(r#"{"type":"text_delta","text":" word"}"#, 0.1);
    check_anthropic(r#"{"type":"thinking_delta","thinking":"é🦀"}"#, 0.1);
    check_anthropic(r#"{"type":"text_delta","text":"a\nb"}"#, 1.0);
    check_anthropic(
        r#"{"type":"text_delta","text":"a text that is too long to be kept in place, as it comes in larger pieces"}"#,
        1.0,
    );
    check_anthropic(r#"{"type":"input_json_delta","partial_json":"{\"ci"}"#, 3.0);
}

/// Checks an event with these members as sent by OpenAI in the stream of a response.
#[cfg(feature = "openai-responses")]
#[track_caller]
fn check_responses(kind: &str, members: &str, max: f64) {
    use agcore_wire::openai_responses::OpenAiResponses;

    let decoder = || Wire::<Chat>::decoder(&OpenAiResponses::new(), &ReplyHead::default());
    let event = format!(
        "event: response.{kind}\ndata: {{\"type\":\"response.{kind}\",\"sequence_number\":7,\
         \"item_id\":\"msg_01830d662ab3856501693c32183a488190a612c410a0a39823\",\"output_index\":0,\"content_index\":0,\
         {members},\"obfuscation\":\"abcdef\"}}\n\n"
    );
    check_chunk(decoder, &event, max);
}

#[cfg(feature = "openai-responses")]
#[test]
fn an_event_of_a_response_allocates_as_little() {
    let text = "output_text.delta";
    check_responses(text, r#""delta":" word","logprobs":[]"#, 0.1);
    check_responses("reasoning_summary_text.delta", r#""delta":"é🦀""#, 0.1);
    check_responses("refusal.delta", r#""delta":" no""#, 0.1);
    check_responses(text, r#""delta":"a\nb""#, 1.0);
    let long = "a text that is too long to be kept in place, as it comes in larger pieces";
    check_responses(text, &format!(r#""delta":"{long}""#), 1.0);
    check_responses("function_call_arguments.delta", r#""delta":"{\"ci""#, 3.0);
    check_responses("custom_tool_call_input.delta", r#""delta":"SELECT""#, 3.0);
}

#[test]
fn the_headers_of_a_reply_cost_one_allocation_and_none_if_there_are_none() {
    use agcore_wire::response_metadata;

    let check = |headers: &[(&'static str, &'static str)], expected: u64| {
        let mut head = ReplyHead::default();
        for (name, value) in headers {
            head.headers.insert(*name, HeaderValue::from_static(value));
        }
        let info = allocation_counter::measure(|| drop(response_metadata(&head)));
        assert_eq!(info.count_total, expected, "{headers:?}");
    };
    check(
        &[
            ("date", "Sun, 22 Nov 2026 14:00:00 GMT"),
            ("content-type", "text/event-stream"),
        ],
        0,
    );
    let limits = [
        ("x-request-id", "req_0123456789abcdef0123456789abcdef"),
        ("x-ratelimit-remaining-requests", "9999"),
        ("x-ratelimit-remaining-tokens", "1999999"),
        ("x-ratelimit-reset-tokens", "6ms"),
        ("openai-processing-ms", "412"),
    ];
    check(&limits, 1);
}
